"""Assessors' clusterings of a topic's documents: read from files, compared pair by pair.

An assessor puts the relevant documents of a topic into clusters, several if need be.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.collections.runs import IN_NO_CLUSTER, Clusters, read_clusters
from survey.core.text_input import FileFaults, shortened

# More documents would exhaust memory: pairs of them make tables of this size squared, 16 MB
# each. People cluster by hand: the largest topic of ImageCLEF 2008 has 184 documents.
MOST_DOCUMENTS = 2_000

Clustering = Mapping[str, frozenset[str]]
"""One topic: document → its clusters; none where the document could not be placed."""


def read_clustering(file: str, lines: Iterable[str], faults: FileFaults) -> Clusters:
    """Read one assessor's clusterings as ``read_clusters`` does; a huge topic is a fault too."""
    clusters = read_clusters(file, lines, faults)
    for topic, documents in clusters.items():
        if len(documents) > MOST_DOCUMENTS:
            faults.add(
                f"{file}: topic {shortened(topic)} has {len(documents)} documents; "
                f"{MOST_DOCUMENTS} are allowed"
            )
    return clusters


def members(clusters: Clustering) -> dict[str, frozenset[str]]:
    """Turn document → clusters into cluster → documents.

    The clusters are in the order of their sorted documents, so that results that depend on
    the order are the same whatever the clusters' names are.
    """
    groups: dict[str, set[str]] = {}
    for document, names in clusters.items():
        for name in names:
            groups.setdefault(name, set()).add(document)
    order = sorted(groups, key=lambda name: (sorted(groups[name]), name))
    return {name: frozenset(groups[name]) for name in order}


def membership(clusters: Clustering, documents: Iterable[str]) -> NDArray[np.float32]:
    """Return a table (documents, clusters), 1 where a document is in a cluster.

    Columns are in the order of ``members``. Single-precision numbers make products of tables
    fast; their sums are exact up to 2**24.
    """
    row = {document: index for index, document in enumerate(documents)}
    groups = members(clusters)
    table = np.zeros((len(row), len(groups)), dtype=np.float32)
    for column, group in enumerate(groups.values()):
        table[[row[document] for document in group if document in row], column] = 1
    return table


def clustering_lines(topic: str, clusters: Clustering) -> Iterator[str]:
    """Yield one topic's lines as ``read_clustering`` reads them, documents and clusters sorted."""
    for document in sorted(clusters):
        for cluster in sorted(clusters[document]) or [IN_NO_CLUSTER]:
            yield f"{topic} {document} {cluster}\n"


Shared = NDArray[np.float32]
"""Shape (documents, documents): how many clusters each two documents share."""


def shared_clusters(clusters: Clustering, documents: Sequence[str]) -> Shared:
    """Count the clusters that each two documents share; on the diagonal at least 1.

    A document that could not be placed shares clusters with itself alone: unknown documents
    do not belong together.
    """
    table = membership(clusters, documents)
    shared: Shared = table @ table.T
    np.fill_diagonal(shared, np.maximum(np.diag(shared), 1))
    return shared


def pairs_together(assessors: Sequence[Clustering | None]) -> NDArray[np.float32]:
    """Return which documents of a topic assessors put together (None: without this topic).

    Shape (documents, documents, assessors), documents sorted: 1 where two share a cluster, 0 where
    they do not, NaN where an assessor does not have both, and for a document with itself.
    """
    documents = sorted({document for clusters in assessors for document in clusters or ()})
    values = np.full((len(documents), len(documents), len(assessors)), np.nan, dtype=np.float32)
    for place, clusters in enumerate(assessors):
        if clusters is not None:
            own = [row for row, document in enumerate(documents) if document in clusters]
            shared = shared_clusters(clusters, [documents[row] for row in own])
            values[np.ix_(own, own, [place])] = (shared > 0)[:, :, np.newaxis]
    values[np.diag_indices(len(documents))] = np.nan
    return values


