"""Analysis at scale: a million participants, the researcher's page, and what grows with what."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from statistics import median
from typing import Any

import numpy as np
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

from benchmarks.situations import Blind, Design, Situation, simulate_study
from benchmarks.speed import crowds
from benchmarks.speed.part import Finding, Growth, Part
from benchmarks.speed.timing import in_turn, ratios
from survey.core.agreement.answers import Answers
from survey.core.agreement.credits import Ballots, Credits, tally_credits
from survey.core.agreement.differences import Pair, differences, two_way

SIX = ("AP", "NMRR", "MNRO", "RR", "P@5", "nDCG@10")
Measured = Mapping[str, Any]


def run() -> Part:
    """Measure."""
    sqlite = _analysed(crowds.million_in_sqlite())
    with crowds.million_in_postgresql() as address:
        postgresql = _analysed(address)
    if sqlite["figures"] != postgresql["figures"]:
        raise AssertionError("the two databases give different figures")
    return Part(
        name="analysis",
        title="Analysis of a million participants",
        findings=[
            *_findings("SQLite", sqlite),
            *_findings("PostgreSQL", postgresql),
            *_page(30, 10, "≤ 0.3"),
            *_page(300, 50),
            _beside_statsmodels(),
        ],
        growth=list(_growths(sqlite)),
        said=[
            "Figures from both databases were compared: they are the same to the last digit.",
            "Each analysis runs in a new process and gives all that `survey analyse` prints.",
        ],
        versions={"statsmodels": version("statsmodels")},
    )


def _in_a_process(module: str, *arguments: object) -> Measured:
    command = [sys.executable, "-m", f"benchmarks.speed.{module}", *map(str, arguments)]
    # No shell, and nothing but this repository's own modules is run.
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    found: Measured = json.loads(done.stdout)
    return found


def _analysed(uri: str) -> Measured:
    return _in_a_process("analysing", uri)


def _findings(database: str, found: Measured) -> list[Finding]:
    what = f"1,000,000 participants × 10 questions from {database}"
    told = database == "SQLite"
    return [
        Finding(f"{what}, read and analysed", [found["seconds"]], "s", "≤ 60", headline=told),
        Finding(f"{what}: of this the reading", [found["reading"]], "s"),
        Finding(f"{what}: processor time of our process", [found["worked"]], "s"),
        Finding(f"{what}: peak memory", [found["peak"]], "MB", "≤ 2000", headline=told),
    ]


def _page(participants: int, questions: int, target: str = "") -> list[Finding]:
    found = _in_a_process("results_page", participants, questions)
    what = f"the results page of {participants} participants × {questions} questions"
    return [
        Finding(what, found["page"], "s", target, headline=bool(target)),
        Finding(f"{what}: the figure of its first screen", found["figure"], "s"),
        Finding(f"{what}, the first of a process", found["first"], "s"),
    ]


def _beside_statsmodels() -> Finding:
    """Compute the same two-way variance with statsmodels."""
    study = simulate_study(
        Situation(Blind(), distinct=False), Design(3_000, 10, 10), np.random.SeedSequence(1)
    )
    answers = Answers.of(study.responses)
    pair = Pair("MNRO", "AP")

    def counted() -> Credits:
        return tally_credits(Ballots.of(answers, study.rankings, ("AP", "NMRR", "MNRO")))

    def ours() -> float:
        credits = counted()
        return two_way(differences(credits, pair), credits).se or 0.0

    credits = counted()
    each = differences(credits, pair)[credits.ballots.ballot_index]
    people = np.repeat(np.arange(len(answers.people)), answers.answer_counts)

    def theirs() -> float:
        fitted = OLS(each, np.ones(len(each))).fit()
        return float(cov_cluster_2groups(fitted, people, answers.question.codes)[0].item())

    if not np.isclose(ours() ** 2, theirs(), rtol=1e-12):
        raise AssertionError("the variances differ")
    seconds = in_turn({"ours": ours, "theirs": theirs}, rounds=5)
    return Finding(
        "the two-way test of 30,000 answers beside statsmodels' variance alone",
        ratios(seconds["theirs"], seconds["ours"]),
        "× as fast",
        note="ours counts the votes first; theirs is given each answer's difference",
    )


def _growths(million: Measured) -> list[Growth]:
    two, three = (_crowd(size) for size in (10_000, 100_000))
    questions = [_crowd(10_000, questions=5), two, _crowd(10_000, questions=50)]
    measures = [_crowd(10_000, measures=list(SIX[:2])), two, _crowd(10_000, measures=list(SIX))]
    people = [10_000, 100_000, crowds.MILLION]
    by_people = [two, three, million]
    return [
        _growth("an analysis", "participants (10 questions)", people, by_people, "seconds", "s"),
        _growth("peak memory", "participants (10 questions)", people, by_people, "peak", "MB"),
        _growth(
            "an analysis", "questions (10,000 participants)", [5, 10, 50], questions, "seconds", "s"
        ),
        _growth(
            "an analysis", "measures (10,000 participants)", [2, 3, 6], measures, "seconds", "s"
        ),
    ]


def _crowd(participants: int, **changes: Any) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        uri = f"sqlite:///{folder}/crowd.sqlite3"
        crowds.fill(uri, participants, **changes)
        found = [_analysed(uri) for _ in range(3)]
    return {name: median(one[name] for one in found) for name in ("seconds", "peak")}


def _growth(
    what: str, grows: str, sizes: Sequence[int], found: Sequence[Measured], name: str, unit: str
) -> Growth:
    return Growth(what, grows, sizes, [one[name] for one in found], unit)
