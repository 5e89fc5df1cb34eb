"""The chance behind Monte Carlo p values: the same for every machine and every numpy."""

import math

import numpy as np
import scipy
from numpy.random import PCG64
from numpy.typing import NDArray

REPLICATES = 10_000
SEED = 20_080_501
SMALLEST = float(np.finfo(float).tiny)

# Beyond so many, responses with the same possible outcomes are drawn together: as many in
# each outcome as a binomial distribution gives. Up to it a p value is the one it ever was.
MOST_ONE_BY_ONE = 20_000
AT_ONCE = 32  # draws of 10,000 integers: 1.3 MB


class Chance:
    """A stream of random numbers from PCG64's raw output, which numpy promises to keep."""

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
        """Draw so many times as ``below`` does, and count each integer: (10,000, bound).

        h * bound >> 32 is v or more where h is at least v/bound of 2^32, rounded up, so two
        comparisons of 32 bits do for three integers.
        """
        limits = [-(-(value << 32) // bound) for value in range(1, bound)]
        at_least = np.zeros((bound + 1, REPLICATES), dtype=np.int64)
        at_least[0] = draws
        for first in range(0, draws, AT_ONCE):
            count = min(AT_ONCE, draws - first)
            drawn = self._bits.random_raw(count * REPLICATES // 2)
            halves = drawn.astype("<u8", copy=False).view("<u4").reshape(count, REPLICATES)
            for value, limit in enumerate(limits, 1):
                reached = (halves >= np.uint32(limit)).view(np.uint8)
                at_least[value] += np.add.reduce(reached, axis=0, dtype=np.uint8)
        # ``below`` has all upper halves first; here each stands beside its lower one.
        in_turn = at_least.reshape(bound + 1, REPLICATES // 2, 2)[:, :, ::-1]
        upper_first = in_turn.transpose(0, 2, 1).reshape(bound + 1, REPLICATES)
        return (upper_first[:-1] - upper_first[1:]).T

    def _uniform(self) -> NDArray[np.float64]:
        """Draw 10,000 numbers between 0 and 1."""
        drawn = (self._bits.random_raw(REPLICATES) >> np.uint64(11)).astype(np.float64)
        return (drawn + 0.5) * 2.0**-53

    def heads(self, tosses: int) -> NDArray[np.int64]:
        """Toss so many coins 10,000 times and count the heads of each time.

        Inverts the binomial distribution, of which only ten standard deviations to either
        side of the mean can be drawn from 64 bits.
        """
        reach = 5 * math.isqrt(tosses) + 10
        counts = np.arange(max(0, tosses // 2 - reach), min(tosses, tosses // 2 + reach) + 1)
        at_most = np.asarray(scipy.stats.binom.cdf(counts, tosses, 0.5))
        return counts[np.searchsorted(at_most[:-1], self._uniform())]

    def multinomial(self, draws: int, bound: int) -> NDArray[np.int64]:
        """Count as ``tallies`` does, in distribution, by one binomial for each integer."""
        counts = np.zeros((REPLICATES, bound), dtype=np.int64)
        left: NDArray[np.int64] = np.full(REPLICATES, draws)
        for value in range(bound - 1):
            drawn = scipy.stats.binom.ppf(self._uniform(), left, 1 / (bound - value))
            counts[:, value] = np.asarray(drawn).astype(np.int64)
            left = left - counts[:, value]
        counts[:, -1] = left
        return counts


def never_zero(p: float) -> float:
    """Return an exact p in (0, 1]: hundreds of answers alike have one below every float's."""
    return min(1.0, max(p, SMALLEST))


def add_one(beyond: NDArray[np.bool_]) -> float:
    """Return a Monte Carlo p that is never 0: (b + 1)/(B + 1) (Phipson & Smyth 2010)."""
    return float((beyond.sum() + 1) / (len(beyond) + 1))
