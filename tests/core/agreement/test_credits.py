"""Credits: what a click on a label is worth to the measures."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.agreement.agreement import PairTests
from survey.core.agreement.answers import Response
from survey.core.agreement.credits import credited_measures, tally_values
from survey.core.studies.rankings import Ranking
from tests.core.agreement.random_votes import credits_of

FIRST, SECOND, THIRD = (Ranking.parse(text) for text in ("A>B>C", "B>A>C", "C>A=B"))
DISTINCT = {"AP": FIRST, "NMRR": SECOND, "MNRO": THIRD}
IDENTICAL = {"AP": FIRST, "NMRR": SECOND, "MNRO": FIRST}

label_orders = st.sampled_from(list(permutations(DISTINCT)))


@given(label_orders)
def test_a_vote_for_either_of_two_identical_orders_credits_both(order):
    for measure in ("AP", "MNRO"):
        label = order.index(measure) + 1
        assert credited_measures(order, {label}, IDENTICAL) == {"AP", "MNRO"}


@given(label_orders, st.sampled_from(list(DISTINCT)))
def test_a_vote_for_a_distinct_order_credits_the_measure_behind_the_label(order, measure):
    assert credited_measures(order, {order.index(measure) + 1}, DISTINCT) == {measure}


@given(label_orders, st.sets(st.integers(1, 3)))
def test_relabelling_never_changes_what_the_same_columns_are_worth(order, labels):
    chosen = {order[label - 1] for label in labels}
    other = tuple(reversed(order))
    relabelled = {other.index(measure) + 1 for measure in chosen}
    assert credited_measures(order, labels, IDENTICAL) == credited_measures(
        other, relabelled, IDENTICAL
    )


def test_an_own_ranking_that_equals_an_offered_order_credits_none():
    own = Response("p1", 1, ("AP", "NMRR", "MNRO"), own=FIRST)
    credits = credits_of([own], {1: DISTINCT}, ("AP", "NMRR", "MNRO"))
    assert not credits.credited.any()
    assert credits.other.tolist() == [True]


def test_several_clicks_credit_each_of_their_measures():
    assert credited_measures(("AP", "NMRR", "MNRO"), {1, 2}, DISTINCT) == {"AP", "NMRR"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({}, "an answer is one or more columns, or an own ranking"),
        ({"clicked": frozenset({1}), "own": FIRST}, "an answer is one or more columns, or an own"),
        ({"clicked": frozenset({4})}, "Method4 was clicked; there are Method1 to Method3"),
        ({"clicked": frozenset({0})}, "Method0 was clicked"),
    ],
)
def test_an_answer_that_cannot_be_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        Response("p1", 1, ("AP", "NMRR", "MNRO"), **values)


def test_a_response_to_an_unknown_question_is_refused():
    response = Response("p1", 2, ("AP", "NMRR", "MNRO"), frozenset({1}))
    with pytest.raises(ValueError, match="p1 answered question 2, which the study does not have"):
        credits_of([response], {1: DISTINCT}, ("AP", "NMRR", "MNRO"))


def test_a_response_shown_with_other_measures_is_refused():
    response = Response("p1", 1, ("AP", "NMRR"), frozenset({1}))
    with pytest.raises(ValueError, match="the study compares AP NMRR MNRO"):
        credits_of([response], {1: DISTINCT}, ("AP", "NMRR", "MNRO"))


def test_answers_of_a_kind_without_ticks_are_tested_by_their_values():
    answers = [("P2", 1, (5, 1)), ("P1", 2, (3, 3)), ("P1", 1, (5, 1)), ("P2", 2, (1, 4))]
    credits, values = tally_values(answers, ["AP", "RR"])
    assert values == [(5, 1), (1, 4), (3, 3)]
    assert credits.questions.tolist() == [1, 2, 2]
    assert credits.counts.tolist() == [2, 1, 1]
    assert credits.answer_counts.tolist() == [2, 2]
    lead = np.array([first - second for first, second in values], dtype=np.float64)
    tests = PairTests.of_pair(lead, credits, asked=2)
    assert tests.mean == 5 / 4
    assert (tests.questions.won, tests.questions.lost) == (1, 1)
    assert len(tally_values([], ["AP", "RR"])[0]) == 0
