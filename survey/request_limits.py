"""Requests as waitress reads them, within limits of size and of the time they take to arrive."""

from time import monotonic
from typing import ClassVar
from weakref import WeakSet

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.utilities import Error

ARRIVAL_SECONDS = 60  # for a request to arrive, and a second more for each ``SLOWEST`` bytes
SLOWEST = 10_000
LARGEST_BODY = {True: 2**27, False: 2**20}  # of researchers, of others; the pages allow less
UPLOADS = 8  # of a process at once, since anyone may send them before the page asks who it is
BODY_IN_MEMORY = 2**16  # bytes; the rest is in a file


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
