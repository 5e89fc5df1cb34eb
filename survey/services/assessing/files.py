"""Assessors' files as texts, and the files that results are written to."""

import gzip
import os
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from survey.services.errors import SurveyError


def text_of(path: Path) -> str:
    """Read a file, unpacked if its name ends in .gz."""
    try:
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SurveyError(f"{path}, line {line}: this is no text in UTF-8.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise SurveyError(f"{path} is no whole gzip file, which its name says it is.") from None
    except OSError as error:
        raise SurveyError(f"{path} cannot be read: {error.strerror}.") from None


def check_targets(targets: Iterable[Path], sources: Iterable[Path], *, replace: bool) -> None:
    """Raise SurveyError where a file to write is one to be read, or is there already."""
    read = {path.resolve() for path in sources}
    for target in targets:
        if target.resolve() in read:
            raise SurveyError(f"{target} is one of the assessors' files; name another.")
        if target.exists() and not replace:
            raise SurveyError(f"{target} is there already; --force replaces it.")


def write_files(files: Mapping[Path, str]) -> None:
    """Write texts, each complete or not at all, packed where the name ends in .gz.

    Makes the folders they lie in.
    """
    for path, text in files.items():
        content = text.encode()
        unfinished = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Without a time and a name in it, the same judgements give the same bytes.
            unfinished.write_bytes(
                gzip.compress(content, mtime=0) if path.suffix == ".gz" else content
            )
            unfinished.replace(path)
        except OSError as error:
            raise SurveyError(f"{path} cannot be written: {error.strerror}.") from None
        finally:
            with suppress(OSError):
                unfinished.unlink()
