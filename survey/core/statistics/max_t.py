"""The largest of several t, over all pairs of a few means: its distribution, and a step-down test.

Each pair of means is compared by a paired t test, with a standard error of its own. All these
standard errors come from one covariance matrix of the means, which has a Wishart distribution. No
mean is special.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

POINTS, POINTS_TOGETHER = 4096, 16
DF_ERROR = 1e-9  # of degrees of freedom that are a whole number but for rounding


class T(NamedTuple):
    """A t value with its degrees of freedom, 1 or more, not always a whole number."""

    value: float
    df: float

    @property
    def p(self) -> float:
        """The two-sided p, of this t by itself."""
        return float(2 * scipy.special.stdtr(self.df, -abs(self.value)))


@cache
def largest_t_p(t: T, means: int) -> float:
    """Return the chance that the largest |t| over all pairs of ``means`` means is at least ``t``.

    Write the differences as a length r times a direction ω, and their covariance matrix as its
    trace s times a matrix Ω of trace 1. r² and s are chi-square, up to a scale, and all four are
    independent. For one ω and Ω the largest t² is r²/s times a number, so the chance is an
    incomplete beta function. It is averaged over many ω and Ω.

    The chance is at least that of a single t, and at most those of all pairs added up
    (Bonferroni). With fewer degrees of freedom than means, Bonferroni's is returned.
    """
    bound = min(1.0, comb(means, 2) * t.p)
    if means == 2 or t.df < means - DF_ERROR:
        return bound
    ratio = t.value**2 / (t.df * _squared_t_by_ratio(means, t.df))
    half = (means - 1) / 2
    chances = scipy.special.betaincc(half, half * t.df, ratio / (1 + ratio))
    return min(bound, max(t.p, float(chances.mean())))


@cache
def _squared_t_by_ratio(means: int, df: float) -> NDArray[np.float64]:
    """Return the largest t² / (df · r²/s), sorted, for a sample of directions ω and matrices Ω.

    The sample is made of a Sobol sequence: it is the same on every machine, and its mean is
    nearer to the true one than that of random numbers. Each 16 sorted values are replaced by
    their mean, to save time.
    """
    size = means - 1
    below = np.tril_indices(size, -1)
    corners = size + len(below[0])
    points = scipy.stats.qmc.Sobol(corners + size, scramble=False).random(POINTS) + 0.5 / POINTS
    normal = scipy.special.ndtri(points[:, :corners])
    directions = normal[:, :size] / np.linalg.norm(normal[:, :size], axis=1, keepdims=True)
    roots = np.zeros((POINTS, size, size))  # of Wishart matrices, by Bartlett's decomposition
    roots[:, *below] = normal[:, size:]
    diagonal = np.arange(size)
    gammas = scipy.special.gammaincinv((df - diagonal) / 2, points[:, corners:])
    roots[:, diagonal, diagonal] = np.sqrt(2 * gammas)
    basis = scipy.linalg.helmert(means).T
    contrasts = np.array([basis[first] - basis[second] for first, second in _pairs(means)])
    traces = (roots**2).sum(axis=(1, 2))
    variances = ((contrasts @ roots) ** 2).sum(axis=2) / traces[:, np.newaxis]
    largest = ((directions @ contrasts.T) ** 2 / variances).max(axis=1)
    together: NDArray[np.float64] = np.sort(largest).reshape(-1, POINTS_TOGETHER).mean(axis=1)
    return together


def _pairs(means: int) -> Iterator[tuple[int, int]]:
    return combinations(range(means), 2)


def step_down(
    names: Sequence[str], tests: Mapping[frozenset[str], T | None]
) -> dict[frozenset[str], float]:
    """Return p of each pair's t, adjusted for all pairs of the named means by a closed test.

    A hypothesis splits the means into groups of equal means. Each group is tested by its pair
    with the smallest p, as the largest |t| of that group. Pairs of different groups are
    independent, so the p of a hypothesis is Šidák's over its groups of two means or more. A pair's
    p is the largest over all hypotheses with both means in one group (Shaffer 1986). With three
    means this is a step-down test: first the largest |t|, and, if it is significant, each other
    pair by its own t.

    A pair without t gets no p. Its means still count in the size of their group, and a group
    without any t still counts in Šidák's correction.
    """
    known = {pair: t for pair, t in tests.items() if t}
    p_of_groups = _p_of_groups(names, known)
    best = _best_splits(len(names), p_of_groups)
    everyone = (1 << len(names)) - 1
    adjusted = {pair: t.p for pair, t in known.items()}
    for group, p_of_group in p_of_groups.items():
        if p_of_group > 1:
            continue  # none of its pairs has a t
        members = [name for place, name in enumerate(names) if group >> place & 1]
        # With the split of the others into this many groups whose smallest p is largest.
        largest = max(
            1 - (1 - min(p_of_group, p_of_others)) ** (1 + groups)
            for groups, p_of_others in best[everyone & ~group].items()
        )
        for pair in map(frozenset, combinations(members, 2)):
            if pair in known:
                adjusted[pair] = max(adjusted[pair], largest)
    return adjusted


def _p_of_groups(names: Sequence[str], known: Mapping[frozenset[str], T]) -> dict[int, float]:
    """Return the p of each group of two means or more, as bits; infinite for one without a t."""
    p_of_groups = {}
    for group in range(1 << len(names)):
        members = [name for place, name in enumerate(names) if group >> place & 1]
        if len(members) > 1:
            of_group = [
                known[pair] for pair in map(frozenset, combinations(members, 2)) if pair in known
            ]
            smallest = min(of_group, key=lambda t: t.p, default=None)
            p_of_groups[group] = largest_t_p(smallest, len(members)) if smallest else math.inf
    return p_of_groups


def _best_splits(means: int, p_of_groups: Mapping[int, float]) -> list[dict[int, float]]:
    """Return for each set of means the largest p with which it can be split, by number of groups.

    A mean may be in no group. The p of a split is the smallest of its groups'.
    """
    best: list[dict[int, float]] = [{0: math.inf}]
    for of_all in range(1, 1 << means):
        lowest = of_all & -of_all
        splits = dict(best[of_all ^ lowest])  # where the lowest is in no group
        others = rest = of_all ^ lowest
        while others:
            p_of_group = p_of_groups[lowest | others]
            for groups, p in best[rest ^ others].items():
                smallest = min(p, p_of_group)
                if smallest > splits.get(groups + 1, -1.0):
                    splits[groups + 1] = smallest
            others = (others - 1) & rest
        best.append(splits)
    return best


@cache
def _groupings(means: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return every way to split the means into groups; those of a group are in order."""
    if not means:
        return ((),)
    last, groupings = means - 1, []
    for grouping in _groupings(last):
        groupings.append((*grouping, (last,)))
        for place, group in enumerate(grouping):
            groupings.append((*grouping[:place], (*group, last), *grouping[place + 1 :]))
    return tuple(groupings)


