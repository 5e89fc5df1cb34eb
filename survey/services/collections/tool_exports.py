"""Judgements exported by other programs for judging, as assessors' grades.

A document of a picture's address is the file's name without the eight digits that Label Studio
puts before it, and without its ending.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

from survey.core.collections.labels import HIGHEST_GRADE
from survey.core.given_tables import Columns, json_rows, table_in, tidy
from survey.core.studies.run_lists import TextFile
from survey.core.text_input import (
    FaultyFilesError,
    FileFaults,
    as_slug,
    is_steering,
    lines_of,
    parse_number,
    shortened,
)

UPLOAD_PREFIX = re.compile(r"[0-9a-f]{8}-(?=.)")
FILE_ENDING = re.compile(r"(?<=.)\.[A-Za-z][A-Za-z0-9]{1,4}\Z")
GRADED = ("choices", "rating")  # types of Label Studio's results that hold a grade
MOST_FIELDS = 20  # that a message lists
REJECTED, SUBMITTED = "Rejected", "submitted"
FILE_NAME = "the file's name"
NO_LABEL = "[]"  # in place of a grade
EMPTY_CELL = "skipped, or nothing chosen: the file does not tell which"


class ReadingOptions(NamedTuple):
    """Which fields hold what, "" where the tool's usual field does, and what grades are worth.

    ``grades``: text → grade; empty where grades are numbers. ``empty``: the grade of a document
    without a label, None to leave it out.
    """

    topic: str = ""
    document: str = ""
    grade: str = ""
    grades: Mapping[str, int] = {}
    empty: int | None = None


class Judged(NamedTuple):
    """A judgement as the file has it; ``source``: what ``document`` was cut from."""

    place: str
    assessor: str
    topic: str
    document: str
    grade: str
    source: str = ""
    is_machine: bool = False


class LeftOut(NamedTuple):
    """A record that gives no judgement, and why; ``topic`` where it is known."""

    place: str
    why: str
    topic: str = ""


Rows = list[Judged | LeftOut]


@dataclass(frozen=True)
class ToolJudgements:
    """What files of a tool hold.

    ``assessors``, ``machines``: name → topic, document and grade of each judgement. ``private``:
    an assessor's name here → that in the tool. ``topics``: a topic's name → its text. ``counts``:
    the text of a grade → how many judgements have it; ``grades``: → its number. ``fields``: what
    was read as topic, document, grade and assessor, in words.
    """

    assessors: dict[str, list[tuple[str, str, int]]] = field(default_factory=dict)
    private: dict[str, str] = field(default_factory=dict)
    machines: dict[str, list[tuple[str, str, int]]] = field(default_factory=dict)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    topics: dict[str, str] = field(default_factory=dict)
    grades: dict[str, int] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    fields: dict[str, str] = field(default_factory=dict)


class Tool(NamedTuple):
    """A program: its name in words, what reads a file of it, and its usual fields.

    ``assessor``: where it names who judged. ``numbered``: whether its topics are texts, which get
    numbers.
    """

    title: str
    read: Callable[[TextFile, ReadingOptions, FileFaults], Rows]
    assessor: str
    fields: ReadingOptions
    numbered: bool = False


def read_exports(
    files: Sequence[TextFile], tool_name: str, options: ReadingOptions
) -> ToolJudgements:
    """Read a tool's files; raise FaultyFilesError with every fault and its place."""
    tool, faults, rows = TOOLS[tool_name], FileFaults(), Rows()
    options = options._replace(
        topic=options.topic or tool.fields.topic,
        document=options.document or tool.fields.document,
        grade=options.grade or tool.fields.grade,
    )
    names = [file.name for file in files]
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FaultyFilesError([f"Two of the files are called {twice}. Rename one"])
    for file in files:
        of_file, start = FileFaults(), f"{file.name}, "
        with of_file.collect(FaultyFilesError):
            for row in tool.read(file, options, of_file):
                rows.append(row._replace(place=start + row.place) if len(files) > 1 else row)
        for fault in of_file.sentences:
            faults.add(fault if fault.startswith(file.name) else start + fault)
    of_rows = FileFaults()
    _check_documents(rows, of_rows)
    judgements = _judgements(rows, options, of_rows, numbered=tool.numbered)
    start = f"{names[0]}, " if len(names) == 1 else ""
    faults.extend(start + fault for fault in of_rows.sentences)
    faults.raise_any()
    if not judgements.assessors:
        why = "; ".join(f"{why}: {count}" for why, count in left_out_counts(judgements).items())
        raise FaultyFilesError([f"{names[0]}: no judgement is left. {why or 'It is empty'}"])
    judgements.fields.update(_fields_read(rows, options, tool))
    return judgements


