"""Tables that researchers give: one reader for all, whatever program wrote them.

A file is text in UTF-8, or in UTF-16 with its mark, packed by gzip or not. It is CSV with commas,
semicolons or tabs between cells, JSON Lines, or a JSON array of objects. Its heading may be in any
case and order; columns and rows that hold nothing do not count. Encodings are not guessed.
"""

import codecs
import csv
import gzip
import io
import json
import re
import unicodedata
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePath
from typing import Any, Literal

from survey.core.text_input import (
    FaultyFilesError,
    FileFaults,
    lines_of,
    parse_number,
    shortened,
)

LARGEST_UNPACKED = 2_000_000_000  # bytes
LARGEST_TABLE = 200_000_000  # bytes of a table of items, topics or vectors, packed or not
LONGEST_CELL = 20_000_000  # characters; whole pages, too long ones too, are read to name their row
csv.field_size_limit(LONGEST_CELL)  # of the process: 131,072 otherwise
LONGEST_HEADING = 1_000_000  # characters
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
# The line by which Excel names the separator.
SEPARATOR_LINE = re.compile(r'"?sep=([^\w\s"]|\t|)[^\r\n]*(\r\n?|\n|\Z)', re.IGNORECASE)
GZIPPED = b"\x1f\x8b"
BYTE_ORDER_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# By the first bytes of a file: what it is, and what to do.
UNPACK = "Unpack it, or pack it with gzip"
FOREIGN_TABLES = {
    b"7z\xbc\xaf\x27\x1c": ("packed with 7-Zip", UNPACK),
    b"\x28\xb5\x2f\xfd": ("packed with Zstandard", UNPACK),
    b"BZh": ("packed with bzip2", UNPACK),
    b"\xfd7zXZ\0": ("packed with xz", UNPACK),
    b"Rar!\x1a\x07": ("packed with RAR", UNPACK),
    b"PK\x03\x04": ("a zip", UNPACK),
    b"\xd0\xcf\x11\xe0": ("an old Excel or Word file", "Save it as “CSV UTF-8”"),
    b"%PDF": ("a PDF", "A text file is needed"),
    b"\x89PNG": ("a picture", "A text file is needed"),
    b"\xff\xd8\xff": ("a picture", "A text file is needed"),
    b"PAR1": ("a Parquet file", "Save it as CSV or JSON Lines"),
    b"\x93NUMPY": ("an array of numpy", "Write what it holds to a text file"),
    b"SQLite format 3\0": ("an SQLite database", "Save its table as CSV"),
}
MEDIA = {
    "audio": (".mp3", ".wav", ".ogg", ".oga", ".m4a", ".flac", ".aac", ".opus", ".wma", ".aiff"),
    "video": (".mp4", ".mov", ".avi", ".mkv", ".webm", ".m4v", ".mpg", ".mpeg", ".wmv", ".ogv"),
}
# By the bytes at a place in the file.
MEDIA_BYTES = {
    **{(0, mark): "audio" for mark in (b"ID3", b"fLaC", b"OggS", b"\xff\xfb", b"\xff\xf3")},
    **{(8, b"WAVE"): "audio", (4, b"ftypM4A"): "audio"},
    **{(8, b"AVI "): "video", (0, b"\x1aE\xdf\xa3"): "video"},
    **{
        (4, b"ftyp" + brand): "video"
        for brand in (b"mp4", b"isom", b"iso2", b"avc1", b"qt", b"M4V")
    },
}
SHOWABLE = "Pictures and texts can be shown"
HTML = ("a web page", "Save the file itself, not the page that shows it")
TAR = ("a tar archive", "Unpack it, and give the file that is in it")
TREC_TOPICS = ("a file of TREC topics", "Write it as a table with the columns topic and text")
TOPS = {b"<!doctype html": HTML, b"<html": HTML, b"<top>": TREC_TOPICS}
# A zip that is a file of Excel, LibreOffice or Numbers, by its ending or by what is in it.
OFFICE = ("a spreadsheet or a document", "Save it as “CSV UTF-8”")
OFFICE_ENDINGS = (".xlsx", ".xlsm", ".ods", ".numbers", ".docx")
OFFICE_PARTS = (b"[Content_Types].xml", b"mimetypeapplication/vnd.")


