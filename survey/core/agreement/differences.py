"""How much more often one measure is credited than another, and how sure that is.

For a pair m, m' each response has a difference d = vote for m minus vote for m', in
[-1, 1]. Two estimands: over these questions (T1) the participants are the sample; over
questions of this kind (T2) the questions are one too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from survey.core.agreement.chance import REPLICATES, Chance, add_one, never_zero
from survey.core.agreement.credits import Credits
from survey.core.agreement.results import T1, T2, Interval, Statistic

# Every share of a split vote among 2 to 6 measures is a multiple of 1/60.
SHARES_OF_A_VOTE = 60
LARGEST_CONVOLUTION = 20_000_000  # additions: a tenth of a second

NOBODY = "no response is counted"


@dataclass(frozen=True)
class Pair:
    """Two measures, compared as first minus second."""

    first: str
    second: str

    def __str__(self) -> str:
        return f"{self.first}-{self.second}"


def pairs(measures: Sequence[str]) -> list[Pair]:
    """Return every pair, the later measure first: MNRO-NMRR, MNRO-AP, NMRR-AP."""
    return [Pair(*both) for both in combinations(reversed(measures), 2)]


def differences(credits: Credits, pair: Pair) -> NDArray[np.float64]:
    """Return d for each response, shape (responses,), in [-1, 1]."""
    first, second = (credits.measures.index(name) for name in (pair.first, pair.second))
    d: NDArray[np.float64] = credits.votes[:, first] - credits.votes[:, second]
    return d


@dataclass(frozen=True, kw_only=True)
class MeanTest(Statistic):
    """A t test of a mean against 0, with the mean's 95 % interval.

    ``mean``: of the responses (T2), or of the participants' means (T1), which differ
    where some participants answered fewer questions.
    """

    mean: float | None = None
    se: float | None = None
    t: float | None = None
    df: int | None = None
    p: float | None = None
    p_holm: float | None = None
    ci95: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class TwoWay(MeanTest):
    """T2. ``variance``: "two-way", or "larger one-way" where the two-way one is not positive."""

    variance: str | None = None


@dataclass(frozen=True, kw_only=True)
class ParticipantsTest(MeanTest):
    """T1. ``sign_flip_p``: two-sided, over participants' means; ``method``: how it was had."""

    sign_flip_p: float | None = None
    method: str | None = None


@dataclass(frozen=True, kw_only=True)
class QuestionsTest(Statistic):
    """T2 by questions: credits summed in a question, its sign won, lost or tied.

    ``sign_p``: exact two-sided sign test, ties dropped; ``sign_flip_p``: exact
    two-sided randomisation of the signs of the sums.
    """

    won: int
    lost: int
    tied: int
    sign_p: float | None = None
    sign_flip_p: float | None = None
    sign_flip_p_holm: float | None = None


def two_way(
    d: NDArray[np.float64], participants: NDArray[np.str_], questions: NDArray[np.int64]
) -> TwoWay:
    """Test the mean of d over participants and questions alike (T2).

    The mean's variance is V = Vp + Vs - V0, clustered by participant, by question and
    by neither, each with the small-sample factor G/(G-1), as statsmodels computes OLS
    on a constant; max(Vp, Vs) where V is not positive. t has min(P, S) - 1 degrees of
    freedom (Cameron, Gelbach & Miller 2011). d, participants, questions: (responses,).
    """
    people, sets = len(set(participants.tolist())), len(set(questions.tolist()))
    frame: dict[str, Any] = {"estimand": T2, "n": len(d), "unit": "responses"}
    if people < 2 or sets < 2:
        why = NOBODY if not len(d) else "a two-way test needs two participants and two questions"
        return TwoWay(**frame, why=why)
    if np.ptp(d) == 0:
        return TwoWay(**frame, why=_no_spread(d))
    variance, which = _two_way_variance(d, participants, questions)
    if variance <= 0:
        return TwoWay(**frame, why="every participant's and every question's mean is the same")
    return TwoWay(
        **frame,
        **t_test(float(d.mean()), math.sqrt(variance), min(people, sets) - 1),
        variance=which,
    )


def _two_way_variance(
    d: NDArray[np.float64], participants: NDArray[np.str_], questions: NDArray[np.int64]
) -> tuple[float, str]:
    # statsmodels brings pandas along: loaded where it is used, so that pages start quickly.
    from statsmodels.regression.linear_model import OLS
    from statsmodels.stats.sandwich_covariance import cov_cluster_2groups

    groups = [np.unique(group, return_inverse=True)[1] for group in (participants, questions)]
    fitted = OLS(d, np.ones(len(d))).fit()
    both, by_participant, by_question = (
        covariance.item() for covariance in cov_cluster_2groups(fitted, *groups)
    )
    negligible = 1e-12 * float(d.var()) / len(d)
    if both > negligible:
        return both, "two-way"
    larger = max(by_participant, by_question)
    return (larger if larger > negligible else 0.0), "larger one-way"


