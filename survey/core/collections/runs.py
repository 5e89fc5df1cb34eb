"""Judgements and runs of a test collection: their files, and the lists that measures take.

The files are TREC's, and two formats of our own for weights and clusters. Fields are
separated by blanks; empty lines and lines that start with # do not count. A reader takes the
file's name and lines and returns what the valid lines hold; for each invalid line it adds a
sentence with file and line number to ``faults``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

import numpy as np

from survey.core.measures import Lists
from survey.core.text_input import FileFaults, parse_number, parse_whole, shortened

Judgements = Mapping[str, Mapping[str, int]]
"""Topic → document → relevance, topics in the order of the file."""
Run = Mapping[str, Mapping[str, float]]
"""Topic → document → score."""
Runs = Mapping[str, Run]
"""Name → run, in the order of tables."""
Clusters = Mapping[str, Mapping[str, frozenset[str]]]
"""Topic → relevant document → its clusters; none for a document that could not be placed."""
Weights = Mapping[str, Mapping[str, float]]
"""Topic → document → the share of annotators who chose it, above 0 and up to 1."""

QRELS_FILE, RUNS_FOLDER = "qrels.txt", "runs"  # in the folder of a collection
QRELS_LINE = "topic iteration document relevance"
RUN_LINE = "topic Q0 document rank score tag"
WEIGHTS_LINE = "topic document weight"
CLUSTERS_LINE = "topic document cluster"
IN_NO_CLUSTER = "unknown"
LARGEST_RELEVANCE = 999_999_999
ONE_JUDGEMENT = "one judgement for each is allowed"

Value = TypeVar("Value")


def read_judgements(
    file: str, lines: Iterable[str], faults: FileFaults, highest: int | None = None
) -> Judgements:
    """Read qrels, ``topic iteration document relevance``; relevance up to ``highest``, if given.

    Above 0 is relevant, 0 judged not relevant, and what is below 0 counts as not judged.
    """
    bound = "" if highest is None else f" up to {highest}"
    largest = LARGEST_RELEVANCE if highest is None else highest
    return read_values(
        (file, lines, faults),
        (QRELS_LINE, "relevance"),
        lambda text: parse_whole(text, -LARGEST_RELEVANCE, largest, signed=True),
        allowed=f"a whole number{bound} is allowed",
        once=ONE_JUDGEMENT,
    )


def run_name(file: str) -> str:
    """Return a run's name: its file's name without .gz and without the last suffix after it."""
    path = PurePath(file)
    return (path.with_suffix("") if path.suffix == ".gz" else path).stem


@dataclass(frozen=True)
class RunFacts:
    """What a run's file says beside its scores.

    ``order``: topic → documents, as the rank column has them, from the first on; ``comments``: how
    many lines start with #.
    """

    order: Mapping[str, Sequence[str]]
    comments: int = 0


def read_run_and_facts(file: str, lines: Iterable[str], faults: FileFaults) -> tuple[Run, RunFacts]:
    """Read a run as ``read_run`` does, and what its rank column and its comments say."""
    ranks: dict[str, list[tuple[int, str]]] = {}
    comments = 0

    def noted() -> Iterator[str]:
        nonlocal comments
        for line in lines:
            comments += line.lstrip().startswith("#")
            fields = line.split()
            rank = parse_whole(fields[3]) if len(fields) == len(RUN_LINE.split()) else None
            if rank is not None:
                ranks.setdefault(fields[0], []).append((rank, fields[2]))
            yield line

    run = read_run(file, noted(), faults)
    order = {topic: tuple(doc for _, doc in sorted(of_topic)) for topic, of_topic in ranks.items()}
    return run, RunFacts(order, comments)


def read_run(file: str, lines: Iterable[str], faults: FileFaults) -> Run:
    """Read a run, ``topic Q0 document rank score tag``; the score alone decides the order."""
    once = "a run may return it once"
    form = (RUN_LINE, "score")
    return read_values(
        (file, lines, faults), form, parse_number, allowed="a number is allowed", once=once
    )


def read_weights(file: str, lines: Iterable[str], faults: FileFaults) -> Weights:
    """Read weights, ``topic document weight``: the share of annotators, 0 < weight ≤ 1."""

    def share(text: str) -> float | None:
        weight = parse_number(text)
        return weight if weight is not None and 0 < weight <= 1 else None

    return read_values(
        (file, lines, faults),
        (WEIGHTS_LINE, "weight"),
        share,
        allowed="a share above 0 and up to 1 is allowed",
        once="one weight for each is allowed",
    )


def read_clusters(file: str, lines: Iterable[str], faults: FileFaults) -> Clusters:
    """Read clusters, ``topic document cluster``, where the cluster is the rest of the line.

    A document in several clusters has a line for each. ``unknown`` (in any case) is no
    cluster: it says that a document is relevant and could not be placed. Such documents do
    not belong together.
    """
    topics: dict[str, dict[str, frozenset[str]]] = {}
    first_lines: dict[tuple[str, str, str], int] = {}
    for number, fields in split_lines(CLUSTERS_LINE, file, lines, faults, rest_in_last=True):
        topic, document = fields[:2]
        cluster = _cluster_name(fields[2])
        first = first_lines.setdefault((topic, document, cluster), number)
        if first != number:
            faults.add(
                f"{file}, line {number}: document {shortened(document)} of topic "
                f"{shortened(topic)} found again in cluster {shortened(cluster)}, as in line "
                f"{first}; once is allowed"
            )
        documents = topics.setdefault(topic, {})
        documents[document] = documents.get(document, frozenset()) | ({cluster} - {IN_NO_CLUSTER})
    for (topic, document, cluster), number in first_lines.items():
        if cluster == IN_NO_CLUSTER and topics[topic][document]:
            other = shortened(min(topics[topic][document]))
            faults.add(
                f"{file}, line {number}: document {shortened(document)} of topic "
                f"{shortened(topic)} is {IN_NO_CLUSTER} here and in cluster {other} elsewhere; one "
                "of the two is allowed"
            )
    return topics


def read_values(
    source: tuple[str, Iterable[str], FileFaults],
    form: tuple[str, str],
    parse: Callable[[str], Value | None],
    *,
    allowed: str,
    once: str,
) -> dict[str, dict[str, Value]]:
    """Read a file with a value for each document; return topic → document → value.

    ``source``: the arguments of every reader. ``form``: the names of a line's fields, and that
    of the value; ``parse``: its text → the value, None where it is invalid. ``allowed``,
    ``once``: the ends of the sentences about an invalid value and a second line.
    """
    file, lines, faults = source
    line, name = form
    names = line.split()
    document_column, value_column = names.index("document"), names.index(name)
    topics: dict[str, dict[str, Value]] = {}
    first_lines: dict[str, dict[str, int]] = {}
    for number, fields in split_lines(line, file, lines, faults):
        topic, document, text = fields[0], fields[document_column], fields[value_column]
        first = first_lines.setdefault(topic, {}).setdefault(document, number)
        if (value := parse(text)) is None:
            faults.add(f"{file}, line {number}: {name} {shortened(text)} found; {allowed}")
        elif first != number:
            faults.add(
                f"{file}, line {number}: document {shortened(document)} of topic "
                f"{shortened(topic)} found again, as in line {first}; {once}"
            )
        else:
            topics.setdefault(topic, {})[document] = value
    return topics


def split_lines(
    form: str, file: str, lines: Iterable[str], faults: FileFaults, *, rest_in_last: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield each line's number from 1 and its fields, without empty lines and comments (#).

    ``rest_in_last``: the last field may hold blanks.
    """
    count, empty = len(form.split()), True
    for number, line in enumerate(lines, 1):
        text = (line.removeprefix("\ufeff") if number == 1 else line).strip()
        if not text or text.startswith("#"):
            continue
        empty = False
        fields = text.split(maxsplit=count - 1 if rest_in_last else -1)
        if len(fields) == count:
            yield number, fields
            continue
        counted = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
        allowed = f"{count} {'or more ' * rest_in_last}are allowed: {form}"
        line_text = shortened(" ".join(fields))
        faults.add(f"{file}, line {number}: {counted} found, {line_text}; {allowed}")
    if empty:
        faults.add(f"{file}: no line found; a line for each document is needed: {form}")


