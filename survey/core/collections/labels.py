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

HIGHEST_GRADE = 9
NOT_JUDGED = -1  # in place of a grade

Labels = Mapping[str, Mapping[str, int]]
"""One assessor's labels: topic → document → grade, 0 to 9; above 0 means chosen."""


@dataclass(frozen=True)
class TopicLabels:
    """The labels of one topic by all its assessors.

    ``documents``: those in at least one assessor's list, sorted. ``grades``: of shape
    (documents, assessors), whole numbers from 0 to 9, assessors in the order of their files
    and only those who judged the topic at all. Where each of them searched the whole collection,
    a document that is not in an assessor's list was not chosen: its grade is 0. Of a pool it is
    NOT_JUDGED.
    """

    topic: str
    documents: tuple[str, ...]
    grades: NDArray[np.int8]

    @property
    def assessors(self) -> int:
        """The number of assessors who judged the topic."""
        return int(self.grades.shape[1])

    @property
    def judges(self) -> NDArray[np.int64]:
        """The number of assessors who judged each document, of shape (documents,)."""
        counts: NDArray[np.int64] = np.count_nonzero(self.grades != NOT_JUDGED, axis=1)
        return counts

    @property
    def chosen(self) -> NDArray[np.int64]:
        """The number of assessors who chose each document, of shape (documents,)."""
        counts: NDArray[np.int64] = np.count_nonzero(self.grades > 0, axis=1)
        return counts

    @property
    def weights(self) -> NDArray[np.float64]:
        """Each document's weight w = d / D, of shape (documents,), in [0, 1].

        d: assessors who chose it, D: assessors who judged it. This is Eq. 1 of MiAlbum as
        we read it: its formula is missing in our source, and only its words are left, “suppose
        there are d people …”. An assessor without a line for the topic was not asked, and is not
        in D.
        """
        return self.chosen / self.judges

    def relevance(self, at_least: int | None = None) -> NDArray[np.int8]:
        """Merge the assessors' grades into one for each document, of shape (documents,), 0 to 9.

        The highest grade g such that at least M assessors gave g or more, so that a document
        is relevant (1 or more) where M chose it, and very relevant where M graded it so. M is
        ``at_least``, by default the majority floor(D/2) + 1; then g is the median of the D
        grades (the lower one where D is even). Where D < M no document is relevant.
        """
        judges = self.judges
        needed = judges // 2 + 1 if at_least is None else np.full_like(judges, at_least)
        descending: NDArray[np.int8] = -np.sort(-self.grades, axis=1)
        last = np.minimum(needed, self.assessors) - 1
        grades = np.take_along_axis(descending, last[:, np.newaxis], axis=1)[:, 0]
        merged: NDArray[np.int8] = np.where(needed > judges, 0, grades).astype(np.int8)
        return merged


def read_labels(file: str, lines: Iterable[str], faults: FileFaults) -> Labels:
    """Read one assessor's labels: TREC qrels whose relevance is 0 to 9.

    Each invalid line, and a file without a line, adds a sentence to ``faults``.
    """
    return read_values(
        (file, lines, faults),
        (QRELS_LINE, "relevance"),
        lambda text: parse_whole(text, 0, HIGHEST_GRADE),
        allowed=f"a whole number from 0 (not chosen) to {HIGHEST_GRADE} is allowed",
        once=ONE_JUDGEMENT,
    )


def merge_labels(labels: Sequence[Labels], unlisted: int = 0) -> list[TopicLabels]:
    """Merge all assessors' labels into one record for each topic, sorted by topic.

    ``unlisted``: what an assessor says of a document of the topic that is not in their list: 0, or
    NOT_JUDGED where each had a pool, or a part of one, to judge.
    """
    merged = []
    for topic in sorted_topics({topic for topics in labels for topic in topics}):
        assessors = [topics[topic] for topics in labels if topic in topics]
        documents = sorted({document for grades in assessors for document in grades})
        rows = [[grades.get(document, unlisted) for grades in assessors] for document in documents]
        shape = len(documents), len(assessors)  # numpy cannot tell it where there is no document
        grades_of_topic = np.array(rows, dtype=np.int8).reshape(shape)
        merged.append(TopicLabels(topic, tuple(documents), grades_of_topic))
    return merged


