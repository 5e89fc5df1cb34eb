"""Measures of the MiAlbum protocol: relevance weighted by how many annotators saw it."""

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.precision import precision
from survey.core.measures.ranks import Ranks, Values

Weights = NDArray[np.float64]
"""Shape (lists, relevant): the share of annotators who chose the item, above 0 and up to 1, as
``survey.core.assessors`` merges it (MiAlbum protocol, Eq. 1)."""

CUTOFFS = tuple(range(10, 101, 10))


def weighted_precision(ranks: Ranks, weights: Weights, cutoff: int) -> Values:
    """P^w_N = (1/N) Σ w_j over the relevant items among the first N.

    ``ranks``, ``weights``: (lists, relevant); ``cutoff``: N ≥ 1. Returns (lists,) in [0, 1],
    higher is better; equal to P_N when all annotators chose every relevant item.

    Source: MiAlbum protocol, Eq. 3, lost as an image. Chosen is division by N, so that
    unanimous weights give Eq. 2 and weights can only lower it; dividing by the attainable
    sum of weights would make a measure of recall of it.
    """
    return np.asarray(np.where(ranks <= cutoff, weights, 0.0).sum(axis=1) / cutoff)


def mean_precision(ranks: Ranks) -> Values:
    """The mean of P_N over N = 10, 20, …, 100, which MiAlbum calls average precision.

    It is another thing than AP. Returns (lists,) in [0, 1], higher is better.

    Source: MiAlbum protocol, Eq. 4, lost as an image: "the average precision of un-weighted
    precision after the first 10 to 100 documents". Steps of ten are our reading.
    """
    return np.asarray(np.mean([precision(cutoff).of(ranks) for cutoff in CUTOFFS], axis=0))


def mean_weighted_precision(ranks: Ranks, weights: Weights) -> Values:
    """The mean of P^w_N over N = 10, 20, …, 100: MiAlbum's weighted average precision.

    Returns (lists,) in [0, 1], higher is better.

    Source: MiAlbum protocol, Eq. 5, lost as an image; read as Eq. 4.
    """
    return np.asarray(
        np.mean([weighted_precision(ranks, weights, cutoff) for cutoff in CUTOFFS], axis=0)
    )
