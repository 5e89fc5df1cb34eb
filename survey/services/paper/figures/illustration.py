"""A figure of the paper as a reproduction: numbers, series for scripts, claims."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from survey.core.agreement.exhibits import Cell, Exhibit
from survey.services.paper.claim import Claim
from survey.services.paper.reproduction import Reproduction
from survey.services.reporting.sheets import Sheet

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
