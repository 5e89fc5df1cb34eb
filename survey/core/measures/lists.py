"""Ranked lists as measures take them: the arrays, their validation, and sums over positions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ranks = NDArray[np.int64] | NDArray[np.float64]
"""Shape (lists, relevant): each row holds the 1-based positions of one list's relevant items,
ascending. Whole numbers; in float arrays, an item that was not retrieved has rank infinity."""

Grades = NDArray[np.int64]
"""Shape (lists, relevant): how relevant the item of the same index in the ranks is, 1, 2, …"""

Weights = NDArray[np.float64]
"""Shape (lists, relevant): the share of annotators who chose the item, above 0 and up to 1, as
``survey.core.collections.labels`` merges it (MiAlbum protocol, Eq. 1)."""

Clusters = Sequence[Sequence[frozenset[str]]]
"""For each list the sub-topics of each relevant item, in the order of its ranks; an item
may have several, or none (an item that no assessor could place)."""

Values = NDArray[np.float64]
"""Shape (lists,): one measure's value for each list."""

ItemNumbers = NDArray[np.int64]
"""Which relevant item of a list it is: 1 for the first, 2 for the second, …"""

Rows = NDArray[np.number]
"""Shape (lists, relevant): ranks that are not validated yet."""

Columns = NDArray[np.unsignedinteger]
"""Shape (relevant, lists): ranks in the smallest integers that hold the collection size."""

HIGHEST_GRADE = 30  # a larger gain 2^grade would swallow small gains in a sum of floats


@dataclass(frozen=True)
class Lists:
    """Ranked lists with equally many relevant items each: what a measure is computed from.

    ``ranks`` (lists, relevant): their ascending positions, infinity for an item that was
    not retrieved. The other arrays describe the items in the same order; all are read-only:

    ``graded`` (lists, relevant): grades from 1; None where relevance is binary.
    ``weighted`` (lists, relevant): shares of annotators; None where all agree.
    ``clusters``: sub-topics, a set for each item; None where there are none.

    ``condensed`` (lists, relevant): the positions among judged items only, and ``judged``
    their number; None where every item of the collection is judged.

    ``lengths`` (lists,): how many documents came back; None for the whole collection.
    """

    ranks: Ranks
    graded: Grades | None = None
    weighted: Weights | None = None
    clusters: Clusters | None = None
    condensed: Ranks | None = None
    judged: int | None = None
    lengths: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        # A measure that changed its ranks would change the study's lists and what others read.
        for name in ("ranks", "graded", "weighted", "condensed", "lengths"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, read_only(np.asarray(array)))

    @property
    def positions_alone(self) -> bool:
        """Whether the lists have no grades, weights, clusters or judgements."""
        details = (self.graded, self.weighted, self.clusters, self.condensed, self.judged)
        return all(detail is None for detail in details)

    @cached_property
    def grades(self) -> Grades:
        """The grades; 1 for every relevant item where relevance is binary."""
        if self.graded is not None:
            return self.graded
        return read_only(np.ones(self.ranks.shape, dtype=np.int64))

    def of_grade(self, lowest: int) -> Iterator["Lists"]:
        """Yield each list alone, with its items of that grade or a higher one, perhaps none."""
        for row, grades in enumerate(self.grades):
            counts = grades >= lowest
            yield Lists(
                self.ranks[row : row + 1, counts],
                self.grades[row : row + 1, counts],
                None if self.weighted is None else self.weighted[row : row + 1, counts],
                self.clusters and [[*compress(self.clusters[row], counts.tolist())]],
                None if self.condensed is None else self.condensed[row : row + 1, counts],
                self.judged,
            )

    @cached_property
    def weights(self) -> Weights:
        """The weights; 1 for every relevant item where all annotators agree."""
        return read_only(np.ones(self.ranks.shape)) if self.weighted is None else self.weighted


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

    term: Callable[[ItemNumbers, Ranks], NDArray[np.number | np.bool]]
    finish: Callable[[NDArray[Any]], Values]

    def values(self, ranks: Ranks) -> Values:
        """Compute the value of each list from ``ranks`` (lists, relevant)."""
        items = np.arange(1, ranks.shape[1] + 1)
        return np.asarray(self.finish(self.term(items, ranks).sum(axis=1)))


def as_lists(
    ranks: ArrayLike,
    collection_size: int,
    *,
    relevant: int | None = None,
    grades: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    clusters: Sequence[Sequence[Iterable[str]]] | None = None,
) -> Lists:
    """Validate ranks with the grades, weights and clusters of their items; return them together.

    ``ranks``, ``collection_size``: see ``as_ranks``. ``relevant``: NG, where some relevant
    items were retrieved in none of the lists; they are added at infinity. ``grades``,
    ``weights``, ``clusters``: one for each relevant item, those not retrieved last.

    Raises ValueError naming the row and the item in it, the value found and the values
    allowed.
    """
    valid: Ranks = as_ranks(ranks, collection_size)
    if relevant is not None:
        valid = _add_missing(valid, relevant, collection_size)
    return Lists(
        valid,
        None if grades is None else _as_grades(grades, valid.shape),
        None if weights is None else _as_weights(weights, valid.shape),
        None if clusters is None else _as_clusters(clusters, valid.shape),
    )


def as_ranks(ranks: ArrayLike, collection_size: int) -> NDArray[np.int64]:
    """Validate ranks and return them as an integer array (lists, relevant).

    A row holds the positions r_1 < r_2 < … < r_NG, each a whole number in
    1…collection_size, of the NG relevant items of one query. Every row has the
    same NG ≥ 1.

    Raises ValueError naming the row and the position in it (both counted from 1),
    the value found and the values allowed.
    """
    whole = _as_integers(list_rows(ranks, collection_size))
    if not _ascend(whole.T) or whole[:, 0].min() < 1 or whole[:, -1].max() > collection_size:
        _reject_first(whole, collection_size)
    return whole


