"""Scores of many lists by many measures, computed in blocks that fit the processor's cache.

A measure that is a sum over the positions (``Summed``) is looked up in tables where these
cost less than its formula. A table holds the terms of one relevant item at each rank, for all
such measures side by side; a list's values come from the sum of one row per item. If ranks
are few and lists very many, a table covers the ranks of two items at once: a list of five
takes three rows. A table costs what the formula costs for N lists, so tables are made for
several times as many lists, and where they are small. Other measures are computed by their
formulas.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import iadd
from operator import index as as_int

import numpy as np
from numpy.typing import ArrayLike, NDArray

from survey.core.measures.lists import (
    Columns,
    RankSum,
    Rows,
    Values,
    as_columns,
    as_lists,
    list_rows,
    read_only,
)
from survey.core.measures.measure import Measure, Setting, Summed
from survey.core.measures.registry import measure_named

Table = NDArray[np.float64]
"""Shape (codes, measures): the terms of one or two relevant items; a code is made of
their ranks."""

TABLE_BLOCK_LISTS = 1 << 15  # lists in a block: their sums take a megabyte
TABLE_BLOCK_RANKS = 1 << 21  # ranks in a block, if lists are long
FORMULA_BLOCK_RANKS = 1 << 17  # ranks in a block of formulas: a megabyte as floats

LISTS_PER_RANK = 4  # tables pay with this many lists for each of the N ranks,
LISTS_PER_PAIR = 16  # tables of pairs with this many for each of the N² pairs
TABLE_BYTES = 16 << 20  # that all tables may take
PAIR_TABLE_BYTES = 2 << 20  # that all tables of pairs may take, to stay in the cache


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
    columns: int | None = None,
) -> Values:
    """Score ranked lists with registered measures.

    ``ranks``: integers of shape (lists, relevant), each row the sorted 1-based
    positions of a list's relevant items among ``collection_size``; integers of a byte are
    the fastest, in Fortran order above all. ``relevant``: NG, if some relevant items were
    retrieved in none of the lists. ``grades``, ``weights``, ``clusters``: of the items, see
    ``Lists``. Returns an array (lists, len(names)) of the measures' own values (AP, not
    1-AP).

    Raises ValueError for an unknown name, for a measure that fails or gives no number, and for
    invalid ranks, naming the row and the fault. ``gmt``, ``literal_eq15``, ``columns``: see
    ``Setting``.
    """
    collection_size = as_int(collection_size)  # a numpy integer of one byte would overflow
    setting = Setting(collection_size, gmt, literal_eq15, columns=columns)
    measures = [measure_named(name) for name in names]
    rows = list_rows(ranks, collection_size)
    positions_alone = relevant is None and grades is None and weights is None and clusters is None
    if measures and positions_alone and are_many(rows, collection_size):
        with suppress(ValueError):  # what follows raises an error that names the fault
            return score_many(measures, rows, setting)
    lists = as_lists(
        rows, collection_size, relevant=relevant, grades=grades, weights=weights, clusters=clusters
    )
    values = [measure.checked(lists, setting) for measure in measures]
    return np.column_stack(values) if values else np.empty((len(lists.ranks), 0))


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


def are_many(rows: Rows, collection_size: int) -> bool:
    """Return whether ``score_many`` pays: for integers, and enough of them."""
    enough = rows.size > FORMULA_BLOCK_RANKS or len(rows) >= LISTS_PER_RANK * collection_size
    return rows.dtype.kind in "iu" and enough


def score_many(measures: Sequence[Measure], rows: Rows, setting: Setting) -> Values:
    """Score lists of which only the positions are known, in blocks; returns (lists, measures).

    Equal to the formulas up to the order in which a list's terms are added, some 1e-16.
    Raises ValueError for invalid ranks and values that are no numbers, without naming the fault.
    """
    values = np.empty((len(rows), len(measures)), order="F")
    sums: dict[int, RankSum] = {}
    if _tables_pay(len(measures), rows, setting.collection_size):
        sums = {
            column: measure.rank_sum(rows.shape[1], setting)
            for column, measure in enumerate(measures)
            if isinstance(measure.compute, Summed)
        }
    others = {column: measure for column, measure in enumerate(measures) if column not in sums}
    if sums:
        _look_up(sums, rows, setting.collection_size, values)
    if others:
        _compute(others, rows, setting, values)
    if not np.isfinite(values).all():
        raise ValueError("a value is no number")
    return values


def _tables_pay(measures: int, rows: Rows, last: int) -> bool:
    fit = 8 * rows.shape[1] * (last + 1) * _width(measures) <= TABLE_BYTES
    return fit and len(rows) >= LISTS_PER_RANK * last


def _width(measures: int) -> int:
    """Return how wide a table's rows are: numpy copies 8, 16 and 32 bytes at once, but not 24."""
    return 4 if measures == 3 else measures


