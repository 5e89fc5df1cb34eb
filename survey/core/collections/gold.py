"""The gold standard: one clustering of a topic from those of two or three assessors.

The rule is our reading of Arni et al. 2008, Sections 4.2 to 4.3.4, which describe people
who came to an agreement, not an algorithm. Where two assessors sufficiently agree, “the gold
standard was already obvious”, and “in case of doubt, an image was classified in both
clusters”: the union of their clusters. Elsewhere a third assessor clusters the topic too, and
“a granularity acceptable to 3 assessors was agreed”: that of the assessor who agrees best with
the other two, with “small disagreements corrected” where those two agree against it. Where
three do not agree either, “we have to consider dropping this topic”: it is left out.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from survey.core.collections.clusterings import (
    SUFFICIENT,
    Clustering,
    ClusteringComparison,
    adjusted_rand,
    compare_clusters,
    members,
    membership,
)

FLOOR = 0.5
"""Mean adjusted Rand index below which no granularity is acceptable: half way from chance (0)
to the same clusters (1). Our choice."""

UNION = "union of two"
MOST_AGREED = "of three, that of assessor {}"
NO_THIRD = "left out: no third assessor"
NO_PAIR = "left out: only one of the first two assessors"
NO_AGREEMENT = "left out: three do not agree"
NONE_PLACED = "left out: no document could be placed"
LEFT_OUT = "left out: {}"  # the researcher's reason

ANNOTATOR_PAIRS = ((0, 1), (0, 2), (1, 2))
UNPLACED: frozenset[str] = frozenset()

Agreements = tuple[float | None, float | None, float | None]
"""Adjusted Rand index of the first with the second, first with third, second with third: of
two on their common documents, of three on the documents of all (``_compare_three``)."""


@dataclass(frozen=True)
class GoldTopic:
    """One topic of the gold standard; ``clusters`` is empty where the topic is left out.

    ``rule``: how its clusters were chosen, or why it is left out. ``comparison``: of the first
    two assessors, None where only one of them has the topic. ``agreements``: None where
    two clusterings were not compared, or have fewer than two documents in common.
    """

    topic: str
    rule: str
    clusters: Clustering
    comparison: ClusteringComparison | None
    agreements: Agreements


def gold_topic(
    topic: str,
    assessors: Sequence[Clustering | None],
    *,
    threshold: float = SUFFICIENT,
    floor: float = FLOOR,
) -> GoldTopic:
    """Join the clusterings of two or three assessors (None: without this topic) into one.

    Where the first two sufficiently agree (``compare_clusters``), the result is their union,
    and a third is ignored. Else, with a third, the clustering with the highest mean adjusted
    Rand index with the other two is corrected by them (the earlier assessor's where means are
    equal), unless that mean is below ``floor``; an index that is undefined counts as 0.
    """
    first, second, third = (*assessors, None)[:3]
    if first is None or second is None:
        return GoldTopic(topic, NO_PAIR, {}, None, (None, None, None))
    two = compare_clusters(topic, first, second, threshold)
    pair: Agreements = (two.adjusted_rand, None, None)
    if not two.needs_third:
        return _drop_unplaced(GoldTopic(topic, UNION, union(first, second), two, pair))
    if third is None:
        return GoldTopic(topic, NO_THIRD, {}, two, pair)
    three = (first, second, third)
    agreements = _compare_three(three)
    pairs = [*zip(ANNOTATOR_PAIRS, agreements, strict=True)]
    means = [
        np.mean([value or 0 for two_of_three, value in pairs if assessor in two_of_three])
        for assessor in range(3)
    ]
    best = int(np.argmax(means))
    if means[best] < floor:
        return GoldTopic(topic, NO_AGREEMENT, {}, two, agreements)
    others = [clusters for assessor, clusters in enumerate(three) if assessor != best]
    clusters = corrected(three[best], *others)
    rule = MOST_AGREED.format(best + 1)
    return _drop_unplaced(GoldTopic(topic, rule, clusters, two, agreements))


def _compare_three(assessors: Sequence[Clustering]) -> Agreements:
    """Compare each two on the documents of all three; a document that one lacks is unplaced.

    On common documents alone, an assessor who clustered three of sixty documents could agree
    best with both others.
    """
    documents = {document for clusters in assessors for document in clusters}
    first, second, third = (
        {document: clusters.get(document, UNPLACED) for document in documents}
        for clusters in assessors
    )
    return adjusted_rand(first, second), adjusted_rand(first, third), adjusted_rand(second, third)


def _drop_unplaced(topic: GoldTopic) -> GoldTopic:
    # A topic in which no document is placed has no sub-topic to retrieve.
    if members(topic.clusters):
        return topic
    return replace(topic, rule=NONE_PLACED, clusters={})


def matched(base: Clustering, other: Clustering) -> dict[str, str]:
    """Match the other's clusters to the base's, one to one: other's name → base's name.

    The matching of largest total overlap Σ |C ∩ D| (an assignment problem); clusters
    without a common document are not matched. Their names do not matter.
    """
    documents = sorted(base.keys() & other.keys())
    overlap = membership(base, documents).T @ membership(other, documents)
    base_names, other_names = list(members(base)), list(members(other))
    rows, columns = scipy.optimize.linear_sum_assignment(overlap, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {other_names[column]: base_names[row] for row, column in pairs if overlap[row, column]}


def union(first: Clustering, second: Clustering) -> Clustering:
    """Join two clusterings: each document gets its clusters by both, after matching them.

    A cluster of the second that matches none of the first remains a cluster of its own, so
    neither assessor's distinctions are lost. A document that one of them could not place, or
    does not have, is where the other put it; it is unknown where neither could place it.
    """
    names = matched(first, second)
    taken = set(members(first))
    for cluster in members(second):
        if cluster not in names:
            unused = cluster
            while unused in taken:
                unused += " (second)"
            names[cluster] = unused
            taken.add(unused)
    return {
        document: first.get(document, UNPLACED)
        | {names[cluster] for cluster in second.get(document, UNPLACED)}
        for document in first.keys() | second.keys()
    }


def corrected(base: Clustering, second: Clustering, third: Clustering) -> Clustering:
    """Move each document of the base to where the other two assessors both put it.

    Their clusters are matched to the base's first. Where one of the two has a document in a
    cluster that matches none of the base's, its choice cannot be expressed in the base's
    clusters and moves nothing. A document that the base does not have is where either of the
    two put it.
    """
    views = _in_clusters_of(base, second), _in_clusters_of(base, third)
    return {
        document: _two_of_three(base.get(document), *(view.get(document) for view in views))
        for document in base.keys() | second.keys() | third.keys()
    }


def _in_clusters_of(base: Clustering, other: Clustering) -> dict[str, frozenset[str]]:
    """Rename the other's clusters to the base's, without documents in an unmatched cluster."""
    names = matched(base, other)
    return {
        document: frozenset(names[cluster] for cluster in clusters)
        for document, clusters in other.items()
        if clusters <= names.keys()
    }


def _two_of_three(
    base: frozenset[str] | None, second: frozenset[str] | None, third: frozenset[str] | None
) -> frozenset[str]:
    if second is not None and second == third:
        return second
    return base if base is not None else (second or UNPLACED) | (third or UNPLACED)


def leave_out(topic: GoldTopic, reason: str) -> GoldTopic:
    """Return a topic without clusters, for a researcher's reason; its comparison stays."""
    return replace(topic, rule=LEFT_OUT.format(reason), clusters={})


def documents_by_topics(topics: Iterable[GoldTopic]) -> dict[int, int]:
    """Count the documents that are relevant to one topic, to two, …: number of topics → count."""
    relevant = Counter(document for topic in topics for document in topic.clusters)
    return dict(sorted(Counter(relevant.values()).items()))


def topic_spread(counts: Sequence[float]) -> dict[str, float | None]:
    """Summarise counts per topic as in ImageCLEF's Table 3; None where there are too few.

    ``sd``: the standard deviation of a sample.
    """
    return {
        "topics": len(counts),
        "mean": float(np.mean(counts)) if counts else None,
        "sd": float(np.std(counts, ddof=1)) if len(counts) > 1 else None,
        "median": float(np.median(counts)) if counts else None,
        "smallest": min(counts, default=None),
        "largest": max(counts, default=None),
    }
