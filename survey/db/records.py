"""Read-only records of a study and a participant, and the statements that read them quickly.

SQLAlchemy's part of an execution takes seven times as long as SQLite's, so on SQLite these
statements run on the driver's cursor, within the session's transaction: executed like others,
they would make a question's page take 1.2 to 1.6 times as long, an answer 1.2 to 1.4 times. On
PostgreSQL, whose driver takes longer than SQLAlchemy, they are executed like others.
To change a row, a service loads and locks it.
"""

import json
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Dialect, Insert, Select, Update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from survey.core.studies.plan import Plan
from survey.db.engine import is_file_error
from survey.db.models import Participant, Study


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """What every page needs of a study; ``recruitment_json``: the stored text."""

    id: int
    slug: str
    status: str
    plan: Plan
    recruitment_json: str


@dataclass(frozen=True, slots=True)
class ParticipantRecord:
    """What every page needs of a participant; ``personal_json``: the stored text."""

    id: int
    study_id: int
    public_id: str
    status: str
    is_test: bool
    personal_json: str
    receipt: str | None
    started_at: datetime
    consented_at: datetime | None
    described_at: datetime | None
    informed_at: datetime | None
    last_seen_at: datetime | None

    @property
    def personal(self) -> Mapping[str, Any]:
        """The answers of the page "About you"."""
        return json.loads(self.personal_json)  # type: ignore[no-any-return] # an object


AnyStudy = Study | StudyRecord
AnyParticipant = Participant | ParticipantRecord

# A row: its attributes are named like the columns of the select.
Record = Any
Convert = Callable[[Any], Any]


class Prepared:
    """A select, insert or update; the values of an execution name its parameters."""

    def __init__(self, statement: Select[Any] | Insert | Update):
        self.statement = statement

    def rows(self, session: Session, values: Mapping[str, Any]) -> Sequence[Record]:
        """Execute a select, or a write with RETURNING, and return its rows."""
        connection = session.connection()
        if connection.dialect.name != "sqlite":
            return session.execute(self.statement, values).all()
        compiled = _compiled(self, connection.dialect, tuple(values))
        return [compiled.record(row) for row in compiled.execute(connection, values)]

    def first(self, session: Session, values: Mapping[str, Any]) -> Record | None:
        """Execute a select that finds one row at most; return it, or None."""
        rows = self.rows(session, values)
        return rows[0] if rows else None

    def run(self, session: Session, values: Mapping[str, Any]) -> None:
        """Execute a write without RETURNING."""
        connection = session.connection()
        if connection.dialect.name == "sqlite":
            _compiled(self, connection.dialect, tuple(values)).execute(connection, values)
        else:
            session.execute(self.statement, values)


class _SqliteStatement:
    """The SQL of a statement, and the conversions of its parameters and of its columns."""

    def __init__(self, statement: Any, dialect: Dialect, names: Sequence[str]):
        compiled = statement.compile(dialect=dialect, column_keys=list(names))
        self.sql = str(compiled)
        types = {name: bound.type for bound, name in compiled.bind_names.items()}
        constants = compiled.construct_params(dict.fromkeys(names))
        self._binds = [
            (name, _bind_processor(types[name], dialect), constants[name])
            for name in compiled.positiontup or ()
        ]
        columns = getattr(statement, "exported_columns", ())
        self._reads = [_result_processor(column.type, dialect) for column in columns]
        named: Any = namedtuple("Row", [column.key for column in columns])  # type: ignore[misc] # no literal
        self._row = named._make

    def execute(self, connection: Connection, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """Return the driver's rows; raise the exceptions that SQLAlchemy would."""
        cursor = connection.connection.cursor()
        try:
            return cursor.execute(self.sql, list(self._bound(values))).fetchall()  # type: ignore[no-any-return] # sqlite3's cursor
        except connection.dialect.loaded_dbapi.Error as error:
            if is_file_error(error):
                connection.invalidate(error)
            raise DBAPIError.instance(
                self.sql, None, error, connection.dialect.loaded_dbapi.Error, hide_parameters=True
            ) from error

    def record(self, row: Sequence[Any]) -> Record:
        """Return a row of the driver as attributes with the types of their columns."""
        cells = zip(self._reads, row, strict=True)
        return self._row(convert(cell) if convert else cell for convert, cell in cells)

    def _bound(self, values: Mapping[str, Any]) -> Iterator[Any]:
        for name, convert, constant in self._binds:
            value = values.get(name, constant)
            yield convert(value) if convert else value


@lru_cache(maxsize=200)
def _compiled(prepared: Prepared, dialect: Dialect, names: tuple[str, ...]) -> _SqliteStatement:
    return _SqliteStatement(prepared.statement, dialect, names)


def _bind_processor(type_: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    return type_.dialect_impl(dialect).bind_processor(dialect)


def _result_processor(type_: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    return type_.dialect_impl(dialect).result_processor(dialect, None)
