"""What annotators' labels say: merged weights and judgements, agreement, and who differs most."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import permutations
from math import fsum
from sys import intern
from typing import Any, Protocol, TypeVar

from survey.core.agreement.reliability import Reliability, reliability_of
from survey.core.collections.labels import (
    Labels,
    TopicLabels,
    choice_agreement,
    choices,
    merge_labels,
)
from survey.figures.exhibit import Exhibit
from survey.figures.judging import agreement_by_topic
from survey.services.analysis.results import Contested, Documents, Results, Sentence
from survey.services.analysis.sheets import Sheet, as_csv, count_of, csv_lines

ASKED_BACK = {
    "unseen": "whether to end it with documents that were not in view",
    "unmarked": "whether nothing matches",
    "unfinished": "whether nothing more matches, after a batch with marks",
}
KEYWORDS = "keywords.csv"
MOST_CONTESTED = 12  # documents of a topic
AGREEMENT_NOTE = (
    "Documents: those that at least one annotator looked at; kappa and alpha are of these. What "
    "someone did not look at counts as not marked."
)

Topic = TypeVar("Topic")
OnTopic = Callable[[int, int], object]
"""Called after each topic with the number of topics done and the number of all topics."""


@dataclass(frozen=True)
class Merged:
    """Merged labels of ``files`` assessors; ``at_least``: None for a majority.

    ``agreements``: of each topic, the fields of ``ChoiceAgreement`` and the number of
    ``relevant`` documents.
    """

    files: int
    at_least: int | None
    topics: Sequence[TopicLabels]
    agreements: Sequence[Mapping[str, Any]]
    reliability: Reliability


def asked_sentences(
    answers: str, meanings: Mapping[str, str], asked_back: Mapping[str, int]
) -> list[str]:
    """Return a sentence for each thing that pages asked back before they saved some answers."""
    return [
        f"Of the {answers}, pages asked back about {count}: {meanings[kind]}."
        for kind, count in asked_back.items()
        if count
    ]


def merged(
    labels: Sequence[Labels],
    names: Sequence[str],
    at_least: int | None = None,
    on_topic: OnTopic = lambda *_: None,
) -> Merged:
    """Merge the labels of all assessors, of these names, and compute how far they agree."""
    labelled = merge_labels(labels)
    agreements = [
        asdict(choice_agreement(topic)) | {"relevant": int((topic.relevance(at_least) > 0).sum())}
        for topic in counted(labelled, on_topic)
    ]
    reliability = reliability_of(names, choices(labels, labelled).items())
    return Merged(len(labels), at_least, labelled, agreements, reliability)


def counted(topics: Sequence[Topic], on_topic: OnTopic) -> Iterator[Topic]:
    """Yield the topics, and call ``on_topic`` after each."""
    for done, topic in enumerate(topics, 1):
        yield topic
        on_topic(done, len(topics))


NO_JACKKNIFE = "without one of the documents there is no alpha, so there is no interval"
MERGED = ("weights.csv", "weights.txt", "qrels.txt", "agreement.csv")


def merged_lines(merged: Merged) -> dict[str, Iterable[str]]:
    """Return the lines of merged labels' files, name (of MERGED) → lines that are made as read.

    weights.txt holds only documents that at least one assessor chose.
    """
    rows = (
        (topic.topic, document, count, topic.assessors, weight)
        for topic in merged.topics
        for document, count, weight in zip(
            topic.documents, topic.chosen.tolist(), topic.weights.tolist(), strict=True
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
        *("jaccard", "fleiss_kappa", "krippendorff_alpha"),
    )
    rows = tuple(tuple(topic[name] for name in columns) for topic in merged.agreements)
    note = (
        "Documents: those that at least one assessor listed; kappa and alpha are of these. "
        "Where files list chosen documents only, both are low by that alone; read Jaccard's index."
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
    )


NOTHING_IN_COMMON = "looked at nothing, or no other annotator did a query that one of them marked"


def explained(figures: dict[str, Any], why: str) -> dict[str, Any]:
    """Return figures with the reason why one of them is undefined; None where none is."""
    return figures | {"why": why if None in figures.values() else None}


def merged_json(merged: Merged) -> dict[str, Any]:
    """Return the assessors' agreement as JSON."""
    return {
        "assessors": merged.files,
        "at_least": merged.at_least,
        "topics": [*merged.agreements],
        "reliability": reliability_json(merged.reliability),
    }


def reliability_json(reliability: Reliability) -> dict[str, Any]:
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