def _look_up(sums: Mapping[int, RankSum], rows: Rows, last: int, values: Values) -> None:
    """Fill the columns of measures that are sums; ``last``: the last rank, N."""
    count, relevant = rows.shape
    tables = _tables([*sums.values()], relevant, last)
    needed = (last + 1) * sum(table.nbytes for table in tables) // 2
    if needed <= PAIR_TABLE_BYTES and count >= LISTS_PER_PAIR * last**2:
        tables = _paired(tables)
    for block in _blocks(count, min(TABLE_BLOCK_LISTS, TABLE_BLOCK_RANKS // relevant)):
        codes = _codes(as_columns(rows[block], last), len(tables), last)
        terms = (table.take(code, axis=0) for table, code in zip(tables, codes, strict=True))
        totals = reduce(iadd, terms)  # into the first array, which take() has just made
        for index, (column, rank_sum) in enumerate(sums.items()):
            values[block, column] = rank_sum.finish(totals[:, index])


def _compute(measures: Mapping[int, Measure], rows: Rows, setting: Setting, values: Values) -> None:
    """Fill the columns of measures by their formulas."""
    for block in _blocks(len(rows), FORMULA_BLOCK_RANKS // rows.shape[1]):
        lists = as_lists(rows[block], setting.collection_size)
        for column, measure in measures.items():
            values[block, column] = measure.computed(lists, setting)


def _blocks(count: int, most: int) -> Iterator[slice]:
    step = max(1, most)
    return (slice(start, start + step) for start in range(0, count, step))


def _tables(sums: Sequence[RankSum], relevant: int, last: int) -> list[Table]:
    """Return a table for each relevant item; its code is the rank, and no rank is 0."""
    tables = np.zeros((relevant, last + 1, _width(len(sums))))
    items = np.arange(1, relevant + 1)[:, np.newaxis]
    # A term may fail at a rank that its item cannot have, so the nearest possible rank replaces it.
    ranks = np.clip(np.arange(1, last + 1), items, np.maximum(items, items + last - relevant))
    items, ranks = read_only(items), read_only(ranks)  # the next measure's term reads them too
    for index, rank_sum in enumerate(sums):
        tables[:, 1:, index] = rank_sum.term(items, ranks)
    return [*tables]


def _paired(tables: Sequence[Table]) -> list[Table]:
    """Return a table for every two relevant items; with an odd number, the last keeps its own."""
    twos = zip(tables[::2], tables[1::2], strict=False)
    pairs = [(first[:, np.newaxis] + second).reshape(-1, first.shape[1]) for first, second in twos]
    return [*pairs, *tables[2 * len(pairs) :]]


def _codes(columns: Columns, tables: int, last: int) -> Iterator[Columns]:
    """Yield the codes for each table: the ranks, or r (N + 1) + s for a pair of ranks r and s."""
    twos = len(columns) - tables
    for first, second in zip(columns[: 2 * twos : 2], columns[1 : 2 * twos : 2], strict=True):
        code = first.astype(np.min_scalar_type((last + 1) ** 2))
        code *= last + 1
        code += second
        yield code
    yield from columns[2 * twos :]
