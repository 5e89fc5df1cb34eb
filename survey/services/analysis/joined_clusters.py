"""Assessors' clusterings: how far two agree, and the gold standard that is made of them."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean, stdev

from survey.core.agreement.reliability import SAME_GROUPS, Reliability, reliability_of
from survey.core.collections.clusterings import (
    ClusteringComparison,
    clustering_lines,
    compare_clusters,
    members,
    pairs_together,
)
from survey.core.collections.gold import GoldTopic, gold_topic, topic_spread
from survey.core.collections.labels import sorted_topics
from survey.core.collections.runs import IN_NO_CLUSTER, Clusters
from survey.core.statistics.significance import Interval, t_quantile
from survey.core.text_input import Json
from survey.services.analysis.merged_labels import (
    OnTopic,
    counted,
    explained_figures,
    reliability_json,
)
from survey.services.analysis.sheets import Cell, Sheet, as_csv


@dataclass(frozen=True)
class Compared:
    """Two clusterings compared; ``only_first``, ``only_second``: topics of one alone.

    ``reliability``: of pairs of documents, of all assessors who were asked independently.
    """

    threshold: float
    topics: Sequence[ClusteringComparison]
    only_first: Sequence[str]
    only_second: Sequence[str]
    reliability: Reliability

    @property
    def agreed(self) -> int:
        """In how many topics the two agree sufficiently."""
        return len(self.topics) - len(self.third)

    @cached_property
    def rands(self) -> list[float]:
        """The adjusted Rand index of each topic that has one."""
        return [each.adjusted_rand for each in self.topics if each.adjusted_rand is not None]

    @cached_property
    def mean_rand(self) -> tuple[float | None, Interval | None]:
        """The mean adjusted Rand index, with its 95 % interval by t over topics."""
        if not self.rands:
            return None, None
        mean, number = fmean(self.rands), len(self.rands)
        if number < 2:
            return mean, None
        reach = t_quantile(0.975, number - 1) * stdev(self.rands) / math.sqrt(number)
        return mean, (max(-1.0, mean - reach), min(1.0, mean + reach))

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


def cluster_comparison(
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


def compared_json(compared: Compared) -> dict[str, Json]:
    """Return two clusterings' agreement as JSON; ``why`` gives the reason of undefined figures."""
    topics = [
        explained_figures(
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
    mean, interval = compared.mean_rand
    rand: dict[str, Json] = {"agreed": compared.agreed, "mean": mean, "ci95": interval}
    if interval is None:
        rand["why"] = "the mean needs one topic, its interval two"
    return {
        "threshold": compared.threshold,
        "topics": topics,
        **topics_of,
        "reliability": reliability_json(compared.reliability),
        "adjusted_rand": rand,
    }


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
    rows = tuple((name, *topic_spread(values).values()) for name, values in counts.items())
    columns = ("description", *topic_spread([]))
    note = "Unknown documents count as relevant; they make no cluster. sd: of a sample."
    return Sheet("statistics", "The gold standard", columns, rows, note, decimals=1)


def gold_json(gold: Gold, files: Iterable[Path]) -> dict[str, Json]:
    """Return how the topics' clusters were joined, and their statistics, as JSON."""
    topics, statistics = gold_sheet(gold), statistics_sheet(gold)
    return {
        "topics": [
            explained_figures(
                dict(zip(topics.columns, row, strict=True)),
                "an assessor lacks the topic, or two have fewer than two documents in common",
            )
            for row in topics.rows
        ],
        "statistics": [
            explained_figures(
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


GOLD = ("gold.txt", "gold-topics.csv", "gold-statistics.csv")


def group_names(groups: Iterable[str]) -> str:
    """Return the names of a document's groups, "unknown" for none."""
    return ", ".join(sorted(groups)) or IN_NO_CLUSTER
