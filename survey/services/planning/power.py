"""Simulated power: read a grid of studies, simulate it on any executor, put it in words."""

import logging
import signal
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from multiprocessing import get_context
from pkgutil import resolve_name
from typing import Any

import numpy as np

from survey import __version__
from survey.core.agreement.power_model import (
    ALPHA,
    Chunk,
    PlannedStudy,
    Power,
    Tally,
    chunks,
    decided_share,
    power,
    tally,
)
from survey.core.studies.fields import Fault, PlanError
from survey.core.studies.plan import QUESTIONS, Plan
from survey.core.tasks.ordering_plan import OrderingPlan
from survey.errors import SurveyError

MOST_VALUES = 10
NO_POOL = "none"


@dataclass(frozen=True)
class Field:
    """What may be typed for a setting: numbers of a kind, the lowest and the highest."""

    default: str
    kind: type[int] | type[float]
    lowest: float
    highest: float
    several: bool = False

    @property
    def allowed(self) -> str:
        """The words for the values that are allowed."""
        what = "whole number" if self.kind is int else "share"
        many = f"one to {MOST_VALUES} {what}s" if self.several else f"a {what}"
        return f"{many} from {self.lowest} to {self.highest}"


FIELDS: Mapping[str, Field] = {
    "participants": Field("20,30,50", int, 2, 1000, several=True),
    "questions": Field("10,20", int, 2, QUESTIONS.highest, several=True),
    "pool": Field("30", int, 2, QUESTIONS.highest, several=True),
    "difference": Field(".05,.10,.15", float, 0, 1, several=True),
    "decided": Field(".68", float, 0.05, 1),
    "between_questions": Field(".15", float, 0, 1),
    "between_participants": Field(".05", float, 0, 1),
    "replicates": Field("2000", int, 100, 100_000),
    "seed": Field("1", int, 0, 2**32 - 1),
}
SHARES = ("decided", "between_questions", "between_participants")
DEFAULTS = {name: field.default for name, field in FIELDS.items()}

# The work of an executor's task, about a twentieth of a second: sending it to a cluster's
# worker and back takes some milliseconds.
COST_OF_A_TASK = 2_000_000

ENOUGH = 0.8  # the power that studies are usually planned for


class GridError(PlanError):
    """An invalid grid, with every fault in ``faults``."""


@dataclass(frozen=True)
class Grid:
    """Planned studies, by difference, participants and questions, and how to simulate them.

    ``texts``: the fields as they were typed.
    """

    studies: tuple[PlannedStudy, ...]
    replicates: int
    seed: int
    texts: Mapping[str, str]

    @property
    def cost(self) -> int:
        """Work of simulating the grid, in the unit of ``simulate_power``'s progress."""
        return sum(study.cost for study in self.studies) * self.replicates


def read_grid(fields: Mapping[str, str]) -> Grid:
    """Parse texts like "20,30,50" to a grid; missing fields are as in ``DEFAULTS``.

    ``pool`` may be "none". Raises GridError with every fault and its field.
    """
    texts = {name: fields.get(name, usual).strip() for name, usual in DEFAULTS.items()}
    faults: list[Fault] = []
    values: dict[str, list[float]] = {}
    for name, text in texts.items():
        try:
            values[name] = _numbers(name, text)
        except ValueError as error:
            faults.append(Fault((name,), str(error)))
    faults = faults or list(_disagreements(values))
    if faults:
        raise GridError(faults)
    try:
        studies = tuple(_studies(values))
    except ValueError as error:  # too few answers for the pool; all else fits by now
        raise GridError([Fault(("pool",), str(error))]) from error
    return Grid(studies, int(values["replicates"][0]), int(values["seed"][0]), texts)


def texts_of(plan: Plan) -> dict[str, str]:
    """Return the fields of the grid that a study's plan decides."""
    texts = {
        "participants": str(plan.participants),
        "questions": str(plan.counted),
        "pool": str(plan.questions) if plan.counted < plan.questions else NO_POOL,
    }
    if isinstance(plan, OrderingPlan):
        texts["decided"] = f"{decided_share(len(plan.measures)):.2f}"
    return texts


def _numbers(name: str, text: str) -> list[float]:
    if name == "pool" and text.lower() == NO_POOL:
        return []
    field = FIELDS[name]
    also = f", or {NO_POOL}," if name == "pool" else ""
    allowed = f"{field.allowed}{also} can be asked for, like {field.default}"
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > (MOST_VALUES if field.several else 1):
        raise ValueError(f"{name} has {len(parts)} values; {allowed}")
    values: list[float] = []
    for part in parts:
        try:
            values.append(field.kind(part))
        except ValueError:
            raise ValueError(f"{name} is {part[:40]!r}; {allowed}") from None
        if not field.lowest <= values[-1] <= field.highest:
            raise ValueError(f"{name} is {part[:40]}; {allowed}")
    return sorted(set(values))


