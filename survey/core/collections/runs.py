"""Judgements and runs of a test collection: their files, and the lists that measures take.

The files are TREC's, and two formats of our own for weights and clusters. Fields are
separated by spaces and tabs only, as in trec_eval; empty lines and lines that start with # do not
count. A table with a heading, JSON Lines, and a JSON object of topics, documents and numbers (as
of ranx and pytrec_eval) are read too. Ids are in NFC. A reader takes the file's name and lines and
returns what the valid lines hold; for each invalid line it adds a sentence with its place to
``faults``.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import PurePath
from typing import TypeVar

import numpy as np

from survey.core.given_tables import SEPARATOR_LINE, Columns, heading_names, table_in
from survey.core.measures import Lists
from survey.core.text_input import (
    NUMBER,
    SIGNED_WHOLE,
    FaultyFilesError,
    FileFaults,
    parse_number,
    parse_whole,
    shortened,
    without_repeats,
)

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
RUN_SUFFIXES = (".txt", ".run", ".res", ".trec", ".tsv", ".json", ".jsonl")  # before .gz too
QRELS_LINE = "topic iteration document relevance"
RUN_LINE = "topic Q0 document rank score tag"
MS_MARCO_LINE = "topic document rank"
WEIGHTS_LINE = "topic document weight"
CLUSTERS_LINE = "topic document cluster"
SUBTOPICS_LINE = "topic sub-topic document relevance"
# Fields of lines that tables need not have.
NOT_NEEDED = ("iteration", "Q0", "rank", "tag")
OTHER_NAMES = {
    **dict.fromkeys(("docno", "doc_id", "docid", "corpus-id"), "document"),
    **dict.fromkeys(("topic_id", "query_id", "query-id", "qid"), "topic"),
    "sub-topic": "cluster",
}
NAMES_OF_RELEVANCE = dict.fromkeys(("rel", "score", "rating", "grade", "label"), "relevance")
BLANKS = re.compile("[ \t]+")
CLUSTER_SHARE = re.compile(r"0?\.[0-9]+|1(\.0+)?|0(\.0+)?")
# What a line of each sort of file is, and a field with how it looks.
SORTS = {
    "a run": (RUN_LINE, 4, NUMBER),
    "judgements": (QRELS_LINE, 3, SIGNED_WHOLE),
    "weights": (WEIGHTS_LINE, 2, re.compile(r"(0?\.[0-9]+|1\.0+)")),
    "clusters": (CLUSTERS_LINE, 2, re.compile(r".*[^\W\d].*")),
}
PLAN_LINE = re.compile(r"(kind|preset|title|asked_by):\s")
WHOLE_AS_DECIMAL = re.compile(r"([+-]?[0-9]+)\.0+\Z")
IN_NO_CLUSTER = "unknown"
LARGEST_RELEVANCE = 999_999_999
ONE_JUDGEMENT = "one judgement for each is allowed"

Value = TypeVar("Value")
Place = int | str
"""Where a record is: the number of its line, or words for the row of a table."""


def read_judgements(
    file: str, lines: Iterable[str], faults: FileFaults, highest: int | None = None
) -> Judgements:
    """Read qrels, ``topic iteration document relevance``; relevance up to ``highest``, if given.

    Above 0 is relevant, 0 judged not relevant, and what is below 0 counts as not judged. 1.0 is 1.
    """
    bound = "" if highest is None else f" up to {highest}"
    largest = LARGEST_RELEVANCE if highest is None else highest
    lines = [*lines]
    of_lines = FileFaults()
    judgements = read_values(
        (file, lines, of_lines),
        (QRELS_LINE, "relevance"),
        lambda text: parse_whole(
            WHOLE_AS_DECIMAL.sub(r"\1", text), -LARGEST_RELEVANCE, largest, signed=True
        ),
        allowed=f"a whole number{bound} is allowed",
        once=ONE_JUDGEMENT,
    )
    faults.columns_not_read |= of_lines.columns_not_read
    if of_lines and _is_by_subtopic(lines):
        faults.add(f"{file}: these are judgements by sub-topic. Give them to --clusters")
    else:
        faults.extend(of_lines.sentences)
    return judgements


def _is_by_subtopic(lines: Iterable[str]) -> bool:
    """Return whether lines judge a document for several sub-topics, which the second field is."""
    subtopics: dict[tuple[str, str], str] = {}
    for line in lines:
        fields = _fields(line.strip())
        if len(fields) == len(QRELS_LINE.split()):
            topic, subtopic, document, _ = fields
            if subtopics.setdefault((topic, document), subtopic) != subtopic:
                return True
    return False


def run_name(file: str) -> str:
    """Return a run's name: its file's name without .gz and without one of RUN_SUFFIXES."""
    name = PurePath(file).name
    for suffixes in ((".gz",), RUN_SUFFIXES):
        suffix = PurePath(name).suffix
        if suffix.lower() in suffixes:
            name = name.removesuffix(suffix)
    return name


def names_of_runs(
    files: Sequence[str], lines_of_run: Callable[[int], Iterable[str]], names: Sequence[str] = ()
) -> list[str]:
    """Return the name of each run: the one in ``names``, or what ``run_name`` makes of its file.

    Files of which that gives equal names are called by the tags in them, or by their whole names.
    ``lines_of_run``: index → the lines of that file. Raises FaultyFilesError for names that stay
    equal, or cannot be printed.
    """
    result = [*names] or [""] * len(files)
    unnamed = [index for index, name in enumerate(result) if not name]
    for index in unnamed:
        alike = [other for other in unnamed if run_name(files[other]) == run_name(files[index])]
        tags = [run_tag(lines_of_run(other)) for other in alike] if len(alike) > 1 else []
        whole = PurePath(files[index]).name if tags else run_name(files[index])
        is_told_apart = len({*tags} - {""}) == len(tags) > 0
        result[index] = tags[alike.index(index)] if is_told_apart else whole
    faults = FileFaults()
    for index, name in enumerate(result):
        first = result.index(name)
        if not name.isprintable():  # nor are bytes that are not UTF-8
            faults.add(f"{files[index]}: its name holds an unprintable character, so rename it")
        elif first != index:
            both = f"{files[first]} and {files[index]} would both be the run {name!r}"
            lines, others = lines_of_run(first), lines_of_run(index)
            is_same = files[first] == files[index] and [*lines] == [*others]
            again = f"the same file is given twice: {files[index]}"
            faults.add(again if is_same else f"{both}. Name one: --run NAME={files[index]}")
    faults.raise_any()
    return result


@dataclass(frozen=True)
class RunFacts:
    """What a run's file says beside its scores.

    ``order``: topic → documents, as the rank column has them, from the first on; without topics in
    which a rank occurs twice. ``comments``: how many lines start with #. ``swapped``: the first
    two values of the rank and score columns where ranks look like scores, and scores like ranks.
    ``distances``: whether scores were negated. ``tag``: that of the last line, "" without tags;
    ``longer_lines``: how many have fields after it, and ``after_tag`` those of the first.
    """

    order: Mapping[str, Sequence[str]]
    comments: int = 0
    swapped: Sequence[tuple[str, str]] = ()
    distances: bool = False
    tag: str = ""
    longer_lines: int = 0
    after_tag: str = ""


def run_tag(lines: Iterable[str]) -> str:
    """Return the last field of a run's first line, "" where it has none."""
    first, _ = _peek(lines)
    fields = _fields(first)
    return fields[5] if len(fields) >= len(RUN_LINE.split()) else ""


