"""Significance tests on plain numbers: t, signs, Cochran's Q, Friedman, and Holm's correction."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.statistics.monte_carlo import (
    MOST_SINGLE_DRAWS,
    REPLICATES,
    RandomStream,
    exact_p,
    monte_carlo_p,
)

LARGEST_CONVOLUTION = 20_000_000  # additions: a tenth of a second
HEADS = np.uint32(1 << 31)  # the upper half of 32 bits
LARGEST_EXACT = 2**53  # of the whole numbers that a float holds


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Adjust p values by Holm's (1979) step-down method, in the same order; None stays None.

    The i-th smallest of m is multiplied by m - i + 1, and made no smaller than those
    before it. An undefined p counts in m: its comparison was meant to be made, and what
    is undefined in these answers must not make the others easier to pass.
    (statsmodels' multipletests collects garbage at each call: 50 ms.)
    """
    known = sorted((value, index) for index, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    largest = 0.0
    for before, (value, index) in enumerate(known):
        largest = max(largest, min(1.0, value * (len(p) - before)))
        adjusted[index] = largest
    return adjusted


def t_test(mean: float, se: float, df: int) -> dict[str, Any]:
    """Test a mean against 0; return mean, se, t, df, two-sided p and ci95."""
    t = mean / se
    reach = float(scipy.stats.t.ppf(0.975, df)) * se
    return {
        "mean": mean,
        "se": se,
        "t": t,
        "df": df,
        "p": float(2 * scipy.stats.t.sf(abs(t), df)),
        "ci95": (mean - reach, mean + reach),
    }


def sign_test(first: int, second: int) -> float | None:
    """Return the exact two-sided p of two counts being equally likely; None where both are 0.

    McNemar's exact test is this one, on the two counts of discordant pairs.
    """
    decided = first + second
    return float(scipy.stats.binomtest(first, decided).pvalue) if decided else None


def sign_flip(values: Sequence[Fraction], index: NDArray[np.integer]) -> tuple[float, str]:
    """Return the two-sided p of a sum when every sign is equally likely, and the method.

    ``values``: the distinct ones; ``index``: which of them each summand is. Exact by
    convolution of their ±1/2 distributions; where their common denominator makes that too
    long, 10,000 random flips and (b + 1)/(B + 1).
    """
    denominator = math.lcm(*(value.denominator for value in values))
    whole = [int(value * denominator) for value in values]
    counts = np.bincount(index, minlength=len(values)).tolist()
    reach = sum(abs(value) * count for value, count in zip(whole, counts, strict=True))
    total = sum(value * count for value, count in zip(whole, counts, strict=True))
    if reach * len(index) <= LARGEST_CONVOLUTION:
        return exact_p(_tail(whole, counts, total)), "exact"
    if reach > LARGEST_EXACT:
        floats = np.array([float(value) for value in values])
        return _random_flips(floats, index, float(Fraction(total, denominator))), "Monte Carlo"
    return _random_flips(np.array(whole, dtype=float), index, float(total)), "Monte Carlo"


def _tail(whole: Sequence[int], counts: Sequence[int], total: int) -> float:
    """Return the chance of a sum of whole numbers that is at least as far from 0."""
    chances = np.ones(1)
    for value, count in zip(whole, counts, strict=True):
        for _ in range(count if value else 0):
            wider = np.zeros(len(chances) + 2 * abs(value))
            wider[: len(chances)] = chances
            wider[-len(chances) :] += chances
            chances = wider / 2
    sums = np.arange(len(chances)) - len(chances) // 2
    return float(chances[np.abs(sums) >= abs(total)].sum())


def _random_flips(values: NDArray[np.float64], index: NDArray[np.integer], total: float) -> float:
    """Return the Monte Carlo p; with many summands, those of equal size are drawn together."""
    stream = RandomStream()
    totals = np.zeros(REPLICATES)
    if len(index) <= MOST_SINGLE_DRAWS:
        summands = iter(values[index])
        for halves in stream.halves(len(index)):
            some = np.fromiter(summands, dtype=float, count=len(halves))
            totals += 2 * (some @ (halves >= HEADS)) - some.sum()
    else:
        sizes, size_index = np.unique(np.abs(values), return_inverse=True)
        counts = np.bincount(size_index[index], minlength=len(sizes)).tolist()
        for size, count in zip(sizes.tolist(), counts, strict=True):
            heads = stream.binomial(np.full(REPLICATES, count), 0.5)
            totals += size * (2 * heads - count)
    return monte_carlo_p(np.abs(totals) >= abs(total) - 1e-12)


def cochran_q(
    sums: NDArray[np.int64], squares: NDArray[np.int64] | int, treatments: int
) -> NDArray[np.float64]:
    """Compute Cochran's Q of yes and no, NaN where no block tells the treatments apart.

    ``sums``: (…, treatments), how many blocks say yes to each; ``squares``: (…), the squares
    of the numbers of yes in each block, added up. Q = (k - 1)(k ΣC² - N²)/(kN - ΣR²), with
    column sums C, row sums R, their total N (Cochran 1950); chi-square with k - 1 df.
    """
    total = sums.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        q: NDArray[np.float64] = np.divide(
            (treatments - 1) * (treatments * (sums**2).sum(axis=-1) - total**2),
            treatments * total - squares,
        )
    return q


def friedman_chi2(table: NDArray[Any]) -> float | None:
    """Compute Friedman's chi-square of a table (blocks, treatments); None where all tie.

    χ² = (k - 1) Σ(R - n(k + 1)/2)² / (Σr² - nk(k + 1)²/4), with n blocks, k treatments,
    midranks r and their sums R: tie-corrected, and defined for two treatments, which
    scipy's friedmanchisquare refuses.
    """
    blocks, treatments = table.shape
    if not np.ptp(table, axis=1).any():
        return None
    ranks = scipy.stats.rankdata(table, axis=1)
    middle = (treatments + 1) / 2
    between = float(((ranks.sum(axis=0) - blocks * middle) ** 2).sum())
    within = float((ranks**2).sum() - blocks * treatments * middle**2)
    return float((treatments - 1) * between / within)