def _disagreements(values: Mapping[str, Sequence[float]]) -> Iterable[Fault]:
    fewest, decided = int(min(values["questions"])), values["decided"][0]
    if values["pool"] and max(values["pool"]) <= fewest:
        yield Fault(
            ("pool",),
            f"pool is {max(values['pool'])}; it must hold more than the {fewest} questions that "
            f"each participant answers, or be {NO_POOL}",
        )
    if max(values["difference"]) > decided:
        yield Fault(
            ("difference",),
            f"difference is {max(values['difference']):g}; where a share of {decided:g} of the "
            f"responses decides between two measures, it can be {decided:g} at most",
        )


def _studies(values: Mapping[str, Sequence[Any]]) -> Iterator[PlannedStudy]:
    shares = {name: values[name][0] for name in SHARES}
    names = ("difference", "participants", "questions")
    for difference, people, asked in product(*(values[name] for name in names)):
        for questions in (asked, *(pool for pool in values["pool"] if pool > asked)):
            yield PlannedStudy(people, asked, questions, difference, **shares)


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
    cost of each finished part; the costs add up to Σ study.cost · replicates.
    """
    work = [chunk for group in _alike(studies) for chunk in chunks(group, replicates)]
    tasks = list(_tasks(work))
    by_study: dict[PlannedStudy, list[Tally]] = {study: [] for study in studies}
    with nullcontext(executor) if executor else ThreadPoolExecutor(1) as pool:
        # After an error or Ctrl-C, map starts no further task.
        for task, done in zip(tasks, pool.map(partial(_tallies, seed), tasks), strict=True):
            for study, study_tally in done:
                by_study[study].append(study_tally)
            on_progress(sum(chunk.cost for chunk in task))
    return tuple(power(study, by_study[study]) for study in studies)


def _alike(studies: Sequence[PlannedStudy]) -> list[tuple[PlannedStudy, ...]]:
    """Group the studies that differ in δ alone, since they share their random numbers."""
    groups: dict[PlannedStudy, list[PlannedStudy]] = {}
    for study in dict.fromkeys(studies):
        groups.setdefault(replace(study, difference=0.0), []).append(study)
    return [tuple(group) for group in groups.values()]


def _tasks(work: Sequence[Chunk]) -> Iterator[list[Chunk]]:
    """Group chunks into tasks that are worth sending to another process."""
    together: list[Chunk] = []
    for chunk in work:
        together.append(chunk)
        if sum(each.cost for each in together) >= COST_OF_A_TASK:
            yield together
            together = []
    if together:
        yield together


def _tallies(seed: int, task: Sequence[Chunk]) -> list[tuple[PlannedStudy, Tally]]:
    return [pair for chunk in task for pair in zip(chunk.studies, tally(chunk, seed), strict=True)]


def side_by_side(powers: Sequence[Power]) -> list[list[Power]]:
    """Group powers by study; a study's list has its differences in order."""
    rows: dict[tuple[int, int, int], list[Power]] = {}
    for result in powers:
        study = (result.participants, result.per_participant, result.questions)
        rows.setdefault(study, []).append(result)
    return list(rows.values())


def as_rows(powers: Sequence[Power]) -> list[dict[str, Any]]:
    """Return a row of the CSV file for each study."""
    return [
        {
            "design": result.design,
            "participants": result.participants,
            "per_participant": result.per_participant,
            "questions": result.questions,
            "answers": result.answers,
            "difference": result.difference,
            "replicates": result.replicates,
            "power": result.power,
            "power_low": result.interval[0],
            "power_high": result.interval[1],
            "half_width": result.half_width,
        }
        for result in powers
    ]


