"""From a text file, a zip or a folder to texts and cells; each fault is reported with its place."""

import csv
import gzip
import hashlib
import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, TypeVar

from survey.core.studies.rankings import Ranking
from survey.core.studies.run_lists import TextFile
from survey.core.text_input import FileFaults, parse_number, parse_whole, unescaped
from survey.errors import SurveyError

Files = Mapping[str, bytes]
Parsed = TypeVar("Parsed")

LARGEST = 1_000_000_000
MOST_FILES = 50
MOST_LINES = 11  # of faults; the last counts those that are left out
LARGEST_NUMBER = 99_999_999_999

# What zipfile raises for a file that is no zip, is damaged, or is locked with a password.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(OSError, RuntimeError, ValueError, OverflowError, struct.error),
)
GZIPPED = b"\x1f\x8b"  # the first bytes of a gzip file
FLAGS = {"0": False, "1": True}
FOREIGN_FLAGS = {**FLAGS, "true": True, "false": False}


class BundleError(SurveyError):
    """A bundle that cannot be read or does not agree; its text names the place."""


class SourceFiles(NamedTuple):
    """The files of a test collection that a study's lists come from."""

    qrels: TextFile
    runs: Sequence[TextFile]
    clusters: TextFile | None = None

    def in_order(self, runs: Sequence[TextFile]) -> list[TextFile]:
        """Return all files in the order of a plan's sources; ``runs``: in the plan's order."""
        return [self.qrels, *runs, *([self.clusters] if self.clusters else [])]


class Faults(FileFaults):
    """The faults of a file's rows, collected into one BundleError with a line for each."""

    def __init__(self) -> None:
        super().__init__(error=lambda faults: BundleError("\n".join(faults)), most=MOST_LINES)


