"""Percentages recomputed from printed values: intervals, since printed values are rounded."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from survey.services.paper.printed import Comparison

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