def as_json(grid: Grid, powers: Sequence[Power]) -> dict[str, Any]:
    """Return the grid's settings and the powers as JSON values."""
    return {
        "alpha": ALPHA,
        **{name: float(grid.texts[name]) for name in SHARES},
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


NOT_COVERED = (
    "One pair of measures and one test at 5 %: where three pairs are tested and Holm's "
    "correction is applied, the power for each is lower.",
    "It assumes that every participant finishes and no answer is left out: invite more people "
    "than planned.",
    "The share that decides and the spread between questions come from the ten questions of "
    "the MNRO paper, one of which cannot tell MNRO and NMRR apart. Yours may differ: try "
    "others. The spread between participants is an assumption; the paper does not print it.",
    "With few participants or questions the test's own 5 % is approximate: ask for a "
    "difference of 0 to see how often it finds what is not there.",
)


def reading(result: Power) -> str:
    """Return the sentence on a study's power."""
    reach = 50 * (result.interval[1] - result.interval[0])
    margin = f"±{reach:.0f}" if reach >= 0.5 else "less than ±1"
    who = f"With {result.participants} participants answering {asked(result)} questions"
    how_often = f"is found in {percent(result)} of studies ({margin})"
    if not result.difference:
        return f"{who}, a difference that is not there {how_often}."
    return f"{who}, a difference of {points(result.difference)} {how_often}."


def asked(result: Power) -> str:
    """Return which questions each participant answers: "all of 10", "10 of 30"."""
    answered = "all" if result.design == "all" else str(result.per_participant)
    return f"{answered} of {result.questions}"


def percent(result: Power) -> str:
    """Format a power in %, never rounded up to ``ENOUGH``."""
    for decimals in range(4):
        text = f"{100 * result.power:.{decimals}f}"
        if (float(text) < 100 * ENOUGH) == (result.power < ENOUGH):
            break
    return f"{text} %"


def points(share: float) -> str:
    """Format a difference of shares in points: 10 points."""
    return f"{100 * share:g} point{'' if share == 0.01 else 's'}"


def advice(powers: Sequence[Power]) -> list[str]:
    """Return for each difference the smallest study with enough power, and what helps more.

    ``powers``: of a whole grid. What helps more is participants, questions, or neither.
    """
    differences = sorted({result.difference for result in powers if result.difference})
    grids = ([each for each in powers if each.difference == wanted] for wanted in differences)
    return [" ".join([_large_enough(grid), *_what_helps(grid)]) for grid in grids]


def _large_enough(grid: Sequence[Power]) -> str:
    what = f"A difference of {points(grid[0].difference)}"
    enough = [result for result in grid if result.power >= ENOUGH]
    if enough:
        least = min(enough, key=lambda result: (result.answers, result.participants, -result.power))
        return (
            f"{what}: of these studies, {_study(least)} is the smallest that finds it in "
            f"{100 * ENOUGH:.0f} % of cases or more: in {percent(least)}."
        )
    best = max(grid, key=lambda result: result.power)
    return (
        f"{what}: none of these studies finds it in {100 * ENOUGH:.0f} % of cases; "
        f"the best is {_study(best)}: in {percent(best)}."
    )


def _what_helps(grid: Sequence[Power]) -> Iterator[str]:
    """Compare the smallest study with more participants and with more questions."""
    start = min(
        grid, key=lambda result: (result.participants, result.per_participant, result.questions)
    )
    others = [result for result in grid if result != start]
    asked_alike = (start.per_participant, start.questions)
    people = [each for each in others if (each.per_participant, each.questions) == asked_alike]
    questions = [each for each in others if each.participants == start.participants]
    if not people or not questions:
        return
    more_people = max(people, key=lambda result: result.participants)
    more_questions = max(questions, key=lambda result: result.power)
    yield (
        f"{_study(start)} find it in {percent(start)}; "
        f"{_study(more_people)} in {percent(more_people)}; "
        f"{_study(more_questions)} in {percent(more_questions)}."
    )
    if more_questions.interval[0] > more_people.interval[1]:
        yield "Here more questions help more than more participants."
    elif more_people.interval[0] > more_questions.interval[1]:
        yield "Here more participants help more than more questions."
    else:
        yield "Here neither more participants nor more questions helps clearly more."


def _study(result: Power) -> str:
    return (
        f"{result.participants} participants × {asked(result)} questions ({result.answers} answers)"
    )


PATIENCE = 10  # seconds for a scheduler to answer


@contextmanager
def processes(workers: int) -> Iterator[Executor | None]:
    """Yield an executor of ``workers`` processes; None for 1, which is this process."""
    if workers == 1:
        yield None
        return
    # Spawned, not forked: the progress bar has a thread, and a fork would copy its locks.
    # Only this process handles Ctrl-C and ends the others; they would print tracebacks.
    no_interrupt = (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(workers, get_context("spawn"), signal.signal, no_interrupt) as pool:
        yield pool


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """Yield an executor of the Dask cluster whose scheduler has this address.

    Raises SurveyError without the package, without a scheduler at the address, and for workers
    with no or another version of the survey or of numpy, whose figures might differ.
    """
    try:
        from distributed import Client
    except ImportError:
        raise SurveyError(
            "A Dask cluster needs the extra: pip install 'ranking-survey[dask]'."
        ) from None
    # A lost scheduler is reported in one sentence below, not in pages of log.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client: Any = Client(  # type: ignore[no-untyped-call] # as Dask has it
            address, timeout=PATIENCE, set_as_default=False
        )
    except (OSError, ValueError) as error:
        raise SurveyError(
            f"No Dask scheduler answers at {address!r}; its address looks like "
            "tcp://10.0.0.1:8786, and `dask scheduler` prints it."
        ) from error
    with client:
        for package, version in (("survey", __version__), ("numpy", np.__version__)):
            # Python's own function: a worker without the survey could not load one of ours.
            versions = client.run(resolve_name, f"{package}:__version__", on_error="return")
            if not versions:
                raise SurveyError(
                    f"The Dask cluster at {address} has no workers; start `dask worker`."
                )
            for worker, theirs in versions.items():
                if theirs != version:  # or the error of a worker without the package
                    has = f"{package} {theirs}" if isinstance(theirs, str) else f"no {package}"
                    raise SurveyError(
                        f"The Dask worker {worker} has {has}; {package} {version} is needed on "
                        "every worker, so that figures are the same."
                    )
        yield client.get_executor()
