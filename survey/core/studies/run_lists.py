"""A study's ranked lists taken from the runs and relevance judgements of a test collection."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from survey.core.collections.runs import (
    GroundTruth,
    Run,
    rank_relevant,
    ranking,
    read_clusters,
    read_judgements,
    read_run,
)
from survey.core.measures.lists import HIGHEST_GRADE
from survey.core.studies.own_lists import COLLECTION_SIZE, LISTS, QUESTIONS, OwnLists
from survey.core.studies.questions import NO_CLUSTER, NO_MARKS, Marks
from survey.core.studies.rankings import letters_for
from survey.core.text_input import FileFaults, lines_of, shortened

RUNS = (2, LISTS[1])  # the file format's bounds; the plan checks that a study has 3 lists
LONGEST_CLUSTER_NAME = 40  # see NAME_RULE of marks

Relevant = Mapping[str, Sequence[str]]
"""Topic → its relevant documents, topics in the order of the qrels file."""

Documents = Sequence[Sequence[str]]
"""The relevant documents of each list, in the order of its positions."""


@dataclass(frozen=True)
class _NamedRun:
    """A run; ``name``: its letter and file, for messages."""

    name: str
    topics: Run


@dataclass(frozen=True)
class _List:
    """One list of a question: sorted positions, and the documents at these positions."""

    ranks: tuple[int, ...] = ()
    documents: tuple[str, ...] = ()


def read_trec(
    qrels: tuple[str, str],
    runs: Sequence[tuple[str, str]],
    *,
    topics: Sequence[str] = (),
    collection_size: int,
    missing_last: bool = False,
    graded: bool = False,
    clusters: tuple[str, str] | None = None,
) -> OwnLists:
    """Read the positions of relevant documents from runs; ``qrels`` and runs are (name, text).

    A qrels line is ``topic iteration document relevance``, relevant above 0; a run line is
    ``topic Q0 document rank score tag``. The runs (2 to 10) are the lists A, B, C, … of each
    question. The questions are ``topics`` in that order; without, every topic that has a
    relevant document and occurs in every run, in the order of the qrels (at most 50).

    The order of a run is trec_eval's, see ``ranking``. Empty lines and lines that start
    with # do not count.

    Relevant documents that a run did not return are a fault, or, with ``missing_last``,
    take the last positions of the collection, the highest grades first.

    With ``graded``, and any relevance above 1 in the topics chosen, positions are marked
    with grades (up to 30); with ``clusters``, a (name, text) of lines ``topic document cluster``,
    with clusters, their blanks written as underscores.

    Raises FaultyFilesError with every fault (20 at most): first those of lines, each naming
    file and line number; if there are none, those of topics, naming topic and run.
    """
    faults = FileFaults(_number_faults(len(runs), collection_size))
    highest = HIGHEST_GRADE if graded else None
    judgements = read_judgements(qrels[0], lines_of(qrels[1]), faults, highest)
    placed = read_clusters(clusters[0], lines_of(clusters[1]), faults) if clusters else None
    truth = GroundTruth(judgements, clusters=placed)
    named_runs = [
        _NamedRun(f"run {letter} ({file})", read_run(file, lines_of(text), faults))
        for letter, (file, text) in zip(letters_for(len(runs)), runs, strict=True)
    ]
    faults.raise_any()
    relevant = {topic: truth.relevant(topic) for topic in judgements}
    chosen = tuple(topics) or _common_topics(relevant, named_runs)
    faults.extend(_choice_faults(chosen, qrels[0]))
    questions = []
    for topic in dict.fromkeys(chosen[: QUESTIONS[1]]):
        missing = [*_topic_faults(topic, relevant, named_runs, qrels[0])]
        faults.extend(missing)
        if not missing:
            lists = [
                _read_list(topic, run, truth, collection_size, missing_last, faults)
                for run in named_runs
            ]
            if clusters:
                faults.extend(_cluster_faults(truth, topic, clusters[0]))
            questions.append(lists)
    faults.raise_any()
    ranks = tuple(tuple(row.ranks for row in lists) for lists in questions)
    documents = [[row.documents for row in lists] for lists in questions]
    marks = _topic_marks(truth, chosen, documents, graded=graded)
    for index, topic in enumerate(chosen):
        topic_marks = marks[index] if marks else NO_MARKS
        faults.extend(_equal_list_faults(topic, ranks[index], topic_marks, named_runs))
    faults.raise_any()
    return OwnLists(ranks, collection_size, chosen, marks)


def cluster_name(cluster: str) -> str:
    """Return a cluster's name as marks have it: a word without + , ( ), at most 40 characters."""
    word = re.sub(r"[+,()]", "-", "_".join(cluster.split()))[:LONGEST_CLUSTER_NAME]
    return "--" if word == NO_CLUSTER else word


def _number_faults(runs: int, collection_size: int) -> Iterable[str]:
    fewest, most = RUNS
    if not fewest <= runs <= most:
        yield f"runs found: {runs}; {fewest} to {most} are allowed, a list from each"
    lowest, highest = COLLECTION_SIZE
    if not lowest <= collection_size <= highest:
        yield f"the collection size is {collection_size}; {lowest} to {highest} is allowed"


