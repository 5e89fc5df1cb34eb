"""What assessors' groups say: how far they agree, and the gold standard made of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from survey.core.agreement.reliability import SAME_GROUPS, Reliability, reliability_of
from survey.core.collections.clusterings import (
    Comparison,
    clustering_lines,
    compare_clusters,
    members,
    pairs_together,
    shared_clusters,
)
from survey.core.collections.gold import GoldTopic, gold_topic, spread
from survey.core.collections.labels import sorted_topics
from survey.core.collections.runs import IN_NO_CLUSTER, Clusters
from survey.figures.exhibit import Exhibit
from survey.figures.judging import agreement_by_topic
from survey.services.analysis.label_results import (
    MOST_CONTESTED,
    OnTopic,
    annotators_sheet,
    asked_sentences,
    counted,
    explained,
    reliability_json,
    reliability_sheet,
)
from survey.services.analysis.results import Contested, Documents, Results, Sentence
from survey.services.analysis.sheets import Cell, Sheet, as_csv, count_of

ASKED_BACK = {
    "one_group": "whether all of a topic is one group",
    "unplaced": "whether nothing of a topic can be placed",
}


@dataclass(frozen=True)
class Compared:
    """Two clusterings compared; ``only_first``, ``only_second``: topics of one alone.

    ``reliability``: of pairs of documents, of all assessors who were asked independently.
    """

    threshold: float
    topics: Sequence[Comparison]
    only_first: Sequence[str]
    only_second: Sequence[str]
    reliability: Reliability

    @property
    def third(self) -> list[str]:
        """The topics that need a third assessor."""
        return [comparison.topic for comparison in self.topics if comparison.needs_third]


@dataclass(frozen=True)
class Gold:
    """Clusterings joined, topic by topic; ``only_third``: topics of the third alone."""

    topics: Sequence[GoldTopic]
    only_third: Sequence[str]

    @property
    def joined(self) -> list[GoldTopic]:
        """The topics that are not left out."""
        return [topic for topic in self.topics if topic.clusters]


def compared(
    first: Clusters,
    second: Clusters,
    threshold: float,
    reliability: Reliability,
    on_topic: OnTopic = lambda *_: None,
) -> Compared:
    """Compare two assessors' clusterings, topic by topic."""
    common = sorted_topics(first.keys() & second.keys())
    return Compared(
        threshold,
        [
            compare_clusters(topic, first[topic], second[topic], threshold)
            for topic in counted(common, on_topic)
        ],
        sorted_topics(first.keys() - second.keys()),
        sorted_topics(second.keys() - first.keys()),
        reliability,
    )


def pairs_reliability(names: Sequence[str], assessors: Sequence[Clusters]) -> Reliability:
    """Compute the reliability of assessors, of these names, by pairs of documents of a topic."""
    topics = sorted_topics({topic for clusters in assessors for topic in clusters})
    pairs = ((topic, pairs_together([each.get(topic) for each in assessors])) for topic in topics)
    return reliability_of(names, pairs, SAME_GROUPS)


def joined(
    assessors: Sequence[Clusters],
    threshold: float,
    floor: float,
    on_topic: OnTopic = lambda *_: None,
) -> Gold:
    """Join the clusterings of two or three assessors into one, topic by topic."""
    asked = assessors[0].keys() | assessors[1].keys()
    topics = [
        gold_topic(
            topic, [clusters.get(topic) for clusters in assessors], threshold=threshold, floor=floor
        )
        for topic in counted(sorted_topics(asked), on_topic)
    ]
    others = {topic for clusters in assessors[2:] for topic in clusters} - asked
    return Gold(topics, sorted_topics(others))


def reliability_sentences(reliability: Reliability, people: int) -> Iterator[str]:
    """Yield whether assessors are reliable, and how many it takes where more would help."""
    yield reliability.sentence(people, "assessors")
    if alike := reliability.alike("assessor"):
        yield alike
    needed = reliability.needed
    if needed is not None and needed > people:
        yield f"For .80 it takes {needed} assessors, averaged pair by pair."


