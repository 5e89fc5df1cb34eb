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
    index = (each.astype(np.int64) for each in (first, second, person, question))
    first, second, person, question = index
    return Comparisons(items, first, second, score, person, question)


def test_it_is_statsmodels_logit_with_both_groups_clustered():
    compared = drawn(np.random.default_rng(2), [0.8, 0.0, -0.3, -0.5], spread=0.5)
    rows = np.arange(len(compared.score))
    design = np.zeros((len(rows), 4))
    design[rows, compared.first], design[rows, compared.second] = 1, -1
    # Item 3 is the reference; contrasts to it are turned into deviations from the mean.
    groups = np.column_stack([compared.people, compared.questions])
    fit = sm.GLM(compared.score, design[:, :3], sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, tol=1e-14
    )
    turn = np.vstack([np.eye(3), np.zeros(3)]) - np.full((4, 3), 1 / 4)
    found = bradley_terry(compared)
    np.testing.assert_allclose(found.theta, turn @ fit.params, atol=1e-9)
    # statsmodels multiplies by (n − 1) / (n − k) besides.
    n = len(rows)
    both = np.sqrt(np.diag(turn @ fit.cov_params() @ turn.T) * (n - 3) / (n - 1))
    assert (np.array(found.se) >= both * (1 - 1e-9)).all()
    assert np.isclose(found.se, both, rtol=1e-9).any()  # where it is the largest of the four


def test_two_items_have_the_logit_of_the_share():
    score = np.array([1, 1, 1, 0.5])
    index = np.zeros(4, dtype=np.int64)
    found = bradley_terry(
        Comparisons(2, index, index + 1, score, np.arange(4), np.array([0, 1, 0, 1]))
    )
    assert found.theta[0] - found.theta[1] == pytest.approx(logit(3.5 / 4))


@pytest.mark.slow
def test_the_interval_holds_known_strengths_about_as_often_as_it_says():
    chance, theta = np.random.default_rng(5), np.array([0.6, 0.0, -0.6])
    held = np.zeros(3)
    repeats = 200
    for _ in range(repeats):
        found = bradley_terry(drawn(chance, theta, people=20, questions=30))
        low, high = np.array(found.ci95).T
        held += (low <= theta) & (theta <= high)
    assert (held / repeats > 0.92).all()


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=6, max_size=24))
def test_strengths_do_not_depend_on_which_list_is_named_first(scores):
    pairs = [*permutations(range(3), 2)]
    chosen = np.array([pairs[place % 6] for place in range(len(scores))])
    people, questions = np.arange(len(scores)) % 3, np.arange(len(scores)) % 5
    score = np.array(scores)
    one = bradley_terry(Comparisons(3, *chosen.T, score, people, questions))
    other = bradley_terry(Comparisons(3, *chosen.T[::-1], 1 - score, people, questions))
    if one.theta is None:
        assert other.theta is None
        assert "won or lost all" in one.why
    else:
        assert sum(one.theta) == pytest.approx(0, abs=1e-9)
        np.testing.assert_allclose(one.theta, other.theta, atol=1e-8)
        assert one.why == other.why
        if one.ci95 is not None:
            np.testing.assert_allclose(one.ci95, other.ci95, atol=1e-7)


def test_what_cannot_be_estimated_says_why():
    nothing = np.array([], dtype=np.int64)
    empty = bradley_terry(Comparisons(2, nothing, nothing, np.array([]), nothing, nothing))
    assert empty.theta is None
    zeros = np.zeros(3, dtype=np.int64)
    one = bradley_terry(Comparisons(2, zeros, zeros + 1, np.array([1, 0, 0.5]), zeros, zeros))
    assert one.theta is not None
    assert (one.ci95, one.why) == (None, "intervals need two people and two questions")
    two = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    tied = bradley_terry(Comparisons(2, two[0] * 0, two[0] * 0 + 1, np.full(4, 0.5), *two))
    assert (tied.theta, tied.ci95) == ((0, 0), None)