def _common_topics(relevant: Relevant, runs: Iterable[_NamedRun]) -> tuple[str, ...]:
    return tuple(
        topic
        for topic, documents in relevant.items()
        if documents and all(topic in run.topics for run in runs)
    )


def _choice_faults(topics: Sequence[str], file: str) -> Iterable[str]:
    if not topics:
        yield f"no topic has a relevant document in {file} and occurs in every run; 1 is needed"
    if len(topics) > QUESTIONS[1]:
        yield f"topics found: {len(topics)}; choose at most {QUESTIONS[1]}, a question from each"
    for topic, count in Counter(topics).items():
        if count > 1:
            yield f"topic {shortened(topic)} is chosen {count} times; once is allowed"


def _topic_faults(
    topic: str, relevant: Relevant, runs: Iterable[_NamedRun], file: str
) -> Iterable[str]:
    """Yield the reasons why a topic cannot be a question."""
    name = f"topic {shortened(topic)}"
    if topic not in relevant:
        yield f"{name} is not in {file}; choose topics that are judged there"
    elif not relevant[topic]:
        yield f"{name} has no relevant document in {file}; at least one is needed"
    for run in runs:
        if topic not in run.topics:
            yield f"{name} is missing in {run.name}; every run needs every topic"


def _read_list(
    topic: str,
    run: _NamedRun,
    truth: GroundTruth,
    collection_size: int,
    missing_last: bool,
    faults: FileFaults,
) -> _List:
    """Return the positions of a run's relevant documents; an empty list where there is a fault."""
    order, relevant = ranking(run.topics[topic]), truth.relevant(topic)
    ranked = rank_relevant(order, truth.judgements[topic], relevant)
    ranks = [rank for rank in ranked.ranks if math.isfinite(rank)]
    missing = len(relevant) - len(ranks)
    place = f"topic {shortened(topic)}, {run.name}"
    if len(order) > collection_size:
        faults.add(f"{place}: {len(order)} documents found; {collection_size} are allowed")
    elif missing and not missing_last:
        faults.add(
            f"{place}: {missing} of {len(relevant)} relevant documents missing; every one needs "
            "a position, and they may be put at the last positions of the collection"
        )
    elif len(order) + missing > collection_size:
        faults.add(
            f"{place}: {len(order)} documents found and {missing} relevant ones missing; the "
            f"last positions of a collection of {collection_size} are taken, so a larger "
            "collection size is needed"
        )
    else:
        last = range(collection_size - missing + 1, collection_size + 1)
        return _List((*map(int, ranks), *last), ranked.documents)
    return _List()


def _cluster_faults(truth: GroundTruth, topic: str, file: str) -> Iterator[str]:
    """Yield the reasons why a topic's clusters cannot be marks."""
    clusters = {
        cluster
        for document in truth.relevant(topic)
        for cluster in truth.clusters_of(topic, document)
    }
    place = f"topic {shortened(topic)}"
    if not clusters:
        yield f"{place}: no relevant document has a cluster in {file}; at least one is needed"
    for name, count in Counter(map(cluster_name, sorted(clusters))).items():
        if count > 1:
            yield (
                f"{place}: {count} clusters of {file} are all written {name!r}; their first "
                f"{LONGEST_CLUSTER_NAME} characters, with + as -, must differ"
            )


def _equal_list_faults(
    topic: str, lists: Sequence[tuple[int, ...]], marks: Marks, runs: Sequence[_NamedRun]
) -> Iterable[str]:
    seen: dict[object, str] = {}
    for index, (ranks, run) in enumerate(zip(lists, runs, strict=True)):
        same = seen.setdefault((ranks, marks.of_list(index)), run.name)
        if same != run.name:
            yield (
                f"topic {shortened(topic)}: {same} and {run.name} have the relevant documents at "
                "the same positions; the two lists look the same, so leave out the topic or a run"
            )


def _topic_marks(
    truth: GroundTruth, topics: Sequence[str], lists: Sequence[Documents], *, graded: bool
) -> tuple[Marks, ...]:
    """Return the marks of each topic's lists, or none where there is nothing to mark.

    Grades only with ``graded``, and only where a relevant document of these topics has a
    grade above 1; clusters where there are any. ``lists``: of each topic.
    """
    with_grades = graded and any(
        truth.judgements[topic][document] > 1
        for topic in topics
        for document in truth.relevant(topic)
    )
    if not with_grades and truth.clusters is None:
        return ()
    return tuple(
        Marks(
            grades=_grades(truth, topic, documents) if with_grades else (),
            clusters=_clusters(truth, topic, documents) if truth.clusters is not None else (),
        )
        for topic, documents in zip(topics, lists, strict=True)
    )


def _grades(truth: GroundTruth, topic: str, lists: Documents) -> tuple[tuple[int, ...], ...]:
    grades = truth.judgements[topic]
    return tuple(tuple(grades[document] for document in documents) for documents in lists)


def _clusters(
    truth: GroundTruth, topic: str, lists: Documents
) -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple(
        tuple(
            tuple(sorted({*map(cluster_name, truth.clusters_of(topic, document))}))
            for document in documents
        )
        for documents in lists
    )
