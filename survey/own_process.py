"""Answer requests that may take long in processes of their own, with limits of time and memory.

Each is a fork, with little priority, of a process that loads all libraries when the first
researcher comes, and has no threads. Forms with files queue apart, so that pages do not wait for
uploads.
"""

import gc
import os
import resource
import select
import signal
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication, WSGIEnvironment

# Of a request; two are answered at once, so the eighth of each worker waits longest.
OWN_SECONDS = 120
# Of an upload, so that a busy machine does not stop it half-way; what it may do is limited too.
UPLOAD_SECONDS = 1_500
UPLOAD_PROCESSOR_SECONDS = 240  # more than twice what the most that is allowed takes
OWN_MEMORY = 2**30  # bytes, beside what the libraries take
OWN_AT_ONCE = 2
UPLOADS_AT_ONCE = 1  # of these
OWN_NICENESS = 10
BODY_CHUNK = 2**16  # bytes of a body that are passed on at once
WAIT_SECONDS = 0.1  # for a request; then the process shows life

WSGI: dict[str, object] = {
    **{"wsgi.version": (1, 0), "wsgi.errors": sys.stderr},
    **{"wsgi.multithread": False, "wsgi.multiprocess": True, "wsgi.run_once": True},
}


def pass_on(
    queues: Sequence[socket.socket], environ: "WSGIEnvironment"
) -> tuple[str, list[tuple[str, str]], Iterator[bytes]]:
    """Have a process of its own answer a request; return status, headers and body.

    ``queues``: that of pages, and that of uploads.

    Raises EOFError or OSError where that process ends before the body begins: it took too
    long or too much memory.
    """
    ours, theirs = socket.socketpair()
    is_upload = environ.get("CONTENT_TYPE", "").startswith("multipart/")
    with theirs:
        socket.send_fds(queues[is_upload], [b"."], [theirs.fileno()])
    connection = Connection(ours.detach())
    try:
        connection.send({name: text for name, text in environ.items() if isinstance(text, str)})
        body = environ["wsgi.input"]
        body.seek(0)  # the form may have been read
        while chunk := body.read(BODY_CHUNK):
            connection.send_bytes(chunk)
        connection.send_bytes(b"")
        status, headers = connection.recv()
    except BaseException:
        connection.close()
        raise
    return status, headers, _chunks(connection)


def close_sockets(*ends: socket.socket) -> None:
    """Close these sockets."""
    for end in ends:
        end.close()


def _chunks(connection: Connection) -> Iterator[bytes]:
    """Yield the body; raise EOFError or OSError where its process ends early."""
    with connection:
        while chunk := connection.recv_bytes():
            yield chunk


def copy_for_each(
    queues: Sequence[socket.socket],
    application: "WSGIApplication",
    load_libraries: Callable[[], None],
    signs: "memoryview[float]",
) -> None:
    """Fork this process for each request that is passed on, until the other ends are closed.

    ``queues``: the other ends of those of ``pass_on``. ``signs``: shared memory; the first number
    grows while this process lives.
    """
    os.nice(OWN_NICENESS)
    pages, uploads = queues
    first, is_loaded = os.getppid(), False
    copies: dict[int, socket.socket] = {}  # process → the queue that its request came from
    while os.getppid() == first:
        signs[0] += 1
        copies = {each: of for each, of in copies.items() if not os.waitpid(each, os.WNOHANG)[0]}
        if len(copies) >= OWN_AT_ONCE:
            sleep(WAIT_SECONDS / 5)
            continue
        is_room = sum(of is uploads for of in copies.values()) < UPLOADS_AT_ONCE
        waiting = [pages, uploads] if is_room else [pages]
        if not (ready := select.select(waiting, [], [], WAIT_SECONDS)[0]):
            continue
        sent, connections, _, _ = socket.recv_fds(ready[0], 1, 1)
        if not sent:
            break
        if not is_loaded:
            load_libraries()
            gc.freeze()
            is_loaded = True
        for connection in connections:  # none, where it is only said that a researcher comes
            copy = os.fork()
            if not copy:
                # The first of these to come ends the process wherever it is.
                signal.alarm(UPLOAD_SECONDS if ready[0] is uploads else OWN_SECONDS)
                signal.setitimer(signal.ITIMER_PROF, UPLOAD_PROCESSOR_SECONDS)
                _answer_and_end(Connection(connection), application)
            os.close(connection)
            copies[copy] = ready[0]
    for copy in copies:
        os.kill(copy, signal.SIGKILL)


def _answer_and_end(connection: Connection, application: "WSGIApplication") -> None:
    try:
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
