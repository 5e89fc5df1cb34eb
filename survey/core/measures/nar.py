"""Normalised average rank: how far the relevant items stand from where they should."""

from survey.core.measures.rank_sum import RankSum
from survey.core.measures.ranks import completed


def normalised_average_rank(relevant: int, collection_size: int) -> RankSum:
    """NAR = (Σ_i r_i − Σ_i i) / (N · NG), a sum of r_i − i.

    ``relevant``: NG; ``collection_size``: N; an item that did not come back counts as
    standing at the collection's end. Values in [0, 1 − NG/N], lower is better; 0 when the
    relevant items fill the first NG positions.

    Source: MNRO paper, Eq. 10 (after Müller et al. 2001). Its mean over queries is ANAR
    (Eq. 11).
    """
    return RankSum(
        lambda places, ranks: completed(ranks, collection_size) - places,
        lambda total: total / (collection_size * relevant),
    )
