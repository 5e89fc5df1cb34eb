"""Stream the rows of a bundle as plain tuples.

A million participants as objects of the ORM take gigabytes of memory, and more time than writing
them. JSON, times and ticks are selected as stored, and a text that many rows share is parsed once.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    JSON,
    ColumnElement,
    Integer,
    Select,
    Text,
    cast,
    exists,
    func,
    select,
    type_coerce,
)
from sqlalchemy.orm import InstrumentedAttribute, Session

from survey.core.studies.fields import ParticipantRecord
from survey.core.studies.rankings import Ranking
from survey.db.models import (
    ConsentText,
    Identity,
    Participant,
    Presentation,
    StoredQuestion,
    StoredResponse,
    ordering,
)
from survey.db.models.base import Labels, TaskTables, UtcDateTime, key_of, own_columns
from survey.db.models.ordering import StoredOrderingAnswer, StoredOrderingPresentation
from survey.db.queries import IS_ANSWERED, by_public_id

ORDERING = ordering.TABLES
BATCH = 1_000  # rows fetched at a time
CACHED = 4_096  # different texts whose parsed values are remembered


# The fields of a record that are columns of the table of participants.
EXPORTED: dict[str, InstrumentedAttribute[Any]] = {
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
    yield from map(parse, _rows(session, statement, include_test=include_test))


def _selected(columns: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence[Any]], list[Any]]]:
    """Return what to select of columns, times and JSON as stored, and what parses a row of them."""
    selected, parsers = [*columns], []
    for index, column in enumerate(columns):
        is_time, is_json = isinstance(column.type, UtcDateTime), isinstance(column.type, JSON)
        if is_time or is_json:
            selected[index] = _as_stored(column)
            parsers.append((index, _moment if is_time else _json))

    def parse(row: Sequence[Any]) -> list[Any]:
        values = [*row]
        for index, parser in parsers:
            values[index] = parser(values[index])
        return values

    return selected, parse


def answers(session: Session, study_id: int) -> Select[Any]:
    """Select the columns of ``answers_of`` as they are stored."""
    shown = StoredOrderingPresentation
    orders = (shown.label_order, shown.column_order, shown.list_order)
    own_and_times = (
        StoredOrderingAnswer.own,
        Presentation.shown_at,
        StoredResponse.submitted_at,
    )
    return answered(
        *(session, study_id, ORDERING, Presentation.position),
        *(*map(_as_stored, orders), type_coerce(StoredOrderingAnswer.clicked, Integer)),
        *(*map(_as_stored, own_and_times), StoredResponse.active_seconds, StoredResponse.revisions),
        *(Participant.is_test, Participant.excluded, StoredResponse.asked),
        *(StoredOrderingAnswer.typed, StoredOrderingAnswer.scores_seen, StoredResponse.reason),
    )


def answers_of(session: Session, study_id: int, *, include_test: bool) -> Iterator[Sequence[Any]]:
    """Yield the answers without practice, by public id and question.

    Each is (id, question, position, label order, column order, list order, clicked, own ranking,
    shown at, submitted at, active seconds, revisions, is test, excluded, asked, typed, scores seen,
    reason).
    """
    statement = answers(session, study_id)
    for row in _rows(session, statement, include_test=include_test):
        public_id, number, position, labels, columns, lists, clicked, own, *rest = row
        shown_at, submitted_at, *others = rest
        yield (
            *(public_id, number, position, *_orders(labels, columns, lists)),
            *(_clicked(clicked), _ranking(own), _moment(shown_at), _moment(submitted_at)),
            *others,
        )


def ballots_of(session: Session, study_id: int, *, include_test: bool) -> Iterator[Sequence[Any]]:
    """Yield the ticks of the answers, by public id and question, excluded participants left out.

    Each is (id, question, label order, clicked).
    """
    columns = (
        _as_stored(StoredOrderingPresentation.label_order),
        type_coerce(StoredOrderingAnswer.clicked, Integer),
    )
    statement = answered(session, study_id, ORDERING, *columns)
    statement = statement.where(Participant.excluded.is_(False))
    rows = _rows(session, statement, include_test=include_test)
    for public_id, number, labels, clicked in rows:
        yield public_id, number, _order(labels), _clicked(clicked)


def first_rankings_of(
    session: Session, study_id: int, *, include_test: bool
) -> Iterator[Sequence[Any]]:
    """Yield the rankings from before the columns were shown, without practice.

    Each is (id, question, ranking, ranked at, asked).
    """
    shown = StoredOrderingPresentation
    columns = (_as_stored(shown.ranked_first), _as_stored(shown.ranked_at), shown.ranked_asked)
    statement = _presented(session, study_id, ORDERING, *columns).where(
        shown.ranked_at.is_not(None)
    )
    rows = _rows(session, statement, include_test=include_test)
    for public_id, number, places, ranked_at, asked in rows:
        ranking = _ranking(places)
        if ranking is not None:
            yield public_id, number, ranking, _moment(ranked_at), asked


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
        *map(_as_stored, (Presentation.shown_at, StoredResponse.submitted_at)),
        *(StoredResponse.active_seconds, StoredResponse.revisions),
        *(StoredResponse.asked, StoredResponse.reason),
    )
    for row in _rows(session, statement, include_test=include_test):
        *first, shown_at, submitted_at, seconds, revisions, asked, reason = row
        yield (*first, _moment(shown_at), _moment(submitted_at), seconds, revisions, asked, reason)


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
    for participant, question, *values in _rows(session, statement, include_test=include_test):
        yield participant, question, dict(zip(names, parse(values), strict=True))


def beside_of(
    session: Session, study_id: int, tables: TaskTables, *, include_test: bool
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield what was answered beside each question, by public id and question.

    Each is (id, question, values by name).
    """
    statement = answered(session, study_id, tables, _as_stored(StoredResponse.beside))
    for participant, question, stored in _rows(session, statement, include_test=include_test):
        yield participant, question, _json(stored) or {}


