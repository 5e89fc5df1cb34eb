"""The chance behind Monte Carlo p values: the same for every machine and every numpy."""

import numpy as np
from numpy.random import PCG64
from numpy.typing import NDArray

REPLICATES = 10_000
SEED = 20_080_501
SMALLEST = float(np.finfo(float).tiny)


class Chance:
    """A stream of random integers from PCG64's raw output, which numpy promises to keep."""

    def __init__(self) -> None:
        self._bits = PCG64(SEED)

    def below(self, bound: int) -> NDArray[np.int64]:
        """Draw 10,000 integers from 0 to bound - 1, two from each 64 bits.

        ``bound`` is tiny, so multiplying and shifting favours no integer by more than 1e-8.
        """
        drawn = self._bits.random_raw(REPLICATES // 2)
        halves = np.concatenate([drawn >> np.uint64(32), drawn & np.uint64(0xFFFFFFFF)])
        return (halves * np.uint64(bound) >> np.uint64(32)).astype(np.int64)

    def tallies(self, draws: int, bound: int) -> NDArray[np.int64]:
        """Draw so many integers below ``bound`` 10,000 times, and count: (10,000, bound)."""
        counts = np.zeros(REPLICATES * bound, dtype=np.int64)
        places = bound * np.arange(REPLICATES)
        for _ in range(draws):
            counts += np.bincount(places + self.below(bound), minlength=len(counts))
        return counts.reshape(REPLICATES, bound)


def never_zero(p: float) -> float:
    """Return an exact p in (0, 1]: hundreds of answers alike have one below every float's."""
    return min(1.0, max(p, SMALLEST))


def add_one(beyond: NDArray[np.bool_]) -> float:
    """Return a Monte Carlo p that is never 0: (b + 1)/(B + 1) (Phipson & Smyth 2010)."""
    return float((beyond.sum() + 1) / (len(beyond) + 1))