def grades_of(labels: Sequence[Labels], topics: Sequence[TopicLabels]) -> Grades:
    """Return the grades of all assessors; NaN for what an assessor did not judge."""
    grades = {}
    for topic in topics:
        values = np.full((len(topic.documents), len(labels)), np.nan)
        judged = [place for place, of in enumerate(labels) if topic.topic in of]
        values[:, judged] = np.where(topic.grades == NOT_JUDGED, np.nan, topic.grades)
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
    judged = topic.grades != NOT_JUDGED
    counts, judges = topic.chosen, topic.judges
    values = [row[row != NOT_JUDGED].tolist() for row in topic.grades]
    both = judged.all(axis=1)
    return ChoiceAgreement(
        topic=topic.topic,
        assessors=topic.assessors,
        documents=len(topic.documents),
        chosen_by_all=int(np.count_nonzero((counts == judges) & (judges > 0))),
        chosen_by_one=int(np.count_nonzero(counts == 1)),
        jaccard=mean_jaccard(chosen, judged),
        fleiss_kappa=fleiss_kappa(counts, judges),
        krippendorff_alpha=alpha_ordinal(values),
        why=_undefined_reason(chosen, judged),
        cohen_kappa=_cohen_kappa(chosen[both].astype(np.int64), "none"),
        cohen_kappa_weighted=_cohen_kappa(topic.grades[both].astype(np.int64), "linear"),
    )


def _cohen_kappa(grades: NDArray[np.int64], weights: Literal["none", "linear"]) -> float | None:
    """Return Cohen's kappa of (documents, assessors); None but for two, and where it is NaN."""
    if grades.shape[1] != 2:
        return None
    first, second = grades.T.tolist()
    kappa = cohen_kappa(first, second, range(HIGHEST_GRADE + 1), weights)
    return None if isnan(kappa) else kappa


def mean_jaccard(
    chosen: NDArray[np.bool_], judged: NDArray[np.bool_] | None = None
) -> float | None:
    """Compute the mean of |A ∩ B| / |A ∪ B| over all pairs of assessors' sets A, B; in [0, 1].

    ``chosen``, ``judged``: of shape (documents, assessors); of two assessors, the documents count
    that both judged, by default all. Pairs that chose nothing at all (0/0) are left out; None
    where no pair is left, as with a single assessor (Jaccard 1912).
    """
    sets = chosen.T.astype(np.int64)
    common = sets @ sets.T
    sizes = sets @ (np.ones_like(chosen) if judged is None else judged).astype(np.int64)
    either = sizes + sizes.T - common
    pairs = np.triu(either > 0, k=1)
    if not pairs.any():
        return None
    shares = (common[pairs] / either[pairs]).tolist()
    return fsum(shares) / len(shares)  # the same to the last digit in any order of assessors


def fleiss_kappa(counts: NDArray[np.int64], assessors: NDArray[np.int64] | int) -> float | None:
    """Compute Fleiss' kappa of chosen or not, at most 1; 0 is what chance would give.

    ``counts``: the number of assessors who chose each document, of ``assessors``, equally many for
    each. None for a single assessor or unlike numbers, and where all made the same choice
    everywhere, so that chance explains all (Fleiss 1971).
    """
    raters = np.broadcast_to(np.asarray(assessors), counts.shape)
    if not raters.size or raters.min() < 2 or raters.min() < raters.max():
        return None
    if counts.sum() in (0, raters.sum()):
        return None
    return kappa_of_counts(np.column_stack([raters - counts, counts]).astype(float))


def _undefined_reason(chosen: NDArray[np.bool_], judged: NDArray[np.bool_]) -> str | None:
    judges = np.count_nonzero(judged, axis=1)
    if chosen.shape[1] < 2 or (len(judges) and judges.max() < 2):
        return "one assessor only"
    if not chosen.any():
        return "no assessor chose a document"
    if (chosen == judged).all():
        return "everyone chose every document"
    return "documents have unlike numbers of assessors" if judges.min() < judges.max() else None
