"""NMRR and MNRO: their horizons, caps and readings."""

import pytest

from survey.core.measures import as_ranks, mnro, nmrr, score
from survey.core.measures.nmrr_mnro import mnro_horizon, nmrr_horizon


def test_nmrr_takes_ranks_beyond_k_as_one_and_a_quarter_k():
    assert nmrr(as_ranks([[21, 22, 23, 24, 25]], 100))[0] == 1.0
    assert nmrr(as_ranks([[1, 2, 3, 4, 20]], 100))[0] < nmrr(as_ranks([[1, 2, 3, 4, 21]], 100))[0]


def test_nmrr_halves_its_factor_above_fifty_relevant_items():
    assert (nmrr_horizon(50), nmrr_horizon(51)) == (200, 102)


def test_a_gmt_below_the_number_of_relevant_items_is_refused():
    with pytest.raises(ValueError, match=r"GMT is 4, but a list has 5 relevant items"):
        score(["NMRR"], [[1, 2, 3, 4, 5]], gmt=4)


def test_mnro_is_continuous_where_generality_is_one_percent():
    assert mnro_horizon(5, 500) == 20
    assert mnro_horizon(5, 501) == pytest.approx(20.04)


def test_the_literal_eq15_multiplies_k_by_the_relevant_items_once_more():
    assert mnro_horizon(5, 1000, literal_eq15=True) == 5 * mnro_horizon(5, 1000)
    assert mnro_horizon(5, 500, literal_eq15=True) == mnro_horizon(5, 500)


def test_the_literal_eq15_forgives_late_items_in_a_large_collection():
    ranks = as_ranks([[10, 20, 30, 40, 50]], 10_000)
    assert mnro(ranks, 10_000, literal_eq15=True)[0] < mnro(ranks, 10_000)[0]


def test_one_percent_is_decided_in_whole_numbers():
    for relevant in range(1, 200):
        assert mnro_horizon(relevant, 100 * relevant) == 4 * relevant
