"""The random generator, its golden values, the plan and the digest."""

import dataclasses
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from survey.core.kinds import plan_from_json
from survey.core.measures import Setting
from survey.core.studies.fields import PersonalField, PlanError, list_words
from survey.core.studies.generators import GENERATOR_VERSION, Positions, random_question
from survey.core.studies.plan import study_digest
from survey.core.studies.questions import NO_MARKS, Marks, Question, build_question
from survey.kinds.ordering.plan import OrderingPlan
from survey.web.language import fill

MEASURES = ("AP", "NMRR", "MNRO")
TEXTS = {
    "title": "Ordering search results",
    "asked_by": "A university",
    "purpose": "To learn how people order lists.",
    "consent": "I agree.",
    "scenario": "Five systems.",
    "reminder": "Lower is better.",
    "question_text": "Which ordering matches yours?",
}


def draw(number=1, seed=2011, **design):
    design = {"lists": 5, "relevant": 5, "setting": Setting(), **design}
    return random_question(number, seed=seed, measures=MEASURES, **design)


def test_golden_values_of_the_random_generator():
    assert draw(1).lists == GOLDEN[1]
    assert draw(10).lists == GOLDEN[10]


GOLDEN = {
    1: {
        "A": (9, 30, 42, 45, 68),
        "B": (43, 60, 63, 74, 97),
        "C": (14, 40, 45, 81, 82),
        "D": (49, 74, 81, 83, 88),
        "E": (35, 44, 63, 73, 94),
    },
    10: {
        "A": (3, 24, 36, 47, 97),
        "B": (25, 29, 45, 77, 92),
        "C": (28, 49, 57, 60, 92),
        "D": (5, 27, 29, 71, 73),
        "E": (15, 16, 18, 58, 77),
    },
}


def digest_of(plan):
    return study_digest(plan, plan.draw_questions(), GENERATOR_VERSION)


def test_golden_digest_of_a_study():
    plan = OrderingPlan(**TEXTS, seed=2011)
    assert digest_of(plan) == ("3b2baa09436fbbf39d72bf81dd73eeafd974856663a0844c23a83c489938dca7")


@given(st.integers(0, 2**63 - 1), st.integers(3, 10), st.integers(1, 20))
@settings(max_examples=50)
def test_a_random_question_has_different_lists_that_every_measure_can_order(seed, lists, relevant):
    question = draw(seed=seed, lists=lists, relevant=relevant)
    assert len(set(question.lists.values())) == lists
    for ranks in question.lists.values():
        assert list(ranks) == sorted(set(ranks))
        assert len(ranks) == relevant
        assert 1 <= ranks[0] <= ranks[-1] <= 100
    assert not any(ranking.all_tied for ranking in question.rankings.values())


def test_a_question_does_not_depend_on_how_many_there_are():
    few, many = OrderingPlan(**TEXTS, questions=3), OrderingPlan(**TEXTS, questions=8)
    assert few.draw_questions() == many.draw_questions()[:4]


def test_the_practice_question_is_number_zero_and_can_be_left_out():
    numbers = [question.number for question in OrderingPlan(**TEXTS, questions=2).draw_questions()]
    without = [
        q.number for q in OrderingPlan(**TEXTS, questions=2, practice=False).draw_questions()
    ]
    assert (numbers, without) == ([0, 1, 2], [1, 2])


def test_positions_are_drawn_uniformly():
    positions = Positions(seed=1, question=1)
    counts = [0] * 20
    for _ in range(4000):
        for position in positions.sample(5, 20):
            counts[position - 1] += 1
    assert chisquare(counts).pvalue > 0.001


def test_a_design_that_leaves_no_set_is_refused_saying_what_to_change():
    with pytest.raises(ValueError, match="ask for fewer lists"):
        draw(lists=5, relevant=2, setting=Setting(collection_size=3))


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("questions", 0, "questions is 0; 1 to 50 are allowed"),
        ("questions", 51, "questions is 51; 1 to 50 are allowed"),
        ("lists", 2, "lists is 2; 3 to 10 are allowed"),
        ("lists", "5", "lists is '5'; a whole number is needed"),
        (
            "relevant",
            101,
            "lists with 101 relevant items need a collection_size of 101 or more; it is 100",
        ),
        (
            "relevant",
            10_000,
            "are 500,000 positions; 100,000 are allowed",
        ),
        ("measures", ("AP",), "measures is AP; 2 to 6 different ones are allowed"),
        ("measures", ("AP", "AP"), "2 to 6 different ones"),
        ("measures", ("AP", "PA"), "there is no measure 'PA'"),
        ("generator", "dice", "generator is 'dice'; allowed is random, discriminative"),
        ("seed", -1, "seed is -1"),
        ("title", "  ", "title is empty"),
        ("primary", "MNRO-XY", "primary is 'MNRO-XY'; one of MNRO-NMRR, MNRO-AP, NMRR-AP is"),
        ("primary", "MNRO", "one of MNRO-NMRR, MNRO-AP, NMRR-AP is allowed"),
    ],
)
def test_a_plan_that_cannot_be_is_refused_naming_the_field(field, value, message):
    with pytest.raises(ValueError, match=message):
        OrderingPlan(**{**TEXTS, field: value})


