"""Generality: how measures' values change while documents that are not relevant are added."""

from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from survey.core.measures import Values, score

SETS = 3
GENERALITY_MEASURES = ("AP", "P@10", "NMRR", "NAR", "MNRO")
PRINTED = "MNRO printed"
VALUE_COLUMNS = (*GENERALITY_MEASURES, PRINTED)
"""The columns of every array of values: the measures, MNRO also with Eq. 15 as printed."""


def set_sizes(relevant: int, collection_size: int) -> list[int]:
    """Return the sizes of SETS growing sets: the relevant documents, and 1/3, 2/3, all others."""
    others = collection_size - relevant
    return [relevant + round(others * number / SETS) for number in range(1, SETS + 1)]


def values_in_sets(
    orders: NDArray[np.int64], relevant: NDArray[np.bool_], draws: int, chance: Generator
) -> Values:
    """Return the measures' values (SETS, runs, VALUE_COLUMNS) for one query, in SETS growing sets.

    ``orders`` (runs, documents): the documents' numbers, best first; ``relevant`` (documents,): a
    mask. Which of the other documents are in a set is drawn ``draws`` times, the same for all
    runs; the values are means over draws.
    """
    documents = len(relevant)
    # For each draw the documents that are not relevant, numbered in the order they are added.
    added = np.zeros((draws, documents), dtype=np.int64)
    added[:, ~relevant] = np.argsort(chance.random((draws, documents - relevant.sum())), axis=1)
    values = np.empty((SETS, len(orders), len(VALUE_COLUMNS)))
    for number, size in enumerate(set_sizes(int(relevant.sum()), documents)):
        is_in = relevant | (added < size - relevant.sum())
        for run, order in enumerate(orders):
            # A document's position is the number of documents of the set up to it.
            positions = np.cumsum(is_in[:, order], axis=1)[:, relevant[order]]
            scored = [
                score(GENERALITY_MEASURES, positions, size),
                score(("MNRO",), positions, size, literal_eq15=True),
            ]
            values[number, run] = np.hstack(scored).mean(axis=0)
    return values


def deviations(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the deviations from the first set in per cent of it; NaN where that is 0.

    ``values``: (…, SETS, runs, VALUE_COLUMNS); the result has the same shape.
    """
    first = values[..., :1, :, :]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(first == 0, np.nan, 100 * (values / first - 1)))


def deviation_intervals(
    queries: Sequence[Values], resamples: int, chance: Generator
) -> NDArray[np.float64]:
    """Return 95 % percentile bootstrap intervals (2, SETS, runs, VALUE_COLUMNS) of mean deviations.

    ``queries``: each query's ``values_in_sets``; queries are drawn with replacement.
    NaN where a resample has a first set of value 0.
    """
    count = len(queries)
    weights = chance.multinomial(count, np.full(count, 1 / count), resamples) / count
    means = np.tensordot(weights, np.stack(queries), axes=1)
    return np.asarray(np.percentile(deviations(means), (2.5, 97.5), axis=0))
