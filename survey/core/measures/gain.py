"""Measures for graded relevance: cumulative gain, ERR, Q-measure, and those over thresholds."""

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


def expected_reciprocal_rank(ranks: Ranks, grades: Grades, cutoff: int, highest: int) -> Values:
    """Compute ERR@k = Σ (1 / r_i) R_i Π_{j<i} (1 − R_j), with R = (2^grade − 1) / 2^highest.

    R is the chance that an item satisfies the user, who then stops; the sum runs over the
    relevant items among the first k. ``ranks``, ``grades``: (lists, relevant), an item that
    was not retrieved at infinity; ``cutoff``: k ≥ 1; ``highest``: the highest grade of the
    judges' scale. Returns (lists,) in [0, 1), higher is better; 0 where nothing relevant is
    among the first k. It is not divided by an ideal.

    Raises ValueError for a grade above the highest.

    Source: Chapelle, Metzler, Zhang and Grinspan 2009; TREC's gdeval, whose highest grade is 4.
    """
    if (most := int(grades.max())) > highest:
        raise ValueError(
            f"grade {most} found; ERR{highest}@k takes grades up to {highest}, ERR{most}@k "
            f"up to {most}"
        )
    stops = np.where(ranks <= cutoff, (np.exp2(grades) - 1) / 2.0**highest, 0.0)
    passed = np.cumprod(1 - stops, axis=1)
    reached = np.hstack([np.ones((len(ranks), 1)), passed[:, :-1]])
    return np.asarray((stops * reached / ranks).sum(axis=1))


def q_measure(ranks: Ranks, grades: Grades) -> Values:
    """Compute Q = (1/NG) Σ_k (k + cg(r_k)) / (r_k + cg*(r_k)), a blend of AP and gain.

    cg(r) is the sum of the grades among the first r, cg* that of the ideal list, which has all
    relevant items by grade, highest first. The gain of a grade is the grade, and β, the
    weight of the gains, is 1. ``ranks``, ``grades``: (lists, relevant), an item that was not
    retrieved at infinity. Returns (lists,) in [0, 1], higher is better; 1 for the ideal list, 0
    where nothing relevant was retrieved.

    Source: Sakai 2004 and 2007 (NTCIREVAL, MATTERS).
    """
    relevant = ranks.shape[1]
    ideal = np.cumsum(-np.sort(-grades, axis=1), axis=1)
    best = np.take_along_axis(ideal, np.minimum(ranks, relevant).astype(np.int64) - 1, axis=1)
    blended = np.arange(1, relevant + 1) + np.cumsum(grades, axis=1)
    return np.asarray((blended / (ranks + best)).mean(axis=1))


def graded_average_precision(ranks: Ranks, grades: Grades) -> Values:
    """Compute GAP = Σ_k (1 / r_k) Σ_{m≤k} min(grade_m, grade_k) / Σ_k grade_k.

    Each user has a threshold and takes items of that grade or more as relevant. Every
    threshold from 1 to the highest grade is as likely as the others (the paper's g_i are equal;
    how many there are cancels out), and GAP is the expected sum of precisions over its ideal.
    For grades that are all equal it is AP.

    ``ranks``, ``grades``: (lists, relevant), an item that was not retrieved at infinity.
    Returns (lists,) in [0, 1], higher is better; 1 when the relevant items come first, in
    the order of grades, 0 where none was retrieved.

    Source: Robertson, Kanoulas and Yilmaz 2010, named in the MNRO paper's Section 6.
    """
    total = np.zeros(len(ranks))
    for threshold in range(1, int(grades.max()) + 1):
        counted = grades >= threshold
        total += np.where(counted, np.cumsum(counted, axis=1) / ranks, 0.0).sum(axis=1)
    return np.asarray(total / grades.sum(axis=1))


def _gains(ranks: Ranks, grades: Grades, cutoff: int, form: Discounting) -> Numbers:
    """Return each item's gain over the discount of its position, 0 beyond the cut-off."""
    within = ranks <= cutoff
    discounted = np.where(within, ranks, 1).astype(np.float64)
    gains = form.gain(grades.astype(np.float64)) / form.discount(discounted)
    return np.where(within, gains, 0.0)
