"""What an analysis reads: a study's participants and answers, in columns.

A million participants give ten million answers, too many for objects. The drivers' own rows
are cut into columns, some thousand at a time, and a text that many rows share is read once.
From PostgreSQL they come as a COPY, whose lines its driver hands on as they are; the
database puts all of a participant's answers into one.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Float, Integer, Select, Text, cast, func, select
from sqlalchemy.orm import Session

from survey.core.agreement.answers import Answers, Coded
from survey.core.agreement.participants import People
from survey.db.answer_columns import AnswerColumns, Numbered
from survey.db.models import Participant, Presentation, StoredQuestion, StoredResponse
from survey.db.raw_rows import Row, is_sqlite, read_rows, whole_seconds

AT_ONCE = 2_000  # rows: few enough to stay in the processor's cache
OF_PEOPLE_AT_ONCE = 500  # rows that hold all of a participant's answers
BETWEEN = "\x1e"  # between texts put together: no JSON holds it

NUMBERS = (StoredResponse.question_id, Presentation.position, StoredResponse.clicked)
TEXTS = (Presentation.label_order, Presentation.column_order, StoredResponse.own)


def votes_of(session: Session, study_id: int) -> tuple[People, Answers]:
    """Read who took part, by public id, and their answers, practice left out.

    Call it in a transaction that sees one state of the database.
    """
    rows, people = _people_of(session, study_id)
    columns = AnswerColumns(_question_numbers(session, study_id))
    seconds = _seconds(session)
    if is_sqlite(session):
        found = _answers(study_id, Participant.id, *NUMBERS, seconds, *TEXTS)
        read_rows(
            session,
            found.order_by(Participant.id),
            lambda rows: columns.add(*zip(*rows, strict=True)),
            AT_ONCE,
        )
    else:
        found = _answers(study_id, Participant.id, func.count(), *_put_together(seconds))
        read_rows(
            session,
            found.group_by(Participant.id),
            lambda rows: columns.add(*_taken_apart(rows)),
            OF_PEOPLE_AT_ONCE,
        )
    return people, columns.answers(rows, people.ids)


def _question_numbers(session: Session, study_id: int) -> dict[int, int]:
    found = select(StoredQuestion.id, StoredQuestion.number)
    rows = session.execute(found.where(StoredQuestion.study_id == study_id))
    return {row[0]: row[1] for row in rows}


def _people_of(session: Session, study_id: int) -> tuple[NDArray[np.int64], People]:
    """Return the participants, with the numbers of their rows."""
    flags = (Participant.is_test, Participant.excluded, Participant.status == "complete")
    seconds = whole_seconds(session, Participant.started_at, Participant.completed_at)
    columns: list[Any] = [
        *(Participant.id, Participant.public_id, *(cast(flag, Integer) for flag in flags)),
        *(cast(Participant.personal, Text), cast(seconds, Float)),
    ]
    found = select(*columns).where(Participant.study_id == study_id)
    said, pieces = Numbered(), [_people_columns([], Numbered())]
    read_rows(session, found, lambda rows: pieces.append(_people_columns(rows, said)), AT_ONCE)
    told = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    # Here and not by the database: each has its own order of texts, and they are slower.
    by_id = np.argsort(told[1])
    numbers, ids, test, excluded, complete, personal, taken = (one[by_id] for one in told)
    answers = Coded(tuple(map(json.loads, said)), personal)
    return numbers, People(ids, test, excluded, complete, taken / 60, answers)


def _people_columns(rows: Sequence[Row], said: Numbered) -> tuple[NDArray[Any], ...]:
    numbers, ids, *flags, personal, taken = zip(*rows, strict=True) if rows else [()] * 7
    return (
        np.array(numbers).astype(np.int64),
        np.array(ids, dtype=str),
        *(np.array(flag).astype(np.int8).astype(bool) for flag in flags),
        said.of(personal),
        np.array(taken, dtype=np.float64),
    )


def _put_together(seconds: ColumnElement[Any]) -> list[ColumnElement[Any]]:
    """Return, for all answers of a participant, numbers and texts one after another."""
    told = func.coalesce(cast(seconds, Text), "nan")
    numbers = [cast(cast(one, Integer), Text) for one in NUMBERS]
    texts = (func.coalesce(cast(one, Text), "") for one in TEXTS)
    return [
        *(func.string_agg(one, ",") for one in (*numbers, told)),
        *(func.string_agg(one, BETWEEN) for one in texts),
    ]


def _taken_apart(rows: Sequence[Row]) -> tuple[Any, ...]:
    """Return the columns of single answers again."""
    ids, given, *told = zip(*rows, strict=True)
    return (
        np.repeat(np.array(ids).astype(np.int64), np.array(given).astype(np.int64)),
        *(np.fromstring(",".join(one), dtype=np.int64, sep=",") for one in told[:3]),
        np.fromstring(",".join(told[3]), sep=","),
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
    by_clock = whole_seconds(session, Presentation.shown_at, StoredResponse.submitted_at)
    return func.coalesce(StoredResponse.active_seconds, cast(by_clock, Float))