def test_a_primary_pair_is_written_with_the_later_measure_first_and_frozen_where_there_is_one():
    named = OrderingPlan(**TEXTS, primary="AP-MNRO")
    assert named.primary == "MNRO-AP"
    assert named.content() == {**OrderingPlan(**TEXTS).content(), "primary": "MNRO-AP"}
    hyphens = OrderingPlan(**TEXTS, measures=("AP", "wP@10-100"), primary="AP-wP@10-100")
    assert hyphens.primary == "wP@10-100-AP"


def test_a_plan_comes_back_from_its_stored_form():
    plan = OrderingPlan(
        **TEXTS, personal_fields=(PersonalField("age", "Age", "number", lowest=16),)
    )
    assert plan_from_json(plan.as_json()) == plan
    assert plan.as_json()["kind"] == "ordering"


def test_a_plan_stored_before_there_were_kinds_is_of_the_first():
    plan = OrderingPlan(**TEXTS)
    stored = {name: value for name, value in plan.as_json().items() if name != "kind"}
    assert plan_from_json(stored) == plan


@pytest.mark.parametrize("kind", ["dreaming", "", None, 1, ["ordering"]])
def test_a_kind_of_question_that_there_is_not_is_refused(kind):
    with pytest.raises(PlanError, match=r"^kind is .*; allowed is ordering"):
        plan_from_json({**TEXTS, "kind": kind})


@pytest.mark.parametrize("marks", [NO_MARKS, Marks(grades=((3, 2, 1, 1, 1),) * 5)])
def test_a_question_comes_back_from_its_stored_form(marks):
    lists = [[first, 20, 30, 40, 50] for first in (1, 2, 3, 4, 5)]
    question = build_question(1, lists, MEASURES, Setting(), marks)
    stored = json.loads(json.dumps(question.as_json()))
    assert Question.from_json(1, stored) == question


def test_an_unknown_field_of_a_plan_is_refused():
    with pytest.raises(ValueError, match="there is no field “colour”"):
        plan_from_json({**TEXTS, "colour": "blue"})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": "Your age", "kind": "number"}, "cannot be a column"),
        ({"name": "age", "kind": "date"}, "kind is 'date'"),
        ({"name": "age", "kind": "choice", "options": ["young"]}, "at least two options"),
        ({"name": "age", "kind": "number", "screen_below": "x"}, "screen_below is 'x'"),
        ({"name": "age", "kind": "text", "screen_below": 18}, "18, and age is no number"),
        (
            {"name": "age", "kind": "number", "screen_below": 18, "required": False},
            "required is false; people below 18 cannot take part, so an answer is needed",
        ),
        (
            {"name": "age", "kind": "number", "screen_below": 18, "lowest": 18},
            "no number below 18 can be given; lower lowest",
        ),
        (
            {"name": "age", "kind": "number", "screen_below": 18, "highest": 9},
            "screen_below is 18, more than highest, 9",
        ),
    ],
)
def test_a_personal_field_that_cannot_be_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        PersonalField(label="x", **values)


def test_a_personal_field_without_a_least_number_keeps_the_digest_it_had():
    plan = OrderingPlan(**TEXTS, personal_fields=(PersonalField("age", "Age", "number"),))
    assert plan.content()["personal_fields"] == [{"name": "age", "label": "Age", "kind": "number"}]


@pytest.mark.parametrize(
    "change",
    [{"seed": 2012}, {"scenario": "Six."}, {"collection_size": 200}, {"measures": MEASURES[:2]}],
)
def test_the_digest_changes_with_anything_a_participant_would_see(change):
    plan = OrderingPlan(**TEXTS, seed=2011, questions=2)
    changed = dataclasses.replace(plan, **change)
    assert digest_of(plan) != digest_of(changed)


def test_numbers_enter_the_texts_as_words():
    numbers = (("lists", 5), ("relevant", 12), ("collection_size", 100))
    text = "{lists} systems {letters}, {relevant} of {collection_size}"
    assert fill(text, numbers) == "five systems A, B, C, D and E, 12 of 100"


@pytest.mark.parametrize(
    "text", ["{systems}", "{", "{0}", "a } b", "{}", "{lists!x}", "{letters:d}"]
)
def test_an_unknown_placeholder_is_refused(text):
    with pytest.raises(PlanError, match=r"in purpose; allowed are \{lists\}|holds a single"):
        OrderingPlan(**{**TEXTS, "purpose": text})


def test_words_are_joined_as_a_sentence_does():
    assert [list_words(list(word)) for word in ("", "A", "AB", "ABC")] == [
        "",
        "A",
        "A and B",
        "A, B and C",
    ]
