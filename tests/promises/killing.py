"""Ending processes without a warning, again and again, while others work."""

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from tests.promises.crowd import Ledger
from tests.serving import Server

Kill = Callable[[], None]


def children(pid: int) -> list[int]:
    """Return the processes that this one started."""
    with contextlib.suppress(OSError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def all_children(server: Server) -> list[int]:
    """Return a server's processes once all of them stand.

    It is ready with its first process already; the others follow.
    """
    assert server.process is not None
    many, until = server.workers + 1, time.monotonic() + 60  # one more for requests' own processes
    while len(standing := children(server.process.pid)) < many:
        assert time.monotonic() < until, f"{len(standing)} of {many} processes stand"
        time.sleep(0.01)
    return standing


class Killer:
    """Kills a server's processes, and starts the server anew whenever it is gone.

    In step with the answers that are acknowledged, one kill for so ``many`` of them: a
    server that is killed by the clock may never come to answer on a slow machine.
    ``also``: further ways to do harm, by name, each as often as the whole server is killed.
    """

    def __init__(
        self, server: Server, ledger: Ledger, many: float, also: Mapping[str, Kill]
    ) -> None:
        self.server, self.ledger, self.many, self.kills = server, ledger, many, Counter[str]()
        rarely = {"whole server": server.kill, **also}
        self.ways = [("worker", self._kill_a_worker)] * 20 + list(rarely.items())
        self.chance, self.peace, self.over = random.Random(1), Event(), Event()
        self.failure: BaseException | None = None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Kill until the end of the block; the server runs again after it."""
        thread = Thread(target=self._work, name="killer")
        thread.start()
        try:
            yield
        finally:
            self.over.set()
            thread.join()
        if self.failure:
            raise self.failure

    def stop(self) -> None:
        """Kill no more, but keep the server running."""
        self.peace.set()

    def _work(self) -> None:
        due = self.many
        try:
            while not self.over.wait(0.005):
                if not self.peace.is_set() and self.ledger.seen["acknowledged"] >= due:
                    name, kill = self.chance.choice(self.ways)
                    kill()
                    self.kills[name] += 1
                    due += self.chance.uniform(0.2, 1.6) * self.many
                self._keep_running()
        except BaseException as error:  # told in the thread of the test
            self.failure = error

    def _kill_a_worker(self) -> None:
        assert self.server.process is not None
        workers = children(self.server.process.pid)
        if workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.chance.choice(workers), signal.SIGKILL)

    def _keep_running(self) -> None:
        """Start a server that is gone, as a service manager would."""
        assert self.server.process is not None
        if self.server.process.poll() is not None:
            self.ledger.note("server started anew")
            self.server.start()
