"""Table 2: deviations, the scales they depend on, and the readings of Eq. 15."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.measures import mnro
from survey.paper import tables1_to_3
from survey.paper.tables1_to_3 import mnro_reach

SIZE, NAR = 77300, 0.2843


def test_every_printed_deviation_can_come_from_the_printed_values():
    comparisons = tables1_to_3.printed_deviations()
    assert [comparison.agrees for comparison in comparisons] == [True] * 8
    # 1 − 237/375 = .368; 9457/9202 − 1 = .027711; 2859/2843 − 1 = .005628; 8368/8356 − 1 = .001436
    assert [comparison.computed[:5] for comparison in comparisons[:4]] == [
        "36.8%",
        "2.77%",
        "0.56%",
        "0.14%",
    ]


def test_which_measure_moves_most_depends_on_the_end_it_is_measured_from():
    moved = tables1_to_3.movements()
    by_name = {movement.measure: movement for movement in moved}
    # 1 − ANMRR: (.0798 − .0543)/.0798 = 31.95 %; 1 − MAP: .0138/.9625 = 1.43 %
    assert by_name["ANMRR"].of_rest[0] == pytest.approx(31.95, abs=0.005)
    assert by_name["MAP"].of_rest[0] == pytest.approx(1.43, abs=0.005)
    assert tables1_to_3.is_extreme(moved, "MAP", most=True) == [False, True, False]
    assert tables1_to_3.is_extreme(moved, "AMNRO", most=False) == [True, True, False]


def test_k_is_four_per_cent_by_default_and_four_times_ng_per_cent_as_printed():
    for relevant in (5, 50, 500):
        assert mnro_reach(relevant, SIZE, NAR, literal=False).share == pytest.approx(0.04)
        assert mnro_reach(relevant, SIZE, NAR, literal=True).share == pytest.approx(0.04 * relevant)
    # 773 of 77300 is a generality of .01: K = 4 · 773 in either reading
    assert mnro_reach(773, SIZE, NAR, literal=True).share == pytest.approx(4 * 773 / SIZE)


@given(
    st.integers(1, 12).flatmap(
        lambda n: st.lists(st.integers(20, 2000), min_size=n, max_size=n, unique=True)
    ),
    st.booleans(),
)
def test_no_ranking_leaves_the_bounds_of_its_nar(ranks, literal):
    ranks = np.array([sorted(ranks)])  # from 20 on none is in its place
    count = ranks.shape[1]
    nar = (ranks.sum() - count * (count + 1) / 2) / (2000 * count)  # Eq. 10
    bounds = mnro_reach(count, 2000, nar, literal=literal)
    value = mnro(ranks, 2000, literal_eq15=literal)[0]
    assert bounds.lowest - 1e-9 <= value <= bounds.highest + 1e-9


def test_from_ten_relevant_images_on_the_printed_amnro_is_out_of_reach_as_printed():
    low, high = tables1_to_3.unreachable_topic_sizes(SIZE, NAR, 0.8356)
    assert (low, high) == (10, 772)
    assert mnro_reach(9, SIZE, NAR, literal=True).highest >= 0.8356
    # NG = 10, K = .4 N, all images at the mean rank u = .2843 N:
    # exp(−9.3668 exp(−5.2074 · .2843/.4)) = exp(−9.3668 · .02470) = .7934
    assert mnro_reach(10, SIZE, NAR, literal=True).highest == pytest.approx(0.793, abs=0.001)
    falling = [
        mnro_reach(relevant, SIZE, NAR, literal=True).highest
        for relevant in range(low, high + 1, 40)
    ]
    assert falling == sorted(falling, reverse=True)
    assert mnro_reach(10, SIZE, NAR, literal=False).lowest < 0.8356


def test_the_remarks_name_both_sides_of_the_readings():
    remarks = " ".join(tables1_to_3.table2().remarks)
    assert "supports F = .04/g unless some topics had fewer than 10" in remarks
    assert "supports neither" in remarks
    assert "supports the printed form" in tables1_to_3.table2().claims[-1].why