def _fields_read(rows: Rows, options: ReadingOptions, tool: Tool) -> dict[str, str]:
    """Return what was read as topic, document, grade and assessor, in words."""
    judged = [row for row in rows if isinstance(row, Judged)]
    fields = {
        "topic": options.topic,
        "document": options.document,
        "grade": options.grade or "the one choice or rating",
        "assessor": tool.assessor,
    }
    if tool.read is _read_doccano and all(row.topic == options.topic for row in judged):
        fields["topic"] += " itself, as there is no such field"
    if cut := next((row for row in judged if row.source not in ("", row.document)), None):
        fields["document"] += f", like {shortened(cut.document)} of {shortened(cut.source)}"
    return fields


def left_out_counts(judgements: ToolJudgements) -> Counter[str]:
    """Count what was left out by reason."""
    return Counter(why for _, why in judgements.left_out)


def _judgements(
    rows: Rows, options: ReadingOptions, faults: FileFaults, *, numbered: bool
) -> ToolJudgements:
    """Return the rows with short names of assessors and topics, and with grades as numbers."""
    result = ToolJudgements()
    texts = [*dict.fromkeys(row.topic for row in rows if row.topic)]
    numbered = numbered or any(re.search(r"\s", text) for text in texts)
    names = {text: f"q{number}" if numbered else text for number, text in enumerate(texts, 1)}
    result.topics.update((name, text) for text, name in names.items())
    assessors: dict[str, str] = {}
    judged_rows: dict[tuple[bool, str, str, str], Judged] = {}
    for row in rows:
        if isinstance(row, LeftOut):
            result.left_out.append((row.place, row.why))
            continue
        key = row.is_machine, row.assessor, row.topic, row.document
        first = judged_rows.setdefault(key, row)
        if first is not row:
            faults.add(
                f"{row.place}: topic {shortened(row.topic)}, document {shortened(row.document)} "
                f"was judged by the same assessor at {first.place} too. Keep one of the two"
            )
        grade = _grade_of(row, options, faults)
        if grade is None:
            continue
        result.grades[row.grade] = grade
        result.counts[row.grade] += not row.is_machine
        judged = names[row.topic], row.document, grade
        if row.is_machine:
            result.machines.setdefault(row.assessor, []).append(judged)
            continue
        name = assessors.setdefault(row.assessor, f"A{len(assessors) + 1}")
        result.private[name] = row.assessor
        result.assessors.setdefault(name, []).append(judged)
    return result


def _grade_of(row: Judged, options: ReadingOptions, faults: FileFaults) -> int | None:
    if row.grade == NO_LABEL and options.empty is not None:
        return options.empty
    if row.grade in options.grades:
        return options.grades[row.grade]
    number = parse_number(row.grade)
    if number is not None and not options.grades and number in range(HIGHEST_GRADE + 1):
        return int(number)
    allowed = f"a whole number from 0 to {HIGHEST_GRADE}"
    if not options.grades and number is not None:
        remedy = f"{allowed} is allowed; --grades '{row.grade}=1,…' says what others are worth"
    else:
        remedy = f"--grades '{row.grade}=1,…' says what it is worth, {allowed}"
    faults.add(f"{row.place}: the grade {shortened(row.grade)} has no number; {remedy}")
    return None


