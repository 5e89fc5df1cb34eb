"""Read a study's participants and answers into arrays, for its analysis.

A million participants give ten million answers, too many for objects. The database joins the cells
of many answers to a row: PostgreSQL those of a participant, SQLite those of many. Rows are
turned into columns batch by batch, and a text that many answers share is parsed once.
"""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Select,
    SQLColumnExpression,
    Text,
    bindparam,
    case,
    cast,
    extract,
    false,
    func,
    literal,
    select,
    type_coerce,
)
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from survey.core.agreement.answers import (
    ASKED_REASONS,
    TYPED,
    Answers,
    Coded,
    GrowingColumn,
    People,
    by_groups,
    first_rows,
    looked_up,
    smallest_integer_type,
)
from survey.core.studies.fields import FieldAnswer
from survey.core.studies.rankings import Ranking
from survey.db.engine import is_sqlite
from survey.db.models import Participant, Presentation, StoredQuestion, StoredResponse
from survey.db.queries import IS_ANSWERED
from survey.kinds.ordering.models import StoredOrderingAnswer, StoredOrderingPresentation

Row = Sequence[str | None]
Texts = list[str]
Value = TypeVar("Value", bound=Hashable)

VOTE_ROWS_AT_ONCE = 500  # rows from PostgreSQL: few enough to stay in the processor's cache
JOINED = 10_000  # rows that SQLite joins to one, about
SEPARATOR, HALVES = "\x1e", "\x1f"  # between joined texts: no JSON holds them
TEXT_COLUMNS = ("public_id", "orders", "owns", "about", "arm")  # whose cells may hold a comma
EXACT = "x"  # before seconds that are not whole tenths

_ASKED = case(
    {kind: code for code, kind in enumerate(ASKED_REASONS, 1)}, value=StoredResponse.asked, else_=0
)
# A question's row id, a position, what was clicked, asked and typed, in one number.
_POSITIONS, _CLICKED, _ASKED_CODES = 2**16, 2**8, 2 * TYPED
_PACKED = (
    (
        (cast(StoredResponse.question_id, BigInteger) * _POSITIONS + Presentation.position)
        * _CLICKED
        + cast(StoredOrderingAnswer.clicked, Integer)
    )
    * _ASKED_CODES
    + _ASKED
    + case((StoredOrderingAnswer.typed, TYPED), else_=0)
)
# Personal and closing answers in one text: no field has a name of the other's.
_ABOUT_PEOPLE = (
    cast(Participant.personal, Text) + HALVES + func.coalesce(cast(Participant.closing, Text), "{}")
)


class TextCodes(dict[str, int]):
    """A code for each different text: 0, 1, … in the order in which they are first seen."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code

    def encode(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """Return each text's code, adding codes for new texts."""
        return np.fromiter(map(self.__getitem__, texts), np.int32, len(texts))


