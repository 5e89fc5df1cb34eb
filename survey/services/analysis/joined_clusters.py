"""Assessors' clusterings: how far two agree, and the gold standard that is made of them."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
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
from survey.core.collections.gold import (
    GoldTopic,
    documents_by_topics,
    gold_topic,
    leave_out,
    topic_spread,
)
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
        return [topic.adjusted_rand for topic in self.topics if topic.adjusted_rand is not None]

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
    """Clusterings joined, topic by topic; ``only_third``: topics of the third alone.

    ``cluster_types``: by what a topic's documents are clustered, of the topics that have one.
    """

    topics: Sequence[GoldTopic]
    only_third: Sequence[str]
    cluster_types: Mapping[str, str] = field(default_factory=dict)

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
    *,
    cluster_types: Mapping[str, str] | None = None,
    left_out: Mapping[str, str] | None = None,
) -> Gold:
    """Join the clusterings of two or three assessors into one, topic by topic.

    ``left_out``: topics that the researcher leaves out, whoever clustered them, with the reason.
    """
    reasons = left_out or {}
    asked = assessors[0].keys() | assessors[1].keys() | reasons.keys()
    topics = [
        gold_topic(
            topic, [clusters.get(topic) for clusters in assessors], threshold=threshold, floor=floor
        )
        for topic in counted(sorted_topics(asked), on_topic)
    ]
    topics = [
        leave_out(topic, reason) if (reason := reasons.get(topic.topic)) else topic
        for topic in topics
    ]
    others = {topic for clusters in assessors[2:] for topic in clusters} - asked
    return Gold(topics, sorted_topics(others), cluster_types or {})


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
    """Return Table 3 of the ImageCLEF paper and its other counts, of topics not left out."""
    unknown = _unknown(gold)
    sizes = {topic.topic: len(topic.clusters) for topic in gold.joined}
    shares = [100 * count / sizes[topic] for topic, count in unknown.items()]
    counts = {
        **_spreads(gold),
        "documents in several clusters": [*_in_several(gold).values()],
        "unknown documents": [*unknown.values()],
    }
    rows: list[tuple[Cell, ...]] = [
        (name, *topic_spread(values).values(), sum(values)) for name, values in counts.items()
    ]
    rows.append(("unknown documents, % of the topic", *topic_spread(shares).values(), None))
    by_topics = documents_by_topics(gold.joined)
    empty = [None] * (len(topic_spread([])) - 1)
    rows.append(("different documents", len(gold.joined), *empty, sum(by_topics.values())))
    rows += [
        (f"documents relevant to {number} topics", None, *empty, count)
        for number, count in by_topics.items()
        if number > 1
    ]
    rows += [
        (f"topics clustered by {cluster_type}", count, *empty, None)
        for cluster_type, count in _cluster_types(gold).items()
    ]
    columns = ("description", *topic_spread([]), "total")
    note = (
        "Unknown documents count as relevant; they make no cluster. In several clusters, unknown: "
        "of the topics that have such documents. sd: of a sample."
    )
    return Sheet("statistics", "The gold standard", columns, tuple(rows), note, decimals=1)


def _spreads(gold: Gold) -> dict[str, list[int]]:
    return {
        "clusters per topic": [len(members(topic.clusters)) for topic in gold.joined],
        "relevant documents per topic": [len(topic.clusters) for topic in gold.joined],
    }


def _in_several(gold: Gold) -> dict[str, int]:
    return _counted_where(gold, lambda names: len(names) > 1)


def _unknown(gold: Gold) -> dict[str, int]:
    return _counted_where(gold, lambda names: not names)


def _counted_where(gold: Gold, is_counted: Callable[[frozenset[str]], bool]) -> dict[str, int]:
    """Count the documents whose clusters are such, of each topic that has some."""
    counts = {topic.topic: sum(map(is_counted, topic.clusters.values())) for topic in gold.joined}
    return {topic: count for topic, count in counts.items() if count}


def _cluster_types(gold: Gold) -> dict[str, int]:
    """Count the topics of each cluster type, the most frequent first."""
    types = (gold.cluster_types.get(topic.topic) for topic in gold.joined)
    return dict(Counter(cluster_type for cluster_type in types if cluster_type).most_common())


def gold_json(gold: Gold, files: Iterable[Path]) -> dict[str, Json]:
    """Return how the topics' clusters were joined, and their statistics, as JSON."""
    topics, spreads = gold_sheet(gold), _spreads(gold)
    by_topics = documents_by_topics(gold.joined)
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
                {"description": name, **topic_spread(values), "total": sum(values)},
                "a mean needs one topic, a standard deviation two",
            )
            for name, values in spreads.items()
        ],
        "counts": {
            "in_several_clusters": _in_several(gold),
            "unknown": _unknown(gold),
            "different_documents": sum(by_topics.values()),
            "relevant_to": {str(number): count for number, count in by_topics.items()},
            "cluster_types": _cluster_types(gold),
        },
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