@dataclass(frozen=True)
class CsvRow:
    """A row of a CSV file; its methods parse a cell, or raise BundleError with the cell's place.

    ``number`` counts from 1, the heading being row 1. ``foreign``: another program wrote the
    file, so flags may be true or false, and times may have any zone.
    """

    file: str
    number: int
    cells: Mapping[str, str]
    foreign: bool = False

    def fault(self, column: str, allowed: str) -> BundleError:
        """Return the error of a cell, with its place, what it holds and what is allowed."""
        cell = self.cells.get(column, "")
        return BundleError(
            f"{self.file}, row {self.number}, column {column}: {cell[:60]!r} found; {allowed}"
        )

    def text(self, column: str) -> str:
        """Return a cell that may not be empty."""
        cell = self.optional_text(column)
        if cell is None:
            raise self.fault(column, "a value is needed")
        return cell

    def optional_text(self, column: str) -> str | None:
        """Return a cell, None where it is empty or the file has no such column."""
        cell = self.cells.get(column, "")
        return unescaped(cell) if cell else None

    def words(self, column: str) -> tuple[str, ...]:
        """Return the words of a cell, which may be empty."""
        return tuple((self.optional_text(column) or "").split())

    def whole_number(self, column: str, lowest: int = 0) -> int:
        """Return a whole number, ``lowest`` or more."""
        number = parse_whole(self.text(column), highest=LARGEST_NUMBER)
        if number is None:
            raise self.fault(column, "a whole number is needed")
        if number < lowest:
            raise self.fault(column, f"a whole number from {lowest} on is needed")
        return number

    def optional_whole_number(self, column: str, lowest: int = 0) -> int | None:
        """Return a whole number, None where the cell is empty."""
        return None if self.optional_text(column) is None else self.whole_number(column, lowest)

    def whole_numbers(self, column: str) -> tuple[int, ...]:
        """Return whole numbers separated by spaces, which may be none."""
        numbers = [parse_whole(word, highest=LARGEST_NUMBER) for word in self.words(column)]
        whole = tuple(number for number in numbers if number is not None)
        if len(whole) < len(numbers):
            raise self.fault(column, "whole numbers separated by spaces are needed")
        return whole

    def optional_number(self, column: str) -> float | None:
        """Return a number from 0 on, None where the cell is empty."""
        cell = self.optional_text(column)
        if cell is None:
            return None
        number = parse_number(cell)
        if number is None or number < 0:
            raise self.fault(column, "a number from 0 on is needed")
        return number

    def flag(self, column: str) -> bool:
        """Return 0 or 1 as a truth value; an empty cell is false."""
        flags = FOREIGN_FLAGS if self.foreign else FLAGS
        cell = (self.optional_text(column) or "0").lower()
        if cell not in flags:
            *others, last = flags
            raise self.fault(column, f"{', '.join(others)} or {last} is needed")
        return flags[cell]

    def optional_time(self, column: str) -> datetime | None:
        """Return a time in UTC, None where the cell is empty."""
        cell = self.optional_text(column)
        if cell is None:
            return None
        try:
            if self.foreign:
                time = datetime.fromisoformat(cell)
            else:
                time = datetime.strptime(cell, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
            # Without a zone it would be taken for this machine's.
            if time.tzinfo is None:
                raise ValueError
            return time.astimezone(UTC)
        except (ValueError, OverflowError):
            example = "2026-01-31T12:00:00Z"
            time_like = f"with its zone, like {example}," if self.foreign else f"like {example}"
            raise self.fault(column, f"a time {time_like} is needed") from None

    def optional_ranking(self, column: str, letters: Sequence[str]) -> Ranking | None:
        """Return a ranking of the lists with these letters, None where the cell is empty."""
        cell = self.optional_text(column)
        try:
            return None if cell is None else Ranking.parse(cell, letters)
        except ValueError as error:
            raise self.fault(column, str(error)) from None


def read_rows(
    files: Files, name: str, columns: Sequence[str], faults: Faults, *, foreign: bool = False
) -> Iterator[CsvRow]:
    """Yield the rows of a file that has these columns.

    A row with more or fewer cells than the heading is added to ``faults`` and left out.
    ``foreign``: another program wrote the file; spaces around cells and empty rows are ignored.
    Raises BundleError for a file that is missing, has another heading, or is no CSV.
    """
    rows = read_cells(text_of(files, name), name)
    if foreign:
        rows = ([cell.strip() for cell in cells] for cells in rows)
    heading = next(rows, [])
    check = _check_foreign_heading if foreign else _check_heading
    check(heading, name, columns)
    for number, cells in enumerate(rows, 2):
        if foreign and not any(cells):
            continue
        if len(cells) == len(heading):
            yield CsvRow(name, number, dict(zip(heading, cells, strict=True)), foreign)
        else:
            faults.add(
                f"{name}, row {number}: {len(cells)} cells found; "
                f"{len(heading)} are needed, as in the heading"
            )


def parse_rows(
    files: Files,
    name: str,
    columns: Sequence[str],
    parse: Callable[[CsvRow], Parsed],
    *,
    foreign: bool = False,
) -> list[Parsed]:
    """Return what ``parse`` makes of each row that ``read_rows`` yields.

    Raises one BundleError for all rows for which ``parse`` raises one.
    """
    faults = Faults()
    parsed = []
    for row in read_rows(files, name, columns, faults, foreign=foreign):
        with faults.collect(BundleError):
            parsed.append(parse(row))
    faults.raise_any()
    return parsed


def _check_heading(heading: Sequence[str], name: str, columns: Sequence[str]) -> None:
    if not set(columns) <= set(heading) or len(set(heading)) < len(heading):
        raise BundleError(
            f"{name}, row 1: the columns {', '.join(heading)[:200] or 'nothing'} found; needed "
            f"are {', '.join(columns)}"
        )


def _check_foreign_heading(heading: Sequence[str], name: str, columns: Sequence[str]) -> None:
    row = f"{name}, row 1: {','.join(heading)[:200] or 'nothing'} found"
    if len(heading) == 1 and ";" in heading[0]:
        raise BundleError(f"{row}; cells are separated by commas, not by semicolons")
    if list(heading[: len(columns)]) != list(columns):
        raise BundleError(f"{row}; the heading must start with {','.join(columns)}")
    named = [column for column in heading if column]
    if len(set(named)) < len(named):
        raise BundleError(f"{row}; each column may be there once")


def read_cells(text: str, name: str) -> Iterator[list[str]]:
    """Yield the cells of each row, the heading first.

    A row may run over several lines, inside quotes. Raises BundleError for what is no CSV.
    """
    number = 0
    try:
        reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
        for number, cells in enumerate(reader, 1):  # noqa: B007 - the error below names the row
            yield cells
    except csv.Error as error:
        raise BundleError(f"{name}, row {number + 1}: this is no CSV ({error})") from None


def open_files(source: Path | IO[bytes], name: str, largest: int = LARGEST) -> dict[str, bytes]:
    """Read all files of a zip or a folder; raises BundleError for what is neither."""
    try:
        if isinstance(source, Path) and source.is_dir():
            paths = [path for path in sorted(source.iterdir()) if path.is_file()]
            if sum(path.stat().st_size for path in paths) > largest:
                raise BundleError(f"{name} is larger than {largest:,} bytes")
            return {path.name: path.read_bytes() for path in paths if path.name[0] != "."}
        with zipfile.ZipFile(source) as archive:
            return dict(_unzipped(archive, name, largest))
    except FileNotFoundError:
        raise BundleError(f"there is no {name}") from None
    except ZIP_ERRORS as error:
        raise BundleError(f"{name} is no bundle that can be read ({error})") from None


def _unzipped(archive: zipfile.ZipFile, name: str, largest: int) -> Iterator[tuple[str, bytes]]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES:
        raise BundleError(f"{name} holds more than a bundle does")
    if sum(entry.file_size for entry in entries) > largest:
        raise BundleError(f"{name} holds more than {largest:,} bytes unpacked")
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
        except ZIP_ERRORS as error:
            raise BundleError(f"{path.name} is damaged ({error})") from None
        yield path.name, content


def json_of(files: Files, name: str) -> dict[str, Any]:
    """Read a JSON file that holds an object."""
    try:
        content = parse_json(text_of(files, name))
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{name}: this is no JSON ({error})") from None
    if not isinstance(content, dict):
        raise BundleError(f"{name}: an object with names is needed")
    return content


def parse_json(text: str) -> Any:
    """Parse JSON; raises ValueError for a repeated name and for half a surrogate pair.

    No database can store the latter, and no file can hold it but as an escape.
    """
    content = json.loads(text, object_pairs_hook=_without_repeats)
    if "\\ud" in text.lower():
        json.dumps(content, ensure_ascii=False).encode()
    return content


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that has a name twice: readers differ in which of the values they take."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError("the same name occurs in it twice")
    return content


def text_of(files: Files, name: str) -> str:
    """Return a file's text; raises BundleError where it is missing or no UTF-8."""
    if name not in files:
        raise BundleError(f"{name} is missing")
    try:
        return files[name].decode()
    except UnicodeDecodeError as error:
        raise BundleError(f"{name}, byte {error.start + 1}: this is no UTF-8") from None


def read_text(path: Path) -> str:
    """Return the text of a file, see ``read_file``."""
    return read_file(path).text


def read_file(path: Path) -> TextFile:
    """Read a file in UTF-8, decompressed if its first bytes are gzip's.

    Raises SurveyError with the reason why it cannot be read.
    """
    try:
        content = path.read_bytes()
        unpacked = gzip.decompress(content) if content.startswith(GZIPPED) else content
        digest = hashlib.sha256(content).hexdigest()
        return TextFile(path.name, unpacked.decode("utf-8-sig"), digest)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SurveyError(f"{path}, line {line}: this is no text in UTF-8.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise SurveyError(f"{path} begins like a gzip file, but is none, or is cut off.") from None
    except OSError as error:
        raise SurveyError(f"{path} cannot be read: {error.strerror}.") from None
