"""The label-permutation test: what credits blind clicks would give.

Which measure stood behind which label was drawn anew for each response, so under "the
measures do not matter" every redraw of the labels was as likely as the one that
happened. The clicks stay on their labels; the credits are computed again. The test is
exact under the blinding, and its null mean is the advantage that identical orders give.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.counts import whole
from survey.core.agreement.credits import (
    SHARES_OF_A_VOTE,
    Credits,
    credited_measures,
    in_sixtieths,
)
from survey.core.agreement.differences import NOBODY, Pair, differences
from survey.core.statistics.monte_carlo import (
    MOST_ONE_BY_ONE,
    REPLICATES,
    Chance,
    add_one,
    never_zero,
)
from survey.core.statistics.results import BLINDING, Statistic
from survey.core.studies.rankings import Ranking


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

    ``times``: how many there are; ``outcomes``: the equally likely credits under redrawn
    labels, float (subsets, measures).
    """

    times: int
    outcomes: NDArray[np.float64]


@dataclass(frozen=True)
class Totals:
    """What 10,000 redraws of all labels credit, over all responses.

    ``votes``: (10,000, measures); ``credited``: likewise, a credit of any weight as one;
    ``squares``: (10,000,), the squares of the measures credited in a response, added up.
    """

    votes: NDArray[np.float64]
    credited: NDArray[np.int64]
    squares: NDArray[np.int64]


@dataclass(frozen=True)
class Redraws:
    """What credits redrawn labels would give; custom rankings credit nobody.

    Redrawing the labels puts each subset of the measures behind c clicked columns with
    the same chance, so the C(k, c) subsets are all there is to enumerate. Where shared
    votes are dropped, what is left is taken as given: only the subsets that would have
    been kept count, which are equally likely among themselves.
    """

    credits: Credits

    @cached_property
    def groups(self) -> tuple[Alike, ...]:
        """The responses by their possible credits, by question and number of clicks."""
        return tuple(self._groups())

    def _groups(self) -> Iterator[Alike]:
        credits, ballots = self.credits, self.credits.ballots
        for question in sorted(ballots.rankings):
            for clicks in range(1, len(credits.measures) + 1):
                alike = (ballots.questions == question) & (ballots.clicks == clicks)
                times = int(credits.times[alike].sum())
                if times:
                    orders = ballots.rankings[question]
                    yield Alike(times, _outcomes(credits, orders, clicks))

    @cached_property
    def totals(self) -> Totals:
        """10,000 redraws, the same for every question that is asked of them.

        Up to 20,000 responses each one's labels are redrawn; beyond that it is drawn how
        many responses with the same possible credits get which of them.
        """
        few = len(self.credits) <= MOST_ONE_BY_ONE
        groups, chance = self.groups if few else _merged(self.groups), Chance()
        draw = chance.tallies if few else chance.multinomial
        measures = len(self.credits.measures)
        votes = np.zeros((REPLICATES, measures))
        credited = np.zeros((REPLICATES, measures), dtype=np.int64)
        squares = np.zeros(REPLICATES, dtype=np.int64)
        for group in groups:
            times = draw(group.times, len(group.outcomes))
            any_weight = (group.outcomes > 0).astype(np.int64)
            votes += times @ group.outcomes
            credited += times @ any_weight
            squares += times @ any_weight.sum(axis=1) ** 2
        return Totals(votes, credited, squares)


def _merged(groups: tuple[Alike, ...]) -> list[Alike]:
    """Put the groups of different questions together that have the same possible credits."""
    merged: dict[tuple[tuple[float, ...], ...], int] = {}
    for group in groups:
        outcomes = tuple(map(tuple, group.outcomes.tolist()))
        merged[outcomes] = merged.get(outcomes, 0) + group.times
    return [Alike(times, np.array(outcomes)) for outcomes, times in merged.items()]


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


def label_permutation(redraws: Redraws, pair: Pair) -> LabelPermutation:
    """Test the lead of one measure over another against blind clicks (two-sided).

    p is exact, by convolution of the responses' distributions, up to 20,000 responses;
    beyond that from 10,000 redraws as (b + 1)/(B + 1).
    """
    credits = redraws.credits
    first, second = (credits.measures.index(name) for name in (pair.first, pair.second))
    possible = [
        (group.outcomes[:, first] - group.outcomes[:, second], group.times)
        for group in redraws.groups
    ]
    mean = math.fsum(times * steps.mean() for steps, times in possible)
    lead = int(credits.times @ in_sixtieths(differences(credits, pair))) / SHARES_OF_A_VOTE
    frame = LabelPermutation(
        estimand=BLINDING,
        n=len(credits),
        unit="responses",
        lead=whole(lead),
        null_mean=mean,
        null_sd=math.sqrt(math.fsum(times * steps.var() for steps, times in possible)),
    )
    if not len(credits):
        return replace(frame, why=NOBODY)
    far = abs(frame.lead - mean) - 1e-9
    if len(credits) <= MOST_ONE_BY_ONE:
        totals, chances = _every_total(possible)
        p = float(chances[np.abs(totals - mean) >= far].sum())
        return replace(frame, p=never_zero(p), method="exact")
    votes = redraws.totals.votes
    beyond = np.abs(votes[:, first] - votes[:, second] - mean) >= far
    return replace(frame, p=add_one(beyond), method="Monte Carlo")


Possible = list[tuple[NDArray[np.float64], int]]


def _every_total(possible: Possible) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every total that redraws can give, and its chance."""
    alike: dict[tuple[int, ...], int] = {}
    for steps, times in possible:
        key = tuple(sorted(in_sixtieths(steps).tolist()))
        alike[key] = alike.get(key, 0) + times
    unit = math.gcd(*(step for steps in alike for step in steps)) or 1
    chances, least = np.ones(1), 0
    for key, times in alike.items():
        steps = np.array(key) // unit
        kernel = np.bincount(steps - steps[0]) / len(steps)
        chances = np.convolve(chances, _power(kernel, times))
        least += int(steps[0]) * times
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
