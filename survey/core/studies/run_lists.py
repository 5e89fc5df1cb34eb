"""A study's ranked lists taken from the runs and relevance judgements of a test collection."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

from survey.core.collections.runs import (
    Clusters,
    GroundTruth,
    Judgements,
    Run,
    RunFacts,
    rank_relevant,
    ranking,
    read_clusters,
    read_judgements,
    read_run_and_facts,
    run_name,
)
from survey.core.measures.lists import HIGHEST_GRADE
from survey.core.preflight import (
    Warned,
    changed_ids,
    clusters_checked,
    none_relevant_fault,
    run_as_meant,
    runs_checked,
    tables_checked,
    topics_fault,
    topics_left_out,
)
from survey.core.studies.own_lists import COLLECTION_SIZE, LIST_RANGE, QUESTION_RANGE, OwnLists
from survey.core.studies.provenance import MOST_STORED_RESULTS
from survey.core.studies.questions import NO_CLUSTER, NO_MARKS, Marks
from survey.core.studies.rankings import letters_for
from survey.core.text_input import (
    FaultyFilesError,
    FileFaults,
    is_steering,
    lines_of,
    shortened,
)

RUN_RANGE = (2, LIST_RANGE[1])  # fewest and most; kinds that need more than 2 refuse them
MOST_PAIRED_TOPICS = 500
LONGEST_CLUSTER_NAME = 40  # characters
MOST_WARNINGS = 10  # of a code, which a plan holds

Relevant = Mapping[str, Sequence[str]]
"""Topic → its relevant documents, topics in the order of the qrels file."""


class TextFile(NamedTuple):
    """A file's name, its text, and the SHA-256 of its bytes, before any unpacking.

    ``run``: the name that a researcher gave the run in it.
    """

    name: str
    text: str
    sha256: str = ""
    run: str = ""


class Reading(NamedTuple):
    """How files are meant: see ``Provenance``."""

    ids: Sequence[str] = ()
    distances: bool = False
    relevant_from: int = 1


AS_WRITTEN = Reading()


def read_trec(
    qrels: TextFile,
    runs: Sequence[TextFile],
    *,
    topics: Sequence[str] = (),
    collection_size: int | None,
    missing_last: bool = True,
    graded: bool = False,
    clusters: TextFile | None = None,
    paired: bool = False,
    names: Sequence[str] = (),
    reading: Reading = AS_WRITTEN,
) -> OwnLists:
    """Read the positions of relevant documents from runs, and the first documents of each list.

    A qrels line is ``topic iteration document relevance``, relevant above 0; a run line is
    ``topic Q0 document rank score tag``. The runs (2 to 10) are the lists A, B, C, … of each
    question. The questions are ``topics``, in their order. Without ``topics``, they are all topics
    that have a relevant document and occur in every run, in the order of the qrels. More than 50
    are a fault.

    The order of a run is trec_eval's, see ``ranking``. Empty lines and lines that start
    with # do not count.

    Relevant documents that a run did not return take the last positions of the collection, the
    highest grades first; without ``missing_last`` they are a fault. ``collection_size``: None
    where it is not known; then it is the smallest that holds all lists.

    With ``graded``, each position also gets its document's grade (up to 30), if a topic has any
    relevance above 1. ``clusters`` is a file of lines ``topic document cluster``. With it, each
    position also gets its document's clusters, by their ``cluster_name``.

    ``paired``: people compare two of the lists at a time. There may be up to MOST_PAIRED_TOPICS
    topics, and lists with equal positions; else a topic with these is left out. ``names``: of the
    runs, by default those of their files. Without ``graded``, documents below
    ``reading.relevant_from`` are not relevant.

    Raises FaultyFilesError with 20 faults at most. Faults of lines, and numbers of runs and of
    documents that are not allowed, come alone. Without them come those of topics, and without
    those of lists that look the same, where no topic is left.
    """
    faults = FileFaults(_size_faults(len(runs), collection_size))
    names = names or [run_name(run.name) for run in runs]
    unseen = "has a sign that cannot be seen; name it by --run NAME=FILE, or rename the file"
    faults.extend(f"the run {shortened(name)} {unseen}" for name in names if is_steering(name))
    judgements, clusters_read, meant = _read_files(
        (qrels, runs, clusters), names, reading, faults, HIGHEST_GRADE if graded else None
    )
    counted = _at_level(judgements, reading.relevant_from)
    truth = GroundTruth(judgements if graded else counted, clusters=clusters_read)
    named_runs = {
        f"run {letter} ({file.name})": run
        for letter, file, (run, _) in zip(letters_for(len(runs)), runs, meant.values(), strict=True)
    }
    relevant = {topic: truth.relevant(topic) for topic in judgements}
    common = [topic for topic in relevant if all(topic in run for run in named_runs.values())]
    chosen = tuple(topics) or tuple(
        topic for topic in common if any(grade > 0 for grade in counted[topic].values())
    )
    most = MOST_PAIRED_TOPICS if paired else QUESTION_RANGE[1]
    of_runs = {topic for run in named_runs.values() for topic in run}
    no_topic = "" if chosen else topics_fault(judgements, of_runs)
    if not chosen:
        no_topic = no_topic or none_relevant_fault(qrels.name, judgements)
    faults.extend([no_topic] if no_topic else _choice_faults(chosen, qrels.name, most))
    # Of a run whose ids are not those judged, every relevant document would seem to be missing.
    unmet = {} if missing_last else _unmet_runs(judgements, meant, named_runs, chosen)
    faults.extend(unmet.values())
    size = collection_size or _least_size(chosen[:most], relevant, named_runs)
    questions = []
    for topic in dict.fromkeys(chosen[:most]):
        missing = [*_topic_faults(topic, relevant, named_runs, qrels.name)]
        faults.extend(missing)
        if not missing:
            questions.append(
                [
                    _read_list(topic, name, run[topic], truth, size, missing_last, faults)
                    for name, run in named_runs.items()
                    if name not in unmet
                ]
            )
            if clusters:
                faults.extend(_cluster_faults(truth, topic, clusters.name))
    faults.raise_any()
    lists = tuple(tuple(tuple(row) for row in question) for question in questions)
    documents = [[tuple(row.values()) for row in question] for question in questions]
    marks = _topic_marks(truth, chosen, documents, graded=graded)
    warnings = tables_checked(faults.columns_not_read)
    warnings += _warnings(judgements, meant, chosen, is_chosen=bool(topics))
    warnings += clusters_checked(clusters.name, clusters_read) if clusters and clusters_read else []
    alike = {} if paired else _alike_topics(chosen, lists, marks, names)
    warnings += [
        Warned("question-left-out", topic, text, example=same)
        for topic, same in alike.items()
        if (text := f"Topic “{topic}” is left out: runs {same[0]} and {same[1]} look the same")
    ]
    left = [index for index, topic in enumerate(chosen) if topic not in alike]
    chosen = tuple(chosen[index] for index in left)
    first = tuple(
        tuple(tuple(ranking(run[topic])[:MOST_STORED_RESULTS]) for run in named_runs.values())
        for topic in chosen
    )
    return OwnLists(
        tuple(lists[index] for index in left),
        size,
        chosen,
        tuple(marks[index] for index in left) if marks else (),
        first,
        unreturned=_unreturned(chosen, relevant, named_runs.values()),
        warnings=tuple(warnings),
    )


def _least_size(topics: Iterable[str], relevant: Relevant, runs: Mapping[str, Run]) -> int:
    """Return the size of the smallest collection that holds all lists, and what they lack."""
    sizes = (
        len({*run.get(topic, ()), *relevant.get(topic, ())})
        for topic in topics
        for run in runs.values()
    )
    return max([COLLECTION_SIZE[0], *sizes])


def _unreturned(
    topics: Iterable[str], relevant: Relevant, runs: Iterable[Run]
) -> tuple[tuple[int, ...], ...]:
    """Return how many relevant documents each run did not return; () where all returned all."""
    runs = [*runs]
    counts = tuple(
        tuple(len({*relevant[topic]}.difference(run[topic])) for run in runs) for topic in topics
    )
    return counts if any(map(any, counts)) else ()


def _read_files(
    files: tuple[TextFile, Sequence[TextFile], TextFile | None],
    names: Sequence[str],
    reading: Reading,
    faults: FileFaults,
    highest: int | None,
) -> tuple[Judgements, Clusters | None, dict[str, tuple[Run, RunFacts]]]:
    """Read judgements, runs and clusters as they are meant; raise all faults of their lines."""
    qrels, runs, clusters = files
    judgements = read_judgements(qrels.name, lines_of(qrels.text), faults, highest)
    by_document = (
        read_clusters(clusters.name, lines_of(clusters.text), faults) if clusters else None
    )
    as_written = {
        name: read_run_and_facts(run.name, lines_of(run.text), faults)
        for name, run in zip(names, runs, strict=True)
    }
    faults.raise_any()
    meant = {
        name: run_as_meant(*of_run, reading.ids, name, reading.distances)
        for name, of_run in as_written.items()
    }
    return (
        changed_ids(judgements, reading.ids, qrels.name),
        by_document and changed_ids(by_document, reading.ids, "the clusters"),
        meant,
    )


def _unmet_runs(
    judgements: Judgements,
    runs: Iterable[str],
    named_runs: Mapping[str, Run],
    topics: Sequence[str],
) -> dict[str, str]:
    """Return for each run of which most ids are not those judged what is to be known of them."""
    faults = {}
    for name, (place, run) in zip(runs, named_runs.items(), strict=True):
        asked = {topic: run[topic] for topic in topics if topic in run}
        for warned in runs_checked(judgements, {name: asked}, {}, of_study=True):
            is_of_ids = warned.code in ("ids-differ", "no-document-judged")
            if is_of_ids and warned.count * 2 >= warned.total:
                faults[place] = warned.text
    return faults


def _alike_topics(
    topics: Sequence[str],
    lists: Sequence[Sequence[tuple[int, ...]]],
    marks: Sequence[Marks],
    runs: Sequence[str],
) -> dict[str, tuple[str, ...]]:
    """Return topics in which two lists look the same, with their runs; raises if all do."""
    of_topics = zip(topics, lists, marks or repeat(NO_MARKS), strict=False)
    alike = {
        topic: same
        for topic, ranks, marked in of_topics
        if (same := _equal_lists(ranks, marked, runs))
    }
    if alike and len(alike) == len(topics):
        raise FaultyFilesError(_equal_list_fault(topic, same) for topic, same in alike.items())
    return alike


def _at_level(judgements: Judgements, relevant_from: int) -> Judgements:
    """Return judgements in which grades below a level are 0."""
    if relevant_from == 1:
        return judgements
    return {
        topic: {
            document: grade if grade >= relevant_from else min(grade, 0)
            for document, grade in grades.items()
        }
        for topic, grades in judgements.items()
    }


def _warnings(
    judgements: Judgements,
    runs: Mapping[str, tuple[Run, RunFacts]],
    topics: Sequence[str],
    *,
    is_chosen: bool,
) -> list[Warned]:
    """Return what is to be known of the files of a study, MOST_WARNINGS of a code."""
    asked = {*topics}
    judged = {topic: grades for topic, grades in judgements.items() if topic in asked}
    of_topics = {
        name: {topic: scores for topic, scores in run.items() if topic in asked}
        for name, (run, _) in runs.items()
    }
    facts = {name: of_run for name, (_, of_run) in runs.items()}
    warnings = runs_checked(judged, of_topics, facts, of_study=True)
    if not is_chosen:
        warnings += topics_left_out(judgements, {name: run for name, (run, _) in runs.items()})
    counts = Counter[str]()
    kept = []
    for warning in warnings:
        counts[warning.code] += 1
        if counts[warning.code] <= MOST_WARNINGS:
            kept.append(warning)
    return kept


def cluster_name(cluster: str) -> str:
    """Return a cluster's name as it is stored, which has no blank and none of + , ( ).

    A blank becomes _, and each of the others -. It is cut at 40 characters. A name that would
    mean "no cluster" becomes --.
    """
    word = re.sub(r"[+,()]", "-", "_".join(cluster.split()))[:LONGEST_CLUSTER_NAME]
    return "--" if word == NO_CLUSTER else word


def _size_faults(runs: int, collection_size: int | None) -> Iterable[str]:
    """Yield why this number of runs, or this size of a collection, is not allowed."""
    fewest, most = RUN_RANGE
    if not fewest <= runs <= most:
        yield f"runs found: {runs}; {fewest} to {most} are allowed, a list from each"
    lowest, highest = COLLECTION_SIZE
    if collection_size is not None and not lowest <= collection_size <= highest:
        yield f"the collection size is {collection_size}; {lowest} to {highest} is allowed"


def _choice_faults(topics: Sequence[str], file: str, most: int) -> Iterable[str]:
    if not topics:
        yield f"no topic has a relevant document in {file} and occurs in every run; 1 is needed"
    if len(topics) > most:
        yield f"topics found: {len(topics)}; choose at most {most}, a question from each"
    for topic, count in Counter(topics).items():
        if count > 1:
            yield f"topic {shortened(topic)} is chosen {count} times; once is allowed"


def _topic_faults(
    topic: str, relevant: Relevant, runs: Mapping[str, Run], file: str
) -> Iterable[str]:
    """Yield the reasons why a topic cannot be a question."""
    name = f"topic {shortened(topic)}"
    if topic not in relevant:
        yield f"{name} is not in {file}; choose topics that are judged there"
    elif not relevant[topic]:
        yield f"{name} has no relevant document in {file}; at least one is needed"
    for of_run, run in runs.items():
        if topic not in run:
            yield f"{name} is missing in {of_run}; every run needs every topic"
        elif strange := next(filter(is_steering, (topic, *run[topic])), ""):
            unseen = "has a sign that cannot be seen; take it out"
            yield f"{name}, {of_run}: {shortened(strange)} {unseen}"


def _read_list(
    topic: str,
    run: str,
    scores: Mapping[str, float],
    truth: GroundTruth,
    collection_size: int,
    missing_last: bool,
    faults: FileFaults,
) -> dict[int, str]:
    """Return position → relevant document, by position; add a fault and return {} if it cannot."""
    order, relevant = ranking(scores), truth.relevant(topic)
    ranked = rank_relevant(order, truth.judgements[topic], relevant)
    ranks = [rank for rank in ranked.ranks if math.isfinite(rank)]
    missing = len(relevant) - len(ranks)
    place = f"topic {shortened(topic)}, {run}"
    if len(order) > collection_size:
        faults.add(f"{place}: {len(order)} documents found; {collection_size} are allowed")
    elif missing and not missing_last:
        faults.add(
            f"{place}: {missing} of {len(relevant)} relevant documents missing; every one needs "
            "a position. Without --no-missing-last they are put at the end of the collection"
        )
    elif len(order) + missing > collection_size:
        faults.add(
            f"{place}: {len(order)} documents found and {missing} relevant "
            f"{'one' if missing == 1 else 'ones'} missing; the last positions of a collection of "
            f"{collection_size} are taken, so a larger collection size is needed"
        )
    else:
        last = range(collection_size - missing + 1, collection_size + 1)
        return dict(zip((*map(int, ranks), *last), ranked.documents, strict=True))
    return {}


def _cluster_faults(truth: GroundTruth, topic: str, file: str) -> Iterator[str]:
    """Yield what is wrong with a topic's clusters: there is none, or two get the same name."""
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


