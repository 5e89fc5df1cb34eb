"""Strengths of items from comparisons of two at a time (Bradley and Terry 1952), with intervals.

Item i is preferred to item j with probability logistic(θ_i − θ_j). A tie counts as half a win for
each, which leaves the estimates of a study without ties unchanged and needs no further parameter
(Davidson's model has one).
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.statistics.significance import Interval

Array = NDArray[np.float64]
Index = NDArray[np.int64]

MOST_STEPS = 100  # of Newton's method
CONVERGED = 1e-12  # the longest step of the last iteration
NEGLIGIBLE = 1e-9  # a standard error below it is 0 but for rounding
SEPARATED = "an item won or lost all comparisons with some others, so that no strengths fit"


@dataclass(frozen=True)
class Comparisons:
    """n comparisons: of ``first`` with ``second``, (n,), indices of ``items`` items.

    ``score``: 1 where the first was preferred, 0 where the second, ½ for a tie; ``people``,
    ``questions``: of each comparison, as indices from 0.
    """

    items: int
    first: Index
    second: Index
    score: Array
    people: Index
    questions: Index


@dataclass(frozen=True)
class Strengths:
    """The strength θ of each item, with mean 0, and its interval; None where nothing fits.

    ``ci95``: for people and questions of this kind, None with fewer than two of either.
    """

    theta: tuple[float, ...] | None
    se: tuple[float, ...] | None
    ci95: tuple[Interval, ...] | None
    df: int
    why: str | None = None


def bradley_terry(compared: Comparisons) -> Strengths:
    """Fit strengths by maximum likelihood, with standard errors over people and questions.

    V = H⁺(Mp + Ms − M0)H⁺ with the information H and the scores' outer products, summed within
    people, within questions and within neither, each times G/(G − 1) (Cameron, Gelbach and Miller
    2011). Of each item the largest variance is taken of this one, those by people, by questions and
    by neither alone. t has min(people, questions) − 1 degrees of freedom.
    """
    groups = len({*compared.people.tolist()}), len({*compared.questions.tolist()})
    df = min(groups) - 1
    if not len(compared.score) or not _is_connected(compared):
        return Strengths(None, None, None, df, SEPARATED)
    n, rows = compared.items, np.arange(len(compared.score))
    design = np.zeros((len(rows), n))
    design[rows, compared.first], design[rows, compared.second] = 1.0, -1.0
    theta = np.zeros(n)
    for _ in range(MOST_STEPS):
        chance, inverse = _chance_and_inverse(design, theta)
        step = inverse @ (design.T @ (compared.score - chance))
        theta += step
        if np.abs(step).max() < CONVERGED:
            break
    values = tuple((theta - theta.mean()).tolist())
    if df < 1:
        why = "intervals need two people and two questions"
        return Strengths(values, None, None, df, why)
    errors = _standard_errors(compared, design, theta)
    if min(errors) < NEGLIGIBLE:
        return Strengths(values, None, None, df, "answers have no spread to make intervals of")
    reach = float(scipy.stats.t.ppf(0.975, df))
    intervals = tuple(
        (value - reach * error, value + reach * error)
        for value, error in zip(values, errors, strict=True)
    )
    return Strengths(values, errors, intervals, df)


def _is_connected(compared: Comparisons) -> bool:
    """Return whether each item was preferred to each other, at least by a chain of items."""
    wins = np.zeros((compared.items, compared.items))
    np.add.at(wins, (compared.first, compared.second), compared.score)
    np.add.at(wins, (compared.second, compared.first), 1 - compared.score)
    return bool(scipy.sparse.csgraph.connected_components(wins > 0, connection="strong")[0] == 1)


def _standard_errors(compared: Comparisons, design: Array, theta: Array) -> tuple[float, ...]:
    chance, bread = _chance_and_inverse(design, theta)
    scores = design * (compared.score - chance)[:, np.newaxis]
    by_people = _meat(scores, compared.people)
    by_question = _meat(scores, compared.questions)
    by_neither = _meat(scores, np.arange(len(scores)))
    meats = by_people + by_question - by_neither, by_people, by_question, by_neither
    variances = np.maximum.reduce([np.diag(bread @ meat @ bread) for meat in meats])
    return tuple(np.sqrt(np.maximum(variances, 0.0)).tolist())


def _chance_and_inverse(design: Array, theta: Array) -> tuple[Array, Array]:
    """Return the chance of each first item, and the pseudo-inverse of the information.

    Pseudo, since strengths that all shift by the same are alike; numpy's would at times take
    rounding errors of that direction for information.
    """
    chance = scipy.special.expit(design @ theta)
    information = design.T @ (design * (chance * (1 - chance))[:, np.newaxis])
    mean = np.full(information.shape, 1 / len(information))
    return chance, np.linalg.inv(information + mean) - mean


def _meat(scores: Array, groups: Index) -> Array:
    """Add up the outer products of the groups' summed scores, times G/(G − 1)."""
    _, index = np.unique(groups, return_inverse=True)
    count = int(index.max()) + 1
    sums = np.zeros((count, scores.shape[1]))
    np.add.at(sums, index, scores)
    meat: Array = count / (count - 1) * sums.T @ sums
    return meat
