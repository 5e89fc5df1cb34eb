"""Table 2's experiment on a test collection: measures of the same queries as a collection grows."""

from collections.abc import Iterator, Sequence
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import NDArray

from survey.core.collections.generality import (
    SETS,
    VALUE_COLUMNS,
    deviation_intervals,
    deviations,
    set_sizes,
    values_in_sets,
)
from survey.core.collections.runs import (
    QRELS_FILE,
    RUNS_FOLDER,
    Judgements,
    Runs,
    names_of_runs,
    ranking,
    read_judgements,
    read_run,
)
from survey.core.measures import Values
from survey.core.text_input import FileFaults, lines_of
from survey.errors import SurveyError
from survey.figures.exhibit import Exhibit
from survey.paper.reproduction import Reproduction, printed_rows
from survey.services.analysis.sheets import Sheet
from survey.services.exchange.input_files import read_file

DRAWS = 50
RESAMPLES = 2_000
GENERALITY_SEED = 1
# Names of VALUE_COLUMNS in the tables.
MEAN_COLUMNS = ("MAP", "P(10)", "ANMRR", "NAR", "AMNRO", "AMNRO, Eq. 15 as printed")
IN_TABLE_2 = ("MAP", "P10", "ANMRR", "NAR", "AMNRO", None)
RUN_LETTERS = "ABC"
PAPER = "Table 2, as printed"


def generality(folder: Path | None = None) -> Reproduction:
    """Repeat Table 2's experiment on a collection of ``survey collect``, or on the albums."""
    if folder is None:
        with as_file(files("survey.services.collections.albums") / "collection") as albums:
            return generality(albums)
    judgements, runs = _read_collection(folder)
    queries = [*_query_values(judgements, runs)]
    means = np.mean(queries, axis=0)
    chance = Generator(PCG64(SeedSequence(GENERALITY_SEED, spawn_key=(1,))))
    intervals = deviation_intervals(queries, RESAMPLES, chance)
    sizes = [
        set_sizes(sum(map(bool, judgements[topic].values())), len(run[topic]))
        for run in [next(iter(runs.values()))]
        for topic in judgements
    ]
    exhibit = _exhibit(means, [*runs], len(queries))
    return Reproduction(
        "generality",
        {"rows": [dict(zip(exhibit.columns, row, strict=True)) for row in exhibit.rows]},
        (exhibit, _interval_sheet(means, intervals, [*runs])),
        remarks=_remarks(judgements, np.mean(sizes, axis=0), sizes),
        exhibit=exhibit,
    )


def _read_collection(folder: Path) -> tuple[Judgements, Runs]:
    """Return judgements and runs; raises SurveyError for a run without some document."""
    faults = FileFaults()
    qrels = read_file(folder / QRELS_FILE)
    judgements = read_judgements(qrels.name, lines_of(qrels.text), faults)
    paths = sorted((folder / RUNS_FOLDER).glob("*"))
    if not paths:
        raise SurveyError(f"{folder} holds no {RUNS_FOLDER}; `survey collect` writes them.")
    files = [read_file(path) for path in paths]
    names = names_of_runs([file.name for file in files], lambda index: lines_of(files[index].text))
    runs = {
        name: read_run(file.name, lines_of(file.text), faults)
        for name, file in zip(names, files, strict=True)
    }
    faults.raise_any()
    documents = {*next(iter(next(iter(runs.values())).values()), {})}
    for name, run in runs.items():
        for topic, judged in judgements.items():
            if not {*run.get(topic, {})} == documents >= {*judged}:
                raise SurveyError(
                    f"The run {name} has no position for some document in topic {topic}; every "
                    "run must return every document."
                )
    return judgements, runs


def _query_values(judgements: Judgements, runs: Runs) -> Iterator[Values]:
    chance = Generator(PCG64(GENERALITY_SEED))
    for topic, judged in judgements.items():
        orders = [ranking(run[topic]) for run in runs.values()]
        numbers = {document: number for number, document in enumerate(sorted(orders[0]))}
        relevant = np.array([judged.get(document, 0) > 0 for document in numbers])
        numbered = np.array([[numbers[document] for document in order] for order in orders])
        yield values_in_sets(numbered, relevant, DRAWS, chance)


def _exhibit(means: Values, runs: Sequence[str], queries: int) -> Exhibit:
    """Return a row for each run and set: means, then deviations from A; the print first."""
    deviation = deviations(means)
    rows = [*_printed()]
    rows += [
        (
            run,
            RUN_LETTERS[number],
            *map(float, means[number, index]),
            *_cells(deviation[number, index]),
        )
        for index, run in enumerate(runs)
        for number in range(SETS)
    ]
    return Exhibit(
        "generality",
        "Collections that grow: means, and their deviations from set A",
        ("ranking", "set", *MEAN_COLUMNS, *(f"{name}, %" for name in MEAN_COLUMNS)),
        tuple(rows),
        "A line for each measure from A to C, in a drawing for the print and for each run.",
        f"Means over {queries} queries. A holds the relevant documents and a third of the others, "
        f"B two thirds, C all; which ones is drawn {DRAWS} times.",
        decimals=4,
    )


def _printed() -> Iterator[tuple[str | float | None, ...]]:
    rows = [
        [float(row[name]) if name else None for name in IN_TABLE_2]
        for row in printed_rows("table2")
    ]
    for letter, row in zip(RUN_LETTERS, rows, strict=True):
        yield (
            PAPER,
            letter,
            *row,
            *(
                100 * (value / first - 1) if value is not None and first else None
                for value, first in zip(row, rows[0], strict=True)
            ),
        )


def _cells(values: NDArray[np.float64]) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]


def _interval_sheet(means: Values, intervals: NDArray[np.float64], runs: Sequence[str]) -> Sheet:
    deviation = deviations(means)[-1]
    low, high = intervals[:, -1]

    def text(run: int, column: int) -> str:
        if np.isnan(low[run, column]):
            return "–"
        middle, least, most = (
            f"{each[run, column]:+.1f}".replace("-", "−") for each in (deviation, low, high)
        )
        return f"{middle} ({least} to {most})"

    return Sheet(
        "intervals",
        "From A to C, in per cent of A, with 95 % intervals",
        ("run", *MEAN_COLUMNS),
        tuple(
            (name, *(text(run, column) for column in range(len(VALUE_COLUMNS))))
            for run, name in enumerate(runs)
        ),
        "Bootstrap intervals over the queries: how it would vary with other queries of this kind.",
    )


def _remarks(
    judgements: Judgements, sizes: NDArray[np.float64], of_queries: Sequence[Sequence[int]]
) -> tuple[str, ...]:
    counts = [sum(grade > 0 for grade in judged.values()) for judged in judgements.values()]
    ratios = [count / size for count, each in zip(counts, of_queries, strict=True) for size in each]
    named = ", ".join(f"{size:,.0f}" for size in sizes)
    span = f"{min(ratios):.3g} to {max(ratios):.3g}"
    if min(ratios) >= 0.01:
        why = (
            "not below .01, so MNRO's K is 4 NG in every set, and AMNRO rises with the collection "
            "as ANMRR does. In the paper's Table 2 generality is lower, and K grows as N does."
        )
    elif max(ratios) < 0.01:
        why = "below .01, so MNRO's K grows as the collection does."
    else:
        why = "on both sides of .01: MNRO's K is 4 NG above, and grows with the collection below."
    return (
        f"A, B and C hold {named} documents; generality is {span}, {why}",
        "Percentages depend on where a measure's zero is. The paper's values are near an end of "
        "the scale: see `survey paper table2`.",
    )