def _cluster_name(text: str) -> str:
    name = " ".join(text.split())
    return IN_NO_CLUSTER if name.casefold() == IN_NO_CLUSTER else name


def ranking(scores: Mapping[str, float]) -> list[str]:
    """Return the documents by score, highest first; equal scores by name, the last one first.

    Names are compared character by character ("d9" comes before "d10"), and the rank column is
    ignored: the order of trec_eval (``comp_sim_docno``). Scores are compared in double
    precision, as trec_eval does from version 10.

    Source: trec_eval, form_res_rels.c.
    """
    return sorted(scores, key=lambda document: (scores[document], document), reverse=True)


@dataclass(frozen=True)
class GroundTruth:
    """Assessors' judgements, with their weights and clusters where there are any."""

    judgements: Judgements
    weights: Weights | None = None
    clusters: Clusters | None = None

    def relevant(self, topic: str) -> list[str]:
        """Return a topic's relevant documents, the highest grades first, then by name."""
        grades = self.judgements.get(topic, {})
        relevant = (document for document, grade in grades.items() if grade > 0)
        return sorted(relevant, key=lambda document: (-grades[document], document))

    def clusters_of(self, topic: str, document: str) -> frozenset[str]:
        """Return a document's clusters; none where the clusters do not mention it."""
        return (self.clusters or {}).get(topic, {}).get(document, frozenset())

    def has_cluster(self, topic: str) -> bool:
        """Return whether a relevant document of the topic is in a cluster."""
        return any(self.clusters_of(topic, document) for document in self.relevant(topic))


