"""What a file of a bundle is: named columns, and rows that are written the same each time."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy.orm import InstrumentedAttribute

from survey.services.exchange.content import Content
from survey.services.spreadsheets import escaped, line_of

Cell = str | int | float | Decimal | bool | datetime | None
Row = Sequence[Cell]


@dataclass(frozen=True)
class Column:
    """A column: what it means and what may stand in it.

    ``source``: the column of the database it comes from, which then says all that;
    otherwise ``kind``, ``allowed`` and ``meaning`` do.
    """

    name: str
    meaning: str = ""
    kind: str = "text"
    allowed: str = ""
    source: InstrumentedAttribute[Any] | None = None


@dataclass(frozen=True)
class Table:
    """A file: its columns, and its rows from a study's content."""

    name: str
    columns: Sequence[Column]
    rows: Callable[[Content], Iterable[Row]]

    def lines(self, content: Content) -> Iterator[str]:
        """Write the file line by line; the same content gives the same bytes."""
        yield written([column.name for column in self.columns])
        for row in self.rows(content):
            yield written(row)


def written(row: Row) -> str:
    """Write a row: missing values empty, nothing that a spreadsheet would run."""
    return line_of(map(_cell, row))


def _cell(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, datetime):
        return cell.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return escaped(cell) if isinstance(cell, str) else str(cell)


def spaced(parts: Iterable[object]) -> str:
    """Join with spaces, as lists stand in a cell."""
    return " ".join(map(str, parts))
