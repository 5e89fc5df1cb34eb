"""Correlations of orders in which top ranks count more, and kappa of two raters."""

import math
from itertools import permutations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from survey.core.statistics.rater_agreement import cohen_kappa, rbo, tau_ap_a, tau_ap_b

ORDERS = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=2, max_size=7)
P = st.sampled_from([0.5, 0.8, 0.95])


def midranks(values):
    return scipy.stats.rankdata(values)


def sides(pairs):
    first, second = zip(*pairs, strict=True)
    return midranks(first), midranks(second)


def tau_ap(true, order):
    """Of orders without ties, by the definition of Yilmaz et al."""
    places = np.argsort(order)
    shares = [
        np.mean([true[above] < true[item] for above in places[:place]])
        for place, item in enumerate(places)
        if place
    ]
    return 2 * np.mean(shares) - 1


@given(pairs=ORDERS)
def test_tau_ap_a_is_the_mean_over_all_ways_to_break_the_ties(pairs):
    true, order = midranks([a + index / 100 for index, (a, _) in enumerate(pairs)]), sides(pairs)[1]
    if len(pairs) > 5:
        return
    broken = {}
    for chance in permutations(range(len(pairs))):
        ranks = midranks([rank + place / 100 for rank, place in zip(order, chance, strict=True)])
        broken[tuple(ranks)] = tau_ap(true, ranks)
    assert tau_ap_a(true, order) == pytest.approx(np.mean([*broken.values()]))


def test_a_true_order_has_no_ties():
    with pytest.raises(ValueError, match="has no ties; tau_ap_b"):
        tau_ap_a([1.5, 1.5, 3], [1, 2, 3])


@given(order=st.permutations([*range(1, 7)]))
def test_without_ties_both_forms_are_built_on_the_definition(order):
    ideal = [*range(1, 7)]
    assert tau_ap_a(ideal, order) == pytest.approx(tau_ap(ideal, order))
    both = (tau_ap(ideal, order) + tau_ap(np.array(order), np.array(ideal))) / 2
    assert tau_ap_b(ideal, order) == pytest.approx(both)


@given(pairs=ORDERS)
def test_tau_ap_b_is_symmetric_in_range_and_1_for_equal_orders(pairs):
    x, y = sides(pairs)
    value = float(tau_ap_b(x, y))
    if len({*x}) == 1 or len({*y}) == 1:
        assert math.isnan(value)
        return
    assert -1 - 1e-12 <= value <= 1 + 1e-12
    assert value == pytest.approx(float(tau_ap_b(y, x)))
    assert tau_ap_b(x, x) == pytest.approx(1)
    assert tau_ap_b(x, len(x) + 1 - x) == pytest.approx(-1)


def test_orders_are_broadcast_as_tau_b_does():
    x, y = np.array([[1, 2, 3], [3, 2, 1]]), np.array([1.0, 2, 3])
    assert tau_ap_a(y, x).tolist() == [1, -1]
    assert tau_ap_b(x, y).tolist() == [1, -1]
    assert tau_ap_b(x[:, np.newaxis], x).shape == (2, 2)
    assert rbo(x[:, np.newaxis], x, 0.9).shape == (2, 2)


def test_a_swap_at_the_top_costs_more_than_one_at_the_end():
    ideal, top, end = [1, 2, 3, 4, 5], [2, 1, 3, 4, 5], [1, 2, 3, 5, 4]
    for compare in (tau_ap_a, tau_ap_b, lambda x, y: rbo(x, y, 0.9)):
        assert compare(ideal, top) < compare(ideal, end) < 1


@given(order=st.permutations([*range(1, 8)]), p=P)
def test_rbo_without_ties_adds_up_the_overlaps(order, p):
    ideal = [*range(1, 8)]
    places = [set(np.argsort(side)[:depth]) for depth in ideal for side in (ideal, order)]
    shares = [
        len(a & b) / d for d, (a, b) in enumerate(zip(places[::2], places[1::2], strict=True), 1)
    ]
    expected = (1 - p) * sum(p**place * share for place, share in enumerate(shares)) + p**7
    assert rbo(ideal, order, p) == pytest.approx(expected)
    assert rbo(ideal, order, p, ties="a") == pytest.approx(expected)


@given(pairs=ORDERS, p=P)
def test_rbo_with_ties_is_symmetric_in_range_and_1_with_itself(pairs, p):
    x, y = sides(pairs)
    assert 0 <= rbo(x, y, p, ties="a") <= rbo(x, y, p) + 1e-12 <= 1 + 2e-12
    assert rbo(x, y, p) == pytest.approx(rbo(y, x, p))
    assert rbo(x, x, p) == pytest.approx(1)


def test_five_reversed_items_still_overlap_by_three_quarters():
    assert rbo([1, 2, 3, 4, 5], [5, 4, 3, 2, 1], 0.9) == pytest.approx(0.74, abs=0.005)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
@given(pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_kappa_of_two_raters_is_that_of_scikit_learn(weights, pairs):
    first, second = (list(side) for side in zip(*pairs, strict=True))
    found = cohen_kappa(first, second, [0, 1, 2, 3], weights=weights)
    if len({*first, *second}) == 1:
        assert math.isnan(found)
        return
    theirs = cohen_kappa_score(
        first, second, labels=[0, 1, 2, 3], weights=None if weights == "none" else weights
    )
    assert found == pytest.approx(theirs)


def test_raters_without_a_common_table_have_no_kappa():
    with pytest.raises(ValueError, match="the raters have 2 and 1 subjects"):
        cohen_kappa([1, 0], [1], [0, 1])
    with pytest.raises(ValueError, match=r"2 found; \[0, 1\] are the categories"):
        cohen_kappa([1, 2], [1, 0], [0, 1])
    assert math.isnan(cohen_kappa([], [], [0, 1]))
