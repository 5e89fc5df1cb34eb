"""The base class of all tables, their types of columns, a kind of question's tables; the clock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

from sqlalchemy import (
    JSON,
    Column,
    DateTime,
    Dialect,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)
from sqlalchemy.orm import DeclarativeBase, MappedColumn, mapped_column
from sqlalchemy.types import TypeDecorator

from survey.core.studies.fields import FieldAnswer
from survey.core.studies.rankings import Ranking


def now() -> datetime:
    """Return the current time in UTC; all times that are stored come from here."""
    return datetime.now(UTC)


OF_ANSWERS = "as long as the participant"  # how long answers are stored


class UtcDateTime(TypeDecorator[datetime]):
    """A time with its zone, stored as UTC (SQLite has no time zones)."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Convert to UTC and drop the zone, which SQLite cannot store."""
        return value and value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Add the zone UTC to a stored time."""
        return value and value.replace(tzinfo=UTC)


class Labels(TypeDecorator[frozenset[int]]):
    """A set of label numbers 1, 2, …, stored as the sum of 2^(label−1).

    An integer, so that a CHECK constraint can compare it with the empty set, 0.
    """

    impl = Integer
    cache_ok = True

    def process_bind_param(self, value: frozenset[int] | None, dialect: Dialect) -> int | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Return the sum of the labels' bits."""
        return None if value is None else sum(1 << (label - 1) for label in value)

    def process_result_value(self, value: int | None, dialect: Dialect) -> frozenset[int] | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Return the labels whose bits are set."""
        return None if value is None else self.labels(value)

    @staticmethod
    def labels(bits: int) -> frozenset[int]:
        """Return the labels of a stored sum: {1, 3} for 5."""
        return frozenset(bit + 1 for bit in range(bits.bit_length()) if bits >> bit & 1)


class WeakOrder(TypeDecorator[Ranking]):
    """A ranking, stored as its competition ranks: {"A": 1, "B": 2, "C": 2}."""

    impl = JSON(none_as_null=True)
    cache_ok = True

    def process_bind_param(
        self,
        value: Ranking | None,
        dialect: Dialect,  # noqa: ARG002 - SQLAlchemy's signature
    ) -> Mapping[str, int] | None:
        """Return each list's place, as JSON."""
        return None if value is None else value.places

    def process_result_value(
        self,
        value: dict[str, int] | None,
        dialect: Dialect,  # noqa: ARG002 - SQLAlchemy's signature
    ) -> Ranking | None:
        """Rebuild the ranking from the places."""
        return None if value is None else Ranking.by_key(value)


def _extends(table: str, doc: str) -> MappedColumn[int]:
    """Return the key of a kind's table, the id of the row of a shared table that it extends."""
    key = ForeignKey(f"{table}.id", ondelete="CASCADE")
    return mapped_column(key, primary_key=True, doc=doc)


RowId = Annotated[int, mapped_column(primary_key=True, doc="number of the row")]
StudyId = Annotated[int, mapped_column(ForeignKey("study.id", ondelete="CASCADE"), doc="the study")]
OfParticipant = Annotated[int, mapped_column(ForeignKey("participant.id", ondelete="CASCADE"))]
OfResearcher = Annotated[int, mapped_column(ForeignKey("researcher.id", ondelete="CASCADE"))]
OfPresentation = Annotated[int, _extends("presentation", "of which presentation")]
OfResponse = Annotated[int, _extends("response", "of which answer")]
OfRevision = Annotated[int, _extends("revision", "of which revision")]
Seconds = Annotated[
    float | None, mapped_column(doc="seconds the page was in view, as the browser says")
]
Reason = Annotated[
    str | None, mapped_column(Text, doc="why, in the participant's words, where a reason is asked")
]
Asked = Annotated[
    str | None,
    mapped_column(String(16), doc="what the page asked back before it saved the answer"),
]
Beside = Annotated[
    dict[str, FieldAnswer] | None,
    mapped_column(
        JSON(none_as_null=True), doc="answers to what the plan asks beside each question, by name"
    ),
]
Text16 = Annotated[str, mapped_column(String(16))]
Text32 = Annotated[str, mapped_column(String(32))]
Text64 = Annotated[str, mapped_column(String(64))]
Text200 = Annotated[str, mapped_column(String(200))]
LongText = Annotated[str, mapped_column(Text)]
Moment = Annotated[datetime, mapped_column(UtcDateTime)]
JsonObject = Annotated[dict[str, Any], mapped_column(JSON)]
JsonList = Annotated[list[Any], mapped_column(JSON)]
Names = Annotated[list[str], mapped_column(JSON)]
Numbers = Annotated[list[int], mapped_column(JSON)]
Texts = Annotated[list[list[str]], mapped_column(JSON)]


class Base(DeclarativeBase):
    """The base of all tables; constraints have names so that migrations can refer to them.

    ``retention``: how long a row is stored. The privacy page lists it, with each column's ``doc``.
    """

    retention: ClassVar[str]

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


@dataclass(frozen=True)
class TaskTables:
    """The tables of a kind of question; each has the key of the shared table it extends.

    ``presentation``: how one participant is shown one question. ``response``: the answer that
    counts. ``revision``: every version of an answer, with the columns of ``response``. The
    columns beside the key are named as the fields of the kind's types in its package.
    ``step``: of a kind whose questions are answered in many small steps, each saved at once:
    rows of presentation_id, number (from 1) and the fields of the kind's type of a step.
    """

    presentation: Table
    response: Table
    revision: Table
    step: Table | None = None

    @property
    def all(self) -> list[Table]:
        """The tables that the kind has."""
        return [table for table in vars(self).values() if table is not None]


def key_of(table: Table) -> Column[int]:
    """Return the primary key of a kind's table, the id of the shared row."""
    [key] = table.primary_key.columns
    return key


def own_columns(table: Table) -> Sequence[Column[object]]:
    """Return a table's columns beside the key."""
    return [column for column in table.columns if not column.primary_key]


def own_values(table: Table, record: object) -> dict[str, object]:
    """Return what a record of a kind's type holds for a table's columns beside the key."""
    return {column.name: getattr(record, column.name) for column in own_columns(table)}
