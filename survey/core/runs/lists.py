"""What measures are computed from: where each run has a topic's relevant documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from survey.core.measures import Lists
from survey.core.measures.diversity import Clusters as SubTopics
from survey.core.measures.weighted import Weights as Shares
from survey.core.runs.reading import Clusters, Judgements, Weights


@dataclass(frozen=True)
class GroundTruth:
    """What assessors said: judgements, and, where there are any, weights and clusters."""

    judgements: Judgements
    weights: Weights | None = None
    clusters: Clusters | None = None

    def relevant(self, topic: str) -> list[str]:
        """Return a topic's relevant documents, the highest grades first, then by docid."""
        grades = self.judgements.get(topic, {})
        found = (document for document, grade in grades.items() if grade > 0)
        return sorted(found, key=lambda document: (-grades[document], document))

    def has_cluster(self, topic: str) -> bool:
        """Tell whether a relevant document of the topic is in a cluster."""
        known = (self.clusters or {}).get(topic, {})
        return any(known.get(document) for document in self.relevant(topic))


@dataclass(frozen=True)
class Found:
    """A topic's relevant documents in the order of one run, those it did not return last.

    ``ranks``: their positions, infinity for those; ``condensed``: their positions among
    the judged documents only.
    """

    documents: tuple[str, ...]
    ranks: tuple[float, ...]
    condensed: tuple[float, ...]


def find(order: Sequence[str], grades: Mapping[str, int], relevant: Sequence[str]) -> Found:
    """Find the relevant documents in a ranking.

    Documents of negative relevance count as not judged, as in trec_eval (whose bpref
    takes relevance below −2 for relevant, which is not followed).
    """
    documents, ranks, condensed = [], [], []
    judged = 0
    for rank, document in enumerate(order, 1):
        grade = grades.get(document, -1)
        judged += grade >= 0
        if grade > 0:
            documents.append(document)
            ranks.append(rank)
            condensed.append(judged)
    returned = frozenset(documents)
    missing = [document for document in relevant if document not in returned]
    nowhere = [np.inf] * len(missing)
    return Found((*documents, *missing), (*ranks, *nowhere), (*condensed, *nowhere))


def lists_of(truth: GroundTruth, topic: str, orders: Sequence[Sequence[str]]) -> Lists:
    """Return the lists of a topic, a row for each run's ranking of it.

    The topic has a relevant document, and a weight for each where there are weights. A
    document that stands in no line of the clusters is in none.
    """
    grades = truth.judgements[topic]
    relevant = truth.relevant(topic)
    rows = [find(order, grades, relevant) for order in orders]
    return Lists(
        ranks=np.array([row.ranks for row in rows], dtype=np.float64),
        graded=np.array([[grades[one] for one in row.documents] for row in rows]),
        weighted=_weights(truth.weights, topic, rows),
        clusters=_clusters(truth.clusters, topic, rows),
        condensed=np.array([row.condensed for row in rows], dtype=np.float64),
        judged=sum(grade >= 0 for grade in grades.values()),
    )


def _weights(weights: Weights | None, topic: str, rows: Sequence[Found]) -> Shares | None:
    if weights is None:
        return None
    of = weights[topic]
    return np.array([[of[document] for document in row.documents] for row in rows])


def _clusters(clusters: Clusters | None, topic: str, rows: Sequence[Found]) -> SubTopics | None:
    if clusters is None:
        return None
    of = clusters.get(topic, {})
    return [[of.get(document, frozenset()) for document in row.documents] for row in rows]
