"""Grades and clusters of a test collection, as marks beside the positions of a question.

Ranked lists from a test collection: relevance judgements and runs in TREC's formats.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from survey.core.collections.runs import (
    GroundTruth,
    Run,
    find,
    ranking,
    read_clusters,
    read_judgements,
    read_run,
)
from survey.core.file_lines import lines_of, shortened, stop_if_any
from survey.core.measures.lists import HIGHEST_GRADE
from survey.core.studies.marks import NO_MARKS, Marks
from survey.core.studies.own_lists import COLLECTION_SIZE, LISTS, QUESTIONS, OwnLists
from survey.core.studies.rankings import letters_for

LONGEST_NAME = 40  # see NAME_RULE of marks
NONE = "-"  # what stands for no cluster in files

Documents = Sequence[Sequence[str]]
"""The relevant documents of each list, in the order of its positions."""


def marks_of_topics(
    truth: GroundTruth, topics: Sequence[str], lists: Sequence[Documents], *, graded: bool
) -> tuple[Marks, ...]:
    """Return the marks of each topic's lists; nothing where there is nothing to mark.

    Grades only with ``graded``, and only where a relevant document of these topics has one
    above 1; clusters where there are any. ``lists``: of each topic.
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
            tuple(sorted({*map(cluster_name, _of(truth, topic, document))}))
            for document in documents
        )
        for documents in lists
    )


def _of(truth: GroundTruth, topic: str, document: str) -> Iterable[str]:
    return (truth.clusters or {}).get(topic, {}).get(document, ())


def cluster_name(cluster: str) -> str:
    """Write a cluster as marks have it: one word, without + , ( ), of at most 40 characters."""
    word = re.sub(r"[+,()]", "-", "_".join(cluster.split()))[:LONGEST_NAME]
    return "--" if word == NONE else word


def about_clusters(truth: GroundTruth, topic: str, file: str) -> Iterator[str]:
    """Say what keeps a topic's clusters from being marks."""
    found = {one for document in truth.relevant(topic) for one in _of(truth, topic, document)}
    where = f"topic {shortened(topic)}"
    if not found:
        yield f"{where}: no relevant document has a cluster in {file}; at least one is needed"
    for name, count in Counter(map(cluster_name, sorted(found))).items():
        if count > 1:
            yield (
                f"{where}: {count} clusters of {file} are all written {name!r}; they are told "
                f"apart by their first {LONGEST_NAME} characters, with + as -"
            )


MIN_RUNS = 2  # what the format allows; that a study needs 3 lists is the plan's to check
MOST_RUNS = LISTS[1]

Relevant = Mapping[str, Sequence[str]]
"""Topic → its relevant documents, topics in the order of the qrels file."""


@dataclass(frozen=True)
class _Run:
    """One run. ``name``: its letter and file, for messages."""

    name: str
    topics: Run


