"""``survey`` as a copy of a process that has loaded it: a process of its own, with less to do.

Tests start a hundred servers; loading the survey and compiling its templates takes each seconds.
"""

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from multiprocessing.process import BaseProcess
from typing import Any

from flask import Flask

FORKSERVER = multiprocessing.get_context("forkserver")
FORKSERVER.set_forkserver_preload(["tests.loaded"])


class ForkedProcess:
    """A process with the methods of ``subprocess.Popen`` that tests use."""

    def __init__(self, process: BaseProcess) -> None:
        self.process, self.pid = process, process.pid or 0

    def poll(self) -> int | None:
        """Its exit status, or None while it runs."""
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> None:
        """Wait until it has ended."""
        self.process.join(timeout)
        assert self.process.exitcode is not None, f"{self.process} has not ended"


def start_survey(words: Sequence[str], environment: Mapping[str, str]) -> ForkedProcess:
    """Run a command in a session of its own; what it prints is lost.

    It shares the compiled templates of the tests.
    """
    arguments = ([*words], dict(environment), Flask.jinja_options)
    process = FORKSERVER.Process(target=_run, args=arguments)
    process.start()
    return ForkedProcess(process)


def _run(words: list[str], environment: dict[str, str], jinja_options: dict[str, Any]) -> None:
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    os.environ.clear()
    os.environ.update(environment)
    Flask.jinja_options = jinja_options
    sys.argv = ["survey", *words]
    from survey.cli import main

    main()
