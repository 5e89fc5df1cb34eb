"""The record of a machine: how it was asked, what it answered, and its files in a bundle.

A record changes nothing that people saw, so it is not in the study's digest; it has its own.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from survey.core.text_input import Json, csv_line, escaped
from survey.services.exchange.input_files import (
    MACHINES_FOLDER,
    BundleError,
    CsvRow,
    Files,
    file_text,
    json_of,
    parse_rows,
)
from survey.services.exchange.tables import Column, Table

RECORD_FILE, ANSWERS_FILE, REPLIES_FILE = "record.json", "answers.csv", "replies.jsonl"
FIGURES_FILE = "beside_people.json"
RECORD_FORMAT = 1
ANSWERED, UNREADABLE, REFUSED = "answered", "unreadable", "refused"
STATUSES = (ANSWERED, UNREADABLE, REFUSED)
COLUMNS = {
    "question": "number of the question in the study",
    "topic": "what was searched for",
    "document": "what was judged, where a question has several",
    "order": "whether the sides were as first asked, or swapped",
    "sample": "number of the sample",
    "answer": "the answer, empty unless it was read",
    "status": "whether the reply could be read as an answer",
    "request": "SHA-256 of the request, empty where a file gave the answer",
}
FIELD_TYPES = dict.fromkeys(("question", "sample"), "whole number")
FIRST, SWAPPED = "first", "swapped"  # orders
ABOUT_TYPES: dict[str, type] = {
    **dict.fromkeys(("study", "kind", "model", "answers_sha256", "replies_sha256"), str),
    **{"samples": int, "orders": list, "prompt": dict, "models": list},
}
DIGEST_LENGTH = 12  # characters of a digest that name a folder


class MachineAnswer(NamedTuple):
    """One answer; ``answer``: "" unless ``status`` is ANSWERED. ``request``: "" from a file."""

    question: int
    topic: str
    document: str
    order: str
    sample: int
    answer: str
    status: str
    request: str


@dataclass(frozen=True)
class MachineRecord:
    """A machine's record: ``about`` is record.json, ``replies`` the lines of replies.jsonl."""

    about: Mapping[str, Any]
    answers: Sequence[MachineAnswer]
    replies: Sequence[str]

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of record.json as canonical JSON; it covers answers and replies."""
        return canonical_digest(self.about)

    @property
    def name(self) -> str:
        """The folder of its files."""
        return self.digest[:DIGEST_LENGTH]

    @property
    def figures_file(self) -> str:
        """The file of what it shows beside people."""
        return f"{MACHINES_FOLDER}/{self.name}/{FIGURES_FILE}"

    @property
    def model(self) -> str:
        """The model, as it was asked for."""
        return str(self.about["model"])

    @property
    def is_simulated(self) -> bool:
        """Whether the survey's own simulated machine answered."""
        return bool(self.about.get("simulated"))

    @property
    def counts(self) -> Counter[str]:
        """How many answers have each status."""
        return Counter(answer.status for answer in self.answers)

    @cached_property
    def by_unit(self) -> dict[tuple[int, str], list[MachineAnswer]]:
        """The readable answers by question and document, sorted by sample and order."""
        units: dict[tuple[int, str], list[MachineAnswer]] = {}
        for answer in sorted(
            self.answers, key=lambda answer: (answer.sample, answer.order != FIRST)
        ):
            of_unit = units.setdefault((answer.question, answer.document), [])
            if answer.status == ANSWERED:
                of_unit.append(answer)
        return units

    def verdicts(self, undecided: str) -> dict[tuple[int, str], str]:
        """Return the machine's answer to each unit, without those that it did not answer.

        Of several samples the most frequent, on ties the first sample's. Of both orders one: if
        they disagree, ``undecided``.
        """
        chosen = {}
        for unit, answers in self.by_unit.items():
            orders = [
                most_frequent([answer.answer for answer in answers if answer.order == order])
                for order in (FIRST, SWAPPED)
            ]
            given = [answer for answer in orders if answer is not None]
            if given:
                chosen[unit] = given[0] if len({*given}) == 1 else undecided
        return chosen

    @property
    def table(self) -> Table:
        """The table of its answers."""
        file = f"{MACHINES_FOLDER}/{self.name}/{ANSWERS_FILE}"
        columns = [Column(name, COLUMNS[name], FIELD_TYPES.get(name, "text")) for name in COLUMNS]
        key = ("question", "topic", "document", "order", "sample")
        return Table(file, columns, lambda _: answer_lines(self.answers), key)

    def files(self) -> Iterator[tuple[str, Iterable[str]]]:
        """Yield the name and the lines of each of its files."""
        folder = f"{MACHINES_FOLDER}/{self.name}"
        yield f"{folder}/{RECORD_FILE}", [record_text(self.about)]
        yield f"{folder}/{ANSWERS_FILE}", answer_lines(self.answers)
        yield f"{folder}/{REPLIES_FILE}", (f"{line}\n" for line in self.replies)


