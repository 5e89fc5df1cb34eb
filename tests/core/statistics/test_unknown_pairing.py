"""Two printed numbers whose pairing was not printed: bounds that hold for every pairing."""

import math

import numpy as np
import pytest
from scipy import stats

from survey.core.statistics.unknown_pairing import (
    Count,
    compare_correlations,
    compare_shares,
    worth_needed,
)


def test_unrelated_shares_are_agresti_and_caffos_test():
    # (161/254, 128/243): difference .1071, error sqrt(.6339 · .3661/254 + .5267 · .4733/243)
    p, _ = compare_shares(Count(160, 252), Count(127, 241))
    error = math.sqrt(161 * 93 / 254**3 + 128 * 115 / 243**3)
    expected = 2 * stats.norm.sf((161 / 254 - 128 / 243) / error)
    assert p.unrelated == pytest.approx(expected)
    assert p.unrelated == pytest.approx(0.0155, abs=0.0005)


@pytest.mark.parametrize(("first", "second", "n"), [(30, 20, 40), (35, 33, 40), (5, 1, 12)])
def test_the_bounds_hold_every_pairing_of_the_same_trials(first, second, n):
    p, interval = compare_shares(Count(first, n), Count(second, n))
    # The same with a success and a failure of both added to every table of pairs.
    a, b, m = first + 1, second + 1, n + 2
    for both in range(max(0, a + b - m), min(a, b) + 1):
        variance = a / m * (1 - a / m) + b / m * (1 - b / m) - 2 * (both / m - a * b / m**2)
        z = (a - b) / m / math.sqrt(variance / m)
        assert p.smallest - 1e-12 <= 2 * stats.norm.sf(abs(z)) <= p.largest + 1e-12
    assert (interval[0] > 0) == (p.largest < 0.05)


def test_equal_shares_do_not_differ_whatever_their_pairing():
    p, interval = compare_shares(Count(3, 10), Count(3, 10))
    assert p == (1, 1, 1)
    assert interval[0] < 0 < interval[1]


def test_williams_t_by_hand():
    # |R| = 1 − .16 − .25 − .01 + 2 · .4 · .5 · .1 = .62; .1 √(102 · 1.1/(2.04 · .62 + .45² · .9³))
    p = compare_correlations(0.4, 0.5, 103, between=0.1)
    t = 0.1 * math.sqrt(102 * 1.1 / (2.04 * 0.62 + 0.45**2 * 0.9**3))
    assert p.smallest == p.largest == pytest.approx(2 * stats.t.sf(t, 100))


def test_williams_test_of_equal_correlations_rarely_decides():
    drawn = np.random.Generator(np.random.PCG64(1)).multivariate_normal(
        np.zeros(3), [[1, 0.5, 0.5], [0.5, 1, 0.3], [0.5, 0.3, 1]], (3_000, 40)
    )
    decided = 0
    for table in drawn:
        r = np.corrcoef(table.T)
        decided += compare_correlations(r[0, 1], r[0, 2], 40, r[1, 2]).largest < 0.05
    assert 0.04 < decided / 3_000 < 0.06


def test_without_the_correlation_between_them_every_possible_one_is_tried():
    p = compare_correlations(0.5, 0.3, 100)
    known = [compare_correlations(0.5, 0.3, 100, r).smallest for r in np.linspace(-0.6, 0.9, 31)]
    assert p.smallest <= min(known) < 0.05 < max(known) <= p.largest
    assert p.unrelated == pytest.approx(compare_correlations(0.5, 0.3, 100, 0.15).smallest)


@pytest.mark.parametrize(("n", "between"), [(3, None), (50, -0.9)])
def test_correlations_that_cannot_be_are_refused(n, between):
    with pytest.raises(ValueError, match="four answers"):
        compare_correlations(0.9, 0.8, n, between)


def test_fewer_answers_decide_where_p_is_small():
    assert worth_needed(0.05) == 1
    assert worth_needed(0.01) == pytest.approx((1.959964 / 2.575829) ** 2)
    assert stats.binomtest(70, 100).pvalue < 0.001
    assert worth_needed(stats.binomtest(70, 100).pvalue) < 0.31
