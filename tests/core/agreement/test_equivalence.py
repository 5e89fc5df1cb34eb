"""Equality to within the smallest difference that matters, and what so few questions can show."""

import pytest

from survey.core.agreement.agreement import analyse_answers
from survey.core.agreement.answers import Answers
from survey.core.agreement.differences import (
    SAME_MEANS,
    T1,
    T2,
    Components,
    ParticipantsTest,
    least_p,
)
from survey.core.agreement.equivalence import TOO_FEW_QUESTIONS, equivalence
from survey.core.agreement.verdicts import verdict
from tests.core.agreement.random_votes import leaning_study

SURE = {"n": 300, "unit": "responses", "mean": 0.0, "se": 0.01, "df": 20.0}


def of(questions):
    kind, these = Components(estimand=T2, **SURE), ParticipantsTest(estimand=T1, **SURE)
    return equivalence(0.1, kind, these, questions)


@pytest.mark.parametrize("questions", [2, 3, 5])
def test_too_few_questions_are_equal_for_these_alone(questions):
    found = of(questions)
    assert (found.kind.p, found.kind.why) == (None, TOO_FEW_QUESTIONS)
    assert found.kind.ci90
    assert found.equal_for(0.05) == T1


def test_from_six_on_p_is_no_smaller_than_so_few_can_show():
    assert of(6).kind.p == 1 / 32
    assert of(6).equal_for(0.05) == T2
    assert of(30).kind.p < 1e-6


def test_three_questions_show_no_equality_where_all_participants_have_the_same_mean():
    """Nothing varies between them, which must not let the number of questions be forgotten."""
    responses, rankings, measures = leaning_study(10006)
    analysis = analyse_answers(
        Answers.of(responses), rankings, measures, asked=len(rankings), smallest_difference=0.18
    )
    [alike] = [each for each in analysis.differences if each.participants.why == SAME_MEANS]
    assert len(rankings) == 3
    assert (alike.equivalence.kind.p, alike.equivalence.kind.why) == (None, TOO_FEW_QUESTIONS)
    assert verdict(alike, len(rankings)).scope == "none"


def test_what_is_the_same_for_all_participants_is_equal_if_it_is_small_enough():
    same = ParticipantsTest(estimand=T1, n=30, unit="participants", mean=0.05, why=SAME_MEANS)
    components = Components(estimand=T2, **SURE | {"mean": 0.05})
    assert equivalence(0.1, components, same, 10).kind.p == least_p(10)
    assert equivalence(0.04, components, same, 10).kind.p == 1