@dataclass(frozen=True)
class RelevantRanks:
    """A topic's relevant documents in the order of one run, those not retrieved last.

    ``ranks``: their positions, infinity for those not retrieved; ``condensed``: their
    positions among the judged documents only.
    """

    documents: tuple[str, ...]
    ranks: tuple[float, ...]
    condensed: tuple[float, ...]


def rank_relevant(
    order: Sequence[str], grades: Mapping[str, int], relevant: Sequence[str]
) -> RelevantRanks:
    """Return the positions of the relevant documents in an order of documents.

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
    retrieved = frozenset(documents)
    missing = [document for document in relevant if document not in retrieved]
    at_infinity = [np.inf] * len(missing)
    return RelevantRanks((*documents, *missing), (*ranks, *at_infinity), (*condensed, *at_infinity))


def lists_of(truth: GroundTruth, topic: str, orders: Sequence[Sequence[str]]) -> Lists:
    """Return a topic's lists as measures take them, a row for each run's order of documents.

    The topic must have a relevant document, and a weight for each where there are weights.
    """
    grades = truth.judgements[topic]
    relevant = truth.relevant(topic)
    rows = [rank_relevant(order, grades, relevant) for order in orders]
    weights = clusters = None
    if truth.weights is not None:
        shares = truth.weights[topic]
        weights = np.array([[shares[document] for document in row.documents] for row in rows])
    if truth.clusters is not None:
        clusters = tuple(
            tuple(truth.clusters_of(topic, document) for document in row.documents) for row in rows
        )
    return Lists(
        ranks=np.array([row.ranks for row in rows], dtype=np.float64),
        graded=np.array([[grades[document] for document in row.documents] for row in rows]),
        weighted=weights,
        clusters=clusters,
        condensed=np.array([row.condensed for row in rows], dtype=np.float64),
        judged=sum(grade >= 0 for grade in grades.values()),
    )
