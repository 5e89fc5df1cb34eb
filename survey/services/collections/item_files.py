"""Read the files that come with items from a folder or a zip, and find them by name.

A table's name for a file may differ from the file's own: in encoding, Unicode form, case, ending
or folder.
"""

import re
import unicodedata
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from survey.core.collections.vectors import VECTOR_FILES
from survey.core.given_tables import LARGEST_TABLE, SHOWABLE, media_of
from survey.core.text_input import shortened
from survey.errors import SurveyError
from survey.services.collections.pictures import (
    LARGEST_PICTURE_FILE,
    PictureError,
    check_size,
    count_pixels,
)
from survey.services.exchange.input_files import ZIP_ERRORS

MOST_FILES = 2_000  # in one zip
# What a request may decode, whatever few bytes it comes in: about a minute's work.
MOST_DECODED = 2_000  # pictures
MOST_PIXELS_DECODED = 1_000_000_000
MOST_UNPACKED = 500_000_000  # bytes
JUNK = ("thumbs.db", "desktop.ini", "ehthumbs.db")  # what systems put beside pictures
# Endings of tables, also before .gz; of spreadsheets too, whose faults name the remedy.
TABLE_ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".xlsx", ".xls", ".ods")
PICTURE_ENDING = re.compile(r"\.(jpe?g|png|webp|gif|heic|heif|avif|tiff?|bmp|svg)\Z", re.IGNORECASE)
IS_ENCRYPTED = 0x1  # flags of a zip's entry
IS_UTF8 = 0x800
ENCODINGS = ("cp932", "cp437", "cp850")  # of names in zips of Windows

Read = Callable[[], bytes]
Files = Mapping[str, Read]
"""Path of a file → what reads it."""


class Refusal(NamedTuple):
    """A file or row with the reason why it was not taken, or with a remark if it was."""

    name: str
    reason: str


def is_junk(name: str) -> bool:
    """Return whether a file is not the researcher's: it is hidden, or an operating system's."""
    parts = PurePosixPath(tidy_path(name)).parts
    is_hidden = any(part.startswith(".") or part == "__MACOSX" for part in parts)
    return is_hidden or (bool(parts) and parts[-1].casefold() in JUNK)


def tidy_path(name: str) -> str:
    """Return a relative path with slashes, without parts that lead out of the folder."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return "/".join(part for part in parts if part not in ("/", ".."))


def folded_name(name: str) -> str:
    """Return a name in one Unicode form, without upper and lower case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def files_in_folder(folder: Path, named: Iterable[str] | None = None) -> Files:
    """Return the files of a folder and of folders in it, without hidden ones and systems' own.

    ``named``: paths; only folders that hold one of them are read then.
    """
    inner = None
    if named is not None:
        inner = {folded_name(str(each)) for path in named for each in PurePosixPath(path).parents}
    return dict(_walk(folder, "", inner, frozenset({folder.resolve()})))


def _walk(
    folder: Path, path: str, inner: Collection[str] | None, outer: frozenset[Path]
) -> Iterator[tuple[str, Read]]:
    """Yield path and reader of each file; ``outer``: the folders around, for links that lead back.

    ``inner``: the folded paths of the folders to read, all if it is None.
    """
    for entry in sorted(folder.iterdir()):
        name = path + entry.name
        if is_junk(entry.name):
            continue
        if entry.is_file():
            yield name, partial(file_content, entry)
            continue
        is_wanted = entry.is_dir() and (inner is None or folded_name(name) in inner)
        if is_wanted and (target := entry.resolve()) not in outer:
            yield from _walk(entry, f"{name}/", inner, outer | {target})


def file_content(path: Path, largest: int = 0) -> bytes:
    """Return a file's bytes; raises PictureError, before it is read, if it is too large."""
    check_size(path.stat().st_size, largest or _largest(path.name))
    return path.read_bytes()


def check_work(files: Files, names: Sequence[str]) -> None:
    """Refuse pictures that a request has no time to decode, by their headers; raises SurveyError.

    ``names``: the file of each item or topic with a picture, since each decodes its own.
    """
    if len(names) > MOST_DECODED:
        raise SurveyError(
            f"{len(names):,} pictures are named; {MOST_DECODED:,} are allowed in one upload. "
            "Nothing was taken: send them in parts."
        )
    known: dict[str, tuple[int, int]] = {}
    size = pixels = 0
    for name in names:
        if name not in known:
            try:
                content = files[name]()
            except (PictureError, OSError):  # the item that names it is refused later
                content = b""
            known[name] = len(content), count_pixels(content)
        size, pixels = size + known[name][0], pixels + known[name][1]
        if size > MOST_UNPACKED:
            raise SurveyError(
                f"The pictures unpack to more than {MOST_UNPACKED // 10**6:,} million bytes; no "
                "more are allowed in one upload. Nothing was taken: send them in parts."
            )
    if pixels > MOST_PIXELS_DECODED:
        raise SurveyError(
            f"The pictures have {pixels // 10**6:,} million pixels; "
            f"{MOST_PIXELS_DECODED // 10**6:,} million are allowed in one upload. Nothing was "
            "taken: send them in parts, or make them smaller. People see 640 pixels of a side."
        )


