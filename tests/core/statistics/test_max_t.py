"""The largest |t| against the studentized range, simulation, and the rules of closed tests."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from survey.core.statistics.max_t import T, first_pair_rejected, largest_t_p, step_down


@pytest.mark.parametrize("means", [3, 4, 5, 6])
def test_with_many_degrees_of_freedom_it_is_the_studentized_range(means):
    for t in (1.5, 2.5, 3.5):
        expected = stats.studentized_range.sf(t * np.sqrt(2), means, np.inf)
        assert largest_t_p(T(t, 1e6), means) == pytest.approx(expected, rel=0.01)


@pytest.mark.parametrize(("df", "critical"), [(4, 3.890), (9, 2.875), (19, 2.571), (29, 2.488)])
def test_the_critical_values_of_three_means(df, critical):
    # By numerical integration over the directions and shapes in the plane.
    found = brentq(lambda t: largest_t_p(T(t, df), 3) - 0.05, 2, 5)
    assert found == pytest.approx(critical, abs=0.003)


@pytest.mark.parametrize(("means", "df"), [(3, 7), (4, 9), (6, 12)])
def test_it_is_that_of_simulated_paired_t_tests(means, df):
    rng, replicates = np.random.default_rng(means), 40_000
    between = rng.standard_normal((replicates, means))
    within = rng.standard_normal((replicates, df, means))
    largest = np.zeros(replicates)
    for first, second in combinations(range(means), 2):
        squares = ((within[:, :, first] - within[:, :, second]) ** 2).mean(axis=1)
        t = np.abs(between[:, first] - between[:, second]) / np.sqrt(squares)
        largest = np.maximum(largest, t)
    for t in (2.0, 3.0, 4.0):
        share = np.mean(largest >= t)
        within_error = 4 * np.sqrt(share * (1 - share) / replicates)
        assert largest_t_p(T(t, df), means) == pytest.approx(share, abs=within_error)


def test_with_fewer_degrees_of_freedom_than_means_the_pairs_chances_are_added_up():
    t = T(12.0, 2.5)
    assert largest_t_p(t, 3) == pytest.approx(3 * t.p)


def named(**tests):
    """Tests by the two letters of their pair."""
    return {frozenset(pair): test for pair, test in tests.items()}


def test_degrees_of_freedom_that_are_whole_but_for_rounding_count_as_whole():
    """Else the order in which answers are added up decides which of two formulas is taken."""
    exact, rounded = (largest_t_p(T(4.0, df), 3) for df in (3.0, 3.0 - 1e-14))
    assert rounded == pytest.approx(exact, rel=1e-9)


def test_of_two_means_p_is_that_of_t():
    t = T(2.1, 11.0)
    assert step_down("AB", named(AB=t)) == {frozenset("AB"): pytest.approx(t.p)}


def test_of_three_means_the_others_are_tested_alone_once_the_largest_is_through():
    tests = named(AB=T(3.2, 9.0), AC=T(2.4, 12.0), BC=T(-0.5, 9.0))
    found = step_down("ABC", tests)
    largest = largest_t_p(T(3.2, 9.0), 3)
    assert found == {
        frozenset("AB"): pytest.approx(largest),
        frozenset("AC"): pytest.approx(max(largest, tests[frozenset("AC")].p)),
        frozenset("BC"): pytest.approx(tests[frozenset("BC")].p),
    }


def test_of_four_means_two_pairs_that_may_both_be_equal_are_tested_together():
    tests = named(
        AB=T(2.3, 20.0), CD=T(2.2, 20.0), AC=T(9, 20.0), AD=T(9, 20.0), BC=T(9, 20.0), BD=T(9, 20.0)
    )
    found = step_down("ABCD", tests)
    both = 1 - (1 - T(2.3, 20.0).p) ** 2
    assert found[frozenset("AB")] == pytest.approx(both)
    assert found[frozenset("AC")] < 0.001


def test_a_pair_without_t_has_no_p_and_makes_the_others_no_easier():
    t = T(2.6, 9.0)
    found = step_down("ABC", named(AB=t, AC=None, BC=None))
    assert found == {frozenset("AB"): pytest.approx(largest_t_p(t, 3))}


a_t = st.builds(T, st.floats(-6, 6), st.sampled_from([2.0, 4.0, 9.5, 29.0]))


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 5), st.data())
def test_a_corrected_p_lies_between_its_own_and_bonferronis(means, data):
    names = "ABCDE"[:means]
    compared = [frozenset(pair) for pair in combinations(names, 2)]
    tests = {pair: data.draw(a_t) for pair in compared}
    found = step_down(names, tests)
    for pair, t in tests.items():
        assert t.p - 1e-12 <= found[pair]
    best = min(compared, key=lambda pair: tests[pair].p)
    assert found[best] <= min(1, len(compared) * tests[best].p) + 1e-12
    assert min(found.values()) == pytest.approx(found[best])


@settings(max_examples=30, deadline=None)
@given(st.permutations("ABC"), st.lists(a_t, min_size=3, max_size=3))
def test_the_order_of_the_names_does_not_matter(names, values):
    tests = dict(zip(map(frozenset, ("AB", "AC", "BC")), values, strict=True))
    assert step_down(names, tests) == pytest.approx(step_down("ABC", tests))


@pytest.mark.parametrize("means", [2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_many_studies_at_once_reject_the_first_pair_where_each_alone_does(means):
    rng = np.random.default_rng(means)
    pairs = list(combinations("ABCD"[:means], 2))
    t, df = rng.normal(0, 2.5, (len(pairs), 15)), rng.uniform(1, 30, (len(pairs), 15))
    p = [
        step_down("ABCD"[:means], dict(zip(map(frozenset, pairs), map(T, *each), strict=True)))
        for each in zip(t.T.tolist(), df.T.tolist(), strict=True)
    ]
    expected = [each[frozenset("AB")] < 0.05 for each in p]
    assert first_pair_rejected(t, df, means).tolist() == expected
    assert 0 < sum(expected) < 15
