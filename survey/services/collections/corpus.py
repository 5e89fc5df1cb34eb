"""Read the rows of a corpus that a study needs, as a stream: it may be larger than memory."""

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from survey.core.given_tables import (
    BYTE_ORDER_MARKS,
    GZIPPED,
    LONGEST_CELL,
    LONGEST_HEADING,
    Columns,
    split_rows,
    tidy,
)
from survey.core.text_input import FaultyFilesError

BYTES_AT_ONCE = 1_000_000  # of the file, between two reports of progress


class NeededRows(NamedTuple):
    """The content of a table with the rows that are needed, and how many others there are."""

    content: bytes
    others: int = 0


def read_needed_rows(
    path: Path,
    columns: Columns,
    is_needed: Callable[[str], bool],
    on_bytes: Callable[[int], object] = lambda _: None,
) -> NeededRows:
    """Read a table without the rows whose first needed column is not needed.

    An empty line stands for each of these, so that the others keep their numbers; the first of them
    stays. What is no JSON Lines, CSV or TSV in UTF-8 is read whole. ``on_bytes``: called with the
    bytes of the file that were read since its last call.
    """
    with path.open("rb") as file:
        is_packed = file.read(len(GZIPPED)) == GZIPPED
        file.seek(0)
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if is_packed else file
        try:
            key_of = _key_reader(stream.read(LONGEST_HEADING), path.name, columns)
            stream.seek(0)
            if key_of is None:
                return NeededRows(path.read_bytes())
            return _kept(_records(stream, key_of.is_quoted), key_of, is_needed, file, on_bytes)
        except (EOFError, gzip.BadGzipFile, OSError):  # the reader of the table says what it is
            return NeededRows(path.read_bytes())


class _KeyReader(NamedTuple):
    """How a row's key is read: of JSON by ``columns``, else the cell at ``place``."""

    columns: Columns
    place: int = -1
    separator: str = ""
    is_quoted: bool = False
    has_heading: bool = False

    def __call__(self, record: bytes) -> str | None:
        """Return the key of a row, None where it cannot be read."""
        try:
            text = record.decode()
            if self.place < 0:
                row = json.loads(text)
                keys = [key for key in row if self.columns.named(key) == self.columns.needed[0]]
                return tidy(str(row[keys[0]]))
            if not self.is_quoted:
                return tidy(text.split(self.separator)[self.place])
            lines = io.StringIO(text, newline="")
            return tidy(next(csv.reader(lines, delimiter=self.separator))[self.place])
        except (ValueError, TypeError, LookupError, StopIteration, csv.Error):
            return None


def _key_reader(top: bytes, file: str, columns: Columns) -> _KeyReader | None:
    """Return how rows' keys are read, by the beginning of a file; None where that is not known."""
    if any(top.startswith(mark) for mark, _ in BYTE_ORDER_MARKS):
        return None
    text = top.decode("utf-8-sig", errors="ignore")
    if (begin := text.lstrip()[:1]) in ("{", "[", ""):
        return _KeyReader(columns) if begin == "{" else None
    try:
        separator, rows = split_rows(text, file, columns)
        number, heading = next(rows, (0, []))
    except FaultyFilesError:
        return None
    names = [columns.named(cell) for cell in heading]
    if columns.needed[0] not in names:
        return None
    is_quoted = not (number == 0 and separator == "\t")
    place = names.index(columns.needed[0])
    return _KeyReader(columns, place, separator, is_quoted, has_heading=number > 0)


def _records(stream: BinaryIO, is_quoted: bool) -> Iterator[bytes]:
    """Yield the rows of a file with their line breaks, of which quotation marks may hold some."""
    record = b""
    while line := stream.readline(LONGEST_CELL):
        record += line
        if not (is_quoted and record.count(b'"') % 2) or len(record) >= LONGEST_CELL:
            yield record
            record = b""
    yield record


def _kept(
    records: Iterator[bytes],
    key_of: _KeyReader,
    is_needed: Callable[[str], bool],
    file: BinaryIO,
    on_bytes: Callable[[int], object],
) -> NeededRows:
    kept, others, done = io.BytesIO(), 0, 0
    is_below = not key_of.has_heading
    for record in records:
        key = key_of(record) if record.strip() else None
        is_other = is_below and key is not None and not is_needed(key)
        is_below = is_below or (key is not None and _is_heading(key, key_of.columns))
        kept.write(b"\n" if is_other and others else record)
        others += is_other
        if (place := file.tell()) - done >= BYTES_AT_ONCE:
            on_bytes(place - done)
            done = place
    on_bytes(file.tell() - done)
    return NeededRows(kept.getvalue(), max(0, others - 1))


def _is_heading(cell: str, columns: Columns) -> bool:
    return columns.named(cell.removeprefix("\ufeff").strip('"')) == columns.needed[0]