def _largest(path: str) -> int:
    name = PurePosixPath(path).name
    return LARGEST_TABLE if name in VECTOR_FILES or is_table_name(name) else LARGEST_PICTURE_FILE


def is_table_name(name: str) -> bool:
    """Return whether a file is a table by its name, packed by gzip or not."""
    return name.casefold().removesuffix(".gz").endswith(TABLE_ENDINGS)


def is_table_of(path: str, stem: str) -> bool:
    """Return whether a file is the table of that name, like items.csv, in any case."""
    name = PurePosixPath(path).name.casefold()
    return is_table_name(name) and name.partition(".")[0] == stem


def table_named(files: Files, stem: str) -> str | None:
    """Return the path of the table of that name, in any case; None without one.

    Raises SurveyError for several.
    """
    names = [path for path in files if is_table_of(path, stem)]
    outermost = min((path.count("/") for path in names), default=0)
    names = [path for path in names if path.count("/") == outermost]
    if len(names) > 1:
        raise SurveyError(f"{' and '.join(names)} found; one table of {stem} is allowed.")
    return names[0] if names else None


@contextmanager
def files_in_zip(
    source: Path | IO[bytes],
    name: str,
    refusals: list[Refusal],
    names_in: Callable[[Files], Collection[str]] = lambda _: (),
) -> Iterator[Files]:
    """Open a zip, and yield its files by path, relative to the folder that holds all pictures.

    The encoding of a name that is not in UTF-8 is chosen so that the tables in the zip name the
    file. ``names_in``: returns the names that tables among some files have; ``refusals``: gets an
    entry for files whose names cannot be read. Raises SurveyError for a zip that cannot be read,
    that has too many files, or one path twice.
    """
    try:
        archive = zipfile.ZipFile(source)
    except ZIP_ERRORS as error:
        if media := media_of(name):
            raise SurveyError(f"{PurePosixPath(name).name} is {media}. {SHOWABLE}.") from None
        raise SurveyError(f"{name} is no zip that can be read ({error}).") from None
    with archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        readings = [_readings(each) for each in entries]
        readers = [partial(_entry_content, archive, each) for each in entries]
        certain = {
            tidy_path(name_read): read
            for (name_read, others), read in zip(readings, readers, strict=True)
            if name_read and not others and not is_junk(name_read)
        }
        named: set[str] = set()
        if any(others for _, others in readings):
            named = {folded_name(each) for each in names_in(certain)}
        files: dict[str, Read] = {}
        unread = []
        for (probable, others), read in zip(readings, readers, strict=True):
            path = tidy_path(_chosen(probable, others, named))
            if is_junk(path):
                continue
            if not path:
                unread.append(others[-1])
            elif path in files:
                raise SurveyError(f"{name} holds {path} twice.")
            else:
                files[path] = read
        count = len(files) + len(unread)
        if count > MOST_FILES:
            raise SurveyError(f"{name} holds {count} files; {MOST_FILES} are allowed.")
        if unread:
            refusals.append(Refusal(name, _why_unread(unread, count)))
        yield _without_common_folder(files)


def _readings(entry: zipfile.ZipInfo) -> tuple[str, Sequence[str]]:
    """Return an entry's probable name, "" if its encoding is unknown, and other readings of it.

    A name that is marked as UTF-8 has other readings too: a program may have read it as cp437 and
    written it again.
    """
    name = entry.filename
    is_marked = bool(entry.flag_bits & IS_UTF8)
    # Another name than the original comes from Info-ZIP's extra field, which is UTF-8.
    is_marked |= name != entry.orig_filename.partition("\0")[0]
    try:  # zipfile decodes names by cp437, so that encoding returns their bytes
        content = b"" if name.isascii() else name.encode("cp437")
    except UnicodeEncodeError:
        content = b""
    readings = []
    for encoding in ("utf-8", *ENCODINGS):
        with suppress(UnicodeDecodeError):
            readings.append((encoding, content.decode(encoding)))
    if not content or is_marked:
        return name, [text for _, text in readings if content and text != name]
    is_utf8 = readings[0][0] == "utf-8"
    texts = [text for _, text in readings]
    return (texts[0], texts[1:]) if is_utf8 else ("", texts)


