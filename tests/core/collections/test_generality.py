"""Values of the same queries in collections that grow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.collections.generality import (
    GENERALITY_MEASURES,
    VALUE_COLUMNS,
    deviation_intervals,
    deviations,
    set_sizes,
    values_in_sets,
)
from survey.core.measures import score


@given(st.integers(1, 30), st.integers(0, 200))
def test_sets_grow_by_equal_shares_up_to_the_whole_collection(relevant, others):
    sizes = set_sizes(relevant, relevant + others)
    assert sizes == sorted(sizes)
    assert sizes[-1] == relevant + others
    assert all(abs(size - relevant - others * n / 3) <= 0.5 for n, size in enumerate(sizes, 1))


@settings(max_examples=20)
@given(st.integers(1, 6), st.integers(6, 40), st.integers(0, 99))
def test_the_largest_set_has_the_values_of_the_whole_lists(relevant, documents, seed):
    chance = np.random.default_rng(seed)
    is_relevant = np.arange(documents) < relevant
    orders = np.array([chance.permutation(documents) for _ in range(3)])
    values = values_in_sets(orders, is_relevant, 4, chance)
    ranks = np.array([np.flatnonzero(is_relevant[order]) + 1 for order in orders])
    assert np.allclose(
        values[-1, :, : len(GENERALITY_MEASURES)], score(GENERALITY_MEASURES, ranks, documents)
    )
    assert (values[0, :, 0] >= values[-1, :, 0] - 1e-12).all()  # AP never rises


def test_positions_in_a_smaller_set_leave_out_what_is_not_in_it():
    # Two others: the first set holds one of them, so the relevant one is 1st or 2nd.
    relevant = np.array([False, True, False, False])
    values = values_in_sets(np.array([[0, 1, 2, 3]]), relevant, 4_000, np.random.default_rng(1))
    assert values[0, 0, 0] == pytest.approx(2 / 3 * 1 + 1 / 3 * 0.5, abs=0.02)
    assert values[1, 0, 0] == pytest.approx(1 / 3 * 1 + 2 / 3 * 0.5, abs=0.02)
    assert values[2, 0, 0] == 0.5


def test_deviations_are_in_per_cent_of_the_first_set_and_undefined_where_it_is_0():
    values = np.zeros((3, 1, len(VALUE_COLUMNS)))
    values[:, 0, 0] = (0.5, 0.25, 0.75)
    table = deviations(values)
    assert table[:, 0, 0].tolist() == [0, -50, 50]
    assert np.isnan(table[:, 0, 1:]).all()


def test_intervals_of_equal_queries_have_no_width():
    values = np.random.default_rng(1).random((3, 2, len(VALUE_COLUMNS))) + 0.1
    low, high = deviation_intervals([values] * 5, 50, np.random.default_rng(1))
    assert np.allclose(low, deviations(values))
    assert np.allclose(high, deviations(values))
