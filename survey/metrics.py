"""What Prometheus reads of the server: requests of all processes, and gauges, at ``/metrics``.

The counts are in memory that the processes share, as other numbers of the server are. A library
(prometheus-client) would write a file for each process that ever ran, into a folder that has to be
emptied, and its code that is needed would be as long.
"""

import os
import signal
import socket
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import accumulate
from threading import Lock
from typing import TYPE_CHECKING

from survey.worker import LIFE, SIGNALS, Numbers, shared_numbers

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

METHODS = ("GET", "POST", "other")
STATUSES = (
    *("200", "201", "204", "206", "301", "302", "303", "304", "308", "400", "401", "403", "404"),
    *("405", "409", "410", "411", "413", "415", "429", "500", "503", "other"),
)
# In seconds; a request is counted in the first that it does not exceed, or in none of them.
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
ROW_WIDTH = len(STATUSES) + len(BUCKETS) + 1  # the last: all seconds
NO_ROUTE = "other"  # of an address that is no page's
REQUEST_SECONDS = 5.0  # in which a request for the metrics must arrive
WAIT_SECONDS = 0.5  # for a request; then the process shows life


class RequestCounts:
    """Requests by route, method, status and duration, counted by several processes."""

    def __init__(self, routes: Iterable[str], workers: int):
        names = (*sorted(set(routes)), NO_ROUTE)
        self._rows = {row: n for n, row in enumerate((r, m) for r in names for m in METHODS)}
        self._numbers = shared_numbers(workers * len(self._rows) * ROW_WIDTH)
        self._lock = Lock()

    def add(self, worker: int, environ: "WSGIEnvironment", status: str, seconds: float) -> None:
        """Count a request that the process with this number answered."""
        method = environ["REQUEST_METHOD"]
        method = method if method in METHODS else "other"
        other = self._rows[NO_ROUTE, method]
        row = self._rows.get((environ.get("survey.route", NO_ROUTE), method), other)
        begin = (worker * len(self._rows) + row) * ROW_WIDTH
        bucket = bisect_left(BUCKETS, seconds)
        with self._lock:
            self._numbers[begin + STATUSES.index(status if status in STATUSES else "other")] += 1
            if bucket < len(BUCKETS):
                self._numbers[begin + len(STATUSES) + bucket] += 1
            self._numbers[begin + ROW_WIDTH - 1] += seconds

    def lines(self) -> Iterator[str]:
        """Yield the counts in Prometheus' text format."""
        rows = {key: row for key, row in self._sums() if any(row)}
        yield "# HELP survey_requests_total Requests that were answered."
        yield "# TYPE survey_requests_total counter"
        for (route, method), row in rows.items():
            for status, count in zip(STATUSES, row, strict=False):
                if count:
                    labels = f'route="{route}",method="{method}",status="{status}"'
                    yield f"survey_requests_total{{{labels}}} {count:.0f}"
        yield "# HELP survey_request_seconds Time from a thread's taking a request to its answer."
        yield "# TYPE survey_request_seconds histogram"
        for (route, method), row in rows.items():
            labels = f'route="{route}",method="{method}"'
            for bucket, count in zip(BUCKETS, accumulate(row[len(STATUSES) : -1]), strict=True):
                yield f'survey_request_seconds_bucket{{{labels},le="{bucket:g}"}} {count:.0f}'
            count = sum(row[: len(STATUSES)])
            yield f'survey_request_seconds_bucket{{{labels},le="+Inf"}} {count:.0f}'
            yield f"survey_request_seconds_sum{{{labels}}} {row[-1]:.6f}"
            yield f"survey_request_seconds_count{{{labels}}} {count:.0f}"

    def _sums(self) -> Iterator[tuple[tuple[str, str], list[float]]]:
        """Yield the numbers of each route and method, added over all processes."""
        numbers, size = self._numbers.tolist(), len(self._rows) * ROW_WIDTH
        for key, row in self._rows.items():
            begins = range(row * ROW_WIDTH, len(numbers), size)
            own = [numbers[begin : begin + ROW_WIDTH] for begin in begins]
            yield key, [sum(column) for column in zip(*own, strict=True)]


class Metrics:
    """The process that answers at ``/metrics`` of a port of its own.

    ``gauges``: return name → (what it is, value), looked up at each request.
    """

    def __init__(
        self,
        listener: socket.socket,
        counts: RequestCounts,
        gauges: Callable[[], dict[str, tuple[str, float]]],
    ):
        self.listener, self._counts, self._gauges = listener, counts, gauges

    def text(self) -> str:
        """Return all metrics in Prometheus' text format."""
        lines = [*self._counts.lines()]
        for name, (meaning, value) in self._gauges().items():
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge", f"{name} {value:.15g}"]
        return "\n".join([*lines, ""])

    def serve(self, signs: Numbers) -> None:
        """Answer requests, one after the other, until the first process is gone."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        text = self.text

        class Handler(BaseHTTPRequestHandler):
            timeout = REQUEST_SECONDS

            def do_GET(self) -> None:
                found = self.path == "/metrics"
                body = (text() if found else "The metrics are at /metrics.\n").encode()
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Log nothing: the library would log addresses."""

        self.listener.setblocking(False)  # another process may have accepted what came
        server = HTTPServer(self.listener.getsockname()[:2], Handler, bind_and_activate=False)
        server.socket.close()
        server.socket, server.timeout = self.listener, WAIT_SECONDS
        first = os.getppid()
        while os.getppid() == first:
            server.handle_request()
            signs[LIFE] += 1
