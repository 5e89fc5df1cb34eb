"""Average precision, whole, up to a cut-off, and interpolated at levels of recall."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from survey.core.measures.ranks import Ranks, RankSum, Values

# Levels of recall in tenths: 0.0, 0.1, …, 1.0, and the three of the MNRO paper's Section 2.
ELEVEN_LEVELS = tuple(range(11))
THREE_LEVELS = (2, 5, 8)


def average_precision(ranks: Ranks) -> Values:
    """AP = (1/NG) Σ_k k / r_k over the sorted positions r_1 < … < r_NG of the relevant items.

    ``ranks``: (lists, relevant) from ``as_ranks``, an item that did not come back at
    infinity; returns (lists,). Range [0, 1], higher is better; 1 when the relevant items
    fill the first NG positions, 0 when none came back.
    A list without relevant items has no AP (``as_ranks`` refuses it).

    Source: MNRO paper, Eq. 3 (its tables show 1-AP). Its mean over queries is MAP.
    """
    return average_precision_sum(ranks.shape[1]).of(ranks)


def average_precision_sum(relevant: int) -> RankSum:
    """Return AP of ``relevant`` items as a sum: k / r_k, divided by NG."""
    return RankSum(lambda places, ranks: places / ranks, lambda total: total / relevant)


def average_precision_exact(ranks: Sequence[int]) -> Fraction:
    """Return the AP of one list as a fraction, for comparing lists without rounding."""
    return sum((Fraction(k, rank) for k, rank in enumerate(ranks, 1)), Fraction(0)) / len(ranks)


def average_precision_at(ranks: Ranks, cutoff: int) -> Values:
    """AP@p = Σ_{m≤p} P_m rel_m / Σ_{m≤p} rel_m, the mean precision at the relevant items found.

    The mean goes over what was found among the first p, not over NG, so one late find can
    lower it: a relevant item alone at position 1 has AP@10 = 1, with a second one at
    position 10 it is 0.6. (trec_eval's map_cut_p divides by NG.)

    Arguments as for ``average_precision``; ``cutoff``: p ≥ 1. Returns (lists,) in [0, 1],
    higher is better; 0 where nothing relevant stands among the first p.

    Source: the mAP/nDCG definitions, Eqs. 2–3. Its mean over queries is mAP@p.
    """
    found = np.arange(1, ranks.shape[1] + 1)
    within = ranks <= cutoff
    earned = np.where(within, found / ranks, 0.0).sum(axis=1)
    return np.asarray(earned / np.maximum(within.sum(axis=1), 1))


def average_precision_at_exact(ranks: Sequence[int], cutoff: int) -> Fraction:
    """Return the AP@p of one list as a fraction."""
    within = [rank for rank in ranks if rank <= cutoff]
    return average_precision_exact(within) if within else Fraction(0)


def interpolated_average_precision(ranks: Ranks, tenths: Sequence[int] = ELEVEN_LEVELS) -> Values:
    """The mean over levels of recall ρ of the highest precision at a recall of ρ or more.

    P(ρ) = max { k / r_k : k ≥ ρ NG }, 0 where that much is never reached. ``tenths``: the
    levels as tenths, 0…10 (``ELEVEN_LEVELS``) or 2, 5, 8 (``THREE_LEVELS``). Other arguments
    as for ``average_precision``. Returns (lists,) in [0, 1], higher is better.

    Source: the lecture's eleven-point interpolated AP (TREC's 11pt_avg); MNRO paper,
    Section 2, the 3-point average at recall 0.2, 0.5, 0.8.
    """
    relevant = ranks.shape[1]
    precisions = np.arange(1, relevant + 1) / ranks
    highest = np.maximum.accumulate(precisions[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(highest[:, _reached(relevant, tenths)].mean(axis=1))


def interpolated_average_precision_exact(
    ranks: Sequence[int], tenths: Sequence[int] = ELEVEN_LEVELS
) -> Fraction:
    """Return the interpolated AP of one list as a fraction."""
    precisions = [Fraction(k, rank) for k, rank in enumerate(ranks, 1)]
    highest = [max(precisions[index:]) for index in _reached(len(ranks), tenths)]
    return sum(highest, Fraction(0)) / len(highest)


def _reached(relevant: int, tenths: Sequence[int]) -> list[int]:
    """Return for each level the index of the relevant item with which it is reached."""
    return [max(0, -(-level * relevant // 10) - 1) for level in tenths]
