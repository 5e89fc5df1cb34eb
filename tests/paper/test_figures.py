"""Figures 1 to 8: the numbers behind the curves, and the verdicts on the claims about them."""

import csv
import io
import math

import numpy as np
import pytest

from survey.core.measures import score
from survey.paper.catalogue import REPRODUCTIONS
from survey.paper.figures1_to_8 import (
    IN_CAPTION,
    IN_TEXT,
    largest_gap,
    mnro_by_share,
    move_gains,
    rank_pairs,
)

FIGURES = [f"figure{number}" for number in range(1, 9)]
HOLDS, IN_PART, NOT = "holds", "holds in part", "does not hold"


@pytest.fixture(scope="module")
def reproductions():
    return {name: REPRODUCTIONS[name]() for name in FIGURES}


def series(reproduction):
    return {curve["name"]: curve for curve in reproduction.as_json()["series"]}


def nro(rank, horizon):
    return math.exp(-9.3668 * math.exp(-5.2074 * (rank - 1) / (horizon - 1)))


def test_the_known_item_curves_worked_by_hand(reproductions):
    curves = series(reproductions["figure1"])
    assert curves["1-AP"]["x"] == list(range(1, 21))
    assert curves["1-AP"]["y"][1] == 0.5  # 1 − 1/2
    assert curves["NMRR"]["y"][3:5] == [0.75, 1.0]  # (4 − 1)/(1.25 · 4 − 1); beyond K = 4
    # K = 2: (2 − 1)/(1.25 · 2 − 1)
    assert curves["NMRR, K = 2 (GMT = 1)"]["y"][1] == pytest.approx(2 / 3)
    level = series(reproductions["figure5"])["MNRO"]["y"]
    assert level[1:4] == pytest.approx([nro(rank, 4) for rank in (2, 3, 4)])


def test_the_pairs_come_in_the_order_of_the_pseudo_code(reproductions):
    rows = reproductions["figure7"].exhibit.rows
    assert [row[1:3] for row in rows[:4]] == [(2, 1), (3, 1), (3, 2), (4, 1)]
    assert rows[-1][:3] == (190, 20, 19)
    # Ranks 2 and 3: AP = (1/2 + 2/3)/2; NMRR = (2.5 − 1.5)/(10 − 1.5); K = 8
    assert rows[2][3:] == pytest.approx((1 - 7 / 12, 1 / 8.5, (nro(2, 8) + nro(3, 8)) / 2))


def test_the_surfaces_hold_the_measures_of_each_pair(reproductions):
    surface = series(reproductions["figure8"])["MNRO"]
    ranks = np.array([surface["y"], surface["x"]]).T  # Rank(j), Rank(i)
    assert surface["z"] == pytest.approx(score(["MNRO"], ranks, 20)[:, 0].tolist())
    a, b = (series(reproductions["figure8"])[f"curve {name}"] for name in "AB")
    assert (a["x"][0], a["y"][0], a["z"][0]) == (2, 1, 0)
    # Ranks 1 and 20: the first in its index, so NRO(20)/2
    assert (b["x"][0], b["y"][0], b["z"][0]) == (20, 1, pytest.approx(nro(20, 8) / 2))


def test_the_curves_of_figure_4_are_the_best_and_worst_pairs(reproductions):
    rows = reproductions["figure4"].exhibit.rows
    # Rank(i) = 20: 1 − (1 + 2/20)/2 and 1 − (1/19 + 2/20)/2; ((1 + 10)/2 − 1.5)/8.5 and 1
    assert rows[-1] == pytest.approx((20, 0.45, 1 - (1 / 19 + 0.1) / 2, 4 / 8.5, 1))


def test_growing_collections_give_the_same_curve_over_their_share():
    # 2 % of 1000 is rank 20, K = 40; of a million rank 20000, K = 40000
    assert mnro_by_share(1000)[20] == pytest.approx(nro(20, 40))
    assert mnro_by_share(10**6)[20] == pytest.approx(nro(20000, 40000))
    assert set(mnro_by_share(100)) == set(range(10, 101, 10))
    assert largest_gap(IN_CAPTION) < 0.03
    # 2 % of 100 is rank 2, K = 4
    assert largest_gap(IN_TEXT) == pytest.approx(nro(20000, 40000) - nro(2, 4))


def test_moving_one_of_two_items_back_never_helps():
    for name in ("1-AP", "NMRR", "MNRO"):
        assert min(move_gains(name)) >= -1e-12
    # Of 190 pairs, Rank(i) cannot grow in 19, at 20; Rank(j) in 19, next to Rank(i)
    assert len(move_gains("MNRO")) == 2 * (190 - 19)
    assert len(rank_pairs().i) == 190


VERDICTS = {
    "figure1": [HOLDS, IN_PART, HOLDS, HOLDS, IN_PART, HOLDS],
    "figure2": [HOLDS],
    "figure3": [HOLDS, HOLDS, HOLDS],
    "figure4": [HOLDS, NOT, HOLDS, HOLDS, HOLDS, HOLDS],
    "figure5": [IN_PART, HOLDS, NOT, HOLDS, HOLDS],
    "figure6": [IN_PART, HOLDS, NOT],
    "figure7": [IN_PART, HOLDS],
    "figure8": [HOLDS, IN_PART, IN_PART, HOLDS, IN_PART, HOLDS, HOLDS, IN_PART],
}


@pytest.mark.parametrize("name", FIGURES)
def test_the_verdicts_on_what_the_paper_says_of_its_figures(reproductions, name):
    assert [claim["verdict"] for claim in reproductions[name].as_json()["claims"]] == VERDICTS[name]


@pytest.mark.parametrize(
    ("name", "index", "numbers"),
    [
        # K = 4: NMRR 0, .25, .5, .75, 1. K = 2: 0, .667, 1.
        ("figure1", 4, ("α is 0.250 and β 0.250", "α is 0.667 and β 0.333")),
        ("figure1", 1, ("at positions 2 and 3 and as large at 1 and 4", "0.500 against 0.667")),
        ("figure3", 0, ("all 66",)),  # 12 · 11/2 pairs among the positions 9 to 20
        ("figure5", 2, ("0.1919 for K = 4", "0.4516 for K = 20")),
        ("figure7", 1, ("342 moves", "198 of them")),
    ],
)
def test_the_reasons_give_the_numbers(reproductions, name, index, numbers):
    why = reproductions[name].claims[index].why
    assert all(number in why for number in numbers)


@pytest.mark.parametrize("name", FIGURES)
def test_the_csv_holds_every_number_of_the_drawing(reproductions, name):
    (_, content) = next(reproductions[name].files())
    rows = list(csv.reader(io.StringIO(content.decode())))
    assert tuple(rows[0]) == reproductions[name].exhibit.columns
    assert [tuple(map(float, row)) for row in rows[1:]] == list(reproductions[name].exhibit.rows)


@pytest.mark.parametrize("name", FIGURES)
def test_the_table_to_be_read_is_compact(reproductions, name):
    (sheet,) = reproductions[name].sheets
    assert len(sheet.rows) <= 20
    assert all(len(row) == len(sheet.columns) for row in sheet.rows)
