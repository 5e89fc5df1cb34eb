"""Strengths of items from comparisons of two at a time (Bradley and Terry 1952).

Item i is preferred to item j with probability logistic(θ_i − θ_j). A tie counts as half a win for
each, which leaves the estimates of a study without ties unchanged and needs no further parameter
(Davidson's model has one).
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

MOST_NEWTON_STEPS = 100  # of Newton's method
CONVERGED = 1e-12  # the longest step of the last iteration
SEPARATED = "an item won or lost all comparisons with some others, so that no strengths fit"


@dataclass(frozen=True)
class Comparisons:
    """n sorts of comparisons: of ``first`` with ``second``, (n,), indices of ``items`` items.

    ``score``: 1 where the first was preferred, 0 where the second, ½ for a tie; ``times``: how
    often there was such a comparison.
    """

    items: int
    first: Index
    second: Index
    score: Array
    times: Index


@dataclass(frozen=True)
class Strengths:
    """The strength θ of each item, with mean 0; None where nothing fits.

    ``influence``: (n, items), how a comparison moves the strengths, n·H⁺x(y − p) with the
    information H: over all comparisons its mean is 0, and the variance of its mean that of θ.
    """

    theta: tuple[float, ...] | None
    influence: Array | None
    why: str | None = None


def bradley_terry(compared: Comparisons) -> Strengths:
    """Fit strengths by maximum likelihood."""
    total = int(compared.times.sum())
    if not total or not _is_connected(compared):
        return Strengths(None, None, SEPARATED)
    n, rows = compared.items, np.arange(len(compared.score))
    design = np.zeros((len(rows), n))
    design[rows, compared.first], design[rows, compared.second] = 1.0, -1.0
    theta = np.zeros(n)
    for _ in range(MOST_NEWTON_STEPS):
        chance, inverse = _chance_and_inverse(design, theta, compared.times)
        step = inverse @ (design.T @ (compared.times * (compared.score - chance)))
        theta += step
        if np.abs(step).max() < CONVERGED:
            break
    chance, inverse = _chance_and_inverse(design, theta, compared.times)
    influence = total * (design * (compared.score - chance)[:, np.newaxis]) @ inverse
    return Strengths(tuple((theta - theta.mean()).tolist()), influence)


def _is_connected(compared: Comparisons) -> bool:
    """Return whether each item was preferred to each other, at least by a chain of items."""
    wins = np.zeros((compared.items, compared.items))
    np.add.at(wins, (compared.first, compared.second), compared.times * compared.score)
    np.add.at(wins, (compared.second, compared.first), compared.times * (1 - compared.score))
    return bool(scipy.sparse.csgraph.connected_components(wins > 0, connection="strong")[0] == 1)


def _chance_and_inverse(design: Array, theta: Array, times: Index) -> tuple[Array, Array]:
    """Return the chance of each first item, and the pseudo-inverse of the information.

    Pseudo, since strengths that all shift by the same are alike; numpy's would at times take
    rounding errors of that direction for information.
    """
    chance = scipy.special.expit(design @ theta)
    information = design.T @ (design * (times * chance * (1 - chance))[:, np.newaxis])
    mean = np.full(information.shape, 1 / len(information))
    return chance, np.linalg.inv(information + mean) - mean
