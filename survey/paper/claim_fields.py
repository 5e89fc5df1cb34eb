"""A claim's fields and the table that it is about: parsing, with the place of each fault."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from survey.core.statistics.unknown_pairing import Count
from survey.core.text_input import parse_number, shortened
from survey.services.exchange.input_files import BundleError, CsvRow


@dataclass
class Claimed:
    """A claim's fields and the table's rows; its methods parse a field.

    Each raises BundleError that names file, claim, field, what was found and what is allowed.
    ``place``: file and number of the claim; ``used``: the fields that were parsed.
    """

    place: str
    fields: Mapping[str, Any]
    table: str
    rows: Sequence[CsvRow]
    used: set[str] = field(default_factory=set)

    @property
    def columns(self) -> list[str]:
        """The table's columns; the first one names the rows."""
        return [*self.rows[0].cells]

    def fault(self, name: str, allowed: str) -> BundleError:
        """Return the error of a field."""
        value = self.fields.get(name)
        quoted = "nothing" if value is None else shortened(str(value))
        return BundleError(f"{self.place}, field {name}: {quoted} found; {allowed}")

    def value(self, name: str, default: Any = None) -> Any:
        """Return a field's value as it is in the file."""
        self.used.add(name)
        value = self.fields.get(name)
        return default if value is None else value

    def choice(self, name: str, allowed: Sequence[str], default: str | None = None) -> str:
        """Return one of some words."""
        value = str(self.value(name, default))
        if value not in allowed:
            raise self.fault(name, f"one of these is needed: {', '.join(allowed)}")
        return value

    def choices(self, name: str, allowed: Sequence[str]) -> list[str]:
        """Return one or more of some words; a single one needs no list."""
        value = self.value(name)
        words = [*map(str, value if isinstance(value, list) else [value])]
        if not words or not set(words) <= set(allowed):
            raise self.fault(name, f"one or more of these are needed: {', '.join(allowed)}")
        return words

    def column(self, name: str, default: str | None = None) -> str:
        """Return a column of the table."""
        return self.choice(name, self.columns, default)

    def share(self, name: str) -> float:
        """Return a number between 0 and 1, neither of them."""
        value = self.value(name)
        if not isinstance(value, float) or not 0 < value < 1:
            raise self.fault(name, "a number between 0 and 1 is needed")
        return value

    def chosen_rows(self) -> Sequence[CsvRow]:
        """Return the rows whose first cell is in the field ``rows``, by default all."""
        if self.value("rows") is None:
            return self.rows
        first = self.columns[0]
        names = self.choices("rows", [row.text(first) for row in self.rows])
        return [row for row in self.rows if row.text(first) in names]

    def row_of(self, by: str, name: str) -> CsvRow:
        """Return the only row with this name in the column ``by``."""
        rows = [row for row in self.rows if row.text(by) == name]
        if len(rows) != 1:
            raise BundleError(
                f"{self.table}, column {by}: {name!r} found {len(rows)} times; one row is needed"
            )
        return rows[0]

    def contenders(self) -> tuple[str, str, list[str]]:
        """Return the column of names, a claim's ``first``, and ``than``: by default all others."""
        by = self.column("by", self.columns[0])
        names = [*dict.fromkeys(row.text(by) for row in self.rows)]
        first = self.choice("first", names)
        others = [name for name in names if name != first]
        return by, first, self.choices("than", others) if self.value("than") else others

    def columns_compared(self) -> tuple[str, list[str]]:
        """Return a claim's ``first`` and ``than`` where both are columns."""
        first = self.column("first")
        return first, self.choices("than", [name for name in self.columns if name != first])


def number(row: CsvRow, column: str, lowest: float = 0, highest: float = math.inf) -> float:
    """Return a cell's number within the bounds; raises BundleError with the cell's place."""
    value = parse_number(row.text(column))
    if value is None or not lowest <= value <= highest:
        bounds = f"from {lowest:g} on" if math.isinf(highest) else f"{lowest:g} to {highest:g}"
        raise row.fault(column, f"a number is needed, {bounds}")
    return value


def count_of(row: CsvRow, column: str, of: Sequence[str]) -> Count:
    """Return a row's count out of the sum of the columns ``of``, whole numbers all."""
    successes = row.whole_number(column)
    trials = sum(row.whole_number(name) for name in of)
    if not 0 < trials >= successes:
        raise row.fault(column, f"at most {', '.join(of)} together, {trials}, is possible")
    return Count(successes, trials)
