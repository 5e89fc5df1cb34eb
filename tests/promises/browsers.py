"""A class that opens a page at once: browsers with six connections each, in one thread."""

import asyncio
import contextlib
import re
import resource
import ssl
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

ASSET = re.compile(rb'(?:href|src)="(/[^"]*static/[^"]*)"')
SIX = 6  # connections of a browser to one address
HEAD = "GET {} HTTP/1.1\r\nHost: {}\r\nAccept-Encoding: identity\r\nConnection: keep-alive\r\n\r\n"


@contextmanager
def many_files(wanted: int) -> Iterator[None]:
    """Let this process open so many files more."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(before[1], wanted + 1_000), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


class Line:
    """A connection to the server; with ``tls``, by HTTPS under the name ``host``."""

    def __init__(
        self, port: int, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None
    ) -> None:
        self.port, self.host, self.tls = port, host, tls

    async def open(self) -> None:
        """Connect, as often as that takes."""
        self.reader, self.writer = await asyncio.open_connection(
            *("127.0.0.1", self.port), ssl=self.tls, server_hostname=self.host if self.tls else None
        )

    async def get(self, path: str) -> bytes:
        """Return the body of a page; raise AssertionError unless its status is 200."""
        self.writer.write(HEAD.format(path, self.host).encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = re.search(rb"(?i)content-length: (\d+)", head)
        assert length, head
        return await self.reader.readexactly(int(length[1]))

    def close(self) -> None:
        """Close the connection."""
        with contextlib.suppress(AttributeError):
            self.writer.close()


def in_own_loop(coming: Coroutine[Any, Any, T]) -> T:
    """Run it in a thread: another test of this process may have left its loop running."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coming).result()


@dataclass
class Arrivals:
    """Browsers that come at once. ``seconds``: until each had its page, since all of them began."""

    port: int
    path: str
    host: str = "127.0.0.1"
    tls: ssl.SSLContext | None = None
    assets: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    async def page_then_assets(self, lines: list[Line]) -> None:
        """Get the page, then open the other connections, and get the assets over all of them."""
        await lines[0].open()
        await lines[0].get(self.path)
        self.seconds.append(time.monotonic() - self.began)
        await asyncio.gather(*(line.open() for line in lines[1:]))
        await self._get_all(lines, self.assets)

    async def page_beside_idle(self, lines: list[Line]) -> None:
        """Open all connections, and get the page over the first: Chrome opens more in advance."""
        await asyncio.gather(*(line.open() for line in lines))
        await lines[0].get(self.path)
        self.seconds.append(time.monotonic() - self.began)

    async def six_at_once(self, lines: list[Line]) -> None:
        """Open all connections, and get the page and five assets at once."""
        await asyncio.gather(*(line.open() for line in lines))
        await self._get_all(lines, [self.path, *(self.assets * SIX)[: SIX - 1]])
        self.seconds.append(time.monotonic() - self.began)

    async def _get_all(self, lines: list[Line], paths: list[str]) -> None:
        async def get_share(number: int) -> None:
            for path in paths[number::SIX]:
                await lines[number].get(path)

        await asyncio.gather(*(get_share(number) for number in range(SIX)))

    def come(self, pattern: str, browsers: int) -> None:
        """Let so many browsers come at once, until all have what they want."""
        in_own_loop(self._come(pattern, browsers))

    def _line(self) -> Line:
        return Line(self.port, self.host, self.tls)

    async def _come(self, pattern: str, browsers: int) -> None:
        first = self._line()
        await first.open()
        page = await first.get(self.path)
        self.assets = [match.decode() for match in ASSET.findall(page)]
        first.close()
        assert self.assets
        lines = [[self._line() for _ in range(SIX)] for _ in range(browsers)]
        self.began = time.monotonic()
        try:
            await asyncio.gather(*(getattr(self, pattern)(own) for own in lines))
        finally:
            for own in lines:
                for line in own:
                    line.close()
