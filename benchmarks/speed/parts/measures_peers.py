"""AP by pytrec_eval, ranx and numba; a file for the peers' own Python.

``python measures_peers.py RANKS.npy`` prints, as JSON, the nanoseconds a list of every round,
the mean over the lists that were scored, and versions. Nothing of the survey is imported.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

QUERIES, DOCUMENTS, ROUNDS = 20_000, 100, 5
Scores = Callable[[], Any]


def main() -> None:
    """Let every peer score the same lists, in turn, and print what they took and found."""
    ranks = np.load(sys.argv[1])
    first = ranks[:QUERIES]
    contestants: dict[str, tuple[int, Scores]] = {
        "pytrec_eval, from dictionaries": (QUERIES, by_pytrec_eval(first)),
        "ranx, from dictionaries": (QUERIES, by_ranx(*dictionaries(first))),
        "ranx, from arrays": (QUERIES, by_ranx(*arrays(first))),
        "numba, from tables": (len(ranks), by_numba(ranks)),
    }
    means = {
        name: {"lists": lists, "mean": float(np.mean(scores()))}
        for name, (lists, scores) in contestants.items()  # compiles what is compiled
    }
    taken: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, (lists, scores) in contestants.items():
            begun = time.perf_counter()
            scores()
            taken[name].append((time.perf_counter() - begun) / lists * 1e9)
    versions = {name: version(name) for name in ("pytrec-eval-terrier", "ranx", "numba")}
    print(json.dumps({"nanoseconds": taken, "means": means, "versions": versions}))  # noqa: T201


def dictionaries(ranks: NDArray[np.int64]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgements and a run: of every query, the document "d7" stands at position 7."""
    scores = {f"d{place}": 1.0 / place for place in range(1, DOCUMENTS + 1)}
    judged = {f"q{query}": {f"d{rank}": 1 for rank in row} for query, row in enumerate(ranks)}
    return judged, {query: dict(scores) for query in judged}


def arrays(ranks: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the same as ranx takes arrays: (queries, documents, number and score)."""
    places = np.arange(1.0, DOCUMENTS + 1)
    run = np.broadcast_to(np.stack([places, 1 / places], axis=1), (len(ranks), DOCUMENTS, 2))
    return np.stack([ranks, np.ones_like(ranks)], axis=2).astype(np.float64), run.copy()


def by_pytrec_eval(ranks: NDArray[np.int64]) -> Scores:
    """Score with trec_eval's map; the evaluator is made beforehand."""
    judged, run = dictionaries(ranks)
    evaluator = import_module("pytrec_eval").RelevanceEvaluator(judged, {"map"})
    return lambda: [found["map"] for found in evaluator.evaluate(run).values()]


def by_ranx(judged: Any, run: Any) -> Scores:
    """Score with ranx's map."""
    evaluate = import_module("ranx").evaluate
    return lambda: evaluate(judged, run, "map", return_mean=False)


def by_numba(ranks: NDArray[np.int64]) -> Scores:
    """Score with one compiled loop over the rows and a table of k / r / NG."""
    relevant = ranks.shape[1]
    places = np.arange(1.0, relevant + 1)[:, np.newaxis]
    table = places / np.maximum(1, np.arange(DOCUMENTS + 1)) / relevant

    def scored(rows: NDArray[np.int64], table: NDArray[np.float64]) -> NDArray[np.float64]:
        values = np.empty(len(rows))
        for index in range(len(rows)):
            total = 0.0
            for place in range(rows.shape[1]):
                total += table[place, rows[index, place]]
            values[index] = total
        return values

    compiled = import_module("numba").njit(scored)
    return lambda: compiled(ranks, table)


if __name__ == "__main__":
    main()
