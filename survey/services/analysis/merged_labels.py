"""Assessors' labels: merged to weights and judgements, and how far they agree."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from survey.core.agreement.reliability import Reliability, reliability_of
from survey.core.agreement.topic_alpha import AlphaOverTopics, alpha_over_topics
from survey.core.collections.labels import (
    Grades,
    Labels,
    TopicLabels,
    choice_agreement,
    grades_of,
    merge_labels,
)
from survey.core.text_input import Json
from survey.services.analysis.sheets import Sheet, csv_lines

MOST_CONTESTED = 12  # documents of a topic
Topic = TypeVar("Topic")
OnTopic = Callable[[int, int], object]
"""Called after each topic with the number of topics done and the number of all topics."""


@dataclass(frozen=True)
class Merged:
    """Merged labels of assessors of these ``names``; ``at_least``: None for a majority.

    ``agreements``: of each topic, the fields of ``ChoiceAgreement`` and the number of
    ``relevant`` documents; ``grades``: of all assessors.
    """

    names: Sequence[str]
    at_least: int | None
    topics: Sequence[TopicLabels]
    agreements: Sequence[Mapping[str, Any]]
    reliability: Reliability
    grades: Grades

    @property
    def files(self) -> int:
        """The number of assessors."""
        return len(self.names)

    @cached_property
    def over_topics(self) -> AlphaOverTopics:
        """How far the assessors agree over all topics, of new ones where there are enough."""
        return alpha_over_topics(self.names, self.grades)


def asked_sentences(
    answers: str, meanings: Mapping[str, str], asked_back: Mapping[str, int]
) -> list[str]:
    """Return a sentence for each thing that pages asked back before they saved some answers."""
    return [
        f"Of the {answers}, pages asked back about {count}: {meanings[doubt]}."
        for doubt, count in asked_back.items()
        if count
    ]


def merged(
    labels: Sequence[Labels],
    names: Sequence[str],
    at_least: int | None = None,
    on_topic: OnTopic = lambda *_: None,
    unlisted: int = 0,
) -> Merged:
    """Merge the labels of all assessors, of these names, and compute how far they agree.

    ``unlisted``: see ``merge_labels``.
    """
    labelled = merge_labels(labels, unlisted)
    agreements = [
        asdict(choice_agreement(topic)) | {"relevant": int((topic.relevance(at_least) > 0).sum())}
        for topic in counted(labelled, on_topic)
    ]
    grades = grades_of(labels, labelled)
    chosen = ((topic, np.minimum(values, 1)) for topic, values in grades.items())
    reliability = reliability_of(names, chosen)
    return Merged(names, at_least, labelled, agreements, reliability, grades)


def counted(topics: Sequence[Topic], on_topic: OnTopic) -> Iterator[Topic]:
    """Yield the topics, and call ``on_topic`` after each."""
    for done, topic in enumerate(topics, 1):
        yield topic
        on_topic(done, len(topics))


NO_JACKKNIFE = "without one of the documents there is no alpha, so there is no interval"
COHEN_NOTE = "Cohen's kappa is of exactly two; weighted: of their grades, by the distance."
MERGED = ("weights.csv", "weights.txt", "qrels.txt", "agreement.csv")


def merged_lines(merged: Merged) -> dict[str, Iterable[str]]:
    """Return the lines of merged labels' files, name (of MERGED) → lines that are made as read.

    weights.txt holds only documents that at least one assessor chose.
    """
    rows = (
        (topic.topic, document, count, judges, weight)
        for topic in merged.topics
        for document, count, judges, weight in zip(
            topic.documents,
            topic.chosen.tolist(),
            topic.judges.tolist(),
            topic.weights.tolist(),
            strict=True,
        )
    )
    weights = (
        f"{topic.topic} {document} {weight!r}\n"
        for topic in merged.topics
        for document, weight in zip(topic.documents, topic.weights.tolist(), strict=True)
        if weight
    )
    qrels = (
        f"{topic.topic} 0 {document} {grade}\n"
        for topic in merged.topics
        for document, grade in zip(
            topic.documents, topic.relevance(merged.at_least).tolist(), strict=True
        )
    )
    columns = ("topic", "document", "chosen", "assessors", "weight")
    agreement = agreement_sheet(merged)
    lines = (csv_lines(columns, rows), weights, qrels)
    return dict(zip(MERGED, (*lines, csv_lines(agreement.columns, agreement.rows)), strict=True))


def agreement_sheet(merged: Merged) -> Sheet:
    """Return a table of the assessors' agreement, a row for each topic."""
    columns = (
        *("topic", "assessors", "documents", "relevant", "chosen_by_all", "chosen_by_one"),
        *("jaccard", "fleiss_kappa", "krippendorff_alpha", "cohen_kappa", "cohen_kappa_weighted"),
    )
    rows = tuple(tuple(topic[name] for name in columns) for topic in merged.agreements)
    note = (
        "Documents: those that at least one assessor listed; kappa and alpha are of these. "
        "Where files list chosen documents only, both are low by that alone; read Jaccard's index. "
        f"{COHEN_NOTE}"
    )
    return Sheet("agreement", "How far the assessors chose the same documents", columns, rows, note)


