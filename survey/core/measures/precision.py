"""Precision, recall and measures made of them: average precision, bpref, weighted precision.

Rank-biased precision and INST weigh each position by the chance that a user looks at it.

A function without ``ranks`` returns a sum over the positions (``RankSum``), whose ``values``
takes ranks (lists, relevant), an item that was not retrieved at infinity, and returns (lists,).
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.lists import ItemNumbers, Ranks, RankSum, Values, Weights

CUTOFFS = tuple(range(10, 101, 10))
# Levels of recall in tenths: 0.0, 0.1, …, 1.0, and the three of the MNRO paper's Section 2.
ELEVEN_LEVELS = tuple(range(11))
THREE_LEVELS = (2, 5, 8)


def count_within(cutoff: int, finish: Callable[[NDArray[Any]], Values]) -> RankSum:
    """Return finish(A_k): A_k counts the relevant items among the first ``cutoff``.

    Source: MNRO paper, Section 2.
    """
    return RankSum(lambda _, ranks: ranks <= cutoff, finish)


def precision(cutoff: int) -> RankSum:
    """Return P_k = A_k / k, the share of the first k results that is relevant.

    ``cutoff``: k ≥ 1, also beyond the end of a list, where nothing relevant follows.
    Values in [0, 1], higher is better.

    Source: MNRO paper, Section 2; the lecture's Precision@K; TREC's P_k.
    """
    return count_within(cutoff, lambda count: count / cutoff)


def recall(relevant: int, cutoff: int) -> RankSum:
    """Return R_k = A_k / NG, the share of the relevant items among the first k results.

    ``relevant``: NG; ``cutoff`` as for ``precision``. Values in [0, 1], higher is better.
    R_100 is the R100 of the MiAlbum protocol (its Eq. 6).

    Source: MNRO paper, Section 2; the lecture's Recall@K; TREC's recall_k.
    """
    return count_within(cutoff, lambda count: count / relevant)


def f_measure(relevant: int, cutoff: int, beta: Fraction = Fraction(1)) -> RankSum:
    """Return F_β = (1 + β²) P_k R_k / (β² P_k + R_k), 0 where nothing relevant is in the first k.

    With P_k = A/k and R_k = A/NG this is (1 + β²) A / (β² NG + k). β > 1 weighs recall
    higher, β < 1 precision. Arguments as for ``recall``. Values in [0, 1], higher is better.

    Source: MNRO paper, Eqs. 1–2. Eq. 2 prints (1 + β)²; with β = 1 that would be twice
    Eq. 1, so the usual 1 + β² is taken (van Rijsbergen 1979).
    """
    # With β² = p/q in whole numbers, so that equal values are equal as floats.
    p, q = (beta * beta).as_integer_ratio()
    return count_within(cutoff, lambda count: (p + q) * count / (p * relevant + q * cutoff))


def generality(cutoff: int, collection_size: int) -> RankSum:
    """Return g_k = A_k / N, the share of the collection that is relevant and in the first k.

    At k = N this is NG/N, the generality of the query by which MNRO sets its K (Eq. 14).
    ``cutoff`` as for ``precision``. Values in [0, 1], higher is better.

    Source: MNRO paper, Section 2 ("relevant fraction").
    """
    return count_within(cutoff, lambda count: count / collection_size)


def r_precision(relevant: int) -> RankSum:
    """Return P_NG, the precision after as many results as there are relevant items.

    Values in [0, 1], higher is better; recall after NG results is the same number.

    Source: MNRO paper, Section 2 ("R-value"); TREC's Rprec.
    """
    return precision(relevant)


def reciprocal_rank() -> RankSum:
    """Return RR = 1 / r_1, the inverse of the first relevant item's position.

    Values in [0, 1], higher is better; 0 where nothing relevant was retrieved.
    Its mean over queries is MRR.

    Source: TREC's recip_rank (Voorhees 1999).
    """
    return RankSum(lambda items, ranks: (items == 1) / ranks, lambda total: total)


def rank_biased_precision(persistence: float) -> RankSum:
    """Return RBP = (1 − p) Σ p^(r − 1) over the relevant items retrieved.

    A user goes on from each result to the next with probability p; RBP is the relevant share
    of what they look at. ``persistence``: 0 < p < 1. Values in [0, 1), higher is better; 0
    where nothing relevant was retrieved, 1 − p^NG when the relevant items come first. How
    many there are is not read, so a query with few has a low value whatever the list.

    Source: Moffat and Zobel 2008, binary relevance.
    """
    return RankSum(
        lambda _, ranks: persistence ** (ranks - 1), lambda total: (1 - persistence) * total
    )


def inst(ranks: Ranks, wanted: int) -> Values:
    """Compute INST = Σ W(r) over the relevant items retrieved, W adapting to what was seen.

    A user who wants T relevant items goes on from position i with probability
    C(i) = ((i + T + T_i − 1) / (i + T + T_i))², where T_i = T less the relevant items among the
    first i, and W(i + 1) / W(i) = C(i). The weights of all positions, to infinity, add up to 1.
    Algorithm 1 of the source stops at 20,000 or 200,000 positions, C/W/L at 1,000; between two
    relevant items the product of C is a ratio of squares, so the sum is taken to its end.

    ``ranks``: (lists, relevant), an item that was not retrieved at infinity; ``wanted``:
    T ≥ 1. Returns (lists,) in [0, 1), higher is better; 0 where nothing relevant was retrieved.

    Source: Moffat, Bailey, Scholer and Thomas 2015, binary relevance, as its authors and
    Koopman and Zuccon implement it (C/W/L, inst_eval); the paper itself could not be had.
    """
    from scipy.special import zeta  # a quarter of a second, which other measures need not wait for

    weight, gained, looked_at = np.ones(len(ranks)), np.zeros(len(ranks)), np.ones(len(ranks))
    start = np.full(len(ranks), 2.0 * wanted)  # i + T + T_i − 1 at the last relevant item
    columns = [*ranks.T.astype(np.float64), np.full(len(ranks), np.inf)]
    for number, rank in enumerate(columns):
        end = rank + 2 * wanted - number
        looked_at += weight * start**2 * (zeta(2, start + 1) - zeta(2, end))
        weight = weight * (start / (end - 1)) ** 2
        gained += weight
        start = np.where(np.isfinite(rank), end - 2, 1.0)
    return np.asarray(gained / looked_at)


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
    where that recall is never reached. ``tenths``: the levels as tenths, 0…10
    (``ELEVEN_LEVELS``) or 2, 5, 8 (``THREE_LEVELS``). Other arguments as for
    ``average_precision``. Returns (lists,) in [0, 1], higher is better.

    Source: the lecture's eleven-point interpolated AP (TREC's 11pt_avg); MNRO paper,
    Section 2, the 3-point average at recall 0.2, 0.5, 0.8.
    """
    return np.asarray(interpolated_precision(ranks, tenths).mean(axis=1))


