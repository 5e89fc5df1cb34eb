"""Bradley–Terry strengths: against statsmodels, and against strengths that are known."""

from itertools import permutations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from survey.core.statistics.bradley_terry import Comparisons, bradley_terry


def drawn(chance, theta, people=30, questions=20, spread=0.0):
    """Comparisons of all pairs by everybody; questions shift the odds of their pair."""
    items = len(theta)
    rows = []
    for question in range(questions):
        first, second = chance.permutation(items)[:2]
        shift = chance.normal(0, spread)
        for person in range(people):
            won = chance.random() < expit(theta[first] - theta[second] + shift)
            rows.append((first, second, float(won), person, question))
    first, second, score, person, question = np.array(rows).T
    first, second, person = (each.astype(np.int64) for each in (first, second, person))
    return Comparisons(items, first, second, score, np.ones(len(score), dtype=np.int64)), person


def test_it_is_statsmodels_logit_and_its_influence_gives_the_clustered_variance():
    compared, people = drawn(np.random.default_rng(2), [0.8, 0.0, -0.3, -0.5], spread=0.5)
    rows = np.arange(len(compared.score))
    design = np.zeros((len(rows), 4))
    design[rows, compared.first], design[rows, compared.second] = 1, -1
    # Item 3 is the reference; contrasts to it are turned into deviations from the mean.
    fit = sm.GLM(compared.score, design[:, :3], sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": people}, tol=1e-14
    )
    turn = np.vstack([np.eye(3), np.zeros(3)]) - np.full((4, 3), 1 / 4)
    found = bradley_terry(compared)
    np.testing.assert_allclose(found.theta, turn @ fit.params, atol=1e-9)
    np.testing.assert_allclose(found.influence.mean(axis=0), 0, atol=1e-9)
    # statsmodels multiplies by (n − 1) / (n − k) besides.
    n, groups = len(rows), len(np.unique(people))
    sums = np.array([found.influence[people == one].sum(axis=0) for one in range(groups)])
    variance = groups / (groups - 1) * (sums**2).sum(axis=0) / n**2
    expected = np.diag(turn @ fit.cov_params() @ turn.T) * (n - 3) / (n - 1)
    np.testing.assert_allclose(variance, expected, rtol=1e-9)


def test_comparisons_that_are_counted_are_as_those_that_are_repeated():
    compared, _ = drawn(np.random.default_rng(3), [0.5, 0.0, -0.5], people=6, questions=12)
    columns = (compared.first, compared.second, compared.score)
    distinct, times = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    first, second = distinct[:, :2].astype(np.int64).T
    counted = bradley_terry(Comparisons(3, first, second, distinct[:, 2], times))
    np.testing.assert_allclose(counted.theta, bradley_terry(compared).theta, atol=1e-9)


def test_two_items_have_the_logit_of_the_share():
    score = np.array([1, 1, 1, 0.5])
    index = np.zeros(4, dtype=np.int64)
    found = bradley_terry(Comparisons(2, index, index + 1, score, index + 1))
    assert found.theta[0] - found.theta[1] == pytest.approx(logit(3.5 / 4))


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=6, max_size=24))
def test_strengths_do_not_depend_on_which_list_is_named_first(scores):
    pairs = [*permutations(range(3), 2)]
    chosen = np.array([pairs[place % 6] for place in range(len(scores))])
    score, times = np.array(scores), np.ones(len(scores), dtype=np.int64)
    one = bradley_terry(Comparisons(3, *chosen.T, score, times))
    other = bradley_terry(Comparisons(3, *chosen.T[::-1], 1 - score, times))
    if one.theta is None:
        assert other.theta is None
        assert "won or lost all" in one.why
    else:
        assert sum(one.theta) == pytest.approx(0, abs=1e-9)
        np.testing.assert_allclose(one.theta, other.theta, atol=1e-8)
        np.testing.assert_allclose(one.influence, other.influence, atol=1e-6)


def test_what_cannot_be_estimated_says_why():
    nothing = np.array([], dtype=np.int64)
    empty = bradley_terry(Comparisons(2, nothing, nothing, np.array([]), nothing))
    assert (empty.theta, empty.influence) == (None, None)
    assert "won or lost all" in empty.why