def read_run_and_facts(file: str, lines: Iterable[str], faults: FileFaults) -> tuple[Run, RunFacts]:
    """Read a run as ``read_run`` does, and what its rank column and its comments say."""
    ranks: dict[str, list[tuple[int, str]]] = {}
    fractions: list[tuple[str, str]] = []
    comments = longer_lines = 0
    tag = after_tag = ""

    def counted() -> Iterator[str]:
        nonlocal comments
        for line in lines:
            comments += line.lstrip().startswith("#")
            yield line

    def note(fields: Sequence[str]) -> None:
        nonlocal tag, longer_lines, after_tag
        if len(fields) < len(RUN_LINE.split()):
            return
        tag = fields[5]
        longer_lines += len(fields) > len(RUN_LINE.split())
        after_tag = after_tag or " ".join(fields[6:])
        rank = parse_whole(fields[3])
        if rank is not None:
            ranks.setdefault(fields[0], []).append((rank, fields[2]))
        elif len(fractions) < 2 and not (parse_number(fields[3]) or 0.0).is_integer():
            fractions.append((fields[3], fields[4]))

    run = read_run(file, counted(), faults, note)
    order = {
        topic: tuple(document for _, document in sorted(of_topic))
        for topic, of_topic in ranks.items()
        if len({rank for rank, _ in of_topic}) == len(of_topic)
    }
    scores = [score for of_topic in run.values() for score in of_topic.values()]
    swapped = _whole_numbers_swapped(run, ranks)
    if fractions:
        swapped = fractions if all(score.is_integer() for score in scores) else []
    facts = RunFacts(order, comments, swapped)
    return run, replace(facts, tag=tag, longer_lines=longer_lines, after_tag=after_tag)