def pair_agreement(first: Shared, second: Shared) -> float | None:
    """Compute the share of pairs of documents on which two assessors agree (Rand 1971).

    A pair is together if its documents share at least one cluster. In [0, 1]; None without a
    pair. With many clusters most pairs are apart, so chance alone makes it high.
    """
    both, _, _, neither = pairs = _count_pairs(first, second)
    return (both + neither) / sum(pairs) if sum(pairs) else None


def adjusted_rand(
    first: Clustering, second: Clustering, documents: Iterable[str] | None = None
) -> float | None:
    """Compute the adjusted Rand index, at most 1; 0 is what chance gives (Hubert & Arabie 1985).

    ``documents``: on which two clusterings are compared; those that both have, if not given.
    With a pairs together in both, b and c in one only, d in neither:
    2 (ad - bc) / ((a + b)(b + d) + (a + c)(c + d)); 1 where both put all together or all
    apart (0/0); None without a pair. For clusters that do not overlap this is the usual
    index; for others the pairs are counted by “share a cluster”, so documents that share
    two clusters count like those that share one.
    """
    common = sorted(first.keys() & second.keys() if documents is None else documents)
    a, b, c, d = _count_pairs(shared_clusters(first, common), shared_clusters(second, common))
    if a + b + c + d == 0:
        return None
    if b == c == 0:
        return 1.0
    return 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))


def _count_pairs(first: Shared, second: Shared) -> tuple[int, int, int, int]:
    """Count the pairs of documents that both, the first, the second, neither put together."""
    by_first, by_second = first > 0, second > 0
    documents = len(first)
    # The diagonal is no pair.
    both = (int(np.count_nonzero(by_first & by_second)) - documents) // 2
    only_first = int(np.count_nonzero(by_first & ~by_second)) // 2
    only_second = int(np.count_nonzero(by_second & ~by_first)) // 2
    pairs = documents * (documents - 1) // 2
    return both, only_first, only_second, pairs - both - only_first - only_second


def b_cubed(first: Shared, second: Shared) -> float | None:
    """Compute F1 of extended B³, in (0, 1], symmetric; None without documents (Amigó et al. 2009).

    Precision: for each document the mean, over those that share a cluster with it in the
    second, itself included, of min(s₁, s₂) / s₂, with s the number of clusters shared; its
    mean over documents. Recall is the same the other way round, F1 their harmonic mean. It
    counts how many clusters are shared, so it sees what the adjusted Rand index does not.
    """
    if not len(first):
        return None
    least = np.minimum(first, second)
    precision, recall = _mean_share(least, second), _mean_share(least, first)
    return 2 * precision * recall / (precision + recall)


def _mean_share(least: Shared, whole: Shared) -> float:
    together = whole > 0
    share = np.divide(least, whole, out=np.zeros(whole.shape), where=together)
    return float(np.mean(share.sum(axis=1) / together.sum(axis=1)))


SUFFICIENT = 0.8
"""Adjusted Rand index from which two clusterings agree sufficiently: Steinley 2004 calls recovery
above it “good”; ImageCLEF names no threshold."""
NESTED = 0.8
"""Share of a cluster inside one of the other assessor's from which it counts as a part of it."""

MULTIPLE = "multiple assignment"
DOMAIN = "domain knowledge"
GRANULARITY = "granularity"
UNDERSTANDING = "different understanding"
DIFFERENT_DOCUMENTS = "different documents"


@dataclass(frozen=True)
class ClusteringComparison:
    """Two assessors' clusterings of one topic; pairs of numbers are the first's, the second's.

    ``documents``: those that both clustered, from which the agreement is computed;
    ``only_first``, ``only_second``: those that one assessor alone clustered. ``clusters``:
    how many each made; ``unknown``: how many documents each could not place; ``several``: how
    many each put into several clusters. Agreement is None below two common documents.
    ``reason``: why a third assessor is needed; empty where the two suffice.
    """

    topic: str
    documents: int
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    clusters: tuple[int, int]
    unknown: tuple[int, int]
    several: tuple[int, int]
    pair_agreement: float | None
    adjusted_rand: float | None
    b_cubed: float | None
    reason: str

    @property
    def granularity(self) -> float | None:
        """The second's number of clusters divided by the first's; None where the first has none."""
        return self.clusters[1] / self.clusters[0] if self.clusters[0] else None

    @property
    def needs_third(self) -> bool:
        """Whether the two do not agree sufficiently."""
        return bool(self.reason)


