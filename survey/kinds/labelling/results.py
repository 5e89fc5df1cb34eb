"""What annotators' labels say: weights, judgements, agreement, and who differs most."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import permutations
from math import fsum
from sys import intern
from typing import Any, Protocol

from survey.core.agreement.judgement_order import OrderChange, order_changes
from survey.core.collections.labels import Labels
from survey.core.text_input import Json
from survey.figures.exhibit import Exhibit
from survey.figures.judging import WITH_THRESHOLDS, agreement_by_topic
from survey.kinds.labelling.pool_results import PoolResults
from survey.services.analysis.label_agreement import (
    ALL_MERGED,
    agreement_chip,
    agreement_headline,
    agreement_method,
    agreement_note,
    agreement_rows,
    alpha_figure,
    kappas_gist,
    kappas_sheet,
    orders_gist,
    orders_json,
    orders_sheet,
    over_topics_sheet,
    topics_gist,
)
from survey.services.analysis.merged_labels import (
    COHEN_NOTE,
    MOST_CONTESTED,
    Merged,
    agreement_sheet,
    annotators_sheet,
    asked_sentences,
    explained_figures,
    merged_json,
    merged_lines,
    reliability_sheet,
)
from survey.services.analysis.results import (
    AnswerRow,
    Chip,
    Contested,
    ContestedDocuments,
    Results,
    Section,
    Sentence,
    Sentences,
)
from survey.services.analysis.sheets import Sheet, as_csv, count_of

KEYWORDS_FILE = "keywords.csv"
ASKED_BACK = {
    "unseen": "whether to go on with documents that were not in view",
    "unmarked": "whether nothing matches",
    "unfinished": "whether nothing more matches, after a batch with marks",
}
AGREEMENT_NOTE = (
    "Documents: those that at least one annotator looked at; kappa and alpha are of these. What "
    f"someone did not look at counts as not marked. {COHEN_NOTE}"
)
POOLED_NOTE = (
    "Documents: those that at least one annotator judged. Two annotators are compared on those "
    f"that both judged. {COHEN_NOTE}"
)
THRESHOLDS_NOTE = "The lines are of alpha: tentative from .667, reliable from .80."
NOTHING_IN_COMMON = "looked at nothing, or no other annotator did a query that one of them marked"


class PackedLabels(Mapping[str, Mapping[str, int]]):
    """An annotator's labels by topic, in nine bytes a label; those of a topic are unpacked at use.

    A dictionary of a million labels would take a tenth of a gigabyte.
    """

    def __init__(self) -> None:
        self._packed: dict[str, tuple[tuple[str, ...], bytes]] = {}

    def add(self, topic: str, grades: Mapping[str, int]) -> None:
        """Add the grades of a topic's documents to those of the topic, if there are some."""
        if topic in self:
            grades = {**self[topic], **grades}
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

    def as_json(self) -> dict[str, Json]:
        """Return the figures."""

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield each annotator's rounds as runs."""