@dataclass(frozen=True)
class _List:
    """One list of a question: sorted positions, and the documents that stand there."""

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

    A qrels line is ``topic iteration docid relevance``, relevant above 0; a run line is
    ``topic Q0 docid rank score tag``. The runs (2 to 10) are the lists A, B, C, … of each
    question. The questions are ``topics`` in that order; without, every topic that has a
    relevant document and occurs in every run, in the order of the qrels (at most 50).

    The order of a run is trec_eval's, see ``ranking``. Empty lines and lines that start
    with # do not count.

    Relevant documents that a run did not return are a fault, or, with ``missing_last``,
    stand at the last positions of the collection, the highest grades first.

    With ``graded``, and any relevance above 1 in the topics chosen, positions are marked
    with grades (up to 30); with ``clusters``, a (name, text) of lines ``topic docid cluster``,
    with clusters, their blanks written as underscores.

    Raises FaultyFilesError with every fault (20 at most): first those of lines, each naming
    file and line number; if there are none, those of topics, naming topic and run.
    """
    faults = [*_about_numbers(len(runs), collection_size)]
    highest = HIGHEST_GRADE if graded else None
    judgements = read_judgements(qrels[0], lines_of(qrels[1]), faults, highest)
    placed = read_clusters(clusters[0], lines_of(clusters[1]), faults) if clusters else None
    truth = GroundTruth(judgements, clusters=placed)
    read = [
        _Run(f"run {letter} ({file})", read_run(file, lines_of(text), faults))
        for letter, (file, text) in zip(letters_for(len(runs)), runs, strict=True)
    ]
    stop_if_any(faults)
    relevant = {topic: truth.relevant(topic) for topic in judgements}
    chosen = tuple(topics) or _common_topics(relevant, read)
    faults += _about_choice(chosen, qrels[0])
    questions = []
    for topic in dict.fromkeys(chosen[: QUESTIONS[1]]):
        missing = [*_about_topic(topic, relevant, read, qrels[0])]
        faults += missing
        if not missing:
            lists = [
                _list(topic, run, truth, collection_size, missing_last, faults) for run in read
            ]
            faults += about_clusters(truth, topic, clusters[0]) if clusters else ()
            questions.append(lists)
    stop_if_any(faults)
    ranks = tuple(tuple(one.ranks for one in lists) for lists in questions)
    documents = [[one.documents for one in lists] for lists in questions]
    marks = marks_of_topics(truth, chosen, documents, graded=graded)
    for index, topic in enumerate(chosen):
        faults += _about_identical(topic, ranks[index], marks[index] if marks else NO_MARKS, read)
    stop_if_any(faults)
    return OwnLists(ranks, collection_size, chosen, marks)


def _about_numbers(runs: int, collection_size: int) -> Iterable[str]:
    if not MIN_RUNS <= runs <= MOST_RUNS:
        yield f"runs found: {runs}; {MIN_RUNS} to {MOST_RUNS} are allowed, a list from each"
    lowest, highest = COLLECTION_SIZE
    if not lowest <= collection_size <= highest:
        yield f"the collection size is {collection_size}; {lowest} to {highest} is allowed"


def _common_topics(relevant: Relevant, runs: Iterable[_Run]) -> tuple[str, ...]:
    return tuple(
        topic
        for topic, documents in relevant.items()
        if documents and all(topic in run.topics for run in runs)
    )


def _about_choice(topics: Sequence[str], file: str) -> Iterable[str]:
    if not topics:
        yield f"no topic has a relevant document in {file} and occurs in every run; 1 is needed"
    if len(topics) > QUESTIONS[1]:
        yield f"topics found: {len(topics)}; choose at most {QUESTIONS[1]}, a question from each"
    for topic, count in Counter(topics).items():
        if count > 1:
            yield f"topic {shortened(topic)} is chosen {count} times; once is allowed"


def _about_topic(topic: str, relevant: Relevant, runs: Iterable[_Run], file: str) -> Iterable[str]:
    """Say what keeps a topic from being a question at all."""
    name = f"topic {shortened(topic)}"
    if topic not in relevant:
        yield f"{name} is not in {file}; choose topics that are judged there"
    elif not relevant[topic]:
        yield f"{name} has no relevant document in {file}; at least one is needed"
    for run in runs:
        if topic not in run.topics:
            yield f"{name} is missing in {run.name}; every run needs every topic"


def _list(
    topic: str,
    run: _Run,
    truth: GroundTruth,
    collection_size: int,
    missing_last: bool,
    faults: list[str],
) -> _List:
    """Return where a run has the relevant documents; nowhere, and a fault, where it fails."""
    order, relevant = ranking(run.topics[topic]), truth.relevant(topic)
    found = find(order, truth.judgements[topic], relevant)
    ranks = [rank for rank in found.ranks if math.isfinite(rank)]
    missing = len(relevant) - len(ranks)
    where = f"topic {shortened(topic)}, {run.name}"
    if len(order) > collection_size:
        faults.append(f"{where}: {len(order)} documents found; {collection_size} are allowed")
    elif missing and not missing_last:
        faults.append(
            f"{where}: {missing} of {len(relevant)} relevant documents missing; every one needs "
            "a position, and they may be put at the last positions of the collection"
        )
    elif len(order) + missing > collection_size:
        faults.append(
            f"{where}: {len(order)} documents found and {missing} relevant ones missing; the "
            f"last positions of a collection of {collection_size} are taken, so a larger "
            "collection size is needed"
        )
    else:
        last = range(collection_size - missing + 1, collection_size + 1)
        return _List((*map(int, ranks), *last), found.documents)
    return _List()


def _about_identical(
    topic: str, lists: Sequence[tuple[int, ...]], marks: Marks, runs: Sequence[_Run]
) -> Iterable[str]:
    seen: dict[object, str] = {}
    for index, (ranks, run) in enumerate(zip(lists, runs, strict=True)):
        same = seen.setdefault((ranks, marks.of_list(index)), run.name)
        if same != run.name:
            yield (
                f"topic {shortened(topic)}: {same} and {run.name} have the relevant documents at "
                "the same positions; the two lists cannot be told apart, so leave out the topic "
                "or a run"
            )
