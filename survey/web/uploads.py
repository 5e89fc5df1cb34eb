"""The files of a form that is refused: kept for an hour, so that they need not be chosen again.

No page can fill in a field of files. The files of a field are therefore stored in a folder below
the instance folder, and the page gets a random token in their place. The folder is the
researcher's, and its name a hash of form, field and token: elsewhere the token opens nothing.
"""

import io
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import time

from flask import Response, current_app, g, request
from flask_wtf import FlaskForm
from sqlalchemy import inspect
from werkzeug.datastructures import FileStorage
from wtforms import FileField
from wtforms.validators import ValidationError
from wtforms.widgets import FileInput

from survey.services.operations.database import begin_reading
from survey.tokens import hash_token
from survey.web.requests import session

UPLOADS_FOLDER = "uploads"  # in the instance folder
SECONDS_KEPT = 3600
NAMES_FILE = "names.json"
# Before a field's name: the name of the hidden field with its token, and of the tick to drop them.
PREFIX, DROP = "kept-", "drop-"

TOO_LATE = (
    "What was chosen here is no longer kept: files are kept for an hour, or until later ones need "
    "the room. Please choose it again."
)
NOT_KEPT = "What was chosen here could not be kept. Please choose it again."


@dataclass(frozen=True)
class KeptFiles:
    """The files of a field in their folder, numbered; ``names``: as the browser sent them."""

    folder: Path
    token: str
    names: Sequence[str]

    def open(self) -> list[FileStorage]:
        """Return the files as if the browser had sent them again."""
        return [
            FileStorage(io.BytesIO((self.folder / str(number)).read_bytes()), name)
            for number, name in enumerate(self.names)
        ]


class UploadField(FileField):  # type: ignore[misc] # WTForms has no type hints
    """A field of a file; ``kept``: the files that a page holds which shows the form again."""

    kept: KeptFiles | None = None

    def pre_validate(self, _: object) -> None:
        """Reject a form whose kept files are deleted: it would be used without them."""
        is_expected = bool(_token(self.name)) and not _is_dropped(self.name)
        if is_expected and not is_uploaded(self.name):
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


def chosen_files(name: str) -> list[FileStorage]:
    """Return the files that were chosen in a field, else those that are kept of it."""
    kept = _kept(name)
    return _chosen(name) or (kept.open() if kept else [])


def keep(form: FlaskForm) -> None:
    """Keep the files of a form that is shown again; what cannot be kept is an error beside it."""
    fields = [field for field in form if isinstance(field, UploadField)]
    if not any(_chosen(field.name) or _token(field.name) for field in fields):
        return
    session().rollback()  # else participants' answers wait while the files are written
    delete_old(current_app.config["INSTANCE"])
    filled = [field for field in fields if is_uploaded(field.name)]
    for field in fields:
        field.kept = _renewed(field.name)
    _delete_least_recent(request.max_content_length or 0)
    for field in filled:
        if field.kept is None or not field.kept.folder.is_dir():
            field.kept, field.errors = None, [NOT_KEPT, *field.errors]
    begin_reading(session())


def forget_used(response: Response) -> Response:
    """Delete the kept files of a form that leads on to another page, since they were used."""
    if response.status_code == 303 and "researcher" in g:
        forget()
    return response


def forget() -> None:
    """Delete the files that were kept for the form that was sent."""
    for name in request.form:
        if name.startswith(PREFIX):
            shutil.rmtree(_folder(name.removeprefix(PREFIX)), ignore_errors=True)


def delete_old(instance: Path) -> None:
    """Delete what was kept for an hour."""
    for folder in (instance / UPLOADS_FOLDER).glob("*/*"):
        if not _is_recent(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _chosen(name: str) -> list[FileStorage]:
    return [file for file in request.files.getlist(name) if file.filename]


def _token(name: str) -> str:
    return request.form.get(f"{PREFIX}{name}", "")


def _is_dropped(name: str) -> bool:
    return f"{DROP}{name}" in request.form


def _kept(name: str) -> KeptFiles | None:
    """Return what an earlier press left of a field; None without it, or if it is to be dropped."""
    if not _token(name) or _is_dropped(name) or not _is_recent(_folder(name)):
        return None
    names = json.loads((_folder(name) / NAMES_FILE).read_text())
    return KeptFiles(_folder(name), _token(name), names)


def _renewed(name: str) -> KeptFiles | None:
    """Return the files of a field, kept for another hour, in place of those kept before."""
    chosen, kept = _chosen(name), _kept(name)
    if kept and not chosen:
        os.utime(kept.folder)
        return kept
    if _token(name):
        shutil.rmtree(_folder(name), ignore_errors=True)
    return _stored(name, chosen) if chosen else None


def _stored(name: str, files: Sequence[FileStorage]) -> KeptFiles | None:
    """Write files under numbers, with their names in a list; None where they cannot be written."""
    token = secrets.token_urlsafe()
    kept = KeptFiles(_folder(name, token), token, [file.filename or "" for file in files])
    try:
        kept.folder.mkdir(mode=0o700, parents=True)
        for number, file in enumerate(files):
            file.seek(0)  # it may have been read
            file.save(kept.folder / str(number))
        (kept.folder / NAMES_FILE).write_text(json.dumps(kept.names))
    except OSError as error:  # the disk is full, or the folder is read-only
        current_app.logger.error("Files could not be kept at %s: %s", request.endpoint, error)
        shutil.rmtree(kept.folder, ignore_errors=True)
        return None
    return kept


def _delete_least_recent(largest: int) -> None:
    """Delete what the researcher's kept files have beyond this number of bytes, oldest first."""
    folders = sorted(_folder_of_researcher().glob("*"), key=_time_and_size, reverse=True)
    total = 0
    for folder in folders:
        total += sum(_time_and_size(file)[1] for file in folder.glob("*"))
        if total > largest:
            shutil.rmtree(folder, ignore_errors=True)


def _folder_of_researcher() -> Path:
    # Not g.researcher.id, which may ask the database, and then keeps it locked.
    (researcher_id,) = inspect(g.researcher).identity
    return Path(current_app.config["INSTANCE"]) / UPLOADS_FOLDER / str(researcher_id)


def _folder(name: str, token: str | None = None) -> Path:
    form = f"{request.endpoint} {g.slug or ''}"
    return _folder_of_researcher() / hash_token(f"{form} {name} {token or _token(name)}")


def _is_recent(folder: Path) -> bool:
    return _time_and_size(folder)[0] > time() - SECONDS_KEPT


def _time_and_size(path: Path) -> tuple[float, int]:
    """Return when a path was written, and its bytes; zeros where another process deletes it."""
    try:
        status = path.stat()
    except OSError:
        return 0.0, 0
    return status.st_mtime, status.st_size
