"""Topics, runs and documents of a study's lists, each with the right letter."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.kinds import plan_from_json
from survey.core.studies.fields import PlanError
from survey.core.studies.generators import letter_order
from survey.core.studies.questions import Question
from survey.services.studies.plans import preset_plan, read_plan, write_plan

RUNS = ("abc", "Upper case", "c")


def a_plan_of_runs(runs=RUNS, **changes):
    """Two topics; the lists, marks and documents of a run are known by its place."""
    lists = [(index + 1, index + 9) for index in range(len(runs))]
    provenance = {
        **{"topics": ["t1", "t2"], "runs": runs},
        "documents": [[(f"d{index}", f"e{index}") for index in range(len(runs))]] * 2,
        "sources": [{"role": "run", "name": "abc.txt", "sha256": "0" * 64}],
    }
    return preset_plan(
        "runs",
        **{"questions": 2, "practice": False, "collection_size": 50, "measures": ["AP", "NMRR"]},
        **{"own_lists": [lists] * 2, "depth": 1},
        own_marks=[{"grades": [[index + 1, 1] for index in range(len(runs))]}] * 2,
        **{"provenance": provenance | changes.pop("provenance", {})} | changes,
    )


@settings(max_examples=25, deadline=None)  # plans are written and read
@given(st.integers(0, 2**63 - 1), st.booleans())
def test_a_letter_belongs_to_the_list_marks_and_documents_of_its_run(seed, shuffled):
    plan = a_plan_of_runs(seed=seed, shuffle_letters=shuffled)
    for question in plan.draw_questions():
        source = question.source
        assert sorted(source.runs.values()) == sorted(RUNS)
        assert shuffled or tuple(source.runs.values()) == RUNS
        for row, (letter, ranks) in enumerate(question.lists.items()):
            index = RUNS.index(source.runs[letter])
            assert (ranks, source.documents[letter]) == ((index + 1, index + 9), (f"d{index}",))
            assert question.marks.grades[row] == (index + 1, 1)
        assert Question.from_json(question.number, question.as_json()) == question
    assert plan_from_json(plan.as_json()) == plan
    assert read_plan(write_plan(plan)).plan == plan


def test_the_letters_of_a_seed_are_the_same_on_every_machine():
    assert [letter_order(7, number, 5) for number in (1, 2)] == [[4, 2, 3, 1, 0], [2, 0, 4, 1, 3]]


def test_a_study_of_runs_deals_letters_unless_its_plan_says_otherwise():
    assert a_plan_of_runs().shuffle_letters
    assert not a_plan_of_runs(shuffle_letters=False).shuffle_letters
    assert not preset_plan("mnro").shuffle_letters


def test_other_plans_are_stored_as_before_there_were_runs():
    stored = preset_plan("mnro").as_json()
    assert not {"provenance", "shuffle_letters", "depth"} & {*stored}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"topics": ["t1"]}, "provenance has 1 topics, not 2"),
        ({"runs": ["a", "b"]}, "provenance has 2 runs, not 3"),
        ({"runs": ["a", "b", "a"]}, "provenance names a run twice"),
        ({"topics": ["t1", "t1"]}, "provenance names a topic twice"),
        ({"topics": ["t1", "t 2"]}, "'t 2' found; a name without blanks is needed"),
        ({"runs": ["a", "b", "\0"]}, "a name that can be stored is needed"),
        ({"runs": ["a", "b", 3]}, "3 found; a name that can be stored is needed"),
        ({"runs": ["a", "b", "c" * 1001]}, "a name of 1001 characters found; 1000 are allowed"),
        ({"documents": [[["d"] * 21] * 3] * 2}, "provenance has more than 20 documents of a list"),
        ({"documents": 3}, "provenance cannot be read"),
        ({"sources": [{"role": "run", "name": "a"}]}, "provenance cannot be read"),
        (
            {"sources": [{"role": "run", "name": "a", "sha256": "x"}]},
            "the source 'a' needs a role, a name and a SHA-256",
        ),
        ({"more": 1}, "the keys topics, runs, documents, sources are needed"),
    ],
)
def test_a_provenance_that_does_not_fit_is_named(wrong, message):
    stored = a_plan_of_runs().as_json()
    with pytest.raises(PlanError) as caught:
        plan_from_json(stored | {"provenance": stored["provenance"] | wrong})
    assert message in str(caught.value)