@dataclass(frozen=True)
class LabelResults(Results):
    """The results of a labelling study; ``asked_back``: what pages asked back, how often.

    ``keywords``: the text of each topic that is a keyword, without a picture. ``refining``: what
    it gained; None of a bundle, which has no vectors to rank by. ``pool``: what is said of pooled
    documents, None where the whole collection was searched. ``run_values``: where runs are
    known, the value of each run by the merged judgements (``ALL_MERGED``) and by each annotator's.
    """

    guide = "judge-a-collection#results-of-labelling"

    annotators: Sequence[Annotator]
    merged: Merged
    asked_back: Mapping[str, int]
    keywords: Mapping[str, str | None] = field(default_factory=dict)
    refining: Rounds | None = None
    pool: PoolResults | None = None
    run_values: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

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

    def as_json(self) -> dict[str, Json]:
        """Return the agreement for each topic, and the annotators compared."""
        return {
            "agreement": merged_json(self.merged),
            "annotators": [explained_figures(each, NOTHING_IN_COMMON) for each in self.compared],
            "asked_back": dict(self.asked_back),
            **({"refining": self.refining.as_json()} if self.refining else {}),
            **({"pool": self.pool.as_json()} if self.pool else {}),
            **({"run_orders": orders_json(self._order_changes)} if self.run_values else {}),
        }

    @property
    def headline(self) -> str:
        """Whether the annotators are reliable, in a sentence."""
        if not self.merged.agreements:
            return "Nothing is marked: no annotator has finished a query."
        return agreement_headline(self.merged.over_topics, len(self.annotators))

    @property
    def chip(self) -> Chip | None:
        """See ``Results``."""
        return agreement_chip(self.merged.over_topics) if self.merged.agreements else None

    @property
    def rows(self) -> list[AnswerRow]:
        """See ``Results``: weakest topics, others, merged, annotators, and what is relevant."""
        if not self.merged.agreements:
            return []
        rows = [*agreement_rows(self.merged.over_topics)]
        if self.pool and self.pool.right.answers:
            rows.append(AnswerRow("Gold documents:", f"{self.pool.right.sentence}."))
        return [*rows, AnswerRow("Result:", self._relevance)]

    @property
    def _relevance(self) -> str:
        topics = self.merged.agreements
        relevant, seen = (
            sum(topic[name] for topic in topics) for name in ("relevant", "documents")
        )
        rule = f"{self.merged.at_least} or more" if self.merged.at_least else "more than half"
        verb = "is" if relevant == 1 else "are"
        return (
            f"{relevant} of {count_of(seen, 'judged document')} {verb} relevant. Rule: {rule} "
            "marked it."
        )

    @property
    def remarks(self) -> list[str]:
        """See ``Results``: what is said of the pool."""
        return self.pool.sentences if self.pool else []

    @property
    def rows_note(self) -> str:
        """See ``Results``."""
        return agreement_note(self.merged.over_topics) if self.merged.agreements else ""

    @property
    def method(self) -> str:
        """See ``Results``."""
        return agreement_method(self.merged.over_topics)

    @property
    def sentences(self) -> list[Sentence]:
        """The answer, and the rows below it."""
        rows = [Sentence(str(row)) for row in self.rows]
        return [Sentence(self.headline), *rows] if rows else []

    @property
    def counts(self) -> str:
        """What the sentence rests on."""
        topics = self.merged.agreements
        marks = sum(len(marked) for each in self.annotators for marked in each.marked.values())
        parts = [
            count_of(len(self.annotators), "annotator"),
            count_of(len(topics), "query", "queries"),
            count_of(sum(topic["documents"] for topic in topics), "document"),
            count_of(marks, "mark"),
        ]
        return " · ".join(parts)

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
        people = Sheet("annotators", title, columns, rows, note, part="checks")
        title = "How far the annotators chose the same documents"
        agreement = replace(agreement_sheet(self.merged), title=title, note=self._agreement_note)
        reliability = self.merged.reliability
        over_topics = self.merged.over_topics
        tables = [
            over_topics_sheet(over_topics),
            kappas_sheet(over_topics),
            people,
            agreement,
            reliability_sheet(reliability),
            annotators_sheet(reliability),
            *([orders_sheet(self._order_changes)] if self.run_values else []),
            *(self.pool.sheets if self.pool else []),
        ]
        return [*tables, *([self.refining.sheet] if self.refining else [])]

    @property
    def _order_changes(self) -> tuple[OrderChange, ...]:
        """How each annotator's judgements alone order the runs."""
        by_annotator = dict(self.run_values)
        return order_changes(by_annotator.pop(ALL_MERGED), by_annotator)

    @cached_property
    def sections(self) -> list[Section]:
        """See ``Results``; each folded part tells its number."""
        if not self.merged.agreements:
            return []
        agreed = self.merged.over_topics
        people = [*self.listings("kappas", "annotators", "annotators-alpha")]
        topics = self.listings("over-topics", "agreement", "reliability")
        by_query = [*self.figures("agreement-by-topic"), *topics]
        sections = [
            *self.contested_sections(self._contested_gist),
            Section("topics", "Query by query", "Queries", by_query, topics_gist(agreed)),
            Section("people", "Annotators one by one", "Annotators", people, kappas_gist(agreed)),
        ]
        if self.pool:
            told = Sentences([*map(Sentence, self.pool.sentences)])
            blocks = [told, *self.listings("pool-runs", "gold-annotators")]
            sections.append(Section("pool", "The pool", "Pool", blocks, self.pool.judged_sentence))
        if self.run_values:
            gist, title = orders_gist(self._order_changes), "Do the differences matter for systems?"
            sections.append(Section("orders", title, "Systems", self.listings("orders"), gist))
        if self.refining:
            exhibit, sheet = self.refining.exhibit, self.refining.sheet
            gist = f"mean precision {exhibit.alternative}"
            if exhibit.why:
                gist = f"0 rounds: {exhibit.why}"
            gained = [*self.figures(exhibit.name), *self.listings(sheet.name)]
            sections.append(Section("refining", "What refining gained", "Refining", gained, gist))
        return [*sections, *self.attention_sections, *self.beside_sections]

    @property
    def _contested_gist(self) -> str:
        """On how many documents annotators differ, and in which topics most."""
        divided = {
            topic.topic: int(((topic.chosen > 0) & (topic.chosen < topic.assessors)).sum())
            for topic in self.merged.topics
        }
        documents = sum(len(topic.documents) for topic in self.merged.topics)
        most = sorted(divided, key=lambda name: -divided[name])[:2]
        named = ", ".join(f"{name} {divided[name]}" for name in most if divided[name])
        differ = f"{sum(divided.values())} of {count_of(documents, 'document')}"
        return f"{differ} were marked by some of them only{f'; {named}' if named else ''}"

    def own_exhibits(self) -> list[Exhibit]:
        """Return the figures of agreement by query, and of what refining gained."""
        rows = [
            (each["topic"], each["jaccard"], each["krippendorff_alpha"])
            for each in self.merged.agreements
        ]
        indices = ("Jaccard", "Krippendorff's alpha")
        lead = alpha_figure(self.merged.over_topics, len(self.annotators))
        note = f"{self._agreement_note} {THRESHOLDS_NOTE}"
        by_topic = agreement_by_topic("Agreement by query", indices, rows, note, WITH_THRESHOLDS)
        figures = [lead, by_topic]
        return [*figures, *([self.refining.exhibit] if self.refining else [])]

    @property
    def _agreement_note(self) -> str:
        return POOLED_NOTE if self.pool else AGREEMENT_NOTE

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

    def contested(self) -> ContestedDocuments:
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
        return ContestedDocuments("Below each: how many of the annotators marked it.", topics)

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
        yield KEYWORDS_FILE, as_csv(self._keyword_sheet)
        if self.pool:
            yield from self.pool.files()
        if self.refining:
            yield from self.refining.files()

    def _alike(self) -> dict[str, dict[str, Json]]:
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
