"""Ranks of relevant items: the arrays that measures take, their validation, and sums over them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ranks = NDArray[np.int64] | NDArray[np.float64]
"""Shape (lists, relevant): each row holds the 1-based positions of one list's relevant items,
ascending. Whole numbers; in float arrays, an item that was not retrieved has rank infinity."""

Rows = NDArray[Any]
"""Shape (lists, relevant): ranks that are not validated yet."""

Columns = NDArray[np.unsignedinteger]
"""Shape (relevant, lists): ranks in the smallest integers that hold the collection size."""

ItemNumbers = NDArray[np.int64]
"""Which relevant item of a list it is: 1 for the first, 2 for the second, …"""

Values = NDArray[np.float64]
"""Shape (lists,): one measure's value for each list."""


def as_ranks(ranks: ArrayLike, collection_size: int) -> NDArray[np.int64]:
    """Validate ranks and return them as an integer array (lists, relevant).

    A row holds the positions r_1 < r_2 < … < r_NG, each a whole number in
    1…collection_size, of the NG relevant items of one query. Every row has the
    same NG ≥ 1.

    Raises ValueError naming the row and the position in it (both counted from 1),
    the value found and the values allowed.
    """
    whole = _as_integers(as_rows(ranks, collection_size))
    if not _ascend(whole.T) or whole[:, 0].min() < 1 or whole[:, -1].max() > collection_size:
        _reject_first(whole, collection_size)
    return whole


def as_rows(ranks: ArrayLike, collection_size: int) -> Rows:
    """Return ranks as an array (lists, relevant) without validating its entries.

    Raises ValueError where there are no lists, or not equally many positions in each, and
    for a collection of no items.
    """
    if collection_size < 1:
        raise ValueError(f"the collection size is {collection_size}; at least 1 is needed")
    return _rectangular(ranks)


def as_columns(rows: Rows, collection_size: int) -> Columns:
    """Validate integer ranks quickly and return them transposed, in the smallest integers.

    Raises ValueError for the same ranks as ``as_ranks``, without naming the fault.
    """
    unsigned = rows.view(rows.dtype.str.replace("i", "u"))  # a negative rank becomes a large one
    if unsigned.max() <= collection_size:
        compact = rows.astype(np.min_scalar_type(collection_size), copy=False)
        columns = np.ascontiguousarray(compact.T)
        if columns[0].min() >= 1 and _ascend(columns):
            return columns
    raise ValueError("these are not ranks")


def with_missing_last(ranks: Ranks, collection_size: int) -> Ranks:
    """Replace infinite ranks by the last positions of the collection.

    NAR and MNRO count the whole collection as ranked: an item that was not retrieved comes
    after all others.
    """
    if ranks.dtype.kind == "i":
        return ranks
    last = collection_size - np.arange(ranks.shape[1])[::-1]
    return np.where(np.isfinite(ranks), ranks, last)


def reject(invalid: NDArray[np.bool_], values: NDArray[Any], name: str, rule: str) -> None:
    """Raise ValueError for the first value marked invalid, with its row and number from 1."""
    if invalid.any():
        row, column = (int(index) for index in np.argwhere(invalid)[0])
        value = values[row, column].item()
        text = f"{value:g}" if isinstance(value, float) else value
        raise ValueError(f"row {row + 1}, {name} {column + 1}: {text} found; {rule}")


@dataclass(frozen=True)
class RankSum:
    """A measure of the form finish(Σ_i term(i, r_i)), for lists with a known NG.

    ``term``: (item numbers, ranks) → what the i-th relevant item adds at rank r_i; both
    arrays are of equal shape, or are broadcast to one. ``finish``: the sums (lists,) → the
    measure's values (lists,).

    A term depends on one rank only, so ``scoring`` can put the terms of all ranks into a
    table. ``finish`` comes after the sum: a sum of whole numbers is exact in any order, so
    lists that tie by the formula also tie by the table.
    """

    term: Callable[[ItemNumbers, Ranks], NDArray[Any]]
    finish: Callable[[NDArray[Any]], Values]

    def values(self, ranks: Ranks) -> Values:
        """Compute the value of each list from ``ranks`` (lists, relevant)."""
        items = np.arange(1, ranks.shape[1] + 1)
        return np.asarray(self.finish(self.term(items, ranks).sum(axis=1)))


def _rectangular(ranks: ArrayLike) -> NDArray[Any]:
    try:
        array = np.asarray(ranks)
    except (ValueError, OverflowError):
        array = np.asarray(ranks, dtype=object)
    if array.ndim == 2 and array.shape[0] and array.shape[1]:
        return array
    if array.ndim == 1 and array.dtype == object and array.size:
        rows = [np.atleast_1d(np.asarray(row, dtype=object)) for row in array]
        for number, row in enumerate(rows, 1):
            if row.size == 0:
                raise ValueError(f"row {number} is empty; a list needs at least one position")
            if row.size != rows[0].size:
                raise ValueError(
                    f"row {number} has {row.size} positions, row 1 has {rows[0].size}; "
                    "all lists of an array need equally many"
                )
    if array.size == 0:
        fault = "row 1 is empty" if array.ndim == 2 and array.shape[0] else "there are no lists"
        raise ValueError(f"{fault}; a list needs at least one position")
    raise ValueError(f"ranks have the shape {array.shape}; (lists, relevant) is needed")


def _as_integers(array: NDArray[Any]) -> NDArray[np.int64]:
    if array.dtype.kind in "iu" and array.dtype != np.uint64:
        return array.astype(np.int64, copy=False)
    for row, ranks in enumerate(array.tolist(), 1):
        for number, rank in enumerate(ranks, 1):
            if isinstance(rank, bool) or not _fits_int64(rank):
                raise ValueError(
                    f"row {row}, position {number}: {rank} found; a rank is a whole number"
                )
    return array.astype(np.int64)


def _fits_int64(rank: Any) -> bool:
    if isinstance(rank, float):
        return rank.is_integer() and abs(rank) < 2**63
    return isinstance(rank, int) and abs(rank) < 2**63


def _ascend(columns: NDArray[Any]) -> bool:
    return bool((columns[1:] > columns[:-1]).all())


def _reject_first(ranks: NDArray[np.int64], collection_size: int) -> None:
    reject(ranks < 1, ranks, "position", "positions are counted from 1")
    reject(
        ranks > collection_size, ranks, "position", f"the collection has {collection_size} items"
    )
    steps = np.diff(ranks, axis=1, prepend=0)
    reject(
        steps == 0, ranks, "position", "this position is in the list already; each may occur once"
    )
    reject(steps < 0, ranks, "position", "positions must be sorted in ascending order")