class PackedLabels(Mapping[str, Mapping[str, int]]):
    """An annotator's labels by topic, in nine bytes a label; those of a topic are unpacked at use.

    A dictionary of a million labels would take a tenth of a gigabyte.
    """

    def __init__(self) -> None:
        self._packed: dict[str, tuple[tuple[str, ...], bytes]] = {}

    def add(self, topic: str, grades: Mapping[str, int]) -> None:
        """Add the grades of a topic's documents."""
        self._packed[topic] = tuple(map(intern, grades)), bytes(grades.values())

    def __getitem__(self, topic: str) -> dict[str, int]:
        return dict(zip(*self._packed[topic], strict=True))

    def __iter__(self) -> Iterator[str]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)


@dataclass(frozen=True)
class Annotator:
    """An annotator's labels, and for how long the queries that are done were in work.

    ``seconds``: from the first sight of each query to its end, breaks included.
    """

    participant: str
    labels: Labels
    seconds: float

    @cached_property
    def marked(self) -> dict[str, set[str]]:
        """What the annotator marked for each topic."""
        return {
            topic: {document for document, grade in grades.items() if grade}
            for topic, grades in self.labels.items()
        }

    @property
    def pictures(self) -> int:
        """How many documents the annotator looked at."""
        return sum(map(len, self.labels.values()))

    @property
    def lines(self) -> Iterator[str]:
        """The labels as `survey assess merge` reads them: of each document that was looked at."""
        for topic, grades in self.labels.items():
            for document, grade in sorted(grades.items()):
                yield f"{topic} 0 {document} {grade}\n"


class Rounds(Protocol):
    """What refining gained, as a study in the database has it."""

    @property
    def sheet(self) -> Sheet:
        """The table of the rounds."""

    @property
    def exhibit(self) -> Exhibit:
        """The figure of the rounds."""

    def as_json(self) -> dict[str, Any]:
        """Return the figures."""

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield each annotator's rounds as runs."""


