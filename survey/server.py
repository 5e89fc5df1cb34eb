"""Serve the application from several processes on one socket, and replace those that end or hang.

The first process loads the application, starts no thread, and forks all others. SIGTERM and SIGINT
end the server once its requests are answered. SIGHUP replaces it by the version that is installed
by then: the first process executes itself anew, and asks the old processes to end.

docs/decisions/0001-server.md says why this server is there. tests/test_waitress.py tests what it
relies on in waitress.
"""

import ctypes
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import Thread, get_ident
from time import monotonic, sleep
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

from survey import service_manager
from survey.metrics import Metrics
from survey.own_process import close_sockets, copy_for_each, pass_on
from survey.request_limits import BACKLOG, Channel, RequestParser, settings
from survey.worker import ENDING, HANGS, LIFE, SIGNALS, Numbers, Worker, exit_status, shared_numbers

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

# The threads of each lane of a process: lanes by the beginning of the path, else of requests that
# only read, and of those that may write. No lane waits for another.
THREADS = {"/healthz": 1, "/research/": 8, "/studies/": 2, "read": 4, "write": 4}
# A request that takes longer is slow: its lane gets two more threads, up to so many.
SLOW_SECONDS = 0.2
SPARE_THREADS = 24
# A request that takes longer is interrupted; where that is of no use, its process is replaced.
LONGEST_REQUEST = {"/healthz": 10.0, "/research/": 1_800.0, "/studies/": 1_800.0}
LONGEST_REQUEST |= {"read": 60.0, "write": 60.0}
INTERRUPTION_SECONDS = 5.0
PASSED_ON = ("/research/", "/studies/")  # lanes whose views may compute

ACCEPTED_AT_ONCE = 100
ACCEPT_PAUSE = 0.002  # seconds in which a process with fewer connections may accept new ones first

TURN_SECONDS = 0.05  # between two looks at the processes, or at the requests of one
LONGEST_TURN = 1.0  # after a longer one, this process was stopped, and the others probably too
SILENT_SECONDS = 10.0  # without a sign of life, after which a process is replaced
LOADING_SECONDS = 60.0  # the same, of a process that loads libraries
STOPPING_SECONDS = 10.0  # for requests under way
IDLE_AT_END_SECONDS = 1.0  # for connections without a request: a proxy may be about to use them

# Number of new objects after which Python searches for circular references. A page creates
# thousands of objects that need no search; with Python's 700 it takes 6 % of a page's time.
GARBAGE_THRESHOLD = 50_000

# What the first process leaves to its new version: the listener's file and the old processes, the
# file of the metrics' listener, and the proxy, which goes on.
HANDOVER, METRICS_HANDOVER = "SURVEY_SERVER_HANDOVER", "SURVEY_METRICS_HANDOVER"
PROXY_HANDOVER = "SURVEY_PROXY_HANDOVER"
WATCHDOG_PAUSE = 1.0  # seconds between two signs of life to systemd

# Called with number of the process, environment, status and seconds of each request.
Observer: TypeAlias = "Callable[[int, WSGIEnvironment, str, float], None]"
log = logging.getLogger(__name__)


def listen(host: str, port: int, handover: str = HANDOVER) -> socket.socket:
    """Return a socket that all processes accept connections from; raises OSError."""
    if handed_over := os.environ.get(handover):
        return socket.socket(fileno=int(handed_over.split()[0]))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=BACKLOG)