def compared_sheet(compared: Compared) -> Sheet:
    """Return a table of two clusterings' agreement, a row for each topic."""
    columns = (
        *("topic", "documents", "only 1", "only 2", "clusters 1", "clusters 2", "granularity"),
        *("pairs agreed", "adjusted Rand", "B³ F1", "third, because"),
    )
    rows = tuple(
        (
            *(topic.topic, topic.documents, len(topic.only_first), len(topic.only_second)),
            *(*topic.clusters, topic.granularity),
            *(topic.pair_agreement, topic.adjusted_rand, topic.b_cubed, topic.reason),
        )
        for topic in compared.topics
    )
    note = (
        f"A third assessor is needed where the adjusted Rand index is below {compared.threshold}."
    )
    return Sheet("comparison", "Two assessors' clusters", columns, rows, note)


def compared_json(compared: Compared) -> dict[str, Any]:
    """Return two clusterings' agreement as JSON; ``why`` gives the reason of undefined figures."""
    topics = [
        explained(
            {
                **asdict(topic),
                "granularity": topic.granularity,
                "needs_third": topic.needs_third,
            },
            "fewer than two common documents, or none in a cluster",
        )
        for topic in compared.topics
    ]
    topics_of = {name: getattr(compared, name) for name in ("third", "only_first", "only_second")}
    reliability = {"reliability": reliability_json(compared.reliability)}
    return {"threshold": compared.threshold, "topics": topics, **topics_of, **reliability}


def gold_files(gold: Gold) -> tuple[str, str, str]:
    """Return the texts of the gold standard and of the two tables beside it."""
    lines = [
        line for topic in gold.joined for line in clustering_lines(topic.topic, topic.clusters)
    ]
    return "".join(lines), as_csv(gold_sheet(gold)), as_csv(statistics_sheet(gold))


def gold_sheet(gold: Gold) -> Sheet:
    """Return a table of topics: how the clusters were joined, or why it is left out."""
    columns = (
        *("topic", "rule", "clusters", "documents", "unknown", "only_first", "only_second"),
        *("pair_agreement", "rand_1_2", "rand_1_3", "rand_2_3", "reason"),
    )
    rows: list[tuple[Cell, ...]] = []
    for topic in gold.topics:
        two = topic.comparison
        clusters = topic.clusters
        unknown = sum(not names for names in clusters.values())
        missing = (len(two.only_first), len(two.only_second)) if two else (None, None)
        rows.append(
            (
                *(topic.topic, topic.rule, len(members(clusters)), len(clusters), unknown),
                *(*missing, two.pair_agreement if two else None),
                *(*topic.agreements, two.reason if two else ""),
            )
        )
    return Sheet("topics", "Rules and agreement per topic", columns, tuple(rows))


def statistics_sheet(gold: Gold) -> Sheet:
    """Return Table 3 of the ImageCLEF paper for the topics that are not left out."""
    counts = {
        "clusters per topic": [len(members(topic.clusters)) for topic in gold.joined],
        "relevant documents per topic": [len(topic.clusters) for topic in gold.joined],
    }
    rows = tuple((name, *spread(values).values()) for name, values in counts.items())
    columns = ("description", *spread([]))
    note = "Unknown documents count as relevant; they make no cluster. sd: of a sample."
    return Sheet("statistics", "The gold standard", columns, rows, note, decimals=1)


def gold_json(gold: Gold, files: Iterable[Path]) -> dict[str, Any]:
    """Return how the topics' clusters were joined, and their statistics, as JSON."""
    topics, statistics = gold_sheet(gold), statistics_sheet(gold)
    return {
        "topics": [
            explained(
                dict(zip(topics.columns, row, strict=True)),
                "an assessor lacks the topic, or two have fewer than two documents in common",
            )
            for row in topics.rows
        ],
        "statistics": [
            explained(
                dict(zip(statistics.columns, row, strict=True)),
                "a mean needs one topic, a standard deviation two",
            )
            for row in statistics.rows
        ],
        "only_third": list(gold.only_third),
        "files": [str(file) for file in files],
    }


