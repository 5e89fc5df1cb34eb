"""One clustering from those of two or three assessors: the gold standard.

The rule is our reading of Arni et al. 2008, Sections 4.2 to 4.3.4, which describe people
who came to an agreement, not an algorithm. Where two assessors sufficiently agree, “the gold
standard was already obvious”, and “in case of doubt, an image was classified in both
clusters”: the union of their clusters. Elsewhere a third assessor clusters the topic too, and
“a granularity acceptable to 3 assessors was agreed”: that of the assessor who agrees best with
the other two, with “small disagreements corrected” where those two agree against it. Where
three do not agree either, “we have to consider dropping this topic”: it is left out.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from survey.core.collections.clusterings import (
    SUFFICIENT,
    Clusters,
    Comparison,
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
ONE_ONLY = "left out: only one of the first two assessors"
NO_AGREEMENT = "left out: three do not agree"
NONE_PLACED = "left out: no document could be placed"

PAIRS = ((0, 1), (0, 2), (1, 2))
NOWHERE: frozenset[str] = frozenset()

Agreements = tuple[float | None, float | None, float | None]
"""Adjusted Rand index of the first with the second, first with third, second with third: of
two on their common documents, of three on the documents of all (``_of_three``)."""


@dataclass(frozen=True)
class GoldTopic:
    """One topic of the gold standard; ``clusters`` is empty where the topic is left out.

    ``rule``: how its clusters were found, or why it is left out. ``comparison``: of the first
    two assessors, None where only one of them has the topic. ``agreements``: None where
    two were not compared, or have fewer than two documents in common.
    """

    topic: str
    rule: str
    clusters: Clusters
    comparison: Comparison | None
    agreements: Agreements


@dataclass(frozen=True)
class Spread:
    """Mean, sample standard deviation, median, smallest and largest of a count over topics."""

    topics: int
    mean: float | None
    sd: float | None
    median: float | None
    smallest: int | None
    largest: int | None


def gold_topic(
    topic: str,
    assessors: Sequence[Clusters | None],
    *,
    threshold: float = SUFFICIENT,
    floor: float = FLOOR,
) -> GoldTopic:
    """Join the clusters of two or three assessors (None: without this topic) into one.

    Two that sufficiently agree (``compare_clusters``) give the union, whatever a third says.
    Else, with a third, the clustering with the highest mean adjusted Rand index with the other
    two is corrected by them (of equals the earlier assessor's), unless that mean is below
    ``floor``; an index that is undefined counts as 0.
    """
    first, second, third = (*assessors, None)[:3]
    if first is None or second is None:
        return GoldTopic(topic, ONE_ONLY, {}, None, (None, None, None))
    two = compare_clusters(topic, first, second, threshold)
    alone: Agreements = (two.adjusted_rand, None, None)
    if not two.needs_third:
        return _placed(GoldTopic(topic, UNION, union(first, second), two, alone))
    if third is None:
        return GoldTopic(topic, NO_THIRD, {}, two, alone)
    three = (first, second, third)
    agreements = _of_three(three)
    means = [np.mean([value or 0 for value in _of(place, agreements)]) for place in range(3)]
    best = int(np.argmax(means))
    if means[best] < floor:
        return GoldTopic(topic, NO_AGREEMENT, {}, two, agreements)
    clusters = corrected(three[best], *(one for place, one in enumerate(three) if place != best))
    return _placed(GoldTopic(topic, MOST_AGREED.format(best + 1), clusters, two, agreements))


def _of_three(assessors: Sequence[Clusters]) -> Agreements:
    """Compare each two on the documents of all, those that one does not have as unknown.

    On common documents alone, who clustered three of sixty could agree best with everybody.
    """
    documents = {document for one in assessors for document in one}
    first, second, third = (
        {document: one.get(document, NOWHERE) for document in documents} for one in assessors
    )
    return (
        adjusted_rand(first, second),
        adjusted_rand(first, third),
        adjusted_rand(second, third),
    )


def _of(assessor: int, agreements: Agreements) -> list[float | None]:
    """Return an assessor's agreements with the other two."""
    return [value for pair, value in zip(PAIRS, agreements, strict=True) if assessor in pair]


def _placed(topic: GoldTopic) -> GoldTopic:
    """Leave a topic out in which every document is unknown: it has no sub-topic to find."""
    if members(topic.clusters):
        return topic
    return replace(topic, rule=NONE_PLACED, clusters={})


def matched(base: Clusters, other: Clusters) -> dict[str, str]:
    """Match the other's clusters to the base's, one to one: other's name → base's name.

    The matching of largest total overlap Σ |C ∩ D| (an assignment problem); pairs that have
    no document in common are not matched. Names play no part.
    """
    documents = sorted(base.keys() & other.keys())
    overlap = membership(base, documents).T @ membership(other, documents)
    ours, theirs = list(members(base)), list(members(other))
    rows, columns = linear_sum_assignment(overlap, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {theirs[column]: ours[row] for row, column in pairs if overlap[row, column]}


def union(first: Clusters, second: Clusters) -> Clusters:
    """Give each document its clusters by the first and by the second, after matching.

    A cluster of the second that matches none of the first stays a cluster of its own, so
    neither assessor's distinctions are lost. A document that one of them could not place, or
    does not have, is where the other put it; one that nobody could place is unknown.
    """
    names = matched(first, second)
    taken = set(members(first))
    for cluster in members(second):
        if cluster not in names:
            names[cluster] = _free(cluster, taken)
            taken.add(names[cluster])
    return {
        document: first.get(document, NOWHERE)
        | {names[cluster] for cluster in second.get(document, NOWHERE)}
        for document in first.keys() | second.keys()
    }


def _free(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += " (second)"
    return name


def corrected(base: Clusters, one: Clusters, other: Clusters) -> Clusters:
    """Move each document of the base to where the other two assessors both put it.

    After matching their clusters to the base's. Where one of the two has a document in a
    cluster that matches none of the base's, its view cannot be said in the base's granularity
    and moves nothing. A document that the base does not have is where either of the two put
    it.
    """
    views = _in_words_of(base, one), _in_words_of(base, other)
    return {
        document: _two_of_three(base.get(document), *(view.get(document) for view in views))
        for document in base.keys() | one.keys() | other.keys()
    }


def _in_words_of(base: Clusters, other: Clusters) -> dict[str, frozenset[str]]:
    """Return the other's view as far as it can be said in clusters of the base."""
    names = matched(base, other)
    return {
        document: frozenset(names[cluster] for cluster in clusters)
        for document, clusters in other.items()
        if clusters <= names.keys()
    }


def _two_of_three(
    base: frozenset[str] | None, one: frozenset[str] | None, other: frozenset[str] | None
) -> frozenset[str]:
    if one is not None and one == other:
        return one
    return base if base is not None else (one or NOWHERE) | (other or NOWHERE)


def spread(counts: Sequence[int]) -> Spread:
    """Describe counts per topic as Table 3 does; None where there are too few."""
    if not counts:
        return Spread(0, None, None, None, None, None)
    return Spread(
        topics=len(counts),
        mean=float(np.mean(counts)),
        sd=float(np.std(counts, ddof=1)) if len(counts) > 1 else None,
        median=float(np.median(counts)),
        smallest=min(counts),
        largest=max(counts),
    )
