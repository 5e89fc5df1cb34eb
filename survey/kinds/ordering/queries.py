"""Stream the answers to ordering questions from the database as plain tuples, for files."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Integer, Select, type_coerce
from sqlalchemy.orm import Session

from survey.core.studies.rankings import Ranking
from survey.db.export_queries import (
    MOST_PARSED_TEXTS,
    answered,
    as_stored,
    parse_time,
    presented,
    stream_rows,
)
from survey.db.models import Participant, Presentation, StoredResponse
from survey.db.models.base import Labels
from survey.kinds.ordering.models import TABLES, StoredOrderingAnswer, StoredOrderingPresentation


def answers(session: Session, study_id: int) -> Select[*tuple[Any, ...]]:
    """Select the columns of ``answers_of`` as they are stored."""
    shown = StoredOrderingPresentation
    orders = (shown.label_order, shown.column_order, shown.list_order)
    own_and_times = (
        StoredOrderingAnswer.own,
        Presentation.shown_at,
        StoredResponse.submitted_at,
    )
    return answered(
        *(session, study_id, TABLES, Presentation.position),
        *(*map(as_stored, orders), type_coerce(StoredOrderingAnswer.clicked, Integer)),
        *(*map(as_stored, own_and_times), StoredResponse.active_seconds, StoredResponse.revisions),
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
    for row in stream_rows(session, statement, include_test=include_test):
        public_id, number, position, labels, columns, lists, clicked, own, *rest = row
        shown_at, submitted_at, *others = rest
        yield (
            *(public_id, number, position, *_orders(labels, columns, lists)),
            *(_clicked(clicked), _ranking(own), parse_time(shown_at), parse_time(submitted_at)),
            *others,
        )


def ballots_of(
    session: Session, study_id: int, *, include_test: bool
) -> Iterator[tuple[str, int, tuple[str, ...], tuple[int, ...], frozenset[int]]]:
    """Yield the ticks of the answers, by public id and question, excluded participants left out.

    Each is (id, question, label order, column order, clicked).
    """
    columns = (
        as_stored(StoredOrderingPresentation.label_order),
        as_stored(StoredOrderingPresentation.column_order),
        type_coerce(StoredOrderingAnswer.clicked, Integer),
    )
    statement = answered(session, study_id, TABLES, *columns)
    statement = statement.where(Participant.excluded.is_(False))
    rows = stream_rows(session, statement, include_test=include_test)
    for public_id, number, labels, columns, clicked in rows:
        yield public_id, number, _order(labels), _order(columns), _clicked(clicked)


def first_rankings_of(
    session: Session, study_id: int, *, include_test: bool
) -> Iterator[tuple[str, int, Ranking, datetime | None, str | None]]:
    """Yield the rankings from before the columns were shown, without practice.

    Each is (id, question, ranking, ranked at, asked).
    """
    shown = StoredOrderingPresentation
    columns = (as_stored(shown.ranked_first), as_stored(shown.ranked_at), shown.ranked_asked)
    statement = presented(session, study_id, TABLES, *columns).where(shown.ranked_at.is_not(None))
    rows = stream_rows(session, statement, include_test=include_test)
    for public_id, number, places, ranked_at, asked in rows:
        ranking = _ranking(places)
        if ranking is not None:
            yield public_id, number, ranking, parse_time(ranked_at), asked


@lru_cache(MOST_PARSED_TEXTS)
def _orders(labels: str, columns: str, lists: str) -> tuple[tuple[object, ...], ...]:
    return _order(labels), _order(columns), _order(lists)


@lru_cache(MOST_PARSED_TEXTS)
def _order(stored: str) -> tuple[Any, ...]:
    return tuple(json.loads(stored))


@lru_cache(MOST_PARSED_TEXTS)
def _ranking(stored: str | None) -> Ranking | None:
    places = None if stored is None else json.loads(stored)
    return None if places is None else Ranking.by_key(places)


@lru_cache(MOST_PARSED_TEXTS)
def _clicked(stored: int) -> frozenset[int]:
    return Labels.labels(stored)
