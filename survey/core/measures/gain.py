"""Cumulative gain of graded lists, discounted in the three ways in use, and normalised.

NMRR and MNRO for graded relevance: an extension of ours, asked for in the paper's Section 6.

Definition. Let G be the highest grade of a list's relevant items, and let M_t, for a
threshold t = 1…G, be the binary measure (NMRR or MNRO) of the same list where the items of
grade t or more count as relevant, and no others. Then

    gM = (1/G) Σ_{t=1}^{G} M_t.

So each grade step weighs alike, as each does in a linear gain, and every M_t has the K of
its own number of relevant items.

It equals the binary measure for binary grades. Proof: if all items have the same grade c,
then G = c and the items of grade ≥ t are all items, for every t ≤ c; so M_t = M for each t,
and gM = (1/c) · c · M = M. With grades 0 and 1, c = 1.

It is 0 exactly when the items of grade ≥ t fill the first positions for every t, that is,
when the list is sorted by grade: the paper's example of X1 X2 X3 and X2 X3 X1 (Section 2),
which the binary measures cannot tell apart. Moving an item up past one of a lower grade
changes the position of one relevant item, and upwards, in the M_t between both grades, and
nothing in the others: it never makes gM worse. The range is that of M, [0, 1], lower is
better.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.ranks import Ranks, RankSum, Values

Grades = NDArray[np.int64]
"""Shape (lists, relevant): how relevant the item at the same place of the ranks is, 1, 2, …"""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Discounting:
    """A way to count gain: ``gain`` of a grade, ``discount`` by which a position divides it."""

    gain: Callable[[Numbers], Numbers]
    discount: Callable[[Numbers], Numbers]


# Gain 2^rel − 1 over log2(i + 1): the mAP/nDCG definitions, Eq. 4 (Burges et al. 2005).
EXPONENTIAL = Discounting(lambda grade: np.exp2(grade) - 1, lambda rank: np.log2(rank + 1))
# Gain rel over log2(i + 1): as trec_eval's ndcg and ndcg_cut have it.
LINEAR = Discounting(lambda grade: grade, lambda rank: np.log2(rank + 1))
# Gain rel, undiscounted at rank 1, over log2 i from rank 2 on: the lecture's
# (Järvelin and Kekäläinen 2002, with base 2).
FROM_RANK_2 = Discounting(lambda grade: grade, lambda rank: np.log2(np.maximum(rank, 2)))
# Gain rel, not discounted at all.
UNDISCOUNTED = Discounting(lambda grade: grade, np.ones_like)


def cumulative_gain(ranks: Ranks, grades: Grades, cutoff: int, how: Discounting) -> Values:
    """CG@k or DCG@k = Σ_{i≤k} gain(rel_i) / discount(i) over the items at positions i ≤ k.

    ``ranks``, ``grades``: (lists, relevant), an item that did not come back at infinity;
    ``cutoff``: k ≥ 1; ``how``: ``UNDISCOUNTED`` for CG, ``EXPONENTIAL``, ``LINEAR`` or
    ``FROM_RANK_2`` for the forms of DCG. Returns (lists,), 0 or more without an upper
    bound, higher is better.

    Source: the lecture (CG, DCG over log2 i); the mAP/nDCG definitions, Eq. 4; trec_eval.
    """
    return np.asarray(_gained(ranks, grades, cutoff, how).sum(axis=1))


def _gained(ranks: Ranks, grades: Grades, cutoff: int, how: Discounting) -> Numbers:
    """What each item brings: its gain over the discount of its position, 0 beyond the cut-off."""
    within = ranks <= cutoff
    reached = np.where(within, ranks, 1).astype(np.float64)
    gained = how.gain(grades.astype(np.float64)) / how.discount(reached)
    return np.where(within, gained, 0.0)


def binary_gain(cutoff: int, how: Discounting) -> RankSum:
    """CG@k or DCG@k of items that all have grade 1: see ``cumulative_gain``."""
    grade = np.ones(1, dtype=np.int64)
    return RankSum(lambda _, ranks: _gained(ranks, grade, cutoff, how), lambda total: total)


def ideal_gain(grades: Grades, cutoff: int, how: Discounting) -> Values:
    """The gain of the ideal ranking: all items by grade, highest first, from rank 1 on."""
    falling = -np.sort(-grades, axis=1)
    places = np.broadcast_to(np.arange(1, grades.shape[1] + 1), grades.shape)
    return cumulative_gain(places, falling, cutoff, how)


def normalised_gain(ranks: Ranks, grades: Grades, cutoff: int, how: Discounting) -> Values:
    """nDCG@k = DCG@k / iDCG@k, where iDCG@k is the DCG@k of the ideal ranking.

    Arguments as for ``cumulative_gain``; the ideal ranking is made of all relevant items,
    also those that did not come back. Returns (lists,) in [0, 1], higher is better; 1 when
    the first k positions hold the items of the highest grades, in the order of grades.

    Source: the lecture; the mAP/nDCG definitions, Eq. 5.
    """
    gained = cumulative_gain(ranks, grades, cutoff, how)
    return np.asarray(gained / ideal_gain(grades, cutoff, how))


def normalised_binary_gain(relevant: int, cutoff: int, how: Discounting) -> RankSum:
    """nDCG@k of ``relevant`` items that all have grade 1: see ``normalised_gain``."""
    ideal = float(ideal_gain(np.ones((1, relevant), dtype=np.int64), cutoff, how)[0])
    return RankSum(binary_gain(cutoff, how).part, lambda total: total / ideal)


def by_thresholds(binary: Callable[[Ranks], Values], ranks: Ranks, grades: Grades) -> Values:
    """Return gM = (1/G) Σ_t M_t of each list (see above), G each list's own highest grade.

    ``binary``: the measure M, (lists, relevant) → (lists,); ``ranks``, ``grades``:
    (lists, relevant). Returns (lists,).

    Source: ours.
    """
    values = np.empty(len(ranks))
    kinds, kind_of = np.unique(grades, axis=0, return_inverse=True)
    for kind, graded in enumerate(kinds):  # lists whose grades stand alike, at once
        rows = np.flatnonzero(kind_of.reshape(-1) == kind)
        levels = np.unique(graded)
        # Between two grades that occur the threshold changes nothing: it counts that often.
        steps = np.diff(levels, prepend=0)
        parts = [binary(ranks[np.ix_(rows, graded >= level)]) for level in levels]
        values[rows] = steps @ np.array(parts) / levels[-1]
    return values
