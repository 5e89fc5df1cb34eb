"""CSV tables of a bundle: columns, lines, and the tables of participants."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy.orm import InstrumentedAttribute

from survey.core.studies.participant_fields import (
    MINUTES,
    PERSONAL,
    PersonalField,
    participant_columns,
)
from survey.core.studies.plan import Plan
from survey.db.export_queries import EXPORTED
from survey.db.models import Participant
from survey.services.analysis.study_results import minutes_taken
from survey.services.exchange.content import Content, IdentityRecord
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


IDENTITIES = "identities.csv"
PARTICIPANTS = "participants.csv"
PARTICIPANT = Column("participant", source=Participant.public_id)


def participants_table(plan: Plan) -> Table:
    """Return participants.csv, with a column for each personal field of the plan."""
    columns = []
    for name, field in participant_columns():
        if field == PERSONAL:
            columns += [_personal_column(each) for each in plan.personal_fields]
        else:
            columns.append(_COMPUTED.get(field) or Column(name, source=EXPORTED[field]))
    return Table(PARTICIPANTS, columns, _participants)


def identities_table(identities: Iterable[IdentityRecord]) -> Table:
    """Return identities.csv: personal data, which an export holds only on request."""
    columns = [
        Column("participant", "random id of the participant"),
        Column("external_id", "the recruitment platform's id of the person"),
        Column("parameters", "all that was kept of the address, as JSON"),
    ]

    @lines_of
    def rows(_: Content) -> Iterator[Row]:
        for person in identities:
            parameters = json.dumps(person.parameters, sort_keys=True)
            yield person.participant, person.external_id, parameters

    return Table(IDENTITIES, columns, rows)


@lines_of
def _participants(content: Content) -> Iterator[Row]:
    personal = [field.name for field in content.plan.personal_fields]
    names = [field for _, field in participant_columns()]
    place = names.index(PERSONAL)
    before, after = itemgetter(*names[:place]), itemgetter(*names[place + 1 :])
    for person in content.participants():
        values = {**vars(person), MINUTES: minutes_taken(person)}
        yield *before(values), *map(person.personal.get, personal), *after(values)


def _personal_column(field: PersonalField) -> Column:
    allowed = {
        "choice": "; ".join(field.options),
        "number": bounds_of(field),
        "text": "up to 500 characters",
    }[field.kind]
    kind = "whole number" if field.kind == "number" else "text"
    needed = "" if field.required else "; may be empty"
    return Column(field.name, f"asked: {field.label}", kind, allowed + needed)


def bounds_of(field: PersonalField) -> str:
    """Return the numbers that a field allows as text, "18 to 99"; "any" where it has no bound."""
    lowest, highest = ("any" if end is None else end for end in (field.lowest, field.highest))
    return f"{lowest} to {highest}"


# Columns of participants.csv that are no columns of the table of participants.
_COMPUTED = {
    "consent_version": Column(
        "consent_version",
        "version of the consent text agreed to (in study.json)",
        "whole number",
        "1, 2, …; may be empty",
    ),
    MINUTES: Column(
        MINUTES,
        "from the beginning to the end, breaks included",
        "number",
        "0 or more; empty if not finished",
    ),
}

# Columns of the tables that every study has which are in no file, each with its reason. Keys of
# rows need none: they mean nothing outside the database.
NOT_EXPORTED = {
    "participant.resume_hash": "belongs to the code with which a participant continues elsewhere",
    "participant.receipt": "a participant shows it to be credited, so it leads to a person",
    "participant.consented_at": "consent_version says what was agreed to",
    "participant.described_at": "the analysis counts from the beginning to the end",
    "participant.informed_at": "the analysis counts from the beginning to the end",
    "participant.last_seen_at": "serves to release unused places while a study runs",
    "revision.number": "only the answer that counts is exported, with its number of revisions",
    "revision.submitted_at": "only the answer that counts is exported",
    "revision.active_seconds": "only the answer that counts is exported",
}