def _equal_lists(
    lists: Sequence[tuple[int, ...]], marks: Marks, runs: Sequence[str]
) -> tuple[str, ...]:
    """Return the names of the first two runs whose lists look the same, () where none do."""
    seen: dict[object, str] = {}
    for index, (ranks, run) in enumerate(zip(lists, runs, strict=True)):
        same = seen.setdefault((ranks, marks.of_list(index)), run)
        if same != run:
            return same, run
    return ()


def _equal_list_fault(topic: str, runs: Sequence[str]) -> str:
    return (
        f"topic {shortened(topic)}: the runs {runs[0]} and {runs[1]} have the relevant documents "
        "at the same positions; the two lists look the same, so another topic or run is needed"
    )


def _topic_marks(
    truth: GroundTruth,
    topics: Sequence[str],
    lists: Sequence[Sequence[Sequence[str]]],
    *,
    graded: bool,
) -> tuple[Marks, ...]:
    """Return the marks of each topic's lists, or none where there is nothing to mark.

    Grades only with ``graded``, and only where a relevant document of these topics has a
    grade above 1; clusters where there are any. ``lists``: topic → list → documents.
    """
    grades = {topic: truth.judgements[topic] for topic in topics}
    with_grades = graded and any(max(of_topic.values()) > 1 for of_topic in grades.values())

    def clusters(topic: str, document: str) -> tuple[str, ...]:
        return tuple(sorted({*map(cluster_name, truth.clusters_of(topic, document))}))

    marks = []
    for topic, rows in zip(topics, lists, strict=True):
        graded_rows = [tuple(grades[topic][document] for document in row) for row in rows]
        clustered_rows = [tuple(clusters(topic, document) for document in row) for row in rows]
        marks.append(
            Marks(
                grades=tuple(graded_rows) if with_grades else (),
                clusters=tuple(clustered_rows) if truth.clusters is not None else (),
            )
        )
    return tuple(marks) if any(marks) else ()
