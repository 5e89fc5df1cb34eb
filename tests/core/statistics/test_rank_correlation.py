"""Rank correlations and their intervals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from survey.core.statistics.rater_agreement import kendall, spearman_rho

SCORES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=5, max_size=20)


@pytest.mark.slow
@given(SCORES)
def test_coefficients_are_scipys_ties_included(pairs):
    x, y = (list(map(float, one)) for one in zip(*pairs, strict=True))
    tau, rho = kendall(x, y), spearman_rho(x, y)
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert tau.coefficient is rho.coefficient is None
        assert tau.why == rho.why == "a score is the same for all items"
        return
    assert tau.coefficient == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert rho.coefficient == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    for one in (tau, rho):
        if one.ci95:
            assert -1 <= one.ci95[0] < one.coefficient < one.ci95[1] <= 1


def test_the_intervals_are_those_worked_by_hand():
    x, y = [1.0, 2, 3, 4, 5, 6, 7], [2.0, 1, 3, 5, 4, 7, 6]
    # 3 of 21 pairs are discordant: tau = 15/21; atanh tau = ln(6)/2 = 0.8958797;
    # 1.959964 · sqrt(.437/3) = 0.7480458.
    found = kendall(x, y)
    assert found.coefficient == pytest.approx(15 / 21)
    # tanh(0.1478339) and tanh(1.6439255)
    assert found.ci95 == pytest.approx((0.1467663, 0.9280193), abs=1e-6)
    # Σd² = 6: rho = 1 − 36/336 = 25/28; atanh rho = ln(53/3)/2 = 1.4358398;
    # 1.959964 · sqrt((1 + .7971939/2)/4) = 1.1589492.
    found = spearman_rho(x, y)
    assert found.coefficient == pytest.approx(25 / 28)
    # tanh(0.2768907) and tanh(2.5947890)
    assert found.ci95 == pytest.approx((0.2700249, 0.9889131), abs=1e-6)


@pytest.mark.parametrize(("y", "expected"), [([1, 2, 3, 4, 5], 1.0), ([5, 4, 3, 2, 1], -1.0)])
def test_at_plus_and_minus_one_there_is_no_interval(y, expected):
    for one in (kendall([1, 2, 3, 4, 5], y), spearman_rho([1, 2, 3, 4, 5], y)):
        assert (one.coefficient, one.ci95) == (expected, None)
        assert "infinite" in one.why


def test_few_items_have_a_coefficient_and_no_interval():
    found = kendall([1, 2, 3, 4], [1, 3, 2, 4])
    assert found.coefficient == pytest.approx(4 / 6)
    assert found.why == "an interval needs 5 items or more"


def test_scores_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="the scores are 2 and 3"):
        kendall([1, 2], [1, 2, 3])


@pytest.mark.trial
@pytest.mark.parametrize(
    ("r", "taus", "rhos"), [(0.5, (0.93, 0.96), (0.94, 0.97)), (0.99, (0.75, 0.82), (0.8, 0.86))]
)
def test_how_often_the_intervals_cover_the_truth_is_as_the_remark_says(r, taus, rhos):
    # Of a normal distribution: tau = 2/π asin r, rho = 6/π asin(r/2).
    truth = 2 / math.pi * math.asin(r), 6 / math.pi * math.asin(r / 2)
    chance, covered = np.random.default_rng(1), []
    for _ in range(2000):
        x, noise = chance.standard_normal((2, 15))
        y = r * x + math.sqrt(1 - r * r) * noise
        found = kendall(x.tolist(), y.tolist()), spearman_rho(x.tolist(), y.tolist())
        if all(one.ci95 for one in found):
            covered.append([a.ci95[0] <= b <= a.ci95[1] for a, b in zip(found, truth, strict=True)])
    for share, (low, high) in zip(np.mean(covered, axis=0), (taus, rhos), strict=True):
        assert low <= share <= high
