"""Section 5.2 in small: three nested collections, the first of which holds all that is relevant.

Which measure stays put when a collection grows by what is not relevant?
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.digits.designs import (
    COPIES,
    DESIGNS,
    QUERIES_PER_DIGIT,
    QUERY_DIGITS,
    SETS,
    Design,
)
from benchmarks.digits.resampling import stream
from benchmarks.digits.retrieval import (
    COLUMNS,
    Digits,
    Whole,
    equally_often,
    nested_ranks,
    values,
)


@dataclass(frozen=True)
class Trial:
    """One draw: ``queries`` and ``items``, places of images, the items in random order.

    ``relevant`` (queries, items); ``since`` (items,): 0, 1 or 2, the first of A, B and C
    that holds the item.
    """

    queries: Whole
    items: Whole
    relevant: NDArray[np.bool_]
    since: Whole


def draw(design: Design, digits: Digits, chance: Generator) -> Trial:
    """Draw four digits, of each some relevant images and five queries; others are distractors.

    ``digits``: with the shifted copies behind, if the design wants them. What is left of
    the four digits is in no collection, so every relevant image is in A. Queries and
    relevant images are originals.
    """
    chosen = np.sort(chance.choice(10, QUERY_DIGITS, replace=False))
    originals = len(digits.labels) // (COPIES if design.copies else 1)
    shuffled = chance.permutation(originals)
    labels = digits.labels[shuffled]
    taken = equally_often(labels, QUERIES_PER_DIGIT, chosen.tolist())
    queries, rest = shuffled[taken], np.delete(shuffled, taken)
    wanted = rest[equally_often(digits.labels[rest], design.relevant, chosen.tolist())]
    others = chance.permutation(np.flatnonzero(~np.isin(digits.labels, chosen)))
    arrivals = np.repeat(np.arange(len(SETS)), design.third)
    since = np.concatenate([np.zeros_like(wanted), arrivals])
    mixed = chance.permutation(len(since))
    items = np.concatenate([wanted, others[: len(arrivals)]])[mixed]
    relevant = digits.labels[items] == digits.labels[queries][:, None]
    return Trial(queries, items, relevant, since[mixed])


def repeat(
    design: Design,
    digits: Digits,
    apart: NDArray[np.float64],
    *,
    draws: int,
    seed: int,
    on_drawn: Callable[[], object] = lambda: None,
) -> NDArray[np.float64]:
    """Return the means over queries (draws, sets, columns) of many draws.

    ``apart``: the distances (originals, images) of one descriptor. Each draw has a stream
    of its own, the same for every descriptor.
    """
    ranks = []
    for number in range(draws):
        trial = draw(design, digits, stream(seed, 2, DESIGNS.index(design), number))
        here = apart[np.ix_(trial.queries, trial.items)]
        ranks.append(nested_ranks(here, trial.relevant, trial.since, len(SETS)))
        on_drawn()
    whole = np.stack(ranks, axis=1)  # sets, draws, queries, relevant
    found = [
        values(one.reshape(-1, design.relevant), size).reshape(draws, -1, len(COLUMNS)).mean(axis=1)
        for one, size in zip(whole, design.sizes, strict=True)
    ]
    return np.stack(found, axis=1)
