"""Rank correlation of two scores of the same items, with an interval."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from survey.core.statistics.rank_correlation import Midranks, spearman, tau_b
from survey.core.statistics.results import Interval

LEAST = 5  # items: with fewer, the standard errors below are not defined
QUANTILE = float(special.ndtri(0.975))


@dataclass(frozen=True)
class RankCorrelation:
    """``coefficient`` in [−1, 1] over ``n`` items, with its 95 % interval.

    ``why``: why the coefficient, or the interval alone, is None; else None.
    """

    n: int
    coefficient: float | None
    ci95: Interval | None
    why: str | None = None


def kendall(x: Sequence[float], y: Sequence[float]) -> RankCorrelation:
    """Kendall's tau-b of two scores, with an interval by Fisher's z.

    ``x``, ``y``: (n,), one score for each item. The standard error of atanh(tau) is
    sqrt(0.437 / (n − 4)) (Fieller, Hartley and Pearson 1957, Biometrika 44), whatever tau;
    it is meant for |tau| < .8 and n ≥ 10. Undefined where a score is the same for all items;
    the interval also at |tau| = 1 and for fewer than five items. Raises ValueError for
    scores of different lengths.
    """
    return _correlate(tau_b, x, y, lambda _, n: math.sqrt(0.437 / (n - 4)))


def spearman_rho(x: Sequence[float], y: Sequence[float]) -> RankCorrelation:
    """Spearman's rho of two scores, with an interval by Fisher's z.

    As ``kendall``; the standard error of atanh(rho) is sqrt((1 + rho²/2) / (n − 3))
    (Bonett and Wright 2000, Psychometrika 65), meant for |rho| < .95.
    """
    return _correlate(spearman, x, y, lambda rho, n: math.sqrt((1 + rho**2 / 2) / (n - 3)))


def _correlate(
    measure: Callable[[Midranks, Midranks], NDArray[np.float64]],
    x: Sequence[float],
    y: Sequence[float],
    standard_error: Callable[[float, int], float],
) -> RankCorrelation:
    if len(x) != len(y):
        raise ValueError(f"the scores are {len(x)} and {len(y)}; each item needs one of each")
    n = len(x)
    if n < 2 or len(set(x)) == 1 or len(set(y)) == 1:
        return RankCorrelation(n, None, None, "a score is the same for all items")
    found = float(measure(_midranks(x), _midranks(y)))
    if n < LEAST:
        return RankCorrelation(n, found, None, f"an interval needs {LEAST} items or more")
    if math.isclose(abs(found), 1.0):
        same = "the same" if found > 0 else "opposite"
        why = f"both scores give {same} order, where Fisher's z is infinite"
        return RankCorrelation(n, math.copysign(1.0, found), None, why)
    z, width = math.atanh(found), QUANTILE * standard_error(found, n)
    return RankCorrelation(n, found, (math.tanh(z - width), math.tanh(z + width)))


def _midranks(scores: Sequence[float]) -> Midranks:
    ranked: Midranks = scipy.stats.rankdata(scores)
    return ranked
