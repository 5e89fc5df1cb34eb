"""The largest of several t, over all pairs of a few means: its distribution, and a step-down test.

The means are exchangeable; each pair's difference is tested with a standard error of its own, as
paired t tests are. The errors of the pairs depend on one another as the variances within one
Wishart matrix do, which makes the distribution that of paired data.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

POINTS, POINTS_TOGETHER = 4096, 16


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

    The differences are r·ω, r² chi-square and ω a direction; their covariance matrix is s·Ω, s
    chi-square and Ω a shape, all four independent. So given ω and Ω the largest t² is r²/s, a
    ratio of chi-squares, times a number; the chance is an incomplete beta function, averaged over
    ω and Ω. With fewer degrees of freedom than means there is no Ω, and the chance is bounded by
    the pairs' chances added up (Bonferroni).
    """
    bound = min(1.0, comb(means, 2) * t.p)
    if means == 2 or t.df < means:
        return bound
    ratio = t.value**2 / (t.df * _squared_t_by_ratio(means, t.df))
    half = (means - 1) / 2
    chances = scipy.special.betaincc(half, half * t.df, ratio / (1 + ratio))
    return min(bound, max(t.p, float(chances.mean())))


@cache
def _squared_t_by_ratio(means: int, df: float) -> NDArray[np.float64]:
    """Return the largest t² / (df · r²/s) for directions and shapes that represent all.

    Sobol points in place of random numbers: the same on every machine, and closer. Neighbours
    among the sorted results are averaged, since the chance changes little between them.
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

    If some means are equal, they form groups of equal means; each way to group them is a
    hypothesis, tested by the largest |t| within a group. A pair's p is the largest over the
    groupings that join the two (Shaffer 1986): for three means the largest |t| against its
    distribution, and once that is through each other pair by itself. Pairs of different groups
    are independent, so a grouping's p is Šidák's over its groups. A pair without t has no p, and
    counts among those that were to be compared.
    """
    known = {pair: t for pair, t in tests.items() if t}
    adjusted = {pair: t.p for pair, t in known.items()}
    for grouping in _groupings(tuple(names)):
        groups = [group for group in grouping if len(group) > 1]
        joined = [
            [pair for pair in map(frozenset, combinations(group, 2)) if pair in known]
            for group in groups
        ]
        chances = [
            largest_t_p(min((known[pair] for pair in of_group), key=lambda t: t.p), len(group))
            for group, of_group in zip(groups, joined, strict=True)
            if of_group
        ]
        if chances:
            p = 1 - (1 - min(chances)) ** len(groups)
            for pair in (pair for of_group in joined for pair in of_group):
                adjusted[pair] = max(adjusted[pair], p)
    return adjusted


@cache
def _groupings(names: tuple[str, ...]) -> tuple[tuple[tuple[str, ...], ...], ...]:
    """Return every way to split the names into groups."""
    if not names:
        return ((),)
    first, rest = names[0], names[1:]
    groupings = []
    for grouping in _groupings(rest):
        groupings.append(((first,), *grouping))
        for place, group in enumerate(grouping):
            groupings.append((*grouping[:place], (first, *group), *grouping[place + 1 :]))
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
    of_all = np.ones(t.shape[1], dtype=bool)
    for grouping in _groupings(tuple(map(str, range(means)))):
        groups = [tuple(map(int, group)) for group in grouping if len(group) > 1]
        if not any({0, 1} <= set(group) for group in groups):
            continue
        level_of_group, through = 1 - (1 - level) ** (1 / len(groups)), False
        for group in groups:
            pairs = [place[pair] for pair in combinations(group, 2)]
            nearest = p[pairs].argmin(axis=0)[np.newaxis]
            largest, of_df, of_p = (
                np.take_along_axis(of[pairs], nearest, 0)[0] for of in (t, df, p)
            )
            through |= (
                of_p < level_of_group
                if len(group) == 2
                else np.abs(largest) > _critical_t(len(group), of_df, level_of_group)
            )
        of_all &= through
    rejected[rejected] = of_all
    return rejected


def _critical_t(means: int, df: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Return the |t| of which ``largest_t_p`` is ``level``, to three digits, for each df."""
    critical: NDArray[np.float64] = _critical_curve(means, level)(1 / np.maximum(df, means))
    few = df < means
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
