"""Which relevant documents of a topic belong together, as one assessor sees it."""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from survey.core.assessors.lines import numbered_lines
from survey.core.stimuli.own_lists import shortened

CLUSTER_LINE = "topic document cluster"
UNKNOWN = "unknown"
# Pairs of documents are tables of this size squared, 16 MB each. People cluster by hand:
# the largest topic of ImageCLEF 2008 has 184 relevant documents.
MOST_DOCUMENTS = 2_000

Clusters = Mapping[str, frozenset[str]]
"""One topic: document → its clusters, several if need be; none where it could not be placed."""
Clustering = Mapping[str, Clusters]
"""One assessor's clusters: topic → document → clusters."""


def read_clusters(file: str, text: str, faults: list[str]) -> Clustering:
    """Read one assessor's clustering, lines of ``topic document cluster``.

    The cluster is the rest of the line and may hold spaces; a document in several clusters
    has a line for each. The cluster ``unknown`` (in any case) says that a document is
    relevant and could not be placed: such documents do not belong together, and it is no
    cluster. Empty lines and lines that start with # are ignored. What is wrong is added to
    ``faults``, with file and line.
    """
    clustering: dict[str, dict[str, frozenset[str]]] = {}
    stands: dict[tuple[str, str, str], int] = {}
    for number, line in numbered_lines(text):
        where, fields = f"{file}, line {number}", line.split(maxsplit=2)
        if len(fields) != 3:
            count = "1 field" if len(fields) == 1 else "2 fields"
            faults.append(
                f"{where}: {count} found, {shortened(line)}; 3 are needed: {CLUSTER_LINE} (the "
                "rest of the line)"
            )
            continue
        topic, document = fields[:2]
        cluster = _name(fields[2])
        first = stands.setdefault((topic, document, cluster), number)
        if first != number:
            faults.append(
                f"{where}: document {shortened(document)} of topic {shortened(topic)} found "
                f"again in cluster {shortened(cluster)}, as in line {first}; once is allowed"
            )
        documents = clustering.setdefault(topic, {})
        named = {cluster} - {UNKNOWN}
        documents[document] = documents.get(document, frozenset()) | named
    faults += _about_clusters(file, clustering, stands)
    return clustering


def _name(found: str) -> str:
    name = " ".join(found.split())
    return UNKNOWN if name.casefold() == UNKNOWN else name


def _about_clusters(
    file: str, clustering: Clustering, stands: Mapping[tuple[str, str, str], int]
) -> Iterator[str]:
    if not stands:
        yield f"{file}: no cluster found; a line for each document is needed: {CLUSTER_LINE}"
    for (topic, document, cluster), number in stands.items():
        if cluster == UNKNOWN and clustering[topic][document]:
            other = shortened(min(clustering[topic][document]))
            yield (
                f"{file}, line {number}: document {shortened(document)} of topic "
                f"{shortened(topic)} is {UNKNOWN} here and in cluster {other} elsewhere; one of "
                "the two is allowed"
            )
    for topic, documents in clustering.items():
        if len(documents) > MOST_DOCUMENTS:
            yield (
                f"{file}: topic {shortened(topic)} has {len(documents)} documents; "
                f"{MOST_DOCUMENTS} are allowed"
            )


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
    """Write one topic as ``read_clusters`` reads it, documents and clusters sorted."""
    for document in sorted(clusters):
        for cluster in sorted(clusters[document]) or [UNKNOWN]:
            yield f"{topic} {document} {cluster}\n"
