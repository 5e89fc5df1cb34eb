"""The chance behind Monte Carlo p values: the same for every machine and every numpy."""

import math
from collections.abc import Iterator
from functools import cache

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

    def halves(self, draws: int) -> Iterator[NDArray[np.uint32]]:
        """Draw 10,000 numbers of 32 bits so many times, two from each 64: (some, 10,000).

        h * bound >> 32 is an integer below a tiny ``bound``, none favoured by more than 1e-8.
        """
        for first in range(0, draws, AT_ONCE):
            count = min(AT_ONCE, draws - first)
            drawn = self._bits.random_raw(count * REPLICATES // 2)
            yield drawn.astype("<u8", copy=False).view("<u4").reshape(count, REPLICATES)

    def tallies(self, draws: int, bound: int) -> NDArray[np.int64]:
        """Draw so many integers below ``bound`` 10,000 times, and count: (10,000, bound).

        h * bound >> 32 is v or more where h is at least v/bound of 2^32, rounded up, so two
        comparisons of 32 bits do for three integers.
        """
        at_least = np.zeros((bound + 1, REPLICATES), dtype=np.int64)
        at_least[0] = draws
        for halves in self.halves(draws):
            for value in range(1, bound):
                reached = halves >= np.uint32(-(-(value << 32) // bound))
                at_least[value] += np.add.reduce(reached.view(np.uint8), axis=0, dtype=np.uint8)
        return (at_least[:-1] - at_least[1:]).T

    def binomial(self, draws: NDArray[np.int64], chance: float) -> NDArray[np.int64]:
        """Draw how many of so many draws succeed, (10,000,), for each replicate's own number.

        A binomial number of n is the sum of those of the powers of two that make up n, and
        the distribution of each of these needs to be inverted once only.
        """
        counts = np.zeros(REPLICATES, dtype=np.int64)
        for bit in range(int(draws.max(initial=0)).bit_length()):
            has_it = draws >> bit & 1
            if has_it.any():
                least, at_most = _distribution(1 << bit, chance)
                counts += has_it * (least + np.searchsorted(at_most, self._uniform()))
        return counts

    def multinomial(self, draws: int, bound: int) -> NDArray[np.int64]:
        """Count as ``tallies`` does, in distribution, by one binomial for each integer."""
        counts = np.zeros((REPLICATES, bound), dtype=np.int64)
        left: NDArray[np.int64] = np.full(REPLICATES, draws)
        for value in range(bound - 1):
            counts[:, value] = self.binomial(left, 1 / (bound - value))
            left = left - counts[:, value]
        counts[:, -1] = left
        return counts

    def _uniform(self) -> NDArray[np.float64]:
        """Draw 10,000 numbers between 0 and 1."""
        drawn = (self._bits.random_raw(REPLICATES) >> np.uint64(11)).astype(np.float64)
        return (drawn + 0.5) * 2.0**-53


@cache
def _distribution(draws: int, chance: float) -> tuple[int, NDArray[np.float64]]:
    """Return the least number of successes to be reckoned with, and the chances of at most it,
    one more, and so on, but for the greatest.

    Ten standard deviations from the mean are farther than 64 random bits reach.
    """
    mean, reach = draws * chance, 10 * math.sqrt(draws * chance * (1 - chance)) + 10
    least, most = max(0, int(mean - reach)), min(draws, int(mean + reach))
    return least, np.asarray(scipy.stats.binom.cdf(np.arange(least, most), draws, chance))


def never_zero(p: float) -> float:
    """Return an exact p in (0, 1]: hundreds of answers alike have one below every float's."""
    return min(1.0, max(p, SMALLEST))


def add_one(beyond: NDArray[np.bool_]) -> float:
    """Return a Monte Carlo p that is never 0: (b + 1)/(B + 1) (Phipson & Smyth 2010)."""
    return float((beyond.sum() + 1) / (len(beyond) + 1))
