"""The order of the documents that a run returned for a topic.

TREC's files, line by line: judgements and runs, and what two files of ours add to them.

Fields are separated by blanks. Empty lines and lines that start with # do not count. Every
reader takes the file's name and lines, and adds to ``faults`` a sentence for each line that
cannot be, with file and line number; what the other lines say is returned.

What measures are computed from: where each run has a topic's relevant documents.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from survey.core.file_lines import malformed, numbered, shortened
from survey.core.measures import Lists
from survey.core.measures.precision import Weights as Shares
from survey.core.measures.subtopics import Clusters as SubTopics


def ranking(scores: Mapping[str, float]) -> list[str]:
    """Return the documents by score, highest first; equal scores by docid, the last one first.

    The docids are compared character by character ("d9" comes before "d10"), and the rank
    column is ignored: the order of trec_eval (``comp_sim_docno``). Scores are compared in
    double precision, as trec_eval does from version 10.

    Source: trec_eval, form_res_rels.c.
    """
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)


Judgements = Mapping[str, Mapping[str, int]]
"""Topic → document → relevance, topics in the order of the file."""
Run = Mapping[str, Mapping[str, float]]
"""Topic → document → score."""
Runs = Mapping[str, Run]
"""Name → run, in the order of tables."""
Clusters = Mapping[str, Mapping[str, frozenset[str]]]
"""Topic → relevant document → its clusters; none for one that nobody could place."""
Weights = Mapping[str, Mapping[str, float]]
"""Topic → document → the share of annotators who chose it, above 0 and up to 1."""

QRELS_LINE = "topic iteration docid relevance"
RUN_LINE = "topic Q0 docid rank score tag"
WEIGHTS_LINE = "topic docid weight"
CLUSTERS_LINE = "topic docid cluster"
IN_NO_CLUSTER = "unknown"
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")

Value = TypeVar("Value")


@dataclass(frozen=True)
class _Form(Generic[Value]):
    """What a line holds: its fields, and the one that is read beside topic and document.

    ``value``: the field's name; ``read``: its text → the value, None where it cannot be;
    ``allowed`` and ``again`` end the sentences about a bad value and a second line.
    """

    line: str
    value: str
    read: Callable[[str], Value | None]
    allowed: str
    again: str


def read_judgements(
    file: str, lines: Iterable[str], faults: list[str], highest: int | None = None
) -> Judgements:
    """Read qrels, ``topic iteration docid relevance``; relevance up to ``highest``, if given.

    Above 0 is relevant, 0 judged not relevant, and what is below 0 counts as not judged.
    """
    bound = "" if highest is None else f" up to {highest}"

    def relevance(found: str) -> int | None:
        known = re.fullmatch(r"[+-]?[0-9]{1,9}", found) is not None
        return int(found) if known and (highest is None or int(found) <= highest) else None

    allowed = f"a whole number{bound} is allowed"
    again = "one judgement for each is allowed"
    form = _Form(QRELS_LINE, "relevance", relevance, allowed, again)
    return _read(form, file, lines, faults)


def read_run(file: str, lines: Iterable[str], faults: list[str]) -> Run:
    """Read a run, ``topic Q0 docid rank score tag``; only the score says what comes first."""
    again = "a run may return it once"
    form = _Form(RUN_LINE, "score", _number, "a number is allowed", again)
    return _read(form, file, lines, faults)


def read_weights(file: str, lines: Iterable[str], faults: list[str]) -> Weights:
    """Read weights, ``topic docid weight``: the share of annotators, 0 < weight ≤ 1."""

    def share(found: str) -> float | None:
        weight = _number(found)
        return weight if weight is not None and 0 < weight <= 1 else None

    allowed, again = "a share above 0 and up to 1 is allowed", "one weight for each is allowed"
    form = _Form(WEIGHTS_LINE, "weight", share, allowed, again)
    return _read(form, file, lines, faults)


def read_clusters(file: str, lines: Iterable[str], faults: list[str]) -> Clusters:
    """Read clusters, ``topic docid cluster``, where the cluster is the rest of the line.

    A document in several clusters has a line for each. The cluster ``unknown`` (in any
    case) says that a document is relevant and could not be placed: such documents do not
    belong together, and it is no cluster.
    """
    topics: dict[str, dict[str, frozenset[str]]] = {}
    stands: dict[tuple[str, str, str], int] = {}
    for number, line in numbered(lines):
        where, fields = f"{file}, line {number}", line.split(maxsplit=2)
        if len(fields) != 3:
            faults.append(malformed(where, line, CLUSTERS_LINE, "or more "))
            continue
        topic, document = fields[:2]
        cluster = _cluster_name(fields[2])
        first = stands.setdefault((topic, document, cluster), number)
        if first != number:
            faults.append(
                f"{where}: document {shortened(document)} of topic {shortened(topic)} found "
                f"again in cluster {shortened(cluster)}, as in line {first}; once is allowed"
            )
        documents = topics.setdefault(topic, {})
        documents[document] = documents.get(document, frozenset()) | ({cluster} - {IN_NO_CLUSTER})
    faults += _about_unknown(file, topics, stands)
    return topics


def _cluster_name(found: str) -> str:
    name = " ".join(found.split())
    return IN_NO_CLUSTER if name.casefold() == IN_NO_CLUSTER else name


def _about_unknown(
    file: str, topics: Clusters, stands: Mapping[tuple[str, str, str], int]
) -> Iterator[str]:
    for (topic, document, cluster), number in stands.items():
        if cluster == IN_NO_CLUSTER and topics[topic][document]:
            other = shortened(min(topics[topic][document]))
            yield (
                f"{file}, line {number}: document {shortened(document)} of topic "
                f"{shortened(topic)} is {IN_NO_CLUSTER} here and in cluster {other} elsewhere; one "
                "of the two is allowed"
            )


def _read(
    form: _Form[Value], file: str, lines: Iterable[str], faults: list[str]
) -> dict[str, dict[str, Value]]:
    names = form.line.split()
    place, at = names.index("docid"), names.index(form.value)
    topics: dict[str, dict[str, Value]] = {}
    for number, line in numbered(lines):
        where, fields = f"{file}, line {number}", line.split()
        if len(fields) != len(names):
            faults.append(malformed(where, line, form.line))
            continue
        topic, document = fields[0], fields[place]
        documents = topics.setdefault(topic, {})
        if (value := form.read(fields[at])) is None:
            faults.append(f"{where}: {form.value} {shortened(fields[at])} found; {form.allowed}")
        elif document in documents:
            faults.append(
                f"{where}: document {shortened(document)} of topic {shortened(topic)} found "
                f"again; {form.again}"
            )
        else:
            documents[document] = value
    return topics


def _number(found: str) -> float | None:
    number = float(found) if NUMBER.fullmatch(found) else math.inf
    return number if math.isfinite(number) else None


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
