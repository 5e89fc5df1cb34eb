"""Assessors' files as texts, and the files that results are written to."""

import gzip
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from survey.services.errors import SurveyError


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