def serve(
    application: "WSGIApplication",
    listener: socket.socket,
    workers: int,
    *background: Callable[[], None],
    threads: int = THREADS["read"],
    prepare: Callable[[], None] = lambda: None,
    load_libraries: Callable[[], None] = lambda: None,
    observe: "Observer | None" = None,
    metrics: Metrics | None = None,
    proxy: Callable[[Numbers], None] | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM; each process runs ``background`` in threads of their own.

    ``threads``: of each lane for participants. ``prepare`` is called once the first processes run:
    what it loads, their replacements have. ``load_libraries`` is called in the process of which
    requests' own processes are copies. ``observe`` is called after each request. ``proxy`` becomes
    the proxy in front, which ends first.
    """
    old = os.environ.pop(HANDOVER, "").split()[1:]
    gc.freeze()  # what exists now stays, so the garbage collector may skip it
    gc.set_threshold(GARBAGE_THRESHOLD)
    passed_on, received = zip(socket.socketpair(), socket.socketpair(), strict=True)
    counts = shared_numbers(workers)

    def answer_requests(number: int, signs: Numbers) -> None:
        close_sockets(*received)
        server = Server(application, listener, passed_on, counts, number, threads, observe)
        signal.signal(signal.SIGTERM, server.end)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        for work in background:
            Thread(target=work, daemon=True).start()
        server.run_until_end(signs)

    def copy_for_requests(signs: Numbers) -> None:
        # Else a copy that outlives the server would keep the address, or not end when all who use
        # the queues have ended.
        close_sockets(*listeners, *passed_on)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        copy_for_each(received, application, load_libraries, signs)

    listeners = [listener]
    processes = [Worker(partial(answer_requests, n), SILENT_SECONDS) for n in range(workers)]
    others = [Worker(copy_for_requests, LOADING_SECONDS)]
    in_front = []
    if metrics is not None:
        listeners.append(metrics.listener)
        others.append(Worker(metrics.serve, LOADING_SECONDS, "The process that shows metrics"))
    if proxy is not None:
        running = int(os.environ.pop(PROXY_HANDOVER, "") or 0)
        in_front = [Worker(proxy, float("inf"), "The proxy in front", running)]
    first = FirstProcess(listeners, processes, others, in_front)
    first.look()
    for pid in old:
        first.leave(int(pid))
    prepare()
    gc.freeze()
    while first.look():
        pass
    close_sockets(*passed_on, *received)
    first.end()


class FirstProcess:
    """Watch over the other processes.

    ``processes`` answer requests. ``_leaving``: those that were asked to end, and when they are
    killed. ``_now``: the seconds in which this process ran: while it was stopped, the others were
    mostly stopped too.
    """

    def __init__(
        self,
        listeners: Sequence[socket.socket],
        processes: Sequence[Worker],
        others: Sequence[Worker],
        in_front: Sequence[Worker],
    ):
        self._listeners, self._processes = listeners, processes
        self._behind, self._in_front = [*processes, *others], in_front
        self._now, self._looked, self._noted = 0.0, monotonic(), -WATCHDOG_PAUSE
        self._is_ready = False
        self._leaving: dict[int, float] = {}
        self._signals: set[int] = set()
        for number in SIGNALS:
            # At a terminal, SIGHUP says that its window was closed: that ends the server.
            if number != signal.SIGHUP or not os.isatty(0):
                signal.signal(number, lambda number, _: self._signals.add(number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def look(self) -> bool:
        """Wait for a moment, do what is to be done, and return whether to go on."""
        self._wait()
        if self._signals.intersection(ENDING):  # others may have ended by the same signal
            return False
        for process in (*self._behind, *self._in_front):
            if process.pid and process.signs[HANGS]:
                log.warning("A request hangs. Its process finishes the others, and is replaced.")
                self.leave(process.pid)
                process.pid = 0
            process.check(self._now)
        self._tell_service_manager()
        if signal.SIGHUP in self._signals:
            self._become_new_version()
        return True

    def leave(self, pid: int) -> None:
        """Ask a process to finish its requests and end."""
        os.kill(pid, signal.SIGTERM)
        self._leaving[pid] = self._now + STOPPING_SECONDS

    def end(self) -> None:
        """Let all processes finish their requests and end; kill those that take too long."""
        service_manager.notify(service_manager.STOPPING)
        for group in (self._in_front, self._behind):
            for process in group:
                if process.pid:
                    self.leave(process.pid)
            while self._leaving:
                self._wait()
            for listener in self._listeners:
                listener.close()

    def _tell_service_manager(self) -> None:
        alive = [process.is_alive for process in self._processes]
        if not self._is_ready and all(alive):
            self._is_ready = True
            service_manager.notify(service_manager.READY)
        if any(alive) and self._now >= self._noted + WATCHDOG_PAUSE:
            self._noted = self._now
            service_manager.notify(service_manager.LIVES)

    def _wait(self) -> None:
        sleep(TURN_SECONDS)
        elapsed = monotonic() - self._looked
        self._now, self._looked = self._now + min(elapsed, LONGEST_TURN), self._looked + elapsed
        for pid, until in list(self._leaving.items()):
            if exit_status(pid) is not None:
                del self._leaving[pid]
            elif self._now > until:
                log.warning("A server process does not end, and is killed.")
                os.kill(pid, signal.SIGKILL)
                self._leaving[pid] = float("inf")

    def _become_new_version(self) -> None:
        """Execute the command of this process anew: number, listener and children stay."""
        service_manager.notify_reloading()
        pids = [*self._leaving, *(process.pid for process in self._behind if process.pid)]
        for listener in self._listeners:
            listener.set_inheritable(True)
        files = [listener.fileno() for listener in self._listeners]
        os.environ[HANDOVER] = " ".join(map(str, [files[0], *pids]))
        os.environ[METRICS_HANDOVER] = " ".join(map(str, files[1:]))
        os.environ[PROXY_HANDOVER] = " ".join(str(process.pid) for process in self._in_front)
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until the new version handles them
        # These words started this process, so nobody else chose them.
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 # nosec B606


class TooLongError(BaseException):
    """Interrupt a request that takes too long; not an Exception, which a view might handle."""


class Server(TcpWSGIServer):  # type: ignore[misc] # waitress has no type hints
    """Waitress in a process: the loop that accepts connections and reads requests.

    ``counts``: of the connections of each process, in memory that all share. The system gives a
    new connection to the process that asks first: of 32, one may get 31.
    """

    def __init__(
        self,
        application: "WSGIApplication",
        listener: socket.socket,
        passed_on: Sequence[socket.socket],
        counts: Numbers,
        number: int,
        threads: int,
        observe: "Observer | None",
    ):
        self.channel_class = Channel
        self._answer, self._passed_on, self._was_asked = application, passed_on, False
        self._observe = observe
        self._counts, self._number, self._gives_way = counts, number, False
        logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # it tells of each that waits
        self._queues = {lane: ThreadedTaskDispatcher() for lane in THREADS}
        self._threads = THREADS | {"read": threads, "write": threads}
        self._running: dict[int, SimpleNamespace] = {}  # by thread
        self._slow: list[str] | None = None
        self._idle_until: float | None = None  # at the end
        options = {"dispatcher": self._queues["read"], "adj": settings(), "bind_socket": False}
        place = (listener.family, listener.type, listener.proto, listener.getsockname())
        super().__init__(self.answer, _sock=listener, sockinfo=place, **options)

    def run_until_end(self, signs: Numbers) -> None:
        """Serve until all is answered after ``end``, or the first process is gone."""
        first, looked = os.getppid(), monotonic()
        while os.getppid() == first and not self._is_over():
            gave_way = self._gives_way
            wasyncore.poll2(ACCEPT_PAUSE if gave_way else TURN_SECONDS, self._map)
            if gave_way:
                self.handle_accept()
            now = monotonic()
            signs[HANGS] = self._look_after_requests(now, max(0.0, now - looked - LONGEST_TURN))
            signs[LIFE], looked = signs[LIFE] + 1, now
            if self._idle_until is not None and self.accepting:
                self._accept(BACKLOG)  # those that the system has connected already
                wasyncore.dispatcher.close(self)

    def add_task(self, channel: HTTPChannel) -> None:
        """Queue the first request of a connection; one that could not be parsed has no path."""
        request = channel.requests[0]
        lane = lane_of(getattr(request, "command", ""), getattr(request, "path", ""))
        self._queues[lane].add_task(channel)

    def readable(self) -> bool:
        """Return whether to look for new connections; waitress asks before each look."""
        self._counts[self._number] = len(self.active_channels)
        return bool(super().readable()) and not self._gives_way

    def handle_accept(self) -> None:
        """Accept connections, but let a process that has fewer do so first."""
        count = len(self.active_channels)
        lead = 2 + count // 10
        room = int(min(self._counts)) + lead - count
        self._gives_way = room <= 0 and not self._gives_way
        if not self._gives_way:
            self._accept(min(max(room, lead), ACCEPTED_AT_ONCE))
            self._counts[self._number] = len(self.active_channels)

    def end(self, *_: object) -> None:
        """Accept no more connections, and end when all requests are answered."""
        self._idle_until = monotonic() + IDLE_AT_END_SECONDS
        RequestParser.is_last = True
        self.pull_trigger()

    def answer(self, environ: "WSGIEnvironment", respond: "StartResponse") -> Iterable[bytes]:
        """Call the application, and note meanwhile that a request is under way."""

        def note_status(status: str, *details: Any) -> "Callable[[bytes], object]":
            request.status = status[:3]
            return respond(status, *details)

        thread = get_ident()
        lane = lane_of(environ["REQUEST_METHOD"], environ["PATH_INFO"])
        request = SimpleNamespace(lane=lane, began=monotonic(), is_interrupted=False, status="500")
        if lane in PASSED_ON:
            environ["survey.pass_on"] = partial(pass_on, self._passed_on, dict(environ))
            if not self._was_asked:  # mostly this signs in, and passes on nothing yet
                self._was_asked = True
                self._passed_on[0].send(b"s")
        self._running[thread] = request
        try:
            return self._answer(environ, note_status)
        except TooLongError:
            headers = [("Content-Type", "text/plain"), ("Retry-After", "5")]
            note_status("503 Service Unavailable", headers, sys.exc_info())
            return [b"This took too long. Please try again."]
        finally:
            del self._running[thread]
            if request.is_interrupted:
                _raise_in(thread, None)  # it may have ended by itself just now
            if self._observe is not None:
                seconds = monotonic() - request.began
                self._observe(self._number, environ, request.status, seconds)

    def _accept(self, most: int) -> None:
        for _ in range(most):
            before = len(self._map)
            super().handle_accept()
            if len(self._map) == before:
                return

    def _look_after_requests(self, now: float, stopped: float) -> bool:
        """Make room beside slow requests, interrupt long ones; return whether one goes on."""
        slow, hangs = [], False
        for thread, request in list(self._running.items()):
            request.began += stopped  # seconds in which this process was stopped
            seconds, longest = now - request.began, LONGEST_REQUEST[request.lane]
            slow += [request.lane] * (seconds > SLOW_SECONDS)
            hangs |= seconds > longest + INTERRUPTION_SECONDS
            if seconds > longest and not request.is_interrupted and thread in self._running:
                request.is_interrupted = True
                _raise_in(thread, TooLongError)
        if slow != self._slow:
            self._slow = slow
            for lane, queue in self._queues.items():
                spare = min(2 * slow.count(lane), SPARE_THREADS)
                queue.set_thread_count(self._threads[lane] + spare)
        return hangs

    def _is_over(self) -> bool:
        if self._idle_until is None or self.accepting:
            return False
        channels = self.active_channels.values()
        is_busy = any(c.requests or c.request or c.total_outbufs_len for c in channels)
        return not channels or (monotonic() > self._idle_until and not is_busy)


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Raise an exception in a thread as soon as it runs Python; None takes one back."""
    raised = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


def lane_of(method: str, path: str) -> str:
    """Return the lane of a request, a key of ``THREADS``."""
    by_path = next((lane for lane in THREADS if path.startswith(lane)), "")
    return by_path or ("read" if method in ("GET", "HEAD") else "write")
