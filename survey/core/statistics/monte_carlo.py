"""Random numbers for Monte Carlo p values: the same on every machine and with every numpy."""

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

# Up to this number every response is drawn by itself. Above it, responses with the same
# possible outcomes are drawn together, by one binomial number for each outcome.
MOST_SINGLE_DRAWS = 20_000
AT_ONCE = 32  # draws of 10,000 integers: 1.3 MB


class RandomStream:
    """Random numbers from PCG64's raw output, which numpy promises never to change."""

    def __init__(self) -> None:
        self._bits = PCG64(SEED)

    def halves(self, draws: int) -> Iterator[NDArray[np.uint32]]:
        """Yield ``draws`` rows of 10,000 numbers of 32 bits, some rows at a time.

        Each number of 64 bits gives two. h * bound >> 32 is an integer below a small
        ``bound``; no integer is favoured by more than 1e-8.
        """
        for first in range(0, draws, AT_ONCE):
            count = min(AT_ONCE, draws - first)
            drawn = self._bits.random_raw(count * REPLICATES // 2)
            yield drawn.astype("<u8", copy=False).view("<u4").reshape(count, REPLICATES)

    def tallies(self, draws: int, bound: int) -> NDArray[np.int64]:
        """Count ``draws`` random integers below ``bound``, 10,000 times: (10,000, bound).

        h * bound >> 32 is v or more where h is at least v/bound of 2^32, rounded up, so
        counting three integers takes two comparisons of 32 bits.
        """
        at_least = np.zeros((bound + 1, REPLICATES), dtype=np.int64)
        at_least[0] = draws
        for halves in self.halves(draws):
            for value in range(1, bound):
                reached = halves >= np.uint32(-(-(value << 32) // bound))
                at_least[value] += np.add.reduce(reached.view(np.uint8), axis=0, dtype=np.uint8)
        return (at_least[:-1] - at_least[1:]).T

    def binomial(self, draws: NDArray[np.int64], chance: float) -> NDArray[np.int64]:
        """Draw the number of successes among ``draws``, which differs by replicate: (10,000,).

        A binomial number of n is the sum of those of the powers of two that make up n, so
        only the distributions of the powers of two are inverted, each once.
        """
        counts = np.zeros(REPLICATES, dtype=np.int64)
        for bit in range(int(draws.max(initial=0)).bit_length()):
            has_bit = draws >> bit & 1
            if has_bit.any():
                least, at_most = _distribution(1 << bit, chance)
                counts += has_bit * (least + np.searchsorted(at_most, self._uniform()))
        return counts

    def multinomial(self, draws: int, bound: int) -> NDArray[np.int64]:
        """Count with the distribution of ``tallies``, by one binomial for each integer."""
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


def exact_p(p: float) -> float:
    """Clip an exact p to (0, 1]: with hundreds of equal answers it is below every float."""
    return min(1.0, max(p, SMALLEST))


def monte_carlo_p(beyond: NDArray[np.bool_]) -> float:
    """Return (b + 1)/(B + 1), a Monte Carlo p that is never 0 (Phipson & Smyth 2010).

    ``beyond``: for each replicate whether it is as far out as what was observed.
    """
    return float((beyond.sum() + 1) / (len(beyond) + 1))


@cache
def _distribution(draws: int, chance: float) -> tuple[int, NDArray[np.float64]]:
    """Return the least plausible number of successes, and a table of cumulative chances.

    The table holds the chance of at most that number, at most one more, and so on, without
    the greatest. Numbers beyond ten standard deviations are left out: 64 random bits cannot
    reach them.
    """
    mean, reach = draws * chance, 10 * math.sqrt(draws * chance * (1 - chance)) + 10
    least, most = max(0, int(mean - reach)), min(draws, int(mean + reach))
    return least, np.asarray(scipy.stats.binom.cdf(np.arange(least, most), draws, chance))
