"""A process that the server's first process starts, watches over and replaces."""

import logging
import mmap
import os
import signal
from collections.abc import Callable
from typing import TypeAlias

ENDING = (signal.SIGINT, signal.SIGTERM)
SIGNALS = (*ENDING, signal.SIGHUP)
LONGEST_PAUSE = 10.0  # before a process is started that ended while it started
LIFE, HANGS = 0, 1  # what a process shows the first one: that it lives, and that a request hangs

Numbers: TypeAlias = "memoryview[float]"  # in memory that processes share
log = logging.getLogger(__name__)


def shared_numbers(count: int) -> Numbers:
    """Return so many numbers, all 0, in memory that this process shares with those it forks."""
    return memoryview(mmap.mmap(-1, 8 * max(count, 1))).cast("d")


class Worker:
    """A process that does ``work``, and the one that replaces it.

    ``patience``: seconds without a sign of life after which it hangs. ``signs``: see ``LIFE``.
    ``pid``: of a process that runs already. ``is_alive``: whether it shows signs of life.
    """

    def __init__(
        self,
        work: Callable[[Numbers], None],
        patience: float,
        name: str = "A server process",
        pid: int = 0,
    ):
        self._work, self._patience, self._name, self.pid = work, patience, name, pid
        self.signs = shared_numbers(2)
        self.is_alive = False
        self._failures = 0
        self._life = self._seen = self._due = 0.0

    def check(self, now: float) -> None:
        """Start the process if there is none; replace one that ended; kill one that hangs."""
        if self.pid and (status := exit_status(self.pid)) is not None:
            log.warning("%s ended (%s) and is started again.", self._name, status)
            self._failures = 0 if self.signs[LIFE] else self._failures + 1
            self.pid, self.is_alive = 0, False
            # It fails at its start: the next one may fail too, and takes all processor time.
            self._due = now + min(LONGEST_PAUSE, 0.1 * 2**self._failures) * bool(self._failures)
        if not self.pid and now >= self._due:
            self._start(now)
        elif self.pid and self.signs[LIFE] != self._life:
            self._life, self._seen, self.is_alive = self.signs[LIFE], now, True
        elif self.pid and now > self._seen + self._patience:
            log.warning("%s hangs and is replaced.", self._name)
            os.kill(self.pid, signal.SIGKILL)
            self.is_alive = False
            self._seen = float("inf")  # it is killed once, however long its end takes

    def _start(self, now: float) -> None:
        self.signs = shared_numbers(2)  # of this and of the new process
        self._life, self._seen, self.is_alive = 0.0, now, False
        # Else a new process would handle a signal as this one does, and not end.
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            self.pid = os.fork()
            if not self.pid:
                self._run()
        except OSError as error:  # no memory, or too many processes
            log.warning("No server process can be started: %s", error)
            self._due = now + 1.0
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def _run(self) -> None:
        try:
            for number in (signal.SIGINT, signal.SIGHUP):  # the first process sees to them
                signal.signal(number, signal.SIG_IGN)
            self._work(self.signs)
            os._exit(0)
        except BaseException:
            log.exception("%s failed", self._name)
        finally:
            os._exit(1)


def exit_status(pid: int) -> int | None:
    """Return the exit status of a process that this one started, or None while it runs."""
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None
