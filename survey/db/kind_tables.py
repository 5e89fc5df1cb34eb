"""The tables of a kind of question, made from the fields that its types declare."""

import inspect
from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)
from sqlalchemy.types import TypeEngine

from survey.core.studies.fields import Choice, ValueField, Whole, given_together, value_fields
from survey.db.models.base import OF_ANSWERS, Base, TaskTables, UtcDateTime

SHORT, LONG = 16, 64  # characters of words
KEY_DOCS = {
    "presentation": "of which presentation",
    "response": "of which answer",
    "revision": "of which revision",
}
# Of kinds from other packages: no migration of the survey knows their tables.
OUTSIDE = MetaData(naming_convention=Base.metadata.naming_convention)


def declared_tables(
    kind: str,
    presentation: type,
    answer: type,
    metadata: MetaData = OUTSIDE,
    step: type | None = None,
) -> TaskTables:
    """Return the tables of a kind whose types declare their fields; see ``Declared``.

    Each field is a column of its name and type, and a CHECK refuses what its rule does.
    """
    owners = {"presentation": presentation, "response": answer, "revision": answer}
    made = {what: _table(kind, what, owner, metadata) for what, owner in owners.items()}
    return TaskTables(**made, step=None if step is None else _step_table(kind, step, metadata))


def _step_table(kind: str, step: type, metadata: MetaData) -> Table:
    number = Column("number", Integer, primary_key=True, doc="1 for the first step")
    saved_at = Column("saved_at", UtcDateTime, nullable=False, doc="when it was saved")
    return _table(kind, "step", step, metadata, _key("presentation"), number, saved_at)


def _key(what: str) -> Column[int]:
    key = ForeignKey(Base.metadata.tables[what].c.id, ondelete="CASCADE")
    return Column(f"{what}_id", Integer, key, primary_key=True, doc=KEY_DOCS[what])


def _table(kind: str, what: str, owner: type, metadata: MetaData, *first: Column[Any]) -> Table:
    meaning = "A version of an answer." if what == "revision" else inspect.getdoc(owner)
    return Table(
        f"{kind}_{what}",
        metadata,
        *(first or [_key(what)]),
        *(_column(each) for each in value_fields(owner)),
        *_checks(owner),
        info={"meaning": meaning, "retention": OF_ANSWERS},
    )


def _column(field: ValueField) -> Column[Any]:
    return Column(field.name, _type(field), nullable=field.optional, doc=field.doc)


def _type(field: ValueField) -> TypeEngine[Any]:
    plain: dict[type, TypeEngine[Any]] = {bool: Boolean(), int: Integer(), float: Float()}
    if field.type not in (*plain, str):
        return JSON(none_as_null=True)
    if field.type in plain:
        return plain[field.type]
    longest = max((len(str(word)) for word in field.rule.words), default=None)
    if longest is None:
        return Text()
    return String(SHORT if longest <= SHORT else LONG)


def _checks(owner: type) -> Iterator[CheckConstraint]:
    """Yield what refuses a value that breaks its rule, and one that is not to be given."""
    for each in value_fields(owner):
        name, rule = each.name, each.rule
        if isinstance(rule, Choice):
            yield CheckConstraint(f"{name} IN ({_listed(rule.allowed)})", name=f"{name}_known")
        if isinstance(rule, Whole):
            low, high = rule.lowest, rule.highest
            limits = f"{name} BETWEEN {low} AND {high}"
            yield CheckConstraint(
                limits, name=f"{name}_from_{low}_to_{high}".replace("-", "minus_")
            )
        before, *allowed = rule.only_with
        if before:
            given = f"{name} IS NULL OR {before} IN ({_listed(allowed)})"
            yield CheckConstraint(given, name=f"{name}_only_with_{before}")
    for first, second in given_together(owner):
        both = f"({first.name} IS NULL) = ({second.name} IS NULL)"
        yield CheckConstraint(both, name=f"{second.name}_with_{first.name}")


def _listed(values: Iterable[object]) -> str:
    """Return values as SQL lists them; words of a declaration hold no quotation mark."""
    return ", ".join(repr(value) for value in values)
