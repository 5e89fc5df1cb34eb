"""How far assessors chose the same documents for a topic."""

from dataclasses import dataclass
from math import fsum

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.raters import alpha_ordinal, kappa_of
from survey.core.assessors.labels import Judgements


@dataclass(frozen=True)
class ChoiceAgreement:
    """How far the assessors of one topic agree; None where undefined, and ``why``.

    ``documents``: those that at least one assessor listed; kappa and alpha rest on them
    alone. So where files list chosen documents only, nobody's “not chosen” is counted as an
    agreement, both are low however well the sets match, and ``jaccard`` is the one to read.
    """

    topic: str
    assessors: int
    documents: int
    chosen_by_all: int
    chosen_by_one: int
    jaccard: float | None
    fleiss_kappa: float | None
    krippendorff_alpha: float | None
    why: str | None


def choice_agreement(topic: Judgements) -> ChoiceAgreement:
    """Say how far a topic's assessors agree; the order of the assessors does not matter."""
    chosen = topic.grades > 0
    counts = topic.chosen
    return ChoiceAgreement(
        topic=topic.topic,
        assessors=topic.assessors,
        documents=len(topic.documents),
        chosen_by_all=int(np.count_nonzero(counts == topic.assessors)),
        chosen_by_one=int(np.count_nonzero(counts == 1)),
        jaccard=mean_jaccard(chosen),
        fleiss_kappa=fleiss_kappa(counts, topic.assessors),
        krippendorff_alpha=alpha_ordinal(topic.grades.tolist()),
        why=_why(chosen),
    )


def mean_jaccard(chosen: NDArray[np.bool_]) -> float | None:
    """Mean of |A ∩ B| / |A ∪ B| over all pairs of assessors' sets A, B; in [0, 1].

    ``chosen``: of shape (documents, assessors). Pairs that chose nothing at all (0/0) are
    left out; None where no pair is left, as with a single assessor (Jaccard 1912).
    """
    common = chosen.T.astype(np.int64) @ chosen.astype(np.int64)
    sizes = np.diag(common)
    either = sizes[:, np.newaxis] + sizes - common
    pairs = np.triu(either > 0, k=1)
    if not pairs.any():
        return None
    shares = (common[pairs] / either[pairs]).tolist()
    return fsum(shares) / len(shares)  # the same to the last digit in any order of assessors


def fleiss_kappa(counts: NDArray[np.int64], assessors: int) -> float | None:
    """Fleiss' kappa of chosen or not, at most 1; 0 is what chance would give.

    ``counts``: by how many of the assessors each document was chosen. None for a single
    assessor, and where all made the same choice everywhere, so that chance explains all
    (Fleiss 1971).
    """
    if assessors < 2 or counts.sum() in (0, assessors * len(counts)):
        return None
    return kappa_of(np.column_stack([assessors - counts, counts]).astype(float))


def _why(chosen: NDArray[np.bool_]) -> str | None:
    if chosen.shape[1] < 2:
        return "one assessor only"
    if not chosen.any():
        return "nobody chose a document"
    return "everyone chose every document" if chosen.all() else None
