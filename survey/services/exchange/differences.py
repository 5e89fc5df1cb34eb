"""Find the values in which a file differs from the published one, whatever its format."""

import csv
import io
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import NamedTuple

from survey.core.text_input import Json
from survey.services.exchange.file_format import NUMBER, Rows
from survey.services.exchange.input_files import parse_json

MOST_REPEATED = 60  # characters of a value
NUMBERS_ONLY = "how numbers are written"
SHOWN_BEFORE = 15  # characters that are equal, before those that differ
DIGITS = ".14g"  # spreadsheets round to 15 digits
EXACT = 1e14  # from here on, rounded whole numbers are other ones
# Columns that say what a row is about: by them a row is found in another table.
KEYS = ("participant", "question", "topic", "query", "document")


def table_of(text: str) -> Rows:
    """Return the rows of a CSV file, the heading first; that of no CSV is empty."""
    try:
        return [*csv.reader(io.StringIO(text, newline=""))] or [[]]
    except csv.Error:
        return [[]]


def differences(
    name: str, text: str, published: str, numbers: Container[str] = ()
) -> tuple[list[str], Sequence[str]]:
    """Return a sentence for each value that differs, or what of the format does.

    ``numbers``: the columns of a table that hold numbers. In others, 1.10 is not 1.1.
    """
    if name.endswith(".csv"):
        return _table_differences(table_of(text), table_of(published), numbers)
    if name.endswith(".json"):
        try:
            current = parse_json(text)
        except (ValueError, RecursionError) as error:
            return [f"it cannot be read as JSON ({error})"], ()
        return [*_json_differences(current, parse_json(published), "")], ["the layout of JSON"]
    current_lines, published_lines = text.split("\n"), published.split("\n")
    for number, (line, wanted) in enumerate(zip(current_lines, published_lines, strict=False), 1):
        if line != wanted:
            return [f"line {number}: {unlike(line, wanted)}"], ()
    return [f"{len(current_lines)} lines found; {len(published_lines)} were published"], ()


def _table_differences(
    current: Rows, published: Rows, numbers: Container[str]
) -> tuple[list[str], Sequence[str]]:
    heading, wanted = current[0], published[0]
    if not heading:
        return ["it cannot be read as CSV"], ()
    if "\0" in "".join(heading):
        return ["it cannot be read as text in UTF-8"], ()
    if not {*wanted} & {*heading}:
        return [f"row 1 is not the heading: {','.join(heading)[:MOST_REPEATED]!r} found"], ()
    for column in Counter(wanted) - Counter(heading):
        return [f"the column {column!r} is missing"], ()
    for column in Counter(heading) - Counter(wanted):
        if not column:
            return ["a column without a heading was added, such as row numbers"], ()
        return [f"the column {column[:MOST_REPEATED]!r} was added"], ()
    for number, cells in enumerate(current, 1):
        if len(cells) != len(heading):
            return [f"row {number}: {len(cells)} cells found; {len(heading)} are needed"], ()
    places = [heading.index(column) for column in wanted]
    ordered = [[cells[place] for place in places] for cells in current]
    pairs = unequal_rows(ordered, published, numbers)
    changes = {
        "the order of columns": places != sorted(places),
        "the order of rows": _values(ordered, wanted, numbers)
        != _values(published, wanted, numbers),
        NUMBERS_ONLY: Counter(map(tuple, ordered)) != Counter(map(tuple, published)),
    }
    changed = [change for change, is_so in changes.items() if is_so]
    sentences = [sentence for pair in pairs for sentence in _row_differences(wanted, pair, numbers)]
    return sentences, changed or ["quotation marks or line ends"]


def _row_differences(heading: Sequence[str], pair: "RowPair", numbers: Container[str]) -> list[str]:
    if pair.current is None:
        return [f"the published row {pair.published_number} is missing"]
    if pair.published is None:
        return [f"row {pair.current_number} was not published"]
    return [
        f"row {pair.current_number}, column {column}: {unlike(cell, original)}"
        for column, cell, original in unequal_cells(heading, pair, numbers)
    ]


class RowPair(NamedTuple):
    """Rows of two tables that are about the same and differ; None where one lacks the row."""

    current_number: int
    current: Sequence[str] | None
    published_number: int
    published: Sequence[str] | None


def unequal_rows(current: Rows, published: Rows, numbers: Container[str]) -> list[RowPair]:
    """Return the rows of two tables of the same columns that are not in both.

    Rows are paired that agree in the columns that say what they are about, then in their order.
    ``numbers``: the columns that hold numbers.
    """
    places = [place for place, column in enumerate(published[0]) if column in KEYS]
    current_values, published_values = (
        _values(rows, published[0], numbers) for rows in (current, published)
    )
    too_many = Counter(current_values) - Counter(published_values)
    lacking = Counter(published_values) - Counter(current_values)
    ours = _rows_of(current_values, too_many)
    theirs = _rows_of(published_values, lacking)
    waiting: dict[tuple[str, ...], list[int]] = {}
    for number in theirs:
        waiting.setdefault(_key(published_values[number], places), []).append(number)
    pairs = []
    for number in ours:
        alike = waiting.get(_key(current_values[number], places))
        other = alike.pop(0) if alike else None
        wanted = None if other is None else published[other]
        pairs.append(RowPair(number + 1, current[number], (other or 0) + 1, wanted))
    left = sorted(number for numbers in waiting.values() for number in numbers)
    return _paired(pairs, left, published)


