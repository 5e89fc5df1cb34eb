"""What a bundle is made of, row by row: plain tuples of narrow columns, none kept.

A million participants as objects of the ORM are gigabytes, and take longer to make than to
write. JSON, times and ticks come as they are stored, and what many rows share is read once.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Integer, Select, Text, cast, exists, func, select, type_coerce
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import InstrumentedAttribute, Session

from survey.core.studies.rankings import Ranking
from survey.db.models import (
    ConsentText,
    Identity,
    Participant,
    Presentation,
    StoredOrderingAnswer,
    StoredOrderingPresentation,
    StoredQuestion,
    StoredResponse,
)
from survey.db.models.base import Labels
from survey.db.study_queries import by_public_id

AT_ONCE = 1_000  # rows fetched in one go
SEEN = 4_096  # different values that are remembered, of those that many rows share


def people_of(session: Session, study_id: int, *, include_test: bool) -> Iterator[Sequence[Any]]:
    """Give the participants by public id: (id, status, what they said, consent version,
    started at, completed at, is test, excluded, why).
    """
    times = (Participant.started_at, Participant.completed_at)
    found = (
        select(
            *(Participant.public_id, Participant.status, _as_stored(Participant.personal)),
            *(ConsentText.version, *map(_as_stored, times)),
            *(Participant.is_test, Participant.excluded, Participant.exclude_reason),
        )
        .outerjoin(ConsentText, ConsentText.id == Participant.consent_id)
        .where(Participant.study_id == study_id)
        .order_by(by_public_id(session))
    )
    rows = _rows(session, found, include_test=include_test)
    for one, status, personal, version, started_at, completed_at, *marks in rows:
        told = json.loads(personal)
        yield one, status, told, version, _moment(started_at), _moment(completed_at), *marks


def answers(session: Session, study_id: int) -> Select[Any]:
    """Select of the answers what ``answers_of`` gives, as it is stored."""
    shown = StoredOrderingPresentation
    orders = (shown.label_order, shown.column_order, shown.list_order)
    given = (StoredOrderingAnswer.own, Presentation.shown_at, StoredResponse.submitted_at)
    return _answered(
        *(session, study_id, Participant.public_id, StoredQuestion.number, Presentation.position),
        *(*map(_as_stored, orders), type_coerce(StoredOrderingAnswer.clicked, Integer)),
        *(*map(_as_stored, given), StoredResponse.active_seconds, StoredResponse.revisions),
        *(Participant.is_test, Participant.excluded),
    )


def answers_of(session: Session, study_id: int, *, include_test: bool) -> Iterator[Sequence[Any]]:
    """Give the answers by public id and question, practice left out: (id, question, position,
    label order, column order, list order, clicked, own ranking, shown at, submitted at,
    active seconds, revisions, is test, excluded).
    """
    found = answers(session, study_id)
    for row in _answer_rows(session, found, include_test=include_test):
        one, question, place, labels, columns, lists, clicked, own, shown, sent, t, *rest = row
        orders, answer = _orders(labels, columns, lists), _clicked(clicked)
        # JSON of whole seconds is a whole number.
        times = _moment(shown), _moment(sent), None if t is None else float(t)
        yield one, question, place, *orders, answer, _ranking(own), *times, *rest


def ballots_of(session: Session, study_id: int, *, include_test: bool) -> Iterator[Sequence[Any]]:
    """Give what the votes of each answer rest on, where its participant counts, by public id and
    question: (id, question, label order, clicked).
    """
    found = _answered(
        *(session, study_id, Participant.public_id, StoredQuestion.number),
        *(
            _as_stored(StoredOrderingPresentation.label_order),
            type_coerce(StoredOrderingAnswer.clicked, Integer),
        ),
    ).where(Participant.excluded.is_(False))
    rows = _answer_rows(session, found, include_test=include_test)
    for one, question, labels, clicked in rows:
        yield one, question, _order(labels), _clicked(clicked)


def first_rankings_of(
    session: Session, study_id: int, *, include_test: bool
) -> Iterator[Sequence[Any]]:
    """Give the rankings that came before the columns, practice left out: (id, question,
    ranking, given at).
    """
    given = map(
        _as_stored, (StoredOrderingPresentation.ranked_first, StoredOrderingPresentation.ranked_at)
    )
    found = _presented(session, study_id, Participant.public_id, StoredQuestion.number, *given)
    found = found.where(StoredOrderingPresentation.ranked_at.is_not(None))
    for one, question, places, given_at in _rows(session, found, include_test=include_test):
        ranking = _ranking(places)
        if ranking is not None:
            yield one, question, ranking, _moment(given_at)


def identities_of(
    session: Session, study_id: int, *, include_test: bool
) -> Iterator[Sequence[Any]]:
    """Give what a platform said of those who came from one: (id, its id of them, the rest)."""
    found = (
        select(Participant.public_id, Identity.external_id, _as_stored(Identity.parameters))
        .join(Identity, Identity.participant_id == Participant.id)
        .where(Participant.study_id == study_id)
        .order_by(by_public_id(session))
    )
    for one, external_id, parameters in _rows(session, found, include_test=include_test):
        yield one, external_id, json.loads(parameters)


def has_identities(session: Session, study_id: int) -> bool:
    """Tell whether a platform sent any of the study's participants."""
    return bool(session.scalar(select(exists().where(Identity.study_id == study_id))))


