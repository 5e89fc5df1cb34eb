"""What a file of a bundle is: named columns, and rows that are written the same each time."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy.orm import InstrumentedAttribute

from survey.services.exchange.content import Content
from survey.services.spreadsheets import escaped, quoted

Cell = str | int | float | Decimal | bool | datetime | None
Row = Sequence[Cell]
Item = TypeVar("Item")

AT_ONCE = 1_000  # lines that are written in one go
SEEN = 4_096  # different values that are remembered as they are written
SIXTY = [f"{number:02}" for number in range(60)]


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
    """A file: its columns, and the lines below their names from a study's content."""

    name: str
    columns: Sequence[Column]
    body: Callable[[Content], Iterable[str]]

    def lines(self, content: Content) -> Iterator[str]:
        """Write the file, many lines at a time; the same content gives the same bytes."""
        yield written([column.name for column in self.columns])
        yield from map("".join, batched(self.body(content)))


def lines_of(rows: Callable[[Content], Iterable[Row]]) -> Callable[[Content], Iterator[str]]:
    """Make the body of a table from its rows: one line each."""
    return lambda content: map(written, rows(content))


def written(row: Row) -> str:
    """Write a row: missing values empty, nothing that a spreadsheet would run."""
    return ",".join(map(cell_of, row)) + "\n"


def cell_of(cell: Cell) -> str:
    """Write a cell as it stands in a line."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, str):
        return text_of(cell)
    if isinstance(cell, bool):
        return str(int(cell))
    return moment_of(cell) if isinstance(cell, datetime) else str(cell)


@lru_cache(SEEN)  # most texts are among a few, or stand below their like
def text_of(cell: str) -> str:
    """Write a text, harmless to spreadsheets, in quotes where it needs them."""
    return quoted(escaped(cell))


def moment_of(cell: datetime | None) -> str:
    """Write a time to the second, in UTC: put together, four times as fast as strftime."""
    if cell is None:
        return ""
    t = cell.astimezone(UTC)
    return f"{_day(t.date())}T{SIXTY[t.hour]}:{SIXTY[t.minute]}:{SIXTY[t.second]}Z"


@lru_cache(SEEN)
def _day(day: date) -> str:
    return day.isoformat()


def spaced(parts: Iterable[object]) -> str:
    """Join with spaces, as lists stand in a cell."""
    return " ".join(map(str, parts))


def batched(items: Iterable[Item], number: int = AT_ONCE) -> Iterator[Sequence[Item]]:
    """Give items so many at a time."""
    rest = iter(items)
    while batch := [*islice(rest, number)]:
        yield batch
