"""The measures beside others: pure Python for a question's lists, peers for very many."""

import json
import subprocess
from collections.abc import Sequence
from math import exp
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.speed import peers
from benchmarks.speed.part import Finding
from benchmarks.speed.timing import in_turn, ratios
from survey.core.measures import Ranks, Setting, Values, as_lists, measure_named, score
from survey.core.measures.nmrr_mnro import B, C

QUESTION = [[1, 2, 3, 4, 5], [1, 3, 4, 5, 6], [2, 3, 9, 40, 41], [5, 6, 7, 8, 99], [3, 4, 5, 6, 9]]
NAMES = ("AP", "NMRR", "MNRO")
TIMES = 200
SAME = 1e-9  # ranx sums in another order, pytrec_eval the same
PEERS = Path(__file__).with_name("measures_peers.py")
INPUT = "its input are 100 named documents, where ours are 5 positions"
NOTES = {
    "pytrec_eval, from dictionaries": INPUT,
    "ranx, from dictionaries": INPUT,
    "ranx, from arrays": "its input are the numbers of 100 documents, where ours are 5 positions",
    "numba, from tables": "a compiled loop over the same rows, which checks nothing",
}


def few_lists() -> Sequence[Finding]:
    """Score the five lists of one question, as a page does."""
    ranks, setting = np.array(QUESTION), Setting(100)
    measures = [measure_named(name) for name in NAMES]

    def formulas() -> Values:
        lists = as_lists(ranks, 100)
        return np.column_stack([measure.compute(lists, setting) for measure in measures])

    seconds = in_turn(
        {
            "score": lambda: [score(NAMES, ranks) for _ in range(TIMES)],
            "formulas": lambda: [formulas() for _ in range(TIMES)],
            "python": lambda: [[by_hand(row) for row in QUESTION] for _ in range(TIMES)],
        },
        rounds=15,
    )
    what = "the five lists of a question, the same measures"
    return [
        Finding(what, [one / TIMES * 1e6 for one in seconds["score"]], "µs"),
        Finding(what, ratios(seconds["score"], seconds["formulas"]), "× the time of the formulas"),
        Finding(
            what, ratios(seconds["score"], seconds["python"]), "× the time of pure Python",
            note="for 5 of 100 only, which checks nothing",
        ),
    ]  # fmt: skip


def by_hand(ranks: Sequence[int]) -> tuple[float, float, float]:
    """AP, NMRR and MNRO of one list of 5 of 100, without numpy."""
    precisions = sum(place / rank for place, rank in enumerate(ranks, 1)) / 5
    late = sum(25 if rank > 20 else rank for rank in ranks) / 5
    orders = sum(
        exp(B * exp(C * (rank - 1) / 19)) for place, rank in enumerate(ranks, 1) if rank != place
    )
    return precisions, (late - 3) / 22, orders / 5


def told_by_peers(ranks: Ranks) -> dict[str, Any]:
    """Let the peers compute AP, in their own Python: see ``measures_peers``."""
    with TemporaryDirectory() as folder:
        rows = Path(folder) / "ranks.npy"
        np.save(rows, ranks)
        # This repository's own file, and nothing else, in an environment of its own.
        ran = subprocess.run(  # noqa: S603
            [peers.python(), PEERS, rows], check=True, capture_output=True, text=True
        )
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


def beside_peers(told: dict[str, Any], ranks: Ranks) -> Sequence[Finding]:
    """AP alone, a list: by us, and how many times that the peers take.

    Raises ValueError where a peer found another mean than we do.
    """
    for name, found in told["means"].items():
        mean = score(["AP"], ranks[: found["lists"]]).mean()
        if abs(found["mean"] - mean) > SAME:
            raise ValueError(f"{name} has a MAP of {found['mean']}, we one of {mean}")
    seconds = in_turn({"AP": lambda: score(["AP"], ranks)})["AP"]
    each = [one / len(ranks) * 1e9 for one in seconds]
    ours = median(each)
    return [
        Finding("AP alone of a million lists of 5 of 100", each, "ns a list"),
        *(
            Finding(
                f"AP by {name}",
                [one / ours for one in rounds],
                "× our time",
                note=NOTES[name],
            )
            for name, rounds in told["nanoseconds"].items()
        ),
    ]
