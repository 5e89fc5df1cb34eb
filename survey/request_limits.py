"""What waitress accepts: limits of connections, and of a request's size and time to arrive."""

import resource
from contextlib import suppress
from time import monotonic
from typing import ClassVar
from weakref import WeakSet

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.utilities import Error

BACKLOG = 65_535  # connections not yet accepted; net.core.somaxconn may allow fewer
MOST_CONNECTIONS = 5_000  # of a process
OTHER_FILES = 200  # that a process may open beside its connections
IDLE_SECONDS = 30  # without a byte from the other side; then the connection is closed
ARRIVAL_SECONDS = 60  # for a request to arrive, and a second more for each ``SLOWEST`` bytes
SLOWEST = 10_000
LARGEST_BODY = {True: 2**27, False: 2**20}  # of researchers, of others; the pages allow less
UPLOADS = 8  # of a process at once, since anyone may send them before the page asks who it is
BODY_IN_MEMORY = 2**16  # bytes; the rest is in a file


def settings() -> Adjustments:
    """Return the settings of waitress in this process."""
    return Adjustments(
        backlog=BACKLOG,  # it listens once more
        connection_limit=_most_connections(),
        channel_timeout=IDLE_SECONDS,
        cleanup_interval=5,
        max_request_body_size=LARGEST_BODY[True],
        inbuf_overflow=BODY_IN_MEMORY,
        outbuf_high_watermark=2**40,  # a slow receiver keeps no thread: the rest goes to a file
        clear_untrusted_proxy_headers=False,  # ProxyFix knows which to trust
        ident="",
    )


def _most_connections() -> int:
    """Let the process open as many files as it may; return how many connections to accept."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = (
        MOST_CONNECTIONS + OTHER_FILES if most < 0 else min(MOST_CONNECTIONS + OTHER_FILES, most)
    )
    if wanted > allowed:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
            allowed = wanted
    return min(MOST_CONNECTIONS, allowed - OTHER_FILES)


class UnavailableError(Error):  # type: ignore[misc] # waitress has no type hints
    """The answer to a body for which there is no room now."""

    code = 503
    reason = "Service Unavailable"


class RequestParser(HTTPRequestParser):  # type: ignore[misc] # waitress has no type hints
    """Reject a long body, and an upload beside many others, by its header, before it is read.

    ``until``: when the request must have arrived. ``is_last``: whether the connection ends then.
    """

    is_last = False
    small = Adjustments(max_request_body_size=LARGEST_BODY[False], inbuf_overflow=BODY_IN_MEMORY)
    uploads: ClassVar["WeakSet[RequestParser]"] = WeakSet()

    def __init__(self, adjustments: Adjustments):
        super().__init__(adjustments)
        self.until = monotonic() + ARRIVAL_SECONDS

    def received(self, data: bytes) -> int:
        """Parse more of the request; return how many bytes belong to it."""
        size = len(data)
        try:
            size = super().received(data)
        except OSError:  # the disk is full, or there is no temporary folder
            self._refuse()
        self.until += size / SLOWEST
        return size

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the header, and choose the limit of the body by the path."""
        super().parse_header(header_plus)
        if self.is_last:
            self.headers["CONNECTION"] = "close"
        if self.chunked or not self.path.startswith("/research/"):  # no page takes chunks
            self.adj = self.small
        elif self.content_length > LARGEST_BODY[False]:
            if len(self.uploads) < UPLOADS:
                self.uploads.add(self)
            else:
                self._refuse()

    def _refuse(self) -> None:
        self.error, self.completed = UnavailableError("Please try again later."), True


class Channel(HTTPChannel):  # type: ignore[misc] # waitress has no type hints
    """A connection whose requests are limited by their paths, and in the time they take."""

    parser_class = RequestParser

    def received(self, data: bytes) -> bool:
        """Take in more bytes; close the connection if its request takes too long to arrive."""
        took: bool = super().received(data)
        if self.request is not None and monotonic() > self.request.until:
            self.will_close = True
        return took
