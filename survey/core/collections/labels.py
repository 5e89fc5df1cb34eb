"""Assessors' labels: which documents they chose for a topic, merged, and how far they agree."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isnan
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from survey.core.collections.runs import ONE_JUDGEMENT, QRELS_LINE, read_values
from survey.core.statistics.rater_agreement import alpha_ordinal, cohen_kappa, kappa_of_counts
from survey.core.text_input import FileFaults, parse_whole

Grades = Mapping[str, NDArray[np.float64]]
"""Topic → (documents, assessors)."""

HIGHEST = 3  # grade

Labels = Mapping[str, Mapping[str, int]]
"""One assessor's labels: topic → document → grade, 0 to 3; above 0 means chosen."""


@dataclass(frozen=True)
class TopicLabels:
    """The labels of one topic by all its assessors.

    ``documents``: those in at least one assessor's list, sorted. ``grades``: of shape
    (documents, assessors), whole numbers from 0 to 3, assessors in the order of their files
    and only those who judged the topic at all. Each of them searched the whole collection,
    so a document that is not in an assessor's list was not chosen: its grade is 0.
    """

    topic: str
    documents: tuple[str, ...]
    grades: NDArray[np.int8]

    @property
    def assessors(self) -> int:
        """The number of assessors who judged the topic."""
        return int(self.grades.shape[1])

    @property
    def chosen(self) -> NDArray[np.int64]:
        """The number of assessors who chose each document, of shape (documents,)."""
        counts: NDArray[np.int64] = np.count_nonzero(self.grades, axis=1)
        return counts

    @property
    def weights(self) -> NDArray[np.float64]:
        """Each document's weight w = d / D, of shape (documents,), in [0, 1].

        d: assessors who chose it, D: assessors who judged the topic. This is Eq. 1 of MiAlbum as
        we read it: its formula is missing in our source, and only its words are left, “suppose
        there are d people …”. An assessor without a line for the topic was not asked, and is not
        in D.
        """
        return self.chosen / self.assessors

    def relevance(self, at_least: int | None = None) -> NDArray[np.int8]:
        """Merge the assessors' grades into one for each document, of shape (documents,), 0 to 3.

        The highest grade g such that at least M assessors gave g or more, so that a document
        is relevant (1 or more) where M chose it, and very relevant where M graded it so. M is
        ``at_least``, by default the majority floor(D/2) + 1; then g is the median of the D
        grades (the lower one where D is even). Where D < M no document is relevant.
        """
        needed = self.assessors // 2 + 1 if at_least is None else at_least
        if needed > self.assessors:
            return np.zeros(len(self.documents), dtype=np.int8)
        ascending: NDArray[np.int8] = np.sort(self.grades, axis=1)
        return ascending[:, self.assessors - needed]


def read_labels(file: str, lines: Iterable[str], faults: FileFaults) -> Labels:
    """Read one assessor's labels: TREC qrels whose relevance is 0 to 3.

    Each invalid line, and a file without a line, adds a sentence to ``faults``.
    """
    return read_values(
        (file, lines, faults),
        (QRELS_LINE, "relevance"),
        lambda text: parse_whole(text, 0, HIGHEST),
        allowed=f"a whole number from 0 (not chosen) to {HIGHEST} is allowed",
        once=ONE_JUDGEMENT,
    )


def merge_labels(labels: Sequence[Labels]) -> list[TopicLabels]:
    """Merge all assessors' labels into one record for each topic, sorted by topic."""
    merged = []
    for topic in sorted_topics({topic for topics in labels for topic in topics}):
        assessors = [topics[topic] for topics in labels if topic in topics]
        documents = sorted({document for grades in assessors for document in grades})
        rows = [[grades.get(document, 0) for grades in assessors] for document in documents]
        shape = len(documents), len(assessors)  # numpy cannot tell it where there is no document
        grades_of_topic = np.array(rows, dtype=np.int8).reshape(shape)
        merged.append(TopicLabels(topic, tuple(documents), grades_of_topic))
    return merged


def grades_of(labels: Sequence[Labels], topics: Sequence[TopicLabels]) -> Grades:
    """Return the grades of all assessors; NaN in topics that an assessor did not judge."""
    grades = {}
    for topic in topics:
        values = np.full((len(topic.documents), len(labels)), np.nan)
        judged = [place for place, of in enumerate(labels) if topic.topic in of]
        values[:, judged] = topic.grades
        grades[topic.topic] = values
    return grades


def sorted_topics(topics: Iterable[str]) -> list[str]:
    """Sort topics: whole numbers by size, then all others by the alphabet."""
    return sorted(topics, key=_topic_key)


def _topic_key(topic: str) -> tuple[bool, int, str, str]:
    is_number = topic.isascii() and topic.isdecimal()
    digits = topic.lstrip("0") if is_number else ""
    return (not is_number, len(digits), digits, topic)


@dataclass(frozen=True)
class ChoiceAgreement:
    """Agreement of one topic's assessors; None where undefined, ``why`` gives the reason.

    ``documents``: those in at least one assessor's list. Kappa and alpha know only these. So
    where files list chosen documents only, the agreement on those that everybody left out is not
    counted, and both come out too low. Read ``jaccard`` then. Cohen's kappa is of exactly two
    assessors: of chosen or not, and of the grades with linear weights.
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
    cohen_kappa: float | None = None
    cohen_kappa_weighted: float | None = None


def choice_agreement(topic: TopicLabels) -> ChoiceAgreement:
    """Compute how far a topic's assessors agree; the order of the assessors does not matter."""
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
        why=_undefined_reason(chosen),
        cohen_kappa=_cohen_kappa(chosen.astype(np.int64), "none"),
        cohen_kappa_weighted=_cohen_kappa(topic.grades.astype(np.int64), "linear"),
    )


def _cohen_kappa(grades: NDArray[np.int64], weights: Literal["none", "linear"]) -> float | None:
    """Return Cohen's kappa of (documents, assessors); None but for two, and where it is NaN."""
    if grades.shape[1] != 2:
        return None
    first, second = grades.T.tolist()
    kappa = cohen_kappa(first, second, range(HIGHEST + 1), weights)
    return None if isnan(kappa) else kappa


def mean_jaccard(chosen: NDArray[np.bool_]) -> float | None:
    """Compute the mean of |A ∩ B| / |A ∪ B| over all pairs of assessors' sets A, B; in [0, 1].

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
    """Compute Fleiss' kappa of chosen or not, at most 1; 0 is what chance would give.

    ``counts``: the number of assessors who chose each document. None for a single
    assessor, and where all made the same choice everywhere, so that chance explains all
    (Fleiss 1971).
    """
    if assessors < 2 or counts.sum() in (0, assessors * len(counts)):
        return None
    return kappa_of_counts(np.column_stack([assessors - counts, counts]).astype(float))


def _undefined_reason(chosen: NDArray[np.bool_]) -> str | None:
    if chosen.shape[1] < 2:
        return "one assessor only"
    if not chosen.any():
        return "no assessor chose a document"
    return "everyone chose every document" if chosen.all() else None
