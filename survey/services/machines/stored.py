"""Machines' records in the database."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from sqlalchemy.orm import Session

from survey.db import item_queries, queries
from survey.db.models import StoredMachine, Study, now
from survey.errors import NotFoundError, SurveyError
from survey.services import accounts
from survey.services.exchange.input_files import Files
from survey.services.exchange.tables import Content
from survey.services.machines.records import (
    ANSWERS_FILE,
    RECORD_FILE,
    REPLIES_FILE,
    MachineRecord,
    read_records,
)


class StoredRecord(NamedTuple):
    """A record of the database, who asked the machine, and when."""

    record: MachineRecord
    made_by: str
    made_at: datetime


def machines_of(session: Session, study_id: int) -> list[MachineRecord]:
    """Return the records of a study's machines in the order of a bundle's folders."""
    return [each.record for each in stored_records(session, study_id)]


def stored_records(session: Session, study_id: int) -> list[StoredRecord]:
    """Return the same, each with who asked the machine and when."""
    return [
        StoredRecord(_read(row.about, row.answers, row.replies), row.made_by, row.made_at)
        for row in queries.machines(session, study_id)
    ]


def named(machines: Sequence[MachineRecord], name: str) -> MachineRecord:
    """Return the record whose digest begins with a name; raises NotFoundError for none."""
    of_name = [each for each in machines if name and each.digest.startswith(name)]
    if len(of_name) != 1:
        known = ", ".join(each.name for each in machines) or "none"
        raise NotFoundError(f"There is no machine's record {name!r}; there is: {known}.")
    return of_name[0]


def remove(session: Session, study: Study, name: str, who: str) -> MachineRecord:
    """Delete a record, and log who did; raises NotFoundError for no such record.

    The study keeps no trace of it but the log's: a machine changes nothing that people saw.
    """
    record = named(machines_of(session, study.id), name)
    for row in queries.machines(session, study.id):
        if row.digest == record.digest:
            session.delete(row)
    accounts.log(session, study, who, "machine removed", f"{record.name}, {record.model}")
    return record


def _read(about: dict[str, object], answers: str, replies: str) -> MachineRecord:
    folder = f"machines/{MachineRecord(about, (), ()).name}"
    files: Files = {
        f"{folder}/{RECORD_FILE}": json.dumps(about).encode(),
        f"{folder}/{ANSWERS_FILE}": answers.encode(),
        f"{folder}/{REPLIES_FILE}": replies.encode(),
    }
    [record] = read_records(files)
    return record


def content_to_judge(session: Session, study: Study, *, include_test: bool) -> Content:
    """Return a study's content with its pictures; raises SurveyError for a draft."""
    from survey.services.exchange.bundle import content_of

    if study.status == "draft":
        raise SurveyError(
            f"{study.slug} is a draft, whose questions may still change; open it first."
        )
    content = content_of(session, study, include_test=include_test)
    return replace(content, thumbnails=lambda: item_queries.thumbnails_of(session, study.id))


def small_pictures(content: Content) -> dict[str, bytes]:
    """Return the pictures of a study in the small size, by the SHA-256 of their files."""
    return {picture.sha256: picture.thumbnail for picture in (content.thumbnails or tuple)()}


def bundle_with(content: Content, record: MachineRecord) -> Iterator[bytes]:
    """Yield the zip of a bundle with one more record; raises SurveyError if it has it already."""
    from survey.services.exchange.bundle import stream_content

    _require_new(content.machines, record)
    with_it = replace(content, machines=[*content.machines, record])
    yield from stream_content(with_it)


def _require_new(machines: Iterable[MachineRecord], record: MachineRecord) -> None:
    if any(machine.digest == record.digest for machine in machines):
        raise SurveyError(f"This record is there already: {record.name}.")


def store(session: Session, study: Study, record: MachineRecord, who: str) -> None:
    """Store a machine's record; raises SurveyError where the study has the same already."""
    _require_new(machines_of(session, study.id), record)
    texts = {name.rpartition("/")[2]: "".join(lines) for name, lines in record.files()}
    session.add(
        StoredMachine(
            study_id=study.id,
            digest=record.digest,
            about={**record.about},
            answers=texts[ANSWERS_FILE],
            replies=texts[REPLIES_FILE],
            made_by=who[:64],
            made_at=now(),
        )
    )
