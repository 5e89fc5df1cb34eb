"""The curves and surfaces behind Figures 1 to 8, as values, exhibits and JSON series."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.measures import average_precision, mnro, nmrr
from survey.core.measures.mnro import B, C
from survey.core.measures.nmrr import nmrr_horizon
from survey.figures.exhibit import Exhibit
from survey.services.analysis.sheets import Cell, Sheet
from survey.services.paper.reproduction import Claim, Reproduction

SIZE = 20  # N, the collection in all figures but Figure 6
MEASURED = ("1-AP", "NMRR", "MNRO")
EPSILON = 1e-9  # a smaller difference is a rounding error of floats

# One relevant item.
RANKS = np.arange(1, SIZE + 1)
LISTS = RANKS[:, None]
FULL, CAPPED = nmrr_horizon(1), nmrr_horizon(1, 1)  # K = 4, and 2 with GMT = 1
CAPPED_NMRR = f"NMRR, K = {CAPPED} (GMT = 1)"

# Two relevant items.
HORIZON = nmrr_horizon(2)  # K of NMRR, and of MNRO, since the generality is .1
LATER_RANKS = range(2, SIZE + 1)  # Rank(i)
EARLY = slice(1, HORIZON - 1)  # of LATER_RANKS: 3 to K; at 2 every measure is 0
LATE = slice(HORIZON - 1, None)  # of LATER_RANKS: from K + 1

# Sheets to read show some of the rows.
SAMPLE_STEP = 10
SAMPLE_RANKS = (2, 4, 6, 8, 9, 10, 12, 16, 20)

Values = NDArray[np.float64]


def measure_values(name: str, ranks: NDArray[np.int64], size: int = SIZE) -> Values:
    """Return a measure of lists as the figures show it, 0 the best. ``ranks``: (lists, NG)."""
    if name == "1-AP":
        return 1 - average_precision(ranks)
    return nmrr(ranks) if name == "NMRR" else mnro(ranks, size)


def nro(rank: Values | float, horizon: float) -> Values:
    """Return NRO at a rank that is not the item's ideal rank (Eqs. 16–17)."""
    return np.exp(B * np.exp(C * (np.asarray(rank) - 1) / (horizon - 1)))


def item_curve(name: str) -> Values:
    """Return a measure for one relevant item at each of the 20 positions."""
    return nmrr(LISTS, 1) if name == CAPPED_NMRR else measure_values(name, LISTS)