def first_pair_rejected(
    t: NDArray[np.float64], df: NDArray[np.float64], means: int, level: float = 0.05
) -> NDArray[np.bool_]:
    """Return in which of many studies ``step_down`` rejects the pair of the first two means.

    ``t``, ``df``: (pairs, studies), the pairs in the order of ``combinations(range(means), 2)``.
    """
    place = {pair: place for place, pair in enumerate(_pairs(means))}
    rejected: NDArray[np.bool_] = 2 * scipy.special.stdtr(df[0], -np.abs(t[0])) < level
    t, df = t[:, rejected], df[:, rejected]
    p = 2 * scipy.special.stdtr(df, -np.abs(t))
    by_all = np.ones(t.shape[1], dtype=bool)
    for grouping in _groupings(means):
        groups = [group for group in grouping if len(group) > 1]
        if not any({0, 1} <= set(group) for group in groups):
            continue
        level_of_group, is_rejected = 1 - (1 - level) ** (1 / len(groups)), False
        for group in groups:
            pairs = [place[pair] for pair in combinations(group, 2)]
            smallest = p[pairs].argmin(axis=0)[np.newaxis]
            largest, of_df, of_p = (
                np.take_along_axis(values[pairs], smallest, 0)[0] for values in (t, df, p)
            )
            is_rejected |= (
                of_p < level_of_group
                if len(group) == 2
                else np.abs(largest) > _critical_t(len(group), of_df, level_of_group)
            )
        by_all &= is_rejected
    rejected[rejected] = by_all
    return rejected


def critical_t(means: int, df: float, level: float = 0.05) -> float:
    """Return the |t| of which ``largest_t_p`` is ``level``, to three digits; of three means on."""
    return float(_critical_t(means, np.array([df]), level)[0])


def bonferroni_t(comparisons: int, df: float, level: float = 0.05) -> float:
    """Return the |t| beyond which each of several tests is at an equal part of ``level``."""
    return float(-scipy.special.stdtrit(df, level / 2 / comparisons))


def _critical_t(means: int, df: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Return the |t| of which ``largest_t_p`` is ``level``, to three digits, for each df."""
    critical: NDArray[np.float64] = _critical_curve(means, level)(1 / np.maximum(df, means))
    few = df < means - DF_ERROR
    critical[few] = -scipy.special.stdtrit(df[few], level / 2 / comb(means, 2))
    return critical


@cache
def _critical_curve(means: int, level: float) -> "scipy.interpolate.PchipInterpolator":
    """Return the critical |t| as a function of 1 / df."""
    inverse = np.linspace(1e-6, 1 / means, 12)

    def critical(df: float) -> float:
        highest = -scipy.special.stdtrit(df, level / 2 / comb(means, 2))
        excess = lambda t: largest_t_p(T(t, df), means) - level  # noqa: E731
        return float(scipy.optimize.brentq(excess, 1.0, highest + 1e-6, xtol=1e-4))

    return scipy.interpolate.PchipInterpolator(inverse, [critical(1 / each) for each in inverse])
