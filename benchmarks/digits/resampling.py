"""Chance under a seed, and the intervals that resampling gives."""

from collections.abc import Sequence

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

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
