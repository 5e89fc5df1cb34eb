"""The label-permutation test: what credits blind clicks would give.

Which measure stood behind which label was drawn anew for each response, so under "the
measures do not matter" every redraw of the labels was as likely as the one that
happened. The clicks stay on their labels; the credits are computed again. The test is
exact under the blinding, and its null mean is the advantage that identical orders give.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.chance import REPLICATES, Chance, add_one, never_zero
from survey.core.agreement.counts import whole
from survey.core.agreement.credits import Credits, credited_measures
from survey.core.agreement.differences import (
    NOBODY,
    SHARES_OF_A_VOTE,
    Pair,
    differences,
)
from survey.core.agreement.results import BLINDING, Statistic
from survey.core.stimuli.rankings import Ranking

MOST_RESPONSES_EXACT = 20_000


@dataclass(frozen=True, kw_only=True)
class LabelPermutation(Statistic):
    """The lead of one measure over another under redrawn labels.

    ``lead``: credits of the first minus those of the second, as observed;
    ``null_mean``, ``null_sd``: of the lead under blind clicks; ``p``: two-sided about
    the null mean, in (0, 1]; ``method``: "exact" or "Monte Carlo".
    """

    lead: float
    p: float | None = None
    p_holm: float | None = None
    null_mean: float | None = None
    null_sd: float | None = None
    method: str | None = None


@dataclass(frozen=True)
class Alike:
    """Responses that share a question and a number of clicks, hence their possible credits.

    ``rows``: their places among the responses; ``outcomes``: the equally likely credits
    under redrawn labels, float (subsets, measures).
    """

    rows: NDArray[np.int64]
    outcomes: NDArray[np.float64]


def redrawn(credits: Credits, rankings: Mapping[int, Mapping[str, Ranking]]) -> Iterator[Alike]:
    """Group the responses by their possible credits; custom rankings credit nobody.

    Redrawing the labels puts each subset of the measures behind c clicked columns with
    the same chance, so the C(k, c) subsets are all there is to enumerate. Where shared
    votes are dropped, what is left is taken as given: only the subsets that would have
    been kept count, which are equally likely among themselves.
    """
    for question in sorted(rankings):
        there = credits.questions == question
        for clicks in sorted(set(credits.clicks[there].tolist()) - {0}):
            rows = np.flatnonzero(there & (credits.clicks == clicks))
            yield Alike(rows, _outcomes(credits, rankings[question], clicks))


def _outcomes(credits: Credits, orders: Mapping[str, Ranking], clicks: int) -> NDArray[np.float64]:
    measures = credits.measures
    outcomes: NDArray[np.float64] = np.array(
        [
            [name in credited_measures(measures, subset, orders) for name in measures]
            for subset in combinations(range(1, len(measures) + 1), clicks)
        ],
        dtype=float,
    )
    if credits.shared == "split":
        outcomes /= outcomes.sum(axis=1, keepdims=True)
    if credits.shared == "dropped":
        outcomes = outcomes[outcomes.sum(axis=1) < 2]
    return outcomes


def label_permutation(
    credits: Credits, rankings: Mapping[int, Mapping[str, Ranking]], pair: Pair
) -> LabelPermutation:
    """Test the lead of one measure over another against blind clicks (two-sided).

    p is exact, by convolution of the responses' distributions, up to 20,000 responses;
    beyond that from 10,000 redraws as (b + 1)/(B + 1).
    """
    first, second = (credits.measures.index(name) for name in (pair.first, pair.second))
    possible = [
        (group.outcomes[:, first] - group.outcomes[:, second], len(group.rows))
        for group in redrawn(credits, rankings)
    ]
    mean = math.fsum(times * steps.mean() for steps, times in possible)
    frame = LabelPermutation(
        estimand=BLINDING,
        n=len(credits),
        unit="responses",
        lead=whole(differences(credits, pair).sum()),
        null_mean=mean,
        null_sd=math.sqrt(math.fsum(times * steps.var() for steps, times in possible)),
    )
    if not len(credits):
        return replace(frame, why=NOBODY)
    far = abs(frame.lead - mean) - 1e-9
    if len(credits) <= MOST_RESPONSES_EXACT:
        totals, chances = _every_total(possible)
        p = float(chances[np.abs(totals - mean) >= far].sum())
        return replace(frame, p=never_zero(p), method="exact")
    beyond = np.abs(_random_totals(possible) - mean) >= far
    return replace(frame, p=add_one(beyond), method="Monte Carlo")


Possible = list[tuple[NDArray[np.float64], int]]


def _every_total(possible: Possible) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every total that redraws can give, and its chance."""
    whole = [(np.rint(steps * SHARES_OF_A_VOTE).astype(int), times) for steps, times in possible]
    unit = math.gcd(*(int(step) for steps, _ in whole for step in steps)) or 1
    chances, least = np.ones(1), 0
    for steps, times in whole:
        low = int(steps.min()) // unit
        kernel = np.bincount(steps // unit - low) / len(steps)
        chances = np.convolve(chances, _power(kernel, times))
        least += low * times
    return (least + np.arange(len(chances))) * unit / SHARES_OF_A_VOTE, chances


def _power(kernel: NDArray[np.float64], times: int) -> NDArray[np.float64]:
    """Convolve a distribution with itself, so many times, by squaring."""
    result = np.ones(1)
    while times:
        if times % 2:
            result = np.convolve(result, kernel)
        times //= 2
        if times:
            kernel = np.convolve(kernel, kernel)
    return result


def _random_totals(possible: Possible) -> NDArray[np.float64]:
    totals = np.zeros(REPLICATES)
    chance = Chance()
    for steps, times in possible:
        for _ in range(times):
            totals += steps[chance.below(len(steps))]
    return totals
