"""Copying a whole database: page by page within SQLite, row by row between the two kinds."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Connection, MetaData, Table, Text, cast, event, func, text, tuple_
from sqlalchemy.types import TypeDecorator

from survey.db.engine import sqlite_library
from survey.db.migration import table_names

# Called with how much is done, and of how much.
OnStep = Callable[[int, int], None]

PAGES_AT_ONCE = 1_000
ROWS_AT_ONCE = 1_000


class PostgresJson(TypeDecorator[str]):
    """PostgreSQL's JSON, read and written as the text it is: None and null stay two things."""

    impl = Text
    cache_ok = True

    def column_expression(self, column: Any) -> Any:
        """Read the text."""
        return cast(column, Text)

    def bind_expression(self, bindparam: Any) -> Any:
        """Give the text back as JSON."""
        return cast(bindparam, JSON)


def copy_pages(source: Connection, target: Path, on_step: OnStep) -> None:
    """Copy SQLite's pages as the transaction of ``source`` sees them, while others write.

    The copy is one file without a log beside it, which any SQLite can read.
    """
    live: Any = source.connection.dbapi_connection
    copy = sqlite_library().connect(target)
    try:
        live.backup(
            copy,
            pages=PAGES_AT_ONCE,
            progress=lambda _, left, total: on_step(total - left, total),
        )
        copy.execute("PRAGMA journal_mode = DELETE")
    finally:
        copy.close()


def copy_rows(source: Connection, target: Connection, total: int, on_step: OnStep) -> None:
    """Copy all rows into empty tables of the same names, those referred to first."""
    into = {table.name: table for table in tables_of(target)}
    done = 0
    with triggers_resting(target):
        for table in tables_of(source):
            for rows in _batches(source, table):
                _insert(target, into[table.name], rows)
                done += len(rows)
                on_step(done, total)
    if target.dialect.name == "postgresql":
        _continue_numbering(target, list(into.values()))


def remove_rows(connection: Connection) -> None:
    """Empty every table."""
    with triggers_resting(connection):
        for table in reversed(tables_of(connection)):
            connection.execute(table.delete())


def lock_out_writers(connection: Connection) -> None:
    """Let nobody write until this transaction ends; SQLite's BEGIN IMMEDIATE does so anyway."""
    if connection.dialect.name == "postgresql":
        names = ", ".join(map(_quoted(connection), table_names(connection)))
        connection.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))


def tables_of(connection: Connection) -> list[Table]:
    """Return the tables as the database has them, those referred to first."""
    metadata = MetaData()
    event.listen(metadata, "column_reflect", _read_json_as_text)
    metadata.reflect(connection, only=table_names(connection))
    return metadata.sorted_tables


@contextmanager
def triggers_resting(connection: Connection) -> Iterator[None]:
    """Keep triggers from firing in this transaction: copying back is no change of a study."""
    if connection.dialect.name == "sqlite":
        made = connection.execute(
            text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
        ).all()
        for name, _ in made:
            connection.execute(text(f"DROP TRIGGER {_quoted(connection)(name)}"))
        yield
        for _, statement in made:
            connection.exec_driver_sql(statement)
    else:
        names = list(map(_quoted(connection), table_names(connection)))
        for name in names:
            connection.execute(text(f"ALTER TABLE {name} DISABLE TRIGGER USER"))
        yield
        for name in names:
            connection.execute(text(f"ALTER TABLE {name} ENABLE TRIGGER USER"))


def _read_json_as_text(inspector: Any, _: object, column: Any) -> None:
    if isinstance(column["type"], JSON):
        column["type"] = Text() if inspector.dialect.name == "sqlite" else PostgresJson()


def _batches(connection: Connection, table: Table) -> Iterator[Sequence[dict[str, Any]]]:
    """Yield the rows by their keys, some at a time: pg8000 keeps a whole result in memory."""
    key = list(table.primary_key.columns)
    page = table.select().order_by(*key).limit(ROWS_AT_ONCE)
    rows = connection.execute(page).mappings().all()
    while rows:
        yield [dict(row) for row in rows]
        last = [rows[-1][column.name] for column in key]
        rows = connection.execute(page.where(tuple_(*key) > tuple_(*last))).mappings().all()


def _insert(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    statement = table.insert()
    if connection.dialect.name == "postgresql":
        # What returns something is sent as one statement, not as one for each row.
        statement = statement.returning(*table.primary_key.columns)
    connection.execute(statement, rows)


def _continue_numbering(connection: Connection, tables: Sequence[Table]) -> None:
    """Let new rows be numbered after those that are there; undone with the transaction."""
    for table in tables:
        for column in table.primary_key.columns:
            name = _quoted(connection)(table.name)
            owned = text("SELECT pg_get_serial_sequence(:table, :column)")
            named = {"table": name, "column": column.name}
            sequence = connection.execute(owned, named).scalar()
            if sequence is not None:
                highest = connection.execute(table.select().with_only_columns(func.max(column)))
                following = (highest.scalar() or 0) + 1
                connection.execute(text(f"ALTER SEQUENCE {sequence} RESTART WITH {following}"))


def _quoted(connection: Connection) -> Callable[[str], str]:
    return connection.dialect.identifier_preparer.quote
