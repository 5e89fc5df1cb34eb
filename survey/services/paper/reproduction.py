"""What the reproduction of a table or figure consists of: printed values, comparisons, claims."""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Any

from survey import figures
from survey.core.agreement.exhibits import Exhibit
from survey.services.reporting.sheets import Sheet, as_csv

MEASURES = ("AP", "NMRR", "MNRO")


@cache
def printed(table: str) -> tuple[dict[str, str], ...]:
    """Return the rows of a printed table, as strings."""
    source = files("survey.services.paper") / "printed" / f"{table}.csv"
    return tuple(csv.DictReader(source.read_text(encoding="utf-8").splitlines()))


@dataclass(frozen=True)
class Comparison:
    """A recomputed value beside the printed one. ``agrees``: to every printed digit."""

    row: str
    name: str
    computed: str
    printed: str

    @property
    def agrees(self) -> bool:
        """Whether both are the same text."""
        return self.computed == self.printed

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**vars(self), "agrees": self.agrees}


Span = tuple[Fraction, Fraction]
NOTE = (
    "The printed values are rounded, so a recomputed percentage is an interval, in brackets. A "
    "printed percentage agrees when it can come from some values that print as the paper's do."
)


@dataclass(frozen=True)
class Recomputed(Comparison):
    """A percentage recomputed from rounded values; ``lowest`` to ``highest``: what it can be."""

    lowest: Fraction
    highest: Fraction

    @property
    def agrees(self) -> bool:
        """Whether some value in the interval prints as the paper's percentage does."""
        low, high = span(self.printed.removesuffix("%"))
        return low <= self.highest and self.lowest <= high

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values, the interval's ends as numbers."""
        ends = {"lowest": float(self.lowest), "highest": float(self.highest)}
        return {**super().as_json(), **ends}


def span(printed: str) -> Span:
    """Return the least and the greatest number that print so: half a unit to either side."""
    value, decimals = Fraction(printed), len(printed.partition(".")[2])
    half = Fraction(1, 2 * 10**decimals)
    return value - half, value + half


def deviation(value: str, base: str) -> Span:
    """Return what 100 · |value / base − 1| can be, in per cent, of two printed positive numbers.

    The ratio is greatest for the greatest value over the least base. Where the values can
    have been equal, the deviation can have been 0.
    """
    (least, greatest), (low, high) = span(value), span(base)
    ends = 100 * (least / high - 1), 100 * (greatest / low - 1)
    if ends[0] < 0 < ends[1]:
        return Fraction(0), max(-ends[0], ends[1])
    first, second = sorted(map(abs, ends))
    return first, second


def compare(row: str, name: str, value: str, base: str, printed: str) -> Recomputed:
    """Recompute a printed percentage: the deviation of ``value`` from ``base``."""
    decimals = len(printed.removesuffix("%").partition(".")[2])
    middle = 100 * abs(Fraction(value) / Fraction(base) - 1)
    low, high = deviation(value, base)
    said = [f"{float(part):.{decimals}f}" for part in (middle, low, high)]
    return Recomputed(row, name, f"{said[0]}% ({said[1]} to {said[2]})", printed, low, high)


def as_numbers(row: Mapping[str, str], *names: str) -> tuple[float, ...]:
    """Return some cells of a printed row as numbers."""
    return tuple(float(row[name]) for name in names)


HOLDS, IN_PART = "holds", "holds only in part"
NOT_SUPPORTED = "not supported"  # by the votes: it may be so all the same
DOES_NOT_HOLD = "does not hold"  # it can be computed, and comes out otherwise


@dataclass(frozen=True)
class Claim:
    """``place``: where the paper says it; ``said``: quoted, or in short; and the judgement."""

    place: str
    said: str
    verdict: str
    why: str


def computed(place: str, said: str, holds: bool, why: str) -> Claim:
    """Judge a sentence that a computation decides."""
    return Claim(place, said, HOLDS if holds else DOES_NOT_HOLD, why)


def graded(place: str, said: str, cases: Sequence[bool], why: str) -> Claim:
    """Judge a sentence that holds in some cases: in all of them, in part, or in none."""
    verdict = HOLDS if all(cases) else IN_PART if any(cases) else DOES_NOT_HOLD
    return Claim(place, said, verdict, why)


@dataclass(frozen=True)
class Reproduction:
    """A table, figure or passage of the paper, done again.

    ``content``: its values for scripts, beside claims and comparisons; ``sheets``: to be
    read; ``comparisons``: recomputed values beside the print; ``claims``: the paper's
    sentences about it; ``remarks``: how far all this goes; ``table``: what is written as
    NAME.csv, the comparisons unless given; ``exhibit``: what is drawn; ``documents``: more
    files, by name; ``passages``: headings with their paragraphs, to be read.
    """

    name: str
    content: Mapping[str, Any]
    sheets: tuple[Sheet, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    claims: tuple[Claim, ...] = ()
    remarks: tuple[str, ...] = ()
    table: Sheet | None = None
    exhibit: Exhibit | None = None
    documents: Mapping[str, str] = field(default_factory=dict)
    passages: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def agrees(self) -> bool:
        """Whether every printed value can be what was recomputed."""
        return all(one.agrees for one in self.comparisons)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain values."""
        claims = {"claims": [dict(vars(one)) for one in self.claims]} if self.claims else {}
        return {
            **self.content,
            **claims,
            "comparisons": [one.as_json() for one in self.comparisons],
        }

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Yield the files for a folder, one after the other, since drawing takes its time."""
        yield f"{self.name}.csv", as_csv(self.table or compared(self.comparisons)).encode()
        for name, text in self.documents.items():
            yield name, text.encode()
        if self.exhibit is not None:
            for ending in figures.FORMATS:
                yield f"{self.name}.{ending}", figures.written(self.exhibit, ending)

    @property
    def file_count(self) -> int:
        """How many files there are, for a progress bar."""
        return 1 + len(self.documents) + len(figures.FORMATS) * (self.exhibit is not None)


def compared(comparisons: tuple[Comparison, ...]) -> Sheet:
    """Return the comparisons as a table for files."""
    rows = [one.as_json() for one in comparisons]
    return Sheet(
        "comparisons",
        "Recomputed beside the print",
        tuple(rows[0]) if rows else (),
        tuple(tuple(row.values()) for row in rows),
    )


def listed(parts: Iterable[object]) -> str:
    """Join as a sentence does: 3, 4 and 9."""
    *before, last = map(str, parts)
    return f"{', '.join(before)} and {last}" if before else last
