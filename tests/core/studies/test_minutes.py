"""How many minutes a study takes: the formula, and the seconds of each kind's questions."""

from dataclasses import replace

import pytest

from survey.core.kinds import KINDS, plan_from_json
from survey.core.studies.minutes import (
    DocumentLoad,
    are_apart,
    questions_of_short_study,
    total_minutes,
)
from survey.services.studies.plans import kind_plan, preset_plan
from tests.grouped import PLAN as GROUPING
from tests.labelled import PLAN as LABELLING
from tests.preferred import a_preference_plan

TEXTS = DocumentLoad(texts=True)


@pytest.mark.parametrize(
    ("questions", "seconds", "minutes"),
    [
        (120, 30, 65),  # preferences of pictures
        (10, 120, 25),  # orderings
        (25, 120, 55),
        (11, 120, 25),
        (4, 30, 5),  # 5 minutes exactly
        (1, 0.1, 5),
        (10_000, 100, 600),
    ],
)
def test_minutes_are_three_and_the_questions_rounded_up_to_five(questions, seconds, minutes):
    assert total_minutes(questions, seconds) == minutes


@pytest.mark.parametrize(
    ("seconds", "questions"), [(30, 25), (45, 15), (120, 5), (270, 2), (2_000, 1)]
)
def test_a_short_study_takes_about_a_quarter_of_an_hour(seconds, questions):
    assert questions_of_short_study(seconds) == questions
    assert questions == 1 or total_minutes(questions, seconds) <= 20


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
        ("ordering", {"lists": 4}, DocumentLoad(), 120),
        ("labelling", {"batch": 30}, DocumentLoad(), 270),
        ("labelling", {"batch": 30}, DocumentLoad(count=100), 270),
        ("labelling", {"batch": 30}, DocumentLoad(count=10), 30),
        ("labelling", {"batch": 30}, DocumentLoad(texts=True, count=10), 200),
        ("grouping", {"topics": [["a", [*"bcde"]], ["b", [*"fg"]]]}, DocumentLoad(), 15),
        ("grouping", {"topics": [["a", [*"bcde"]], ["b", [*"fg"]]]}, TEXTS, 60),
        ("preference", {"depth": 5, "show_items": True}, DocumentLoad(), 30),
        ("preference", {"depth": 5, "show_items": True}, TEXTS, 45),
        ("preference", {"depth": 5, "show_items": False}, TEXTS, 30),
        ("preference", {"ask_strength": True, "ask_satisfaction": True}, DocumentLoad(), 43),
    ],
)
def test_a_question_of_each_kind_takes_its_seconds(kind, changes, documents, seconds):
    assert seconds_of(kind, documents, **changes) == pytest.approx(seconds)


def test_what_is_asked_beside_each_question_takes_time():
    plan = preset_plan("mnro", questions=12)
    assert plan.expected_minutes() == 30
    assert replace(plan, reason_question="Why?").expected_minutes() == 30
    asked = [{"name": f"q{n}", "label": "Why?", "kind": "text"} for n in range(3)]
    with_fields = plan_from_json({**plan.as_json(), "ask": asked, "reason_question": "Why?"})
    assert with_fields.expected_minutes() == 35
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