def _whole_numbers_swapped(
    run: Run, ranks: Mapping[str, Sequence[tuple[int, str]]]
) -> Sequence[tuple[str, str]]:
    """Return the first two ranks and scores where in most topics each column looks like the other.

    Line by line the scores of such a topic are 1, 2, 3 … or 0, 1, 2 …, as ranks are, and its ranks
    fall, as scores do.
    """
    listed = {topic: of_topic for topic, of_topic in ranks.items() if len(of_topic) > 1}
    like: list[Sequence[tuple[str, str]]] = []
    for topic, of_topic in listed.items():
        falling = [rank for rank, _ in of_topic]
        rising = [*run.get(topic, {}).values()]
        is_counted = rising in ([*range(1, len(rising) + 1)], [*range(len(rising))])
        if is_counted and falling[0] > falling[-1] and falling == sorted(falling, reverse=True):
            like.append([(str(r), f"{s:g}") for r, s in zip(falling[:2], rising[:2], strict=True)])
    return like[0] if len(like) * 2 > len(listed) else []


def read_run(
    file: str,
    lines: Iterable[str],
    faults: FileFaults,
    note: Callable[[Sequence[str]], object] = lambda _: None,
) -> Run:
    """Read a run, ``topic Q0 document rank score tag``; the score alone decides the order.

    Or MS MARCO's ``topic document rank``, where the rank decides. ``note`` is called with the
    fields of each valid line. A line may have fields after the tag, see ``_has_reserved_fields``.
    """
    once = "a run may return it once"
    first, lines = _peek(lines)
    fields = _fields(first)
    if len(fields) == len(MS_MARCO_LINE.split()) and parse_whole(fields[-1]) is not None:
        form, parse, number = (MS_MARCO_LINE, "rank"), _score_of_rank, "a whole number from 1"
    else:
        form, parse, number = (RUN_LINE, "score"), parse_number, "a number"
    source, allowed = (file, lines, faults), f"{number} is allowed"
    return read_values(source, form, parse, allowed=allowed, once=once, note=note)


