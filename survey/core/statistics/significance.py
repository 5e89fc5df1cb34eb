"""Several p values together.

The sign-flip test: what if each value had been as likely to be its opposite?
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from survey.core.statistics.monte_carlo import (
    MOST_ONE_BY_ONE,
    REPLICATES,
    Chance,
    add_one,
    never_zero,
)


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjust p values by Holm's (1979) step-down method, in the given order; None stays None.

    The i-th smallest of m is multiplied by m - i + 1, and made no smaller than those
    before it. An undefined p counts in m: its comparison was meant to be made, and what
    is undefined in these answers must not make the others easier to pass.
    (statsmodels' multipletests collects garbage at each call: 50 ms.)
    """
    known = sorted((value, place) for place, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    largest = 0.0
    for before, (value, place) in enumerate(known):
        largest = max(largest, min(1.0, value * (len(p) - before)))
        adjusted[place] = largest
    return adjusted


LARGEST_CONVOLUTION = 20_000_000  # additions: a tenth of a second
HEADS = np.uint32(1 << 31)  # the upper half of 32 bits
LARGEST_EXACT = 2**53  # of the whole numbers that a float holds


def sign_flip(values: Sequence[Fraction], places: NDArray[np.integer]) -> tuple[float, str]:
    """Return the two-sided p of the sum when every sign is equally likely, and the method.

    ``values``: the distinct ones; ``places``: which of them each is. Exact by convolution of
    their ±1/2 distributions; where their common denominator makes that too long, 10,000
    random flips and (b + 1)/(B + 1).
    """
    denominator = math.lcm(*(value.denominator for value in values))
    whole = [int(value * denominator) for value in values]
    times = np.bincount(places, minlength=len(values)).tolist()
    reach = sum(abs(value) * count for value, count in zip(whole, times, strict=True))
    total = sum(value * count for value, count in zip(whole, times, strict=True))
    if reach * len(places) <= LARGEST_CONVOLUTION:
        return never_zero(_tail(whole, times, total)), "exact"
    if reach > LARGEST_EXACT:
        floats = np.array([float(value) for value in values])
        return _beyond(floats, places, float(Fraction(total, denominator))), "Monte Carlo"
    return _beyond(np.array(whole, dtype=float), places, float(total)), "Monte Carlo"


def _tail(whole: Sequence[int], times: Sequence[int], total: int) -> float:
    """Return the chance of a sum at least as far from zero, of whole numbers."""
    chances = np.ones(1)
    for value, count in zip(whole, times, strict=True):
        for _ in range(count if value else 0):
            wider = np.zeros(len(chances) + 2 * abs(value))
            wider[: len(chances)] = chances
            wider[-len(chances) :] += chances
            chances = wider / 2
    sums = np.arange(len(chances)) - len(chances) // 2
    return float(chances[np.abs(sums) >= abs(total)].sum())


def _beyond(values: NDArray[np.float64], places: NDArray[np.integer], total: float) -> float:
    """Return the Monte Carlo p: beyond some thousand values, alike ones are drawn together."""
    chance = Chance()
    totals = np.zeros(REPLICATES)
    if len(places) <= MOST_ONE_BY_ONE:
        given = iter(values[places])
        for halves in chance.halves(len(places)):
            here = np.fromiter(given, dtype=float, count=len(halves))
            totals += 2 * (here @ (halves >= HEADS)) - here.sum()
    else:
        alike, sizes = np.unique(np.abs(values), return_inverse=True)
        times = np.bincount(sizes[places], minlength=len(alike)).tolist()
        for size, count in zip(alike.tolist(), times, strict=True):
            heads = chance.binomial(np.full(REPLICATES, count), 0.5)
            totals += size * (2 * heads - count)
    return add_one(np.abs(totals) >= abs(total) - 1e-12)
