"""Ranked lists as integer arrays: what every measure takes, checked once at the edge.

Measures that are sums over the positions: what each relevant item brings at its rank.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ranks = NDArray[np.int64] | NDArray[np.float64]
"""Shape (lists, relevant): each row holds the 1-based positions of one list's relevant items,
ascending. Whole numbers; in floats, an item that did not come back stands at infinity."""

Rows = NDArray[Any]
"""Shape (lists, relevant): what is said to be ranks, not checked yet."""

Columns = NDArray[np.unsignedinteger]
"""Shape (relevant, lists): ranks in the smallest integers that hold the collection size."""

Values = NDArray[np.float64]
"""Shape (lists,): one measure's value for each list."""


def as_ranks(ranks: ArrayLike, collection_size: int) -> NDArray[np.int64]:
    """Return ``ranks`` as an array (lists, relevant), or say which rank cannot be one.

    A row holds the positions r_1 < r_2 < … < r_NG, each a whole number in
    1…collection_size, of the NG relevant items of one query. Every row has the
    same NG ≥ 1.

    Raises ValueError naming the row and the place in it (both counted from 1),
    what was found and what is allowed.
    """
    whole = _whole(as_rows(ranks, collection_size))
    if not _ascend(whole.T) or whole[:, 0].min() < 1 or whole[:, -1].max() > collection_size:
        _refuse_first(whole, collection_size)
    return whole


def _refuse_first(whole: NDArray[np.int64], collection_size: int) -> None:
    """Raise for the first position that cannot be, if there is one."""
    refuse(whole < 1, whole, "position", "positions are counted from 1")
    refuse(
        whole > collection_size, whole, "position", f"the collection has {collection_size} items"
    )
    steps = np.diff(whole, axis=1, prepend=0)
    refuse(steps == 0, whole, "position", "this position stands there already; each may occur once")
    refuse(steps < 0, whole, "position", "positions must be sorted in ascending order")


def as_rows(ranks: ArrayLike, collection_size: int) -> Rows:
    """Return ``ranks`` as an array of (lists, relevant), whatever stands in it.

    Raises ValueError where there are no lists, or not equally many positions in each, and
    for a collection of no items.
    """
    if collection_size < 1:
        raise ValueError(f"the collection size is {collection_size}; at least 1 is needed")
    return _rectangular(ranks)


def as_columns(rows: Rows, collection_size: int) -> Columns:
    """Return ranks in columns of the smallest integers that hold the collection size.

    ``rows``: integers. Made for speed: raises ValueError where ``as_ranks`` does, but only
    that one names the fault.
    """
    unsigned = rows.view(rows.dtype.str.replace("i", "u"))  # of which a negative one is large
    if unsigned.max() <= collection_size:
        compact = rows.astype(np.min_scalar_type(collection_size), copy=False)
        columns = np.ascontiguousarray(compact.T)
        if columns[0].min() >= 1 and _ascend(columns):
            return columns
    raise ValueError("these are not ranks")


def _ascend(columns: NDArray[Any]) -> bool:
    return bool((columns[1:] > columns[:-1]).all())


def completed(ranks: Ranks, collection_size: int) -> Ranks:
    """Put items that did not come back at the last positions of the collection.

    That is the best that can be said of them where the whole collection counts as ranked,
    as NAR and MNRO take it.
    """
    if ranks.dtype.kind == "i":
        return ranks
    last = collection_size - np.arange(ranks.shape[1])[::-1]
    return np.where(np.isfinite(ranks), ranks, last)


def _rectangular(ranks: ArrayLike) -> NDArray[Any]:
    """Return an array of two dimensions, or name the row that does not fit."""
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
        where = "row 1 is empty" if array.ndim == 2 and array.shape[0] else "there are no lists"
        raise ValueError(f"{where}; a list needs at least one position")
    raise ValueError(f"ranks have the shape {array.shape}; (lists, relevant) is needed")


def _whole(array: NDArray[Any]) -> NDArray[np.int64]:
    """Return the array as int64, or name the first entry that is not a whole number."""
    if array.dtype.kind in "iu" and array.dtype != np.uint64:
        return array.astype(np.int64, copy=False)
    for row, ranks in enumerate(array.tolist(), 1):
        for place, rank in enumerate(ranks, 1):
            if isinstance(rank, bool) or not _is_whole(rank):
                raise ValueError(
                    f"row {row}, position {place}: {rank} found; a rank is a whole number"
                )
    return array.astype(np.int64)


def _is_whole(rank: Any) -> bool:
    """Tell whether an object is a whole number that an int64 can hold."""
    if isinstance(rank, float):
        return rank.is_integer() and abs(rank) < 2**63
    return isinstance(rank, int) and abs(rank) < 2**63


def refuse(bad: NDArray[np.bool_], found: NDArray[Any], what: str, why: str) -> None:
    """Raise for the first entry marked bad, with its row and place counted from 1."""
    if bad.any():
        row, place = (int(index) for index in np.argwhere(bad)[0])
        entry = found[row, place].item()
        told = f"{entry:g}" if isinstance(entry, float) else entry
        raise ValueError(f"row {row + 1}, {what} {place + 1}: {told} found; {why}")


Places = NDArray[np.int64]
"""Which relevant item it is: 1 for the first of a list, 2 for the second, …"""


@dataclass(frozen=True)
class RankSum:
    """A measure of the form whole(Σ_i part(i, r_i)), of lists with a known NG.

    ``part``: (places, ranks) → what the i-th relevant item brings at rank r_i; places and
    ranks are of equal shape, or are broadcast to one. ``whole``: such sums (lists,) → the
    measure's values (lists,).

    A part knows one rank only, so that the parts of all ranks fit in a table: ``tables``
    scores many lists that way. ``whole`` comes after the sum, so that a sum of whole
    numbers is exact in any order, and lists that tie do so either way.
    """

    part: Callable[[Places, Ranks], NDArray[Any]]
    whole: Callable[[NDArray[Any]], Values]

    def of(self, ranks: Ranks) -> Values:
        """Return the value of each list; ``ranks``: (lists, relevant) from ``as_ranks``."""
        places = np.arange(1, ranks.shape[1] + 1)
        return np.asarray(self.whole(self.part(places, ranks).sum(axis=1)))
