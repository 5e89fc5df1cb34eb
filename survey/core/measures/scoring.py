"""Scoring many lists at once, in blocks whose working memory stays in the processor's cache.

A measure that is a sum over the positions (``Summed``) is looked up rather than computed: a
table says what the i-th relevant item brings at each rank to each of the measures asked for,
side by side, and a list's values are made from the sum of one row for each of its items. If
ranks are few and lists very many, a table goes over the ranks of two items at once: a list
of five takes three rows. The ranks are turned into columns of the smallest integers that
hold them, in which checking their order costs next to nothing. Tables cost what the formula
costs for N lists, so they are made for several times as many, and where they are small. Any
other measure is computed by its formula. Nothing here knows which measures there are.

Scoring lists with measures by name.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import iadd
from operator import index as whole_number

import numpy as np
from numpy.typing import ArrayLike, NDArray

from survey.core.measures.lists import as_lists
from survey.core.measures.measure import Measure, Setting, Summed
from survey.core.measures.ranks import Columns, RankSum, Rows, Values, as_columns, as_rows
from survey.core.measures.registry import measure_named

Table = NDArray[np.float64]
"""Shape (codes, measures): what one or two relevant items bring; a code is their ranks."""

LOOKED_UP = 1 << 15  # lists in a block: their sums take a megabyte
LOOKED_UP_RANKS = 1 << 21  # ranks in a block, if lists are long
COMPUTED_RANKS = 1 << 17  # ranks in a formula's block: a megabyte as floats

LISTS_PER_RANK = 4  # tables pay with so many lists for each of the N ranks,
LISTS_PER_PAIR = 16  # tables of pairs with so many for each of the N² pairs
TABLES = 16 << 20  # bytes that tables may take
PAIRS = 2 << 20  # bytes that tables of pairs may take, to stay in the cache


def are_many(rows: Rows, collection_size: int) -> bool:
    """Tell whether ``score_many`` is for these ranks: integers, and enough of them."""
    enough = rows.size > COMPUTED_RANKS or len(rows) >= LISTS_PER_RANK * collection_size
    return rows.dtype.kind in "iu" and enough


def score_many(measures: Sequence[Measure], rows: Rows, setting: Setting) -> Values:
    """Score lists of which only the positions are known; returns (lists, measures).

    Equal to the formulas up to the order in which a list's parts are added, some 1e-16.
    Raises ValueError, without naming the fault, for ranks that cannot be.
    """
    values = np.empty((len(rows), len(measures)), order="F")
    sums: dict[int, RankSum] = {}
    if _tables_pay(len(measures), rows, setting.collection_size):
        sums = {
            index: one.compute.sum_for(rows.shape[1], setting)
            for index, one in enumerate(measures)
            if isinstance(one.compute, Summed)
        }
    others = {index: one for index, one in enumerate(measures) if index not in sums}
    if sums:
        _look_up(sums, rows, setting.collection_size, values)
    if others:
        _compute(others, rows, setting, values)
    return values


def _tables_pay(measures: int, rows: Rows, last: int) -> bool:
    fit = 8 * rows.shape[1] * (last + 1) * _beside(measures) <= TABLES
    return fit and len(rows) >= LISTS_PER_RANK * last


def _beside(measures: int) -> int:
    """Return the width of a row: numpy copies 8, 16 and 32 bytes in one go, but not 24."""
    return 4 if measures == 3 else measures


def _look_up(sums: Mapping[int, RankSum], rows: Rows, last: int, values: Values) -> None:
    """Fill the columns of measures that are sums; ``last``: the last rank, N."""
    count, relevant = rows.shape
    tables = _tables([*sums.values()], relevant, last)
    needed = (last + 1) * sum(table.nbytes for table in tables) // 2
    if needed <= PAIRS and count >= LISTS_PER_PAIR * last**2:
        tables = _paired(tables)
    for block in _blocks(count, min(LOOKED_UP, LOOKED_UP_RANKS // relevant)):
        codes = _codes(as_columns(rows[block], last), len(tables), last)
        found = (table.take(code, axis=0) for table, code in zip(tables, codes, strict=True))
        totals = reduce(iadd, found)  # into the first one, which is ours alone
        for column, (index, one) in enumerate(sums.items()):
            values[block, index] = one.whole(totals[:, column])


def _compute(measures: Mapping[int, Measure], rows: Rows, setting: Setting, values: Values) -> None:
    """Fill the columns of measures by their formulas."""
    for block in _blocks(len(rows), COMPUTED_RANKS // rows.shape[1]):
        lists = as_lists(rows[block], setting.collection_size)
        for index, measure in measures.items():
            values[block, index] = measure.compute(lists, setting)


def _blocks(count: int, most: int) -> Iterator[slice]:
    step = max(1, most)
    return (slice(start, start + step) for start in range(0, count, step))


def _tables(sums: Sequence[RankSum], relevant: int, last: int) -> list[Table]:
    """Return a table for each relevant item; its code is the rank, and no rank is 0."""
    tables = np.zeros((relevant, last + 1, _beside(len(sums))))
    places = np.arange(1, relevant + 1)[:, np.newaxis]
    # Of the ranks an item can have; at others, the nearest one's, which is never looked up.
    ranks = np.clip(np.arange(1, last + 1), places, np.maximum(places, places + last - relevant))
    for column, one in enumerate(sums):
        tables[:, 1:, column] = one.part(places, ranks)
    return [*tables]


def _paired(tables: Sequence[Table]) -> list[Table]:
    """Return a table for each two relevant items; an odd one keeps its own."""
    twos = zip(tables[::2], tables[1::2], strict=False)
    pairs = [(one[:, np.newaxis] + two).reshape(-1, one.shape[1]) for one, two in twos]
    return [*pairs, *tables[2 * len(pairs) :]]


def _codes(columns: Columns, tables: int, last: int) -> Iterator[Columns]:
    """Give the codes for each table: the ranks, or r (N + 1) + s for the ranks r and s of two."""
    twos = len(columns) - tables
    for one, two in zip(columns[: 2 * twos : 2], columns[1 : 2 * twos : 2], strict=True):
        code = one.astype(np.min_scalar_type((last + 1) ** 2))
        code *= last + 1
        code += two
        yield code
    yield from columns[2 * twos :]


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
    collection_size = whole_number(collection_size)  # one of numpy's, of a byte, would overflow
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
