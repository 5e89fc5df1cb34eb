"""Random draws, and the tests that use them, against their distributions."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from survey.core.statistics.significance import (
    REPLICATES,
    RandomStream,
    sign_flip,
    t_quantile,
    t_tail,
    two_one_sided_tests,
)


@pytest.mark.parametrize("bound", [1, 2, 3, 20])
@pytest.mark.parametrize("draws", [1, 31, 70])
def test_tallies_count_the_integers_that_are_drawn_one_by_one(bound, draws):
    counts = np.zeros((REPLICATES, bound), dtype=int)
    for drawn in np.vstack(list(RandomStream().halves(draws))):
        counts[np.arange(REPLICATES), drawn.astype(np.int64) * bound >> 32] += 1
    assert np.array_equal(RandomStream().tallies(draws, bound), counts)


@pytest.mark.parametrize("draws", [1, 2, 64, 1 << 20])
@pytest.mark.parametrize("chance", [0.5, 1 / 20])
def test_a_power_of_two_is_drawn_as_the_binomial_distribution_turned_round(draws, chance):
    expected = stats.binom.ppf(RandomStream()._uniform(), draws, chance)
    assert np.array_equal(RandomStream().binomial(np.full(REPLICATES, draws), chance), expected)


def test_binomials_have_the_distribution_of_each_replicates_own_number():
    draws = np.tile([0, 5, 1_000, 77_777], REPLICATES // 4)
    drawn = RandomStream().binomial(draws, 1 / 3)
    for n in (5, 1_000, 77_777):
        assert drawn[draws == n].mean() == pytest.approx(n / 3, abs=4 * (2 * n / 9 / 2_500) ** 0.5)
        assert drawn[draws == n].var() == pytest.approx(2 * n / 9, rel=0.12)
    assert not drawn[draws == 0].any()


def test_multinomials_have_the_mean_and_spread_of_single_draws():
    counts = RandomStream().multinomial(90_000, 3)
    assert np.all(counts.sum(axis=1) == 90_000)
    within = 4 * (20_000 / REPLICATES) ** 0.5
    assert counts.mean(axis=0) == pytest.approx([30_000] * 3, abs=within)
    assert np.cov(counts.T) == pytest.approx(np.full((3, 3), -10_000) + 30_000 * np.eye(3), rel=0.1)


def test_signs_of_thirty_thousand_values_are_flipped_by_the_numbers_of_alike_ones():
    values = [Fraction(-1, 3), Fraction(0), Fraction(1, 3), Fraction(1, 2)]
    times = [10_000, 5_000, 10_100, 4_900]
    p, method = sign_flip(values, np.repeat(np.arange(4), times))
    total = float(sum(value * count for value, count in zip(values, times, strict=True)))
    spread = sum(value**2 * count for value, count in zip(values, times, strict=True)) ** 0.5
    assert method == "Monte Carlo"
    assert p == pytest.approx(2 * stats.norm.sf(total / spread), abs=0.015)
    small = [Fraction(1), Fraction(-1)]
    p, _ = sign_flip(small, np.repeat([0, 1], [15_100, 14_900]))
    assert p == pytest.approx(2 * stats.norm.sf(200 / 30_000**0.5), abs=0.015)


def test_tails_and_quantiles_of_t_are_those_of_scipy_to_the_last_digit():
    for df in (0.5, 1, 2.7, 9, 29, 1e6):
        assert [t_tail(t, df) for t in (0, 0.3, 2.26, 40)] == [*stats.t.sf([0, 0.3, 2.26, 40], df)]
        assert [t_quantile(p, df) for p in (0.95, 0.975)] == [*stats.t.ppf([0.95, 0.975], df)]


@pytest.mark.parametrize("margin", [0.1, 0.4, 1.2])
def test_two_one_sided_tests_are_those_of_statsmodels(margin):
    values = np.random.default_rng(5).normal(0.2, 1, 25)
    se = values.std(ddof=1) / 5
    p, ci90 = two_one_sided_tests(float(values.mean()), float(se), 24, margin)
    expected = DescrStatsW(values)
    assert p == pytest.approx(expected.ttost_mean(-margin, margin)[0])
    assert ci90 == pytest.approx(expected.tconfint_mean(0.1))