def _score_of_rank(text: str) -> float | None:
    rank = parse_whole(text, 1)
    return None if rank is None else -float(rank)


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
    first_places: dict[tuple[str, str, str], Place] = {}
    for place, (topic, document, name) in _cluster_fields(file, [*lines], faults):
        cluster = _cluster_name(name)
        first = first_places.setdefault((topic, document, cluster), place)
        if first != place:
            faults.add(
                f"{file}, {place_text(place)}: document {shortened(document)} of topic "
                f"{shortened(topic)} found again in cluster {shortened(cluster)}, as in "
                f"{place_text(first)}; once is allowed"
            )
        documents = topics.setdefault(topic, {})
        documents[document] = documents.get(document, frozenset()) | ({cluster} - {IN_NO_CLUSTER})
    if fault := _like_weights({cluster for _, _, cluster in first_places}):
        faults.add(f"{file}: {fault}")
        return topics
    for (topic, document, cluster), place in first_places.items():
        if cluster == IN_NO_CLUSTER and topics[topic][document]:
            other = shortened(min(topics[topic][document]))
            faults.add(
                f"{file}, {place_text(place)}: document {shortened(document)} of topic "
                f"{shortened(topic)} is {IN_NO_CLUSTER} here and in cluster {other} elsewhere; one "
                "of the two is allowed"
            )
    return topics


def _like_weights(clusters: Collection[str]) -> str:
    """Return that names of clusters are shares of annotators, "" where they are not."""
    shares = [CLUSTER_SHARE.fullmatch(cluster) for cluster in clusters]
    first = min((cluster for cluster in clusters if "." in cluster), default="")
    if not first or not all(shares):
        return ""
    others = " and other shares from 0 to 1" * (len(clusters) > 1)
    return (
        f"the clusters are called {first}{others}, like weights. Give "
        "weights to --weights; clusters need names, like “aerial view”"
    )


def _cluster_fields(
    file: str, lines: Sequence[str], faults: FileFaults
) -> Iterator[tuple[Place, tuple[str, str, str]]]:
    """Yield place, topic, document and cluster; of judgements by sub-topic the relevant ones."""
    if not _are_subtopics(lines):
        for place, fields in split_lines(CLUSTERS_LINE, file, lines, faults, rest_in_last=True):
            topic, document, cluster = fields
            yield place, (topic, document, cluster)
        return
    for place, (topic, subtopic, document, relevance) in split_lines(
        SUBTOPICS_LINE, file, lines, faults
    ):
        if int(relevance) > 0:
            yield place, (topic, document, subtopic)


def _are_subtopics(lines: Iterable[str]) -> bool:
    """Return whether all lines are judgements by sub-topic: numbers in the second and last field.

    A cluster may be called "group 1", of which the first word is in every line.
    """
    documents = set()
    for line in lines:
        text = line.removeprefix("\ufeff").strip()
        if text and not text.startswith("#"):
            fields = _fields(text)
            is_judgement = len(fields) == len(SUBTOPICS_LINE.split())
            if not is_judgement or parse_whole(fields[1]) is None:
                return False
            if parse_whole(fields[3], signed=True) is None:
                return False
            documents.add(fields[2])
    return len(documents) > 1


def read_values(
    source: tuple[str, Iterable[str], FileFaults],
    form: tuple[str, str],
    parse: Callable[[str], Value | None],
    *,
    allowed: str,
    once: str,
    note: Callable[[Sequence[str]], object] = lambda _: None,
) -> dict[str, dict[str, Value]]:
    """Read a file with a value for each document; return topic → document → value.

    ``source``: the arguments of every reader. ``form``: the names of a line's fields, and that
    of the value; ``parse``: its text → the value, None where it is invalid. ``allowed``,
    ``once``: the ends of the sentences about an invalid value and a second line. ``note`` is called
    with the fields of each valid line.
    """
    file, lines, faults = source
    line, name = form
    names = line.split()
    document_column, value_column = names.index("document"), names.index(name)
    topics: dict[str, dict[str, Value]] = {}
    first_places: dict[str, dict[str, Place]] = {}
    for place, fields in split_lines(line, file, lines, faults):
        topic, document, text = fields[0], fields[document_column], fields[value_column]
        first = first_places.setdefault(topic, {}).setdefault(document, place)
        value = parse(text)
        if value is None and text.casefold() in (*names, *OTHER_NAMES, *NAMES_OF_RELEVANCE):
            faults.add(f"{file}: {place_text(place)} is a heading; delete it")
        elif value is None:
            faults.add(f"{file}, {place_text(place)}: {name} {shortened(text)} found; {allowed}")
        elif first != place:
            faults.add(
                f"{file}, {place_text(place)}: document {shortened(document)} of topic "
                f"{shortened(topic)} found again, as in {place_text(first)}; {once}"
            )
        else:
            topics.setdefault(topic, {})[document] = value
            note(fields)
    return topics


