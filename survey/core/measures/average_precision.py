"""Average precision, whole, up to a cut-off, and interpolated at levels of recall."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from survey.core.measures.ranks import Ranks, RankSum, Values

# Levels of recall in tenths: 0.0, 0.1, …, 1.0, and the three of the MNRO paper's Section 2.
ELEVEN_LEVELS = tuple(range(11))
THREE_LEVELS = (2, 5, 8)


def average_precision(ranks: Ranks) -> Values:
    """Compute AP = (1/NG) Σ_k k / r_k, with r_1 < … < r_NG the positions of the relevant items.

    ``ranks``: (lists, relevant) from ``as_ranks``, an item that was not retrieved at
    infinity; returns (lists,). Range [0, 1], higher is better; 1 when the relevant items
    fill the first NG positions, 0 when none was retrieved.
    A list without relevant items has no AP (``as_ranks`` rejects it).

    Source: MNRO paper, Eq. 3 (its tables show 1-AP). Its mean over queries is MAP.
    """
    return average_precision_sum(ranks.shape[1]).values(ranks)


def average_precision_sum(relevant: int) -> RankSum:
    """Return AP for NG = ``relevant`` as a sum of terms k / r_k, divided by NG."""
    return RankSum(lambda items, ranks: items / ranks, lambda total: total / relevant)


def average_precision_exact(ranks: Sequence[int]) -> Fraction:
    """Compute the AP of one list as a fraction, so that lists compare without rounding."""
    return sum((Fraction(k, rank) for k, rank in enumerate(ranks, 1)), Fraction(0)) / len(ranks)


def average_precision_at(ranks: Ranks, cutoff: int) -> Values:
    """Compute AP@p = Σ_{m≤p} P_m rel_m / Σ_{m≤p} rel_m, a mean precision.

    The mean is over the relevant items among the first p, not over NG, so one more relevant
    item far down can lower it: a relevant item alone at position 1 has AP@10 = 1, with a
    second one at position 10 it is 0.6. (trec_eval's map_cut_p divides by NG.)

    Arguments as for ``average_precision``; ``cutoff``: p ≥ 1. Returns (lists,) in [0, 1],
    higher is better; 0 where nothing relevant is among the first p.

    Source: the mAP/nDCG definitions, Eqs. 2–3. Its mean over queries is mAP@p.
    """
    items = np.arange(1, ranks.shape[1] + 1)
    within = ranks <= cutoff
    earned = np.where(within, items / ranks, 0.0).sum(axis=1)
    return np.asarray(earned / np.maximum(within.sum(axis=1), 1))


def average_precision_at_exact(ranks: Sequence[int], cutoff: int) -> Fraction:
    """Compute the AP@p of one list as a fraction, so that lists compare without rounding."""
    within = [rank for rank in ranks if rank <= cutoff]
    return average_precision_exact(within) if within else Fraction(0)


def interpolated_average_precision(ranks: Ranks, tenths: Sequence[int] = ELEVEN_LEVELS) -> Values:
    """Compute interpolated AP: the mean of P(ρ) over levels of recall ρ.

    P(ρ) = max { k / r_k : k ≥ ρ NG }, the highest precision at a recall of ρ or more; 0
    where that recall is never reached. ``tenths``: the
    levels as tenths, 0…10 (``ELEVEN_LEVELS``) or 2, 5, 8 (``THREE_LEVELS``). Other arguments
    as for ``average_precision``. Returns (lists,) in [0, 1], higher is better.

    Source: the lecture's eleven-point interpolated AP (TREC's 11pt_avg); MNRO paper,
    Section 2, the 3-point average at recall 0.2, 0.5, 0.8.
    """
    relevant = ranks.shape[1]
    precisions = np.arange(1, relevant + 1) / ranks
    highest = np.maximum.accumulate(precisions[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(highest[:, _reaching_items(relevant, tenths)].mean(axis=1))


def interpolated_average_precision_exact(
    ranks: Sequence[int], tenths: Sequence[int] = ELEVEN_LEVELS
) -> Fraction:
    """Compute the interpolated AP of one list as a fraction, for comparing without rounding."""
    precisions = [Fraction(k, rank) for k, rank in enumerate(ranks, 1)]
    highest = [max(precisions[index:]) for index in _reaching_items(len(ranks), tenths)]
    return sum(highest, Fraction(0)) / len(highest)


def _reaching_items(relevant: int, tenths: Sequence[int]) -> list[int]:
    """Return for each level of recall the index of the relevant item that reaches it."""
    return [max(0, -(-level * relevant // 10) - 1) for level in tenths]
