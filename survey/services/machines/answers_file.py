"""Judgements that a machine made elsewhere: TREC judgements, or a table like answers.csv."""

import hashlib
from collections.abc import Iterator
from typing import Any

from survey.core.collections.runs import read_judgements
from survey.core.kinds import KINDS
from survey.core.studies.run_lists import TextFile
from survey.core.text_input import FileFaults, lines_of
from survey.errors import SurveyError
from survey.services.exchange.input_files import CsvRow, parse_rows
from survey.services.exchange.tables import Content
from survey.services.machines.records import (
    ANSWERED,
    FIRST,
    RECORD_FORMAT,
    STATUSES,
    SWAPPED,
    UNREADABLE,
    MachineAnswer,
    MachineRecord,
    answer_lines,
    lines_digest,
)

NEEDED = ("question", "answer")


def record_of_file(content: Content, file: TextFile, model: str) -> MachineRecord:
    """Return the record of a machine whose answers are in a file.

    Raises SurveyError, or its subclass for faulty files, with row and column of what cannot be.
    """
    first = next((line for line in file.text.splitlines() if line.strip()), "")
    is_table = {*NEEDED} <= {name.strip().strip('"') for name in first.split(",")}
    answers = [*(_of_table(content, file) if is_table else _of_judgements(content, file))]
    if not answers:
        raise SurveyError(f"{file.name} has no answer to a question of this study.")
    orders = sorted({answer.order for answer in answers})
    about: dict[str, Any] = {
        "format": RECORD_FORMAT,
        "study": content.digest,
        "kind": content.plan.kind,
        "file": {"name": file.name, "sha256": hashlib.sha256(file.text.encode()).hexdigest()},
        "prompt": {},
        "model": model,
        "models": [],
        "samples": max(answer.sample for answer in answers),
        "orders": orders,
        "answers_sha256": lines_digest(answer_lines(answers)),
        "replies_sha256": lines_digest(()),
    }
    return MachineRecord(about, answers, ())


def _of_table(content: Content, file: TextFile) -> Iterator[MachineAnswer]:
    kind: Any = KINDS[content.plan.kind]
    questions = {question.number: question for question in kind.machine_questions(content)}
    seen: set[tuple[int, str, str, int]] = set()

    def parse(row: CsvRow) -> MachineAnswer:
        question = questions.get(row.whole_number("question", 1))
        if question is None:
            raise row.fault("question", "the study has no such question")
        status = row.optional_text("status") or ANSWERED
        order = row.optional_text("order") or FIRST
        for name, value, allowed in (
            ("status", status, STATUSES),
            ("order", order, (FIRST, SWAPPED)),
        ):
            if value not in allowed:
                raise row.fault(name, f"allowed are {', '.join(allowed)}")
        document = row.optional_text("document") or ""
        sample = row.optional_whole_number("sample") or 1
        key = question.number, document, order, sample
        if key in seen:
            raise row.fault("question", "each question, document, order and sample is allowed once")
        seen.add(key)
        answer = ""
        if status == ANSWERED:
            try:
                answer = kind.read_machine_answer(
                    content.plan, question, document, row.text("answer")
                )
            except ValueError as error:
                raise row.fault("answer", str(error)) from None
        topic = kind.topic_of(question)
        return MachineAnswer(question.number, topic, document, order, sample, answer, status, "")

    yield from parse_rows({file.name: file.text.encode()}, file.name, NEEDED, parse)


def _of_judgements(content: Content, file: TextFile) -> Iterator[MachineAnswer]:
    """Yield judgements of the study's topics; a negative grade is one that cannot be read."""
    kind: Any = KINDS[content.plan.kind]
    faults = FileFaults()
    judgements = read_judgements(file.name, lines_of(file.text), faults)
    faults.raise_any()
    for question, document in kind.document_units(content, judgements):
        topic = kind.topic_of(question)
        grade = judgements[topic][document]
        if grade < 0:
            yield MachineAnswer(question.number, topic, document, FIRST, 1, "", UNREADABLE, "")
            continue
        try:
            answer = kind.read_machine_answer(content.plan, question, document, str(grade))
        except ValueError as error:
            place = f"{file.name}, topic {topic}, document {document}"
            raise SurveyError(f"{place}: {error}.") from None
        yield MachineAnswer(question.number, topic, document, FIRST, 1, answer, ANSWERED, "")