@dataclass(frozen=True)
class LabelResults(Results):
    """The results of a labelling study; ``asked_back``: what pages asked back, how often.

    ``keywords``: the text of each topic that is a keyword, without a picture. ``refining``: what
    it gained; None of a bundle, which has no vectors to rank by.
    """

    annotators: Sequence[Annotator]
    merged: Merged
    asked_back: Mapping[str, int]
    keywords: Mapping[str, str | None] = field(default_factory=dict)
    refining: Rounds | None = None

    @property
    def participants(self) -> list[str]:
        """The annotators."""
        return [each.participant for each in self.annotators]

    @cached_property
    def compared(self) -> list[dict[str, Any]]:
        """Of each annotator: how much, how fast, how alike others, and where least."""
        alike = self._alike()
        return [
            {
                "participant": each.participant,
                "queries": len(each.labels),
                "looked_at": each.pictures,
                "marked": sum(map(len, each.marked.values())),
                "seconds_per_picture": each.seconds / each.pictures if each.pictures else None,
                **alike[each.participant],
            }
            for each in self.annotators
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the agreement for each topic, and the annotators compared."""
        return {
            "agreement": merged_json(self.merged),
            "annotators": [explained(each, NOTHING_IN_COMMON) for each in self.compared],
            "asked_back": dict(self.asked_back),
            **({"refining": self.refining.as_json()} if self.refining else {}),
        }

    @property
    def headline(self) -> str:
        """Whether the annotators are reliable, in a sentence."""
        if not self.merged.agreements:
            return "Nothing is marked: no annotator has finished a query."
        return self.merged.reliability.sentence(len(self.annotators))

    @property
    def sentences(self) -> list[Sentence]:
        """What to read next: what further annotators would bring, and how much is relevant."""
        topics = self.merged.agreements
        if not topics:
            return []
        relevant, seen = (
            sum(topic[name] for topic in topics) for name in ("relevant", "documents")
        )
        queries, verb = count_of(len(topics), "query", "queries"), "is" if relevant == 1 else "are"
        relevance = f"{relevant} of {seen} documents looked at for {queries} {verb} relevant"
        if len(topics) > 1:
            relevance += " (a document counts once for each query)"
        rule = f"{self.merged.at_least} or more" if self.merged.at_least else "more than half"
        reliability = self.merged.reliability
        more = reliability.more_annotators(len(self.annotators))
        sentences = [reliability.alike(), more, f"{relevance}; the rule: {rule} marked it."]
        return [*map(Sentence, filter(None, sentences))]

    @property
    def counts(self) -> str:
        """What the sentence rests on."""
        marks = sum(len(marked) for each in self.annotators for marked in each.marked.values())
        return f"{count_of(len(self.annotators), 'annotator')} · {count_of(marks, 'mark')}"

    def own_sheets(self) -> list[Sheet]:
        """Return the tables: reliability, the annotators, the topics, and what refining gained."""
        columns = (
            *("participant", "queries", "looked_at", "marked", "seconds_per_picture"),
            *("jaccard", "differs_most_in"),
        )
        compared = sorted(
            self.compared, key=lambda each: (each["jaccard"] is None, each["jaccard"])
        )
        rows = tuple(
            tuple(
                None if name == "differs_most_in" and each["jaccard"] == 1 else each[name]
                for name in columns
            )
            for each in compared
        )
        note = (
            "Jaccard: of what two annotators marked for a query, |A ∩ B| / |A ∪ B|; the mean over "
            "all others and queries. Seconds: from first seeing a query to its end, with breaks."
        )
        asked = asked_sentences("queries that were done", ASKED_BACK, self.asked_back)
        note = " ".join([note, *asked])
        title = "The annotators, those who differ most from the others first"
        people = Sheet("annotators", title, columns, rows, note)
        title = "How far the annotators chose the same documents"
        agreement = replace(agreement_sheet(self.merged), title=title, note=AGREEMENT_NOTE)
        reliability = self.merged.reliability
        tables = [reliability_sheet(reliability), annotators_sheet(reliability), people, agreement]
        return [*tables, *([self.refining.sheet] if self.refining else [])]

    def own_exhibits(self) -> list[Exhibit]:
        """Return the figures of agreement by query, and of what refining gained."""
        rows = [
            (each["topic"], each["jaccard"], each["krippendorff_alpha"])
            for each in self.merged.agreements
        ]
        indices = ("Jaccard", "Krippendorff's alpha")
        figures = [agreement_by_topic("Agreement by query", indices, rows, AGREEMENT_NOTE)]
        return [*figures, *([self.refining.exhibit] if self.refining else [])]

    @property
    def _keyword_sheet(self) -> Sheet:
        """The weight of each keyword for each document that someone marked."""
        rows = sorted(
            (document, keyword, weight)
            for topic in self.merged.topics
            if (keyword := self.keywords.get(topic.topic))
            for document, weight in zip(topic.documents, topic.weights.tolist(), strict=True)
            if weight
        )
        columns = ("document", "keyword", "weight")
        return Sheet("keywords", "Documents' keywords", columns, tuple(rows))

    def contested(self) -> Documents:
        """Return the documents of each topic on which annotators are divided most equally.

        With each document: how many marked it, of how many annotators.
        """
        topics: list[Contested] = []
        for topic in self.merged.topics:
            chosen = zip(topic.documents, topic.chosen.tolist(), strict=True)
            divided = [(name, count) for name, count in chosen if 0 < count < topic.assessors]
            divided.sort(key=lambda each: (abs(2 * each[1] - topic.assessors), each[0]))
            rows = [
                (name, f"{count} of {topic.assessors}") for name, count in divided[:MOST_CONTESTED]
            ]
            if rows:
                topics.append((topic.topic, rows))
        return Documents("Below each: how many of the annotators marked it.", topics)

    @property
    def files_note(self) -> str:
        """See ``Results``."""
        return (
            "each annotator's labels, the weights and judgements that survey assess merge makes of "
            "them, and each annotator's rounds as runs, from which survey feedback --rounds "
            "computes what refining gained"
        )

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield labels, what `survey assess merge` makes of them, and annotators' rounds."""
        for each in self.annotators:
            yield f"labels/{each.participant}.txt", "".join(each.lines)
        for name, lines in merged_lines(self.merged).items():
            yield name, "".join(lines)
        yield KEYWORDS, as_csv(self._keyword_sheet)
        if self.refining:
            yield from self.refining.files()

    def _alike(self) -> dict[str, dict[str, Any]]:
        """Return how alike each annotator is with every other, and where they differ most.

        By the mean of Jaccard's index |A ∩ B| / |A ∪ B| of what two have marked for a query, over
        the queries that both have done and for which one of them marked something.
        """
        names = [each.participant for each in self.annotators]
        with_others: dict[str, dict[str, list[float]]] = {name: {} for name in names}
        in_topics: dict[str, dict[str, list[float]]] = {name: {} for name in names}
        for first, second in permutations(self.annotators, 2):
            name, other = first.participant, second.participant
            for topic in first.labels.keys() & second.labels.keys():
                marked = [each.marked[topic] for each in (first, second)]
                if either := marked[0] | marked[1]:
                    share = len(marked[0] & marked[1]) / len(either)
                    with_others[name].setdefault(other, []).append(share)
                    in_topics[name].setdefault(topic, []).append(share)
        return {
            name: {
                "jaccard": _mean([share for shares in others.values() for share in shares]),
                "jaccard_with": {other: _mean(shares) for other, shares in sorted(others.items())},
                "differs_most_in": _lowest(in_topics[name]),
            }
            for name, others in with_others.items()
        }


def _mean(shares: Sequence[float]) -> float | None:
    return fsum(shares) / len(shares) if shares else None


def _lowest(shares: Mapping[str, Sequence[float]]) -> str | None:
    return min(sorted(shares), key=lambda topic: _mean(shares[topic]) or 0, default=None)