def by_participants(d: NDArray[np.float64], participants: NDArray[np.str_]) -> ParticipantsTest:
    """Test the mean of the participants' mean differences (T1): t and sign flips."""
    sums = _sums(d, participants)
    sizes = np.unique(participants, return_counts=True)[1]
    means = [total / int(size) for total, size in zip(sums, sizes, strict=True)]
    frame: dict[str, Any] = {"estimand": T1, "n": len(means), "unit": "participants"}
    if not means:
        return ParticipantsTest(**frame, why=NOBODY)
    p, method = sign_flip(means)
    frame |= {"sign_flip_p": p, "method": method}
    if len(means) < 2:
        return ParticipantsTest(**frame, why="a t test needs two participants")
    if len(set(means)) == 1:
        return ParticipantsTest(**frame, why="all participants have the same mean")
    floats = np.array([float(mean) for mean in means])
    se = float(floats.std(ddof=1) / math.sqrt(len(floats)))
    return ParticipantsTest(**frame, **t_test(float(floats.mean()), se, len(floats) - 1))


def by_questions(d: NDArray[np.float64], questions: NDArray[np.int64], asked: int) -> QuestionsTest:
    """Count the questions a measure wins, and flip their sums' signs (T2, no normality).

    ``asked``: how many questions there are; one that nobody answered is tied.
    """
    sums = _sums(d, questions)
    won, lost = sum(total > 0 for total in sums), sum(total < 0 for total in sums)
    decided = won + lost
    return QuestionsTest(
        estimand=T2,
        n=asked,
        unit="questions",
        won=won,
        lost=lost,
        tied=asked - decided,
        sign_p=float(stats.binomtest(won, decided).pvalue) if decided else None,
        sign_flip_p=sign_flip(sums)[0] if sums else None,
        why=None if decided else "no question has more credits for one than for the other",
    )


def t_test(mean: float, se: float, df: int) -> dict[str, Any]:
    """Return a mean with its t, two-sided p, and 95 % interval."""
    t = mean / se
    reach = float(stats.t.ppf(0.975, df)) * se
    return {
        "mean": mean,
        "se": se,
        "t": t,
        "df": df,
        "p": float(2 * stats.t.sf(abs(t), df)),
        "ci95": (mean - reach, mean + reach),
    }


def sign_flip(values: Sequence[Fraction]) -> tuple[float, str]:
    """Return the two-sided p of the sum when every sign is equally likely, and the method.

    Exact by convolution of the values' ±1/2 distributions; where their common
    denominator makes that too long, 10,000 random flips and (b + 1)/(B + 1).
    """
    denominator = math.lcm(*(value.denominator for value in values))
    whole = [int(value * denominator) for value in values]
    reach = sum(map(abs, whole))
    if reach * len(whole) > LARGEST_CONVOLUTION:
        return _random_flips([float(value) for value in values]), "Monte Carlo"
    probability = np.zeros(2 * reach + 1)
    probability[reach] = 1
    for step in map(abs, whole):
        probability = (np.roll(probability, step) + np.roll(probability, -step)) / 2
    at_least = np.abs(np.arange(-reach, reach + 1)) >= abs(sum(whole))
    return never_zero(float(probability[at_least].sum())), "exact"


def _random_flips(values: Sequence[float]) -> float:
    totals, chance = np.zeros(REPLICATES), Chance()
    for value in values:
        totals += value * (2 * chance.below(2) - 1)
    return add_one(np.abs(totals) >= abs(math.fsum(values)) - 1e-12)


def _sums(d: NDArray[np.float64], groups: NDArray[Any]) -> list[Fraction]:
    """Add d up within each group, exactly, groups in sorted order."""
    names, codes = np.unique(groups, return_inverse=True)
    whole = np.bincount(codes, np.round(d * SHARES_OF_A_VOTE), minlength=len(names))
    return [Fraction(int(total), SHARES_OF_A_VOTE) for total in whole]


def _no_spread(d: NDArray[np.float64]) -> str:
    if d[0] == 0:
        return "it is 0 in every response, so there is no spread to test against"
    return "it is the same in every response, so there is no spread to test against"
