"""Average precision: how early, on average, precision is earned."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from survey.core.measures.ranks import Ranks, Values


def average_precision(ranks: Ranks) -> Values:
    """AP = (1/NG) Σ_k k / r_k over the sorted positions r_1 < … < r_NG of the relevant items.

    ``ranks``: (lists, relevant) from ``as_ranks``; returns (lists,). Range (0, 1],
    higher is better; 1 when the relevant items fill the first NG positions.
    A list without relevant items has no AP (``as_ranks`` refuses it).

    Source: MNRO paper, Eq. 3 (its tables show 1-AP). Its mean over queries is MAP.
    """
    found = np.arange(1, ranks.shape[1] + 1)
    return np.asarray((found / ranks).mean(axis=1))


def average_precision_exact(ranks: Sequence[int]) -> Fraction:
    """Return the AP of one list as a fraction, for comparing lists without rounding."""
    return sum((Fraction(k, rank) for k, rank in enumerate(ranks, 1)), Fraction(0)) / len(ranks)