# How columns of MTurk begin, and words in those that hold a column of ours.
MTURK = ("Input.", "Answer.")
MTURK_COLUMNS = {"topic": ("Input.", ("query", "topic")), "document": ("Input.", ("doc", "image"))}


OTHER_NAMES_OF_TOPIC = dict.fromkeys(
    ("topic_id", "query_id", "query-id", "qid", "_id", "id"), "topic"
)


@dataclass(frozen=True)
class Columns:
    """The columns of a type of table: those it needs, those it may have, and other names of them.

    ``bare``: the columns of a file without a heading, where that is allowed: several with tabs
    between them, or a single one.
    """

    needed: Sequence[str]
    more: Sequence[str] = ()
    others: Mapping[str, str] = field(default_factory=dict)
    bare: Sequence[str] = ()

    def named(self, heading: str) -> str:
        """Return a column by what stands over it in a file."""
        name = " ".join(heading.split()).casefold()
        if name in (*self.needed, *self.more):
            return name
        return self.others.get(name, name)


@dataclass(frozen=True)
class GivenRow:
    """A row of a table: its number in the file, where the heading is row 1, and its cells."""

    file: str
    number: int
    cells: Mapping[str, str]
    decimal_comma: bool = False

    def __getitem__(self, column: str) -> str:
        """Return a cell, "" where the file has no such column."""
        return self.cells.get(column, "")

    def number_in(self, column: str) -> float | None:
        """Return the number in a cell, None where it is none; 0,5 where no commas separate."""
        text = self[column]
        return parse_number(with_point(text) if self.decimal_comma else text)

    def fault(self, column: str, what: str) -> str:
        """Return the sentence about a cell: ``what`` is allowed there."""
        return f"{self.file}, row {self.number}, column {column}: {what}"


@dataclass(frozen=True)
class GivenTable:
    """What was read of a file: its rows, how it was read, and the columns that were not."""

    file: str
    rows: Sequence[GivenRow]
    read_as: str
    columns: Sequence[str]
    columns_not_read: Sequence[str]


