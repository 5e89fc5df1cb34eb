"""Which relevant documents of a topic belong together, as one assessor sees it.

Agreement of two clusterings of the same documents, pair by pair.

Two assessors' clusters of a topic: how far they agree, and why not further.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from survey.core.collections.runs import CLUSTERS_LINE, IN_NO_CLUSTER, read_clusters
from survey.core.collections.runs import Clusters as Clustering
from survey.core.file_lines import shortened

# Pairs of documents are tables of this size squared, 16 MB each. People cluster by hand:
# the largest topic of ImageCLEF 2008 has 184 relevant documents.
MOST_DOCUMENTS = 2_000

Clusters = Mapping[str, frozenset[str]]
"""One topic: document → its clusters, several if need be; none where it could not be placed."""


def read_clustering(file: str, lines: Iterable[str], faults: list[str]) -> Clustering:
    """Read one assessor's clustering as ``read_clusters`` does; it may not be empty, nor huge."""
    found = read_clusters(file, lines, faults)
    if not found and not faults:
        faults.append(
            f"{file}: no cluster found; a line for each document is needed: {CLUSTERS_LINE}"
        )
    for topic, documents in found.items():
        if len(documents) > MOST_DOCUMENTS:
            faults.append(
                f"{file}: topic {shortened(topic)} has {len(documents)} documents; "
                f"{MOST_DOCUMENTS} are allowed"
            )
    return found


def members(clusters: Clusters) -> dict[str, frozenset[str]]:
    """Turn document → clusters into cluster → documents.

    Clusters stand in the order of their sorted documents, so that whatever depends on the
    order is the same under other names.
    """
    found: dict[str, set[str]] = {}
    for document, names in clusters.items():
        for name in names:
            found.setdefault(name, set()).add(document)
    order = sorted(found, key=lambda name: (sorted(found[name]), name))
    return {name: frozenset(found[name]) for name in order}


def membership(clusters: Clusters, documents: Iterable[str]) -> NDArray[np.float32]:
    """Return 1 where a document is in a cluster, of shape (documents, clusters).

    Columns in the order of ``members``. Single-precision numbers, since products of them are
    taken: sums stay exact up to 2**24.
    """
    row = {document: place for place, document in enumerate(documents)}
    groups = members(clusters)
    table = np.zeros((len(row), len(groups)), dtype=np.float32)
    for column, group in enumerate(groups.values()):
        table[[row[document] for document in group if document in row], column] = 1
    return table


def restricted(clusters: Clusters, documents: Iterable[str]) -> Clusters:
    """Keep the clusters of these documents only."""
    return {document: clusters[document] for document in documents}


def as_lines(topic: str, clusters: Clusters) -> Iterator[str]:
    """Write one topic as ``read_clustering`` reads it, documents and clusters sorted."""
    for document in sorted(clusters):
        for cluster in sorted(clusters[document]) or [IN_NO_CLUSTER]:
            yield f"{topic} {document} {cluster}\n"


Shared = NDArray[np.float32]
"""How many clusters each two documents share, of shape (documents, documents)."""


@dataclass(frozen=True)
class PairTable:
    """How many pairs of documents two assessors put together or apart.

    Together means that the two documents share at least one cluster. ``both``: both put
    them together; ``first``, ``second``: only that assessor does; ``neither``: both keep
    them apart. All from 0; they add up to n (n - 1) / 2 for n documents.
    """

    both: int
    first: int
    second: int
    neither: int

    @property
    def agreement(self) -> float | None:
        """Share of pairs on which the two agree, in [0, 1]; None without a pair (Rand 1971).

        Chance alone makes it high where clusters are many: most pairs are apart anyway.
        """
        pairs = self.both + self.first + self.second + self.neither
        return (self.both + self.neither) / pairs if pairs else None

    @property
    def adjusted_rand(self) -> float | None:
        """Adjusted Rand index, at most 1; 0 is what chance would give (Hubert & Arabie 1985).

        With a pairs together in both, b and c in one only, d in neither:
        2 (ad - bc) / ((a + b)(b + d) + (a + c)(c + d)); 1 where both put all together or all
        apart (0/0); None without a pair. For clusters that do not overlap this is the usual
        index; for others the pairs are counted by “share a cluster”, so documents that share
        two clusters count like those that share one.
        """
        a, b, c, d = self.both, self.first, self.second, self.neither
        if a + b + c + d == 0:
            return None
        if b == c == 0:
            return 1.0
        return 2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d))


def shared_clusters(clusters: Clusters, documents: Sequence[str]) -> Shared:
    """Count the clusters that each two documents share; on the diagonal at least 1.

    A document that could not be placed shares clusters with itself alone: the unknown ones
    do not belong together.
    """
    table = membership(clusters, documents)
    shared: Shared = table @ table.T
    np.fill_diagonal(shared, np.maximum(np.diag(shared), 1))
    return shared


def pair_table(first: Shared, second: Shared) -> PairTable:
    """Count the pairs of documents that both, one or none put together."""
    one, other = first > 0, second > 0
    documents = len(one)
    both = (int(np.count_nonzero(one & other)) - documents) // 2  # the diagonal is no pair
    only_first = int(np.count_nonzero(one & ~other)) // 2
    only_second = int(np.count_nonzero(other & ~one)) // 2
    pairs = documents * (documents - 1) // 2
    return PairTable(both, only_first, only_second, pairs - both - only_first - only_second)