def list_rows(ranks: ArrayLike, collection_size: int) -> Rows:
    """Return ranks as an array (lists, relevant) without validating its entries.

    Raises ValueError where there are no lists, or not equally many positions in each, and
    for a collection of no items.
    """
    if collection_size < 1:
        raise ValueError(f"the collection size is {collection_size}; at least 1 is needed")
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


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view of an array that cannot be changed through it."""
    view = array.view()
    view.flags.writeable = False
    return view


def with_missing_last(ranks: Ranks, collection_size: int) -> Ranks:
    """Replace infinite ranks by the last positions of the collection.

    NAR and MNRO count the whole collection as ranked: an item that was not retrieved comes
    after all others.
    """
    if ranks.dtype.kind == "i":
        return ranks
    last = collection_size - np.arange(ranks.shape[1])[::-1]
    return np.where(np.isfinite(ranks), ranks, last)


def _as_integers(array: NDArray[np.generic]) -> NDArray[np.int64]:
    if array.dtype.kind in "iu" and array.dtype != np.uint64:
        return array.astype(np.int64, copy=False)
    for row, ranks in enumerate(array.tolist(), 1):
        for number, rank in enumerate(ranks, 1):
            if isinstance(rank, bool) or not _fits_int64(rank):
                raise ValueError(
                    f"row {row}, position {number}: {rank} found; a rank is a whole number"
                )
    return array.astype(np.int64)


def _fits_int64(rank: object) -> bool:
    if isinstance(rank, float):
        return rank.is_integer() and abs(rank) < 2**63
    return isinstance(rank, int) and abs(rank) < 2**63


def _ascend(columns: NDArray[np.integer]) -> bool:
    return bool((columns[1:] > columns[:-1]).all())


def _reject_first(ranks: NDArray[np.int64], collection_size: int) -> None:
    _reject(ranks < 1, ranks, "position", "positions are counted from 1")
    _reject(
        ranks > collection_size, ranks, "position", f"the collection has {collection_size} items"
    )
    steps = np.diff(ranks, axis=1, prepend=0)
    _reject(
        steps == 0, ranks, "position", "this position is in the list already; each may occur once"
    )
    _reject(steps < 0, ranks, "position", "positions must be sorted in ascending order")


def _add_missing(ranks: Ranks, relevant: int, collection_size: int) -> Ranks:
    missing = relevant - ranks.shape[1]
    if not 0 <= missing <= collection_size - ranks.shape[1]:
        raise ValueError(
            f"{relevant} relevant items given for lists of {ranks.shape[1]} positions in a "
            f"collection of {collection_size}; {ranks.shape[1]} to {collection_size} are allowed"
        )
    if not missing:
        return ranks
    return np.pad(ranks.astype(np.float64), ((0, 0), (0, missing)), constant_values=np.inf)


def _as_grades(values: ArrayLike, shape: tuple[int, ...]) -> Grades:
    grades = _as_numbers(values, shape, "grade")
    invalid = ~((grades >= 1) & (grades <= HIGHEST_GRADE) & (grades == np.floor(grades)))
    _reject(invalid, grades, "grade", f"a whole number from 1 to {HIGHEST_GRADE} is allowed")
    return grades.astype(np.int64)


def _as_weights(values: ArrayLike, shape: tuple[int, ...]) -> Weights:
    weights = _as_numbers(values, shape, "weight")
    invalid = ~((weights > 0) & (weights <= 1))
    _reject(invalid, weights, "weight", "a share above 0 and up to 1 is allowed")
    return weights


def _as_numbers(values: ArrayLike, shape: tuple[int, ...], name: str) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"{name}s must be numbers, one for each relevant item") from None
    if numbers.ndim == 2 and len(numbers) == shape[0] and numbers.shape != shape:
        raise ValueError(
            f"{numbers.shape[1]} {name}s found in each row; one for each of the {shape[1]} "
            "relevant items is needed"
        )
    if numbers.shape != shape:
        raise ValueError(f"{name}s have the shape {numbers.shape}; the lists have {shape}")
    return numbers


def _as_clusters(values: Sequence[Sequence[Iterable[str]]], shape: tuple[int, ...]) -> Clusters:
    # A text is one cluster's name, not a set of its letters; an empty one is no cluster.
    rows = tuple(
        tuple(
            frozenset({item} - {""}) if isinstance(item, str) else frozenset(item) for item in row
        )
        for row in values
    )
    if len(rows) != shape[0]:
        raise ValueError(f"clusters of {len(rows)} lists found; there are {shape[0]} lists")
    for number, row in enumerate(rows, 1):
        if len(row) != shape[1]:
            raise ValueError(
                f"row {number}: clusters of {len(row)} items found; {shape[1]} are relevant"
            )
        if not any(row):
            raise ValueError(f"row {number}: no item has a cluster; at least one needs one")
    return rows


def _reject(invalid: NDArray[np.bool_], values: NDArray[np.number], name: str, rule: str) -> None:
    """Raise ValueError for the first value marked invalid, with its row and number from 1."""
    if invalid.any():
        row, column = (int(index) for index in np.argwhere(invalid)[0])
        value = values[row, column].item()
        text = f"{value:g}" if isinstance(value, float) else value
        raise ValueError(f"row {row + 1}, {name} {column + 1}: {text} found; {rule}")
