"""Control questions: one that is asked again, and one that a careful reader cannot get wrong."""

from collections import Counter
from itertools import combinations
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.quality import Obvious, Repetition
from survey.core.measures import Setting
from survey.core.studies.fields import PlanError
from survey.core.studies.generators import obvious_question
from survey.core.studies.questions import reversed_pairs
from survey.core.studies.rankings import Ranking
from survey.db.models import Participant, Presentation, StoredResponse
from survey.kinds.ordering.findings import obvious_order
from survey.kinds.ordering.sheets import flags_sheet
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.exchange.bundle_reader import replicate
from survey.services.participation.own_data import own_data
from survey.services.studies import lifecycle, plans
from tests.analyses import analyse_study
from tests.builders import Visitor, a_plan, a_ready_participant, an_open_study
from tests.databases import ON_BOTH, ON_SQLITE
from tests.services.exchange.changes import rows_of
from tests.services.exchange.conftest import handed_out

BOTH = {"repeated": 1, "obvious": True, "questions": 3, "practice": False}


def places(ranking):
    return {f"rank_{letter}": place for letter, place in ranking.places.items()}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"repeated": 2}, [1, 2, 3, 4, 5]),
        ({"obvious": True}, [1, 2, 5, 3, 4]),
        ({"repeated": 1, "obvious": True}, [1, 2, 6, 3, 4, 5]),
    ],
)
def test_a_fixed_order_has_the_obvious_question_in_the_middle(changes, expected):
    plan = a_plan(questions=4, **changes)
    assert plan.arrange(range(1, 5), Random(1)) == expected
    assert plan.asked == plan.last_number == len(expected)
    assert plan.counted == 4


@given(st.integers(1, 12), st.integers(1, 12), st.booleans(), st.booleans(), st.integers())
def test_others_come_between_a_question_and_its_repetition(asked, again, shuffled, obvious, seed):
    again = min(again, asked)
    design = {"questions": 12, "per_participant": asked, "design": "pool"}
    plan = a_plan(**design, repeated=again, obvious=obvious, shuffle_questions=shuffled)
    order = plan.arrange(range(1, asked + 1), Random(seed))
    assert sorted(order) == [*range(1, asked + 1), *([13, 14] if obvious else [13])]
    assert order[-1] == 13
    counted = [number for number in order if number <= 12]
    assert counted.index(again) < (asked + 1) // 2
    if not shuffled:
        assert [number for number in counted if number != again] == [
            number for number in range(1, asked + 1) if number != again
        ]


@given(
    st.integers(3, 10),
    st.integers(1, 12),
    st.integers(0, 400),
    st.integers(0, 2**63 - 1),
)
def test_an_obvious_question_has_lists_that_beat_one_another_at_every_position(
    lists, relevant, more, seed
):
    size = lists * relevant + more
    design = {"lists": lists, "relevant": relevant, "setting": Setting(size)}
    question = obvious_question(7, seed=seed, measures=("AP", "MNRO"), **design)
    best_first = sorted(question.lists.values())
    assert all(max(better) < min(worse) for better, worse in combinations(best_first, 2))
    assert all(1 <= rank <= size for ranks in best_first for rank in ranks)
    order = obvious_order(question)
    assert [question.lists[group[0]] for group in order.groups] == best_first
    assert not reversed_pairs(question.lists, order)
    worst_first = Ranking.by_key({letter: -place for letter, place in order.places.items()})
    assert len(reversed_pairs(question.lists, worst_first)) == lists * (lists - 1) / 2


def test_an_obvious_question_is_the_same_on_every_machine():
    design = {"lists": 5, "relevant": 5, "setting": Setting(100)}
    question = obvious_question(12, seed=2011, measures=("AP", "NMRR", "MNRO"), **design)
    assert str(obvious_order(question)) == "B>C>A>E>D"
    assert question.lists["A"] == (42, 46, 51, 53, 56)


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"repeated": 3, "questions": 4}, "repeated", "1 to 2 are allowed"),
        ({"repeated": 5, "questions": 4, "shuffle_questions": True}, "repeated", "1 to 4"),
        ({"repeated": 0}, "repeated", "repeated is 0"),
        ({"obvious": True, "collection_size": 24}, "obvious", "a collection of 25 positions"),
        ({"obvious": True, "marks": {"grades": "3 2 1 1 1"}}, "obvious", "has no grades"),
    ],
)
def test_a_plan_says_what_it_cannot_ask(changes, place, words):
    with pytest.raises(PlanError) as caught:
        plans.parse_plan({**plans.preset_values("mnro"), **changes})
    [fault] = caught.value.faults
    assert fault.place == (place,)
    assert words in fault.text


def test_a_plan_without_control_questions_is_as_it_was():
    plan = a_plan()
    assert not {"repeated", "obvious"} & plan.content().keys()
    assert (plan.asked, plan.controls, plan.number_of("obvious")) == (3, (), None)


def take_part(client, again_differs=False):
    """Answer all questions rightly; return the page of the obvious question."""
    visitor = Visitor(client.application.test_client())
    visitor.start()
    visitor.submit("/q/1", choice="1")
    visitor.submit("/q/2", choice="1")
    assert visitor.path == "/q/3"
    obvious = visitor.page
    lists = {
        row["data-list"]: int(row.select_one(".rank").text) for row in obvious.select("[data-list]")
    }
    visitor.submit("/q/3", choice="own", **places(Ranking.by_key(lists)))
    visitor.submit("/q/4", choice="1")
    assert visitor.path == "/q/5"
    visitor.insist("/q/5", choice="own", **places(Ranking.parse("E>D>C>B>A")))
    visitor.submit("/review")
    assert visitor.path == "/done"
    return obvious


