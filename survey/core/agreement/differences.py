"""How much more often one measure is credited than another, and how sure that is.

For a pair m, m' each response has a difference d = vote for m minus vote for m', in
[-1, 1]; it is stored once for each of the K distinct ballots, with the ballots' counts.
Two estimands: over these questions (T1) the participants are the sample; over questions of
this kind (T2) the questions are a sample too.

The label permutation needs neither. Which measure was behind which label was drawn for each
response, so under "the measures do not matter" every redraw of the labels was as likely as the
one that happened. The clicks stay on their labels; the credits are computed again. The test is
exact under the blinding, and its null mean is the advantage that identical orders give.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, product
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.agreement.answers import distinct_keys
from survey.core.agreement.credits import (
    SHARES_OF_A_VOTE,
    Credits,
    credited_measures,
    in_sixtieths,
    whole,
)
from survey.core.statistics import significance
from survey.core.statistics.significance import (
    MOST_SINGLE_DRAWS,
    REPLICATES,
    MeanTest,
    RandomStream,
    Statistic,
    exact_p,
    monte_carlo_p,
    sign_flip,
    sign_test,
    t_test,
)
from survey.core.studies.rankings import Ranking

T1 = "these questions, a population of participants"
T2 = "questions of this kind, a population of participants"
BLINDING = "these answers, measures redrawn behind their labels"
DESCRIPTIVE = "descriptive: these answers only"

NO_RESPONSES = "no response is counted"
SAME_MEANS = "all participants have the same mean"


@dataclass(frozen=True)
class Pair:
    """Two measures, compared as first minus second: MNRO-NMRR in files."""

    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.first}-{self.second}"

    @property
    def title(self) -> str:
        """MNRO − NMRR: the pair as people read it."""
        return f"{self.first} − {self.second}"


@dataclass(frozen=True, kw_only=True)
class TwoWay(MeanTest):
    """A test of the responses' mean difference (T2).

    ``variance``: "two-way", or "larger one-way" where the two-way variance is not positive.
    """

    variance: str | None = None


@dataclass(frozen=True, kw_only=True)
class ParticipantsTest(MeanTest):
    """A test of the responses' mean difference, clustered by participant (T1).

    ``sign_flip_p``: two-sided, over participants' sums; ``method``: "exact" or "Monte Carlo".
    """

    sign_flip_p: float | None = None
    method: str | None = None


@dataclass(frozen=True, kw_only=True)
class QuestionsTest(Statistic):
    """A test of the questions' summed credits (T2): their signs won, lost or tied.

    ``sign_p``: exact two-sided sign test, ties dropped; ``sign_flip_p``: exact
    two-sided randomisation of the signs of the sums.
    """

    won: int
    lost: int
    tied: int
    sign_p: float | None = None
    sign_flip_p: float | None = None
    sign_flip_p_holm: float | None = None


@dataclass(frozen=True, kw_only=True)
class McNemar(Statistic):
    """``n10``: responses for the first and not the second, ``n01`` the reverse; exact p.

    It treats responses as independent, which those of one participant and of one question
    are not: in simulation it rejects 16.6 % of true null hypotheses at a nominal 5 %.
    Readers expect it, as a description of these answers.
    """

    n10: int
    n01: int
    p: float | None = None
    p_holm: float | None = None


def pairs(measures: Sequence[str]) -> list[Pair]:
    """Return every pair, the later measure first: MNRO-NMRR, MNRO-AP, NMRR-AP."""
    return [Pair(*both) for both in combinations(reversed(measures), 2)]


def differences(credits: Credits, pair: Pair) -> NDArray[np.float64]:
    """Return d of each ballot, shape (K,), in [-1, 1]."""
    first, second = (credits.measures.index(name) for name in (pair.first, pair.second))
    d: NDArray[np.float64] = credits.votes[:, first] - credits.votes[:, second]
    return d


def mean_of(d: NDArray[np.float64], credits: Credits) -> float | None:
    """Average d over the responses; sums are of whole sixtieths, so the mean is exact.

    None where no response is counted.
    """
    if not len(credits):
        return None
    return int(credits.counts @ in_sixtieths(d)) / (SHARES_OF_A_VOTE * len(credits))


def two_way(d: NDArray[np.float64], credits: Credits) -> TwoWay:
    """Test the mean of d, (K,), over participants and questions alike (T2).

    The mean's variance is V = Vp + Vs - V0, clustered by participant, by question and
    by neither, each G/(G-1) Σ (sum of residuals in a cluster)² / n², as statsmodels
    computes OLS on a constant with two groups; max(Vp, Vs) where V is not positive. t has
    min(P, S) - 1 degrees of freedom (Cameron, Gelbach & Miller 2011).
    """
    participants = int(np.count_nonzero(credits.answer_counts))
    questions = len(np.unique(credits.questions[credits.counts > 0]))
    result = partial(TwoWay, estimand=T2, n=len(credits), unit="responses")
    mean = mean_of(d, credits)
    if mean is None:
        return result(why=NO_RESPONSES)
    if participants < 2 or questions < 2:
        return result(why="a two-way test needs two participants and two questions")
    counted = d[credits.counts > 0]
    if np.ptp(counted) == 0:
        same = "the same" if counted[0] else "0"
        return result(why=f"it is {same} in every response, so there is no spread to test against")
    variance, which = _two_way_variance(d, mean, credits)
    if variance <= 0:
        return result(why="every participant's and every question's mean is the same")
    df = min(participants, questions) - 1
    return result(**t_test(mean, math.sqrt(variance), df), variance=which)


def _two_way_variance(d: NDArray[np.float64], mean: float, credits: Credits) -> tuple[float, str]:
    n, residuals = len(credits), d - mean
    squares = float(credits.counts @ residuals**2)
    sums = credits.sixtieths_by_participant(d) / SHARES_OF_A_VOTE - credits.answer_counts * mean
    by_participant = _clustered(sums[credits.answer_counts > 0], n)
    counted = credits.counts > 0
    numbers, index = np.unique(credits.questions[counted], return_inverse=True)
    weighed = (credits.counts * residuals)[counted]
    by_question = _clustered(np.bincount(index, weighed, len(numbers)), n)
    both = by_participant + by_question - squares / n / (n - 1)
    negligible = 1e-12 * squares / n**2
    if both > negligible:
        return both, "two-way"
    larger = max(by_participant, by_question)
    return (larger if larger > negligible else 0.0), "larger one-way"


def _clustered(sums: NDArray[Any], n: int) -> float:
    return len(sums) / (len(sums) - 1) * float(sums @ sums) / n**2


def by_participants(d: NDArray[np.float64], credits: Credits) -> ParticipantsTest:
    """Test the mean of d, (K,), over participants by t and by sign flips (T1).

    The mean of the responses is a ratio of participants' sums to their numbers of answers; its
    variance is P/(P-1) Σ (sum of a participant's residuals)² / n², as statsmodels computes OLS
    on a constant with one group. Where all answered equally many it is that of the participants'
    means. The flips are of participants' sums.
    """
    answered = credits.answer_counts > 0
    counts = credits.answer_counts[answered]
    sums = credits.sixtieths_by_participant(d)[answered]
    result = partial(ParticipantsTest, estimand=T1, n=len(sums), unit="participants")
    mean = mean_of(d, credits)
    if mean is None:
        return result(why=NO_RESPONSES)
    least = int(sums.min())
    keys, index = distinct_keys(sums - least, int(sums.max()) - least + 1)
    p, method = sign_flip([Fraction(key + least, SHARES_OF_A_VOTE) for key in keys.tolist()], index)
    result = partial(result, mean=mean, sign_flip_p=p, method=method)
    if len(sums) < 2:
        return result(why="a t test needs two participants")
    if not (sums * counts.sum() - counts * sums.sum()).any():  # whole numbers, so exact
        return result(why=SAME_MEANS)
    variance = _clustered(sums / SHARES_OF_A_VOTE - counts * mean, len(credits))
    t = t_test(mean, math.sqrt(variance), len(sums) - 1)
    return replace(result(), **t)


def by_questions(d: NDArray[np.float64], credits: Credits, asked: int) -> QuestionsTest:
    """Count the questions a measure wins, and flip their sums' signs (T2, no normality).

    d: (K,); ``asked``: how many questions there are; an unanswered question is tied.
    """
    counted = credits.counts > 0
    weighed = (credits.counts * in_sixtieths(d))[counted]
    numbers, index = np.unique(credits.questions[counted], return_inverse=True)
    # Whole numbers below 2^53, which floats add up exactly.
    totals = np.bincount(index, weighed, len(numbers))
    sums = [Fraction(int(total), SHARES_OF_A_VOTE) for total in totals]
    won, lost = sum(total > 0 for total in sums), sum(total < 0 for total in sums)
    return QuestionsTest(
        estimand=T2,
        n=asked,
        unit="questions",
        won=won,
        lost=lost,
        tied=asked - won - lost,
        sign_p=sign_test(won, lost),
        sign_flip_p=sign_flip(sums, np.arange(len(sums)))[0] if sums else None,
        why=None if won + lost else "no question has more credits for one than for the other",
    )


def mcnemar(credits: Credits, pair: Pair) -> McNemar:
    """Test whether responses that credit only one of two measures favour either (exact)."""
    d = differences(credits, pair)
    n10, n01 = int(credits.counts @ (d > 0)), int(credits.counts @ (d < 0))
    return McNemar(
        estimand=DESCRIPTIVE,
        n=len(credits),
        unit="responses",
        n10=n10,
        n01=n01,
        p=sign_test(n10, n01),
        why=None if n10 + n01 else "no response credits one of the two without the other",
    )


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
    """The equally likely credits, under redrawn labels, of responses of a kind.

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
    first, second = (credits.measures.index(name) for name in (pair.first, pair.second))
    possible = [
        (group.credits[:, first] - group.credits[:, second], group.responses)
        for group in redraws.outcomes
    ]
    mean = math.fsum(count * steps.mean() for steps, count in possible)
    lead = int(credits.counts @ in_sixtieths(differences(credits, pair))) / SHARES_OF_A_VOTE
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
        totals, chances = _lead_distribution(possible)
        p = float(chances[np.abs(totals - mean) >= distance].sum())
        return replace(frame, p=exact_p(p), method="exact")
    votes = redraws.totals.votes
    beyond = np.abs(votes[:, first] - votes[:, second] - mean) >= distance
    return replace(frame, p=monte_carlo_p(beyond), method="Monte Carlo")


def _lead_distribution(
    possible: list[tuple[NDArray[np.float64], int]],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every lead that redraws can give, and its chance."""
    alike: dict[tuple[int, ...], int] = {}
    for steps, count in possible:
        key = tuple(sorted(in_sixtieths(steps).tolist()))
        alike[key] = alike.get(key, 0) + count
    unit = math.gcd(*(step for steps in alike for step in steps)) or 1
    chances, least = np.ones(1), 0
    for key, count in alike.items():
        units = np.array(key) // unit
        kernel = np.bincount(units - units[0]) / len(units)
        chances = np.convolve(chances, _convolved(kernel, count))
        least += int(units[0]) * count
    return (least + np.arange(len(chances))) * unit / SHARES_OF_A_VOTE, chances


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


def cochran_q(redraws: Redraws) -> CochranQ:
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
