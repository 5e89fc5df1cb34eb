"""How much more often one measure is credited than another, and how sure that is.

For a pair m, m' each response has a difference d = vote for m minus vote for m', in
[-1, 1]; it is stored once for each of the K distinct ballots, with the ballots' counts.
Two estimands: over these questions (T1) the participants are the sample; over questions of
this kind (T2) the questions are a sample too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import distinct_keys
from survey.core.agreement.credits import UNITS_OF_A_VOTE, Credits, in_units, is_whole
from survey.core.statistics.components import (
    TableSums,
    VarianceComponents,
    effective_df,
    mean_of_rows,
    variance_components,
)
from survey.core.statistics.significance import (
    Interval,
    MeanTest,
    Statistic,
    rounded,
    sign_flip,
    sign_test,
    t_test,
)

T1 = "these questions, a population of participants"
T2 = "questions of this kind, a population of participants"
BLINDING = "these answers, measures redrawn behind their labels"
DESCRIPTIVE = "descriptive: these answers only"

NO_RESPONSES = "no response is counted"
SAME_EVERYWHERE = "it is the same in every response, so there is no spread to test against"
ZERO_EVERYWHERE = "it is 0 in every response, so there is no spread to test against"
SAME_MEANS = "all participants have the same mean"
EQUAL_MEANS = "every participant's and every question's mean is the same"
NEGLIGIBLE = 1e-12  # of the squares: a variance below it is 0 but for rounding


@dataclass(frozen=True)
class Effective:
    """How many participants and questions of equal weight those of unequal weights are.

    (Σw)²/Σw² with the weight that each has in the variance of the mean. ``uneven``: a sentence
    where a few participants gave most answers.
    """

    participants: float
    questions: float
    uneven: str = ""


@dataclass(frozen=True)
class Correction:
    """For how many ``comparisons`` a p is corrected.

    ``primary``: the pair that the plan names, like MNRO-AP, "" without one. It is tested first and
    by itself, as one comparison; the others count only after it.
    """

    comparisons: int = 1
    primary: str = ""

    def __str__(self) -> str:
        if self.comparisons == 1:
            return "the primary pair by itself" if self.primary else "the only comparison"
        after = f", after the primary pair {self.primary}" if self.primary else ""
        return f"corrected for {self.comparisons} comparisons{after}"


class Pair(NamedTuple):
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
class Components(MeanTest):
    """A test of the responses' mean difference by its components of variance (T2).

    ``participant``, ``question``, ``rest``: the estimated variances of d, the first two below 0
    now and then; ``p_step``: p corrected for all pairs, by the largest |t| and stepping down.
    ``ci95`` is never narrower than the interval for these questions, which is part of it.
    ``se_independent``: the standard error if all responses were independent of one another, which
    may be the larger one; planning and pooling use the larger.
    """

    participant: float | None = None
    question: float | None = None
    rest: float | None = None
    p_step: float | None = None
    se_independent: float | None = None


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
    are not: it rejects a sixth of true null hypotheses at 5 % (benchmarks/calibration.md).
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
    first, second = map(credits.measures.index, pair)
    d: NDArray[np.float64] = credits.votes[:, first] - credits.votes[:, second]
    return d


def mean_of(d: NDArray[np.float64], credits: Credits) -> float | None:
    """Average d over the responses; the sum of whole units is exact.

    None where no response is counted.
    """
    if not len(credits):
        return None
    if is_whole(d):
        return int(credits.counts @ in_units(d)) / (UNITS_OF_A_VOTE * len(credits))
    return float(credits.counts @ d) / len(credits)


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
    if why := _without_spread(d, credits):
        return result(why=why)
    variance, which = _two_way_variance(d, mean, credits)
    if variance <= 0:
        return result(why=EQUAL_MEANS)
    df = min(participants, questions) - 1
    return result(**t_test(mean, math.sqrt(variance), df), variance=which)


def _without_spread(d: NDArray[np.float64], credits: Credits) -> str | None:
    """Return why nothing can be tested if d is the same in every response, else None."""
    counted = d[credits.counts > 0]
    if np.ptp(counted):
        return None
    return SAME_EVERYWHERE if counted[0] else ZERO_EVERYWHERE


def _two_way_variance(d: NDArray[np.float64], mean: float, credits: Credits) -> tuple[float, str]:
    n, residuals = len(credits), d - mean
    squares = float(credits.counts @ residuals**2)
    sums = credits.units_by_participant(d) / UNITS_OF_A_VOTE - credits.answer_counts * mean
    by_participant = _clustered(sums[credits.answered], n)
    by_question = _clustered(credits.sum_by_question(residuals), n)
    both = by_participant + by_question - squares / n / (n - 1)
    negligible = NEGLIGIBLE * squares / n**2
    if both > negligible:
        return both, "two-way"
    larger = max(by_participant, by_question)
    return (larger if larger > negligible else 0.0), "larger one-way"


def _clustered(sums: NDArray[np.float64], n: int) -> float:
    return len(sums) / (len(sums) - 1) * float(sums @ sums) / n**2


@dataclass(frozen=True)
class BallotSums:
    """The values d of ballots, (K,), added up by participant and by question.

    ``counts``, ``sums``: of each participant with a counted response; ``table``: the sums by which
    the variance is split, ``parts``: its components, None with too few responses for them.
    """

    credits: Credits
    d: NDArray[np.float64]
    mean: float | None
    counts: NDArray[np.int64]
    sums: NDArray[np.float64]
    table: TableSums
    parts: VarianceComponents | None

    @classmethod
    def of(cls, d: NDArray[np.float64], credits: Credits) -> "BallotSums":
        """Add up; sums of whole units of a vote are exact, so equal ones are equal."""
        counts = credits.answer_counts[credits.answered]
        sums = credits.sum_by_participant(d)[credits.answered]
        by_question = credits.sum_by_cluster(d)
        question_counts = credits.sum_by_cluster(np.ones_like(d))
        squares = float(credits.counts @ d**2)
        table = TableSums.of(sums, by_question, counts.astype(float), question_counts, squares)
        enough = table.rows > 1 and table.columns > 1 and table.rest_df > 0
        parts = variance_components(table) if enough else None
        return cls(credits, d, mean_of(d, credits), counts, sums, table, parts)

    @cached_property
    def effective(self) -> Effective:
        """The effective numbers of participants and of questions; 0 without a response."""
        if self.mean is None:
            return Effective(0.0, 0.0)
        people, questions = map(float, (self.parts or self.table).effective)
        uneven = ""
        if people < self.table.rows / 2:
            alike = rounded(people)
            uneven = f"A few people gave most answers: all weigh as much as {alike} people."
        return Effective(people, questions, uneven)


def components(spread: BallotSums, these_questions: MeanTest) -> Components:
    """Test a mean over participants and questions by variance components (T2).

    ``these_questions``: the test of the same values over these questions.
    """
    credits, mean, table = spread.credits, spread.mean, spread.table
    result = partial(Components, estimand=T2, n=len(credits), unit="responses")
    if mean is None:
        return result(why=NO_RESPONSES)
    if why := _without_spread(spread.d, credits):
        return result(mean=mean, se_independent=0.0, why=why)
    if spread.parts is None:
        return result(
            mean=mean,
            why="it needs two participants, two questions and as many responses as both together",
        )
    parts, n = spread.parts, len(credits)
    variance = float(parts.variance)
    if variance <= NEGLIGIBLE * table.squares / n**2:
        return result(mean=mean, why=EQUAL_MEANS)
    # Added up exactly, so that the order of the ballots changes no digit.
    residuals = math.fsum((credits.counts * (spread.d - mean) ** 2).tolist())
    test = result(
        participant=float(parts.row),
        question=float(parts.column),
        rest=float(parts.rest),
        se_independent=math.sqrt(residuals / n / (n - 1)),
        **t_test(mean, math.sqrt(variance), float(parts.df)),
    )
    return replace(test, ci95=hull(test.ci95, these_questions.ci95))


def hull(first: Interval | None, second: Interval | None) -> Interval | None:
    """Return the smallest interval that holds both, or the one that there is."""
    known = [interval for interval in (first, second) if interval]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def t_by_participants(spread: BallotSums) -> MeanTest:
    """Test a mean over participants by t (T1).

    The mean of the responses is a ratio of participants' sums to their numbers of answers. Its
    variance is (P-1)/P Σ (r_p / (n - n_p))², r_p the sum of a participant's residuals: how far the
    mean moves when each participant in turn is left out (Bell and McCaffrey 2002). The degrees of
    freedom are those of the effective number of participants. Where all answered equally many it
    is the test of the participants' means.
    """
    counts, sums, mean = spread.counts, spread.sums, spread.mean
    result = partial(MeanTest, estimand=T1, n=len(sums), unit="participants")
    if mean is None:
        return result(why=NO_RESPONSES)
    if len(sums) < 2:
        return result(mean=mean, why="a t test needs two participants")
    n = int(counts.sum())
    residuals = sums - counts * mean
    moved = residuals / (n - counts)
    variance = (len(sums) - 1) / len(sums) * float(moved @ moved)
    if variance <= NEGLIGIBLE * spread.table.squares / n**2:
        return result(mean=mean, why=SAME_MEANS)
    df = float(effective_df(spread.effective.participants))
    return result(**t_test(mean, math.sqrt(variance), df))


def participants_counted_equally(spread: BallotSums) -> MeanTest:
    """Test the mean of the participants' means, each of the same weight, as ``components`` does.

    The interval is never narrower than that for these questions, by t over the means.
    """
    counts, people = spread.counts, len(spread.counts)
    result = partial(MeanTest, estimand=T2, n=people, unit="participants")
    if spread.mean is None:
        return result(why=NO_RESPONSES)
    means = spread.sums / counts
    mean = spread.mean if np.ptp(counts) == 0 else float(means.mean())
    if spread.parts is None:
        return result(mean=mean, why="it needs two participants and two questions")
    weights = spread.credits.question_weights_of_people()
    variance, df = mean_of_rows(spread.parts, counts, weights)
    if variance <= NEGLIGIBLE * spread.table.squares / len(spread.credits) ** 2:
        return result(mean=mean, why=EQUAL_MEANS)
    test = result(**t_test(mean, math.sqrt(variance), float(df)))
    of_these = np.var(means, ddof=1) / people
    these = t_test(mean, math.sqrt(of_these), people - 1)["ci95"] if of_these else None
    return replace(test, ci95=hull(test.ci95, these))


def by_participants(spread: BallotSums) -> ParticipantsTest:
    """Test a mean over participants by t and by flips of their sums' signs (T1).

    Sums that are no whole units of a vote are flipped only where t is undefined.
    """
    test = t_by_participants(spread)
    if test.mean is None or (test.p is not None and not is_whole(spread.sums)):
        return ParticipantsTest(**vars(test))
    units = in_units(spread.sums)
    least = int(units.min())
    keys, index = distinct_keys(units - least, int(units.max()) - least + 1)
    p, method = sign_flip([Fraction(key + least, UNITS_OF_A_VOTE) for key in keys.tolist()], index)
    return ParticipantsTest(**vars(test), sign_flip_p=p, method=method)


@dataclass(frozen=True)
class ScopeTest:
    """What is decided of a population.

    ``p``: corrected for all comparisons and never below what so few participants and questions
    can show. ``ci95``: of this comparison by itself;
    ``ci95_simultaneous``: of all comparisons together. ``why``: the reason why one of them is None.
    """

    p: float | None
    ci95: Interval | None = None
    ci95_simultaneous: Interval | None = None
    why: str | None = None


def least_p(effective: float) -> float:
    """Return the smallest p that is possible with so many participants or questions."""
    return float(min(1.0, 2.0 ** (1 - effective)))


def p_of_these(test: ParticipantsTest, effective: Effective) -> float | None:
    """Return p for these questions (T1), not corrected.

    Where all participants have the same mean, by exact flips of their sums' signs.
    """
    p = test.p
    if test.why == SAME_MEANS and test.mean:
        p = test.sign_flip_p
    return None if p is None else max(p, least_p(effective.participants))


def by_questions(d: NDArray[np.float64], credits: Credits, asked: int) -> QuestionsTest:
    """Count the questions a measure wins, and flip their sums' signs (T2, no normality).

    d: (K,); ``asked``: how many questions there are; an unanswered question is tied.
    """
    # Whole numbers below 2^53, which floats add up exactly.
    totals = credits.sum_by_question(in_units(d))
    sums = [Fraction(int(total), UNITS_OF_A_VOTE) for total in totals]
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