def cluster_lines(clusters: Clusters) -> Iterator[str]:
    """Yield the lines of an assessor's clusterings, as `survey assess` reads them."""
    for topic in sorted_topics(clusters):
        yield from clustering_lines(topic, clusters[topic])


FILES = ("first.txt", "second.txt", "third.txt")
GOLD = ("gold.txt", "gold-topics.csv", "gold-statistics.csv")


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
    what back.
    """

    assessors: Sequence[Assessor]
    threshold: float
    floor: float
    asked_back: Mapping[str, int]

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
        return compared(self.clusters[0], self.clusters[1], self.threshold, reliability)

    @cached_property
    def independent(self) -> list[Assessor]:
        """The assessors who were asked about all topics, not as a third."""
        return [each for each in self.assessors if each.role != "third"]

    @cached_property
    def gold(self) -> Gold:
        """The gold standard; of two where no topic has a third."""
        assessors = self.clusters if self.clusters[2] else self.clusters[:2]
        return joined(assessors, self.threshold, self.floor)

    def as_json(self) -> dict[str, Any]:
        """Return agreement, gold standard, and how much each assessor did in which time."""
        return {
            "agreement": compared_json(self.compared),
            "gold": gold_json(self.gold, ()),
            "assessors": [explained(each, "sorted nothing") for each in self._assessors()],
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
        """Whether the assessors are reliable, in a sentence."""
        if not self.compared.topics:
            return "There is no gold standard: no topic has two assessors."
        return self._reliability_sentences[0]

    @property
    def sentences(self) -> list[Sentence]:
        """What to read next: what further assessors would bring, and where the first two agree."""
        topics = len(self.compared.topics)
        if not topics:
            return []
        agree, joined = topics - len(self.compared.third), len(self.gold.joined)
        first_two = (
            f"The first two assessors agree on {agree} of {count_of(topics, 'topic')}; the gold "
            f"standard has {joined} of {count_of(len(self.gold.topics), 'topic')}."
        )
        return [*map(Sentence, (*self._reliability_sentences[1:], first_two))]

    @property
    def _reliability_sentences(self) -> list[str]:
        return [*reliability_sentences(self.compared.reliability, len(self.independent))]

    @property
    def counts(self) -> str:
        """What the sentence rests on."""
        documents = sum(topic.documents for topic in self.compared.topics)
        by_both = f"{count_of(documents, 'document')} sorted by both"
        return f"{count_of(len(self.assessors), 'assessor')} · {by_both}"

    def own_sheets(self) -> list[Sheet]:
        """Return the tables: reliability, topics, the gold standard, and the assessors."""
        columns = ("participant", "role", "topics", "documents", "groups", "seconds_per_picture")
        rows = tuple(tuple(each[name] for name in columns) for each in self._assessors())
        asked = asked_sentences("topics that were done", ASKED_BACK, self.asked_back)
        note = " ".join(["Seconds: from first seeing a topic to its end, with breaks.", *asked])
        people = Sheet("assessors", "The assessors", columns, rows, note)
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
        """Return the figure of agreement by topic."""
        rows = [(each.topic, each.adjusted_rand, each.b_cubed) for each in self.compared.topics]
        note = f"The first two assessors. A third is needed below {self.threshold} (adjusted Rand)."
        indices = ("adjusted Rand index", "B³ F1")
        return [agreement_by_topic("Agreement by topic", indices, rows, note)]

    def contested(self) -> Documents:
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
        return Documents("Below each: its groups by the first and by the second assessor.", topics)

    @property
    def files_note(self) -> str:
        """See ``Results``."""
        return "the assessors' groups, with the gold standard that survey assess gold makes of them"

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield each assessor's groups, and what `survey assess gold` makes of them."""
        for name, clusters in zip(FILES, self.clusters, strict=True):
            if clusters:
                yield name, "".join(cluster_lines(clusters))
        if self.gold.joined:
            yield from zip(GOLD, gold_files(self.gold), strict=True)


def group_names(groups: Iterable[str]) -> str:
    """Return the names of a document's groups, "unknown" for none."""
    return ", ".join(sorted(groups)) or IN_NO_CLUSTER
