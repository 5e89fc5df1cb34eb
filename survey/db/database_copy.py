"""Copies of a whole database: SQLite's pages, or rows between SQLite and PostgreSQL."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import JSON, Connection, MetaData, Table, Text, cast, event, func, text, tuple_
from sqlalchemy.engine.interfaces import ReflectedColumn
from sqlalchemy.engine.reflection import Inspector
from sqlalchemy.schema import sort_tables
from sqlalchemy.sql.elements import BindParameter, ColumnElement
from sqlalchemy.types import TypeDecorator

from survey.db.engine import sqlite_library
from survey.db.migration import known_tables, table_names

# Called with the pages or rows done so far and their total.
OnStep = Callable[[int, int], None]

PAGES_PER_STEP = 1_000
ROWS_PER_BATCH = 1_000


class PostgresJson(TypeDecorator[str]):
    """PostgreSQL's JSON, read and written as text, so that NULL and JSON's null stay apart."""

    impl = Text
    cache_ok = True

    def column_expression(self, column: ColumnElement[str]) -> ColumnElement[str]:
        """Cast a column to text where it is selected."""
        return cast(column, Text)

    def bind_expression(self, bindparam: BindParameter[str]) -> ColumnElement[str]:
        """Cast a text to JSON where it is inserted."""
        return cast(bindparam, JSON)


def copy_pages(source: Connection, target: Path, on_step: OnStep) -> None:
    """Copy the SQLite database as the transaction of ``source`` sees it, while others write.

    The copy is a single file without a log, which any version of SQLite can read.
    """
    live: Any = source.connection.dbapi_connection
    copy = sqlite_library().connect(target)
    try:
        live.backup(
            copy,
            pages=PAGES_PER_STEP,
            progress=lambda _, left, total: on_step(total - left, total),
        )
        copy.execute("PRAGMA journal_mode = DELETE")
    finally:
        copy.close()


def unknown_tables(source: Connection, target: Connection) -> list[str]:
    """Return the names of the source's tables that the target lacks and no model describes."""
    return sorted(_missing_names(source, target) - {*known_tables()})


def copy_rows(source: Connection, target: Connection, total: int, on_step: OnStep) -> None:
    """Copy all rows into empty tables of the same names, referenced tables first.

    Tables that no migration makes, of kinds of question from outside, are made where missing.
    """
    known = known_tables()
    for table in sort_tables([known[name] for name in _missing_names(source, target)]):
        table.create(target)
    target_tables = {table.name: table for table in _reflect_tables(target)}
    done = 0
    with _disabled_triggers(target):
        for table in _reflect_tables(source):
            for rows in _batches(source, table):
                _insert(target, target_tables[table.name], rows)
                done += len(rows)
                on_step(done, total)
    if target.dialect.name == "postgresql":
        _advance_sequences(target, list(target_tables.values()))


def remove_rows(connection: Connection) -> None:
    """Delete the rows of all tables, whatever triggers would forbid it."""
    with _disabled_triggers(connection):
        for table in reversed(_reflect_tables(connection)):
            connection.execute(table.delete())


def block_writers(connection: Connection) -> None:
    """Lock all tables against writing until this transaction ends, as SQLite does by itself."""
    if connection.dialect.name == "postgresql":
        names = ", ".join(map(_quoted(connection), table_names(connection)))
        connection.execute(text(f"LOCK TABLE {names} IN EXCLUSIVE MODE"))


def _missing_names(source: Connection, target: Connection) -> set[str]:
    return {*table_names(source)} - {*table_names(target)}


def _reflect_tables(connection: Connection) -> list[Table]:
    """Return the tables with the columns that the database has, referenced tables first."""
    metadata = MetaData()
    event.listen(metadata, "column_reflect", _read_json_as_text)
    metadata.reflect(connection, only=table_names(connection))
    return metadata.sorted_tables


@contextmanager
def _disabled_triggers(connection: Connection) -> Iterator[None]:
    """Switch triggers off, which would reject restored rows as changes of a frozen study."""
    if connection.dialect.name == "sqlite":
        triggers = connection.execute(
            text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
        ).all()
        for name, _ in triggers:
            connection.execute(text(f"DROP TRIGGER {_quoted(connection)(name)}"))
        yield
        for _, statement in triggers:
            connection.exec_driver_sql(statement)
    else:
        names = list(map(_quoted(connection), table_names(connection)))
        for name in names:
            connection.execute(text(f"ALTER TABLE {name} DISABLE TRIGGER USER"))
        yield
        for name in names:
            connection.execute(text(f"ALTER TABLE {name} ENABLE TRIGGER USER"))


def _read_json_as_text(inspector: Inspector, _: object, column: ReflectedColumn) -> None:
    if isinstance(column["type"], JSON):
        column["type"] = Text() if inspector.dialect.name == "sqlite" else PostgresJson()


def _batches(connection: Connection, table: Table) -> Iterator[Sequence[dict[str, object]]]:
    """Yield the rows in batches, by primary key: the driver would hold a whole result in memory."""
    key = list(table.primary_key.columns)
    page = table.select().order_by(*key).limit(ROWS_PER_BATCH)
    rows = connection.execute(page).mappings().all()
    while rows:
        yield [dict(row) for row in rows]
        last = [rows[-1][column.name] for column in key]
        rows = connection.execute(page.where(tuple_(*key) > tuple_(*last))).mappings().all()


def _insert(connection: Connection, table: Table, rows: Sequence[dict[str, object]]) -> None:
    statement = table.insert()
    if connection.dialect.name == "postgresql":
        # With RETURNING all rows are sent in one statement instead of one each.
        statement = statement.returning(*table.primary_key.columns)
    connection.execute(statement, rows)


def _advance_sequences(connection: Connection, tables: Sequence[Table]) -> None:
    """Let new ids follow the highest that was copied, else the next insert would fail."""
    for table in tables:
        for column in table.primary_key.columns:
            name = _quoted(connection)(table.name)
            query = text("SELECT pg_get_serial_sequence(:table, :column)")
            parameters = {"table": name, "column": column.name}
            sequence = connection.execute(query, parameters).scalar()
            if sequence is not None:
                highest = connection.execute(table.select().with_only_columns(func.max(column)))
                following = (highest.scalar() or 0) + 1
                connection.execute(text(f"ALTER SEQUENCE {sequence} RESTART WITH {following}"))


def _quoted(connection: Connection) -> Callable[[str], str]:
    return connection.dialect.identifier_preparer.quote