def split_lines(
    form: str, file: str, lines: Iterable[str], faults: FileFaults, *, rest_in_last: bool = False
) -> Iterator[tuple[Place, list[str]]]:
    """Yield each line's place and its fields, without empty lines and comments (#).

    ``form``: the names of the fields. ``rest_in_last``: the last field may hold blanks. Tables and
    JSON give the same fields, empty where they have no such column.
    """
    first, lines = _peek(lines)
    if _is_table(first, form):
        yield from _table_fields(form, file, "".join(_with_ends(lines)), faults)
        return
    count = len(form.split())
    top = [*islice(iterator := iter(lines), 50)]
    lines = chain(top, iterator)
    if fault := _sort_fault(form, top):
        faults.add(f"{file} {fault}")
        return
    if not first:
        faults.add(f"{file}: no line found; a line for each document is needed: {form}")
    for number, line in enumerate(lines, 1):
        text = (line.removeprefix("\ufeff") if number == 1 else line).strip()
        if not text or text.startswith("#"):
            continue
        fields = _fields(text, count - 1 if rest_in_last else -1)
        if len(fields) == count or (form == RUN_LINE and _has_reserved_fields(fields)):
            yield number, fields
            continue
        counted = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
        allowed = f"{count} {'or more ' * rest_in_last}are allowed: {form}"
        line_text = shortened(" ".join(fields))
        faults.add(f"{file}, line {number}: {counted} found, {line_text}; {allowed}")


def _has_reserved_fields(fields: Sequence[str]) -> bool:
    """Return whether a run's line has more fields after its tag, which trec_eval reserves.

    A blank in an id, or two lines in one, make a line longer too. Then rank, score or tag is not in
    its place, or a rank and a score are also at the end of the line.
    """
    if len(fields) <= len(RUN_LINE.split()):
        return False
    is_ranked = [
        parse_whole(rank) is not None and parse_number(score) is not None
        for rank, score in (fields[3:5], fields[-3:-1])
    ]
    return is_ranked == [True, False] and parse_number(fields[5]) is None


def _sort_fault(form: str, top: Iterable[str]) -> str:
    """Return which other sort of file than that of a form begins with these lines, "" for none."""
    own = next((name for name, sort in SORTS.items() if sort[0] == form), "")
    other = sort_of(top) if own else ""
    count = len(form.split())
    if other == "a plan":
        return f"looks like a plan in YAML, not like {own}; a plan is given to --from"
    if not other or other == own or len(SORTS[other][0].split()) == count:
        return ""
    if form == CLUSTERS_LINE and other != "a run":  # a cluster may be several words
        return ""
    columns = len(SORTS[other][0].split())
    return f"has {columns} columns like {other}, not {count} like {own}. Were the two swapped?"


def sort_of(top: Iterable[str]) -> str:
    """Return the sort of file that begins with these lines, see SORTS; "" where none is clear."""
    counted = [text for text in map(str.strip, top) if text and not text.startswith("#")][:5]
    if counted and PLAN_LINE.match(f"{counted[0]} "):
        return "a plan"
    rows = [_fields(text) for text in counted]
    if any(len(row) == 3 and row[1] in ("0", "Q0") for row in rows):  # cut off
        return ""
    for name, (line, place, look) in SORTS.items():
        count = len(line.split())
        if rows and all(len(row) == count and look.fullmatch(row[place]) for row in rows):
            return name
    return ""


