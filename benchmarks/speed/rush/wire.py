"""Many connections in one thread, cheap enough to share two processors with a server.

A talk is a generator: it yields a request's bytes and is sent the reply, or yields seconds
to think and is sent nothing.
"""

import heapq
import re
import selectors
import socket
from collections.abc import Generator, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE)
PATIENCE = 60.0  # seconds until a reply counts as lost


@dataclass(frozen=True)
class Reply:
    """What a server said to a request, and the moments of both."""

    status: int
    head: bytes
    body: bytes
    sent: float
    received: float


Talk = Generator[bytes | float, Any, None]  # a Reply to bytes, nothing to seconds


class LostError(Exception):
    """A server closed a connection, or stayed silent, instead of replying."""


def whole_body(head: bytes, sent: bytes) -> bytes | None:
    """Return a reply's body once all of it is there, put together if it came in chunks."""
    if length := LENGTH.search(head):
        return sent if len(sent) >= int(length[1]) else None
    if not CHUNKED.search(head) or not sent.endswith(b"0\r\n\r\n"):
        return None
    body, rest = b"", sent
    while True:
        line, ended, rest = rest.partition(b"\r\n")
        size = int(line, 16) if ended else 0
        if not ended or len(rest) < size + 2:
            return None  # what looked like the end was within a chunk
        if not size:
            return body
        body, rest = body + rest[:size], rest[size + 2 :]


class Line:
    """One talk and its connection, which is opened again where a server let it go."""

    def __init__(self, talk: Talk, address: tuple[str, int], watched: selectors.BaseSelector):
        self.talk, self.address, self.watched = talk, address, watched
        self.socket: socket.socket | None = None
        self.heard, self.sent = b"", 0.0

    def ask(self, request: bytes) -> None:
        """Send a request."""
        if self.socket is None:
            self.socket = socket.create_connection(self.address, timeout=PATIENCE)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.watched.register(self.socket, selectors.EVENT_READ, self)
        self.heard, self.sent = b"", perf_counter()
        self.socket.sendall(request)

    def hear(self) -> Reply | None:
        """Take in what came; the reply once it is whole.

        Raises LostError where the connection ends within a request.
        """
        came = self.socket.recv(65536) if self.socket else b""
        if not came:
            self.close()
            if self.sent:
                raise LostError("the connection was closed without a reply")
            return None
        self.heard += came
        head, _, sent = self.heard.partition(b"\r\n\r\n")
        body = whole_body(head, sent)
        if body is None:
            return None
        reply = Reply(int(head[9:12]), head, body, self.sent, perf_counter())
        self.sent = 0.0
        return reply

    def close(self) -> None:
        """Let go of the connection."""
        if self.socket is not None:
            self.watched.unregister(self.socket)
            self.socket.close()
            self.socket = None


def attend(
    talks: Iterable[Talk], address: tuple[str, int], at_once: int, seconds: float = 1e9
) -> float:
    """Let talks run, so many at once; after ``seconds`` none begins, and who thinks goes home.

    Returns the seconds until fewer than ``at_once`` were left. Raises what a talk raises,
    LostError included.
    """
    return Hall(talks, address, at_once, seconds).run()


class Hall:
    """The talks that are under way, and those that come after them."""

    def __init__(
        self, talks: Iterable[Talk], address: tuple[str, int], at_once: int, seconds: float
    ):
        self.waiting, self.address, self.at_once = iter(talks), address, at_once
        self.watched = selectors.DefaultSelector()
        self.thinking: list[tuple[float, int, Line]] = []
        self.lines: set[Line] = set()
        self.begun = perf_counter()
        self.until, self.thinned = self.begun + seconds, 0.0

    def run(self) -> float:
        """Attend to all of them; hang up on all if one raises something."""
        try:
            self._attend()
        finally:
            for line in self.lines:
                line.close()
            self.watched.close()
        return self.thinned - self.begun

    def _attend(self) -> None:
        for _ in range(self.at_once):
            self._admit()
        while self.lines:
            for key, _ in self.watched.select(self._next_thought()):
                self._listen(key.data)
            now = perf_counter()
            while self.thinking and self.thinking[0][0] <= now:
                self._go_on(heapq.heappop(self.thinking)[2], None)

    def _next_thought(self) -> float:
        if not self.thinking:
            return PATIENCE
        return max(0.0, self.thinking[0][0] - perf_counter())

    def _admit(self) -> None:
        talk = next(self.waiting, None) if perf_counter() < self.until else None
        if talk is None:
            self.thinned = self.thinned or perf_counter()
            return
        line = Line(talk, self.address, self.watched)
        self.lines.add(line)
        self._go_on(line, None)

    def _listen(self, line: Line) -> None:
        if (reply := line.hear()) is not None:
            self._go_on(line, reply)

    def _go_on(self, line: Line, reply: Reply | None) -> None:
        try:
            said = line.talk.send(reply)
        except StopIteration:
            self._end(line)
            return
        if isinstance(said, float) and perf_counter() > self.until:
            line.talk.close()
            self._end(line)
        elif isinstance(said, float):
            heapq.heappush(self.thinking, (perf_counter() + said, id(line), line))
        else:
            line.ask(said)

    def _end(self, line: Line) -> None:
        line.close()
        self.lines.discard(line)
        self._admit()
