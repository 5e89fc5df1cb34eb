"""The values that the figures are drawn from: N = 20, one or two relevant items."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from survey.core.measures import average_precision, mnro, nmrr
from survey.core.measures.nmrr import nmrr_horizon

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