class AnswerColumns:
    """Answers, collected batch by batch; those of a participant follow one another.

    ``numbers``: the number of each question, by its row id.
    """

    def __init__(self, numbers: Mapping[int, int]) -> None:
        self._questions = np.array(sorted(numbers, key=lambda row: numbers[row]), dtype=np.int64)
        self._numbers = tuple(sorted(numbers.values()))
        self._orders, self._owns = TextCodes(), TextCodes({"": 0})
        # Participants and their numbers of answers; then of each answer the question, position,
        # clicked, asked, seconds, the code of its orders and that of its own ranking.
        self._columns = [GrowingColumn() for _ in range(9)]
        self.add([], [], [], [], [], [])

    def add(
        self,
        participants: ArrayLike,
        counts: ArrayLike,
        packed: ArrayLike,
        seconds: ArrayLike,
        orders: Sequence[str],
        owns: Sequence[str],
    ) -> None:
        """Append a batch: row ids of participants, their numbers of answers, and the answers.

        ``packed`` and ``orders`` as the database makes them of the columns of an answer:
        ``_PACKED`` and ``_orders``. ``owns``: of the answers in which nothing is ticked.
        """
        rest, asked = np.divmod(np.array(packed, dtype=np.int64), _ASKED_CODES)
        rest, clicked = np.divmod(rest, _CLICKED)
        questions, positions = np.divmod(rest, _POSITIONS)
        own = np.zeros(len(clicked), dtype=np.int32)
        own[clicked == 0] = self._owns.encode(owns)
        batch: tuple[NDArray[np.generic], ...] = (
            np.array(participants, dtype=np.int64),
            np.array(counts, dtype=np.int64),
            self._codes(questions),
            positions.astype(np.uint16),
            clicked.astype(np.uint8),
            asked.astype(np.uint8),
            np.array(seconds, dtype=np.float64),
            self._orders.encode(orders),
            own,
        )
        for column, values in zip(self._columns, batch, strict=True):
            column.extend(values)

    def _codes(self, questions: NDArray[np.int64]) -> NDArray[np.int16]:
        by_row = np.argsort(self._questions)
        positions = np.searchsorted(self._questions, questions, sorter=by_row)
        return by_row[positions].astype(np.int16)

    def answers(self, rows: NDArray[np.int64], ids: NDArray[np.str_]) -> Answers:
        """Return all answers of the participants ``ids``, in the order of the ids.

        ``rows``: the participants' row ids, in the order of ``ids``.
        """
        participants, stored_counts = (self._columns.pop(0).values for _ in range(2))
        # Of each participant with answers, the index in ``rows`` and in the columns.
        _, people, stored = np.intersect1d(
            rows, participants, assume_unique=True, return_indices=True
        )
        by_id = np.argsort(people)
        people, stored = people[by_id], stored[by_id]
        counts = stored_counts[stored]
        first_answer = first_rows(counts)
        order = _consecutive_rows(first_rows(stored_counts)[stored], counts)
        codes = self._columns.pop(0).values
        question = looked_up(codes, order)
        if not _are_sorted(question, first_answer):
            order = order[np.lexsort((question, np.repeat(np.arange(len(counts)), counts)))]
            question = looked_up(codes, order)
        # Column by column, so that memory never holds all answers twice.
        position, clicked, asked, seconds, orders, owns = (
            looked_up(self._columns.pop(0).values, order) for _ in range(6)
        )
        # The order of labels, and that of columns, of each different pair.
        halves = [text.split(HALVES) for text in self._orders]
        label_order, column_order = (
            _decoded(texts, texts.encode([half[index] for half in halves]), _order).in_order()
            for index, texts in enumerate((TextCodes(), TextCodes()))
        )
        return Answers(
            people=ids if len(people) == len(ids) else ids[people],
            first_answer=first_answer,
            question=Coded(self._numbers, question),
            label_order=Coded(label_order.values, looked_up(label_order.codes, orders)),
            clicked=clicked,
            asked=asked,
            own=_decoded(self._owns, owns, _ranking).in_order(by_groups),
            column_order=Coded(column_order.values, looked_up(column_order.codes, orders)),
            position=_numbered(position),
            seconds=seconds,
        )