def _paired(pairs: list[RowPair], left: list[int], published: Rows) -> list[RowPair]:
    """Pair what no key has paired by its order, where a key's cell itself was changed."""
    alone = [place for place, pair in enumerate(pairs) if pair.published is None]
    if len(alone) == len(left):
        for place, number in zip(alone, left, strict=True):
            pair = pairs[place]
            pairs[place] = RowPair(pair.current_number, pair.current, number + 1, published[number])
        return pairs
    return pairs + [RowPair(0, None, number + 1, published[number]) for number in left]


def _rows_of(values: Sequence[tuple[str, ...]], wanted: Counter[tuple[str, ...]]) -> list[int]:
    """Return the places of rows, of equal ones the last."""
    rest, places = Counter(wanted), []
    for place in reversed(range(len(values))):
        if rest[values[place]] > 0:
            rest[values[place]] -= 1
            places.append(place)
    return places[::-1]


def _key(values: Sequence[str], places: Sequence[int]) -> tuple[str, ...]:
    return tuple(values[place] for place in places if place < len(values))


def unequal_cells(
    heading: Sequence[str], pair: RowPair, numbers: Container[str]
) -> list[tuple[str, str, str]]:
    """Return column and both cells wherever two rows differ."""
    return [
        (column, cell, original)
        for column, cell, original in zip(
            heading, pair.current or (), pair.published or (), strict=False
        )
        if cell != original and not (column in numbers and _number(cell) == _number(original))
    ]


def row_about(table: Rows, heading: Sequence[str], cells: Sequence[str]) -> int | None:
    """Return the number of the only row of a table that is about the same as another's cells."""
    shared = [column for column in KEYS if column in heading and column in table[0]]
    wanted = tuple(cells[heading.index(column)] for column in shared)
    places = [table[0].index(column) for column in shared]
    rows = [number for number, row in enumerate(table, 1) if _key(row, places) == wanted]
    return rows[0] if shared and len(rows) == 1 else None


def _values(rows: Rows, heading: Sequence[str], numbers: Container[str]) -> list[tuple[str, ...]]:
    """Return rows in which numbers that differ in their writing only are equal."""
    are_numbers = [column in numbers for column in heading]
    return [
        tuple(
            _number(cell) if is_number else cell
            for cell, is_number in zip(cells, are_numbers, strict=False)
        )
        for cells in rows
    ]


def _number(cell: str) -> str:
    """Return a number as it is compared, whatever its writing; other cells as they are."""
    if not NUMBER.fullmatch(cell) or abs(number := float(cell)) >= EXACT:
        return cell
    return format(number, DIGITS)


def _json_differences(current: Json, published: Json, place: str) -> Iterator[str]:
    if isinstance(current, Mapping) and isinstance(published, Mapping):
        for name in [*published, *(name for name in current if name not in published)]:
            inside = f"{place}, {name}".removeprefix(", ")
            if name not in current or name not in published:
                yield f"{inside} {'was added' if name in current else 'is missing'}"
            else:
                yield from _json_differences(current[name], published[name], inside)
    elif (
        isinstance(current, list) and isinstance(published, list) and len(current) == len(published)
    ):
        for number, (item, wanted) in enumerate(zip(current, published, strict=True), 1):
            yield from _json_differences(item, wanted, f"{place} {number}")
    elif _json_value(current) != _json_value(published):
        yield f"{place}: {unlike(current, published)}"


def _json_value(value: Json) -> Json:
    """Return a value so that numbers that are only written otherwise are equal."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) >= EXACT:
        return repr(value)
    try:
        return format(float(value), DIGITS)
    except OverflowError:
        return repr(value)


def unlike(value: object, other: object, verb: str = "found") -> str:
    """Return two values that differ, each from a little before the first difference on."""
    are_texts = isinstance(value, str) and isinstance(other, str)
    texts = [str(side) if are_texts else repr(side) for side in (value, other)]
    pairs = enumerate(zip(*texts, strict=False))
    same = next((place for place, (ours, theirs) in pairs if ours != theirs), min(map(len, texts)))
    start = max(0, same - SHOWN_BEFORE) if max(map(len, texts)) > MOST_REPEATED else 0
    shown = [_short(text, start, is_text=are_texts) for text in texts]
    return f"{shown[0]} {verb}; {shown[1]} was published"


def _short(text: str, start: int, *, is_text: bool) -> str:
    part = text[start : start + MOST_REPEATED]
    part = repr(part) if is_text else part
    return f"{'…' * (start > 0)}{part}{'…' * (start + MOST_REPEATED < len(text))}"
