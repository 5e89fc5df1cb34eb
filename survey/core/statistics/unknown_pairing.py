"""Tests of two printed numbers whose correlation, or overlap, was not printed.

Two measures are mostly judged on the same answers, and a table prints each one's rate or
correlation alone. The p value of their difference then depends on what is missing, so each
function returns the smallest and the largest p value that the print allows.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy

from survey.core.statistics.significance import LEVEL, Interval, t_tail

GRID = 2_001  # correlations at which Williams' test is computed


class PValues(NamedTuple):
    """Two-sided p values in [0, 1]: the smallest and largest possible one, and ``unrelated``.

    ``unrelated``: where the two go together no more and no less than chance has it.
    """

    smallest: float
    unrelated: float
    largest: float


class Count(NamedTuple):
    """``successes`` of ``trials``, both at least 0."""

    successes: float
    trials: float

    @property
    def share(self) -> float:
        """Successes divided by trials."""
        return self.successes / self.trials


def compare_shares(first: Count, second: Count) -> tuple[PValues, Interval]:
    """Test whether two shares of overlapping trials differ; return p values and a 95 % interval.

    Agresti and Caffo's (2000) normal test, with a success and a failure added to each. All trials
    of the smaller count may be among the larger one's; the covariance in each of them lies between
    Fréchet's bounds. The interval is of first minus second, at the least favourable covariance.
    """
    a, b = (Count(count.successes + 1, count.trials + 2) for count in (first, second))
    together = a.share * b.share
    bounds = min(a.share, b.share) - together, 0.0, max(0.0, a.share + b.share - 1) - together
    alone = sum(count.share * (1 - count.share) / count.trials for count in (a, b))
    errors = [math.sqrt(max(0.0, alone - 2 * c / max(a.trials, b.trials))) for c in bounds]
    difference = a.share - b.share
    reach = scipy.special.ndtri(1 - LEVEL / 2) * errors[-1]
    p = PValues(*(_normal_p(difference, error) for error in errors))
    return p, (max(-1.0, difference - reach), min(1.0, difference + reach))


def _normal_p(difference: float, error: float) -> float:
    if abs(difference) < 1e-12:
        return 1.0
    return float(2 * scipy.special.ndtr(-abs(difference) / error)) if error else 0.0


def compare_correlations(
    first: float, second: float, n: int, between: float | None = None
) -> PValues:
    """Test whether two measures correlate differently with the same third thing, over n answers.

    Williams' t (1959; Steiger 1980, Psychological Bulletin 87) with n − 3 degrees of freedom. It
    needs the correlation ``between`` the two; where it is None, all that leave the three
    correlations possible are tried, and ``unrelated`` is their product. Raises ValueError for fewer
    than four answers, and where the three correlations are impossible together.
    """
    reach = math.sqrt((1 - first**2) * (1 - second**2))
    if n < 4 or (between is not None and abs(between - first * second) > reach + 1e-9):
        raise ValueError("four answers, and correlations that are possible together, are needed")
    tried = [first * second] if between is None else [between]
    if between is None:
        tried += np.linspace(first * second - reach, first * second + reach, GRID)[1:-1].tolist()
    p = [_williams_p(first, second, n, r) for r in tried]
    return PValues(min(p), p[0], max(p))


def _williams_p(first: float, second: float, n: int, between: float) -> float:
    determinant = 1 - first**2 - second**2 - between**2 + 2 * first * second * between
    mean = (first + second) / 2
    spread = 2 * (n - 1) / (n - 3) * max(0.0, determinant) + mean**2 * (1 - between) ** 3
    if first == second:
        return 1.0
    if spread == 0:
        return 0.0
    return 2 * t_tail(abs(first - second) * math.sqrt((n - 1) * (1 + between) / spread), n - 3)


def worth_needed(p: float) -> float:
    """Return which share of independent answers would still give p below the level, in (0, 1].

    A statistic grows with the root of the answers, so one of p = .01 decides with 58 % of them.
    1 for a p that does not decide.
    """
    if p >= LEVEL:
        return 1.0
    if p == 0:
        return 0.0
    return float((scipy.special.ndtri(LEVEL / 2) / scipy.special.ndtri(p / 2)) ** 2)
