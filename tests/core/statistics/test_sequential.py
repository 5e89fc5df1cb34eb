"""Levels of looks before the end: published bounds, and how often they reject in all."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.statistics.sequential import look_levels

# Two-sided .05, five equally spaced looks: bounds of the spending function, as in the tables of
# Reboussin, DeMets, Kim and Lan 2000 (Controlled Clinical Trials 21).
FIVE = [4.8769, 3.3569, 2.6803, 2.2898, 2.0310]


def bounds(levels):
    return [float(-scipy.stats.norm.ppf(level / 2)) for level in levels]


def test_five_equal_looks_have_the_published_bounds():
    found = bounds(look_levels([0.2, 0.4, 0.6, 0.8, 1.0]))
    assert found == pytest.approx(FIVE, abs=2e-4)


def test_a_single_look_at_the_end_has_the_level_itself():
    assert look_levels([1.0]) == pytest.approx([0.05])
    assert look_levels([]) == []


@pytest.mark.slow
@settings(max_examples=10, deadline=None)
@given(st.lists(st.integers(1, 100), min_size=1, max_size=5, unique=True))
def test_a_later_look_is_never_as_free_as_without_the_earlier_ones(fractions):
    fractions = [fraction / 100 for fraction in sorted(fractions)]
    levels = look_levels(fractions)
    assert all(0 <= level <= 0.05 + 1e-9 for level in levels)
    for index, fraction in enumerate(fractions):
        assert levels[index] <= look_levels([fraction])[0] + 1e-9


@pytest.mark.parametrize("fractions", [[1 / 3, 2 / 3, 1.0], [0.5, 1.0], [0.1, 0.15, 0.9, 1.0]])
def test_all_looks_together_reject_in_five_percent(fractions):
    rng = np.random.default_rng(3)
    steps = np.sqrt(np.diff([0, *fractions]))
    z = np.cumsum(rng.standard_normal((200_000, len(fractions))) * steps, axis=1)
    z /= np.sqrt(fractions)
    rejected = (np.abs(z) > bounds(look_levels(fractions))).any(axis=1).mean()
    assert rejected == pytest.approx(0.05, abs=0.0015)  # three standard errors


@pytest.mark.parametrize("fractions", [[0.5, 0.5], [0.0, 1.0], [0.6, 0.4], [0.5, 1.1]])
def test_fractions_that_cannot_be_are_refused(fractions):
    with pytest.raises(ValueError, match="fraction"):
        look_levels(fractions)


@pytest.mark.parametrize(("looks", "points"), [(2, 0.2), (3, 0.9), (5, 2.0)])
def test_looks_cost_the_power_that_the_planner_says(looks, points):
    """Of 80 % power, where only the last look may reject: the most that looks can cost."""
    shift = bounds([0.05])[0] + scipy.stats.norm.ppf(0.8)
    last = look_levels([look / looks for look in range(1, looks + 1)])[-1]
    power = scipy.stats.norm.cdf(shift - bounds([last])[0])
    assert 100 * (0.8 - power) == pytest.approx(points, abs=0.1)
