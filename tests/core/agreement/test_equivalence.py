"""Equality to within the smallest difference that matters, and what so few questions can show."""

import pytest

from survey.core.agreement.differences import T1, T2, Components, ParticipantsTest
from survey.core.agreement.equivalence import TOO_FEW_QUESTIONS, equivalence

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
