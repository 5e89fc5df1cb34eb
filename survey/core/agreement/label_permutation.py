"""What redrawing the labels gives: the label permutation, expectations, and Cochran's Q.

Which measure was behind which label was drawn for each response, so under "the measures do not
matter" every redraw of the labels was as likely as the one that happened. The clicks stay on their
labels; the credits are computed again. The test is exact under the blinding, and its null mean is
the advantage that identical orders give.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, product

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.agreement.credits import (
    UNITS_OF_A_VOTE,
    Credits,
    credited_measures,
    in_units,
    whole,
)
from survey.core.agreement.differences import (
    BLINDING,
    DESCRIPTIVE,
    NEGLIGIBLE,
    NO_RESPONSES,
    Pair,
    differences,
)
from survey.core.statistics import significance
from survey.core.statistics.significance import (
    MOST_SINGLE_DRAWS,
    REPLICATES,
    RandomStream,
    Statistic,
    exact_p,
    monte_carlo_p,
)
from survey.core.studies.rankings import Ranking


@dataclass(frozen=True, kw_only=True)
class LabelPermutation(Statistic):
    """The lead of one measure over another under redrawn labels.

    ``lead``: credits of the first minus those of the second, as observed;
    ``null_mean``, ``null_sd``: of the lead under random clicks; ``p``: two-sided about
    the null mean, in (0, 1]; ``method``: "exact" or "Monte Carlo".
    """

    lead: float
    p: float | None = None
    p_holm: float | None = None
    null_mean: float | None = None
    null_sd: float | None = None
    method: str | None = None


@dataclass(frozen=True, kw_only=True)
class CochranQ(Statistic):
    """Cochran's Q over responses (blocks) and measures (treatments).

    ``p``: chi-square with ``df`` = measures - 1, which treats responses as independent and
    so is a description only; ``p_label_permutation``: from 10,000 redraws of the labels.
    """

    blocks: int
    q: float | None = None
    df: int | None = None
    p: float | None = None
    p_label_permutation: float | None = None


@dataclass(frozen=True)
class Outcomes:
    """The equally likely credits, under redrawn labels, of responses that are alike.

    ``responses``: how many share the question and the number of clicks; ``credits``: float
    (subsets, measures).
    """

    responses: int
    credits: NDArray[np.float64]


@dataclass(frozen=True)
class RandomTotals:
    """The credits of all responses in 10,000 redraws of all labels.

    ``votes``: (10,000, measures); ``credited``: likewise, a credit of any weight as 1;
    ``squares``: (10,000,), the squares of the measures credited in a response, added up.
    """

    votes: NDArray[np.float64]
    credited: NDArray[np.int64]
    squares: NDArray[np.int64]


@dataclass(frozen=True)
class Redraws:
    """The credits that redrawn labels would give; custom rankings credit no measure.

    Redrawing the labels puts each subset of the measures behind c clicked columns with
    the same chance, so the C(k, c) subsets are enumerated. Where shared votes are dropped,
    only the subsets count that would not have been dropped, which are equally likely.
    """

    credits: Credits

    @cached_property
    def outcomes(self) -> tuple[Outcomes, ...]:
        """Possible credits of the responses, by question and number of clicks."""
        credits, ballots = self.credits, self.credits.ballots
        outcomes = []
        for question, clicks in product(
            sorted(ballots.rankings), range(1, len(credits.measures) + 1)
        ):
            alike = (ballots.questions == question) & (ballots.clicks == clicks)
            responses = int(credits.counts[alike].sum())
            if responses:
                possible = _possible_credits(credits, ballots.rankings[question], clicks)
                outcomes.append(Outcomes(responses, possible))
        return tuple(outcomes)

    @cached_property
    def expected(self) -> NDArray[np.float64]:
        """The mean credits of each ballot over redrawn labels, (K, measures)."""
        ballots = self.credits.ballots
        expected = np.zeros(ballots.ticked.shape)
        for ballot, clicks in enumerate(ballots.clicks.tolist()):
            if clicks:
                orders = ballots.rankings[int(ballots.questions[ballot])]
                possible = _possible_credits(self.credits, orders, clicks)
                expected[ballot] = possible.mean(axis=0) if len(possible) else 0.0
        return expected

    @cached_property
    def totals(self) -> RandomTotals:
        """The same 10,000 redraws for every test that uses them.

        Up to 20,000 responses the labels of each are redrawn; above that a draw decides how
        many of the responses with the same possible credits get which of them.
        """
        few, stream = len(self.credits) <= MOST_SINGLE_DRAWS, RandomStream()
        draw = stream.tallies if few else stream.multinomial
        measures = len(self.credits.measures)
        votes = np.zeros((REPLICATES, measures))
        credited = np.zeros((REPLICATES, measures), dtype=np.int64)
        squares = np.zeros(REPLICATES, dtype=np.int64)
        for outcomes in self.outcomes if few else _merged(self.outcomes):
            counts = draw(outcomes.responses, len(outcomes.credits))
            any_weight = (outcomes.credits > 0).astype(np.int64)
            votes += counts @ outcomes.credits
            credited += counts @ any_weight
            squares += counts @ any_weight.sum(axis=1) ** 2
        return RandomTotals(votes, credited, squares)


def _possible_credits(
    credits: Credits, orders: Mapping[str, Ranking], clicks: int
) -> NDArray[np.float64]:
    measures = credits.measures
    possible: NDArray[np.float64] = np.array(
        [
            [name in credited_measures(measures, subset, orders) for name in measures]
            for subset in combinations(range(1, len(measures) + 1), clicks)
        ],
        dtype=float,
    )
    if credits.shared == "split":
        possible /= possible.sum(axis=1, keepdims=True)
    if credits.shared == "dropped":
        possible = possible[possible.sum(axis=1) < 2]
    return possible


def _merged(groups: tuple[Outcomes, ...]) -> list[Outcomes]:
    """Merge the groups of different questions that have the same possible credits."""
    merged: dict[tuple[tuple[float, ...], ...], int] = {}
    for group in groups:
        credits = tuple(map(tuple, group.credits.tolist()))
        merged[credits] = merged.get(credits, 0) + group.responses
    return [Outcomes(responses, np.array(credits)) for credits, responses in merged.items()]


def label_permutation(redraws: Redraws, pair: Pair) -> LabelPermutation:
    """Test the lead of one measure over another against random clicks (two-sided).

    p is exact, by convolution of the responses' distributions, up to 20,000 responses;
    above that from 10,000 redraws as (b + 1)/(B + 1).
    """
    credits = redraws.credits
    first, second = map(credits.measures.index, pair)
    possible = [
        (group.credits[:, first] - group.credits[:, second], group.responses)
        for group in redraws.outcomes
    ]
    mean = math.fsum(count * steps.mean() for steps, count in possible)
    lead = int(credits.counts @ in_units(differences(credits, pair))) / UNITS_OF_A_VOTE
    frame = LabelPermutation(
        estimand=BLINDING,
        n=len(credits),
        unit="responses",
        lead=whole(lead),
        null_mean=mean,
        null_sd=math.sqrt(math.fsum(count * steps.var() for steps, count in possible)),
    )
    if not len(credits):
        return replace(frame, why=NO_RESPONSES)
    distance = abs(frame.lead - mean) - 1e-9
    if len(credits) <= MOST_SINGLE_DRAWS:
        totals, chances = lead_distribution(possible)
        p = float(chances[np.abs(totals - mean) >= distance].sum())
        return replace(frame, p=exact_p(p), method="exact")
    votes = redraws.totals.votes
    beyond = np.abs(votes[:, first] - votes[:, second] - mean) >= distance
    return replace(frame, p=monte_carlo_p(beyond), method="Monte Carlo")


def expected_by_redraws(redraws: Redraws, pair: Pair) -> NDArray[np.float64]:
    """Return the mean of d over redrawn labels, for each ballot, (K,); 0 without a click."""
    first, second = map(redraws.credits.measures.index, pair)
    expected: NDArray[np.float64] = redraws.expected[:, first] - redraws.expected[:, second]
    # An exact 0 where no orders are identical, whatever floats add up to.
    return np.where(np.abs(expected) > NEGLIGIBLE, expected, 0.0)


def lead_distribution(
    possible: list[tuple[NDArray[np.float64], int]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every lead that redraws can give, and its chance."""
    alike: dict[tuple[int, ...], int] = {}
    for steps, count in possible:
        key = tuple(sorted(in_units(steps).tolist()))
        alike[key] = alike.get(key, 0) + count
    unit = math.gcd(*(step for steps in alike for step in steps)) or 1
    chances, least = np.ones(1), 0
    for key, count in alike.items():
        units = np.array(key) // unit
        kernel = np.bincount(units - units[0]) / len(units)
        chances = np.convolve(chances, _convolved(kernel, count))
        least += int(units[0]) * count
    return (least + np.arange(len(chances))) * unit / UNITS_OF_A_VOTE, chances


