"""Simulation: how long ``survey power`` takes, alone, on two processes, on a Dask cluster."""

import logging
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from importlib.metadata import version
from statistics import median

import numpy as np
from distributed import LocalCluster

from benchmarks.situations import Blind, Design, Situation, simulate_study
from benchmarks.speed.part import Finding, Growth, Part
from benchmarks.speed.timing import in_turn, ratios
from survey.core.agreement.agreement import analyse_answers
from survey.core.agreement.answers import Answers
from survey.core.agreement.power_model import PlannedStudy
from survey.services.planning import power
from survey.services.planning.power import simulate_power

PAPER = PlannedStudy(30, 10, 10, 0.1)
MANY = 10_000
WHOLE = 200


def run() -> Part:
    """Measure."""
    return Part(
        name="power",
        title="Simulated power",
        findings=[_command(), *_here_and_there(), _whole_studies()],
        growth=[
            _growth("participants", [30, 300, 3_000], lambda size: PlannedStudy(size, 10, 10, 0.1)),
            _growth("questions", [10, 50, 250], lambda size: PlannedStudy(30, size, size, 0.1)),
        ],
        said=["The figures of every executor were compared: they are the same to the last digit."],
        versions={"dask": version("dask")},
    )


def _command() -> Finding:
    arguments = "--participants 30 --questions 10 --pool none --difference .10 --replicates 1000"
    command = [sys.executable, "-m", "survey", "power", *arguments.split()]
    shown = in_turn(
        {"": lambda: subprocess.run(command, check=True, capture_output=True)},  # noqa: S603
        rounds=5,
    )
    what = "the command `survey power` for 1,000 studies of 30 × 10, start to end"
    return Finding(what, shown[""], "s", target="≤ 10")


def _here_and_there() -> list[Finding]:
    """Run the same simulation in one process, in two, and on two workers of Dask.

    One after the other: a cluster that only waits takes time from the others.
    """
    with power.processes(2) as pool:
        alone, beside = _beside_one_process(pool)
    with (
        LocalCluster(  # type: ignore[no-untyped-call] # as Dask has it
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=logging.CRITICAL,
        ) as local,
        power.cluster(local.scheduler_address) as dask,
    ):
        by_dask = _beside_one_process(dask)[1]
    what = f"{MANY:,} studies of 30 × 10"
    return [
        Finding(f"{what} in one process", alone, "s"),
        Finding("the same on two processes", beside, "× one process's time"),
        Finding("the same on two Dask workers", by_dask, "× one process's time"),
    ]


def _beside_one_process(executor: Executor | None) -> tuple[list[float], list[float]]:
    """Return the seconds of one process, and how many times these the executor takes."""
    found = {}

    def simulate(name: str, where: Executor | None) -> None:
        found[name] = simulate_power([PAPER], seed=1, replicates=MANY, executor=where)

    seconds = in_turn(
        {"alone": partial(simulate, "alone", None), "there": partial(simulate, "there", executor)},
        rounds=5,
    )
    if found["alone"] != found["there"]:
        raise AssertionError(f"the figures differ: {found}")
    return seconds["alone"], ratios(seconds["there"], seconds["alone"])


def _whole_studies() -> Finding:
    """Draw, blind, vote and analyse whole studies, with every test of the analysis."""
    begun = time.perf_counter()
    for number in range(WHOLE):
        study = simulate_study(
            Situation(Blind(), distinct=False), Design(30, 10, 10), np.random.SeedSequence(number)
        )
        answers = Answers.of(study.responses)
        analyse_answers(answers, study.rankings, ("AP", "NMRR", "MNRO"), study.asked)
    taken = time.perf_counter() - begun
    what = f"{WHOLE:,} whole studies of 30 × 10: blinded, voted, every figure of the analysis"
    return Finding(what, [taken], "s", note="one process; what `make calibrate` does")


def _growth(grows: str, sizes: list[int], planned: Callable[[int], PlannedStudy]) -> Growth:
    values = []
    for size in sizes:
        study = planned(size)
        simulate = partial(simulate_power, [study], seed=1, replicates=1_000)
        values.append(median(in_turn({"": simulate}, rounds=3)[""]))
    return Growth("1,000 simulated studies", f"{grows} (30 × 10 otherwise)", sizes, values, "s")
