"""From a text file, a zip or a folder to texts and cells; each fault is reported with its place."""

import codecs
import csv
import hashlib
import io
import json
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, TypeVar

# For pages too, which may import services but not survey.core.given_tables.
from survey.core.given_tables import Columns, heading_names, read_table
from survey.core.given_tables import text_in as text_in
from survey.core.studies.rankings import Ranking
from survey.core.studies.run_lists import TextFile
from survey.core.text_input import (
    FaultyFilesError,
    FileFaults,
    Json,
    parse_number,
    parse_whole,
    unescaped,
)
from survey.errors import SurveyError
from survey.services.exchange.foreign_file import (
    describe_file,
    describe_inside,
    describe_zip,
    is_litter,
)

Parsed = TypeVar("Parsed")

LARGEST = 1_000_000_000  # bytes that are read into memory
READ_CHUNK = 1 << 16  # bytes
SHARED = 4_096  # objects of a JSON file
LONGEST_LINE = 10_000_000  # characters: of a longer line nothing can be used
MOST_FILES, MOST_JUDGEMENTS = 50, 20_000
JUDGEMENTS_FOLDER = "judgements"  # the folder of files of assessors
MACHINES_FOLDER = "machines"
MOST_LINES = 11  # of faults; the last counts those that are left out
LARGEST_CELL_NUMBER = 99_999_999_999

LINK = 0xA  # in the first four bits of what a zip of Unix says of a file
# What zipfile raises for a file that is no zip, is damaged, or is locked with a password.
ZIP_ERRORS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(OSError, RuntimeError, ValueError, OverflowError, struct.error),
)
TIME_CELL = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z")
FLAG_CELLS = {"0": False, "1": True}
FOREIGN_FLAGS = {**FLAG_CELLS, "true": True, "false": False}


class BundleError(SurveyError):
    """A bundle that cannot be read or does not agree; its text names the place."""


class StreamedFile(NamedTuple):
    """A file of any size, which is opened at each reading."""

    size: int
    open: Callable[[], IO[bytes]]


Files = Mapping[str, bytes | StreamedFile]
Headings = Sequence[Sequence[str]]  # of a file, each with the columns that it needs


class SourceFiles(NamedTuple):
    """The files of a test collection that a study's lists, or its pools, come from."""

    qrels: TextFile | None
    runs: Sequence[TextFile]
    clusters: TextFile | None = None

    def in_order(self, runs: Sequence[TextFile]) -> list[TextFile]:
        """Return all files in the order of a plan's sources; ``runs``: in the plan's order."""
        return [file for file in (self.qrels, *runs, self.clusters) if file]


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
        number = parse_whole(self.text(column), highest=LARGEST_CELL_NUMBER)
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
        numbers = [parse_whole(word, highest=LARGEST_CELL_NUMBER) for word in self.words(column)]
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
        flags = FOREIGN_FLAGS if self.foreign else FLAG_CELLS
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
            if not (self.foreign or TIME_CELL.fullmatch(cell)):
                raise ValueError
            time = datetime.fromisoformat(cell)  # ten times as fast as strptime
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
    rows = read_cells(read_lines(files, name), name)
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
) -> Iterator[Parsed]:
    """Yield what ``parse`` makes of each row that ``read_rows`` yields.

    Raises one BundleError, at the end, for all rows for which ``parse`` raises one.
    """
    faults = Faults()
    for row in read_rows(files, name, columns, faults, foreign=foreign):
        try:
            parsed = parse(row)
        except BundleError as fault:
            faults.add(str(fault))
        else:
            yield parsed
    faults.raise_any()


def read_foreign_rows(
    files: Files, name: str, headings: Headings, more: Sequence[str] = ()
) -> list[CsvRow]:
    """Read a table that another program wrote; raise BundleError with all that is wrong.

    ``headings``: the columns of one of them are needed, in any order; ``more``: columns that may
    be there too.
    """
    every = [*dict.fromkeys(column for heading in headings for column in heading)]
    needed = [column for column in every if all(column in heading for heading in headings)]
    others = [column for column in every if column not in needed]
    allowed = f"Headings allowed: {' or '.join(map(','.join, headings))}"
    try:
        content = b"".join(read_chunks(files, name))
        table = read_table(content, name, Columns(needed, (*others, *more)))
    except FaultyFilesError as error:
        raise BundleError(f"{error}. {allowed}") from None
    if not any({*heading} <= {*table.columns} for heading in headings):
        headings_read = ",".join((*table.columns, *table.columns_not_read))
        raise BundleError(f"{name}, row 1: {headings_read[:200]} found. {allowed}")
    return [CsvRow(name, row.number, row.cells, foreign=True) for row in table.rows]


