"""Grades and clusters of a test collection, as marks beside the positions of a question."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from survey.core.file_lines import shortened
from survey.core.runs.lists import GroundTruth
from survey.core.stimuli.marks import Marks

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
