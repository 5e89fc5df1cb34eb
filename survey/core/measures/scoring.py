"""Scoring lists with measures by name."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from survey.core.measures.lists import as_lists
from survey.core.measures.measure import Setting
from survey.core.measures.ranks import Values, as_rows
from survey.core.measures.registry import measure_named
from survey.core.measures.tables import are_many, score_many


def score(
    names: Sequence[str],
    ranks: ArrayLike,
    collection_size: int = 100,
    *,
    relevant: int | None = None,
    grades: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    clusters: Sequence[Sequence[Iterable[str]]] | None = None,
    gmt: int | None = None,
    literal_eq15: bool = False,
) -> Values:
    """Score ranked lists with registered measures.

    ``ranks``: integers of shape (lists, relevant), each row the sorted 1-based
    positions of a list's relevant items among ``collection_size``; integers of a byte are
    the fastest, columns of them above all (order="F"). ``relevant``: NG, if
    some relevant items came back in none of the lists. ``grades``, ``weights``,
    ``clusters``: of the items, see ``Lists``. Returns an array (lists, len(names)) of the
    measures' own values (AP, not 1-AP).

    Raises ValueError for an unknown name, and for ranks that cannot be, naming
    the row and the fault. ``gmt`` and ``literal_eq15``: see ``Setting``.
    """
    collection_size = index(collection_size)  # one of numpy's, of a byte, would overflow
    setting = Setting(collection_size, gmt, literal_eq15)
    measures = [measure_named(name) for name in names]
    rows = as_rows(ranks, collection_size)
    positions_alone = relevant is None and grades is None and weights is None and clusters is None
    if measures and positions_alone and are_many(rows, collection_size):
        with suppress(ValueError):  # what is wrong is said below, of the ranks first
            return score_many(measures, rows, setting)
    lists = as_lists(
        rows,
        collection_size,
        relevant=relevant,
        grades=grades,
        weights=weights,
        clusters=clusters,
    )
    columns = [measure.compute(lists, setting) for measure in measures]
    return np.column_stack(columns) if columns else np.empty((len(lists.ranks), 0))


def mean_score(
    names: Sequence[str], ranks: ArrayLike, collection_size: int = 100
) -> dict[str, float]:
    """Average each measure over queries: MAP, ANMRR, AMNRO, ANAR (MNRO paper, Eqs. 4, 9, 11, 19).

    Arguments as for ``score``, one row per query; the keys are the means' own names.
    """
    means = score(names, ranks, collection_size).mean(axis=0)
    return {
        measure_named(name).mean_name: float(mean) for name, mean in zip(names, means, strict=True)
    }
