"""What each column of a bundle and each field of the database means, as the models say.

The first is codebook.csv, the second the page about what the survey stores.
"""

import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import CheckConstraint
from sqlalchemy import Column as DatabaseColumn
from sqlalchemy.orm import InstrumentedAttribute

from survey.db.models import Base
from survey.db.tasks import TASK_TABLES
from survey.services.exchange.content import Content
from survey.services.exchange.csv_tables import Column, Row, Table, lines_of


def codebook_of(tables: Sequence[Table]) -> Table:
    """Return codebook.csv, a row for each column of these tables and of itself."""

    @lines_of
    def rows(_: Content) -> Iterator[Row]:
        for table in [*tables, book]:
            for column in table.columns:
                yield table.name, column.name, *describe_column(column)

    book = Table("codebook.csv", _COLUMNS, rows)
    return book


def describe_column(column: Column) -> tuple[str, str, str]:
    """Return a column's type, allowed values and meaning, taken from the database's if set."""
    if column.source is None:
        return column.kind, column.allowed, column.meaning
    stored = column.source.property.columns[0]
    kind, allowed = _kind_and_allowed(stored)
    listed = ", ".join(listed_values(column.source))
    empty = "may be empty" if stored.nullable else ""
    return kind, "; ".join(filter(None, (listed or allowed, empty))), stored.doc or ""


def _kind_and_allowed(stored: DatabaseColumn[object]) -> tuple[str, str]:
    """Return type and allowed values of an exported column, by the type of the stored one."""
    match type(stored.type).__name__:
        case "UtcDateTime":
            return "time", "ISO 8601, UTC"
        case "Boolean":
            return "whole number", "0 or 1"
        case "Integer":
            return "whole number", "0, 1, …"
        case "Float":
            return "number", "0 or more"
        case "Labels":
            return "whole numbers", "label numbers separated by spaces; empty with an own ranking"
        case "WeakOrder":
            return "text", "best first, > between places, = inside a tie: B>A=C"
        case "JSON":
            return "text", "separated by spaces"
    return "text", ""


def listed_values(source: InstrumentedAttribute[Any]) -> tuple[str, ...]:
    """Return the values that a CHECK constraint lists for the column, empty without one."""
    stored = source.property.columns[0]
    for constraint in stored.table.constraints:
        if isinstance(constraint, CheckConstraint):
            match = re.match(rf"{stored.name} IN \((.*)\)\Z", str(constraint.sqltext))
            if match:
                return tuple(value.strip(" '") for value in match.group(1).split(","))
    return ()


_COLUMNS = [
    Column("file", "name of a file of the bundle"),
    Column("column", "name of a column of the file"),
    Column("type", "what stands in it"),
    Column("allowed", "which values may stand in it"),
    Column("meaning", "what it means"),
]

# The people whom a table is about, in the order of the page; the tables of each kind follow.
ABOUT = {
    "Participants": (
        *("participant", "browser", "identity", "guest", "erasure"),
        *("presentation", "response", "revision"),
    ),
    "Studies": ("study", "question", "consent_text", "event"),
    "Researchers": ("researcher", "membership", "sign_in", "sign_in_link", "sign_in_throttle"),
}


@dataclass(frozen=True)
class StoredTable:
    """A table of the database: what a row is, how long it is stored, each field's purpose."""

    name: str
    meaning: str
    retention: str
    fields: tuple[tuple[str, str], ...]


def stored_tables() -> dict[str, list[StoredTable]]:
    """Return all tables of the database, grouped by the people whom they are about."""
    tables = {model.__tablename__: model for model in _models()}
    own = (table.name for kind in TASK_TABLES.values() for table in kind.all)
    about = ABOUT | {"Participants": (*ABOUT["Participants"], *own)}
    return {group: [_table(tables[name]) for name in names] for group, names in about.items()}


def _models() -> list[type[Base]]:
    return [mapper.class_ for mapper in Base.registry.mappers]


def _table(model: type[Base]) -> StoredTable:
    return StoredTable(
        name=model.__tablename__,
        meaning=(inspect.getdoc(model) or "").partition("\n\n")[0].replace("``", ""),
        retention=model.retention,
        fields=tuple((column.name, column.doc or "") for column in model.__table__.columns),
    )