def _check_documents(rows: Rows, faults: FileFaults) -> None:
    """Add a fault for each document that is no TREC name, and for two files of one name."""
    first: dict[str, Judged] = {}
    for row in rows:
        if isinstance(row, LeftOut):
            continue
        if re.search(r"\s", row.document) or is_steering(row.document):
            faults.add(
                f"{row.place}: the document {shortened(row.document)} holds a blank or a sign that "
                "cannot be seen; name a field with an id by --document"
            )
        if is_steering(row.topic):
            faults.add(f"{row.place}: the topic {shortened(row.topic)} holds a control character")
        other = first.setdefault(row.document, row)
        if other.source != row.source:
            first[row.document] = row
            faults.add(
                f"{row.place}: {shortened(row.source)} and, at {other.place}, "
                f"{shortened(other.source)} are two files of one name, {row.document}. Name a "
                "field with an id by --document, or rename one"
            )


# --- fields ---


def _value_of(record: Mapping[str, Any], name: str, place: str, option: str) -> str:
    """Return the text of a field, whose name may be a path with points."""
    fields = ", ".join(map(str, [*record][:MOST_FIELDS])) or "none"
    if not name:
        raise FaultyFilesError([f"{place}: {option} has to name the field. Fields found: {fields}"])
    value: Any = record
    for key in (name,) if name in record else name.split("."):
        if not isinstance(value, Mapping) or key not in value:
            names = ", ".join([*value][:MOST_FIELDS]) if isinstance(value, Mapping) else fields
            raise FaultyFilesError([f"{place}: no field {name}. Fields found: {names or 'none'}"])
        value = value[key]
    return _text_of(value, f"{place}, field {name}")


def _text_of(value: object, place: str) -> str:
    text = tidy(str(value)) if isinstance(value, str | int | float) else ""
    if not text or isinstance(value, bool):
        printed = shortened(json.dumps(value))
        raise FaultyFilesError([f"{place}: {printed} found; a text or a number is needed"])
    return text


def _objects(record: Mapping[str, Any], name: str, place: str) -> list[Mapping[str, Any]]:
    """Return a field that is a list of objects."""
    value = record.get(name)
    if isinstance(value, list) and all(isinstance(entry, dict) for entry in value):
        return value
    fields = ", ".join([*record][:MOST_FIELDS]) or "none"
    raise FaultyFilesError(
        [f"{place}: no field {name} with a list of objects. Fields found: {fields}"]
    )


def _records(file: TextFile, faults: FileFaults) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place and the content of each object of JSON Lines or of a JSON array."""
    is_lines = not file.text.lstrip("\ufeff \t\r\n").startswith("[")
    for number, record in json_rows(file.text, file.name, is_lines=is_lines):
        place = f"line {number}" if is_lines else f"record {number}"
        if isinstance(record, dict):
            yield place, record
        else:
            faults.add(f"{place}: {shortened(json.dumps(record))} found; an object is needed")


def document_of(value: str) -> str:
    """Return a document's id: of an address the file's name, without prefix and ending."""
    if "/" not in value:
        return value
    address, _, query = value.partition("?")
    path = (parse_qs(query).get("d") or [unquote(address)])[0]
    name = UPLOAD_PREFIX.sub("", PurePosixPath(path).name, count=1)
    return tidy(FILE_ENDING.sub("", name)) or value


def _table(
    file: TextFile, fields: Sequence[str], more: Sequence[str] = ()
) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the place and the cells of each row of a CSV that has these columns."""
    if "" in fields:
        option = ("--topic", "--document", "--grade")[[*fields].index("")]
        heading = next(iter(lines_of(file.text.lstrip("\ufeff"))), "").strip()
        names = heading[:300] or "none, the file is empty"
        raise FaultyFilesError([f"{option} has to name a column. Columns found: {names}"])
    needed = [*fields, *more]
    columns = Columns(needed, (), {name.casefold(): name for name in needed})
    table = table_in(file.text, file.name, columns)
    # Where a cell holds a line break, rows are no lines.
    lines = sum(1 for _ in lines_of(file.text.rstrip()))
    word = "line" if table.rows and table.rows[-1].number == lines else "row"
    for row in table.rows:
        yield f"{word} {row.number}", row.cells


# --- tools ---