def _presented(session: Session, study_id: int, *columns: Any) -> Select[Any]:
    """Select of the presentations of a study's questions, by public id and question."""
    return (
        select(*columns)
        .select_from(Participant)
        .join(Presentation, Presentation.participant_id == Participant.id)
        .join(
            StoredOrderingPresentation,
            StoredOrderingPresentation.presentation_id == Presentation.id,
        )
        .join(StoredQuestion, StoredQuestion.id == Presentation.question_id)
        .where(Participant.study_id == study_id, StoredQuestion.number > 0)
        .order_by(by_public_id(session), StoredQuestion.number)
    )


def _answered(session: Session, study_id: int, *columns: Any) -> Select[Any]:
    """Select of those that were answered."""
    return (
        _presented(session, study_id, *columns)
        .join(
            StoredResponse,
            (StoredResponse.participant_id == Presentation.participant_id)
            & (StoredResponse.question_id == Presentation.question_id),
        )
        .join(StoredOrderingAnswer, StoredOrderingAnswer.response_id == StoredResponse.id)
    )


def _answer_rows(
    session: Session, found: Select[Any], *, include_test: bool
) -> Iterator[Sequence[Any]]:
    """Give rows of answers, on PostgreSQL fetched as one JSON array for each participant.

    Its driver is Python and takes a cell at a time, three times as long as all else.
    """
    if session.get_bind().dialect.name == "sqlite":
        yield from _rows(session, found, include_test=include_test)
        return
    cells = _wanted(found, include_test=include_test).order_by(None).subquery().c
    row, who = func.json_build_array(*cells), cells.public_id.collate("C")
    rows = cast(func.json_agg(aggregate_order_by(row, cells.number)), Text)
    for (gathered,) in _streamed(session, select(rows).group_by(who).order_by(who)):
        yield from json.loads(gathered)


def _rows(session: Session, found: Select[Any], *, include_test: bool) -> Iterator[Sequence[Any]]:
    return _streamed(session, _wanted(found, include_test=include_test))


def _wanted(found: Select[Any], *, include_test: bool) -> Select[Any]:
    return found if include_test else found.where(Participant.is_test.is_(False))


def _streamed(session: Session, found: Select[Any]) -> Iterator[Sequence[Any]]:
    # Over the connection: a session would look through each row for objects of the ORM.
    yield from session.connection().execute(found.execution_options(yield_per=AT_ONCE))


def _as_stored(column: InstrumentedAttribute[Any]) -> ColumnElement[Any]:
    """Select a column as the text that both databases give of it."""
    return cast(column, Text)


def _moment(stored: str | None) -> datetime | None:
    """Read a time: SQLite and PostgreSQL keep it in UTC, and write it without its zone."""
    return None if stored is None else datetime.fromisoformat(f"{stored}Z")


@lru_cache(SEEN)
def _orders(labels: str, columns: str, lists: str) -> tuple[tuple[Any, ...], ...]:
    return _order(labels), _order(columns), _order(lists)


@lru_cache(SEEN)
def _order(stored: str) -> tuple[Any, ...]:
    return tuple(json.loads(stored))


@lru_cache(SEEN)
def _ranking(stored: str | None) -> Ranking | None:
    places = None if stored is None else json.loads(stored)
    return None if places is None else Ranking.by_key(places)


@lru_cache(SEEN)
def _clicked(stored: int) -> frozenset[int]:
    return Labels.labels(stored)
