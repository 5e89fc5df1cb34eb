"""Ranked lists from a test collection: relevance judgements and runs in TREC's formats."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from survey.core.stimuli.own_lists import (
    COLLECTION_SIZE,
    LISTS,
    QUESTIONS,
    OwnLists,
    OwnListsError,
    shortened,
)
from survey.core.stimuli.rankings import letters_for

MIN_RUNS = 2  # what the format allows; that a study needs 3 lists is the plan's to check
MOST_RUNS = LISTS[1]
QRELS_LINE = "topic iteration docid relevance"
RUN_LINE = "topic Q0 docid rank score tag"
SCORE = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")

Line = tuple[int, list[str]]
Relevant = Mapping[str, Collection[str]]
"""Topic → its relevant documents, topics in the order of the qrels file."""


@dataclass(frozen=True)
class _Run:
    """One run: topic → document → score. ``name``: its letter and file, for messages."""

    name: str
    topics: Mapping[str, Mapping[str, float]]


def read_trec(
    qrels: tuple[str, str],
    runs: Sequence[tuple[str, str]],
    *,
    topics: Sequence[str] = (),
    collection_size: int,
    missing_last: bool = False,
) -> OwnLists:
    """Read the positions of relevant documents from runs; ``qrels`` and runs are (name, text).

    A qrels line is ``topic iteration docid relevance``, relevant above 0; a run line is
    ``topic Q0 docid rank score tag``. The runs (2 to 10) are the lists A, B, C, … of each
    question. The questions are ``topics`` in that order; without, every topic that has a
    relevant document and occurs in every run, in the order of the qrels (at most 50).

    The order of a run is trec_eval's: by score, highest first, equal scores by docid,
    last in the alphabet first (its ``comp_sim_docno``). The rank column is ignored, and so
    are empty lines and lines that start with #. Scores are compared in double precision,
    as trec_eval does from version 10.

    Relevant documents that a run did not return are a fault, or, with ``missing_last``,
    stand at the last positions of the collection.

    Raises OwnListsError with every fault (20 at most): first those of lines, each naming
    file and line number; if there are none, those of topics, naming topic and run.
    """
    faults = [*_about_numbers(len(runs), collection_size)]
    relevant = _read_qrels(*qrels, faults)
    letters = letters_for(len(runs))
    read = [
        _Run(f"run {letter} ({file})", _read_run(file, text, faults))
        for letter, (file, text) in zip(letters, runs, strict=True)
    ]
    _stop_if_any(faults)
    chosen = tuple(topics) or _common_topics(relevant, read)
    faults += _about_choice(chosen, qrels[0])
    questions = []
    for topic in dict.fromkeys(chosen[: QUESTIONS[1]]):
        missing = [*_about_topic(topic, relevant, read, qrels[0])]
        faults += missing
        if not missing:
            lists = [
                _positions(topic, run, relevant[topic], collection_size, missing_last, faults)
                for run in read
            ]
            faults += _about_identical(topic, lists, read)
            questions.append(tuple(lists))
    _stop_if_any(faults)
    return OwnLists(tuple(questions), collection_size, chosen)


def _stop_if_any(faults: Sequence[str]) -> None:
    if faults:
        raise OwnListsError(faults)


def _lines(text: str) -> Iterator[Line]:
    """Split a text into numbered lines of fields; without empty lines and comments."""
    unix = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(unix.split("\n"), 1):
        fields = line.split()
        if fields and not fields[0].startswith("#"):
            yield number, fields


def _read_qrels(file: str, text: str, faults: list[str]) -> Relevant:
    judged: dict[str, dict[str, bool]] = {}
    for number, fields in _lines(text):
        where = f"{file}, line {number}"
        if len(fields) != 4:
            faults.append(_malformed(where, fields, QRELS_LINE))
            continue
        topic, _, document, relevance = fields
        documents = judged.setdefault(topic, {})
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", relevance):
            faults.append(
                f"{where}: relevance {shortened(relevance)} found; a whole number is allowed"
            )
        elif document in documents:
            faults.append(
                f"{where}: document {shortened(document)} of topic {shortened(topic)} found "
                "again; one judgement for each is allowed"
            )
        else:
            documents[document] = int(relevance) > 0
    return {
        topic: frozenset(document for document, good in documents.items() if good)
        for topic, documents in judged.items()
    }


def _read_run(file: str, text: str, faults: list[str]) -> dict[str, dict[str, float]]:
    topics: dict[str, dict[str, float]] = {}
    for number, fields in _lines(text):
        where = f"{file}, line {number}"
        if len(fields) != 6:
            faults.append(_malformed(where, fields, RUN_LINE))
            continue
        topic, _, document, _, found, _ = fields
        documents = topics.setdefault(topic, {})
        score = float(found) if SCORE.fullmatch(found) else math.nan
        if not math.isfinite(score):
            faults.append(f"{where}: score {shortened(found)} found; a number is allowed")
        elif document in documents:
            faults.append(
                f"{where}: document {shortened(document)} of topic {shortened(topic)} found "
                "again; a run may return it once"
            )
        else:
            documents[document] = score
    return topics


def _malformed(where: str, fields: Sequence[str], allowed: str) -> str:
    count = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
    found = shortened(" ".join(fields))
    return f"{where}: {count} found, {found}; {len(allowed.split())} are allowed: {allowed}"


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


def _positions(
    topic: str,
    run: _Run,
    relevant: Collection[str],
    collection_size: int,
    missing_last: bool,
    faults: list[str],
) -> tuple[int, ...]:
    """Return the sorted positions of the relevant documents; none, and a fault, if they fail."""
    scores = run.topics[topic]
    order = sorted(scores, key=lambda document: (scores[document], document), reverse=True)
    ranks = [rank for rank, document in enumerate(order, 1) if document in relevant]
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
        return (*ranks, *range(collection_size - missing + 1, collection_size + 1))
    return ()


def _about_identical(
    topic: str, lists: Iterable[tuple[int, ...]], runs: Iterable[_Run]
) -> Iterable[str]:
    seen: dict[tuple[int, ...], str] = {}
    for ranks, run in zip(lists, runs, strict=True):
        same = seen.setdefault(ranks, run.name)
        if ranks and same != run.name:
            yield (
                f"topic {shortened(topic)}: {same} and {run.name} have the relevant documents at "
                "the same positions; the two lists cannot be told apart, so leave out the topic "
                "or a run"
            )
