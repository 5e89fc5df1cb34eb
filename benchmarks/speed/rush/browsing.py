"""A browser without scripts: a cookie, pages, forms, and redirects that are followed."""

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from benchmarks.speed.rush.wire import Reply

HIDDEN = re.compile(rb'<input type="hidden" name="(\w+)" value="([^"]*)"')
COOKIE = re.compile(rb"\r\nset-cookie: *([^;\r]+)", re.IGNORECASE)
LOCATION = re.compile(rb"\r\nlocation: *(?:http://[^/]+)?(/[^\r]*)", re.IGNORECASE)

Asking = Generator[Any, Any, "Page"]  # of the bytes of requests, and seconds to think


class RefusedError(Exception):
    """A server answered something else than a page or the way to it."""


@dataclass(frozen=True)
class Page:
    """A page, where it is, and the seconds since the click that led to it."""

    path: str
    body: bytes
    seconds: float

    @property
    def hidden(self) -> dict[str, str]:
        """The hidden fields of its forms."""
        return {name.decode(): value.decode() for name, value in HIDDEN.findall(self.body)}


class Browser:
    """What a server knows a person by, and how requests are written."""

    def __init__(self) -> None:
        self.cookie = b""

    def get(self, path: str) -> Asking:
        """Open a page, and follow where it leads."""
        return (yield from self._see(self._request("GET", path)))

    def submit(self, path: str, fields: Mapping[str, str]) -> Asking:
        """Send a form, and follow where it leads."""
        return (yield from self._see(self._request("POST", path, urlencode(fields)), path))

    def _see(self, request: bytes, path: str = "") -> Asking:
        clicked = 0.0
        while True:
            reply: Reply = yield request
            clicked = clicked or reply.sent
            if found := COOKIE.search(reply.head):
                self.cookie = found[1]
            if reply.status == 200:
                return Page(path, reply.body, reply.received - clicked)
            where = LOCATION.search(reply.head)
            if reply.status not in (302, 303, 307) or where is None:
                raise RefusedError(f"{reply.status}: {reply.body[:2000]!r}")
            path = where[1].decode()
            request = self._request("GET", path)

    def _request(self, method: str, path: str, body: str | None = None) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
        if self.cookie:
            lines.append(f"Cookie: {self.cookie.decode()}")
        if body is not None:
            lines.append("Content-Type: application/x-www-form-urlencoded")
            lines.append(f"Content-Length: {len(body)}")
        return ("\r\n".join(lines) + "\r\n\r\n" + (body or "")).encode()
