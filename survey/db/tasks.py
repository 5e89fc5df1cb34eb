"""What a kind of question stores of its own, beside the tables that all kinds share."""

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
    """The tables of a kind of question; the key of each is that of the row it belongs to.

    ``presentation``: how one participant is shown one question. ``response``: the answer that
    counts. ``revision``: an answer as it was given once, with the columns of ``response``. The
    columns beside the key are named as the fields of the kind's types in survey.core.tasks.
    """

    presentation: Table
    response: Table
    revision: Table

    @property
    def all(self) -> tuple[Table, ...]:
        """The three tables."""
        return self.presentation, self.response, self.revision


def key_of(table: Table) -> Column[int]:
    """Return the column that holds the id of the row a row belongs to."""
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
