"""Percentile intervals of the bootstrap, of any figure of resampled units."""

import math

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.statistics.significance import Interval, t_quantile

SAMPLES = 2000


def percentile_interval(values: NDArray[np.float64], units: int) -> Interval | None:
    """Return the 95 % interval from the figures of some resamples; those that are NaN are left out.

    ``units``: how many were resampled. The percentiles are expanded, by t with units - 1 degrees of
    freedom and sqrt(n / (n - 1)), since resamples of few units spread too little (Hesterberg 2015,
    The American Statistician 69). None for a single unit, or without a figure.
    """
    known = values[np.isfinite(values)]
    if units < 2 or not len(known):
        return None
    tail = scipy.special.ndtr(-math.sqrt(units / (units - 1)) * t_quantile(0.975, units - 1))
    low, high = np.quantile(known, [tail, 1 - tail]).tolist()
    return low, high
