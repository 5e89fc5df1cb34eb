"""Files that researchers choose: staged for a day, so that no mistake costs them.

No page can fill in a field of files. A chosen file is therefore stored in the researcher's folder
below the instance folder, under its SHA-256, and the page gets this in its place: at once where
scripts run, else with the form, if it is shown again. Elsewhere the SHA-256 opens nothing.
"""

import hashlib
import io
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import time
from types import MappingProxyType
from typing import IO, NamedTuple

from flask import Response, current_app, g, request
from flask_wtf import FlaskForm
from sqlalchemy import inspect
from werkzeug.datastructures import FileStorage
from wtforms import FileField
from wtforms.validators import ValidationError
from wtforms.widgets import FileInput

from survey.services.collections.file_reports import LARGEST_READ, report
from survey.services.operations.database import begin_reading
from survey.web.requests import session

UPLOADS_FOLDER = "uploads"  # in the instance folder
SECONDS_KEPT = 24 * 3600
CHUNK = 1 << 20
# Before a field's name: the names of the hidden fields of its files, and of ticks to remove one.
PREFIX, DROP = "kept-", "drop-"
ENTRY = re.compile(r"([0-9a-f]{64}) (.{1,500})", re.DOTALL)

TOO_LATE = (
    "What was chosen here is no longer kept: files are kept for a day, or until later ones need "
    "the room. Please choose it again."
)
NOT_KEPT = "What was chosen here could not be kept. Please choose it again."


class StagedFile(NamedTuple):
    """A file in the researcher's folder; ``name``: as the browser sent it."""

    sha256: str
    name: str

    @property
    def value(self) -> str:
        """What a page holds in its place."""
        return f"{self.sha256} {self.name}"

    @property
    def path(self) -> Path:
        """Where its content is."""
        return _folder_of_researcher() / self.sha256

    def open(self) -> FileStorage:
        """Return the file as if the browser had sent it again."""
        return FileStorage(io.BytesIO(self.path.read_bytes()), self.name)

    def report(self, sort: str) -> tuple[str, bool]:
        """Return what it holds in a sentence, and whether it fits a field of that sort."""
        size = self.path.stat().st_size
        if size > LARGEST_READ:
            return f"{size / 1_000_000:,.0f} MB.", True
        return report(sort, self.name, self.path.read_bytes())


class UploadField(FileField):  # type: ignore[misc] # WTForms has no type hints
    """A field of a file; ``kept``: the files that a page holds which shows the form again.

    ``faults``: of files, by their names, what is said beside them.
    """

    kept: Sequence[StagedFile] = ()
    faults: Mapping[str, Sequence[str]] = MappingProxyType({})

    def pre_validate(self, _: object) -> None:
        """Reject a form whose kept files are deleted: it would be used without them."""
        if any(not _is_recent(file.path) for file in _entries(self.name)):
            raise ValidationError(TOO_LATE)


class UploadsField(UploadField):
    """A field of several files."""

    widget = FileInput(multiple=True)


@contextmanager
def counted_progress(study_id: int) -> Iterator[Callable[[int], object]]:
    """Give a function that counts items of a study as taken in, until the request is over.

    Other requests read the count, see ``progress_by_now``: it is the size of a file.
    """
    file = _progress_file(study_id)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with file.open("wb", buffering=0) as counted:
            yield lambda count: counted.write(b"." * count)
    finally:
        shutil.rmtree(file.parent, ignore_errors=True)


def progress_by_now(study_id: int) -> int:
    """Return how many items the researcher's request has taken in; 0 where none is under way."""
    return _time_and_size(_progress_file(study_id))[1]


def _progress_file(study_id: int) -> Path:
    return _folder_of_researcher() / f"progress-{study_id}" / "counted"


def is_uploaded(*names: str) -> bool:
    """Whether one of these fields has files, chosen or kept; reads none of them."""
    return any(_chosen(name) or _kept(name) for name in names)


def chosen_files(name: str, *, several: bool = False) -> list[FileStorage]:
    """Return the files of a field, those that are kept of it before those that were chosen.

    ``several``: whether it takes several; a chosen file replaces one of the same name, else any.
    """
    return [*(file.open() for file in _not_replaced(name, several=several)), *_chosen(name)]


