"""The studies that a planner compares: participants × questions × difference.

Planning a study: its simulated power, on any executor, and as plain values.

What simulated studies say in words: how to read them, how large is enough, what helps.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

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
from survey.core.studies.faults import Fault
from survey.core.studies.plan import BOUNDS, Plan
from survey.errors import SurveyError

MOST_VALUES = 10
MOST_QUESTIONS = BOUNDS["questions"][1]
NO_POOL = "none"

DEFAULTS: Mapping[str, str] = {
    "participants": "20,30,50",
    "questions": "10,20",
    "pool": "30",
    "difference": ".05,.10,.15",
    "decided": ".68",
    "between_questions": ".15",
    "between_participants": ".05",
    "replicates": "2000",
    "seed": "1",
}
WHOLE_NUMBERS = {  # lowest and highest
    "participants": (2, 1000),
    "questions": (2, MOST_QUESTIONS),
    "pool": (2, MOST_QUESTIONS),
    "replicates": (100, 100_000),
    "seed": (0, 2**32 - 1),
}
SHARES = {
    "difference": (0, 1),
    "decided": (0.05, 1),
    "between_questions": (0, 1),
    "between_participants": (0, 1),
}
SEVERAL = ("participants", "questions", "pool", "difference")


class GridError(SurveyError):
    """A grid that cannot be; ``faults`` holds everything that is wrong with it."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(fault.text for fault in self.faults))


@dataclass(frozen=True)
class Grid:
    """Planned studies, by difference, participants and questions, and how to simulate them.

    ``texts``: the fields as they were asked for.
    """

    studies: tuple[PlannedStudy, ...]
    replicates: int
    seed: int
    texts: Mapping[str, str]

    @property
    def cost(self) -> int:
        """What simulating all of it costs, as ``simulate_power`` counts its progress."""
        return sum(study.cost for study in self.studies) * self.replicates


def read_grid(given: Mapping[str, str]) -> Grid:
    """Make a grid from texts like "20,30,50"; what is not given is as in ``DEFAULTS``.

    ``pool`` may be "none". Raises GridError with every fault, its place being the field.
    """
    texts = {name: given.get(name, usual).strip() for name, usual in DEFAULTS.items()}
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
    """Return the fields that a study's plan decides."""
    return {
        "participants": str(plan.participants),
        "questions": str(plan.asked),
        "pool": str(plan.questions) if plan.asked < plan.questions else NO_POOL,
        "decided": f"{decided_share(len(plan.measures)):.2f}",
    }


def _numbers(name: str, text: str) -> list[float]:
    if name == "pool" and text.lower() == NO_POOL:
        return []
    kind = int if name in WHOLE_NUMBERS else float
    lowest, highest = (WHOLE_NUMBERS | SHARES)[name]
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > (MOST_VALUES if name in SEVERAL else 1):
        raise ValueError(f"{name} has {len(parts)} values; {_allowed(name)}")
    values: list[float] = []
    for part in parts:
        try:
            values.append(kind(part))
        except ValueError:
            raise ValueError(f"{name} is {part[:40]!r}; {_allowed(name)}") from None
        if not lowest <= values[-1] <= highest:
            raise ValueError(f"{name} is {part[:40]}; {_allowed(name)}")
    return sorted(set(values))


def _allowed(name: str) -> str:
    lowest, highest = (WHOLE_NUMBERS | SHARES)[name]
    what = "whole number" if name in WHOLE_NUMBERS else "share"
    many = f"one to {MOST_VALUES} {what}s" if name in SEVERAL else f"a {what}"
    also = f", or {NO_POOL}," if name == "pool" else ""
    return f"{many} from {lowest} to {highest}{also} can be asked for, like {DEFAULTS[name]}"


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


def _studies(values: Mapping[str, Sequence[float]]) -> Iterable[PlannedStudy]:
    spread = (values["decided"][0], values["between_questions"][0])
    for difference in values["difference"]:
        for people in map(int, values["participants"]):
            for asked in map(int, values["questions"]):
                pools = [int(pool) for pool in values["pool"] if pool > asked]
                for questions in (asked, *pools):
                    yield PlannedStudy(
                        people,
                        asked,
                        questions,
                        difference,
                        *spread,
                        values["between_participants"][0],
                    )


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