def _convolved(kernel: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Return the distribution of a sum of ``count`` draws, by repeated squaring."""
    result = np.ones(1)
    while count:
        if count % 2:
            result = np.convolve(result, kernel)
        count //= 2
        if count:
            kernel = np.convolve(kernel, kernel)
    return result


def equal_credit_test(redraws: Redraws) -> CochranQ:
    """Test whether all measures are credited equally often (Cochran 1950).

    Split votes are not yes or no, so Q reads a credit of any weight as a yes.
    """
    credits = redraws.credits
    measures, blocks = len(credits.measures), len(credits)
    result = partial(CochranQ, estimand=DESCRIPTIVE, n=blocks, unit="responses", blocks=blocks)
    sums = credits.counts @ credits.credited.astype(np.int64)
    squares = int(credits.counts @ credits.credited.sum(axis=1) ** 2)
    q = float(significance.cochran_q(sums, squares, measures))
    if not np.isfinite(q):
        return result(why="no response tells the measures apart" if blocks else NO_RESPONSES)
    null = significance.cochran_q(redraws.totals.credited, redraws.totals.squares, measures)
    return result(
        q=q,
        df=measures - 1,
        p=float(scipy.stats.chi2.sf(q, measures - 1)),
        # A redraw in which nothing tells the measures apart is no evidence against the null.
        p_label_permutation=monte_carlo_p(np.nan_to_num(null, nan=0.0) >= q - 1e-9),
    )
