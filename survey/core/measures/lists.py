"""Ranked lists with all that a measure may know of their items, checked once at the edge."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from survey.core.measures.gain import Grades
from survey.core.measures.precision import Weights
from survey.core.measures.ranks import Ranks, as_ranks, refuse
from survey.core.measures.subtopics import Clusters

HIGHEST_GRADE = 30  # 2^30 is still told apart from its neighbours in any sum of gains


@dataclass(frozen=True)
class Lists:
    """Ranked lists with equally many relevant items each: what a measure is computed from.

    ``ranks`` (lists, relevant): their ascending positions, infinity for an item that did
    not come back. What follows belongs to the items in the same order:

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
        """Whether nothing but the positions is known."""
        marks = (self.graded, self.weighted, self.clusters, self.condensed, self.judged)
        return all(mark is None for mark in marks)

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
    """Check ranked lists and what is known of their items.

    ``ranks``, ``collection_size``: see ``as_ranks``. ``relevant``: NG, where some relevant
    items did not come back in any of the lists; they are added at infinity. ``grades``,
    ``weights``, ``clusters``: one for each relevant item, those that did not come back last.

    Raises ValueError naming the row and the place in it, what was found and what is allowed.
    """
    whole: Ranks = as_ranks(ranks, collection_size)
    if relevant is not None:
        whole = _with_missing(whole, relevant, collection_size)
    return Lists(
        whole,
        None if grades is None else _grades(grades, whole.shape),
        None if weights is None else _weights(weights, whole.shape),
        None if clusters is None else _clusters(clusters, whole.shape),
    )


def _with_missing(ranks: Ranks, relevant: int, collection_size: int) -> Ranks:
    missing = relevant - ranks.shape[1]
    if not 0 <= missing <= collection_size - ranks.shape[1]:
        raise ValueError(
            f"{relevant} relevant items given for lists of {ranks.shape[1]} positions in a "
            f"collection of {collection_size}; {ranks.shape[1]} to {collection_size} are allowed"
        )
    if not missing:
        return ranks
    return np.pad(ranks.astype(np.float64), ((0, 0), (0, missing)), constant_values=np.inf)


def _numbers(found: ArrayLike, shape: tuple[int, ...], what: str) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(found, dtype=np.float64)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"{what}s must be numbers, one for each relevant item") from None
    if numbers.ndim == 2 and len(numbers) == shape[0] and numbers.shape != shape:
        raise ValueError(
            f"{numbers.shape[1]} {what}s found in each row; one for each of the {shape[1]} "
            "relevant items is needed"
        )
    if numbers.shape != shape:
        raise ValueError(f"{what}s have the shape {numbers.shape}; the lists have {shape}")
    return numbers


def _grades(found: ArrayLike, shape: tuple[int, ...]) -> Grades:
    grades = _numbers(found, shape, "grade")
    bad = ~((grades >= 1) & (grades <= HIGHEST_GRADE) & (grades == np.floor(grades)))
    allowed = f"a whole number from 1 to {HIGHEST_GRADE} is allowed"
    refuse(bad, grades, "grade", allowed)
    return grades.astype(np.int64)


def _weights(found: ArrayLike, shape: tuple[int, ...]) -> Weights:
    weights = _numbers(found, shape, "weight")
    allowed = "a share above 0 and up to 1 is allowed"
    refuse(~((weights > 0) & (weights <= 1)), weights, "weight", allowed)
    return weights


def _clusters(found: Sequence[Sequence[Iterable[str]]], shape: tuple[int, ...]) -> Clusters:
    # A text is one cluster's name, not a set of its letters; an empty one is none.
    rows = tuple(
        tuple(
            frozenset({item} - {""}) if isinstance(item, str) else frozenset(item) for item in row
        )
        for row in found
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
