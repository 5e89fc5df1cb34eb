"""Properties every registered measure has, and the parameters they take."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.measures import MEASURES, Setting, as_ranks, mean_score, mnro, nmrr, score
from survey.core.measures.mnro import mnro_horizon
from survey.core.measures.nmrr import nmrr_horizon

EVERY_MEASURE = pytest.mark.parametrize("name", MEASURES)

ranked_lists = st.integers(1, 12).flatmap(
    lambda relevant: st.lists(
        st.lists(st.integers(1, 100), min_size=relevant, max_size=relevant, unique=True).map(
            sorted
        ),
        min_size=1,
        max_size=6,
    )
)


@EVERY_MEASURE
def test_a_perfect_list_gets_the_best_value(name):
    measure = MEASURES[name]
    best = measure.highest if measure.better == "higher" else measure.lowest
    assert score([name], [[1, 2, 3, 4, 5]])[0, 0] == best


@EVERY_MEASURE
def test_a_single_relevant_item_in_first_place_is_perfect(name):
    measure = MEASURES[name]
    best = measure.highest if measure.better == "higher" else measure.lowest
    assert score([name], [[1]])[0, 0] == best


@EVERY_MEASURE
def test_all_late_items_score_worse_than_all_early_ones(name):
    early, late = score([name], [[2, 3, 4, 5, 6], [96, 97, 98, 99, 100]])[:, 0]
    assert (late < early) if MEASURES[name].better == "higher" else (late > early)


@EVERY_MEASURE
@given(lists=ranked_lists)
def test_values_stay_within_the_stated_range(name, lists):
    values = score([name], lists)[:, 0]
    measure = MEASURES[name]
    assert ((values >= measure.lowest) & (values <= measure.highest)).all()


@EVERY_MEASURE
@given(lists=ranked_lists, data=st.data())
def test_moving_a_relevant_item_up_never_makes_a_list_worse(name, lists, data):
    worse = lists[0]
    place = data.draw(st.integers(0, len(worse) - 1))
    above = worse[place - 1] if place else 0
    better = [*worse[:place], data.draw(st.integers(above + 1, worse[place])), *worse[place + 1 :]]
    shown = MEASURES[name].shown(as_ranks([better, worse], 100), Setting())
    assert shown[0] <= shown[1]


@EVERY_MEASURE
@given(lists=ranked_lists)
def test_a_list_scores_the_same_alone_as_among_others(name, lists):
    together = score([name], lists)
    assert [score([name], [row])[0, 0] for row in lists] == together[:, 0].tolist()


@EVERY_MEASURE
@given(lists=ranked_lists)
def test_what_is_shown_agrees_with_the_value(name, lists):
    measure = MEASURES[name]
    shown = np.array([float(value) for value in measure.shown(as_ranks(lists, 100), Setting())])
    values = score([name], lists)[:, 0]
    expected = 1 - values if measure.better == "higher" else values
    assert shown == pytest.approx(expected, abs=1e-12)


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


def test_means_over_queries_carry_their_own_names():
    means = mean_score(["AP", "NMRR", "MNRO"], [[1, 2], [3, 4]])
    assert list(means) == ["MAP", "ANMRR", "AMNRO"]
    assert means["MAP"] == pytest.approx((1 + (1 / 3 + 2 / 4) / 2) / 2)


def test_an_unknown_measure_is_named_with_those_there_are():
    with pytest.raises(ValueError, match=r"no measure 'MAP'; registered are AP, NMRR, MNRO"):
        score(["MAP"], [[1, 2]])


def test_no_measures_give_an_array_without_columns():
    assert score([], [[1, 2]]).shape == (1, 0)
