"""Measures for graded relevance: cumulative gain in its forms, and means over grade thresholds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.lists import Grades, Ranks, RankSum, Values

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Discounting:
    """A form of gain: ``gain`` of a grade, divided by the ``discount`` of a position."""

    gain: Callable[[Numbers], Numbers]
    discount: Callable[[Numbers], Numbers]


# Gain 2^rel − 1 over log2(i + 1): the mAP/nDCG definitions, Eq. 4 (Burges et al. 2005).
EXPONENTIAL = Discounting(lambda grade: np.exp2(grade) - 1, lambda rank: np.log2(rank + 1))
# Gain rel over log2(i + 1): as in trec_eval's ndcg and ndcg_cut.
LINEAR = Discounting(lambda grade: grade, lambda rank: np.log2(rank + 1))
# Gain rel, undiscounted at rank 1, over log2 i from rank 2 on: the lecture's
# (Järvelin and Kekäläinen 2002, with base 2).
FROM_RANK_2 = Discounting(lambda grade: grade, lambda rank: np.log2(np.maximum(rank, 2)))
# Gain rel, not discounted at all.
UNDISCOUNTED = Discounting(lambda grade: grade, np.ones_like)


def cumulative_gain(ranks: Ranks, grades: Grades, cutoff: int, form: Discounting) -> Values:
    """Compute CG@k or DCG@k = Σ_{i≤k} gain(rel_i) / discount(i) over the positions i ≤ k.

    ``ranks``, ``grades``: (lists, relevant), an item that was not retrieved at infinity;
    ``cutoff``: k ≥ 1; ``form``: ``UNDISCOUNTED`` for CG, ``EXPONENTIAL``, ``LINEAR`` or
    ``FROM_RANK_2`` for the forms of DCG. Returns (lists,), 0 or more without an upper
    bound, higher is better.

    Source: the lecture (CG, DCG over log2 i); the mAP/nDCG definitions, Eq. 4; trec_eval.
    """
    return np.asarray(_gains(ranks, grades, cutoff, form).sum(axis=1))


def binary_gain(cutoff: int, form: Discounting) -> RankSum:
    """Return CG@k or DCG@k of items that all have grade 1, see ``cumulative_gain``, as a sum."""
    grade = np.ones(1, dtype=np.int64)
    return RankSum(lambda _, ranks: _gains(ranks, grade, cutoff, form), lambda total: total)


def ideal_gain(grades: Grades, cutoff: int, form: Discounting) -> Values:
    """Compute the gain of the ideal list: all items by grade, highest first, from rank 1 on."""
    falling = -np.sort(-grades, axis=1)
    ranks = np.broadcast_to(np.arange(1, grades.shape[1] + 1), grades.shape)
    return cumulative_gain(ranks, falling, cutoff, form)


def normalised_gain(ranks: Ranks, grades: Grades, cutoff: int, form: Discounting) -> Values:
    """Compute nDCG@k = DCG@k / iDCG@k, where iDCG@k is the DCG@k of the ideal list.

    Arguments as for ``cumulative_gain``; the ideal list holds all relevant items, also
    those that were not retrieved. Returns (lists,) in [0, 1], higher is better; 1 when
    the first k positions hold the items of the highest grades, in the order of grades.

    Source: the lecture; the mAP/nDCG definitions, Eq. 5.
    """
    gains = cumulative_gain(ranks, grades, cutoff, form)
    return np.asarray(gains / ideal_gain(grades, cutoff, form))


def normalised_binary_gain(relevant: int, cutoff: int, form: Discounting) -> RankSum:
    """Return nDCG@k of ``relevant`` items of grade 1, see ``normalised_gain``, as a sum."""
    ideal = float(ideal_gain(np.ones((1, relevant), dtype=np.int64), cutoff, form)[0])
    return RankSum(binary_gain(cutoff, form).term, lambda total: total / ideal)


def mean_over_thresholds(binary: Callable[[Ranks], Values], ranks: Ranks, grades: Grades) -> Values:
    """Extend a binary measure M to grades: gM = (1/G) Σ_{t=1}^{G} M_t.

    G is the highest grade of a list's relevant items. M_t is M of the same list where the
    items of grade t or more count as relevant, and no others. Each grade step has the same
    weight, as in a linear gain, and every M_t has the K of its own number of relevant items.

    ``binary``: M, NMRR or MNRO, from ranks (lists, relevant) to values (lists,); ``ranks``,
    ``grades``: (lists, relevant). Returns (lists,) in the range of M, [0, 1], lower is better.

    It equals M for binary grades, is 0 exactly when the list is sorted by grade, and never gets
    worse when an item moves up past one of a lower grade; docs/measures.md says why.

    Source: ours, asked for in the paper's Section 6.
    """
    values = np.empty(len(ranks))
    patterns, pattern_of = np.unique(grades, axis=0, return_inverse=True)
    for index, pattern in enumerate(patterns):  # lists with the same grades, together
        rows = np.flatnonzero(pattern_of.reshape(-1) == index)
        levels = np.unique(pattern)
        # M_t is the same for all t between two grades that occur, so it counts that often.
        steps = np.diff(levels, prepend=0)
        parts = [binary(ranks[np.ix_(rows, pattern >= level)]) for level in levels]
        values[rows] = steps @ np.array(parts) / levels[-1]
    return values


def _gains(ranks: Ranks, grades: Grades, cutoff: int, form: Discounting) -> Numbers:
    """Return each item's gain over the discount of its position, 0 beyond the cut-off."""
    within = ranks <= cutoff
    discounted = np.where(within, ranks, 1).astype(np.float64)
    gains = form.gain(grades.astype(np.float64)) / form.discount(discounted)
    return np.where(within, gains, 0.0)