def place_text(place: Place) -> str:
    """Return the words for a place: "line 3"."""
    return f"line {place}" if isinstance(place, int) else place


def _is_table(first: str, form: str) -> bool:
    """Return whether a file with this first line is JSON, or a table with the fields of a form."""
    if first.startswith("{") or (first.startswith("[") and first[1:].lstrip()[:1] in ("", "{")):
        return True
    if SEPARATOR_LINE.match(f"{first}\n"):
        return True
    columns = _columns_of(form)
    names = heading_names(first, columns)
    # A table without these columns has one fault, and not one in each row.
    is_other_table = len(_fields(first)) < len(columns.needed) <= len(names)
    return is_other_table or names >= {*columns.needed}


def _fields(text: str, most: int = -1) -> list[str]:
    """Split a line at spaces and tabs; ids that are no ASCII are in NFC then."""
    if text.isascii():
        return text.split(maxsplit=most)
    return BLANKS.split(unicodedata.normalize("NFC", text), maxsplit=max(0, most))


def _peek(lines: Iterable[str]) -> tuple[str, Iterable[str]]:
    """Return the first line that counts, without blanks around it, and all lines again."""
    passed = []
    rest = iter(lines)
    for line in rest:
        passed.append(line)
        text = line.removeprefix("\ufeff").strip()
        if text and not text.startswith("#"):
            return text, chain(passed, rest)
    return "", passed


def _columns_of(form: str) -> Columns:
    """Return the columns of a table with the fields of a form."""
    names = form.split()
    others = OTHER_NAMES | (NAMES_OF_RELEVANCE if "relevance" in names else {})
    needed = [name for name in names if name not in NOT_NEEDED]
    return Columns(needed, [name for name in names if name in NOT_NEEDED], others)


def _with_ends(lines: Iterable[str]) -> Iterator[str]:
    return (line if line.endswith("\n") else f"{line}\n" for line in lines)


def _table_fields(
    form: str, file: str, text: str, faults: FileFaults
) -> Iterator[tuple[Place, list[str]]]:
    """Yield place and fields of the rows of a table, or of a JSON object of topics."""
    columns = _columns_of(form)
    names = form.split()
    try:
        if "topic" in names and (topics := _json_topics(text, file)):
            for topic, documents in topics.items():
                for document, value in documents.items():
                    place = f"topic {shortened(topic)}, document {shortened(document)}"
                    cells = {"topic": topic, "document": document, columns.needed[-1]: str(value)}
                    yield (
                        place,
                        [unicodedata.normalize("NFC", cells.get(name, "")) for name in names],
                    )
            return
        table = table_in(text, file, columns)
        faults.columns_not_read[file] = table.columns_not_read
        for row in table.rows:
            empty = [name for name in columns.needed if not row[name]]
            if empty:
                faults.add(row.fault(empty[0], "nothing found; a value is needed"))
            else:
                yield f"row {row.number}", [row[name] for name in names]
    except FaultyFilesError as error:
        faults.extend(error.faults)


def _json_topics(text: str, file: str) -> Mapping[str, Mapping[str, object]] | None:
    """Return topic → document → number of a JSON object; None for JSON Lines and other text."""
    if not text.lstrip("\ufeff \t\r\n").startswith("{"):
        return None
    try:
        content = json.loads(text.removeprefix("\ufeff"), object_pairs_hook=without_repeats)
    except json.JSONDecodeError:
        return None
    except (ValueError, RecursionError) as error:
        raise FaultyFilesError([f"{file} cannot be read: {error}"]) from None
    for topic, documents in content.items():
        if not isinstance(documents, dict):
            return None
        for document, value in documents.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise FaultyFilesError(
                    [
                        f"{file}, topic {shortened(topic)}, document {shortened(document)}: "
                        f"{shortened(json.dumps(value))} found; a number is needed"
                    ]
                )
    mapping: Mapping[str, Mapping[str, object]] = content
    return mapping


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
        lengths=np.array([len(order) for order in orders]),
    )
