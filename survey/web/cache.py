"""Cache what is the same for many people: parts of pages here, static files in browsers.

In a template, ``{% call part(NAME, …) %}…{% endcall %}`` lists everything that the part depends
on; the language is always added. A part holds no addresses, since these depend on the prefix of
the request.

Static files have a hash of their content in their names: question.3f9a1c2b5d7e.js. They are
read once, when the server starts, so that a hash always names the content that was hashed. A
browser may cache a file under its current name without asking again. A name with no hash, or an
outdated one, gets the current content, which the browser has to revalidate. So a page that was
open during an upgrade keeps its looks; its scripts are optional anyway.
"""

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from typing import Any

from flask import Flask, Response, current_app, request
from werkzeug.exceptions import NotFound

from survey.web.language import page_language
from survey.web.requests import prefix

# In characters, most of them in texts of two bytes each. A question's page takes 11,000, and
# its table 7,000 more; all labels and columns of the paper's study take 7 million.
MAX_CHARACTERS = 20_000_000

HASHED = re.compile(r"(?P<stem>.+)\.(?P<hash>[0-9a-f]{12})(?P<ending>\.\w+)")
CACHE_FOR_A_YEAR = "public, max-age=31536000, immutable"
REVALIDATE = "no-cache"


def init_app(app: Flask) -> None:
    """Serve the files of Flask's static folder; let templates call ``part`` and ``asset``."""
    paths = [path for path in Path(str(app.static_folder)).iterdir() if path.is_file()]
    app.extensions["static_files"] = {path.name: StaticFile.read(path) for path in paths}
    app.view_functions["static"] = send
    app.add_template_global(asset)
    app.add_template_global(part)


class PartCache(dict[tuple[Hashable, ...], Any]):
    """Rendered parts by what they depend on; emptied before it exceeds ``MAX_CHARACTERS``."""

    characters = 0

    def store(self, key: tuple[Hashable, ...], rendered: str) -> None:
        """Store a part, unless it alone is larger than the cache may be."""
        if self.characters + len(rendered) > MAX_CHARACTERS:
            self.clear()
            self.characters = 0
        if len(rendered) <= MAX_CHARACTERS:
            self[key] = rendered
            self.characters += len(rendered)


_cache = PartCache()


def part(*depends_on: Hashable, caller: Callable[[], str]) -> str:
    """Return the content of the call block, from the cache if it was rendered before."""
    key = (page_language(), *depends_on)
    rendered = _cache.get(key)
    if rendered is None:
        rendered = caller()
        _cache.store(key, rendered)
    return rendered


@dataclass(frozen=True)
class StaticFile:
    """A file's content, media type and hash."""

    content: bytes
    media_type: str
    hash: str

    @classmethod
    def read(cls, path: Path) -> "StaticFile":
        """Read a file, guess its media type by its name, and hash it."""
        content = path.read_bytes()
        media_type = guess_type(path.name)[0] or "application/octet-stream"
        return cls(content, media_type, sha256(content).hexdigest()[:12])


def asset(name: str) -> str:
    """Return the address of a static file, with its hash."""
    stem, _, ending = name.rpartition(".")
    # The result of url_for, without its cost: each page has five of them.
    return f"{prefix()}{current_app.static_url_path}/{stem}.{_files()[name].hash}.{ending}"


def send(filename: str) -> Response:
    """Return a static file; its cache time depends on whether the name holds its hash."""
    match = HASHED.fullmatch(filename)
    file = _files().get(match["stem"] + match["ending"] if match else filename)
    if file is None:
        raise NotFound
    response = Response(file.content, content_type=_content_type(file.media_type))
    is_current = match is not None and match["hash"] == file.hash
    response.headers["Cache-Control"] = CACHE_FOR_A_YEAR if is_current else REVALIDATE
    response.set_etag(file.hash)
    response.make_conditional(request)
    return response


def _content_type(media_type: str) -> str:
    is_text = media_type.startswith("text/") or media_type == "image/svg+xml"
    return f"{media_type}; charset=utf-8" if is_text else media_type


def _files() -> dict[str, StaticFile]:
    files: dict[str, StaticFile] = current_app.extensions["static_files"]
    return files
