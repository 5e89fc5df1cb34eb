"""NMRR, NAR and MNRO: measures made of the relevant items' ranks, from 0 (perfect) to 1."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.lists import ItemNumbers, Ranks, RankSum, Values, with_missing_last

# The constants as printed below Eq. 15: they put NRO near 0.95 at K. (Exact
# solutions would be −9.36678… and −5.20736….)
B = -9.3668
C = -5.2074


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


def mnro(ranks: Ranks, collection_size: int, *, literal_eq15: bool = False) -> Values:
    """Compute MNRO = (1/NG) Σ_k NRO(k), the mean normalised retrieval order.

    NRO(k) = 0 when the k-th relevant item is at rank k, else
    exp(B · exp(C · (r_k − 1) / (K − 1))), a Gompertz curve with B = −9.3668 and
    C = −5.2074; K from ``mnro_horizon``.

    ``ranks``: (lists, relevant) from ``as_ranks``; an item that was not retrieved counts as
    the last of the collection. Returns (lists,). Range [0, 1], lower is better; 0
    when the relevant items fill the first NG positions.

    Source: MNRO paper, Eqs. 14–18. Its mean over queries is AMNRO (Eq. 19).
    """
    return mnro_sum(ranks.shape[1], collection_size, literal_eq15=literal_eq15).values(ranks)


def mnro_sum(relevant: int, collection_size: int, *, literal_eq15: bool = False) -> RankSum:
    """Return MNRO for NG = ``relevant`` as a sum of terms NRO(k), divided by NG."""
    horizon = mnro_horizon(relevant, collection_size, literal_eq15=literal_eq15)

    def order(items: ItemNumbers, ranks: Ranks) -> NDArray[np.float64]:
        counted = with_missing_last(ranks, collection_size)
        arank = (counted - 1) / (horizon - 1)
        return np.where(counted == items, 0.0, np.exp(B * np.exp(C * arank)))

    return RankSum(order, lambda total: total / relevant)


def mnro_horizon(relevant: int, collection_size: int, *, literal_eq15: bool = False) -> float:
    """Return K of Eq. 14: 4 NG where NG/N ≥ 0.01, else F · NG.

    F = 0.04 / (NG/N), so that K = 0.04 N is continuous at NG/N = 0.01.
    ``literal_eq15`` takes Eq. 15 as printed, F = 0.04 / (NG/N) · NG, by which K
    jumps from 4 NG to 4 NG² there. Table 2 of the paper agrees with the
    continuous reading (``survey paper table2``).
    """
    if 100 * relevant >= collection_size:  # generality ≥ 0.01, without a float's error
        return 4.0 * relevant
    f = 0.04 * collection_size / relevant
    return f * relevant * relevant if literal_eq15 else f * relevant
