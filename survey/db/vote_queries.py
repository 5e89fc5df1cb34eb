"""What an analysis reads: a study's participants and answers, in columns.

A million participants give ten million answers, too many for objects. The driver's own rows
are cut into columns, some thousand at a time, and a text that many rows share is read once.
PostgreSQL's driver takes microseconds for each value, so there the database puts a
participant's answers together, and one row brings them all.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Float, Integer, Select, Text, cast, extract, func, select
from sqlalchemy.orm import Session

from survey.core.agreement.answers import Answers, Coded
from survey.core.agreement.participants import People
from survey.db.answer_columns import AnswerColumns, Numbered
from survey.db.models import Participant, Presentation, StoredQuestion, StoredResponse

AT_ONCE = 2_000  # rows: few enough to stay in the processor's cache
OF_PEOPLE_AT_ONCE = 500  # rows that hold all of a participant's answers
BETWEEN = "\x1e"  # between texts put together: no JSON holds it

TEXTS = (Presentation.label_order, Presentation.column_order, StoredResponse.own)

Row = tuple[Any, ...]


def votes_of(session: Session, study_id: int) -> tuple[People, Answers]:
    """Read who took part, by public id, and their answers, practice left out.

    Call it in a transaction that sees one state of the database.
    """
    rows, people = _people_of(session, study_id)
    columns = AnswerColumns(_question_numbers(session, study_id))
    for answers in (_of_sqlite if _is_sqlite(session) else _of_postgresql)(session, study_id):
        columns.add(*answers)
    return people, columns.answers(rows, people.ids)


def _is_sqlite(session: Session) -> bool:
    return session.get_bind().dialect.name == "sqlite"


def _question_numbers(session: Session, study_id: int) -> dict[int, int]:
    found = select(StoredQuestion.id, StoredQuestion.number)
    rows = session.execute(found.where(StoredQuestion.study_id == study_id))
    return {row[0]: row[1] for row in rows}


def _people_of(session: Session, study_id: int) -> tuple[NDArray[np.int64], People]:
    """Return the participants, with the numbers of their rows."""
    found = select(
        *(Participant.id, Participant.public_id, Participant.is_test, Participant.excluded),
        *(Participant.status == "complete", cast(Participant.personal, Text)),
        _whole_seconds(session, Participant.started_at, Participant.completed_at),
    ).where(Participant.study_id == study_id)
    said, pieces = Numbered(), [_people_columns([], Numbered())]
    for rows in _fetched(session, found, AT_ONCE):
        pieces.append(_people_columns(rows, said))
    columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    # Here and not by the database: each has its own order of texts, and they are slower.
    by_id = np.argsort(columns[1])
    numbers, ids, test, excluded, complete, personal, seconds = (one[by_id] for one in columns)
    told = Coded(tuple(map(json.loads, said)), personal)
    return numbers, People(ids, test, excluded, complete, seconds / 60, told)


def _people_columns(rows: Sequence[Row], said: Numbered) -> tuple[NDArray[Any], ...]:
    columns = zip(*rows, strict=True) if rows else [()] * 7
    numbers, ids, test, excluded, complete, personal, seconds = columns
    return (
        np.array(numbers, dtype=np.int64),
        np.array(ids, dtype=str),
        *(np.array(flags, dtype=bool) for flags in (test, excluded, complete)),
        said.of(personal),
        np.array(seconds, dtype=np.float64),
    )


def _of_sqlite(session: Session, study_id: int) -> Iterator[tuple[Any, ...]]:
    """Give columns of answers, those of a participant together."""
    found = _answers(
        study_id,
        *(Participant.id, StoredResponse.question_id, Presentation.position),
        *(StoredResponse.clicked, _seconds(session), *TEXTS),
    ).order_by(Participant.id)
    kept: list[Row] = []
    for rows in _fetched(session, found, AT_ONCE):
        rows, whole = [*kept, *rows], len(kept) + len(rows)
        while whole and rows[whole - 1][0] == rows[-1][0]:
            whole -= 1
        kept = rows[whole:]
        if whole:
            yield tuple(zip(*rows[:whole], strict=True))
    if kept:
        yield tuple(zip(*kept, strict=True))


def _of_postgresql(session: Session, study_id: int) -> Iterator[tuple[Any, ...]]:
    """Give the same columns, from rows that hold all of a participant's answers."""
    numbers = (StoredResponse.question_id, Presentation.position, StoredResponse.clicked)
    seconds = func.coalesce(cast(_seconds(session), Text), "nan")
    found = _answers(
        study_id,
        *(Participant.id, func.count()),
        *(func.string_agg(cast(cast(one, Integer), Text), ",") for one in numbers),
        func.string_agg(seconds, ","),
        *(func.string_agg(func.coalesce(cast(one, Text), ""), BETWEEN) for one in TEXTS),
    ).group_by(Participant.id)
    for rows in _fetched(session, found, OF_PEOPLE_AT_ONCE):
        ids, given, *told = zip(*rows, strict=True)
        yield (
            np.repeat(ids, given),
            *(np.fromstring(",".join(one), dtype=np.int64, sep=",") for one in told[:3]),
            np.fromstring(",".join(told[3]), dtype=np.float64, sep=","),
            *([text or None for text in BETWEEN.join(one).split(BETWEEN)] for one in told[4:]),
        )


def _answers(study_id: int, *columns: Any) -> Select[Any]:
    return (
        select(*columns)
        .join(StoredResponse, StoredResponse.participant_id == Participant.id)
        .join(
            Presentation,
            (Presentation.participant_id == StoredResponse.participant_id)
            & (Presentation.question_id == StoredResponse.question_id),
        )
        .where(Participant.study_id == study_id, Presentation.position > 0)
    )


def _seconds(session: Session) -> ColumnElement[Any]:
    """Return the seconds an answer took: in view, by the browser, else by the server's clock."""
    by_clock = _whole_seconds(session, Presentation.shown_at, StoredResponse.submitted_at)
    return func.coalesce(StoredResponse.active_seconds, cast(by_clock, Float))


def _whole_seconds(session: Session, begun: Any, ended: Any) -> ColumnElement[Any]:
    """Return the time between two moments in whole seconds of each, as files give them."""
    if _is_sqlite(session):
        began, ends = (func.strftime("%s", func.substr(one, 1, 19)) for one in (begun, ended))
        return cast(ends, Integer) - cast(began, Integer)
    began, ends = (func.date_trunc("second", one) for one in (begun, ended))
    return cast(extract("epoch", ends - began), Integer)


def _fetched(session: Session, statement: Select[Any], count: int) -> Iterator[Sequence[Any]]:
    """Give rows, some at a time; SQLite's as its driver makes them, in a third of the time."""
    connection = session.connection()
    if _is_sqlite(session):
        driver: Any = connection.execute(statement).cursor
        yield from iter(lambda: driver.fetchmany(count), [])
    else:
        streamed = statement.execution_options(yield_per=count)
        yield from connection.execute(streamed).partitions()