def most_frequent(answers: Sequence[str]) -> str | None:
    """Return the most frequent answer, of several the one that comes first; None of none."""
    counts = Counter(answers)
    return max(counts, key=lambda answer: counts[answer]) if counts else None


def canonical_digest(content: object) -> str:
    """Return the SHA-256 of canonical JSON: sorted keys, no blanks."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def lines_digest(lines: Iterable[str]) -> str:
    """Return the SHA-256 of a file's lines."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode())
    return digest.hexdigest()


def record_text(about: Mapping[str, Json]) -> str:
    """Return record.json."""
    return json.dumps(about, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def answer_lines(answers: Iterable[MachineAnswer]) -> Iterator[str]:
    """Yield answers.csv."""
    yield csv_line(COLUMNS)
    for answer in answers:
        yield csv_line(escaped(str(cell)) for cell in answer)


def read_records(files: Files) -> list[MachineRecord]:
    """Read all records of a bundle; raises BundleError with file, row and what is allowed."""
    folders = sorted(
        name.split("/")[1]
        for name in files
        if re.fullmatch(f"{MACHINES_FOLDER}/[^/]+/{RECORD_FILE}", name)
    )
    return [_read_record(files, f"{MACHINES_FOLDER}/{folder}") for folder in folders]


def _read_record(files: Files, folder: str) -> MachineRecord:
    place = f"{folder}/{RECORD_FILE}"
    about = _read_about(files, place)
    answers = [*parse_rows(files, f"{folder}/{ANSWERS_FILE}", [*COLUMNS], _read_answer)]
    name = f"{folder}/{REPLIES_FILE}"
    replies = file_text(files, name).splitlines() if name in files else []
    record = MachineRecord(about, answers, replies)
    if folder != f"{MACHINES_FOLDER}/{record.name}":
        raise BundleError(f"{place}: its digest begins with {record.name}, not with {folder[9:]}")
    for what, lines in (
        ("answers_sha256", answer_lines(answers)),
        ("replies_sha256", (f"{line}\n" for line in replies)),
    ):
        if (digest := lines_digest(lines)) != about[what]:
            raise BundleError(f"{place}, {what}: {about[what]} found; recomputed {digest}")
    return record


def _read_about(files: Files, place: str) -> dict[str, Any]:
    about = json_of(files, place)
    if about.get("format") != RECORD_FORMAT:
        raise BundleError(
            f"{place}, format: {about.get('format')!r} found; {RECORD_FORMAT} is read"
        )
    for name, value_type in ABOUT_TYPES.items():
        if not isinstance(about.get(name), value_type):
            raise BundleError(f"{place}, {name}: {about.get(name)!r} found, or it is missing")
    return about


def _read_answer(row: CsvRow) -> MachineAnswer:
    status, order = row.text("status"), row.text("order")
    if status not in STATUSES:
        raise row.fault("status", f"allowed are {', '.join(STATUSES)}")
    if order not in (FIRST, SWAPPED):
        raise row.fault("order", f"allowed are {FIRST} and {SWAPPED}")
    answer = row.optional_text("answer") or ""
    if bool(answer) != (status == ANSWERED):
        raise row.fault("answer", f"an answer where the status is {ANSWERED}, and only there")
    topic, document, request = (
        row.optional_text(name) or "" for name in ("topic", "document", "request")
    )
    number, sample = row.whole_number("question", 1), row.whole_number("sample", 1)
    return MachineAnswer(number, topic, document, order, sample, answer, status, request)
