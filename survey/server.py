"""Serve the application from several processes on one socket, and replace those that end or hang.

Waitress reads a request whole before a thread gets it, so a slow sender keeps no thread busy. A
new process is a copy of one that has loaded the application, which takes milliseconds.
"""

import gc
import logging
import mmap
import multiprocessing
import os
import resource
import signal
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from multiprocessing.connection import wait
from threading import Thread, get_ident
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import create_server
from waitress.task import ThreadedTaskDispatcher

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# The threads of a process that answer each kind of request, by the beginning of its path. A
# kind never waits for another. More threads for participants would only wait for the database.
THREADS = {"/healthz": 1, "/research/": 1, "/": 4}
LONGEST_REQUEST = {"/healthz": 10.0, "/research/": 600.0, "/": 60.0}  # seconds; then it hangs

IDLE_SECONDS = 30  # without a byte from the other side; then the connection is closed
LARGEST_BODY = {True: 2**27, False: 2**20}  # of researchers, of others; the pages allow less
MOST_CONNECTIONS = 5_000  # of a process
FILES = 200  # that a process may open beside its connections

ALIVE_SECONDS = 0.5  # between two signs of life
SILENT_SECONDS = 10.0  # without one, after which a process is replaced
LONGEST_PAUSE = 10.0  # before a process is started that ended while it started
STOPPING_SECONDS = 10.0  # for requests under way

# Number of new objects after which Python searches for circular references. A page creates
# thousands of objects that need no search; with Python's 700 it takes 6 % of a page's time.
GARBAGE_THRESHOLD = 50_000

FORK = multiprocessing.get_context("fork")
log = logging.getLogger(__name__)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that all processes accept connections from; raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=1024)


def serve(
    application: "WSGIApplication",
    listener: socket.socket,
    workers: int,
    *background: Callable[[], None],
    prepare: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGINT or SIGTERM; each process runs ``background`` in threads of their own.

    ``prepare`` is called once the first processes run: what it loads, their replacements have.
    """
    stopping: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: stopping.append(number))
    gc.freeze()  # what exists now stays, so the garbage collector may skip it
    gc.set_threshold(GARBAGE_THRESHOLD)
    processes = [Worker(application, listener, background) for _ in range(workers)]
    for process in processes:
        process.check()
    prepare()
    gc.freeze()
    while not stopping:
        for process in processes:
            process.check()
        wait([process.sentinel for process in processes if process.sentinel], timeout=0.1)
    for process in processes:
        process.stop()
    for process in processes:
        process.join()


class Worker:
    """A process that answers requests, and the one that replaces it.

    ``_alive``: memory shared with it, the time of its last sign of life, 0 before the first.
    """

    def __init__(
        self,
        application: "WSGIApplication",
        listener: socket.socket,
        background: Iterable[Callable[[], None]],
    ):
        self._application, self._listener, self._background = application, listener, background
        self._alive = memoryview(mmap.mmap(-1, 8)).cast("d")
        self._process: Any = None
        self._started = self._due = 0.0
        self._failures = 0
        self._running: dict[int, float] = {}  # in the process: until when each thread may take

    @property
    def sentinel(self) -> int | None:
        """What becomes ready when the process ends; None while there is no process."""
        return self._process and int(self._process.sentinel)

    def check(self) -> None:
        """Start the process if there is none; replace one that ended; kill one that hangs."""
        now = monotonic()
        if self._process is not None and not self._process.is_alive():
            log.warning("A server process ended (%s).", self._process.exitcode)
            self._failures = 0 if self._alive[0] else self._failures + 1
            self._process = None
            # It fails at its start: the next one may fail too, and takes all processor time.
            self._due = now + min(LONGEST_PAUSE, 0.1 * 2**self._failures) * bool(self._failures)
        if self._process is None and now >= self._due:
            self._start(now)
        elif self._process is not None and now > SILENT_SECONDS + max(
            self._started, self._alive[0]
        ):
            log.warning("A server process hangs and is replaced.")
            self._process.kill()

    def stop(self) -> None:
        """Ask the process to finish what it does, and to accept nothing more."""
        if self._process is not None:
            self._process.terminate()

    def join(self) -> None:
        """Wait until the process has ended; kill it if it takes too long."""
        if self._process is not None:
            self._process.join(STOPPING_SECONDS)
            self._process.kill()

    def _start(self, now: float) -> None:
        self._alive[0], self._started = 0.0, now
        process = FORK.Process(target=self._run)
        try:
            process.start()
        except OSError as error:  # no memory, or too many processes
            log.warning("No server process can be started: %s", error)
            self._due = now + 1.0
        else:
            self._process = process

    def _run(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the first process ends this one
        signal.signal(signal.SIGTERM, _exit)
        server = create_server(
            self._answer,
            sockets=[self._listener],
            _dispatcher=Queues(),
            connection_limit=_most_connections(),
            channel_timeout=IDLE_SECONDS,
            cleanup_interval=5,
            max_request_body_size=LARGEST_BODY[True],
            outbuf_high_watermark=2**40,  # a slow receiver keeps no thread: the rest goes to a file
            asyncore_use_poll=True,
            clear_untrusted_proxy_headers=False,  # ProxyFix knows which to trust
            ident="",
        )
        server.channel_class = Channel
        for work in (self._show_life, *self._background):
            Thread(target=work, daemon=True).start()
        server.run()

    def _answer(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        thread = get_ident()
        self._running[thread] = monotonic() + LONGEST_REQUEST[kind_of(environ["PATH_INFO"])]
        try:
            return self._application(environ, start_response)
        finally:
            del self._running[thread]

    def _show_life(self) -> None:
        """Note the time while no request takes too long; end with the first process."""
        first = os.getppid()
        while os.getppid() == first:
            now = monotonic()
            if all(until > now for until in list(self._running.values())):
                self._alive[0] = now
            sleep(ALIVE_SECONDS)
        os._exit(1)


class Queues:
    """Waitress' queue of requests, once for each kind of request."""

    def __init__(self) -> None:
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # it tells of each that waits
        self._queues = {kind: ThreadedTaskDispatcher() for kind in THREADS}
        for kind, queue in self._queues.items():
            queue.set_thread_count(THREADS[kind])

    def add_task(self, channel: HTTPChannel) -> None:
        """Add the first request of a connection; one that could not be parsed has no path."""
        self._queues[kind_of(getattr(channel.requests[0], "path", ""))].add_task(channel)

    def shutdown(self) -> None:
        """Finish the requests under way."""
        for kind in reversed(THREADS):
            self._queues[kind].shutdown(timeout=3)


class RequestParser(HTTPRequestParser):  # type: ignore[misc] # waitress has no type hints
    """Reject a long body by its header, before it is read."""

    adjustments = Adjustments(max_request_body_size=LARGEST_BODY[False])

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the header, and choose the limit of the body by the path."""
        super().parse_header(header_plus)
        if kind_of(self.path) != "/research/":
            self.adj = self.adjustments


class Channel(HTTPChannel):  # type: ignore[misc] # waitress has no type hints
    """A connection."""

    parser_class = RequestParser


def kind_of(path: str) -> str:
    """Return the kind of request that a path belongs to, a key of ``THREADS``."""
    return next((kind for kind in THREADS if path.startswith(kind)), "/")


def _most_connections() -> int:
    """Let the process open as many files as it may; return how many connections to accept."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + FILES if most < 0 else min(MOST_CONNECTIONS + FILES, most)
    if wanted > allowed:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
            allowed = wanted
    return min(MOST_CONNECTIONS, allowed - FILES)


def _exit(*_: object) -> None:
    raise SystemExit
