"""Ranked lists with all that a measure may read of their items, validated once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from survey.core.measures.gain import Grades
from survey.core.measures.precision import Weights
from survey.core.measures.ranks import Ranks, as_ranks, reject
from survey.core.measures.subtopics import Clusters

HIGHEST_GRADE = 30  # a larger gain 2^grade would swallow small gains in a sum of floats


@dataclass(frozen=True)
class Lists:
    """Ranked lists with equally many relevant items each: what a measure is computed from.

    ``ranks`` (lists, relevant): their ascending positions, infinity for an item that was
    not retrieved. The other arrays describe the items in the same order:

    ``graded`` (lists, relevant): grades from 1; None where relevance is binary.
    ``weighted`` (lists, relevant): shares of annotators; None where all agree.
    ``clusters``: sub-topics, a set for each item; None where there are none.

    ``condensed`` (lists, relevant): the positions among judged items only, and ``judged``
    their number; None where every item of the collection is judged.
    """

    ranks: Ranks
    graded: Grades | None = None
    weighted: Weights | None = None
    clusters: Clusters | None = None
    condensed: Ranks | None = None
    judged: int | None = None

    @property
    def positions_alone(self) -> bool:
        """Whether the lists have no grades, weights, clusters or judgements."""
        details = (self.graded, self.weighted, self.clusters, self.condensed, self.judged)
        return all(detail is None for detail in details)

    @cached_property
    def grades(self) -> Grades:
        """The grades; 1 for every relevant item where relevance is binary."""
        return np.ones(self.ranks.shape, dtype=np.int64) if self.graded is None else self.graded

    @cached_property
    def weights(self) -> Weights:
        """The weights; 1 for every relevant item where all annotators agree."""
        return np.ones(self.ranks.shape) if self.weighted is None else self.weighted


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


def _as_grades(values: ArrayLike, shape: tuple[int, ...]) -> Grades:
    grades = _as_numbers(values, shape, "grade")
    invalid = ~((grades >= 1) & (grades <= HIGHEST_GRADE) & (grades == np.floor(grades)))
    reject(invalid, grades, "grade", f"a whole number from 1 to {HIGHEST_GRADE} is allowed")
    return grades.astype(np.int64)


def _as_weights(values: ArrayLike, shape: tuple[int, ...]) -> Weights:
    weights = _as_numbers(values, shape, "weight")
    invalid = ~((weights > 0) & (weights <= 1))
    reject(invalid, weights, "weight", "a share above 0 and up to 1 is allowed")
    return weights


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
