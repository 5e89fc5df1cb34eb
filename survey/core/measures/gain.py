"""Measures for graded relevance: cumulative gain, users who stop, Compat, and over thresholds."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.lists import Grades, Ranks, RankSum, Values, read_only

Numbers = NDArray[np.float64]

NEGLIGIBLE = 1e-20  # of p^i, the last term of Compat's W: below the error of any sum of floats


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


def stop_chances(grades: Grades, highest: int, form: str, *, linear: bool = False) -> Numbers:
    """Compute R, the chance that an item satisfies the user, who then stops; in [0, 1).

    R = (2^grade − 1) / 2^highest; ``linear``: grade / (highest + 1). ``highest``: the highest
    grade of the judges' scale; ``form``: the measure's name before that grade, for messages.

    Raises ValueError for a grade above the highest.

    Source: Chapelle, Metzler, Zhang and Grinspan 2009; NTCIREVAL (linear).
    """
    if (most := int(grades.max())) > highest:
        raise ValueError(
            f"grade {most} found; {form}{highest}@k takes grades up to {highest}, {form}{most}@k "
            f"up to {most}"
        )
    return grades / (highest + 1) if linear else (np.exp2(grades) - 1) / 2.0**highest


def first_stops(ranks: Ranks, stops: Numbers, cutoff: int) -> Numbers:
    """Compute each item's R_i Π_{j<i} (1 − R_j), the chance that the user stops there.

    ``ranks``, ``stops``: (lists, relevant), an item that was not retrieved at infinity, and its
    R; ``cutoff``: k ≥ 1, beyond which the chance is 0.
    """
    within = np.where(ranks <= cutoff, stops, 0.0)
    passed = np.cumprod(1 - within, axis=1)
    return np.asarray(within * np.hstack([np.ones((len(within), 1)), passed[:, :-1]]))


def expected_reciprocal_rank(ranks: Ranks, stops: Numbers, cutoff: int) -> Values:
    """Compute ERR@k = Σ (1 / r_i) R_i Π_{j<i} (1 − R_j), over the relevant items in the first k.

    ``ranks``, ``stops``: (lists, relevant), an item that was not retrieved at infinity, and its
    R (``stop_chances``); ``cutoff``: k ≥ 1. Returns (lists,) in [0, 1), higher is better; 0
    where nothing relevant is among the first k. It is not divided by an ideal.

    Source: Chapelle, Metzler, Zhang and Grinspan 2009; TREC's gdeval, whose highest grade is 4.
    """
    return np.asarray((first_stops(ranks, stops, cutoff) / ranks).sum(axis=1))


def intentwise_rank_biased_utility(
    ranks: Ranks, stops: Numbers, cutoff: int, persistence: float
) -> Values:
    """Compute iRBU@k = Σ p^r R_r Π_{j<r} (1 − R_j), over the relevant items in the first k.

    Arguments as for ``expected_reciprocal_rank``; ``persistence``: 0 < p < 1. Returns (lists,)
    in [0, p), higher is better; 0 where nothing relevant is among the first k.

    Source: Sakai and Zeng 2021, whose text we did not have: R and its scale are our reading. It
    is RBU of a single cluster with e = 0, times p / (1 − p).
    """
    return np.asarray((persistence**ranks * first_stops(ranks, stops, cutoff)).sum(axis=1))


@lru_cache(maxsize=64)
def _overlap_weights(persistence: float) -> Numbers:
    """Return W(1), W(1), W(2), …, 0: W(m) = Σ_{i≥m} p^(i − 1) / i, summed from the far end."""
    depths = np.arange(1, ceil(log(NEGLIGIBLE) / log(persistence)) + 1)
    weights = np.cumsum((persistence ** (depths - 1) / depths)[::-1])[::-1]
    return read_only(np.concatenate([weights[:1], weights, [0.0]]))


def _overlap(positions: NDArray[np.number], persistence: float) -> Numbers:
    weights = _overlap_weights(persistence)
    return np.asarray(weights[np.minimum(positions, len(weights) - 1).astype(np.int64)])


def compatibility(ranks: Ranks, grades: Grades, persistence: float) -> Values:
    """Compute Compat = Σ W(max(a, r)) / Σ W(a), the largest RBO with an ideal list, normalised.

    W(m) = Σ_{i≥m} p^(i − 1) / i. a is the item's place in the ideal list: the relevant items by
    grade, equal grades in the list's own order. ``ranks``, ``grades``: (lists, relevant), an
    item that was not retrieved at infinity; ``persistence``: .1 ≤ p ≤ .99. Returns (lists,) in
    [0, 1], higher is better; 1 for an ideal list, 0 where nothing relevant was retrieved.

    Source: Clarke, Vtyurina and Smucker 2021.
    """
    places = np.argsort(np.argsort(-grades, axis=1, kind="stable"), axis=1) + 1
    gained = _overlap(np.maximum(places, ranks), persistence).sum(axis=1)
    return np.asarray(gained / _overlap(places, persistence).sum(axis=1))


def binary_compatibility(relevant: int, persistence: float) -> RankSum:
    """Return Compat of ``relevant`` items of equal grades, see ``compatibility``, as a sum."""
    ideal = float(_overlap(np.arange(1, relevant + 1), persistence).sum())
    return RankSum(lambda _, ranks: _overlap(ranks, persistence), lambda total: total / ideal)


def row_skipping_weights(
    ranks: Ranks, cutoff: int, columns: int, persistence: float, skipping: float
) -> Numbers:
    """Compute what an item of grade 1 adds to RBP-RS@k = Σ_{r≤k} g_r u_r Σ_{i=r…k} S_i.

    The user looks along a row of pictures, goes on to the next with chance p, and skips any row
    but the first with chance γ: u is 1 in the first row, 1 − γ in others. S_i is the chance to
    stop at position i. Its sum is that of getting to r, less that of getting past k.

    ``ranks``: of any shape; ``cutoff``: k ≥ 1; ``columns``: c ≥ 1, pictures in a row;
    ``persistence``: 0 < p < 1; ``skipping``: 0 ≤ γ < 1. Returns weights of the shape of the
    ranks, which fall from rank to rank, 0 beyond k.

    Source: Xie et al. 2019, the authors' program; we did not have the paper.
    """

    def passed(rows: NDArray[np.number] | int, pictures: NDArray[np.number] | int) -> Numbers:
        """Return the chance that a user reaches this row and looks past its first ``pictures``."""
        going_on = skipping + (1 - skipping) * persistence**columns
        reached = np.where(
            rows == 0, 1.0, persistence**columns * going_on ** np.maximum(np.subtract(rows, 1), 0)
        )
        return np.asarray(reached * (1 - looked_at(rows) * (1 - persistence**pictures)))

    def looked_at(rows: NDArray[np.number] | int) -> Numbers:
        return np.where(rows == 0, 1.0, 1 - skipping)

    within = ranks <= cutoff
    rows, pictures = np.divmod(np.where(within, ranks, 1.0) - 1, columns)
    last, left = divmod(cutoff - 1, columns)
    chances = passed(rows, pictures) - passed(last, left + 1)
    return np.where(within, looked_at(rows) * chances, 0.0)


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