ENOUGH = 0.8  # the power that studies are usually planned for
NOT_COVERED = (
    "One pair of measures and one test at 5 %: where three pairs are tested and Holm's "
    "correction is applied, the power for each is lower.",
    "Nobody leaves and nothing is left out: invite more people than planned.",
    "The share that decides and the spread between questions come from the ten questions of "
    "the MNRO paper, one of which cannot tell MNRO and NMRR apart. Yours may differ: try "
    "others. The spread between participants is an assumption; the paper does not print it.",
    "With few participants or questions the test's own 5 % is approximate: ask for a "
    "difference of 0 to see how often it finds what is not there.",
)


def reading(found: Power) -> str:
    """Say in a sentence what was found of a study."""
    reach = 50 * (found.interval[1] - found.interval[0])
    margin = f"±{reach:.0f}" if reach >= 0.5 else "less than ±1"
    who = f"With {found.participants} participants answering {asked(found)} questions"
    how_often = f"is found in {percent(found)} of studies ({margin})"
    if not found.difference:
        return f"{who}, a difference that is not there {how_often}."
    return f"{who}, a difference of {points(found.difference)} {how_often}."


def asked(found: Power) -> str:
    """Say what each participant answers: "all of 10", "10 of 30"."""
    answered = "all" if found.design == "all" else str(found.per_participant)
    return f"{answered} of {found.questions}"


def percent(found: Power) -> str:
    """Print a power for reading, never rounded up to what is enough."""
    for decimals in range(4):
        text = f"{100 * found.power:.{decimals}f}"
        if (float(text) < 100 * ENOUGH) == (found.power < ENOUGH):
            break
    return f"{text} %"


def points(share: float) -> str:
    """Print a difference of shares in points: 10 points."""
    return f"{100 * share:g} point{'' if share == 0.01 else 's'}"


def advice(powers: Sequence[Power]) -> list[str]:
    """Say for each difference which study is large enough, and whether people or questions help.

    Everything is computed from ``powers``, which is a whole grid.
    """
    differences = sorted({found.difference for found in powers if found.difference})
    grids = ([one for one in powers if one.difference == difference] for difference in differences)
    return [" ".join([_large_enough(here), *_what_helps(here)]) for here in grids]


def _large_enough(here: Sequence[Power]) -> str:
    what = f"A difference of {points(here[0].difference)}"
    enough = [found for found in here if found.power >= ENOUGH]
    if enough:
        least = min(enough, key=lambda found: (found.answers, found.participants, -found.power))
        return (
            f"{what}: of these studies, {_study(least)} is the smallest that finds it in "
            f"{100 * ENOUGH:.0f} % of cases or more: in {percent(least)}."
        )
    best = max(here, key=lambda found: found.power)
    return (
        f"{what}: none of these studies finds it in {100 * ENOUGH:.0f} % of cases; "
        f"the best is {_study(best)}: in {percent(best)}."
    )


def _what_helps(here: Sequence[Power]) -> Iterator[str]:
    """Compare the smallest study with more participants and with more questions."""
    start = min(
        here, key=lambda found: (found.participants, found.per_participant, found.questions)
    )
    alike = [found for found in here if found.per_participant == start.per_participant]
    people = [found for found in alike if found.questions == start.questions and found != start]
    questions = [
        found for found in here if found.participants == start.participants and found != start
    ]
    if not people or not questions:
        return
    more_people = max(people, key=lambda found: found.participants)
    more_questions = max(questions, key=lambda found: found.power)
    yield (
        f"{_study(start)} find it in {percent(start)}; "
        f"{_study(more_people)} in {percent(more_people)}; "
        f"{_study(more_questions)} in {percent(more_questions)}. "
        f"{_conclusion(more_people, more_questions)}"
    )


def _conclusion(people: Power, questions: Power) -> str:
    if questions.interval[0] > people.interval[1]:
        return "Here more questions help more than more participants."
    if people.interval[0] > questions.interval[1]:
        return "Here more participants help more than more questions."
    return "Here neither more participants nor more questions helps clearly more."


def _study(found: Power) -> str:
    return f"{found.participants} participants × {asked(found)} questions ({found.answers} answers)"