def _chosen(probable: str, others: Sequence[str], named: Collection[str]) -> str:
    """Return the reading of a name that tables name, else ``probable``; "" if several are named."""
    fitting = {text for text in (probable, *others) if _is_named(text, named)}
    if not fitting or probable in fitting:
        return probable
    return fitting.pop() if len(fitting) == 1 else ""


def _is_named(path: str, named: Collection[str]) -> bool:
    path = folded_name(tidy_path(path))
    name = path.rpartition("/")[2]
    return any(each in named for each in (path, name, without_ending(name)))


def _why_unread(names: Sequence[str], total: int) -> str:
    of = "name of a file" if total == 1 else f"names of {len(names)} of its {total} files"
    return (
        f"the {of} cannot be read (first: {shortened(names[0])}), as the zip does not say in which "
        "encoding they are. Pack the files with names in UTF-8, as 7-Zip does, name them in "
        "items.csv, or give the unpacked folder"
    )


def _without_common_folder(files: Files) -> Files:
    """Return files by paths relative to the innermost folder that holds all pictures.

    By their whole paths if two files would get the same one.
    """
    parents = [PurePosixPath(path).parts[:-1] for path in files if PICTURE_ENDING.search(path)] or [
        PurePosixPath(path).parts[:-1] for path in files
    ]
    common: list[str] = []
    for parts in zip(*parents, strict=False):
        if len({*parts}) > 1:
            break
        common.append(parts[0])
    prefix = "".join(f"{part}/" for part in common)
    shorter = {path.removeprefix(prefix): read for path, read in files.items()}
    return shorter if len(shorter) == len(files) else files


def _entry_content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    largest = _largest(entry.filename)
    check_size(entry.file_size, largest)  # before anything is unpacked
    if entry.flag_bits & IS_ENCRYPTED:
        raise PictureError("its entry in the zip has a password")
    try:
        with archive.open(entry) as file:
            return file.read(largest)
    except ZIP_ERRORS:
        raise PictureError("its entry in the zip is damaged") from None


def without_ending(path: str) -> str:
    """Return a path without the ending of a picture's name."""
    return PICTURE_ENDING.sub("", path)


def _composed(path: str) -> str:
    return unicodedata.normalize("NFC", path)


# By how much a name in a table may differ from a file's, the closest first.
FOLDS: Sequence[Callable[[str], str]] = (
    str,
    _composed,
    folded_name,
    lambda path: without_ending(folded_name(path)),
)


class FileNames:
    """Finds files by the names that tables have for them."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = {*paths}
        self._by_name: list[dict[str, list[str]]] = [{} for _ in FOLDS]
        for path in sorted(self._paths):
            for fold, by_name in zip(FOLDS, self._by_name, strict=True):
                by_name.setdefault(fold(PurePosixPath(path).name), []).append(path)

    def find(self, name: str) -> str | None:
        """Return the file that a table means, None where no file fits.

        The file of that path; else where exactly one fits: in another Unicode form, in a folder
        or without its own, in another case, with another ending. Raises PictureError where several
        fit.
        """
        if name in self._paths:
            return name
        wanted = tidy_path(name)
        # First only files whose path agrees with the name's folders, then files in any folder.
        for is_fitting in (_is_tail, lambda _one, _other: True):
            for fold, by_name in zip(FOLDS, self._by_name, strict=True):
                key = fold(wanted)
                paths = by_name.get(PurePosixPath(key).name, ())
                fitting = [path for path in paths if is_fitting(fold(path), key)]
                same = [path for path in fitting if fold(path) == key]
                if len(fitting) == 1 or len(same) == 1:
                    return (same or fitting)[0]
                if fitting:
                    raise PictureError(_why_several(fitting))
        return None


def _is_tail(one: str, other: str) -> bool:
    """Return whether one of two paths ends with the other."""
    return f"/{one}".endswith(f"/{other}") or f"/{other}".endswith(f"/{one}")


def _why_several(paths: Sequence[str]) -> str:
    names = " and ".join([*paths[:1], paths[1] if len(paths) == 2 else f"{len(paths) - 1} more"])
    if len({PurePosixPath(path).name for path in paths}) == 1:
        return f"{names} have one name. Name them by path in items.csv, or use `survey collect`"
    return f"{names} all fit. Name one of them as its file is called"
