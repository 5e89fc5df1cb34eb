"""Rankings as weak orders, with their notation, and values printed in their order."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TypeVar

Key = float | int | Fraction
Name = TypeVar("Name")


@dataclass(frozen=True)
class Ranking:
    """A weak order of lettered lists: groups from best to worst, ties within a group.

    ``groups``: a tuple of tuples of letters; letters inside a tie are sorted, so
    that two rankings are equal exactly when they order the lists alike. Every
    letter occurs once.

    Raises ValueError for an empty ranking, an empty group or a repeated letter.
    """

    groups: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        letters = [letter for group in self.groups for letter in group]
        if not letters or not all(self.groups):
            raise ValueError("a ranking needs at least one list in each place")
        for letter in letters:
            if letters.count(letter) > 1:
                raise ValueError(f"list {letter} occurs more than once in the ranking")
        object.__setattr__(self, "groups", tuple(tuple(sorted(g)) for g in self.groups))

    @classmethod
    def by_key(cls, keys: Mapping[str, Key]) -> "Ranking":
        """Rank letters by their keys, lowest first; equal keys tie."""
        for letter, key in keys.items():
            if math.isnan(key):
                raise ValueError(f"list {letter} has no value to be ranked by")
        levels = sorted(set(keys.values()))
        return cls(
            tuple(tuple(letter for letter, key in keys.items() if key == level) for level in levels)
        )

    @classmethod
    def parse(cls, notation: str, letters: Iterable[str] | None = None) -> "Ranking":
        """Parse ``B>A=C``: best first, ``=`` inside a tie; spaces do not count.

        Raises ValueError for any other notation; with ``letters``, also where the ranking
        lacks a letter or has another.
        """
        if not notation.strip():
            raise ValueError("a ranking is written like B>A=C, best first; nothing was found")
        groups = [[part.strip() for part in group.split("=")] for group in notation.split(">")]
        for part in (part for group in groups for part in group):
            if len(part) != 1 or not part.isalpha():
                raise ValueError(
                    f"{part!r} found in the ranking {notation.strip()!r}; "
                    "single letters joined by > and = are allowed, like B>A=C"
                )
        ranking = cls(tuple(tuple(group) for group in groups))
        if letters is not None:
            expected = set(letters)
            for letter in sorted(expected - set(ranking.letters)):
                raise ValueError(f"list {letter} is missing in the ranking {notation.strip()!r}")
            for letter in sorted(set(ranking.letters) - expected):
                raise ValueError(f"the ranking {notation.strip()!r} has an unknown list {letter}")
        return ranking

    def __str__(self) -> str:
        return ">".join("=".join(group) for group in self.groups)

    @property
    def letters(self) -> tuple[str, ...]:
        """The ranked letters in alphabetical order."""
        return tuple(sorted(letter for group in self.groups for letter in group))

    def at(self, place: int) -> tuple[str, ...]:
        """Return the letters at a place: with places 1, 2, 2, 4, 5, two at 2 and none at 3."""
        return tuple(letter for letter, number in self.places.items() if number == place)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """Competition ranks, as in the paper's Table 1: 1, 2, 2, 4, 5."""
        places, ahead = {}, 0
        for group in self.groups:
            places.update(dict.fromkeys(group, ahead + 1))
            ahead += len(group)
        return dict(sorted(places.items()))

    @property
    def midranks(self) -> dict[str, float]:
        """The mean of the places a tie takes up: 1, 2.5, 2.5, 4, 5."""
        ties = {letter: len(group) for group in self.groups for letter in group}
        return {letter: place + (ties[letter] - 1) / 2 for letter, place in self.places.items()}

    @property
    def all_tied(self) -> bool:
        """Whether all lists tie."""
        return len(self.groups) == 1


def identical_groups(rankings: Mapping[Name, Ranking]) -> list[list[Name]]:
    """Group the names whose rankings are equal, in the mapping's order, without single names."""
    groups: dict[Ranking, list[Name]] = {}
    for name, ranking in rankings.items():
        groups.setdefault(ranking, []).append(name)
    return [names for names in groups.values() if len(names) > 1]


CONTRADICTING, TIES_ONLY, IDENTICAL = "contradicting", "ties_only", "identical"


def contrast(first: Ranking, second: Ranking) -> str:
    """Return how two rankings of the same lists differ, in one of three ways.

    CONTRADICTING: they put some two lists in opposite orders; TIES_ONLY: they differ, and where
    they do one of them ties the lists; IDENTICAL.
    """
    if first == second:
        return IDENTICAL
    return CONTRADICTING if contradictions(first, second) else TIES_ONLY


def breaks_ties(first: Ranking, second: Ranking) -> bool:
    """Return whether the first ranking orders two lists that the second ties."""
    a, b = first.places, second.places
    return any(a[x] != a[y] and b[x] == b[y] for x, y in combinations(a, 2))


def is_balanced(first: Ranking, second: Ranking) -> bool:
    """Return whether each ranking ties as many pairs of lists that the other orders."""
    return more_ties(first, second) == 0


def more_ties(first: Ranking, second: Ranking) -> int:
    """Return how many more pairs of lists the first ranking ties than the second."""
    a, b = first.places, second.places
    return sum((a[x] == a[y]) - (b[x] == b[y]) for x, y in combinations(a, 2))


def contradictions(first: Ranking, second: Ranking) -> int:
    """Count the pairs of lists that two rankings order strictly and oppositely."""
    a, b = first.places, second.places
    return sum((a[x] - a[y]) * (b[x] - b[y]) < 0 for x, y in combinations(a, 2))


def differing_pairs(first: Ranking, second: Ranking) -> list[tuple[str, str]]:
    """Return the pairs of lists that two rankings put in another order, or tie in only one."""
    a, b = first.places, second.places
    return [
        (x, y)
        for x, y in combinations(sorted(a), 2)
        if (a[x] > a[y], a[x] < a[y]) != (b[x] > b[y], b[x] < b[y])
    ]


def letters_for(count: int) -> tuple[str, ...]:
    """Return the letters A, B, C, … of ``count`` lists."""
    return tuple(chr(ord("A") + index) for index in range(count))


def printed(values: Sequence[Fraction], decimals: int = 4) -> tuple[str, ...]:
    """Format one column's values so that the texts never contradict the values' order.

    Values get ``decimals`` decimals; values that differ but would be printed alike get as
    many more as needed to differ. Equal values are printed alike.
    """
    width = dict.fromkeys(values, decimals)
    while True:
        alike: dict[Decimal, list[Fraction]] = {}
        for value, places in width.items():
            alike.setdefault(_rounded(value, places), []).append(value)
        clashing = [value for group in alike.values() if len(group) > 1 for value in group]
        if not clashing:
            return tuple(f"{_rounded(value, width[value]):f}" for value in values)
        for value in clashing:
            width[value] += 1


def rescaled(values: Sequence[Fraction]) -> list[Fraction]:
    """Return the values on a scale from 0, the lowest, to 100, the highest; equal ones as 0."""
    lowest, span = min(values), max(values) - min(values)
    return [100 * (value - lowest) / span if span else Fraction(0) for value in values]


def _rounded(value: Fraction, decimals: int) -> Decimal:
    """Round half to even, exactly, keeping trailing zeros."""
    return Decimal(round(value * 10**decimals)).scaleb(-decimals)
