"""Bars on stderr for what takes its time; drawn where a terminal looks on, and nowhere else."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import Progress, TaskID


@dataclass(frozen=True)
class Bar:
    """One bar: how much of what is done."""

    drawn: Progress
    task: TaskID

    def more(self, by: float = 1) -> None:
        """Move on."""
        self.drawn.advance(self.task, by)

    def at(self, done: float, total: float) -> None:
        """Stand where so much is done."""
        self.drawn.update(self.task, completed=done, total=total)


@contextmanager
def bars() -> Iterator[Progress]:
    """Draw bars for as long as the block runs; nothing may be printed meanwhile."""
    screen = Console(stderr=True)
    with Progress(
        console=screen,
        transient=True,
        disable=not (sys.stderr.isatty() and screen.is_interactive),
        # Rich would send to stderr what is printed to stdout while a bar is drawn.
        redirect_stdout=False,
        redirect_stderr=False,
    ) as progress:
        yield progress


@contextmanager
def bar(what: str, total: float | None = None) -> Iterator[Bar]:
    """Draw one bar; without a total it only shows that there is work going on."""
    with bars() as progress:
        yield Bar(progress, progress.add_task(what, total=total))