def identities_of(
    session: Session, study_id: int, *, include_test: bool
) -> Iterator[Sequence[Any]]:
    """Yield how a platform sent people, each time: (id, its id of them, parameters, when)."""
    arrived_at = func.coalesce(Identity.arrived_at, Participant.started_at)
    statement = (
        select(
            *(Participant.public_id, Identity.external_id, arrived_at),
            *(_as_stored(Identity.parameters), _as_stored(Identity.earlier)),
        )
        .join(Identity, Identity.participant_id == Participant.id)
        .where(Participant.study_id == study_id)
        .order_by(by_public_id(session))
    )
    rows = _rows(session, statement, include_test=include_test)
    for public_id, external_id, at, parameters, earlier in rows:
        for one in json.loads(earlier):
            yield public_id, external_id, one["parameters"], datetime.fromisoformat(one["at"])
        yield public_id, external_id, json.loads(parameters), at


def has_identities(session: Session, study_id: int) -> bool:
    """Return whether a platform's parameters are stored for any of a study's participants."""
    return bool(session.scalar(select(exists().where(Identity.study_id == study_id))))


def answered(session: Session, study_id: int, tables: TaskTables, *columns: Any) -> Select[Any]:
    """Select the answers to a study's questions, practice left out, by public id and question.

    Rows are (public id, question, *columns); ``columns`` may be of the tables that all kinds of
    question share, and of ``tables``.
    """
    shown = _presented(session, study_id, tables, *columns)
    return shown.join(StoredResponse, IS_ANSWERED).join(
        tables.response, key_of(tables.response) == StoredResponse.id
    )


def _presented(session: Session, study_id: int, tables: TaskTables, *columns: Any) -> Select[Any]:
    return (
        select(Participant.public_id, StoredQuestion.number, *columns)
        .select_from(Participant)
        .join(Presentation, Presentation.participant_id == Participant.id)
        .join(tables.presentation, key_of(tables.presentation) == Presentation.id)
        .join(StoredQuestion, StoredQuestion.id == Presentation.question_id)
        .where(Participant.study_id == study_id, StoredQuestion.number > 0)
        .order_by(by_public_id(session), StoredQuestion.number)
    )


def _rows(
    session: Session, statement: Select[Any], *, include_test: bool
) -> Iterator[Sequence[Any]]:
    if not include_test:
        statement = statement.where(Participant.is_test.is_(False))
    # Over the connection: a session would look through each row for objects of the ORM.
    streamed = statement.execution_options(yield_per=BATCH)
    with session.connection().execute(streamed) as rows:
        yield from rows


def _as_stored(column: ColumnElement[Any] | InstrumentedAttribute[Any]) -> ColumnElement[Any]:
    """Select a column as text, so that neither driver parses it."""
    return cast(column, Text)


def _moment(stored: str | None) -> datetime | None:
    """Parse a time: both databases store it in UTC and print it without a zone."""
    return None if stored is None else datetime.fromisoformat(f"{stored}Z")


def _json(stored: str | None) -> Any:
    return None if stored is None else json.loads(stored)


@lru_cache(CACHED)
def _orders(labels: str, columns: str, lists: str) -> tuple[tuple[Any, ...], ...]:
    return _order(labels), _order(columns), _order(lists)


@lru_cache(CACHED)
def _order(stored: str) -> tuple[Any, ...]:
    return tuple(json.loads(stored))


@lru_cache(CACHED)
def _ranking(stored: str | None) -> Ranking | None:
    places = None if stored is None else json.loads(stored)
    return None if places is None else Ranking.by_key(places)


@lru_cache(CACHED)
def _clicked(stored: int) -> frozenset[int]:
    return Labels.labels(stored)