@pytest.mark.slow
@ON_BOTH
def test_control_questions_are_asked_and_stored_but_are_no_votes(client, session):
    study = an_open_study(session, **BOTH)
    obvious = take_part(client)
    assert "Question 3 of 5" in obvious.text
    assert "This question has no methods: give your own order." in obvious.text
    assert not obvious.select("[type=checkbox][name=choice]")
    session.rollback()
    assert session.query(StoredResponse).count() == 5
    shown = {row.question.number: row for row in session.query(Presentation)}
    assert [shown[number].position for number in (1, 2, 5, 3, 4)] == [1, 2, 3, 4, 5]
    assert shown[4].question.content == shown[1].question.content
    analysis = analyse_study(session, study, AnalysisOptions())
    assert (analysis.questions, analysis.responses, analysis.missing) == (3, 3, 0)
    assert analysis.table3.questions_per_participant == 3
    assert analysis.controls["obvious"] == {"question": 5, "asked": 1, "right": 1}
    again = analysis.controls["repeated"]
    assert (again["question"], again["asked"], again["same"]) == (1, 1, 0)
    assert "1 of 1 participants put no list above one that is earlier" in flags_sheet(analysis).note
    data = own_data(session, study, session.query(Participant).one())
    assert [len(question["methods"]) for question in data["questions"]] == [3, 3, 0, 3, 3]


@pytest.mark.slow
@ON_BOTH
@pytest.mark.parametrize("shuffled", [False, True])
def test_a_bundle_with_control_questions_replicates(client, session, shuffled):
    study = an_open_study(session, **BOTH, shuffle_questions=shuffled)
    for _ in range(2):
        Visitor(client.application.test_client()).take_part(choice="1")
    files = handed_out(session, study)
    roles = [row["role"] for row in rows_of(files, "questions.csv")][::5]
    assert roles == ["counted", "counted", "counted", "repeated", "obvious"]
    assert {row["question"] for row in rows_of(files, "votes.csv")} == {"1", "2", "3"}
    assert len(rows_of(files, "responses.csv")) == 10
    assert [*replicate(files)]


@ON_SQLITE
def test_everyone_of_a_pool_is_asked_the_question_that_comes_again(session):
    design = {"design": "pool", "questions": 8, "per_participant": 3, "practice": False}
    study = an_open_study(session, **design, repeated=6, obvious=True)
    for number in range(7):
        participant = a_ready_participant(session, study, f"browser {number}")
        rows = session.query(Presentation).filter_by(participant_id=participant.id)
        numbers = {row.position: row.question.number for row in rows}
        assert len(numbers) == 5
        assert {6, 9, 10} <= {*numbers.values()}
        assert numbers[5] == 9
    asked = Counter(row.question.number for row in session.query(Presentation))
    assert {asked[number] for number in (1, 2, 3, 4, 5, 7, 8)} == {2}


@ON_SQLITE
def test_a_check_names_the_control_questions(session):
    study = an_open_study(session, **BOTH)
    texts = {
        each.question: each.text for each in lifecycle.check_study(session, study) if each.question
    }
    assert texts[4] == "question 1 once more; it is no vote"
    assert texts[5].startswith("obvious, without methods: ")
    assert [each.question.number for each in lifecycle.question_checks(study)] == [1, 2, 3]


def test_repeated_answers_are_compared_one_by_one():
    rng = np.random.default_rng(4)
    orders = [Ranking.parse(text) for text in ("A>B>C", "B>A>C", "A=B>C")]
    rankings = {number: dict(zip("KLM", orders, strict=True)) for number in (2, 9)}
    responses, expected = [], []
    for person in range(200):
        given = []
        for question in (2, 9):
            labels = tuple(rng.permutation([*"KLM"]).tolist())
            own = Ranking.parse("C>B>A") if rng.random() < 0.3 else None
            ticks = frozenset() if own else frozenset([int(rng.integers(1, 4))])
            given.append(own or rankings[question][labels[min(ticks) - 1]])
            responses.append(Response(f"P{person:03}", question, labels, ticks, own))
        expected.append(given)
    answers = Answers.of(responses)
    found = Repetition.of(answers, rankings, 2, 9).of_people(answers.people)
    assert found["asked"] == 200
    assert found["same"] == sum(first == second for first, second in expected)
    rates = [
        sum(_sign(first, x, y) == _sign(second, x, y) for x, y in ("AB", "AC", "BC")) / 3
        for first, second in expected
    ]
    assert found["agreement"] == pytest.approx(sum(rates) / 200)


def _sign(ranking, x, y):
    return np.sign(ranking.places[x] - ranking.places[y])


def test_an_obvious_answer_may_tie_lists_but_reverse_none():
    lists = {"A": (4, 9), "B": (1, 2), "C": (20, 30)}
    owns = ["B>A>C", "B=A>C", "A=B=C", "A>B>C", "C>B>A"]
    responses = [
        Response(f"P{index}", 5, ("K",), frozenset(), Ranking.parse(own))
        for index, own in enumerate(owns)
    ]
    answers = Answers.of(responses)
    obvious = Obvious.of(answers, lists, 5)
    assert obvious.of_people(answers.people) == {"question": 5, "asked": 5, "right": 3}
    assert obvious.of_people(np.array(["P4"])) == {"question": 5, "asked": 1, "right": 0}
    assert not len(Obvious.of(Answers.of([]), lists, 5).ids)


def test_a_plan_file_can_ask_both():
    text = plans.write_plan(a_plan(**BOTH))
    assert "repeated: 1" in text
    assert "obvious: true" in text
