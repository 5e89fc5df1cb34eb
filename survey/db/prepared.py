"""Statements that run for every page and every answer, compiled once.

What SQLAlchemy does around an execution takes seven times as long as SQLite's own work, so on
SQLite these run on the driver's cursor, within the session's transaction. On PostgreSQL,
whose driver takes longest of all, they are executed like any other.
"""

from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, Dialect, Insert, Select, Update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.types import TypeEngine

from survey.db.engine import is_hurt

# A row whose values are attributes, named as in its select.
Record = Any
Convert = Callable[[Any], Any]


class Prepared:
    """A select, insert or update whose parameters are all named by the values it is run with."""

    def __init__(self, statement: Select[Any] | Insert | Update):
        self.statement = statement

    def rows(self, session: Session, values: Mapping[str, Any]) -> Sequence[Record]:
        """Return the rows that it finds, or that it returns of what it writes."""
        connection = session.connection()
        if connection.dialect.name != "sqlite":
            return session.execute(self.statement, values).all()
        ready = _for_sqlite(self, connection.dialect, tuple(values))
        return [ready.record(row) for row in ready.run(connection, values)]

    def one_or_none(self, session: Session, values: Mapping[str, Any]) -> Record | None:
        """Return the only row, or None."""
        found = self.rows(session, values)
        return found[0] if found else None

    def run(self, session: Session, values: Mapping[str, Any]) -> None:
        """Write what returns nothing."""
        connection = session.connection()
        if connection.dialect.name == "sqlite":
            _for_sqlite(self, connection.dialect, tuple(values)).run(connection, values)
        else:
            session.execute(self.statement, values)


class ForSqlite:
    """A statement as SQLite's driver takes it, and how values are written and read."""

    def __init__(self, statement: Any, dialect: Dialect, names: Sequence[str]):
        compiled = statement.compile(dialect=dialect, column_keys=list(names))
        self.sql = str(compiled)
        types = {name: bound.type for bound, name in compiled.bind_names.items()}
        constants = compiled.construct_params(dict.fromkeys(names))
        self._binds = [
            (name, _writing(types[name], dialect), constants[name])
            for name in compiled.positiontup or ()
        ]
        columns = getattr(statement, "exported_columns", ())
        self._reads = [_reading(column.type, dialect) for column in columns]
        named: Any = namedtuple("Row", [one.key for one in columns])  # type: ignore[misc] # no literal
        self._row = named._make

    def run(self, connection: Connection, values: Mapping[str, Any]) -> Sequence[Sequence[Any]]:
        """Run it within the transaction of this connection; the rows as the driver makes them.

        Raises what SQLAlchemy would.
        """
        cursor = connection.connection.cursor()
        try:
            return cursor.execute(self.sql, list(self._bound(values))).fetchall()  # type: ignore[no-any-return] # sqlite3's cursor
        except connection.dialect.loaded_dbapi.Error as error:
            if is_hurt(error):
                connection.invalidate(error)
            raise DBAPIError.instance(
                self.sql, None, error, connection.dialect.loaded_dbapi.Error, hide_parameters=True
            ) from error

    def record(self, row: Sequence[Any]) -> Record:
        """Return a row with the survey's own types."""
        read = zip(self._reads, row, strict=True)
        return self._row(convert(one) if convert else one for convert, one in read)

    def _bound(self, values: Mapping[str, Any]) -> Iterator[Any]:
        for name, convert, constant in self._binds:
            value = values.get(name, constant)
            yield convert(value) if convert else value


@lru_cache(maxsize=200)
def _for_sqlite(prepared: Prepared, dialect: Dialect, names: tuple[str, ...]) -> ForSqlite:
    return ForSqlite(prepared.statement, dialect, names)


def _writing(type_: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    return type_.dialect_impl(dialect).bind_processor(dialect)


def _reading(type_: TypeEngine[Any], dialect: Dialect) -> Convert | None:
    return type_.dialect_impl(dialect).result_processor(dialect, None)