def _read_cells(
    file: TextFile,
    options: ReadingOptions,
    assessor: str = "",
    status: str = "",
    why_empty: str = "",
) -> Rows:
    """Read a CSV; ``assessor``, ``status``: columns, without the first the file's name is it."""
    fields, rows = options[:3], Rows()
    for place, cells in _table(file, fields, [*filter(None, (assessor, status))]):
        topic, source, grade = (cells.get(name, "") for name in fields)
        if status and cells.get(status) == REJECTED:
            rows.append(LeftOut(place, REJECTED, topic))
        elif not grade:
            rows.append(LeftOut(place, f"empty {options.grade}{why_empty}", topic))
        else:
            name = cells.get(assessor, "") if assessor else _file_stem(file)
            for column, cell in zip((*fields[:2], assessor), (topic, source, name), strict=True):
                if not cell:
                    raise FaultyFilesError([f"{place}: the column {column} is empty"])
            rows.append(Judged(place, name, topic, source, grade))
    return rows


def _file_stem(file: TextFile) -> str:
    name = PurePosixPath(file.name).name.removesuffix(".gz")
    return name.rsplit(".", 1)[0] or name


def _read_quepid(file: TextFile, options: ReadingOptions, faults: FileFaults) -> Rows:  # noqa: ARG001 - as readers are called
    return _read_cells(file, options)


def _read_mturk(file: TextFile, options: ReadingOptions, faults: FileFaults) -> Rows:  # noqa: ARG001 - as readers are called
    return _read_cells(file, options, "WorkerId", "AssignmentStatus")


def _read_doccano(file: TextFile, options: ReadingOptions, faults: FileFaults) -> Rows:
    """Read JSON Lines; a --topic that no record has as a field is the topic of all."""
    rows, records = Rows(), [*_records(file, faults)]
    has_topic = any(options.topic.split(".")[0] in record for _, record in records)
    for place, record in records:
        with faults.collect(FaultyFilesError):
            topic = options.topic
            if has_topic or not topic:
                topic = _value_of(record, topic, place, "--topic, a field or the topic itself,")
            document = _value_of(record, options.document, place, "--document")
            labels = record.get(options.grade)
            if labels == [] and options.empty is None:
                rows.append(LeftOut(place, f"empty {options.grade}", topic))
                continue
            grade = NO_LABEL
            if labels != []:
                [label] = labels if isinstance(labels, list) and len(labels) == 1 else [labels]
                labelled = {**record, options.grade: label} if options.grade in record else record
                grade = _value_of(labelled, options.grade, place, "--grade")
            rows.append(Judged(place, _file_stem(file), topic, document, grade))
    return rows


def _read_argilla(file: TextFile, options: ReadingOptions, faults: FileFaults) -> Rows:
    rows = Rows()
    for place, record in _records(file, faults):
        with faults.collect(FaultyFilesError):
            name = f"record {record['id']}" if "id" in record else place
            topic = _value_of(record, options.topic, name, "--topic")
            document = _value_of(record, options.document, name, "--document")
            responses = record.get("responses")
            if not isinstance(responses, dict):
                _objects(record, "responses", name)
                responses = {}
            if not options.grade or (responses and options.grade not in responses):
                _value_of(responses, options.grade, name, "--grade")
            if not responses.get(options.grade):
                rows.append(LeftOut(name, "no response", topic))
                continue
            for response in _objects(responses, options.grade, name):
                user = _value_of(response, "user_id", name, "user_id")
                status = _value_of(response, "status", name, "status")
                if status != SUBMITTED:
                    rows.append(LeftOut(f"{name}, user {user}", f"status {status}", topic))
                else:
                    grade = _value_of(response, "value", name, "value")
                    rows.append(Judged(f"{name}, user {user}", user, topic, document, grade))
    return rows


def _read_label_studio(file: TextFile, options: ReadingOptions, faults: FileFaults) -> Rows:
    """Read tasks with annotations and predictions; a file that is no JSON is the CSV."""
    if not file.text.lstrip("\ufeff \t\r\n").startswith(("[", "{")):
        return [
            row
            if isinstance(row, LeftOut)
            else row._replace(
                document=document_of(row.document), source=row.document, grade=_cell_grade(row)
            )
            for row in _read_cells(file, options, "annotator", why_empty=f" ({EMPTY_CELL})")
        ]
    rows = Rows()
    for place, task in _records(file, faults):
        with faults.collect(FaultyFilesError):
            rows.extend(_rows_of_task(place, task, options, faults))
    return rows


