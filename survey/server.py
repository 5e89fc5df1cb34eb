"""Serve the application from several processes on one socket, and replace those that end or hang.

Waitress reads a request whole before a thread gets it, so a slow sender keeps no thread busy. A
new process is a copy of one that has loaded the application, which takes milliseconds.

A view may pass on a request of a researcher, or for a public page: it is answered by a process of
its own, with little priority and with limits of time and memory. That is a copy of one that loads
all libraries when the first researcher comes.
"""

import gc
import logging
import mmap
import multiprocessing
import os
import resource
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from threading import Lock, Thread, get_ident
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakSet

from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import create_server
from waitress.task import ThreadedTaskDispatcher
from waitress.utilities import Error

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# The most threads of a process that answer each kind of request, by the beginning of its path. A
# kind never waits for another. More threads for participants would only wait for the database.
THREADS = {"/healthz": 1, "/research/": 8, "/studies/": 2, "/": 4}
# In seconds; a request that takes longer hangs.
LONGEST_REQUEST = {"/healthz": 10.0, "/research/": 1_800.0, "/studies/": 1_800.0, "/": 60.0}
# After this time of a participant's request, another thread answers those that wait behind it.
SLOW_SECONDS = 0.2
PASSED_ON = ("/research/", "/studies/")  # kinds whose views may compute

IDLE_SECONDS = 30  # without a byte from the other side; then the connection is closed
ARRIVAL_SECONDS = 60  # for a request to arrive, and a second more for each ``SLOWEST`` bytes
SLOWEST = 10_000
LARGEST_BODY = {True: 2**27, False: 2**20}  # of researchers, of others; the pages allow less
UPLOADS = 8  # of a process at once, since anyone may send them before the page asks who it is
BODY_IN_MEMORY = 2**16  # bytes; the rest is in a file
MOST_CONNECTIONS = 5_000  # of a process
FILES = 200  # that a process may open beside its connections
# A process with more connections than another looks for new ones only so often, in seconds.
LATER_SECONDS = 0.1
RECENT_SECONDS = 0.5  # a process that noted no count for longer hangs, or has ended

# Of a request in a process of its own; two at once, so the eighth of each worker waits longest.
OWN_SECONDS = 120
OWN_MEMORY = 2**30  # bytes, beside what the libraries take
OWN_AT_ONCE = 2
OWN_NICENESS = 10
CHUNK = 2**16  # bytes of a body that are passed on at once

ALIVE_SECONDS = 0.5  # between two signs of life
SILENT_SECONDS = 10.0  # without one, after which a process is replaced
LONGEST_PAUSE = 10.0  # before a process is started that ended while it started
STOPPING_SECONDS = 10.0  # for requests under way

# Number of new objects after which Python searches for circular references. A page creates
# thousands of objects that need no search; with Python's 700 it takes 6 % of a page's time.
GARBAGE_THRESHOLD = 50_000

WSGI: dict[str, Any] = {
    **{"wsgi.version": (1, 0), "wsgi.errors": sys.stderr},
    **{"wsgi.multithread": False, "wsgi.multiprocess": True, "wsgi.run_once": True},
}

ENDING = (signal.SIGINT, signal.SIGTERM)  # signals that end the server

FORK = multiprocessing.get_context("fork")
log = logging.getLogger(__name__)

# The requests under way: of each thread, the kind of its request, and when that began.
Running = dict[int, tuple[str, float]]


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that all processes accept connections from; raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=1024)


