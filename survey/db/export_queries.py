"""Stream the rows of a bundle as plain tuples.

A million participants as objects of the ORM take gigabytes of memory, and more time than writing
them. JSON, times and ticks are selected as stored, and a text that many rows share is parsed once.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Select,
    SQLColumnExpression,
    Text,
    cast,
    exists,
    func,
    select,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from survey.core.studies.fields import FieldAnswer, ParticipantRecord
from survey.db.models import (
    ConsentText,
    Identity,
    Participant,
    Presentation,
    StoredQuestion,
    StoredResponse,
)
from survey.db.models.base import TaskTables, UtcDateTime, key_of, own_columns
from survey.db.queries import IS_ANSWERED, by_public_id

EXPORT_ROWS_AT_ONCE = 1_000  # rows fetched at a time
MOST_PARSED_TEXTS = 4_096  # different texts whose parsed values are remembered


# The fields of a record that are columns of the table of participants.
EXPORTED: dict[str, InstrumentedAttribute[object]] = {
    field.name: getattr(Participant, field.name)
    for field in fields(ParticipantRecord)
    if field.name in Participant.__table__.columns
}


def people_of(session: Session, study_id: int, *, include_test: bool) -> Iterator[Sequence[Any]]:
    """Yield the participants by public id, each as the values of a ``ParticipantRecord``."""
    columns = {**EXPORTED, "consent_version": ConsentText.version}
    selected, parse = _selected([columns[field.name] for field in fields(ParticipantRecord)])
    statement = (
        select(*selected)
        .select_from(Participant)
        .outerjoin(ConsentText, ConsentText.id == Participant.consent_id)
        .where(Participant.study_id == study_id)
        .order_by(by_public_id(session))
    )
    yield from map(parse, stream_rows(session, statement, include_test=include_test))


def _selected(columns: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence[Any]], list[Any]]]:
    """Return what to select of columns, times and JSON as stored, and what parses a row of them."""
    selected, parsers = [*columns], []
    for index, column in enumerate(columns):
        is_time, is_json = isinstance(column.type, UtcDateTime), isinstance(column.type, JSON)
        if is_time or is_json:
            selected[index] = as_stored(column)
            parsers.append((index, parse_time if is_time else _json))

    def parse(row: Sequence[Any]) -> list[Any]:
        values = [*row]
        for index, parser in parsers:
            values[index] = parser(values[index])
        return values

    return selected, parse


def plain_answers(
    session: Session, study_id: int, tables: TaskTables, *, include_test: bool
) -> Iterator[Sequence[Any]]:
    """Yield the answers of a kind, by public id and question; its columns need no parsing.

    Each is (id, question, position, the kind's columns of the presentation, those of the answer,
    shown at, submitted at, active seconds, revisions, asked, reason).
    """
    statement = answered(
        *(session, study_id, tables, Presentation.position),
        *(*own_columns(tables.presentation), *own_columns(tables.response)),
        *map(as_stored, (Presentation.shown_at, StoredResponse.submitted_at)),
        *(StoredResponse.active_seconds, StoredResponse.revisions),
        *(StoredResponse.asked, StoredResponse.reason),
    )
    for row in stream_rows(session, statement, include_test=include_test):
        *first, shown_at, submitted_at, seconds, revisions, asked, reason = row
        yield (
            *first,
            parse_time(shown_at),
            parse_time(submitted_at),
            seconds,
            revisions,
            asked,
            reason,
        )


def steps_done(
    session: Session, study_id: int, tables: TaskTables, *, include_test: bool
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield the steps of the questions that are done, by public id, question and number.

    Each is (id, question, the columns of the step by name).
    """
    if tables.step is None:
        return
    columns = own_columns(tables.step)
    selected, parse = _selected(columns)
    statement = (
        answered(session, study_id, tables, *selected)
        .join(tables.step, tables.step.c.presentation_id == Presentation.id)
        .order_by(tables.step.c.number)
    )
    names = [column.name for column in columns]
    for participant, question, *values in stream_rows(
        session, statement, include_test=include_test
    ):
        yield participant, question, dict(zip(names, parse(values), strict=True))