def _rows_of_task(
    place: str, task: Mapping[str, Any], options: ReadingOptions, faults: FileFaults
) -> Rows:
    name = f"task {task['id']}" if "id" in task else place
    annotations, rows = _objects(task, "annotations", name), Rows()
    data = task["data"] if isinstance(task.get("data"), dict) else {}
    topic = _value_of(data, options.topic.removeprefix("data."), name, "--topic")
    source = _value_of(data, options.document.removeprefix("data."), name, "--document")
    if not annotations:
        rows.append(LeftOut(name, "no annotation", topic))
    predictions = _objects(task, "predictions", name) if task.get("predictions") else []
    for what, record in (
        *(("annotation", annotation) for annotation in annotations),
        *(("prediction", prediction) for prediction in predictions),
    ):
        is_machine = what == "prediction"
        with faults.collect(FaultyFilesError):
            where = f"{what} {record['id']}" if "id" in record else f"{what} of {name}"
            grade = _result_grade(where, record, options.grade)
            if record.get("was_cancelled") or not grade:
                why = "was_cancelled" if record.get("was_cancelled") else "empty result"
                rows.append(LeftOut(where, why, topic))
                continue
            if is_machine:
                assessor = str(record.get("model_version") or "predictions")
            else:
                assessor = _annotator(record, where)
            judged = Judged(where, assessor, topic, document_of(source), grade, source, is_machine)
            rows.append(judged)
    return rows


def _annotator(record: Mapping[str, Any], place: str) -> str:
    by = record.get("completed_by")
    if isinstance(by, dict):
        return _value_of(by, "email" if "email" in by else "id", f"{place}, completed_by", "id")
    return _value_of(record, "completed_by", place, "completed_by")


def _result_grade(place: str, record: Mapping[str, Any], wanted: str) -> str:
    """Return the one choice or rating of a result, "" of an empty or cancelled one."""
    if record.get("was_cancelled") or record.get("result") == []:
        return ""
    results = [
        result for result in _objects(record, "result", place) if result.get("type") in GRADED
    ]
    names = [*dict.fromkeys(str(result.get("from_name")) for result in results)]
    of_name = [result for result in results if wanted in ("", result.get("from_name"))]
    if len(of_name) != 1:
        number = f"{len(of_name)} found" if of_name else "none found"
        remedy = f"--grade names one of {', '.join(names)}" if names else "its type is choices"
        raise FaultyFilesError([f"{place}: one choice or rating is needed, {number}; {remedy}"])
    [result] = of_name
    value = result.get("value")
    grade = value.get(result["type"]) if isinstance(value, dict) else None
    if isinstance(grade, list):
        if len(grade) != 1:
            chosen = shortened(json.dumps(grade))
            raise FaultyFilesError([f"{place}: {chosen} chosen; one choice is needed"])
        [grade] = grade
    return _text_of(grade, place)


def _cell_grade(row: Judged) -> str:
    """Return the grade of a cell of Label Studio's CSV, which has a rating as JSON."""
    rating = re.fullmatch(r'\[\{"rating":\s*([0-9]+)\}\]', row.grade)
    return rating[1] if rating else row.grade


TOOLS: Mapping[str, Tool] = {
    "label-studio": Tool(
        "Label Studio",
        _read_label_studio,
        "completed_by, or annotator of a CSV",
        ReadingOptions("query", "image"),
    ),
    "doccano": Tool("doccano", _read_doccano, FILE_NAME, ReadingOptions("", "id", "label")),
    "argilla": Tool("Argilla", _read_argilla, "user_id", ReadingOptions()),
    "mturk": Tool("MTurk", _read_mturk, "WorkerId", ReadingOptions()),
    "quepid": Tool(
        "Quepid", _read_quepid, FILE_NAME, ReadingOptions("query", "docid", "rating"), True
    ),
}


def model_file(model: str) -> str:
    """Return the name of the file of a model's answers."""
    return f"{as_slug(model) or 'model'}.txt"
