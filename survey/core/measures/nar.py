"""Normalised average rank: how far the relevant items stand from where they should."""

import numpy as np

from survey.core.measures.ranks import Ranks, Values, completed


def normalised_average_rank(ranks: Ranks, collection_size: int) -> Values:
    """NAR = (Σ_i r_i − Σ_i i) / (N · NG).

    ``ranks``: (lists, relevant); an item that did not come back counts as standing at the
    collection's end. Returns (lists,) in [0, 1 − NG/N], lower is better; 0 when the
    relevant items fill the first NG positions.

    Source: MNRO paper, Eq. 10 (after Müller et al. 2001). Its mean over queries is ANAR
    (Eq. 11).
    """
    relevant = ranks.shape[1]
    whole = completed(ranks, collection_size)
    displaced = (whole - np.arange(1, relevant + 1)).sum(axis=1)
    return np.asarray(displaced / (collection_size * relevant))
