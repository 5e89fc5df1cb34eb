"""What assessors' groups say: how far they agree, and the gold standard made of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from survey.core.agreement.headlines import NEW_QUESTIONS, NOT_DECIDED, THESE_QUESTIONS
from survey.core.agreement.topic_alpha import FEWEST_TOPICS
from survey.core.collections.clusterings import (
    members,
    shared_clusters,
)
from survey.core.collections.labels import sorted_topics
from survey.core.collections.runs import Clusters
from survey.core.statistics.significance import decimal_text, ends_text
from survey.core.text_input import Json
from survey.figures.answers import rand_by_topic
from survey.figures.exhibit import Exhibit
from survey.figures.judging import agreement_by_topic, clusters_by_topic
from survey.services.analysis.joined_clusters import (
    GOLD,
    Compared,
    Gold,
    cluster_comparison,
    cluster_lines,
    compared_json,
    compared_sheet,
    gold_files,
    gold_json,
    gold_sheet,
    group_names,
    joined,
    pairs_reliability,
    reliability_sentences,
    statistics_sheet,
)
from survey.services.analysis.merged_labels import (
    MOST_CONTESTED,
    annotators_sheet,
    asked_sentences,
    explained_figures,
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
from survey.services.analysis.sheets import Sheet, count_of

TEST = (
    "adjusted Rand index of the first two assessors of each topic; interval of its mean: t over "
    "topics"
)
CORRECTION = "none, one mean"
MOST_NAMED = 3  # topics, in a row
CLUSTERING_FILES = ("first.txt", "second.txt", "third.txt")
ASKED_BACK = {
    "one_group": "whether all of a topic is one group",
    "unplaced": "whether nothing of a topic can be placed",
}


@dataclass(frozen=True)
class Assessor:
    """A participant's clusterings by topic, and for how long the topics were in work.

    ``role``: first or third. ``seconds``: from the first sight of each topic to its end.
    """

    participant: str
    role: str
    clusters: Clusters
    seconds: int

    @property
    def documents(self) -> int:
        """How many documents the assessor sorted; one counts once for each topic."""
        return sum(map(len, self.clusters.values()))


@dataclass(frozen=True)
class GroupResults(Results):
    """The results of a grouping study.

    ``assessors``: in the order in which they began. Of each topic, the first two with the role
    first and the first with the role third count. ``asked_back``: of how many topics pages asked
    what back. ``cluster_types``: by what topics are sorted; ``left_out_topics``: why some are not
    asked.
    """

    guide = "judge-a-collection#results-of-grouping"

    assessors: Sequence[Assessor]
    threshold: float
    floor: float
    asked_back: Mapping[str, int]
    cluster_types: Mapping[str, str] = field(default_factory=dict)
    left_out_topics: Mapping[str, str] = field(default_factory=dict)

    @property
    def participants(self) -> list[str]:
        """The assessors."""
        return [each.participant for each in self.assessors]

    @cached_property
    def chosen(self) -> list[dict[str, Assessor]]:
        """The first, the second and the third assessor of each topic."""
        chosen: list[dict[str, Assessor]] = [{}, {}, {}]
        for each in self.assessors:
            for topic in each.clusters:
                places = (2,) if each.role == "third" else (0, 1)
                free = next((place for place in places if topic not in chosen[place]), None)
                if free is not None:
                    chosen[free][topic] = each
        return chosen

    @cached_property
    def clusters(self) -> list[Clusters]:
        """The clusterings of the first, the second and the third assessor of each topic."""
        return [
            {topic: each.clusters[topic] for topic, each in of_topic.items()}
            for of_topic in self.chosen
        ]

    @cached_property
    def compared(self) -> Compared:
        """The first two assessors of each topic, compared.

        A third is asked only where two differ, which would lower the agreement of all.
        """
        names = [each.participant for each in self.independent]
        reliability = pairs_reliability(names, [each.clusters for each in self.independent])
        return cluster_comparison(self.clusters[0], self.clusters[1], self.threshold, reliability)

    @cached_property
    def independent(self) -> list[Assessor]:
        """The assessors who were asked about all topics, not as a third."""
        return [each for each in self.assessors if each.role != "third"]

    @cached_property
    def gold(self) -> Gold:
        """The gold standard; of two where no topic has a third."""
        assessors = self.clusters if self.clusters[2] else self.clusters[:2]
        return joined(
            *(assessors, self.threshold, self.floor),
            cluster_types=self.cluster_types,
            left_out=self.left_out_topics,
        )

    def as_json(self) -> dict[str, Json]:
        """Return agreement, gold standard, and how much each assessor did in which time."""
        return {
            "agreement": compared_json(self.compared),
            "gold": gold_json(self.gold, ()),
            "assessors": [explained_figures(each, "sorted nothing") for each in self._assessors()],
        }

    def _assessors(self) -> list[dict[str, Any]]:
        return [
            {
                "participant": each.participant,
                "role": each.role,
                "topics": len(each.clusters),
                "documents": each.documents,
                "groups": sum(len(members(clusters)) for clusters in each.clusters.values()),
                "seconds_per_picture": each.seconds / each.documents if each.documents else None,
            }
            for each in self.assessors
        ]

    @property
    def headline(self) -> str:
        """On how many topics the first two assessors agree, and what a third decided."""
        topics = len(self.compared.topics)
        if not topics:
            return "There is no gold standard: no topic has two assessors."
        people = "The two assessors agree"
        if len(self.independent) > 2:
            people = "The first two assessors of a topic agree"
        mean, interval = self.compared.mean_rand
        figure = ""
        if mean is not None:
            reach = f", {ends_text(*interval)}" if interval else ""
            figure = f"; mean {decimal_text(mean)}{reach}"
        text = (
            f"{people} on {self.compared.agreed} of {count_of(topics, 'topic')} (adjusted Rand "
            f"{decimal_text(self.threshold)} or more{figure})."
        )
        decided, left_out = len(self._decided_by_third), len(self._left_out)
        parts = [f"A third decided {decided}"] if decided else []
        if left_out:
            parts.append(f"{left_out} {'is' if left_out == 1 else 'are'} left out")
        return f"{text} {'; '.join(parts)}." if parts else text

    @property
    def _decided_by_third(self) -> list[str]:
        """The topics on which two differed and a third decided."""
        differing = set(self.compared.third)
        return [topic.topic for topic in self.gold.joined if topic.topic in differing]

    @property
    def _left_out(self) -> list[str]:
        """The topics of two assessors that are not in the gold standard."""
        compared = {topic.topic for topic in self.compared.topics}
        return [
            topic.topic
            for topic in self.gold.topics
            if topic.topic in compared and not topic.clusters
        ]

    @property
    def chip(self) -> Chip | None:
        """Whether the mean over topics is enough, for new topics or for these alone."""
        _, interval = self.compared.mean_rand
        if not self.compared.topics:
            return None
        if interval is None or interval[0] < self.threshold <= interval[1]:
            note = f"The mean may be above or below {decimal_text(self.threshold)}."
            return Chip(NOT_DECIDED, "open", note)
        is_enough = interval[0] >= self.threshold
        new = len(self.compared.rands) >= FEWEST_TOPICS
        enough = "The mean reaches" if is_enough else "The mean does not reach"
        note = f"{enough} {decimal_text(self.threshold)} with all of its interval."
        if not is_enough:
            note = f"{enough} {decimal_text(self.threshold)}: a third is needed for most topics."
        text = NEW_QUESTIONS if new else THESE_QUESTIONS
        return Chip(text, "holds" if is_enough else "low", note)

    @property
    def rows(self) -> list[AnswerRow]:
        """See ``Results``: topics agreed, decided by a third, left out."""
        topics = len(self.compared.topics)
        if not topics:
            return []
        known = sorted(
            (topic.adjusted_rand, topic.topic)
            for topic in self.compared.topics
            if topic.adjusted_rand is not None
        )
        lowest = ", ".join(
            f"{topic} {_below(value, self.threshold)}" for value, topic in known[:MOST_NAMED]
        )
        rows = [
            AnswerRow(
                "Agreed:",
                "",
                f"{self.compared.agreed} of {count_of(topics, 'topic')}.",
                f"Lowest: {lowest}." if lowest else "",
            )
        ]
        decided, left_out = self._decided_by_third, self._left_out
        for name, its in (("Settled by a third assessor:", decided), ("Left out:", left_out)):
            number = count_of(len(its), "topic")
            rows.append(AnswerRow(name, "", f"{number}{'' if its else '.'}", _named(its)))
        joined = len(self.gold.joined)
        gold = f"{joined} of {count_of(len(self.gold.topics), 'topic')}."
        return [*rows, AnswerRow("Gold standard:", "", gold)]

    @property
    def method(self) -> str:
        """See ``Results``."""
        return f"Test: {TEST}. Correction: {CORRECTION}."

    @property
    def sentences(self) -> list[Sentence]:
        """The answer, and how reliable all assessors are by pairs of documents."""
        if not self.compared.topics:
            return []
        texts = [self.headline, *map(str, self.rows), *self._reliability_sentences]
        return [*map(Sentence, texts)]

    @property
    def _reliability_sentences(self) -> list[str]:
        return [*reliability_sentences(self.compared.reliability, len(self.independent))]

    @cached_property
    def sections(self) -> list[Section]:
        """See ``Results``; each folded part tells its number."""
        if not self.compared.topics:
            return super().sections
        reliability, compared = self.compared.reliability, self.compared
        figure = reliability.alpha
        alpha = "no alpha" if figure is None else f"alpha {decimal_text(figure)}"
        told = Sentences([*map(Sentence, self._reliability_sentences)])
        joined = f"{len(self.gold.joined)} of {count_of(len(self.gold.topics), 'topic')}"
        by_topic = [*self.figures("agreement-by-topic"), *self.listings("comparison")]
        people = [told, *self.listings("reliability", "assessors-alpha", "assessors")]
        of_people = f"{alpha} of pairs of documents, {count_of(len(self.assessors), 'assessor')}"
        agreed = f"{compared.agreed} of {count_of(len(compared.topics), 'topic')} agreed"
        gold = self.listings("topics", "statistics")
        return [
            *self.contested_sections(),
            Section("comparison", "Topic by topic", "Topics", by_topic, agreed),
            Section("gold", "The gold standard", "Gold standard", gold, joined),
            Section("reliability", "Assessors one by one", "Assessors", people, of_people),
            *self.attention_sections,
            *self.beside_sections,
        ]

    @property
    def counts(self) -> str:
        """What the sentence rests on."""
        documents = sum(topic.documents for topic in self.compared.topics)
        thirds = len(self.assessors) - len(self.independent)
        parts = [
            count_of(len(self.independent), "assessor"),
            *([count_of(thirds, "third assessor")] if thirds else []),
            count_of(len(self.compared.topics), "topic"),
            f"{count_of(documents, 'document')} sorted by both",
        ]
        return " · ".join(parts)

    def own_sheets(self) -> list[Sheet]:
        """Return the tables: reliability, topics, the gold standard, and the assessors."""
        columns = ("participant", "role", "topics", "documents", "groups", "seconds_per_picture")
        rows = tuple(tuple(each[name] for name in columns) for each in self._assessors())
        asked = asked_sentences("topics that were done", ASKED_BACK, self.asked_back)
        note = " ".join(["Seconds: from first seeing a topic to its end, with breaks.", *asked])
        people = Sheet("assessors", "The assessors", columns, rows, note, part="checks")
        reliability = self.compared.reliability
        tables = [
            reliability_sheet(reliability, "assessors", "pairs of documents, together or not"),
            annotators_sheet(reliability, "assessor"),
        ]
        if self.compared.topics:
            tables.append(compared_sheet(self.compared))
        if self.gold.topics:
            tables += [gold_sheet(self.gold), statistics_sheet(self.gold)]
        return [*tables, people]

    def own_exhibits(self) -> list[Exhibit]:
        """Return the figures of agreement, and of the number of clusters, by topic."""
        rows = [(each.topic, each.adjusted_rand, each.b_cubed) for each in self.compared.topics]
        note = f"The first two assessors. A third is needed below {self.threshold} (adjusted Rand)."
        indices = ("adjusted Rand index", "B³ F1")
        topics = sorted_topics({topic for clusters in self.clusters for topic in clusters})
        numbers = {
            topic: [
                len(members(clusters[topic])) if topic in clusters else None
                for clusters in self.clusters
            ]
            for topic in topics
        }
        rands = [(topic.topic, topic.adjusted_rand) for topic in self.compared.topics]
        caption = (
            "How alike the first two assessors of a topic group its documents: 0 is chance, 1 the "
            f"same groups. Below {decimal_text(self.threshold)} a third assessor decides."
        )
        return [
            rand_by_topic(rands, self.threshold, caption),
            agreement_by_topic("Agreement by topic", indices, rows, note),
            clusters_by_topic(numbers),
        ]

    def contested(self) -> ContestedDocuments:
        """Return the documents of each topic that the first two assessors sorted most differently.

        By with how many others a document is together in one of the two clusterings alone. With
        each document: its groups in both.
        """
        topics: list[Contested] = []
        for topic in (each.topic for each in self.compared.topics):
            both = [clusters[topic] for clusters in self.clusters[:2]]
            documents = sorted(both[0].keys() & both[1].keys())
            first, second = (shared_clusters(clusters, documents) > 0 for clusters in both)
            differ = zip((first != second).sum(axis=1).tolist(), documents, strict=True)
            most = sorted(differ, key=lambda each: (-each[0], each[1]))[:MOST_CONTESTED]
            rows = [
                (document, " – ".join(group_names(clusters[document]) for clusters in both))
                for count, document in most
                if count
            ]
            if rows:
                topics.append((topic, rows))
        return ContestedDocuments(
            "Below each: its groups by the first and by the second assessor.", topics
        )

    @property
    def files_note(self) -> str:
        """See ``Results``."""
        return "the assessors' groups, with the gold standard that survey assess gold makes of them"

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield each assessor's groups, and what `survey assess gold` makes of them."""
        for name, clusters in zip(CLUSTERING_FILES, self.clusters, strict=True):
            if clusters:
                yield name, "".join(cluster_lines(clusters))
        if self.gold.joined:
            yield from zip(GOLD, gold_files(self.gold), strict=True)


def _below(value: float, threshold: float) -> str:
    """Return a value with a third decimal where it would else read as the threshold it misses."""
    text = decimal_text(value)
    is_rounded_up = value < threshold and text == decimal_text(threshold)
    return decimal_text(value, 3) if is_rounded_up else text


def _named(topics: Sequence[str]) -> str:
    """Return the topics in brackets, the first of many; "" for none."""
    more = len(topics) - 2 * MOST_NAMED
    named = ", ".join(topics[: 2 * MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"({named})." if topics else ""
