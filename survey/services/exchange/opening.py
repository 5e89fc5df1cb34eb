"""From a zip or a folder to the bytes of a bundle's files."""

import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

from survey.services.exchange.sheets import BundleError

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