def votes_of(session: Session, study_id: int) -> tuple[People, Answers]:
    """Return a study's participants by public id, and their answers without practice.

    Call it in a transaction that sees one state of the database: many queries read it.
    """
    numbers = select(StoredQuestion.id, StoredQuestion.number)
    asked = dict(session.execute(numbers.where(StoredQuestion.study_id == study_id)).all())
    ids = _row_ids(session, study_id)
    rows, people = _people_of(session, study_id, ids)
    columns = AnswerColumns(asked)
    answers = _answers(
        study_id,
        _text(session, Participant.id).label("id"),
        _text(session, _PACKED).label("packed"),
        _seconds_text(session).label("seconds"),
        _orders(session).label("orders"),
        # Joined cells lack NULL: they are of the answers without ticks, as a CHECK requires.
        _text(session, StoredOrderingAnswer.own).label("owns"),
    )

    def add(ids: Texts, packed: Texts, seconds: Texts, orders: Texts, owns: Texts) -> None:
        participants = _numbers(ids)  # an entry for each answer
        starts = np.flatnonzero(np.diff(participants, prepend=0))
        columns.add(
            participants=participants[starts],
            counts=np.diff(starts, append=len(participants)),
            packed=_numbers(packed),
            seconds=_seconds(seconds),
            orders=_split(orders),
            owns=_split(owns) if owns else [],
        )

    _read_joined(session, answers, ids, max(1, JOINED // max(1, len(asked))), add)
    return people, columns.answers(rows, people.ids)


def _read_joined(
    session: Session,
    statement: Select[*tuple[Any, ...]],
    people: NDArray[np.int64],
    at_once: int,
    process: Callable[..., None],
) -> None:
    """Pass the rows of participants to ``process``, batch by batch, the cells of a column joined.

    ``process`` gets a list of joined texts for each column, without NULL; the rows of a participant
    follow one another. PostgreSQL joins the rows of one participant, SQLite those of ``at_once``
    participants; SQLite reads the next batch in another thread while one is processed.
    ``people``: the participants' row ids, sorted.
    """
    connection = session.connection()
    if not is_sqlite(session):
        columns = map(_joined, statement.selected_columns)
        by_participant = statement.with_only_columns(*columns).group_by(Participant.id)
        _copy(connection, by_participant, process)
        return
    first, last = (bindparam(name, type_=BigInteger) for name in ("first", "last"))
    # SQLite's aggregate joins cells in the order of the subquery's rows.
    some = statement.where(Participant.id.between(first, last)).order_by(Participant.id).subquery()
    joined = select(*map(_joined, some.columns))

    def read(start: int) -> Row:
        ids = people[start : start + at_once]
        ends = {"first": int(ids[0]), "last": int(ids[-1])}
        return connection.execute(joined, ends).one()

    def pass_on(row: Row) -> None:
        if row[0] is not None:  # else these participants have no row
            process(*(_without_null([text]) for text in row))

    if not len(people):
        return
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(read, 0)
        for start in range(at_once, len(people), at_once):
            row, reading = reading.result(), thread.submit(read, start)
            pass_on(row)
        pass_on(reading.result())


def _joined(cell: ColumnElement[str]) -> ColumnElement[str]:
    return func.aggregate_strings(cell, SEPARATOR if cell.key in TEXT_COLUMNS else ",")


def _copy(
    connection: Connection, statement: Select[*tuple[Any, ...]], process: Callable[..., None]
) -> None:
    sql = statement.compile(dialect=connection.dialect, compile_kwargs={"literal_binds": True})
    driver: Any = connection.connection
    try:
        # No injection: the statement holds names of columns and the study's id.
        with driver.cursor() as cursor, cursor.copy(f"COPY ({sql}) TO STDOUT") as copy:
            lines = copy.rows()
            for rows in iter(lambda: list(islice(lines, VOTE_ROWS_AT_ONCE)), []):
                process(*map(_without_null, zip(*rows, strict=True)))
    except connection.dialect.loaded_dbapi.Error as error:
        raise OperationalError("reading votes", None, error) from error


def _without_null(texts: Sequence[str | None]) -> Texts:
    return [text for text in texts if text is not None]


def select_whole_seconds(
    session: Session,
    start: SQLColumnExpression[datetime | None],
    end: SQLColumnExpression[datetime | None],
) -> ColumnElement[int]:
    """Select the seconds between two times, each cut to whole seconds as files print it."""
    if is_sqlite(session):
        starts, ends = (func.strftime("%s", func.substr(time, 1, 19)) for time in (start, end))
        return cast(ends, Integer) - cast(starts, Integer)
    starts, ends = (func.date_trunc("second", time) for time in (start, end))
    return cast(extract("epoch", ends - starts), Integer)


def _row_ids(session: Session, study_id: int) -> NDArray[np.int64]:
    """Return the row ids of a study's participants, sorted."""
    ids = select(_joined(_text(session, Participant.id))).where(Participant.study_id == study_id)
    return np.sort(_numbers([session.scalar(ids) or ""]))


def _people_of(
    session: Session, study_id: int, ids: NDArray[np.int64]
) -> tuple[NDArray[np.int64], People]:
    """Return the participants' row ids, and the participants, both by public id.

    ``ids``: the row ids, sorted.
    """
    flags = (
        *(Participant.is_test, Participant.excluded, Participant.status == "complete"),
        func.coalesce(Participant.understood.is_(False), false()),
    )
    bits = sum((cast(flag, Integer) * 2**bit for bit, flag in enumerate(flags)), literal(0))
    taken = select_whole_seconds(session, Participant.started_at, Participant.completed_at)
    statement = select(
        _text(session, Participant.id).label("id"),
        Participant.public_id.label("public_id"),
        _text(session, bits).label("bits"),
        _ABOUT_PEOPLE.label("about"),
        func.coalesce(Participant.arm, "").label("arm"),
        func.coalesce(_text(session, taken), "nan").label("taken"),
    ).where(Participant.study_id == study_id)
    about, arms = TextCodes(), TextCodes()
    columns: list[list[NDArray[np.generic]]] = [
        [np.zeros(0, dtype)] for dtype in ("i8", "U1", "i8", "i4", "i4", "f8")
    ]

    def add(*cells: Texts) -> None:
        batch: tuple[NDArray[np.generic], ...] = (
            _numbers(cells[0]),
            np.array(_split(cells[1])),
            _numbers(cells[2]),
            about.encode(_split(cells[3])),
            arms.encode(_split(cells[4])),
            np.fromstring(",".join(cells[5]), dtype=np.float64, sep=","),
        )
        for column, values in zip(columns, batch, strict=True):
            column.append(values)

    _read_joined(session, statement, ids, JOINED, add)
    arrays = [np.concatenate(column) for column in columns]
    # Not ORDER BY: each database sorts texts in its own way, and more slowly.
    by_id = np.argsort(arrays[1])
    rows, public_ids, packed, personal, arm, seconds = (array[by_id] for array in arrays)
    test, excluded, complete, wrong = ((packed >> bit & 1).astype(bool) for bit in range(4))
    return rows, People(
        ids=public_ids,
        is_test=test,
        excluded=excluded,
        complete=complete,
        minutes=seconds / 60,
        personal=Coded(tuple(map(_joined_objects, about)), personal),
        misunderstood=wrong,
        arm=_decoded(arms, arm, str).in_order(),
    )


def _joined_objects(text: str) -> dict[str, FieldAnswer]:
    """Return the values of several JSON objects, joined as in ``_ABOUT_PEOPLE``."""
    return {name: value for part in text.split(HALVES) for name, value in json.loads(part).items()}


def _text(session: Session, column: SQLColumnExpression[object]) -> ColumnElement[str]:
    """Select a column as a text; SQLite, whose values have no type, does so without a cast."""
    return type_coerce(column, Text) if is_sqlite(session) else cast(column, Text)


def _orders(session: Session) -> ColumnElement[str]:
    drawn = StoredOrderingPresentation
    return _text(session, drawn.label_order) + HALVES + _text(session, drawn.column_order)


def _seconds_text(session: Session) -> ColumnElement[str]:
    """Select tenths of seconds as a whole number; other seconds as EXACT and all their digits.

    Browsers count tenths, and a database writes and numpy reads whole numbers several times as
    fast.
    """
    seconds = StoredResponse.active_seconds
    digits: ColumnElement[str]
    if is_sqlite(session):
        tenths, digits = cast(seconds * 10 + 0.5, Integer), func.printf("%!.17g", seconds)
    else:
        # A cast rounds. It refuses numbers too large for it, which get all their digits.
        tenths, digits = cast(func.least(seconds, 1e9) * 10, BigInteger), cast(seconds, Text)
    by_clock = select_whole_seconds(session, Presentation.shown_at, StoredResponse.submitted_at)
    return case(
        (tenths / 10.0 == seconds, _text(session, tenths)),
        (seconds.is_(None), func.coalesce(_text(session, by_clock * 10), EXACT + "nan")),
        else_=literal(EXACT) + digits,
    )


def _numbers(texts: Texts) -> NDArray[np.int64]:
    return np.fromstring(",".join(texts), dtype=np.int64, sep=",")


def _split(texts: Texts) -> Texts:
    return SEPARATOR.join(texts).split(SEPARATOR)


def _seconds(texts: Texts) -> NDArray[np.float64]:
    """Return seconds from the cells of ``_seconds_text``."""
    joined = ",".join(texts)
    if EXACT not in joined:
        return np.fromstring(joined, dtype=np.int64, sep=",") / 10
    seconds = (
        float(text[1:]) if text.startswith(EXACT) else int(text) / 10 for text in joined.split(",")
    )
    return np.fromiter(seconds, np.float64)


def _answers(study_id: int, *columns: SQLColumnExpression[object]) -> Select[*tuple[Any, ...]]:
    return (
        select(*columns)
        .join(StoredResponse, StoredResponse.participant_id == Participant.id)
        .join(Presentation, IS_ANSWERED)
        .join(StoredOrderingAnswer, StoredOrderingAnswer.response_id == StoredResponse.id)
        .join(
            StoredOrderingPresentation,
            StoredOrderingPresentation.presentation_id == Presentation.id,
        )
        .where(Participant.study_id == study_id, Presentation.position > 0)
    )


def _consecutive_rows(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return start, start + 1, … for each start, as many as its count, one after another."""
    rows = np.repeat((starts - first_rows(counts)).astype(np.int32), counts)
    rows += np.arange(len(rows), dtype=np.int32)
    return rows


def _are_sorted(questions: NDArray[np.int16], first_answer: NDArray[np.int64]) -> bool:
    """Return whether each participant's answers are in the order of the questions.

    Mostly they are, and sorting ten million takes seconds.
    """
    increases = np.ones(len(questions), dtype=bool)
    np.greater(questions[1:], questions[:-1], out=increases[1:])
    increases[first_answer] = True
    return bool(increases.all())


def _numbered(column: NDArray[np.uint16]) -> Coded[int]:
    """Return a column of small numbers, each of which is its own code."""
    values = range(int(column.max(initial=0)) + 1)
    return Coded(tuple(values), column.astype(smallest_integer_type(len(values))))


def _decoded(
    text_codes: TextCodes, column: NDArray[np.int32], parse: Callable[[str], Value]
) -> Coded[Value]:
    """Parse each different text once; a missing or empty text gets the code -1."""
    texts = [text for text in text_codes if text]
    table = np.full(len(text_codes), -1, dtype=smallest_integer_type(len(texts)))
    table[[text_codes[text] for text in texts]] = np.arange(len(texts))
    return Coded(tuple(map(parse, texts)), looked_up(table, column))


def _order(text: str) -> tuple[Any, ...]:
    return tuple(json.loads(text))


def _ranking(text: str) -> Ranking:
    return Ranking.by_key(json.loads(text))
