"""The query of an analysis: a study's participants and answers, in columns.

A million participants give ten million answers, too many for objects. The drivers' own rows
are cut into columns, some thousand at a time, and a text that many rows share is parsed once.
From PostgreSQL they come as a COPY, in which the database puts all of a participant's answers
into one row.
"""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Float, Integer, Select, Text, cast, extract, func, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from survey.core.agreement.answers import (
    Answers,
    Coded,
    People,
    first_rows,
    smallest_integer_type,
    sort_key,
)
from survey.core.studies.rankings import Ranking
from survey.db.engine import CopyRows
from survey.db.models import (
    Participant,
    Presentation,
    StoredOrderingAnswer,
    StoredOrderingPresentation,
    StoredQuestion,
    StoredResponse,
)

Row = Sequence[Any]


def is_sqlite(session: Session) -> bool:
    """Tell which of the two databases it is."""
    return session.get_bind().dialect.name == "sqlite"


def whole_seconds(session: Session, begun: Any, ended: Any) -> ColumnElement[Any]:
    """Return the time between two moments in whole seconds of each, as files give them."""
    if is_sqlite(session):
        began, ends = (func.strftime("%s", func.substr(one, 1, 19)) for one in (begun, ended))
        return cast(ends, Integer) - cast(began, Integer)
    began, ends = (func.date_trunc("second", one) for one in (begun, ended))
    return cast(extract("epoch", ends - began), Integer)


def read_rows(
    session: Session,
    statement: Select[Any],
    take: Callable[[Sequence[Row]], None],
    count: int,
) -> None:
    """Hand on the driver's rows, so many at a time: texts only from PostgreSQL, None for NULL."""
    connection = session.connection()
    try:
        if is_sqlite(session):
            driver: Any = connection.execute(statement).cursor
            for rows in iter(lambda: driver.fetchmany(count), []):
                take(rows)
        else:
            sql = statement.compile(
                dialect=connection.dialect, compile_kwargs={"literal_binds": True}
            )
            lines, cursor = CopyRows(take, count), connection.connection.cursor()
            # Nothing in it comes from people: names of columns, and the study's number.
            cursor.execute(f"COPY ({sql}) TO STDOUT", stream=lines)  # type: ignore[call-arg]
            lines.flush()
    except connection.dialect.loaded_dbapi.Error as error:
        raise OperationalError("reading votes", None, error) from error


Value = TypeVar("Value", bound=Hashable)


class Numbered(dict[Any, int]):
    """Numbers texts in the order in which they come."""

    def __missing__(self, text: Any) -> int:
        number = self[text] = len(self)
        return number

    def of(self, texts: Sequence[Any]) -> NDArray[np.int32]:
        """Return the numbers of these."""
        return np.fromiter(map(self.__getitem__, texts), np.int32, len(texts))


class AnswerColumns:
    """Answers as they come, those of a participant one after another; ``numbers``: of questions."""

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self._questions = np.array(sorted(numbers, key=lambda row: numbers[row]), dtype=np.int64)
        self._numbers = tuple(sorted(numbers.values()))
        self._texts = (Numbered(), Numbered(), Numbered())
        self._columns: tuple[list[NDArray[Any]], ...] = tuple([] for _ in range(8))
        self.add([], [], [], [], [], [], [], [])

    def add(self, participants: Any, questions: Any, *columns: Any) -> None:
        """Add answers: position, clicked, seconds, label order, column order, own ranking."""
        positions, clicked, seconds, *texts = columns
        made: tuple[NDArray[Any], ...] = (
            np.array(participants, dtype=np.int64),
            self._codes(np.array(questions, dtype=np.int64)),
            np.array(positions, dtype=np.int32),
            np.array(clicked, dtype=np.uint8),
            np.array(seconds, dtype=np.float64),
            *(known.of(one) for known, one in zip(self._texts, texts, strict=True)),
        )
        for pieces, column in zip(self._columns, made, strict=True):
            pieces.append(column)

    def _codes(self, questions: NDArray[np.int64]) -> NDArray[np.int16]:
        by_row = np.argsort(self._questions)
        found = np.searchsorted(self._questions, questions, sorter=by_row)
        return by_row[found].astype(np.int16)

    def answers(self, rows: NDArray[np.int64], ids: NDArray[np.str_]) -> Answers:
        """Return all that were added, of known participants, by their ids; call it once.

        ``rows``: the numbers of the participants' rows, in the order of ``ids``.
        """
        participants, *columns = (np.concatenate(pieces) for pieces in self._columns)
        first = np.flatnonzero(np.diff(participants, prepend=-1))
        people, places = np.intersect1d(
            rows, participants[first], assume_unique=True, return_indices=True
        )[1:]
        by_id = np.argsort(people)
        people, places = people[by_id], places[by_id]
        given = np.diff(first, append=len(participants))[places]
        first_answer = first_rows(given)
        moved = np.repeat(first[places] - first_answer, given) + np.arange(given.sum())
        moved = _by_question(moved, columns[0], np.repeat(np.arange(len(given)), given))
        question, position, clicked, seconds, *texts = (column[moved] for column in columns)
        labels, orders, owns = self._texts
        return Answers(
            people=ids[people],
            first_answer=first_answer,
            question=Coded(self._numbers, question),
            label_order=_decoded(labels, texts[0], tuple).in_order(),
            clicked=clicked,
            own=_decoded(owns, texts[2], Ranking.by_key).in_order(sort_key),
            column_order=_decoded(orders, texts[1], tuple).in_order(),
            position=Coded(tuple(range(int(position.max(initial=0)) + 1)), position),
            seconds=seconds,
        )


def _by_question(
    rows: NDArray[np.int64], questions: NDArray[np.int16], people: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Put each participant's answers in order; mostly they are, and sorting takes seconds."""
    here = questions[rows]
    if np.all((np.diff(here) > 0) | (np.diff(people) > 0)):
        return rows
    return rows[np.lexsort((here, people))]


def _decoded(
    known: Numbered, codes: NDArray[np.int32], read: Callable[[Any], Value]
) -> Coded[Value]:
    """Return what the texts say; None is none."""
    texts = [text for text in known if text is not None]
    table = np.full(len(known), -1, dtype=smallest_integer_type(len(texts)))
    table[[known[text] for text in texts]] = np.arange(len(texts))
    return Coded(tuple(read(json.loads(text)) for text in texts), table[codes])


AT_ONCE = 2_000  # rows: few enough to stay in the processor's cache
OF_PEOPLE_AT_ONCE = 500  # rows that hold all of a participant's answers
BETWEEN = "\x1e"  # between texts put together: no JSON holds it

NUMBERS = (StoredResponse.question_id, Presentation.position, StoredOrderingAnswer.clicked)
TEXTS = (
    StoredOrderingPresentation.label_order,
    StoredOrderingPresentation.column_order,
    StoredOrderingAnswer.own,
)


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
        .join(StoredOrderingAnswer, StoredOrderingAnswer.response_id == StoredResponse.id)
        .join(
            StoredOrderingPresentation,
            StoredOrderingPresentation.presentation_id == Presentation.id,
        )
        .where(Participant.study_id == study_id, Presentation.position > 0)
    )


def _seconds(session: Session) -> ColumnElement[Any]:
    """Return the seconds an answer took: in view, by the browser, else by the server's clock."""
    by_clock = whole_seconds(session, Presentation.shown_at, StoredResponse.submitted_at)
    return func.coalesce(StoredResponse.active_seconds, cast(by_clock, Float))
