"""What a CSV table of a bundle is: columns with their meanings, and lines made from a study."""

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

LINES_AT_ONCE = 1_000
SEEN = 4_096  # different values whose text is cached
TWO_DIGITS = [f"{number:02}" for number in range(60)]


@dataclass(frozen=True)
class Column:
    """A column: its meaning, the kind of its values, and which are allowed.

    ``source``: the database's column, from which all three are taken where it is set.
    """

    name: str
    meaning: str = ""
    kind: str = "text"
    allowed: str = ""
    source: InstrumentedAttribute[Any] | None = None


@dataclass(frozen=True)
class Table:
    """A file: its columns, and what makes the lines below the heading from a study's content."""

    name: str
    columns: Sequence[Column]
    body: Callable[[Content], Iterable[str]]

    def lines(self, content: Content) -> Iterator[str]:
        """Yield the file's text, many lines at a time; the same content gives the same bytes."""
        yield written([column.name for column in self.columns])
        yield from map("".join, batched(self.body(content)))


def lines_of(rows: Callable[[Content], Iterable[Row]]) -> Callable[[Content], Iterator[str]]:
    """Return the body of a table that has a line for each of these rows."""
    return lambda content: map(written, rows(content))


def written(row: Row) -> str:
    """Return a row's line: missing values empty, texts escaped so that no spreadsheet runs them."""
    return ",".join(map(cell_of, row)) + "\n"


def cell_of(cell: Cell) -> str:
    """Return a cell's text in a line."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, str):
        return text_of(cell)
    if isinstance(cell, bool):
        return str(int(cell))
    return time_of(cell) if isinstance(cell, datetime) else str(cell)


@lru_cache(SEEN)  # most texts are among a few, or like the one in the row above
def text_of(cell: str) -> str:
    """Return a text escaped so that no spreadsheet runs it, in quotes where it needs them."""
    return quoted(escaped(cell))


def time_of(cell: datetime | None) -> str:
    """Return a time in UTC, to the second; empty for None."""
    if cell is None:
        return ""
    # Put together by hand: four times as fast as strftime.
    t = cell.astimezone(UTC)
    return f"{_day(t.date())}T{TWO_DIGITS[t.hour]}:{TWO_DIGITS[t.minute]}:{TWO_DIGITS[t.second]}Z"


@lru_cache(SEEN)
def _day(day: date) -> str:
    return day.isoformat()


def spaced(parts: Iterable[object]) -> str:
    """Join values with spaces: how a cell holds a list."""
    return " ".join(map(str, parts))


def batched(items: Iterable[Item], number: int = LINES_AT_ONCE) -> Iterator[Sequence[Item]]:
    """Yield the items in lists of ``number``, the last one shorter."""
    iterator = iter(items)
    while batch := [*islice(iterator, number)]:
        yield batch
