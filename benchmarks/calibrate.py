"""Calibration: how often each verdict is wrong where the truth is known, and how often it is right.

Run by ``make calibrate``; ``python -m benchmarks.calibrate --help`` says what can be set.
"""

import json
import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks.calibration.cells import Cell, Tally
from benchmarks.calibration.page import page
from benchmarks.calibration.plan import PARTS, cells
from survey import __version__

REPLICATES_AT_ONCE = 100
MOST = 1_000_000
SEED = 47


def calibrate(
    tried: Sequence[Cell],
    executor: Executor,
    *,
    seed: int,
    at_most: int = MOST,
    on_counted: Callable[[int], object] = lambda _count: None,
) -> Iterator[tuple[Cell, Tally]]:
    """Simulate cells and yield the counts of each that is done, the same for any executor.

    ``at_most``: replicates of a cell; ``on_counted`` is called with the number of replicates that
    were just counted.
    """
    running: dict[Future[Tally], tuple[Cell, int]] = {}
    left: Counter[str] = Counter()
    counted: dict[str, Tally] = {}
    for cell in tried:
        replicates = min(cell.replicates, at_most)
        left[cell.name], counted[cell.name] = replicates, Counter()
        for first in range(0, replicates, REPLICATES_AT_ONCE):
            last = min(first + REPLICATES_AT_ONCE, replicates)
            run = executor.submit(count, cell.name, seed, first, last)
            running[run] = cell, last - first
    for run in as_completed(running):
        cell, replicates = running.pop(run)
        counted[cell.name].update(run.result())
        left[cell.name] -= replicates
        on_counted(replicates)
        if not left[cell.name]:
            yield cell, counted[cell.name]


def count(name: str, seed: int, first: int, last: int) -> Tally:
    """Simulate some replicates of the cell of this name."""
    return _CELLS[name].tally(seed, first, last)


_CELLS = {cell.name: cell for cell in cells()}


@click.command()
@click.option("--at-most", default=MOST, help="Replicates of each cell, for a quick look.")
@click.option("--seed", default=SEED, show_default=True, type=click.IntRange(0))
@click.option(
    "--only",
    multiple=True,
    type=click.Choice([*PARTS]),
    help="Simulate only this part of the page, and keep the others as they are stored.",
)
@click.option(
    "--workers",
    default=os.cpu_count() or 1,
    type=click.IntRange(1, 512),
    help="Processes; as many as there are processors if not given. They change no figure.",
)
@click.option(
    "--to",
    required=True,
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the page to this file (Markdown), and the counts beside it (JSON).",
)
def main(at_most: int, seed: int, only: Sequence[str], workers: int, to: Path) -> None:
    """Simulate studies in which the truth is known and count what each test makes of them."""
    if not to.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {to.parent}", param_hint="--to")
    store = to.with_suffix(".json")
    counts: dict[str, Any] = {}
    if only and store.exists():
        counts = json.loads(store.read_text(encoding="utf-8"))["counts"]
    tried = [cell for cell in cells() if not only or cell.finding in only]
    for cell, tally in _with_progress(tried, seed, at_most, workers):
        counts[cell.name] = cell.counts(tally)
    known = [cell for cell in cells() if cell.name in counts]
    versions = _versions()
    content = {
        "seed": seed,
        "versions": versions,
        "counts": {cell.name: counts[cell.name] for cell in known},
    }
    store.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    to.write_text(page(known, counts, seed=seed, versions=versions), encoding="utf-8")
    click.echo(f"{to} and {store} are written.", err=True)


def _with_progress(
    tried: Sequence[Cell], seed: int, at_most: int, workers: int
) -> Iterator[tuple[Cell, Tally]]:
    # Fresh processes: a forked one would share the progress bar's thread and its locks.
    executor = ProcessPoolExecutor(workers, get_context("spawn"))
    columns = (TextColumn("Simulating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        total = sum(min(cell.replicates, at_most) for cell in tried)
        task = progress.add_task("", total=total)
        try:
            yield from calibrate(
                tried,
                executor,
                seed=seed,
                at_most=at_most,
                on_counted=lambda count: progress.advance(task, count),
            )
        finally:
            executor.shutdown(cancel_futures=True)


def _versions() -> str:
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    return f"Survey {__version__}, Python {platform.python_version()}, {packages}"


if __name__ == "__main__":
    main()
