"""Mean normalised retrieval order: a sigmoid of each rank, scaled by generality."""

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.lists import ItemNumbers, Ranks, RankSum, Values, with_missing_last

# The constants as printed below Eq. 15: they put NRO near 0.95 at K. (Exact
# solutions would be −9.36678… and −5.20736….)
B = -9.3668
C = -5.2074


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
