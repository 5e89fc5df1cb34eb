"""Ranked lists from a test collection: relevance judgements and runs in TREC's formats."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from survey.core.runs.ranking import ranking
from survey.core.runs.reading import Judgements, Run, lines_of, read_judgements, read_run
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

Relevant = Mapping[str, Collection[str]]
"""Topic → its relevant documents, topics in the order of the qrels file."""


@dataclass(frozen=True)
class _Run:
    """One run. ``name``: its letter and file, for messages."""

    name: str
    topics: Run


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

    The order of a run is trec_eval's, see ``ranking``. Empty lines and lines that start
    with # do not count.

    Relevant documents that a run did not return are a fault, or, with ``missing_last``,
    stand at the last positions of the collection.

    Raises OwnListsError with every fault (20 at most): first those of lines, each naming
    file and line number; if there are none, those of topics, naming topic and run.
    """
    faults = [*_about_numbers(len(runs), collection_size)]
    relevant = _relevant(read_judgements(qrels[0], lines_of(qrels[1]), faults))
    letters = letters_for(len(runs))
    read = [
        _Run(f"run {letter} ({file})", read_run(file, lines_of(text), faults))
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


def _relevant(judgements: Judgements) -> Relevant:
    return {
        topic: frozenset(document for document, relevance in documents.items() if relevance > 0)
        for topic, documents in judgements.items()
    }


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
    order = ranking(run.topics[topic])
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
