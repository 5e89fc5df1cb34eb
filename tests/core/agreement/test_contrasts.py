"""How two orders differ, and what the kinds of question give to a difference."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.agreement.contrasts import by_contrast, expected_of_question
from survey.core.agreement.differences import (
    BallotSums,
    Pair,
    by_participants,
    differences,
    mean_of,
    two_way,
)
from survey.core.studies.rankings import (
    CONTRADICTING,
    IDENTICAL,
    TIES_ONLY,
    Ranking,
    breaks_ties,
    contradictions,
    contrast,
    is_balanced,
    letters_for,
)
from tests.core.agreement.cases import rankings, responses
from tests.core.agreement.random_votes import credits_of, random_rankings, random_responses

orders = st.lists(st.integers(0, 3), min_size=4, max_size=4).map(
    lambda keys: Ranking.by_key(dict(zip(letters_for(4), keys, strict=True)))
)


@pytest.mark.parametrize(
    ("first", "second", "kind", "breaks"),
    [
        ("A>B>C", "A>B>C", IDENTICAL, (False, False)),
        ("A>B>C", "A>B=C", TIES_ONLY, (True, False)),
        ("A=B>C", "A>B=C", TIES_ONLY, (True, True)),
        ("A>B>C", "B>A=C", CONTRADICTING, (True, False)),
        ("A>B=C", "A>B=C", IDENTICAL, (False, False)),
    ],
)
def test_the_kinds(first, second, kind, breaks):
    first, second = Ranking.parse(first), Ranking.parse(second)
    assert contrast(first, second) == kind
    assert (breaks_ties(first, second), breaks_ties(second, first)) == breaks


@given(orders, orders)
def test_every_two_orders_are_of_one_kind(first, second):
    kind = contrast(first, second)
    assert kind == contrast(second, first)
    assert (kind == CONTRADICTING) == (contradictions(first, second) > 0)
    assert (kind == IDENTICAL) == (first == second)
    if kind == TIES_ONLY:
        assert breaks_ties(first, second) or breaks_ties(second, first)


def test_the_parts_are_the_questions_of_each_kind_by_themselves():
    pair, credits = Pair("NMRR", "AP"), credits_of(responses(), rankings())
    d = differences(credits, pair)
    found = by_contrast(d, credits, pair)
    assert (found.contradicting.questions, found.ties_only.questions) == (1, 3)
    assert (found.first_breaks_ties, found.second_breaks_ties) == (0, 3)
    number = next(n for n, of in rankings().items() if contradictions(of["NMRR"], of["AP"]))
    alone = credits.subset(credits.questions == number)
    assert found.contradicting.participants == by_participants(BallotSums.of(d, alone))
    others = credits.subset(credits.questions != number)
    assert found.ties_only.two_way == two_way(d, others)
    assert found.ties_only.contribution == pytest.approx(found.ties_only.mean * 18 / 24)


def test_a_kind_without_questions_says_so():
    pair, credits = Pair("MNRO", "AP"), credits_of(responses(), rankings())
    found = by_contrast(differences(credits, pair), credits, pair).ties_only
    assert (found.questions, found.contribution, found.mean) == (0, None, None)
    assert found.why == "no question is of this kind"


LETTERS = letters_for(5)
weak_orders = st.lists(st.integers(0, 4), min_size=5, max_size=5).map(
    lambda keys: Ranking.by_key(dict(zip(LETTERS, keys, strict=True)))
)


@given(weak_orders, weak_orders)
def test_a_question_is_balanced_where_each_ties_as_many_pairs_as_the_other_alone(first, second):
    alone = [0, 0]
    for a, b in combinations(LETTERS, 2):
        tied = [order.places[a] == order.places[b] for order in (first, second)]
        alone[0] += tied[0] and not tied[1]
        alone[1] += tied[1] and not tied[0]
    assert is_balanced(first, second) == (alone[0] == alone[1])


def expected_by_counting(orders, pair):
    """What each strict order's holder ticks: agreement counted pair by pair, equals sharing."""
    lead = []
    for held in permutations(LETTERS):
        agreeing = {
            order: sum(order.places[a] < order.places[b] for a, b in combinations(held, 2))
            for order in orders.values()
        }
        nearest = [order for order, count in agreeing.items() if count == max(agreeing.values())]
        ticked = [(orders[name] in nearest) / len(nearest) for name in pair]
        lead.append(ticked[0] - ticked[1])
    return sum(lead) / len(lead)


@settings(max_examples=25, deadline=None)
@given(weak_orders, weak_orders, weak_orders)
def test_what_random_orders_give_is_counted_over_all_of_them(ap, nmrr, mnro):
    orders = {"AP": ap, "NMRR": nmrr, "MNRO": mnro}
    pair = Pair("MNRO", "NMRR")
    assert expected_of_question(orders, pair) == pytest.approx(expected_by_counting(orders, pair))


def test_random_orders_lean_to_the_order_that_is_farther_from_the_third():
    """Of the six, ABC and ACB are nearest to AP's, BAC to NMRR's, CAB and CBA to MNRO's; BCA is
    between the last two.
    """
    orders = dict(
        zip(("AP", "NMRR", "MNRO"), map(Ranking.parse, ("A>B>C", "B>A>C", "C>B>A")), strict=True)
    )
    assert expected_of_question(orders, Pair("MNRO", "NMRR")) == pytest.approx(1 / 6)


def test_more_than_seven_lists_are_ordered_at_random_from_the_fixed_stream():
    letters = letters_for(8)
    up, down = (
        Ranking.by_key(dict(zip(letters, keys, strict=True)))
        for keys in (range(8), range(8, 0, -1))
    )
    orders = {"AP": up, "NMRR": down}
    first = expected_of_question(orders, Pair("AP", "NMRR"))
    assert first == expected_of_question(orders, Pair("AP", "NMRR"))
    assert abs(first) < 0.05  # of 5,040 orders


def test_contradicting_questions_are_balanced_or_not_each_with_its_own_tests():
    rng = np.random.default_rng(3)
    found = random_rankings(rng, 12)
    answers = random_responses(rng, found, 10, leaning=0.4)
    pair, credits = Pair("MNRO", "NMRR"), credits_of(answers, found)
    d = differences(credits, pair)
    parts = by_contrast(d, credits, pair)
    both = {n: (of[pair.first], of[pair.second]) for n, of in found.items()}
    contradict = [n for n, orders in both.items() if contrast(*orders) == CONTRADICTING]
    balanced = [n for n in contradict if is_balanced(*both[n])]
    assert 0 < len(balanced) < len(contradict)
    assert parts.balanced.questions == len(balanced)
    assert parts.unbalanced.questions == len(contradict) - len(balanced)
    alone = credits.subset(np.isin(credits.questions, balanced))
    assert parts.balanced.participants == by_participants(BallotSums.of(d, alone))
    expected = [
        0 if is_own or n not in balanced else expected_of_question(found[n], pair)
        for n, is_own in zip(credits.questions.tolist(), credits.other.tolist(), strict=True)
    ]
    above = parts.balanced.above_random_orders
    assert above.mean == pytest.approx(mean_of(d - expected, alone))
    assert above.participants.p == pytest.approx(
        by_participants(BallotSums.of(d - expected, alone)).p
    )
