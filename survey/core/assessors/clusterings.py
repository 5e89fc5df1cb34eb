"""Which relevant documents of a topic belong together, as one assessor sees it."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from survey.core.file_lines import shortened
from survey.core.runs.reading import CLUSTERS_LINE, IN_NO_CLUSTER, read_clusters
from survey.core.runs.reading import Clusters as Clustering

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