def unpacked(content: bytes, file: str, largest: int = LARGEST_UNPACKED) -> bytes:
    """Return a file's bytes, of a gzip file those in it; raise FaultyFilesError for other packs.

    ``largest``: how many bytes may be in it, since a small file can unpack to any size.
    """
    if content.startswith(GZIPPED):
        try:
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
                content = stream.read(largest + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise FaultyFilesError(
                [f"{file} begins like a gzip file, but is none, or is cut off"]
            ) from None
        if len(content) > largest:
            fault = f"{file} unpacks to more than {largest:,} bytes; no more are allowed"
            raise FaultyFilesError([fault])
    if description := foreign_file(content, file):
        raise FaultyFilesError([f"{file} is {description[0]}. {description[1]}"])
    return content


def media_of(file: str, content: bytes = b"") -> str | None:
    """Return whether a file is "audio" or "video", by its ending or by its bytes."""
    by_ending = (media for media, ends in MEDIA.items() if file.lower().endswith(ends))
    by_bytes = (
        media for (start, mark), media in MEDIA_BYTES.items() if content.startswith(mark, start)
    )
    return next(chain(by_ending, by_bytes), None)


def foreign_file(content: bytes, file: str) -> tuple[str, str] | None:
    """Return what a file is and what to do with it, None where it can be a text."""
    if media := media_of(file, content[:16]):
        return media, SHOWABLE
    top = content[:512].lstrip().lower()
    description = next(
        (description for mark, description in TOPS.items() if top.startswith(mark)), None
    )
    description = description or next(
        (description for mark, description in FOREIGN_TABLES.items() if content.startswith(mark)),
        None,
    )
    is_office = PurePath(file).suffix.lower() in OFFICE_ENDINGS
    if content.startswith(b"PK\x03\x04") and (
        is_office or any(part in content for part in OFFICE_PARTS)
    ):
        return OFFICE
    return TAR if content[257:262] == b"ustar" else description


def text_in(content: bytes, file: str, largest: int = LARGEST_UNPACKED) -> str:
    """Return the text of a file; raise FaultyFilesError with the row that is not UTF-8."""
    content = unpacked(content, file, largest)
    for mark, encoding in BYTE_ORDER_MARKS:
        if content.startswith(mark):
            try:
                return content[len(mark) :].decode(encoding)
            except UnicodeDecodeError:
                raise FaultyFilesError([f"{file}: UTF-16 that is damaged or cut off"]) from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = len((error.object[: error.start] + b".").splitlines())
        is_table = PurePath(file).suffix.lower() in (".csv", ".tsv")
        remedy = "In Excel, save as “CSV UTF-8”" if is_table else "Save it as UTF-8"
        raise FaultyFilesError([f"{file}, row {row}: not UTF-8. {remedy}"]) from None
    if "\0" in text:
        raise FaultyFilesError([f"{file} holds bytes that no text in UTF-8 has. Save it as UTF-8"])
    return text


def read_table(content: bytes, file: str, columns: Columns) -> GivenTable:
    """Read a table that has these columns; raise FaultyFilesError with all that is wrong.

    Cells are in NFC, without blanks around them.
    """
    return table_in(text_in(content, file, LARGEST_TABLE), file, columns)


def table_in(text: str, file: str, columns: Columns) -> GivenTable:
    """Read a table from its text, see ``read_table``."""
    text = text.removeprefix("\ufeff")
    top = text.lstrip()[:1]
    if top == "{" or (top == "[" and _is_json(text)):
        return _of_json(text, file, columns)
    return _of_cells(text, file, columns)


def heading_names(line: str, columns: Columns) -> set[str]:
    """Return the names of columns in a line that may be the heading of a table."""
    separator = max(SEPARATORS, key=lambda each: _fit(line, each, columns))
    return {columns.named(cell) for cell in _heading(line, separator)}


def _is_json(text: str) -> bool:
    return text.lstrip()[1:].lstrip()[:1] in ("{", "]")


def _of_cells(text: str, file: str, columns: Columns) -> GivenTable:
    faults = FileFaults()
    separator, rows = split_rows(text, file, columns)
    _, heading = next(rows, (0, []))
    names = [columns.named(cell) for cell in heading]
    check_heading(names, heading, file, columns)
    wanted = {*columns.needed, *columns.more}
    comma = separator != ","
    table = []
    for number, cells in rows:
        if any(cells[len(names) :]):
            last = max(place for place, cell in enumerate(cells, 1) if cell)
            held = SEPARATORS.get(separator, f"“{separator}”")
            faults.add(
                f"{file}, row {number}: {last} cells found, the last of them "
                f"{shortened(cells[last - 1])}; the heading has {len(names)}. A cell that holds "
                f"{held} needs quotation marks around it",
                number,
            )
        nameless = [cell for name, cell in zip(names, cells, strict=False) if cell and not name]
        if nameless:
            faults.add(
                f"{file}, row {number}: {shortened(nameless[0])} found in a column without a "
                "heading; write one over it",
                number,
            )
        kept = {name: cell for name, cell in zip(names, cells, strict=False) if name in wanted}
        table.append(GivenRow(file, number, kept, comma))
    faults.raise_any()
    not_read = [
        cell for name, cell in zip(names, heading, strict=False) if name and name not in wanted
    ]
    how = f"CSV with {SEPARATORS.get(separator, separator)}"
    return GivenTable(file, table, how, _known(names, wanted), not_read)


def _known(names: Sequence[str], wanted: set[str]) -> list[str]:
    return [name for name in names if name in wanted]


def check_heading(
    names: Sequence[str], heading: Sequence[str], file: str, columns: Columns
) -> None:
    """Raise one fault for all that is wrong with a heading; ``names``: the columns it names."""
    needed = ", ".join(columns.needed)
    if not any(heading):
        raise FaultyFilesError([f"{file} is empty. Columns needed: {needed}"])
    missing = [name for name in columns.needed if name not in names]
    found = ", ".join(cell for cell in heading if cell)
    if missing:
        of = "column" if len(missing) == 1 else "columns"
        remedy = _heading_remedy(heading, missing) if len(missing) == len(columns.needed) else ""
        raise FaultyFilesError(
            [f"{file}: no {of} {', '.join(missing)}. Columns found: {found[:300]}{remedy}"]
        )
    wanted = [name for name in dict.fromkeys(names) if name in (*columns.needed, *columns.more)]
    twice = [name for name in wanted if names.count(name) > 1]
    if twice:
        again = f"{', '.join(twice)} found twice in the heading"
        raise FaultyFilesError([f"{file}: {again}. Columns found: {found[:300]}"])


def _heading_remedy(heading: Sequence[str], missing: Sequence[str]) -> str:
    """Return what to do where a first row names no column that is needed, "" if that is open."""
    if any(cell.startswith(MTURK) for cell in heading):
        renamed: dict[str, str] = {}
        for name in missing:
            start, words = MTURK_COLUMNS.get(name, ("Answer.", ("",)))
            for cell in heading:
                if cell.startswith(start) and any(word in cell.lower() for word in words):
                    renamed.setdefault(cell, name)
        named = ", ".join(f"{cell} to {name}" for cell, name in renamed.items())
        return f". These columns are MTurk's: rename {named}" if named else ""
    if any(parse_number(cell) is not None for cell in heading):
        needed = "a table needs a first row with the names of its columns"
        return f". The first row looks like data; {needed}"
    return ""


def split_rows(
    text: str, file: str, columns: Columns
) -> tuple[str, Iterator[tuple[int, list[str]]]]:
    """Return what separates cells, and number and cells of each row that is not empty.

    The heading comes first. A file that has none, where that is allowed, gets the one of
    ``columns.bare``, as row 0.
    """
    line = SEPARATOR_LINE.match(text)
    first, below = (2, text[line.end() :]) if line else (1, text)
    separator = (line and line[1]) or max(SEPARATORS, key=lambda each: _fit(below, each, columns))
    has_none = not line and not _fit(below, separator, columns)[0]
    if has_none and len(columns.bare) == len(_heading(below, "\t")) > 1:
        separator = "\t"  # without a heading; commas are the text's
    heading = _heading(below, separator)
    names = {columns.named(cell) for cell in heading}
    is_heading = bool(names & {*columns.needed, *columns.more})
    is_bare = 0 < len(heading) == len(columns.bare) and not is_heading
    is_bare = is_bare and (separator == "\t" or len(heading) == 1)
    # Lists of queries hold quotation marks that enclose nothing.
    rows = _split(below, separator, file, first, is_quoted=not (is_bare and separator == "\t"))
    filled = ((number, cells) for number, cells in rows if any(cells))
    return separator, chain([(0, [*columns.bare])], filled) if is_bare else filled


def _fit(text: str, separator: str, columns: Columns) -> tuple[int, int]:
    """Return how many of the needed columns a separator gives, and how many cells."""
    heading = _heading(text, separator)
    names = {columns.named(cell) for cell in heading}
    return sum(name in names for name in columns.needed), len(heading)


def _heading(text: str, separator: str) -> list[str]:
    """Return the cells of the first row that holds something, without empty ones at its end."""
    quotes = _quoting(is_quoted=separator != "\t")
    blank = "".join(SEPARATORS) + " "
    try:
        top = io.StringIO(text[:LONGEST_HEADING], newline="")
        rows = csv.reader(top, delimiter=separator, quoting=quotes)
        cells = next((cells for cells in rows if any(cell.strip(blank) for cell in cells)), [])
    except csv.Error:  # the row is refused where the table is read
        return []
    while cells and not cells[-1].strip():
        cells.pop()
    return [tidy(cell.strip('"')) for cell in cells]


def _quoting(*, is_quoted: bool) -> Literal[0, 3]:
    return csv.QUOTE_MINIMAL if is_quoted else csv.QUOTE_NONE


def _split(
    text: str, separator: str, file: str, first: int, *, is_quoted: bool
) -> Iterator[tuple[int, list[str]]]:
    """Yield number and cells of each row, of quoted line breaks too."""
    number = first - 1
    try:
        for cells in csv.reader(
            io.StringIO(text, newline=""),
            delimiter=separator,
            skipinitialspace=separator != "\t",
            quoting=_quoting(is_quoted=is_quoted),
            strict=True,  # else a quotation mark that is not closed would take in all that follows
        ):
            number += 1
            yield number, [tidy(cell) for cell in cells]
    except csv.Error as error:
        fault = "a quotation mark is not closed, or is closed before its cell ends"
        if "limit" in str(error):
            fault = f"a cell has more than {csv.field_size_limit():,} characters"
        allowed = "Quotation marks enclose a whole cell; a mark within it is written twice"
        raise FaultyFilesError([f"{file}, row {number + 1}: {fault}. {allowed}"]) from None


def with_point(number: str) -> str:
    """Return a number with its decimal comma as a point."""
    return number if "." in number else number.replace(",", ".", 1)


def tidy(cell: str) -> str:
    """Return a cell as it is compared: in NFC, without blanks around it."""
    return unicodedata.normalize("NFC", cell.strip())


def _of_json(text: str, file: str, columns: Columns) -> GivenTable:
    is_lines = text.lstrip().startswith("{")
    faults, wanted = FileFaults(), {*columns.needed, *columns.more}
    keys: dict[str, str] = {}  # of the file → column, in their order
    rows = []
    for number, value in json_rows(text, file, is_lines=is_lines):
        if isinstance(value, dict):
            keys |= {key: _column_of(key, value, columns) for key in value if key not in keys}
            kept = {key: cell for key, cell in value.items() if keys[key] in wanted}
            cells = {keys[key]: _json_cell(cell) for key, cell in kept.items() if cell is not None}
            odd = [key for key, cell in kept.items() if isinstance(cell, dict | list | bool)]
            found = f"column {odd[0]}: {shortened(json.dumps(kept[odd[0]]))}" if odd else ""
            allowed = "found; a text or a number is allowed"
            rows.append(GivenRow(file, number, cells))
        else:
            found, allowed = shortened(json.dumps(value)), "found; an object is needed"
        if found:
            faults.add(f"{file}, row {number}, {found} {allowed}", number)
    faults.raise_any()
    check_heading([*keys.values()], [*keys], file, columns)
    not_read = [key for key, name in keys.items() if name not in wanted]
    how = "JSON Lines" if is_lines else "a JSON array"
    return GivenTable(file, rows, how, _known([*keys.values()], wanted), not_read)


def json_rows(text: str, file: str, *, is_lines: bool) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each line, or of each element of an array."""
    if not is_lines:
        yield from enumerate(_parsed(text, file), 1)
        return
    for number, line in enumerate(lines_of(text), 1):
        if line.strip():
            yield number, _parsed(line, f"{file}, row {number}")


def _json_cell(cell: object) -> str:
    return tidy(cell if isinstance(cell, str) else repr(cell))


def _column_of(key: str, value: Mapping[str, object], columns: Columns) -> str:
    """Return a key's column; another name of one does not count beside the column itself."""
    name = columns.named(key)
    own = " ".join(key.split()).casefold()
    others = {columns.named(each) for each in value if each != key}
    return own if own != name and name in others else name


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FaultyFilesError([f"{place}: cannot be read as JSON ({error})"]) from None
