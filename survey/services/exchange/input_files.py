"""Reading a bundle's CSV files: every fault with its file, row and column.

Telling the faults of several rows together.

From a zip or a folder to the bytes of a bundle's files.
"""

import csv
import io
import json
import lzma
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any

from survey.core.studies.marks import KINDS
from survey.core.studies.rankings import Ranking
from survey.errors import SurveyError
from survey.services.spreadsheets import unescaped


class BundleError(SurveyError):
    """A bundle that cannot be read or does not agree; its text names the place."""


@dataclass(frozen=True)
class SheetRow:
    """A row of a file; ``number`` counts from 1, the heading being row 1."""

    file: str
    number: int
    cells: dict[str, str]

    def fault(self, column: str, allowed: str) -> BundleError:
        """Return the error of a cell that cannot be."""
        found = self.cells.get(column, "")
        return BundleError(
            f"{self.file}, row {self.number}, column {column}: {found[:60]!r} found; {allowed}"
        )

    def text(self, column: str) -> str:
        """Return a cell that may not be empty."""
        cell = self.optional(column)
        if cell is None:
            raise self.fault(column, "a value is needed")
        return cell

    def optional(self, column: str) -> str | None:
        """Return a cell, None where it is empty or the file has no such column."""
        cell = self.cells.get(column, "")
        return unescaped(cell) if cell else None

    @property
    def marks(self) -> dict[str, str]:
        """The cells of grades, weights and clusters."""
        return {kind: self.optional(kind) or "" for kind in KINDS}

    def whole(self, column: str) -> int:
        """Return a whole number from 0 on."""
        cell = self.text(column)
        if not (cell.isascii() and cell.isdecimal() and len(cell) < 12):
            raise self.fault(column, "a whole number is needed")
        return int(cell)

    def optional_whole(self, column: str) -> int | None:
        """Return a whole number, None where there is none."""
        return None if self.optional(column) is None else self.whole(column)

    def real(self, column: str) -> float | None:
        """Return a number from 0 on, None where there is none."""
        cell = self.optional(column)
        try:
            number = None if cell is None else float(cell)
        except ValueError:
            number = math.nan
        if number is not None and not 0 <= number < math.inf:
            raise self.fault(column, "a number from 0 on is needed")
        return number

    def yes(self, column: str) -> bool:
        """Return 0 or 1 as a truth value; empty counts as 0."""
        cell = self.optional(column) or "0"
        if cell not in ("0", "1"):
            raise self.fault(column, "0 or 1 is needed")
        return cell == "1"

    def moment(self, column: str) -> datetime | None:
        """Return a time in UTC, None where there is none."""
        cell = self.optional(column)
        if cell is None:
            return None
        try:
            return datetime.strptime(cell, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        except ValueError:
            raise self.fault(column, "a time like 2026-01-31T12:00:00Z is needed") from None

    def wholes(self, column: str) -> tuple[int, ...]:
        """Return whole numbers separated by spaces."""
        parts = (self.optional(column) or "").split()
        if not all(part.isascii() and part.isdecimal() and len(part) < 12 for part in parts):
            raise self.fault(column, "whole numbers separated by spaces are needed")
        return tuple(map(int, parts))

    def ranking(self, column: str, letters: Sequence[str]) -> Ranking | None:
        """Return a ranking of these lists, None where there is none."""
        cell = self.optional(column)
        try:
            return None if cell is None else Ranking.parse(cell, letters)
        except ValueError as error:
            raise self.fault(column, str(error)) from None


def read_sheet(text: str, file: str, needed: Sequence[str]) -> Iterator[SheetRow]:
    """Give a file's rows; raises BundleError for columns that are missing and broken rows."""
    rows = read_cells(text, file)
    heading = next(rows, [])
    missing = [name for name in needed if name not in heading]
    if missing or len(set(heading)) < len(heading):
        raise BundleError(
            f"{file}, row 1: the columns {', '.join(heading)[:200] or 'nothing'} found; needed "
            f"are {', '.join(needed)}"
        )
    for number, cells in enumerate(rows, 2):
        if len(cells) != len(heading):
            raise BundleError(
                f"{file}, row {number}: {len(cells)} cells found; "
                f"{len(heading)} are needed, as in the heading"
            )
        yield SheetRow(file, number, dict(zip(heading, cells, strict=True)))


def read_cells(text: str, file: str) -> Iterator[list[str]]:
    """Give the cells of each row as they stand, the heading first.

    A row may run over several lines, inside quotes. Raises BundleError for what is no CSV.
    """
    number = 0
    try:
        reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
        for number, cells in enumerate(reader, 1):  # noqa: B007 - the error below tells it
            yield cells
    except csv.Error as error:
        raise BundleError(f"{file}, row {number + 1}: this is no CSV ({error})") from None


MOST_FAULTS = 10


class Faults:
    """The faults of files, told together: the first ten, and how many more there are."""

    def __init__(self) -> None:
        self._told: list[str] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note the fault in which what stands inside ends, and go on after it."""
        try:
            yield
        except BundleError as error:
            self._told.append(str(error))

    def stop_if_any(self) -> None:
        """Raise one BundleError, with a line for each fault, if there was any."""
        if not self._told:
            return
        told = self._told[:MOST_FAULTS]
        if len(self._told) > MOST_FAULTS:
            told.append(f"and {len(self._told) - MOST_FAULTS} more faults like these")
        raise BundleError("\n".join(told))


LARGEST = 1_000_000_000
MOST_FILES = 50

# What zipfile raises for a zip that is none, is damaged, or is locked with a password.
FAULTS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(OSError, RuntimeError, ValueError, OverflowError, struct.error),
)

Files = Mapping[str, bytes]


def open_files(source: Path | IO[bytes], name: str) -> dict[str, bytes]:
    """Read all files of a zip or a folder; raises BundleError for what is neither."""
    try:
        if isinstance(source, Path) and source.is_dir():
            paths = [path for path in sorted(source.iterdir()) if path.is_file()]
            if sum(path.stat().st_size for path in paths) > LARGEST:
                raise BundleError(f"{name} is larger than {LARGEST:,} bytes")
            return {path.name: path.read_bytes() for path in paths if path.name[0] != "."}
        with zipfile.ZipFile(source) as archive:
            return dict(_unzipped(archive, name))
    except FileNotFoundError:
        raise BundleError(f"there is no {name}") from None
    except FAULTS as error:
        raise BundleError(f"{name} is no bundle that can be read ({error})") from None


def _unzipped(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[str, bytes]]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES or sum(entry.file_size for entry in entries) > LARGEST:
        raise BundleError(f"{name} holds more than a bundle does")
    folders = {PurePosixPath(entry.filename).parent for entry in entries}
    seen: set[str] = set()
    for entry in entries:
        path = PurePosixPath(entry.filename)
        # A zip of the folder is as good as a zip of its files.
        if len(folders) > 1 or path.name != entry.filename.split("/")[-1] or len(path.parts) > 2:
            raise BundleError(f"{name} holds folders ({entry.filename[:80]}); a bundle holds files")
        if path.name in seen:
            raise BundleError(f"{name} holds {path.name} twice")
        seen.add(path.name)
        try:
            with archive.open(entry) as file:
                content = file.read(entry.file_size + 1)
        except FAULTS as error:
            raise BundleError(f"{path.name} is damaged ({error})") from None
        yield path.name, content


def json_of(files: Files, name: str) -> dict[str, Any]:
    """Read a JSON file that holds an object."""
    try:
        content = json.loads(text_of(files, name), object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{name}: this is no JSON ({error})") from None
    if not isinstance(content, dict):
        raise BundleError(f"{name}: an object with names is needed")
    return content


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that stands twice: of two values a reader might see either."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name stands in it twice")
    return made


def text_of(files: Files, name: str) -> str:
    """Return a file's text; raises BundleError where it is missing or no UTF-8."""
    if name not in files:
        raise BundleError(f"{name} is missing")
    try:
        return files[name].decode()
    except UnicodeDecodeError as error:
        raise BundleError(f"{name}, byte {error.start + 1}: this is no UTF-8") from None