def b_cubed(first: Shared, second: Shared) -> float | None:
    """F1 of extended B³, in (0, 1], symmetric; None without documents (Amigó et al. 2009).

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


def adjusted_rand(first: Clusters, second: Clusters) -> float | None:
    """Adjusted Rand index of two clusterings on the documents that both have."""
    documents = sorted(first.keys() & second.keys())
    table = pair_table(shared_clusters(first, documents), shared_clusters(second, documents))
    return table.adjusted_rand


SUFFICIENT = 0.8
"""Adjusted Rand index above which recovery is “good” (Steinley 2004); ImageCLEF names none."""
NESTED = 0.8
"""Share of a cluster that lies in one of the other's from which it counts as a part of it."""

MULTIPLE = "multiple assignment"
DOMAIN = "domain knowledge"
GRANULARITY = "granularity"
UNDERSTANDING = "different understanding"
DIFFERENT_DOCUMENTS = "different documents"


@dataclass(frozen=True)
class Comparison:
    """Two assessors' clusterings of one topic; pairs of numbers are the first's, the second's.

    ``documents``: those that both clustered, on which the agreement rests; ``only_first``,
    ``only_second``: those of one alone. ``clusters``: how many each made; ``unknown``: how
    many documents each could not place; ``several``: how many each put into several
    clusters. Agreement is None below two common documents. ``reason``: why a third assessor
    is needed; empty where none is.
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
        """The second's number of clusters divided by the first's; None where that has none."""
        return self.clusters[1] / self.clusters[0] if self.clusters[0] else None

    @property
    def needs_third(self) -> bool:
        """Tell whether the two do not sufficiently agree."""
        return bool(self.reason)


def compare_clusters(
    topic: str, first: Clusters, second: Clusters, threshold: float = SUFFICIENT
) -> Comparison:
    """Compare two assessors' clusters of one topic.

    The two sufficiently agree where the adjusted Rand index of the documents that both
    clustered is ``threshold`` or more; the plain share of pairs is no guide, since with
    eight clusters it is about .8 by chance. With fewer than two such documents they agree
    only if neither has a document that the other has not.
    """
    documents = sorted(first.keys() & second.keys())
    one, other = shared_clusters(first, documents), shared_clusters(second, documents)
    table = pair_table(one, other)
    return Comparison(
        topic=topic,
        documents=len(documents),
        only_first=tuple(sorted(first.keys() - second.keys())),
        only_second=tuple(sorted(second.keys() - first.keys())),
        clusters=(len(members(first)), len(members(second))),
        unknown=(_with(first, [0]), _with(second, [0])),
        several=(len(first) - _with(first, [0, 1]), len(second) - _with(second, [0, 1])),
        pair_agreement=table.agreement,
        adjusted_rand=table.adjusted_rand,
        b_cubed=b_cubed(one, other),
        reason=_reason(first, second, threshold),
    )


def _with(clusters: Clusters, counts: Sequence[int]) -> int:
    return sum(len(names) in counts for names in clusters.values())


def _reason(first: Clusters, second: Clusters, threshold: float) -> str:
    """Name the likely reason why two clusterings do not agree; empty where they do.

    The reasons of Section 4.3, tried in the order of their simplicity: what is looked at
    gets narrower until the rest agrees (or is a single document), and the last step is the
    reason. Without documents that either put into several clusters; without those that
    either could not place; with clusters that are parts of one another's taken together.
    """
    common = sorted(first.keys() & second.keys())
    if len(common) < 2:
        return "" if first.keys() == second.keys() else DIFFERENT_DOCUMENTS
    if _agree(first, second, common, threshold):
        return ""
    single = [one for one in common if max(len(first[one]), len(second[one])) < 2]
    if _agree(first, second, single, threshold):
        return MULTIPLE
    placed = [one for one in single if first[one] and second[one]]
    if _agree(first, second, placed, threshold):
        return DOMAIN
    coarse = coarsened(restricted(first, placed), restricted(second, placed))
    return GRANULARITY if _agree(*coarse, placed, threshold) else UNDERSTANDING


def _agree(first: Clusters, second: Clusters, documents: Iterable[str], threshold: float) -> bool:
    found = adjusted_rand(restricted(first, documents), restricted(second, documents))
    return found is None or found >= threshold


def coarsened(first: Clusters, second: Clusters) -> tuple[Clusters, Clusters]:
    """Take together what is one cluster for one assessor and several for the other.

    A cluster C of the first and D of the second belong together where
    |C ∩ D| ≥ .8 min(|C|, |D|): the smaller lies in the larger, but for some documents. What
    hangs together that way becomes one cluster in both. So two clusterings of which each is
    finer in places, the first in birds and the second in cats, become the same.
    """
    documents = sorted(first.keys() | second.keys())
    one, other = membership(first, documents), membership(second, documents)
    overlap = one.T @ other
    smaller = np.minimum(one.sum(axis=0)[:, np.newaxis], other.sum(axis=0))
    count = one.shape[1]
    linked = np.zeros((count + other.shape[1],) * 2, dtype=bool)
    linked[:count, count:] = overlap >= NESTED * smaller
    _, parts = connected_components(linked, directed=False)
    return _renamed(first, parts[:count].tolist()), _renamed(second, parts[count:].tolist())


def _renamed(clusters: Clusters, parts: Sequence[int]) -> Clusters:
    part = dict(zip(members(clusters), map(str, parts), strict=True))
    return {
        document: frozenset(part[name] for name in names) for document, names in clusters.items()
    }