def interpolated_precision(
    ranks: Ranks, tenths: Sequence[int] = ELEVEN_LEVELS
) -> NDArray[np.float64]:
    """Compute P(ρ) at each level of recall, (lists, levels): see interpolated AP."""
    relevant = ranks.shape[1]
    precisions = np.arange(1, relevant + 1) / ranks
    highest = np.maximum.accumulate(precisions[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(highest[:, _reaching_items(relevant, tenths)])


def interpolated_average_precision_exact(
    ranks: Sequence[int], tenths: Sequence[int] = ELEVEN_LEVELS
) -> Fraction:
    """Compute the interpolated AP of one list as a fraction, for comparing without rounding."""
    precisions = [Fraction(k, rank) for k, rank in enumerate(ranks, 1)]
    highest = [max(precisions[index:]) for index in _reaching_items(len(ranks), tenths)]
    return sum(highest, Fraction(0)) / len(highest)


def bpref(relevant: int, judged: int) -> RankSum:
    """Return bpref = (1/R) Σ_r 1 − min(n_r, R) / min(R, J), over the relevant items retrieved.

    R is the number of relevant items, J that of items judged not relevant, n_r the number
    of these above r; unjudged items do not count. It is a sum over the positions among judged
    items only, so that n_r = r_k − k. ``relevant``: R; ``judged``: R + J.
    Values in [0, 1], higher is better; 1 when no item judged not relevant is above a
    relevant one, and for J = 0 the share of relevant items that were retrieved.

    Source: Buckley and Voorhees 2004 as corrected in trec_eval; named in the MNRO paper,
    Sections 5.4 and 6.
    """
    most = max(1, min(relevant, judged - relevant))

    # In whole numbers up to the last division, so that equal values are equal as floats.
    def preferred(items: ItemNumbers, condensed: Ranks) -> NDArray[np.float64]:
        above = np.minimum(condensed - items, relevant)
        return np.where(np.isfinite(condensed), most - np.minimum(above, most), 0.0)

    return RankSum(preferred, lambda total: total / (most * relevant))


def mean_precision(ranks: Ranks) -> Values:
    """Compute the mean of P_N over N = 10, 20, …, 100, which MiAlbum calls average precision.

    It is another measure than AP. Returns (lists,) in [0, 1], higher is better.

    Source: MiAlbum protocol, Eq. 4, lost as an image: "the average precision of un-weighted
    precision after the first 10 to 100 documents". Steps of ten are our reading.
    """
    return np.asarray(np.mean([precision(cutoff).values(ranks) for cutoff in CUTOFFS], axis=0))


def weighted_precision(ranks: Ranks, weights: Weights, cutoff: int) -> Values:
    """Compute P^w_N = (1/N) Σ w_j over the relevant items among the first N.

    ``ranks``, ``weights``: (lists, relevant); ``cutoff``: N ≥ 1. Returns (lists,) in [0, 1],
    higher is better; equal to P_N when all annotators chose every relevant item.

    Source: MiAlbum protocol, Eq. 3, lost as an image. Division by N is our choice, so that
    unanimous weights give Eq. 2 and weights can only lower the value; division by the highest
    possible sum of weights would make it a measure of recall.
    """
    return np.asarray(np.where(ranks <= cutoff, weights, 0.0).sum(axis=1) / cutoff)


def rank_weighted_precision(ranks: Ranks, weights: Weights, cutoff: int) -> Values:
    """Compute Pr_N = Σ w_j (N + 1 − r_j) / (1 + 2 + … + N) over those among the first N.

    ``ranks``, ``weights``: (lists, relevant); ``cutoff``: N ≥ 1. Returns (lists,) in [0, 1],
    higher is better: 1 where the first N all have weight 1. Rank 1 counts N times as much as
    rank N, so that of two lists with the same first N that is better which has the heavier first.

    Source: ours, for MiAlbum's Eq. 12, “with rank consideration”, which is lost.
    """
    shares = np.where(ranks <= cutoff, weights * (cutoff + 1 - ranks), 0.0)
    return np.asarray(shares.sum(axis=1) / (cutoff * (cutoff + 1) / 2))


def mean_weighted_precision(ranks: Ranks, weights: Weights) -> Values:
    """Compute the mean of P^w_N over N = 10, 20, …, 100: MiAlbum's weighted average precision.

    Returns (lists,) in [0, 1], higher is better.

    Source: MiAlbum protocol, Eq. 5, lost as an image; read as Eq. 4.
    """
    return np.asarray(
        np.mean([weighted_precision(ranks, weights, cutoff) for cutoff in CUTOFFS], axis=0)
    )


def _reaching_items(relevant: int, tenths: Sequence[int]) -> list[int]:
    """Return for each level of recall the index of the relevant item that reaches it."""
    return [max(0, -(-level * relevant // 10) - 1) for level in tenths]
