"""Planning a study: its simulated power, on any executor, and as plain values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from survey.core.agreement.planning import (
    ALPHA,
    Chunk,
    PlannedStudy,
    Power,
    Tally,
    chunks,
    power,
    tally,
)
from survey.services.grids import DEFAULTS, Grid

# What one task of an executor simulates: about a twentieth of a second. The way to a
# cluster's worker and back takes some milliseconds.
COST_OF_A_TASK = 2_000_000


def simulate_power(
    studies: Sequence[PlannedStudy],
    *,
    seed: int,
    replicates: int,
    executor: Executor | None = None,
    on_progress: Callable[[int], object] = lambda _: None,
) -> tuple[Power, ...]:
    """Simulate each study's power, in this process or on an executor.

    The figures are the same for every executor and number of workers: threads, processes
    or a Dask cluster's ``Client(...).get_executor()``. ``on_progress`` is called with the
    cost of each part that is done; together they are Σ study.cost · replicates.
    """
    groups = _alike(studies)
    parts = [list(chunks(group, replicates)) for group in groups]
    work = [chunk for of_group in parts for chunk in of_group]
    run = _here if executor is None else partial(_on, executor)
    tallies = iter(run(work, seed, on_progress))
    found: dict[PlannedStudy, Power] = {}
    for group, of_group in zip(groups, parts, strict=True):
        by_study = zip(*islice(tallies, len(of_group)), strict=True)
        found |= {study: power(study, its) for study, its in zip(group, by_study, strict=True)}
    return tuple(found[study] for study in studies)


def _alike(studies: Sequence[PlannedStudy]) -> list[tuple[PlannedStudy, ...]]:
    """Put together the studies that differ in their difference alone: one draw serves them."""
    groups: dict[PlannedStudy, list[PlannedStudy]] = {}
    for study in dict.fromkeys(studies):
        groups.setdefault(replace(study, difference=0.0), []).append(study)
    return [tuple(group) for group in groups.values()]


def _here(
    work: Sequence[Chunk], seed: int, on_progress: Callable[[int], object]
) -> list[tuple[Tally, ...]]:
    tallies = []
    for chunk in work:
        tallies.append(tally(chunk, seed))
        on_progress(chunk.cost)
    return tallies


def _on(
    executor: Executor, work: Sequence[Chunk], seed: int, on_progress: Callable[[int], object]
) -> list[tuple[Tally, ...]]:
    submitted = {executor.submit(_tallies, task, seed): task for task in _tasks(work)}
    try:
        for done in as_completed(submitted):
            done.result()
            on_progress(sum(chunk.cost for chunk in submitted[done]))
    except BaseException:  # one failed, or Ctrl-C: let no further one begin
        for one in submitted:
            one.cancel()
        raise
    return [tallied for one in submitted for tallied in one.result()]


def _tasks(work: Sequence[Chunk]) -> Iterator[list[Chunk]]:
    """Put so many chunks together as are worth the way to another process and back."""
    together: list[Chunk] = []
    for chunk in work:
        together.append(chunk)
        if sum(one.cost for one in together) >= COST_OF_A_TASK:
            yield together
            together = []
    if together:
        yield together


def _tallies(task: Sequence[Chunk], seed: int) -> list[tuple[Tally, ...]]:
    return [tally(chunk, seed) for chunk in task]


def side_by_side(powers: Sequence[Power]) -> list[list[Power]]:
    """Group powers by study: one list for each, its differences in their order."""
    rows: dict[tuple[int, int, int], list[Power]] = {}
    for found in powers:
        study = (found.participants, found.per_participant, found.questions)
        rows.setdefault(study, []).append(found)
    return list(rows.values())


def as_rows(powers: Sequence[Power]) -> list[dict[str, Any]]:
    """Return a record for each study, as its row in a CSV file."""
    return [
        {
            "design": found.design,
            "participants": found.participants,
            "per_participant": found.per_participant,
            "questions": found.questions,
            "answers": found.answers,
            "difference": found.difference,
            "replicates": found.replicates,
            "power": found.power,
            "power_low": found.interval[0],
            "power_high": found.interval[1],
            "half_width": found.half_width,
        }
        for found in powers
    ]


def as_json(grid: Grid, powers: Sequence[Power]) -> dict[str, Any]:
    """Return the grid's settings and what was found, as plain values."""
    settings = {
        name: float(grid.texts[name])
        for name in ("decided", "between_questions", "between_participants")
    }
    return {
        "alpha": ALPHA,
        **settings,
        "replicates": grid.replicates,
        "seed": grid.seed,
        "studies": as_rows(powers),
    }


def command(texts: Mapping[str, str]) -> str:
    """Return the command line that simulates the same grid."""
    plain = {name: text.replace(" ", "") for name, text in texts.items()}
    options = (
        f" --{name.replace('_', '-')} {text}"
        for name, text in plain.items()
        if text != DEFAULTS[name]
    )
    return "survey power" + "".join(options)
