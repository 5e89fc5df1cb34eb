"""Agreement of two clusterings of the same documents, pair by pair."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.assessors.clusterings import Clusters, membership

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
