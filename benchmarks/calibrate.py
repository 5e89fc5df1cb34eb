"""Calibration: how often each test is wrong where the truth is known, and how often it is right.

Run by ``make calibrate``; ``python -m benchmarks.calibrate --help`` says what can be set.
"""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks.experiments import Experiment, Rate, Tally, experiments, rates
from benchmarks.families import Family, families
from benchmarks.page import page
from benchmarks.reading import Results

REPLICATES_AT_ONCE = 50


def calibrate(
    tried: Sequence[Experiment | Family],
    executor: Executor,
    *,
    replicates: int,
    seed: int,
    on_counted: Callable[[int], object] = lambda _count: None,
) -> list[dict[str, Rate]]:
    """Simulate every experiment and return its rates, the same for any executor.

    ``on_counted`` is called with the number of replicates that were just counted.
    """
    counted: list[Tally] = [Counter() for _ in tried]
    running: dict[Future[Tally], tuple[int, int]] = {}
    for place, experiment in enumerate(tried):
        count = replicates * experiment.times
        for first in range(0, count, REPLICATES_AT_ONCE):
            last = min(first + REPLICATES_AT_ONCE, count)
            run = executor.submit(experiment.tally, seed, place, first, last)
            running[run] = place, last - first
    for run in as_completed(running):
        place, count = running[run]
        counted[place].update(run.result())
        on_counted(count)
    return [rates(one.claims, tally) for one, tally in zip(tried, counted, strict=True)]


def everything() -> list[Experiment | Family]:
    """List all that is tried. Add at the end: an experiment's place is part of its chance."""
    return [*experiments(), *families()]


@click.command()
@click.option("--replicates", default=2_000, show_default=True, type=click.IntRange(20))
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0))
@click.option(
    "--workers",
    default=os.cpu_count() or 1,
    type=click.IntRange(1, 512),
    help="Processes; as many as there are processors if not given. They change no figure.",
)
@click.option(
    "--to",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the page to this file (Markdown); it is printed if not given.",
)
def main(replicates: int, seed: int, workers: int, to: Path | None) -> None:
    """Simulate studies in which the truth is known and count what each test makes of them."""
    if to and not to.absolute().parent.is_dir():
        raise click.BadParameter(f"there is no folder {to.parent}", param_hint="--to")
    text = page(_calibrated(replicates, seed, workers), replicates=replicates, seed=seed)
    if to:
        to.write_text(text, encoding="utf-8")
        click.echo(f"{to} is written.", err=True)
    else:
        click.echo(text, nl=False)


def _calibrated(replicates: int, seed: int, workers: int) -> Results:
    tried = everything()
    # Fresh processes: a forked one would share the progress bar's thread and its locks.
    executor = ProcessPoolExecutor(workers, get_context("spawn"))
    columns = (TextColumn("Simulating"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=replicates * sum(each.times for each in tried))
        try:
            found = calibrate(
                tried,
                executor,
                replicates=replicates,
                seed=seed,
                on_counted=lambda count: progress.advance(task, count),
            )
        finally:
            executor.shutdown(cancel_futures=True)
    return list(zip(tried, found, strict=True))


if __name__ == "__main__":
    main()
