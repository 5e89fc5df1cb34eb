"""How many minutes a study takes: the formula, and the seconds of each kind's questions."""

from dataclasses import replace

import pytest

from survey.core.kinds import KINDS, plan_from_json
from survey.core.studies.minutes import DocumentLoad, are_apart, total_minutes
from survey.services.studies.plans import kind_plan, preset_plan
from tests.grouped import PLAN as GROUPING
from tests.labelled import PLAN as LABELLING
from tests.preferred import a_preference_plan

TEXTS = DocumentLoad(texts=True)


@pytest.mark.parametrize(
    ("practice", "questions", "seconds", "minutes"),
    [
        (45, 10, 50, 15),  # ten orderings of five lists of numbers
        (20, 3, 108, 10),  # three queries of 100 pictures
        (20, 4, 26, 6),  # four preferences of ten pictures
        (20, 1, 68, 5),  # one topic of twelve pictures
        (0, 1, 0.1, 3),
        (0, 10_000, 100, 600),
    ],
)
def test_minutes_follow_from_words_fields_and_questions(practice, questions, seconds, minutes):
    assert total_minutes(450, 2, practice, questions, seconds) == minutes


def seconds_of(kind, documents, **changes):
    if kind == "preference":
        plan = a_preference_plan(**changes)
    else:
        own = {"labelling": LABELLING, "grouping": GROUPING}.get(kind, {})
        plan = kind_plan(**{**own, "kind": kind, **changes})
    return plan.seconds_each(documents)


@pytest.mark.parametrize(
    ("kind", "changes", "documents", "seconds"),
    [
        ("ordering", {"lists": 4}, DocumentLoad(), 42),
        ("labelling", {"batch": 30}, DocumentLoad(), 108),
        ("labelling", {"batch": 30}, DocumentLoad(count=100), 108),
        ("labelling", {"batch": 30}, DocumentLoad(count=10), 12),
        ("labelling", {"batch": 30}, DocumentLoad(texts=True, count=10), 50),
        ("grouping", {"topics": [["a", [*"bcde"]], ["b", [*"fg"]]]}, DocumentLoad(), 32),
        ("grouping", {"topics": [["a", [*"bcde"]], ["b", [*"fg"]]]}, TEXTS, 44),
        ("preference", {"depth": 5, "show_items": True}, DocumentLoad(), 18),
        ("preference", {"depth": 5, "show_items": True}, TEXTS, 50),
        ("preference", {"depth": 5, "show_items": False}, TEXTS, 18),
        (
            "preference",
            {"depth": 5, "ask_strength": True, "ask_satisfaction": True},
            DocumentLoad(),
            31,
        ),
    ],
)
def test_a_question_of_each_kind_takes_its_seconds(kind, changes, documents, seconds):
    assert seconds_of(kind, documents, **changes) == pytest.approx(seconds)


def test_lists_of_texts_take_longer_than_pictures_and_pictures_than_none():
    named = {"topics": ["t"], "runs": ["a", "b", "c"], "documents": [[["x"], ["y"], ["z"]]]}
    sources = [{"role": "run", "name": "a.txt", "sha256": "ab" * 32}]
    plan = preset_plan(
        "pictures",
        questions=1,
        own_lists=[[[1, 9], [2, 8], [3, 4]]],
        provenance={**named, "sources": sources},
    )
    assert plan.seconds_each(DocumentLoad()) == 10 + 3 * (4 + 0.5 * 10)
    assert plan.seconds_each(TEXTS) == 10 + 3 * 3 * 10


def test_reasons_and_what_is_asked_of_persons_take_time():
    plan = preset_plan("mnro", questions=12)
    asked = [{"name": f"q{n}", "label": "Why?", "kind": "text"} for n in range(20)]
    assert plan.expected_minutes() == 15
    assert replace(plan, reason_question="Why?").expected_minutes() == 20
    with_fields = plan_from_json({**plan.as_json(), "closing_questions": asked})
    assert with_fields.expected_minutes() == 20
    assert plan.expected_minutes(seconds=10) == 5


@pytest.mark.parametrize(
    ("promised", "expected", "apart"),
    [(20, 15, False), (20, 30, False), (20, 35, True), (20, 13, True), (5, 5, False)],
)
def test_minutes_may_differ_by_half(promised, expected, apart):
    assert are_apart(promised, expected) is apart


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_says_how_long_its_questions_take(kind):
    assert "seconds_each" in vars(KINDS[kind].plan)
