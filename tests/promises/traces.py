"""What a browser receives, to the last byte, and what in it could be the trace of a word."""

import base64
import hashlib
import html
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from flask import Flask
from werkzeug.exceptions import HTTPException

from tests.builders import VISITOR_COOKIE

HASHES = ("md5", "sha1", "sha256")
SHORTEST_HASH = 8  # hexadecimal digits


@dataclass(frozen=True)
class Heard:
    """A response: to which request, from which view, and every byte of it."""

    method: str
    path: str
    endpoint: str | None
    status: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def code(self) -> int:
        """The status as a number."""
        return int(self.status[:3])

    @property
    def bytes(self) -> bytes:
        """All that came over the line."""
        lines = [self.status, *(f"{name}: {value}" for name, value in self.headers)]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + self.body

    @property
    def cookies(self) -> dict[str, str]:
        """The cookies it sets."""
        found: dict[str, str] = {}
        for name, value in self.headers:
            if name == "Set-Cookie":
                found |= {key: one.value for key, one in SimpleCookie(value).items()}
        return found

    @property
    def remembered(self) -> dict[str, Any] | None:
        """What the survey's own cookie holds, read without the key; None when it sets none."""
        value = self.cookies.get(VISITOR_COOKIE)
        return None if not value else payload(value)


def payload(cookie: str) -> dict[str, Any]:
    """Read a signed cookie as anybody can: signed is not secret."""
    text = cookie.removeprefix(".").partition(".")[0]
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return dict(json.loads(zlib.decompress(raw) if cookie.startswith(".") else raw))


class Ear:
    """Stands between a browser and the application, and writes down what passes."""

    def __init__(self, app: Flask) -> None:
        self.app, self.inner, self.heard = app, app.wsgi_app, list[Heard]()
        app.wsgi_app = self  # type: ignore[method-assign] # how Flask says to do it

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        started: list[Any] = []

        def start(status: str, headers: Any, exc_info: Any = None) -> Any:
            started[:] = [status, tuple((str(name), str(value)) for name, value in headers)]
            return start_response(status, headers, exc_info)

        answer = self.inner(environ, start)
        body = b"".join(answer)
        if hasattr(answer, "close"):
            answer.close()
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.heard.append(Heard(method, path, self._endpoint(path, method), *started, body))
        return [body]

    def _endpoint(self, path: str, method: str) -> str | None:
        try:
            return self.app.url_map.bind("localhost").match(path, method)[0]
        except HTTPException:
            return None


class Trace:
    """Looks for words in responses: as they are, and in what they may have been turned into."""

    def __init__(self, words: Iterable[str]) -> None:
        words = list(words)
        self.words = {word.lower().encode() for word in words}
        self.words |= {word[::-1] for word in self.words}
        spelled = {form for word in words for form in (word, word.lower(), word.upper())}
        self.forms = {form.lower() for word in spelled for form in _forms(word)} - self.words
        self._known: dict[bytes, list[bytes]] = {}

    def found_in(self, heard: Heard) -> list[bytes]:
        """Return the words and forms of words that a response holds."""
        remembered = json.dumps(heard.remembered).encode()
        found = self._in(heard.body) + self._in(heard.bytes.removesuffix(heard.body) + remembered)
        return sorted(found)

    def _in(self, raw: bytes) -> list[bytes]:
        if raw not in self._known:
            plain = raw.lower()
            unescaped = html.unescape(raw.decode("utf-8", "replace")).encode().lower()
            clear = b"\0".join({plain, unescaped, unquote_to_bytes(raw).lower()})
            self._known[raw] = [word for word in self.words if word in clear]
            self._known[raw] += [form for form in self.forms if form in plain]
        return self._known[raw]


def _forms(word: str) -> Iterator[bytes]:
    raw = word.encode()
    yield raw.hex().encode()
    for code in ("utf-16-le", "utf-16-be"):
        yield word.encode(code)
    for offset in range(3):  # a word may begin anywhere within three bytes
        coded = base64.b64encode(b"\0" * offset + raw)
        yield coded[-(-offset * 8 // 6) : (offset + len(raw)) * 8 // 6]
    yield "".join(f"%{byte:02x}" for byte in raw).encode()
    yield quote(word).encode()
    yield from (
        "".join(pattern.format(ord(sign)) for sign in word).encode()
        for pattern in ("&#{};", "&#x{:x};", "\\u{:04x}", "\\x{:02x}")
    )
    for name in HASHES:
        yield hashlib.new(name, raw).hexdigest()[:SHORTEST_HASH].encode()