def beside_of(
    session: Session, study_id: int, tables: TaskTables, *, include_test: bool
) -> Iterator[tuple[str, int, dict[str, FieldAnswer]]]:
    """Yield what was answered beside each question, by public id and question.

    Each is (id, question, values by name).
    """
    statement = answered(session, study_id, tables, as_stored(StoredResponse.beside))
    for participant, question, stored in stream_rows(session, statement, include_test=include_test):
        yield participant, question, _json(stored) or {}


def identities_of(
    session: Session, study_id: int, *, include_test: bool
) -> Iterator[tuple[str, str, dict[str, str], datetime]]:
    """Yield how a platform sent people, each time: (id, its id of them, parameters, when)."""
    arrived_at = func.coalesce(Identity.arrived_at, Participant.started_at)
    statement = (
        select(
            *(Participant.public_id, Identity.external_id, arrived_at),
            *(as_stored(Identity.parameters), as_stored(Identity.earlier)),
        )
        .join(Identity, Identity.participant_id == Participant.id)
        .where(Participant.study_id == study_id)
        .order_by(by_public_id(session))
    )
    rows = stream_rows(session, statement, include_test=include_test)
    for public_id, external_id, at, parameters, earlier in rows:
        for one in json.loads(earlier):
            yield public_id, external_id, one["parameters"], datetime.fromisoformat(one["at"])
        yield public_id, external_id, json.loads(parameters), at


def has_identities(session: Session, study_id: int) -> bool:
    """Return whether a platform's parameters are stored for any of a study's participants."""
    return bool(session.scalar(select(exists().where(Identity.study_id == study_id))))


def answered(
    session: Session, study_id: int, tables: TaskTables, *columns: Any
) -> Select[*tuple[Any, ...]]:
    """Select the answers to a study's questions, practice left out, by public id and question.

    Rows are (public id, question, *columns); ``columns`` may be of the tables that all kinds of
    question share, and of ``tables``.
    """
    shown = presented(session, study_id, tables, *columns)
    return shown.join(StoredResponse, IS_ANSWERED).join(
        tables.response, key_of(tables.response) == StoredResponse.id
    )


def presented(
    session: Session, study_id: int, tables: TaskTables, *columns: Any
) -> Select[*tuple[Any, ...]]:
    """Select the questions that participants were shown; rows are as in ``answered``."""
    return (
        select(Participant.public_id, StoredQuestion.number, *columns)
        .select_from(Participant)
        .join(Presentation, Presentation.participant_id == Participant.id)
        .join(tables.presentation, key_of(tables.presentation) == Presentation.id)
        .join(StoredQuestion, StoredQuestion.id == Presentation.question_id)
        .where(Participant.study_id == study_id, StoredQuestion.number > 0)
        .order_by(by_public_id(session), StoredQuestion.number)
    )


def stream_rows(
    session: Session, statement: Select[*tuple[Any, ...]], *, include_test: bool
) -> Iterator[Sequence[Any]]:
    """Yield the rows of a statement on participants, without test participants if so chosen."""
    if not include_test:
        statement = statement.where(Participant.is_test.is_(False))
    # Over the connection: a session would look through each row for objects of the ORM.
    streamed = statement.execution_options(yield_per=EXPORT_ROWS_AT_ONCE)
    with session.connection().execute(streamed) as rows:
        yield from rows


def as_stored(column: SQLColumnExpression[object]) -> ColumnElement[str]:
    """Select a column as text, so that neither driver parses it."""
    return cast(column, Text)


def parse_time(stored: str | None) -> datetime | None:
    """Parse a time: both databases store it in UTC and print it without a zone."""
    return None if stored is None else datetime.fromisoformat(f"{stored}Z")


def _json(stored: str | None) -> Any:
    return None if stored is None else json.loads(stored)
