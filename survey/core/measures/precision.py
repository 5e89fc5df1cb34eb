"""Precision, recall and what is made of both: how many relevant items stand above a cut-off."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.ranks import Ranks, Values


def found_within(ranks: Ranks, cutoff: int) -> NDArray[np.int64]:
    """A_k, the relevant items among the first ``cutoff`` (MNRO paper, Section 2): (lists,)."""
    return np.asarray((ranks <= cutoff).sum(axis=1))


def precision(ranks: Ranks, cutoff: int) -> Values:
    """P_k = A_k / k, the share of the first k results that is relevant.

    ``ranks``: (lists, relevant), an item that did not come back at infinity;
    ``cutoff``: k ≥ 1, also beyond the end of a list, where nothing relevant follows.
    Returns (lists,) in [0, 1], higher is better.

    Source: MNRO paper, Section 2; the lecture's Precision@K; TREC's P_k.
    """
    return np.asarray(found_within(ranks, cutoff) / cutoff)


def recall(ranks: Ranks, cutoff: int) -> Values:
    """R_k = A_k / NG, the share of the relevant items among the first k results.

    Arguments as for ``precision``. Returns (lists,) in [0, 1], higher is better.
    R_100 is the R100 of the MiAlbum protocol (its Eq. 6).

    Source: MNRO paper, Section 2; the lecture's Recall@K; TREC's recall_k.
    """
    return np.asarray(found_within(ranks, cutoff) / ranks.shape[1])


def f_measure(ranks: Ranks, cutoff: int, beta: Fraction = Fraction(1)) -> Values:
    """F_β = (1 + β²) P_k R_k / (β² P_k + R_k), 0 where nothing relevant was found.

    With P_k = A/k and R_k = A/NG this is (1 + β²) A / (β² NG + k). β > 1 weighs recall
    higher, β < 1 precision. Arguments as for ``precision``. Returns (lists,) in [0, 1],
    higher is better.

    Source: MNRO paper, Eqs. 1–2. Eq. 2 prints (1 + β)²; with β = 1 that would be twice
    Eq. 1, so the usual 1 + β² is taken (van Rijsbergen 1979).
    """
    # With β² = p/q in whole numbers, so that equal values are equal as floats.
    p, q = (beta * beta).as_integer_ratio()
    return np.asarray((p + q) * found_within(ranks, cutoff) / (p * ranks.shape[1] + q * cutoff))


def generality(ranks: Ranks, cutoff: int, collection_size: int) -> Values:
    """g_k = A_k / N, the share of the collection that is relevant and among the first k.

    At k = N this is NG/N, the generality of the query by which MNRO sets its K (Eq. 14).
    Arguments as for ``precision``. Returns (lists,) in [0, 1]; higher means more was found.

    Source: MNRO paper, Section 2 ("relevant fraction").
    """
    return np.asarray(found_within(ranks, cutoff) / collection_size)


def r_precision(ranks: Ranks) -> Values:
    """P_NG, the precision after as many results as there are relevant items.

    Returns (lists,) in [0, 1], higher is better; recall is the same there.

    Source: MNRO paper, Section 2 ("R-value"); TREC's Rprec.
    """
    return precision(ranks, ranks.shape[1])


def reciprocal_rank(ranks: Ranks) -> Values:
    """RR = 1 / r_1, the inverse of the first relevant item's position.

    Returns (lists,) in [0, 1], higher is better; 0 where nothing relevant came back.
    Its mean over queries is MRR.

    Source: TREC's recip_rank (Voorhees 1999).
    """
    return np.asarray(1 / ranks[:, 0].astype(np.float64))


def bpref(condensed: Ranks, judged: int) -> Values:
    """bpref = (1/R) Σ_r 1 − min(n_r, R) / min(R, J), over the relevant items that came back.

    R is the number of relevant items, J that of items judged not relevant, n_r the number
    of these above r; unjudged items do not count. ``condensed``: (lists, relevant), the
    positions among judged items only, so that n_r = r_k − k; ``judged``: R + J.
    Returns (lists,) in [0, 1], higher is better; 1 when no item judged not relevant stands
    above a relevant one, and for J = 0 the share of relevant items that came back.

    Source: Buckley and Voorhees 2004 as corrected in trec_eval; named in the MNRO paper,
    Sections 5.4 and 6.
    """
    relevant = condensed.shape[1]
    above = condensed - np.arange(1, relevant + 1)
    capped = np.minimum(above, relevant)
    most = max(1, min(relevant, judged - relevant))
    came_back = np.isfinite(condensed)
    # In whole numbers up to the last division: equal values are equal as floats.
    earned = np.where(came_back, most - np.minimum(capped, most), 0.0)
    return np.asarray(earned.sum(axis=1) / (most * relevant))
