"""The tables of each kind of question, beside those that all kinds share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from sqlalchemy import Column, Table

from survey.core.studies.plan import Plan
from survey.db.models.ordering import (
    StoredOrderingAnswer,
    StoredOrderingPresentation,
    StoredOrderingRevision,
)


@dataclass(frozen=True)
class TaskTables:
    """The tables of a kind of question; each has the key of the shared table it extends.

    ``presentation``: how one participant is shown one question. ``response``: the answer that
    counts. ``revision``: every version of an answer, with the columns of ``response``. The
    columns beside the key are named as the fields of the kind's types in survey.core.tasks.
    """

    presentation: Table
    response: Table
    revision: Table

    @property
    def all(self) -> tuple[Table, ...]:
        """The three tables, in the order of their fields."""
        return self.presentation, self.response, self.revision


def key_of(table: Table) -> Column[int]:
    """Return the primary key of a kind's table, the id of the shared row."""
    [key] = table.primary_key.columns
    return key


def own_columns(table: Table) -> Sequence[Column[object]]:
    """Return a table's columns beside the key."""
    return [column for column in table.columns if not column.primary_key]


TASK_TABLES: dict[str, TaskTables] = {
    "ordering": TaskTables(
        presentation=cast(Table, StoredOrderingPresentation.__table__),
        response=cast(Table, StoredOrderingAnswer.__table__),
        revision=cast(Table, StoredOrderingRevision.__table__),
    )
}


def tables_of(plan: Plan) -> TaskTables:
    """Return the tables of a plan's kind of question."""
    return TASK_TABLES[plan.kind]