def has_heading(content: bytes, name: str, headings: Headings) -> bool:
    """Return whether the first row of a table has all columns of one of some headings."""
    text = text_in(content, name)
    return any({*heading} <= heading_names(text, Columns(heading)) for heading in headings)


def is_sorted(files: Files, name: str, *columns: str) -> bool:
    """Return whether a file's rows are sorted by a text and, if named, by a whole number.

    No two rows are equal then, and what was read of a row is needed no longer after the next.
    """
    rows = read_cells(read_lines(files, name), name)
    heading = next(rows, [])
    try:
        text, *number = map(heading.index, columns)
        keys = ((unescaped(cells[text]), *(int(cells[each]) for each in number)) for cells in rows)
        return all(before < after for before, after in pairwise(keys))
    except (ValueError, IndexError):
        return False


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
    # A table of a bundle has others between these.
    if [column for column in heading if column in columns] != list(columns):
        raise BundleError(f"{row}; the heading must start with {','.join(columns)}")
    named = [column for column in heading if column]
    if len(set(named)) < len(named):
        raise BundleError(f"{row}; each column may be there once")


def read_cells(lines: Iterable[str], name: str) -> Iterator[list[str]]:
    """Yield the cells of each row, the heading first.

    A row may run over several lines, inside quotes. Raises BundleError for what is no CSV.
    """
    number = 0
    try:
        for number, cells in enumerate(csv.reader(lines, strict=True), 1):  # noqa: B007 - for the error
            yield cells
    except csv.Error as error:
        raise BundleError(f"{name}, row {number + 1}: this is no CSV ({error})") from None


def open_files(source: Path | IO[bytes], name: str, largest: int = LARGEST) -> dict[str, bytes]:
    """Read all files of a zip or a folder; raises BundleError for what is neither."""
    files = stream_files(source, name)
    if sum(file.size for file in files.values()) > largest:
        raise BundleError(f"{name} holds more than {largest:,} bytes unpacked")
    return {each: b"".join(read_chunks(files, each)) for each in files}


def stream_files(
    source: Path | IO[bytes],
    name: str,
    on_bytes: Callable[[int], object] = lambda _: None,
    on_left_out: Callable[[str], object] = lambda _: None,
) -> dict[str, StreamedFile]:
    """Return the files of a zip or a folder; raises BundleError for what is neither.

    ``on_bytes`` is called with the number of bytes that were read since its last call,
    ``on_left_out`` with the path of what is beside or around the files: what a system adds, such
    as Thumbs.db, and folders too many.
    """
    sizes: dict[str, tuple[int, Callable[[], IO[bytes]]]]
    try:
        if isinstance(source, Path) and source.is_dir():
            sizes = {
                known_as: (path.stat().st_size, partial(_open_binary, path))
                for known_as, path in _paths_in(source, name, on_left_out)
            }
        else:
            archive = zipfile.ZipFile(source)
            sizes = {
                path: (entry.file_size, partial(archive.open, entry))
                for path, entry in _entries(archive, name, on_left_out).items()
            }
    except FileNotFoundError:
        raise BundleError(f"there is no {name}") from None
    except OSError as error:
        raise BundleError(f"{name} cannot be read: {error.strerror or error}") from None
    except ZIP_ERRORS:
        if isinstance(source, Path) and _is_listed_beside(source):
            raise BundleError(f"{name} is one file of a bundle. Name the folder it is in") from None
        with source.open("rb") if isinstance(source, Path) else nullcontext(source) as file:
            raise BundleError(describe_file(file, name) or not_a_bundle(name)) from None
    return {
        each: StreamedFile(size, partial(_open_counted, file, on_bytes))
        for each, (size, file) in sizes.items()
    }


def _paths_in(
    folder: Path, name: str, on_left_out: Callable[[str], object]
) -> Iterator[tuple[str, Path]]:
    """Yield the files of an unpacked bundle with their names in it."""
    top = folder
    while True:
        places = []
        for path in sorted(folder.iterdir()):
            if is_litter([path.name]):
                on_left_out(path.relative_to(top).as_posix())
            else:
                places.append(path)
        is_around = len(places) == 1 and places[0].is_dir()
        if not is_around or places[0].name in (JUDGEMENTS_FOLDER, MACHINES_FOLDER):
            break
        [folder] = places
    if folder != top:
        on_left_out(f"{folder.relative_to(top).as_posix()}/")
    _require_no_bundles_inside(folder, places, name)
    for path in places:
        if path.is_dir() and path.name not in (JUDGEMENTS_FOLDER, MACHINES_FOLDER):
            on_left_out(f"{path.relative_to(top).as_posix()}/")
    inside = (f"{JUDGEMENTS_FOLDER}/*", f"{MACHINES_FOLDER}/*/*")
    for path in sorted([*places, *(path for pattern in inside for path in folder.glob(pattern))]):
        if path.is_file() and not is_litter([path.name]):
            yield path.relative_to(folder).as_posix(), path