def serve(
    application: "WSGIApplication",
    listener: socket.socket,
    workers: int,
    *background: Callable[[], None],
    threads: int = THREADS["/"],
    prepare: Callable[[], None] = lambda: None,
    load_libraries: Callable[[], None] = lambda: None,
) -> None:
    """Serve until SIGINT or SIGTERM; each process runs ``background`` in threads of their own.

    ``threads``: of each process for participants; while a request is slow, there is one more.
    ``prepare`` is called once the first processes run: what it loads, their replacements have.
    ``load_libraries`` is called in the process of which requests' own processes are copies.
    """
    stopping: list[int] = []
    for number in ENDING:
        signal.signal(number, lambda number, _: stopping.append(number))
    gc.freeze()  # what exists now stays, so the garbage collector may skip it
    gc.set_threshold(GARBAGE_THRESHOLD)
    passed_on, received = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)

    def copy_for_requests(_: object) -> None:
        listener.close()  # else a copy that outlives the server would keep the address
        os.nice(OWN_NICENESS)
        received.recv(1, socket.MSG_PEEK)  # until a researcher comes, nothing is loaded
        load_libraries()
        _copy_for_each(received, application)

    connections = Connections(workers)

    def answer_requests(number: int, running: Running) -> None:
        share = partial(connections.is_turn_of, number)
        _answer_requests(application, listener, share, passed_on, background, threads, running)

    processes = [Worker(partial(answer_requests, number)) for number in range(workers)]
    processes.append(Worker(copy_for_requests))
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
    """A process, and the one that replaces it.

    ``work``: what it does; it gets a dictionary, and notes there the requests under way.
    ``_alive``: shared memory, the time of its last sign of life, 0 before the first.
    """

    def __init__(self, work: Callable[["Running"], None]):
        self._work = work
        self._alive = memoryview(mmap.mmap(-1, 8)).cast("d")
        self._process: Any = None
        self._started = self._due = 0.0
        self._failures = 0
        self._running: Running = {}

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
        """Ask the process to finish its requests and end; requests' own processes are killed."""
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
        # Else a new process would handle a signal as this one does, and not end.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            process.start()
        except OSError as error:  # no memory, or too many processes
            log.warning("No server process can be started: %s", error)
            self._due = now + 1.0
        else:
            self._process = process
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)

    def _run(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C: the first process ends this one
        signal.signal(signal.SIGTERM, lambda *_: sys.exit())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        Thread(target=self._show_life, daemon=True).start()
        self._work(self._running)

    def _show_life(self) -> None:
        """Note the time while no request takes too long; end with the first process."""
        first = os.getppid()
        while os.getppid() == first:
            now = monotonic()
            under_way = list(self._running.values())
            if all(began + LONGEST_REQUEST[kind] > now for kind, began in under_way):
                self._alive[0] = now
            sleep(ALIVE_SECONDS)
        os._exit(1)


class Connections:
    """The number of connections of each process, in memory that all share.

    The system gives a new connection to the process that asks first: of 32, one may get 31.

    ``_noted_at``: when each process last noted its count. One that hangs or has ended notes none,
    and the others do not wait for it.
    """

    def __init__(self, processes: int):
        self._noted_at, self._counts = (
            memoryview(mmap.mmap(-1, 8 * max(processes, 1))).cast("d") for _ in range(2)
        )

    def is_turn_of(self, number: int, count: int) -> bool:
        """Note a process's count; return whether it is at most one more than the fewest."""
        now = monotonic()
        self._noted_at[number], self._counts[number] = now, count
        notes = zip(self._noted_at, self._counts, strict=True)
        recent = [noted for at, noted in notes if now - at < RECENT_SECONDS]
        return count <= 1 + min(recent)


def _answer_requests(
    application: "WSGIApplication",
    listener: socket.socket,
    is_turn: Callable[[int], bool],
    passed_on: socket.socket,
    background: Iterable[Callable[[], None]],
    threads: int,
    running: Running,
) -> None:
    was_asked = False

    def answer(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        nonlocal was_asked
        thread, kind = get_ident(), kind_of(environ["PATH_INFO"])
        running[thread] = kind, monotonic()
        if kind in PASSED_ON:
            environ["survey.pass_on"] = partial(pass_on, passed_on, dict(environ))
            if not was_asked:  # mostly this signs in, and passes on nothing yet
                was_asked = True
                passed_on.send(b"s")
        try:
            return application(environ, start_response)
        finally:
            del running[thread]

    queues = Queues(threads)
    server = create_server(
        answer,
        sockets=[listener],
        _dispatcher=queues,
        connection_limit=_most_connections(),
        channel_timeout=IDLE_SECONDS,
        cleanup_interval=5,
        max_request_body_size=LARGEST_BODY[True],
        inbuf_overflow=BODY_IN_MEMORY,
        outbuf_high_watermark=2**40,  # a slow receiver keeps no thread: the rest goes to a file
        asyncore_use_poll=True,
        clear_untrusted_proxy_headers=False,  # ProxyFix knows which to trust
        ident="",
    )
    server.channel_class = Channel
    server.adj.asyncore_loop_timeout = LATER_SECONDS
    may_accept, looked = server.readable, 0.0

    def accepts() -> bool:
        nonlocal looked
        if not is_turn(len(server.active_channels)) and monotonic() - looked < LATER_SECONDS:
            return False
        looked = monotonic()
        return bool(may_accept())

    server.readable = accepts
    Thread(target=queues.relieve, args=[running], daemon=True).start()
    for work in background:
        Thread(target=work, daemon=True).start()
    server.run()


def pass_on(
    passed_on: socket.socket, environ: "WSGIEnvironment"
) -> tuple[str, list[tuple[str, str]], Iterator[bytes]]:
    """Have a process of its own answer a request; return status, headers and body.

    Raises EOFError or OSError where that process ends before the body begins: it took too
    long or too much memory.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        socket.send_fds(passed_on, [b"."], [theirs.fileno()])
    connection = Connection(ours.detach())
    try:
        connection.send({name: text for name, text in environ.items() if isinstance(text, str)})
        body = environ["wsgi.input"]
        body.seek(0)  # the form may have been read
        while chunk := body.read(CHUNK):
            connection.send_bytes(chunk)
        connection.send_bytes(b"")
        status, headers = connection.recv()
    except BaseException:
        connection.close()
        raise
    return status, headers, _chunks(connection)


def _chunks(connection: Connection) -> Iterator[bytes]:
    """Yield the body; raise EOFError or OSError where its process ends early."""
    with connection:
        while chunk := connection.recv_bytes():
            yield chunk


def _copy_for_each(received: socket.socket, application: "WSGIApplication") -> None:
    """Start a copy of this process for each request that is passed on, a few at once."""
    gc.freeze()
    copies: set[int] = set()
    try:
        while True:
            _, connections, _, _ = socket.recv_fds(received, 1, 1)
            for connection in connections:  # none, where it is only said that a researcher comes
                copy = os.fork()
                if not copy:
                    _answer_and_end(Connection(connection), application)
                os.close(connection)
                copies.add(copy)
            while copies and (
                ended := os.waitpid(-1, 0 if len(copies) >= OWN_AT_ONCE else os.WNOHANG)[0]
            ):
                copies.discard(ended)
    finally:
        for copy in copies:
            os.kill(copy, signal.SIGKILL)


def _answer_and_end(connection: Connection, application: "WSGIApplication") -> None:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.alarm(OWN_SECONDS)  # which ends the process wherever it is
        _limit_memory()
        environ = connection.recv()
        with tempfile.SpooledTemporaryFile(2**20) as body:
            for chunk in iter(connection.recv_bytes, b""):
                body.write(chunk)
            body.seek(0)
            answered = application(
                WSGI | environ | {"wsgi.input": body},
                lambda status, headers, _=None: connection.send((status, headers)),  # type: ignore[arg-type] # nothing calls its result
            )
            for chunk in answered:
                if chunk:
                    connection.send_bytes(chunk)
            if hasattr(answered, "close"):
                answered.close()
            connection.send_bytes(b"")
    except (EOFError, OSError, MemoryError):  # the other side went, or a limit was met
        os._exit(1)
    os._exit(0)


def _limit_memory() -> None:
    if sys.platform == "linux":  # elsewhere the system would not keep to it
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + OWN_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


class Queues:
    """Waitress' queue of requests, once for each kind of request.

    ``threads``: those for participants, while no request is slow.
    """

    def __init__(self, threads: int) -> None:
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # it tells of each that waits
        self._queues = {kind: ThreadedTaskDispatcher() for kind in THREADS}
        self._threads, self._is_ending, self._lock = threads, False, Lock()
        for kind, queue in self._queues.items():
            queue.set_thread_count(threads if kind == "/" else THREADS[kind])

    def add_task(self, channel: HTTPChannel) -> None:
        """Add the first request of a connection; one that could not be parsed has no path."""
        self._queues[kind_of(getattr(channel.requests[0], "path", ""))].add_task(channel)

    def relieve(self, running: Running) -> None:
        """Keep so many threads for participants that slow requests do not hold up the others."""
        while True:
            before = monotonic() - SLOW_SECONDS
            slow = sum(kind == "/" and began < before for kind, began in list(running.values()))
            with self._lock:
                if self._is_ending:
                    return
                self._queues["/"].set_thread_count(min(self._threads + slow, THREADS["/"]))
            sleep(SLOW_SECONDS / 2)

    def shutdown(self) -> None:
        """Finish the requests under way, 3 s for each kind; cancel those that wait."""
        with self._lock:
            self._is_ending = True
        for kind in reversed(THREADS):
            self._queues[kind].shutdown(timeout=3)


class UnavailableError(Error):  # type: ignore[misc] # waitress has no type hints
    """The answer to a body for which there is no room now."""

    code = 503
    reason = "Service Unavailable"


class RequestParser(HTTPRequestParser):  # type: ignore[misc] # waitress has no type hints
    """Reject a long body, and an upload beside many others, by its header, before it is read.

    ``until``: when the request must have arrived.
    """

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
        if self.chunked or kind_of(self.path) != "/research/":  # no page takes chunks
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
