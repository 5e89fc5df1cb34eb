"""Two assessors' clusters of a topic: how far they agree, and why not further."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from survey.core.assessors.clusterings import Clusters, members, membership, restricted
from survey.core.assessors.pairs import adjusted_rand, b_cubed, pair_table, shared_clusters

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
