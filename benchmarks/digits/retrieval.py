"""From images to ranked lists, and from these to the values of measures. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from benchmarks.digits.descriptors import Features, Images
from survey.core.measures import Ranks, Values, score

Whole = NDArray[np.int64]

MEASURES = ("AP", "P@10", "P@20", "NMRR", "NAR", "MNRO")
PRINTED = "MNRO printed"
COLUMNS = (*MEASURES, PRINTED)
"""The columns of every array of values: the measures, MNRO also with Eq. 15 as printed."""


@dataclass(frozen=True)
class Digits:
    """Images (n, 8, 8), grey levels 0 to 16, and the digit that each shows (n,)."""

    images: Images
    labels: Whole


def load() -> Digits:
    """Return the 1,797 images that ship inside scikit-learn.

    Raises ImportError where scikit-learn is not installed.
    """
    from sklearn.datasets import load_digits

    found = load_digits()
    return Digits(found.images, found.target.astype(np.int64))


def shifted(digits: Digits) -> Digits:
    """The images, and four copies of each: one pixel to the right, left, down and up.

    What leaves the image is lost, what comes in is paper. Copies of image i are i + n,
    i + 2n, i + 3n and i + 4n.
    """
    framed = np.pad(digits.images, ((0, 0), (1, 1), (1, 1)))
    corners = ((1, 1), (1, 0), (1, 2), (0, 1), (2, 1))
    moved = [framed[:, top : top + 8, left : left + 8] for top, left in corners]
    return Digits(np.concatenate(moved), np.tile(digits.labels, len(corners)))


def distances(queries: Features, collection: Features) -> NDArray[np.float64]:
    """The Euclidean distances (queries, collection) of features."""
    return np.asarray(cdist(queries, collection))


def nested_ranks(
    apart: NDArray[np.float64], relevant: NDArray[np.bool_], since: Whole, sets: int
) -> Whole:
    """Rank collections that contain one another: positions (sets, queries, relevant).

    ``apart``, ``relevant`` (queries, items): each item's distance from each query, and
    whether it is relevant to it; all queries have equally many. ``since`` (items,): the
    first collection that holds the item; the later ones hold it too, and the first holds
    all that is relevant. Of equally distant items the first one comes first, so items
    should come in random order.
    """
    order = np.argsort(apart, axis=1, kind="stable")
    found = np.take_along_axis(relevant, order, axis=1)
    arrived = since[order]
    positions = [np.cumsum(arrived <= one, axis=1)[found] for one in range(sets)]
    return np.asarray(positions, dtype=np.int64).reshape(sets, len(apart), -1)


def values(ranks: Ranks, collection_size: int) -> Values:
    """Score lists (lists, relevant) with every measure: (lists, columns), see ``COLUMNS``."""
    default = score(MEASURES, ranks, collection_size)
    printed = score(("MNRO",), ranks, collection_size, literal_eq15=True)
    return np.hstack([default, printed])


def column(name: str) -> int:
    """Return where a measure stands among the columns."""
    return COLUMNS.index(name)


def equally_often(labels: Whole, each: int, digits: Sequence[int]) -> Whole:
    """Return the places of the first ``each`` images of each of these digits, digit by digit."""
    return np.concatenate([np.flatnonzero(labels == digit)[:each] for digit in digits])
