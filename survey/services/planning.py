"""Planning a study: its simulated power, and what that says in words."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
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
    parts = [list(chunks(study, replicates)) for study in studies]
    work = [chunk for of_study in parts for chunk in of_study]
    if executor is None:
        tallies = []
        for chunk in work:
            tallies.append(tally(chunk, seed))
            on_progress(chunk.cost)
    else:
        tallies = _on(executor, work, seed, on_progress)
    rest = iter(tallies)
    return tuple(
        power(study, list(islice(rest, len(of_study))))
        for study, of_study in zip(studies, parts, strict=True)
    )


def _on(
    executor: Executor, work: Sequence[Chunk], seed: int, on_progress: Callable[[int], object]
) -> list[Tally]:
    submitted = {executor.submit(tally, chunk, seed): chunk for chunk in work}
    try:
        for done in as_completed(submitted):
            done.result()
            on_progress(submitted[done].cost)
    except BaseException:  # one failed, or Ctrl-C: let no further one begin
        for one in submitted:
            one.cancel()
        raise
    return [one.result() for one in submitted]


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
    """Print a power for reading."""
    return f"{100 * found.power:.0f} %"


def points(share: float) -> str:
    """Print a difference of shares in points: 10 points."""
    return f"{100 * share:g} point{'' if share == 0.01 else 's'}"


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
