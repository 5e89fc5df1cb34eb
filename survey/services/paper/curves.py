"""The values that Figures 1 to 8 are drawn from, and how they become tables and series."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.exhibits import Exhibit
from survey.core.measures import average_precision, mnro, nmrr
from survey.core.measures.mnro import B, C
from survey.core.measures.nmrr import nmrr_horizon
from survey.services.paper.reproduction import Claim, Reproduction
from survey.services.reporting.sheets import Cell, Sheet

SIZE = 20
MEASURED = ("1-AP", "NMRR", "MNRO")
Values = NDArray[np.float64]


def values(name: str, ranks: NDArray[np.int64], size: int = SIZE) -> Values:
    """Return a measure of lists as the figures show it: 0 is best. ``ranks``: (lists, NG)."""
    if name == "1-AP":
        return 1 - average_precision(ranks)
    return nmrr(ranks) if name == "NMRR" else mnro(ranks, size)


@dataclass(frozen=True)
class Pairs:
    """Two relevant items in all the places they can have, in the order of the pseudo code.

    ``i``, ``j``: (190,), the later and the earlier rank; ``values``: measure → (190,).
    """

    i: NDArray[np.int64]
    j: NDArray[np.int64]
    values: dict[str, Values]

    def at(self, name: str, i: int, j: int) -> float:
        """Return a measure's value for one pair of ranks."""
        return float(self.values[name][(i - 1) * (i - 2) // 2 + j - 1])

    def within(self, last: int) -> NDArray[np.bool_]:
        """Tell which pairs have both ranks in the first ``last``."""
        return self.i <= last

    def beyond(self, last: int) -> NDArray[np.bool_]:
        """Tell which pairs have both ranks after ``last``."""
        return self.j > last


@cache
def pairs() -> Pairs:
    """Return all pairs: Rank(i) from 2 to N, and for each Rank(j) from 1 to Rank(i) − 1."""
    places = [(j, i) for i in range(2, SIZE + 1) for j in range(1, i)]
    ranks = np.array(places)
    found = {name: values(name, ranks) for name in MEASURED}
    return Pairs(ranks[:, 1], ranks[:, 0], found)


# K of NMRR for two relevant items, and of MNRO, whose generality is .1 here.
HORIZON = nmrr_horizon(2)


def moves(name: str, last: int = SIZE) -> list[float]:
    """Return what a measure gains where one of two items moves one rank back, within ``last``."""
    known = pairs()
    gained = []
    for i in range(2, last + 1):
        for j in range(1, i):
            if i < last:
                gained.append(known.at(name, i + 1, j) - known.at(name, i, j))
            if j + 1 < i:
                gained.append(known.at(name, i, j + 1) - known.at(name, i, j))
    return gained


LATER = range(2, SIZE + 1)
EARLY = slice(1, HORIZON - 1)  # Rank(i) from 3 to K; at 2 every measure is 0
LATE = slice(HORIZON - 1, None)  # Rank(i) from K + 1


def lower(name: str) -> Values:
    """Return a measure for Rank(i) = 2 … N with the other image at 1."""
    return np.array([pairs().at(name, i, 1) for i in LATER])


def upper(name: str) -> Values:
    """Return a measure for Rank(i) = 2 … N with the other image just before it."""
    return np.array([pairs().at(name, i, i - 1) for i in LATER])


def order(rank: NDArray[np.float64] | float, horizon: float) -> NDArray[np.float64]:
    """Return NRO at a rank that is not the item's own place (Eqs. 16–17)."""
    return np.exp(B * np.exp(C * (np.asarray(rank) - 1) / (horizon - 1)))


RANKS = np.arange(1, SIZE + 1)
LISTS = RANKS[:, None]
FULL, CAPPED = nmrr_horizon(1), nmrr_horizon(1, 1)  # K = 4, and 2 with GMT = 1
CAPPED_NMRR = f"NMRR, K = {CAPPED} (GMT = 1)"


def curve(name: str) -> Values:
    """Return a measure at each of the 20 positions."""
    return nmrr(LISTS, 1) if name == CAPPED_NMRR else values(name, LISTS)


def known_item(name: str, title: str, names: tuple[str, ...], note: str, told: str) -> Exhibit:
    """Return the numbers of a figure of these curves."""
    columns = [curve(one).tolist() for one in names]
    return Exhibit(
        name,
        title,
        ("Rank(q)", *names),
        tuple(zip(RANKS.tolist(), *columns, strict=True)),
        told,
        note,
        decimals=4,
    )


STEP = 10
READ = (2, 4, 6, 8, 9, 10, 12, 16, 20)  # ranks of the table to be read: K = 8 is among them


def combined(name: str, title: str, names: tuple[str, ...], told: str) -> Exhibit:
    """Return measures over Combined_Rank, which counts the pairs."""
    known = pairs()
    columns = [known.values[one].tolist() for one in names]
    count = range(1, len(known.i) + 1)
    return Exhibit(
        name,
        title,
        ("Combined_Rank", "Rank(i)", "Rank(j)", *names),
        tuple(zip(count, known.i.tolist(), known.j.tolist(), *columns, strict=True)),
        told,
        "Combined_Rank counts the pairs: Rank(i) from 2 to 20, and for each Rank(j) from 1 to "
        "Rank(i) − 1. K = 8 for NMRR and MNRO.",
        decimals=4,
    )


def over_pairs(exhibit: Exhibit, claims: tuple[Claim, ...]) -> Reproduction:
    """Return a figure over Combined_Rank, its table shortened for reading."""
    series: tuple[Series, ...] = columns_as_series(exhibit, 3)
    return illustrated(exhibit, series, claims, every(exhibit, STEP, exhibit.title))


def surface(name: str, title: str, names: tuple[str, ...], told: str) -> Exhibit:
    """Return measures over Rank(i) and Rank(j)."""
    known = pairs()
    columns = [known.values[one].tolist() for one in names]
    return Exhibit(
        name,
        title,
        ("Rank(i)", "Rank(j)", *names),
        tuple(zip(known.i.tolist(), known.j.tolist(), *columns, strict=True)),
        told,
        "Rank(j) < Rank(i). K = 8 for NMRR and MNRO.",
        decimals=4,
    )


def grid(exhibit: Exhibit) -> Sheet:
    """Return a surface at some ranks, Rank(i) down and Rank(j) across, to be read."""
    known, names = pairs(), exhibit.columns[2:]
    across = (1, *READ[:-1])
    rows: list[tuple[Cell, ...]] = []
    for name in names:
        for i in READ:
            cells = [known.at(name, i, j) if j < i else None for j in across]
            rows.append((name, i, *cells))
    columns = ("measure", "Rank(i)", *(f"Rank(j) = {j}" for j in across))
    note = f"Some of {len(exhibit.rows)} pairs; --to and --json give all. {exhibit.note}"
    return Sheet(exhibit.name, exhibit.title, columns, tuple(rows), note)


EPSILON = 1e-9  # below it two values count as equal: an error of floats, no difference


@dataclass(frozen=True)
class Series:
    """A curve (x, y) or a surface (x, y, z)."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    z: Sequence[float] | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        third = {} if self.z is None else {"z": list(self.z)}
        return {"name": self.name, "x": list(self.x), "y": list(self.y), **third}


def illustrated(
    exhibit: Exhibit, series: Sequence[Series], claims: Sequence[Claim], shown: Sheet | None = None
) -> Reproduction:
    """Make a figure a reproduction; ``shown``: a shorter table to read than all its numbers."""
    full = Sheet(
        exhibit.name, exhibit.title, exhibit.columns, exhibit.rows, exhibit.note, decimals=4
    )
    return Reproduction(
        exhibit.name,
        {
            "title": exhibit.title,
            "note": exhibit.note,
            "series": [one.as_json() for one in series],
        },
        (shown or full,),
        claims=tuple(claims),
        table=full,
        exhibit=exhibit,
    )


def columns_as_series(exhibit: Exhibit, first: int = 1) -> tuple[Series, ...]:
    """Return each column from ``first`` on as a curve over column 0."""
    columns = list(zip(*exhibit.rows, strict=True))
    return tuple(
        Series(name, numbers(columns[0]), numbers(column))
        for name, column in zip(exhibit.columns[first:], columns[first:], strict=True)
    )


def surfaces(exhibit: Exhibit, first: int = 2) -> tuple[Series, ...]:
    """Return each column from ``first`` on as a surface over columns 0 and 1."""
    columns = list(zip(*exhibit.rows, strict=True))
    return tuple(
        Series(name, numbers(columns[0]), numbers(columns[1]), numbers(column))
        for name, column in zip(exhibit.columns[first:], columns[first:], strict=True)
    )


def numbers(cells: Sequence[Cell]) -> list[float]:
    """Take cells as numbers, which they are here."""
    return [cell for cell in cells if isinstance(cell, (int, float))]


def every(exhibit: Exhibit, step: int, title: str) -> Sheet:
    """Return every so many of an exhibit's rows, and the last, to be read."""
    rows = exhibit.rows[::step]
    last = () if exhibit.rows[-1] in rows else exhibit.rows[-1:]
    note = f"Every {step}th of {len(exhibit.rows)} rows; --to and --json give all. {exhibit.note}"
    return Sheet(exhibit.name, title, exhibit.columns, (*rows, *last), note.strip(), decimals=4)