def keep(form: FlaskForm) -> None:
    """Stage the files of a form that is shown again, with an error beside what cannot be."""
    fields = [field for field in form if isinstance(field, UploadField)]
    if not any(_chosen(field.name) or _entries(field.name) for field in fields):
        return
    session().rollback()  # else participants' answers wait while the files are written
    delete_old(current_app.config["INSTANCE"])
    for field in fields:
        several = isinstance(field, UploadsField)
        staged = [stage(file) for file in _chosen(field.name)]
        kept = _not_replaced(field.name, several=several)
        for file in kept:
            os.utime(file.path)
        g.staged = [*g.get("staged", ()), *filter(None, staged)]
        field.kept = [*kept, *(file for file in staged if file is not None)]
    _delete_least_recent(request.max_content_length or 0)
    for field in fields:
        kept = [file for file in field.kept if file.path.is_file()]
        if len(kept) < len(field.kept) or (not kept and is_uploaded(field.name)):
            field.errors = [NOT_KEPT, *field.errors]
        field.kept = kept
    begin_reading(session())


def stage(file: FileStorage) -> StagedFile | None:
    """Store a file under its SHA-256; return None, and log why, where that cannot be done."""
    folder = _folder_of_researcher()
    try:
        file.seek(0)  # it may have been read
        digest = hashlib.sha256()
        for chunk in _chunks(file.stream):
            digest.update(chunk)
        staged = StagedFile(digest.hexdigest(), (file.filename or "file")[:500])
        if staged.path.is_file():
            file.seek(0)
            os.utime(staged.path)
            return staged
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Two threads may be sent the same file at once.
        part = folder / f"{staged.sha256}.part-{secrets.token_hex(4)}"
        file.seek(0)
        file.save(part)
        file.seek(0)
        part.rename(staged.path)
    except OSError as error:  # the disk is full, or the folder is read-only
        current_app.logger.error("Files could not be kept at %s: %s", request.endpoint, error)
        return None
    return staged


def stage_sent(name: str) -> list[StagedFile]:
    """Stage the files that a script sends of a field as they are chosen."""
    session().rollback()  # else participants' answers wait while the files are written
    delete_old(current_app.config["INSTANCE"])
    staged = [stage(file) for file in _chosen(name)]
    _delete_least_recent(request.max_content_length or 0)
    return [file for file in staged if file is not None and file.path.is_file()]


def forget_used(response: Response) -> Response:
    """Delete the kept files of a form that leads on to another page, since they were used."""
    if response.status_code == 303 and "researcher" in g:
        forget()
    return response


def forget() -> None:
    """Delete the files that were kept for the form that was sent."""
    for file in g.get("staged", ()):
        file.path.unlink(missing_ok=True)
    for name in request.form:
        if name.startswith(PREFIX):
            for file in _entries(name.removeprefix(PREFIX)):
                file.path.unlink(missing_ok=True)


def delete_old(instance: Path) -> None:
    """Delete what was kept for a day."""
    for path in (instance / UPLOADS_FOLDER).glob("*/*"):
        if not _is_recent(path):
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(True)


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        yield chunk


def _chosen(name: str) -> list[FileStorage]:
    return [file for file in request.files.getlist(name) if file.filename]


def _entries(name: str) -> list[StagedFile]:
    """Return the files that a page named for a field, without those that were to be removed."""
    dropped = {*request.form.getlist(f"{DROP}{name}")}
    matches: Iterable[re.Match[str] | None] = map(
        ENTRY.fullmatch, request.form.getlist(f"{PREFIX}{name}")
    )
    entries = dict.fromkeys(StagedFile(*match.groups()) for match in matches if match)
    return [file for file in entries if not dropped & {"on", file.value}]


def _not_replaced(name: str, *, several: bool) -> list[StagedFile]:
    """Return what is kept of a field, but for what chosen files replace."""
    chosen = {file.filename for file in _chosen(name)}
    if chosen and not several:
        return []
    return [file for file in _kept(name) if file.name not in chosen]


def _kept(name: str) -> list[StagedFile]:
    """Return what earlier presses, or scripts, left of a field."""
    return [file for file in _entries(name) if _is_recent(file.path)]


def _delete_least_recent(largest: int) -> None:
    """Delete what the researcher's kept files have beyond this number of bytes, oldest first."""
    files = (path for path in _folder_of_researcher().glob("*") if path.is_file())
    total = 0
    for path in sorted(files, key=_time_and_size, reverse=True):
        total += _time_and_size(path)[1]
        if total > largest:
            path.unlink(missing_ok=True)


def _folder_of_researcher() -> Path:
    # Not g.researcher.id, which may ask the database, and then keeps it locked.
    (researcher_id,) = inspect(g.researcher).identity
    return Path(current_app.config["INSTANCE"]) / UPLOADS_FOLDER / str(researcher_id)


def _is_recent(path: Path) -> bool:
    return _time_and_size(path)[0] > time() - SECONDS_KEPT


def _time_and_size(path: Path) -> tuple[float, int]:
    """Return when a path was written, and its bytes; zeros where another process deletes it."""
    try:
        status = path.stat()
    except OSError:
        return 0.0, 0
    return status.st_mtime, status.st_size
