"""Percentile intervals of the bootstrap, of any figure of resampled units."""

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.statistics.significance import SEED, Interval, resample_counts, t_quantile

SAMPLES = 2000
MOST_REMEMBERED = 1000  # units: 16 MB


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


def resampled_sums(
    values: NDArray[np.float64], topics: Sequence[Hashable] | None, seed: int = SEED
) -> tuple[NDArray[np.float64], int]:
    """Add up the rows of values over resampled topics; return (SAMPLES, columns) and their number.

    ``values``: (units, columns); ``topics``: the topic of each unit, all of whose units are drawn
    with it; without them, units are drawn.
    """
    sums = values if topics is None else sums_by_topic(values, topics)
    return np.concatenate([counts @ sums for counts in draws(len(sums), seed)]), len(sums)


def draws(units: int, seed: int = SEED) -> Iterable[NDArray[np.float64]]:
    """Return how often each unit occurs in each of SAMPLES resamples, some resamples at a time.

    Those of the last number of units are remembered: several figures are computed from them.
    """
    return _remembered(units, seed) if units <= MOST_REMEMBERED else _draws(units, seed)


def _draws(units: int, seed: int) -> Iterator[NDArray[np.float64]]:
    return resample_counts(units, SAMPLES, seed)


@lru_cache(maxsize=1)
def _remembered(units: int, seed: int) -> tuple[NDArray[np.float64], ...]:
    return tuple(_draws(units, seed))


def sums_by_topic(values: NDArray[np.float64], topics: Sequence[Hashable]) -> NDArray[np.float64]:
    """Add up the rows (units, ...) of each topic, in the order in which topics first occur."""
    numbers = {topic: number for number, topic in enumerate(dict.fromkeys(topics))}
    sums = np.zeros((len(numbers), *values.shape[1:]))
    np.add.at(sums, [numbers[topic] for topic in topics], values)
    return sums