def compare_clusters(
    topic: str, first: Clustering, second: Clustering, threshold: float = SUFFICIENT
) -> ClusteringComparison:
    """Compare two assessors' clusterings of one topic.

    The two agree sufficiently where the adjusted Rand index of the documents that both
    clustered is ``threshold`` or more; the plain share of pairs does not decide, since with
    eight clusters it is about .8 by chance. With fewer than two such documents they agree
    only if neither has a document that the other has not.
    """
    documents = sorted(first.keys() & second.keys())
    shared = shared_clusters(first, documents), shared_clusters(second, documents)
    return ClusteringComparison(
        topic=topic,
        documents=len(documents),
        only_first=tuple(sorted(first.keys() - second.keys())),
        only_second=tuple(sorted(second.keys() - first.keys())),
        clusters=(len(members(first)), len(members(second))),
        unknown=(_count(first, [0]), _count(second, [0])),
        several=(len(first) - _count(first, [0, 1]), len(second) - _count(second, [0, 1])),
        pair_agreement=pair_agreement(*shared),
        adjusted_rand=adjusted_rand(first, second),
        b_cubed=b_cubed(*shared),
        reason=_reason(first, second, threshold),
    )


def _count(clusters: Clustering, sizes: Sequence[int]) -> int:
    return sum(len(names) in sizes for names in clusters.values())


def _reason(first: Clustering, second: Clustering, threshold: float) -> str:
    """Name the likely reason why two clusterings do not agree; empty where they do.

    The reasons of ImageCLEF's Section 4.3, tried from the simplest on. Each step leaves out
    more, until the rest agrees (or is a single document); the last step is the reason: first
    documents that either put into several clusters; then those that either could not place;
    then clusters that are parts of one another's are merged.
    """
    common = sorted(first.keys() & second.keys())
    if len(common) < 2:
        return "" if first.keys() == second.keys() else DIFFERENT_DOCUMENTS
    if _agree(first, second, common, threshold):
        return ""
    single = [
        document for document in common if max(len(first[document]), len(second[document])) < 2
    ]
    if _agree(first, second, single, threshold):
        return MULTIPLE
    placed = [document for document in single if first[document] and second[document]]
    if _agree(first, second, placed, threshold):
        return DOMAIN
    parts = ({document: each[document] for document in placed} for each in (first, second))
    coarse = coarsened(*parts)
    return GRANULARITY if _agree(*coarse, placed, threshold) else UNDERSTANDING


def _agree(
    first: Clustering, second: Clustering, documents: Iterable[str], threshold: float
) -> bool:
    index = adjusted_rand(first, second, documents)
    return index is None or index >= threshold


def coarsened(first: Clustering, second: Clustering) -> tuple[Clustering, Clustering]:
    """Merge clusters of one assessor that are a single cluster for the other.

    A cluster C of the first and D of the second belong together where
    |C ∩ D| ≥ .8 min(|C|, |D|): the smaller lies in the larger, but for some documents. Clusters
    connected that way become one cluster in both. So two clusterings become the same where
    each is finer in some places, say the first in birds and the second in cats.
    """
    documents = sorted(first.keys() | second.keys())
    in_first, in_second = membership(first, documents), membership(second, documents)
    overlap = in_first.T @ in_second
    smaller = np.minimum(in_first.sum(axis=0)[:, np.newaxis], in_second.sum(axis=0))
    count = in_first.shape[1]
    linked = np.zeros((count + in_second.shape[1],) * 2, dtype=bool)
    linked[:count, count:] = overlap >= NESTED * smaller
    _, parts = scipy.sparse.csgraph.connected_components(linked, directed=False)
    return _merge(first, parts[:count].tolist()), _merge(second, parts[count:].tolist())


def _merge(clusters: Clustering, parts: Sequence[int]) -> Clustering:
    part = dict(zip(members(clusters), map(str, parts), strict=True))
    return {
        document: frozenset(part[name] for name in names) for document, names in clusters.items()
    }