def _require_no_bundles_inside(folder: Path, places: Sequence[Path], name: str) -> None:
    """Refuse a folder that has bundles in it, and is none."""
    below = [path for depth in ("*", "*/*") for path in folder.glob(f"{depth}/study.json")]
    paths = (path.relative_to(folder).as_posix() for path in (*places, *below) if path.is_file())
    if fault := describe_inside(paths, name, "Name"):
        raise BundleError(fault)


def _is_listed_beside(path: Path) -> bool:
    """Return whether a list of sums in the same folder has a file's name."""
    try:
        lines = (path.parent / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    return any(line.endswith(f"  {path.name}") for line in lines)


def not_a_bundle(name: str) -> str:
    """Return the sentence about a file or a folder that is no bundle."""
    return (
        f"{name} is not a bundle: a bundle is the zip, or the unpacked folder, that "
        "`survey export` or the page “Export” makes"
    )


def _open_binary(path: Path) -> IO[bytes]:
    return path.open("rb")


def _open_counted(file: Callable[[], IO[bytes]], on_bytes: Callable[[int], object]) -> IO[bytes]:
    return io.BufferedReader(_CountedFile(file(), on_bytes), READ_CHUNK)


class _CountedFile(io.RawIOBase):
    """A file that tells how many bytes were read of it."""

    def __init__(self, file: IO[bytes], on_bytes: Callable[[int], object]) -> None:
        self._file, self._on_bytes = file, on_bytes

    def readable(self) -> bool:
        """Allow reading, which a raw file does not by default."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer; return the number of bytes."""
        content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        self._on_bytes(len(content))
        return len(content)

    def close(self) -> None:
        """Close the file too."""
        self._file.close()
        super().close()


def _entries(
    archive: zipfile.ZipFile, name: str, on_left_out: Callable[[str], object]
) -> dict[str, zipfile.ZipInfo]:
    """Return the files of a zip by name; raises BundleError for what is no bundle.

    Folders around all files, and what systems add, are left out.
    """
    paths = _paths_in_zip(archive, name, on_left_out)
    if fault := describe_zip(archive, map(str, paths.values()), name):
        raise BundleError(fault)
    inside = sum(
        {JUDGEMENTS_FOLDER, MACHINES_FOLDER} & {*path.parts[:-1]} != set()
        for path in paths.values()
    )
    if len(paths) - inside > MOST_FILES or inside > MOST_JUDGEMENTS:
        raise BundleError(f"{name} holds more than a bundle does")
    depth = _folders_around([*paths.values()])
    if depth:
        around = next(iter(paths.values())).parts[:depth]
        on_left_out(f"{'/'.join(around)}/")
    files: dict[str, zipfile.ZipInfo] = {}
    for entry, path in paths.items():
        *folder, file = path.parts[depth:]
        is_machine = len(folder) == 2 and folder[0] == MACHINES_FOLDER
        if not (is_machine or folder in ([], [JUDGEMENTS_FOLDER])):
            raise _holds_folders(name, entry.filename)
        known_as = "/".join([*folder, file])
        if known_as in files:
            raise BundleError(
                f"{name} holds {known_as} twice. Take the zip from where it is published again"
            )
        files[known_as] = entry
    return files


def _paths_in_zip(
    archive: zipfile.ZipFile, name: str, on_left_out: Callable[[str], object]
) -> dict[zipfile.ZipInfo, PurePosixPath]:
    paths: dict[zipfile.ZipInfo, PurePosixPath] = {}
    for entry in archive.infolist():
        written = entry.filename.replace("\\", "/")  # as some programs for Windows do
        path = PurePosixPath(written)
        if not written or written.endswith("/"):
            continue
        if is_litter(path.parts):
            on_left_out(written)
        elif entry.external_attr >> 28 == LINK:
            raise BundleError(
                f"{name} holds {path} as a link, without the file that it leads to. Take the zip "
                "from where it is published again"
            )
        elif path.name != written.split("/")[-1] or ".." in path.parts:
            raise _holds_folders(name, entry.filename)
        else:
            paths[entry] = path
    return paths


def _folders_around(paths: Sequence[PurePosixPath]) -> int:
    """Count the folders that hold all files; a zip of the folder is as good as one of its files."""
    depth = 0
    while paths and all(len(path.parts) > depth + 1 for path in paths):
        names = {path.parts[depth] for path in paths}
        if len(names) > 1 or names <= {JUDGEMENTS_FOLDER, MACHINES_FOLDER}:
            break
        depth += 1
    return depth


def _holds_folders(name: str, path: str) -> BundleError:
    return BundleError(
        f"{name} holds folders ({path[:80]}); a bundle holds files, and some in "
        f"{JUDGEMENTS_FOLDER}/ and {MACHINES_FOLDER}/"
    )


@contextmanager
def opened(files: Files, name: str) -> Iterator[IO[bytes]]:
    """Open a file; raises BundleError where it is missing or damaged."""
    if name not in files:
        raise BundleError(f"{name} is missing")
    content = files[name]
    try:
        with io.BytesIO(content) if isinstance(content, bytes) else content.open() as file:
            yield file
    except ZIP_ERRORS as error:
        again = "" if isinstance(error, OSError) else ". Download the bundle again"
        raise BundleError(f"{name} is damaged or cannot be read ({error}){again}") from None


def read_chunks(files: Files, name: str) -> Iterator[bytes]:
    """Yield a file's bytes; raises BundleError where it is missing or damaged."""
    with opened(files, name) as file:
        yield from iter(partial(file.read, READ_CHUNK), b"")


def read_lines(files: Files, name: str) -> Iterator[str]:
    """Yield the lines of a text; raises BundleError where it is missing or no UTF-8."""
    with opened(files, name) as file:
        text = io.TextIOWrapper(file, "utf-8-sig", newline="")
        try:
            yield from iter(partial(text.readline, LONGEST_LINE), "")
        except UnicodeDecodeError:
            raise _no_utf8(files, name) from None


def _no_utf8(files: Files, name: str) -> BundleError:
    """Return the error of a text that is no UTF-8, with the first byte that is none."""
    decoder, start = codecs.getincrementaldecoder("utf-8")(), 0
    for chunk in read_chunks(files, name):
        pending = len(decoder.getstate()[0])
        try:
            decoder.decode(chunk)
        except UnicodeDecodeError as error:
            start += error.start - pending
            break
        start += len(chunk)
    else:  # the last character is cut off
        start -= len(decoder.getstate()[0])
    return BundleError(f"{name}, byte {start + 1}: this is no UTF-8")


def json_of(files: Files, name: str) -> dict[str, Any]:
    """Read a JSON file that holds an object."""
    try:
        content = parse_json(file_text(files, name))
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{name}: this is no JSON ({error})") from None
    if not isinstance(content, dict):
        raise BundleError(f"{name}: an object with names is needed")
    return content


def parse_json(text: str) -> Any:
    """Parse JSON; raises ValueError for a repeated name and for half a surrogate pair.

    No database can store the latter, and no file can hold it but as an escape. Objects of the
    same texts are one: those of a million participants are mostly among a few.
    """
    shared: dict[tuple[tuple[str, Json], ...], dict[str, Json]] = {}

    def unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        """Refuse an object that has a name twice: readers differ in which value they take."""
        content = dict(pairs)
        if len(content) < len(pairs):
            raise ValueError("the same name occurs in it twice")
        if not all(isinstance(value, str) for value in content.values()):
            return content
        key = tuple(pairs)
        return shared.setdefault(key, content) if len(shared) < SHARED else shared.get(key, content)

    content = json.loads(text, object_pairs_hook=unique)
    if "\\ud" in text.lower():
        json.dumps(content, ensure_ascii=False).encode()
    return content


def file_text(files: Files, name: str) -> str:
    """Return a file's text; raises BundleError where it is missing, too large or no UTF-8."""
    with opened(files, name) as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BundleError(f"{name} is larger than {LARGEST:,} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise _no_utf8(files, name) from None


def read_text(path: Path) -> str:
    """Return the text of a file, see ``read_file``."""
    return read_file(path).text


def read_file(path: Path) -> TextFile:
    """Read a text, see ``text_in``; raise SurveyError with the reason why it cannot be read."""
    try:
        content = path.read_bytes()
        text = text_in(content, str(path))
    except FaultyFilesError as error:
        raise SurveyError(f"{error}.") from None
    except OSError as error:
        raise SurveyError(f"{path} cannot be read: {error.strerror}.") from None
    return TextFile(path.name, text, hashlib.sha256(content).hexdigest())
