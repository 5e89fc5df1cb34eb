"""Measures from the mean rank: NMRR, the measure of MPEG-7, and the normalised average rank."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from survey.core.measures.lists import Ranks, RankSum, Values, with_missing_last


def nmrr(ranks: Ranks, gmt: int | None = None) -> Values:
    """Compute NMRR = MRR / (1.25 K − 0.5 (1 + NG)), with MRR = AVR − 0.5 (1 + NG).

    AVR is the mean of the ranks, where a rank beyond K counts as 1.25 K, and
    K = 4 NG (2 NG where NG > 50), capped by 2 GMT when ``gmt``, the largest NG
    of all queries, is given.

    ``ranks``: (lists, relevant) from ``as_ranks``; returns (lists,). Range [0, 1],
    lower is better; 0 when the relevant items fill the first NG positions, 1 when
    none is within the first K. Raises ValueError when ``gmt`` is below NG.

    Source: MNRO paper, Eqs. 5–8, read as in Table 1 ("after the 20th position":
    K = 4 NG, no cap, for NG = 5) and with Eq. 12 as "Rank > K". Its mean over
    queries is ANMRR.
    """
    return nmrr_sum(ranks.shape[1], gmt).values(ranks)


def nmrr_sum(relevant: int, gmt: int | None = None) -> RankSum:
    """Return NMRR for NG = ``relevant`` as a sum of ranks (1.25 K beyond K), normalised."""
    horizon = nmrr_horizon(relevant, gmt)
    late, perfect = 1.25 * horizon, 0.5 * (1 + relevant)
    return RankSum(
        lambda _, ranks: np.where(ranks > horizon, late, ranks),
        lambda total: (total / relevant - perfect) / (late - perfect),
    )


def nmrr_exact(ranks: Sequence[int], gmt: int | None = None) -> Fraction:
    """Compute the NMRR of one list as a fraction, so that lists compare without rounding."""
    relevant = len(ranks)
    horizon = nmrr_horizon(relevant, gmt)
    late = Fraction(5 * horizon, 4)
    perfect = Fraction(1 + relevant, 2)
    total = sum((late if rank > horizon else Fraction(rank) for rank in ranks), Fraction(0))
    return (total / relevant - perfect) / (late - perfect)


def nmrr_horizon(relevant: int, gmt: int | None = None) -> int:
    """Return K, the last position that still counts as retrieved (MNRO paper, Eq. 6)."""
    horizon = (2 if relevant > 50 else 4) * relevant
    if gmt is None:
        return horizon
    if gmt < relevant:
        raise ValueError(
            f"GMT is {gmt}, but a list has {relevant} relevant items; "
            "GMT is the largest such number over all queries"
        )
    return min(horizon, 2 * gmt)


def normalised_average_rank(relevant: int, collection_size: int) -> RankSum:
    """Return NAR = (Σ_i r_i − Σ_i i) / (N · NG), a sum of r_i − i.

    ``relevant``: NG; ``collection_size``: N; an item that was not retrieved
    counts as the last of the collection. Values in [0, 1 − NG/N], lower is better; 0 when the
    relevant items fill the first NG positions.

    Source: MNRO paper, Eq. 10 (after Müller et al. 2001). Its mean over queries is ANAR
    (Eq. 11).
    """
    return RankSum(
        lambda items, ranks: with_missing_last(ranks, collection_size) - items,
        lambda total: total / (collection_size * relevant),
    )