@dataclass(frozen=True)
class RankPairs:
    """All pairs of ranks of two relevant items, in the order of the paper's pseudo code.

    ``i``, ``j``: (190,), the later and the earlier rank; ``values``: measure → (190,).
    """

    i: NDArray[np.int64]
    j: NDArray[np.int64]
    values: dict[str, Values]

    def value(self, name: str, i: int, j: int) -> float:
        """Return a measure's value for the ranks ``i`` > ``j``."""
        return float(self.values[name][(i - 1) * (i - 2) // 2 + j - 1])

    def beyond(self, last: int) -> NDArray[np.bool_]:
        """Return a mask of the pairs whose ranks are both greater than ``last``."""
        return self.j > last


@cache
def rank_pairs() -> RankPairs:
    """Score all pairs: Rank(i) from 2 to N, and for each Rank(j) from 1 to Rank(i) − 1."""
    ranks = np.array([(j, i) for i in LATER_RANKS for j in range(1, i)])
    values = {name: measure_values(name, ranks) for name in MEASURED}
    return RankPairs(ranks[:, 1], ranks[:, 0], values)


def lower_curve(name: str) -> Values:
    """Return a measure for Rank(i) = 2 … N with the other image at 1."""
    return np.array([rank_pairs().value(name, i, 1) for i in LATER_RANKS])


def upper_curve(name: str) -> Values:
    """Return a measure for Rank(i) = 2 … N with the other image just before it."""
    return np.array([rank_pairs().value(name, i, i - 1) for i in LATER_RANKS])


def move_gains(name: str, last: int = SIZE) -> list[float]:
    """Return what a measure gains by each move of an item one rank back, within ``last``."""
    value = rank_pairs().value
    gains = []
    for i in range(2, last + 1):
        for j in range(1, i):
            if i < last:
                gains.append(value(name, i + 1, j) - value(name, i, j))
            if j + 1 < i:
                gains.append(value(name, i, j + 1) - value(name, i, j))
    return gains


def item_exhibit(
    name: str, title: str, measures: tuple[str, ...], note: str, alternative: str
) -> Exhibit:
    """Return the numbers of a figure of one relevant item."""
    columns = [item_curve(measure).tolist() for measure in measures]
    return Exhibit(
        name,
        title,
        ("Rank(q)", *measures),
        tuple(zip(RANKS.tolist(), *columns, strict=True)),
        alternative,
        note,
        decimals=4,
    )


def pairs_exhibit(name: str, title: str, measures: tuple[str, ...], alternative: str) -> Exhibit:
    """Return the numbers of a figure over Combined_Rank, the number of a pair."""
    pairs = rank_pairs()
    columns = [pairs.values[measure].tolist() for measure in measures]
    numbers = range(1, len(pairs.i) + 1)
    return Exhibit(
        name,
        title,
        ("Combined_Rank", "Rank(i)", "Rank(j)", *measures),
        tuple(zip(numbers, pairs.i.tolist(), pairs.j.tolist(), *columns, strict=True)),
        alternative,
        "Combined_Rank counts the pairs: Rank(i) from 2 to 20, and for each Rank(j) from 1 to "
        "Rank(i) − 1. K = 8 for NMRR and MNRO.",
        decimals=4,
    )


def surface_exhibit(name: str, title: str, measures: tuple[str, ...], alternative: str) -> Exhibit:
    """Return the numbers of a figure over Rank(i) and Rank(j)."""
    pairs = rank_pairs()
    columns = [pairs.values[measure].tolist() for measure in measures]
    return Exhibit(
        name,
        title,
        ("Rank(i)", "Rank(j)", *measures),
        tuple(zip(pairs.i.tolist(), pairs.j.tolist(), *columns, strict=True)),
        alternative,
        "Rank(j) < Rank(i). K = 8 for NMRR and MNRO.",
        decimals=4,
    )


@dataclass(frozen=True)
class Series:
    """A curve (x, y) or a surface (x, y, z)."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    z: Sequence[float] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the coordinates as plain lists, without ``z`` for a curve."""
        third = {} if self.z is None else {"z": list(self.z)}
        return {"name": self.name, "x": list(self.x), "y": list(self.y), **third}


def curve_series(exhibit: Exhibit, first: int = 1) -> tuple[Series, ...]:
    """Return each column from ``first`` on as a curve over column 0."""
    columns = list(zip(*exhibit.rows, strict=True))
    return tuple(
        Series(name, _numbers(columns[0]), _numbers(column))
        for name, column in zip(exhibit.columns[first:], columns[first:], strict=True)
    )


def surface_series(exhibit: Exhibit) -> tuple[Series, ...]:
    """Return each column from the third on as a surface over the first two."""
    columns = list(zip(*exhibit.rows, strict=True))
    return tuple(
        Series(name, _numbers(columns[0]), _numbers(columns[1]), _numbers(column))
        for name, column in zip(exhibit.columns[2:], columns[2:], strict=True)
    )


def _numbers(cells: Sequence[Cell]) -> list[float]:
    """Narrow the cells' type: those of a figure are all numbers."""
    return [cell for cell in cells if isinstance(cell, (int, float))]


def sampled_rows(exhibit: Exhibit) -> Sheet:
    """Return a table of every tenth row of an exhibit, and the last."""
    rows = exhibit.rows[::SAMPLE_STEP]
    last = () if exhibit.rows[-1] in rows else exhibit.rows[-1:]
    note = (
        f"Every {SAMPLE_STEP}th of {len(exhibit.rows)} rows; --to and --json give all. "
        f"{exhibit.note}"
    )
    return Sheet(
        exhibit.name, exhibit.title, exhibit.columns, (*rows, *last), note.strip(), decimals=4
    )


def sampled_surface(exhibit: Exhibit) -> Sheet:
    """Return a table of a surface at some ranks, Rank(i) down and Rank(j) across."""
    value, across = rank_pairs().value, (1, *SAMPLE_RANKS[:-1])
    rows: list[tuple[Cell, ...]] = []
    for name in exhibit.columns[2:]:
        for i in SAMPLE_RANKS:
            cells = [value(name, i, j) if j < i else None for j in across]
            rows.append((name, i, *cells))
    columns = ("measure", "Rank(i)", *(f"Rank(j) = {j}" for j in across))
    note = f"Some of {len(exhibit.rows)} pairs; --to and --json give all. {exhibit.note}"
    return Sheet(exhibit.name, exhibit.title, columns, tuple(rows), note)


def figure_reproduction(
    exhibit: Exhibit, series: Sequence[Series], claims: Sequence[Claim], sheet: Sheet | None = None
) -> Reproduction:
    """Return a figure as a reproduction; ``sheet``: the table to read, by default all rows."""
    full = Sheet(
        exhibit.name, exhibit.title, exhibit.columns, exhibit.rows, exhibit.note, decimals=4
    )
    return Reproduction(
        exhibit.name,
        {
            "title": exhibit.title,
            "note": exhibit.note,
            "series": [curve.as_json() for curve in series],
        },
        (sheet or full,),
        claims=tuple(claims),
        table=full,
        exhibit=exhibit,
    )
