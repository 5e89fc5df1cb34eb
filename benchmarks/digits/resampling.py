"""Chance under a seed, and what resampling says: intervals, and a test of differences."""

from collections.abc import Sequence

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from survey.core.measures import Values

Interval = tuple[float, float]
Weights = NDArray[np.float64]
"""How often each unit stands in each resample, as a share: (units, resamples)."""


def stream(seed: int, *key: int) -> Generator:
    """Return the random numbers for one purpose, apart from those for any other."""
    return Generator(PCG64(SeedSequence(seed, spawn_key=key)))


def resampled(units: int, resamples: int, chance: Generator) -> Weights:
    """Draw units with replacement, as many as there are, ``resamples`` times."""
    return chance.multinomial(units, np.full(units, 1 / units), resamples).T / units


def middle(drawn: Sequence[float] | NDArray[np.float64]) -> Interval:
    """The interval that holds the middle 95 % of what was drawn."""
    low, high = np.percentile(drawn, (2.5, 97.5))
    return float(low), float(high)


def one_tailed(differences: Values, weights: Weights) -> float:
    """The p value of a paired bootstrap test that the mean difference is 0, one-tailed.

    t = mean / s of ``differences`` (queries,), as seen, and t* in resamples of the
    differences shifted to mean 0; p = (1 + number of t* at least as large as t, on its
    side) / (1 + resamples). The side is the one seen, so that of two descriptors either
    may be the better one. 1 where all differences are 0.

    Source: Sakai 2006, "Evaluating evaluation metrics based on the bootstrap". The MNRO
    paper (Section 5.4) says "a bootstrap test, one-tailed" and no more.
    """
    mean = float(differences.mean())
    if not differences.any():
        return 1.0
    null = np.sign(mean) * (differences - mean)
    means = null @ weights
    variances = np.maximum(null**2 @ weights - means**2, np.finfo(float).tiny)
    as_large = means * differences.std() >= abs(mean) * np.sqrt(variances)
    return float((1 + as_large.sum()) / (1 + len(means)))