def reliability_sheet(
    reliability: Reliability, role: str = "annotators", answer: str = "marked or not"
) -> Sheet:
    """Return how reliable annotators, or what their ``role`` is, are: overall and by topic."""
    within = reliability.alpha_within_topics, *(reliability.within_topics_ci95 or (None, None))
    overall = [
        ("all topics", reliability.alpha, *(reliability.ci95 or (None, None))),
        ("all, within topics", *within),
    ]
    topics = [
        (each.topic, each.alpha, *(each.ci95 or (None, None))) for each in reliability.by_topic
    ]
    return Sheet(
        name="reliability",
        title=f"How reliable the {role} are",
        columns=("topic", "alpha", "95 % from", "to"),
        rows=(*overall, *topics) if topics else (),
        note=(
            f"Krippendorff's alpha of {answer}: 1 is full agreement, 0 is chance. From .80 on "
            "judgements are reliable, from .667 on they allow tentative conclusions, if the whole "
            "interval is there. Intervals leave out one document at a time. Within topics: unlike "
            "shares of yes among topics do not raise it."
        ),
    )


def annotators_sheet(reliability: Reliability, role: str = "annotator") -> Sheet:
    """Return how each annotator agrees with the others; participants are named in it."""
    return Sheet(
        name=f"{role}s-alpha",
        title=f"How far each {role} agrees with the others",
        columns=("participant", "alpha", "alpha of the others", "differs"),
        rows=tuple(
            (each.assessor, each.alpha, each.alpha_of_others, "yes" if each.differs else "no")
            for each in reliability.by_assessor
        ),
        note=(
            f"Alpha of the others: without this {role}. They differ where that is higher by more "
            f"than chance gives, corrected for the number of {role}s."
        ),
        part="checks",
    )


def explained_figures(figures: dict[str, Json], why: str) -> dict[str, Json]:
    """Return figures with the reason why one of them is undefined; None where none is."""
    return figures | {"why": why if None in figures.values() else None}


def merged_json(merged: Merged) -> dict[str, Json]:
    """Return the assessors' agreement as JSON."""
    return {
        "assessors": merged.files,
        "at_least": merged.at_least,
        "topics": [*merged.agreements],
        "reliability": reliability_json(merged.reliability),
        "over_topics": over_topics_json(merged.over_topics),
    }


def over_topics_json(agreed: AlphaOverTopics) -> dict[str, Json]:
    """Return the agreement over all topics as JSON, with a reason of each undefined figure."""
    content: dict[str, Any] = asdict(agreed)
    content |= {name: getattr(agreed, name) for name in ("word", "merged", "needed")}
    if agreed.alpha is not None and None in (agreed.merged, agreed.needed, agreed.ci95):
        content["why"] = "it needs six documents, and an alpha above 0"
    for topic in content["by_topic"]:
        if topic["alpha"] is None:
            topic["why"] = "all labels are the same, or no document has two"
        elif topic["ci95"] is None:
            topic["why"] = "an interval needs six documents"
    for annotator, agreement in zip(content["by_annotator"], agreed.by_annotator, strict=True):
        annotator["differs"] = agreement.differs
        if agreement.kappa is None:
            annotator["why"] = "all labels are the same, or the others are evenly split"
        elif agreement.p is None:
            annotator["why"] = "two annotators cannot be told apart"
    return content


def reliability_json(reliability: Reliability) -> dict[str, Json]:
    """Return the reliability of annotators as JSON, with a reason of each undefined figure."""
    content = asdict(reliability)
    for topic in content["by_topic"]:
        if topic["alpha"] is None:
            topic["why"] = "all answers are the same, or no two annotators did it"
        elif topic["ci95"] is None:
            topic["why"] = NO_JACKKNIFE
    for assessor in content["by_assessor"]:
        if assessor["alpha"] is None:
            assessor["why"] = "no other annotator did the same, or all answers are the same"
        elif assessor["alpha_of_others"] is None:
            assessor["why"] = "the answers of the others alone have no alpha"
    if not content["why"]:
        reasons = []
        if reliability.ci95 is None or reliability.within_topics_ci95 is None:
            reasons.append(NO_JACKKNIFE)
        if reliability.merged is None or reliability.needed is None:
            reasons.append("no number of annotators makes up for an alpha that is not above 0")
        content["why"] = "; ".join(reasons) or None
    return content
