"""The measures: very many lists and few, beside copying them, the formulas, and peers."""

import tracemalloc
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.speed.part import Finding, Growth, Part
from benchmarks.speed.parts.measures_beside import beside_peers, few_lists, told_by_peers
from benchmarks.speed.timing import in_turn, ratios
from survey.core.measures import Lists, Ranks, Setting, Values, measure_named, score

NAMES = ("AP", "NMRR", "MNRO")
SIX = (*NAMES, "P@10", "NAR", "RR")
LISTS, RELEVANT, N = 1_000_000, 5, 100
WHAT = "a million lists of 5 of 100, AP, NMRR and MNRO"
# What is scored, and what is to be reached: at most so many copies, at least so many formulas.
KINDS = {
    "rows": (WHAT, "≤ 5", "≥ 8"),
    "columns": ("the same from columns of bytes", "≤ 3", "≥ 12"),
    "bytes": ("the same from rows of bytes", "", ""),
    "threads": ("the same, a half of the lists in each of two threads", "", ""),
}
SAID = (
    "Input are integers of 8 bytes, a row for each list, where nothing else is said; checking and "
    "turning them is counted. The formulas are the measures' own, on ranks that are checked "
    "already. Rows of bytes come first in a round after the formulas, and pay for memory that the "
    "system gives anew; those after them find it again.",
    "A profile of the million lists: reading, checking and turning the ranks takes a third of the "
    "time, looking up and adding a third, dividing and storing the values a third.",
)


def run() -> Part:
    """Measure the measures."""
    ranks = lists_of(LISTS)
    told = told_by_peers(ranks)
    return Part(
        name="measures",
        title="Measures",
        findings=[*_many(ranks), *_exactness(ranks), *few_lists(), *beside_peers(told, ranks)],
        growth=_growth(ranks),
        said=SAID,
        versions=told["versions"],
    )


def lists_of(count: int, relevant: int = RELEVANT, collection_size: int = N) -> NDArray[np.int64]:
    """Draw lists at random, from a seed: (count, relevant)."""
    chance = np.random.default_rng(7)
    step = 20_000_000 // collection_size
    drawn = []
    for start in range(0, count, step):
        keys = chance.random((min(step, count - start), collection_size), dtype=np.float32)
        drawn.append(np.argpartition(keys, relevant - 1, axis=1)[:, :relevant] + 1)
    return np.sort(np.concatenate(drawn), axis=1)


def by_formula(ranks: Ranks) -> Values:
    """Score with the formulas alone, all lists at once."""
    lists, setting = Lists(ranks), Setting(N)
    return np.column_stack([measure_named(name).compute(lists, setting) for name in NAMES])


def by_two_threads(ranks: Ranks) -> Values:
    """Score a half of the lists in each of two threads."""
    with ThreadPoolExecutor(2) as threads:
        halves = threads.map(lambda half: score(NAMES, half), np.array_split(ranks, 2))
        return np.concatenate([*halves])


def _many(ranks: Ranks) -> Sequence[Finding]:
    rows = ranks.astype(np.uint8)
    columns = np.asfortranarray(rows)
    seconds = in_turn(
        {
            "copy": lambda: np.copy(ranks),
            "formula": lambda: by_formula(ranks),
            "bytes": lambda: score(NAMES, rows),
            "rows": lambda: score(NAMES, ranks),
            "columns": lambda: score(NAMES, columns),
            "threads": lambda: by_two_threads(ranks),
        },
        rounds=15,
    )
    findings = [Finding(WHAT, [one / LISTS * 1e9 for one in seconds["rows"]], "ns a list")]
    for kind, (what, most, least) in KINDS.items():
        copies = ratios(seconds[kind], seconds["copy"])
        formulas = ratios(seconds["formula"], seconds[kind])
        told = kind == "rows"
        copying = "× the time of copying the rows"
        findings.append(Finding(what, copies, copying, most, headline=told))
        findings.append(Finding(what, formulas, "× faster than the formulas", least, headline=told))
    return findings


def _exactness(ranks: Ranks) -> Sequence[Finding]:
    tracemalloc.start()
    found = score(NAMES, ranks)
    beside = tracemalloc.get_traced_memory()[1] - found.nbytes
    tracemalloc.stop()
    error = float(np.abs(found - by_formula(ranks)).max())
    return [
        Finding(
            "their largest difference from the formulas",
            [error * 1e16],
            "× 10⁻¹⁶",
            "≤ 100",
            "10⁻¹⁴",
        ),
        Finding("memory beside input and result", [beside / 1e6], "MB", "≤ 40"),
    ]


def _growth(ranks: Ranks) -> Sequence[Growth]:
    counts, lengths, sizes = (10_000, 100_000, LISTS), (5, 50, 500), (100, 1_000, 10_000)
    return [
        Growth(
            "scoring lists of 5 of 100", "lists", counts,
            [_nanoseconds(NAMES, ranks[:count], N) / count for count in counts], "ns a list",
        ),
        Growth(
            "scoring 20,000 lists of 1,000", "relevant items", lengths,
            [_nanoseconds(NAMES, lists_of(20_000, length, 1_000), 1_000) / 20_000 / length
             for length in lengths], "ns an item",
        ),
        Growth(
            "scoring 200,000 lists of 5", "items in the collection", sizes,
            [_nanoseconds(NAMES, lists_of(200_000, RELEVANT, size), size) / 200_000
             for size in sizes], "ns a list",
        ),
        Growth(
            "scoring a million lists of 5 of 100", "measures", (1, 3, 6),
            [_nanoseconds(SIX[:count], ranks, N) / LISTS for count in (1, 3, 6)], "ns a list",
        ),
    ]  # fmt: skip


def _nanoseconds(names: Sequence[str], ranks: Ranks, collection_size: int) -> float:
    rounds = in_turn({"score": lambda: score(names, ranks, collection_size)})
    return median(rounds["score"]) * 1e9
