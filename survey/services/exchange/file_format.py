"""Put files back into the format that the survey writes, where another program has saved them."""

import codecs
import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from survey.core.given_tables import SEPARATOR_LINE, SEPARATORS, with_point
from survey.core.text_input import csv_line
from survey.services.exchange.bundle import stable_json
from survey.services.exchange.input_files import parse_json

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
COMMA_NUMBER = re.compile(r"-?[0-9]+(,[0-9]+)?([eE][+-]?[0-9]+)?")
MISSING = ("NA", "NaN", "nan", "NULL", "None")  # R, pandas and databases, in columns of numbers
FLAGS_IN_WORDS = {
    **dict.fromkeys(("true", "wahr", "vrai", "verdadero"), "1"),
    **dict.fromkeys(("false", "falsch", "faux", "falso"), "0"),
}
CELLS = "numbers, times or flags written otherwise"
TIME_FORMATS = (
    *("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%d.%m.%Y %H:%M:%S"),
    *("%d.%m.%Y %H:%M", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M:%S"),
)

Rows = Sequence[Sequence[str]]
Rewriting = tuple[str, Sequence[str]]
"""A text, and what of the format differs from the file's."""


def rewritings(content: bytes, name: str) -> Iterator[Rewriting]:
    """Yield texts that a file may have been, with what of the format differs; the likeliest last.

    What cannot be told from the file, such as the order of rows, is not put back.
    """
    text, changes = _decoded(content)
    texts = [(text, changes)]
    if "\r" in text:
        unix = text.replace("\r\n", "\n")
        for other in (unix, unix.replace("\r", "\n")):
            texts.insert(0, (other, [*changes, "line ends"]))
    for written, so_far in texts:
        yield written, so_far
        whole = written.rstrip("\n") + "\n"
        if whole != written:
            yield whole, [*so_far, "the end of the last line"]
        if name.endswith(".csv"):
            yield from _table_rewritings(written, so_far)
        elif name.endswith(".json"):
            try:
                yield stable_json(parse_json(written)), [*so_far, "the layout of JSON"]
            except (ValueError, RecursionError):
                continue


def _decoded(content: bytes) -> Rewriting:
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace"), ["UTF-16 instead of UTF-8"]
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), ["Windows-1252 instead of UTF-8"]
    return text.removeprefix("\ufeff"), ["a byte order mark"] if text[:1] == "\ufeff" else []


def _table_rewritings(text: str, so_far: Sequence[str]) -> Iterator[Rewriting]:
    changes = [*so_far]
    body = SEPARATOR_LINE.sub("", text, count=1) if text.lower().startswith("sep=") else text
    first = body.partition("\n")[0]
    separator = max(SEPARATORS, key=first.count)
    if separator != ",":
        changes.append(f"{SEPARATORS[separator]} instead of commas")
    try:
        rows = [*csv.reader(io.StringIO(body, newline=""), delimiter=separator)]
    except csv.Error:
        return
    if first.endswith("\r") and "line ends" not in changes:
        changes.append("line ends")
    ordered = [*rows[:1], *sorted(rows[1:], key=lambda cells: [*map(_in_order, cells)])]
    if ordered != rows:
        yield "".join(map(csv_line, ordered)), [*changes, "the order of rows"]
    quoted = "".join(map(csv_line, rows))
    if separator == "," and quoted.count('"') != text.count('"'):
        changes.append("quotation marks")
    yield quoted, changes
    trimmed = _trimmed(rows)
    if trimmed != rows:
        changes = [*changes, "empty rows or columns"]
        yield "".join(map(csv_line, trimmed)), changes
    if len({len(cells) for cells in trimmed}) != 1:
        return  # reading says in which row
    columns = [_plain_cells(cells, separator) for cells in zip(*trimmed, strict=True)]
    plain = [*map(list, zip(*columns, strict=True))]
    if plain != trimmed:
        changes = [*changes, CELLS]
        yield "".join(map(csv_line, plain)), changes


def _trimmed(rows: Rows) -> Rows:
    """Leave out empty rows, and empty columns beyond the heading."""
    width = max((place for place, cell in enumerate(rows[0], 1) if cell), default=0) if rows else 0
    return [cells if any(cells[width:]) else cells[:width] for cells in rows if any(cells)]


def _plain_cells(cells: Sequence[str], separator: str) -> Sequence[str]:
    """Return a column as the survey writes it, where all of its cells were written otherwise."""
    heading, *rest = cells
    filled = [cell for cell in rest if cell and cell not in MISSING]
    if len(filled) < sum(map(bool, rest)) and all(map(NUMBER.fullmatch, filled)):
        rest = ["" if cell in MISSING else cell for cell in rest]
    filled = [cell for cell in rest if cell]
    if not filled:
        return [heading, *rest]
    if all(cell.lower() in FLAGS_IN_WORDS for cell in filled):
        return [heading, *(FLAGS_IN_WORDS.get(cell.lower(), "") for cell in rest)]
    if separator != "," and all(map(COMMA_NUMBER.fullmatch, filled)):
        rest = [with_point(cell) for cell in rest]
        filled = [cell for cell in rest if cell]
    if all(map(NUMBER.fullmatch, filled)):
        return [heading, *(re.sub(r"\.0+$", "", cell) for cell in rest)]
    times = [_time(cell) for cell in filled]
    if all(times):
        return [heading, *((_time(cell) or "") for cell in rest)]
    return [heading, *rest]


def _in_order(cell: str) -> tuple[float, str]:
    """Return by what most tables are sorted: numbers by their size, texts by their letters."""
    return (float(cell), "") if NUMBER.fullmatch(cell) else (math.inf, cell)


def _time(cell: str) -> str | None:
    """Return a time as the survey writes it, None for what is no time in another format."""
    for written in TIME_FORMATS:
        try:
            time = datetime.strptime(re.sub(r"(\+00:?00|Z| UTC)$", "", cell), written)
        except ValueError:
            continue
        return f"{time.isoformat()}Z"
    return None
