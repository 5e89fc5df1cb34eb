"""What came of a descriptor when collections grew: means, deviations as in Table 2, intervals."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from benchmarks.digits.designs import Design
from benchmarks.digits.resampling import Interval, Weights, middle, resampled, stream
from benchmarks.digits.retrieval import column

RESAMPLES = 2_000


@dataclass(frozen=True)
class Outcome:
    """``found`` (draws, sets, columns): means over the queries of each draw.

    ``seed`` of the resampling of draws, from which the intervals come.
    """

    design: Design
    descriptor: str
    found: NDArray[np.float64]
    seed: int

    def of(self, name: str, place: int) -> NDArray[np.float64]:
        """A measure's values (draws,) in one of the sets."""
        return np.asarray(self.found[:, place, column(name)])

    def mean(self, name: str, place: int) -> float:
        """Its mean over draws."""
        return float(self.of(name, place).mean())

    def deviation(self, name: str, place: int) -> float:
        """How far the mean lies from that of A, in per cent of it, with its sign (Table 2)."""
        return 100 * (self.mean(name, place) / self.mean(name, 0) - 1)

    def interval(self, name: str, place: int) -> Interval:
        """The deviation's 95 % percentile bootstrap interval, over draws."""
        here, base = (self.of(name, where) @ self._weights for where in (place, 0))
        return middle(100 * (here / base - 1))

    @cached_property
    def _weights(self) -> Weights:
        return resampled(len(self.found), RESAMPLES, stream(self.seed, 3))

    def moves_less(self, name: str, other: str) -> float:
        """The share of single draws in which a measure deviates less than another, A to C.

        In per cent, without sign. Draws in which either is 0 in A have no deviation and are
        left out; NaN where none is left.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            moved, others = (
                np.abs(self.of(one, -1) / self.of(one, 0) - 1) for one in (name, other)
            )
        known = np.isfinite(moved) & np.isfinite(others)
        return float((moved < others)[known].mean()) if known.any() else float("nan")
