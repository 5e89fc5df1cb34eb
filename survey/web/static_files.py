"""Static files under names that hold a hash of their content: question.3f9a1c2b5d7e.js.

They are read once, when the server starts, so that what goes out under a hash is always
what was hashed. A browser may keep a file for good under its present name. A plain or an
outdated name is answered with the present content, which has to be asked for again: a page
that was open during an upgrade keeps its looks, and its scripts are made to be optional.
"""

import re
from dataclasses import dataclass
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path

from flask import Flask, Response, current_app, request
from werkzeug.exceptions import NotFound

from survey.web.requests import prefix

HASHED = re.compile(r"(?P<stem>.+)\.(?P<hash>[0-9a-f]{12})(?P<ending>\.\w+)")
FOR_GOOD = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"


@dataclass(frozen=True)
class StaticFile:
    """What a static file holds, and what it is."""

    content: bytes
    kind: str
    hash: str

    @classmethod
    def read(cls, path: Path) -> "StaticFile":
        """Read a file."""
        content = path.read_bytes()
        kind = guess_type(path.name)[0] or "application/octet-stream"
        return cls(content, kind, sha256(content).hexdigest()[:12])


def init_app(app: Flask) -> None:
    """Serve the files of Flask's static folder, and let templates name them by content."""
    paths = [path for path in Path(str(app.static_folder)).iterdir() if path.is_file()]
    app.extensions["static_files"] = {path.name: StaticFile.read(path) for path in paths}
    app.view_functions["static"] = send
    app.add_template_global(asset)


def asset(name: str) -> str:
    """Return the address of a static file, with its hash."""
    stem, _, ending = name.rpartition(".")
    # What url_for would say; five of them stand on each page.
    return f"{prefix()}{current_app.static_url_path}/{stem}.{_files()[name].hash}.{ending}"


def send(filename: str) -> Response:
    """Answer with a static file; whether to keep it depends on the name."""
    named = HASHED.fullmatch(filename)
    file = _files().get(named["stem"] + named["ending"] if named else filename)
    if file is None:
        raise NotFound
    response = Response(file.content, content_type=_content_type(file.kind))
    is_present = named is not None and named["hash"] == file.hash
    response.headers["Cache-Control"] = FOR_GOOD if is_present else ASK_AGAIN
    response.set_etag(file.hash)
    response.make_conditional(request)
    return response


def _content_type(kind: str) -> str:
    is_text = kind.startswith("text/") or kind == "image/svg+xml"
    return f"{kind}; charset=utf-8" if is_text else kind


def _files() -> dict[str, StaticFile]:
    files: dict[str, StaticFile] = current_app.extensions["static_files"]
    return files
