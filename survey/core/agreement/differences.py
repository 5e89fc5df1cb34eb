"""How much more often one measure is credited than another, and how sure that is.

For a pair m, m' each response has a difference d = vote for m minus vote for m', in
[-1, 1]; it is kept once for each of the K distinct ballots, with how many responses are one.
Two estimands: over these questions (T1) the participants are the sample; over questions of
this kind (T2) the questions are one too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.agreement.answers import distinct
from survey.core.agreement.credits import SHARES_OF_A_VOTE, Credits, in_sixtieths
from survey.core.statistics.results import T1, T2, Interval, Statistic
from survey.core.statistics.significance import sign_flip

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
    """Return d of each ballot, shape (K,), in [-1, 1]."""
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


def two_way(d: NDArray[np.float64], credits: Credits) -> TwoWay:
    """Test the mean of d over participants and questions alike (T2); d: (K,).

    The mean's variance is V = Vp + Vs - V0, clustered by participant, by question and
    by neither, each G/(G-1) Σ (sum of residuals in a cluster)² / n², as statsmodels
    computes OLS on a constant with two groups; max(Vp, Vs) where V is not positive. t has
    min(P, S) - 1 degrees of freedom (Cameron, Gelbach & Miller 2011).
    """
    people = int(np.count_nonzero(credits.answered))
    sets = len(np.unique(credits.questions[credits.times > 0]))
    frame: dict[str, Any] = {"estimand": T2, "n": len(credits), "unit": "responses"}
    if people < 2 or sets < 2:
        why = "a two-way test needs two participants and two questions"
        return TwoWay(**frame, why=why if len(credits) else NOBODY)
    there = d[credits.times > 0]
    if np.ptp(there) == 0:
        return TwoWay(**frame, why=_no_spread(there))
    variance, which = _two_way_variance(d, credits)
    if variance <= 0:
        return TwoWay(**frame, why="every participant's and every question's mean is the same")
    return TwoWay(
        **frame,
        **t_test(mean_of(d, credits), math.sqrt(variance), min(people, sets) - 1),
        variance=which,
    )


def mean_of(d: NDArray[np.float64], credits: Credits) -> float:
    """Return the mean over the responses; whole sixtieths are added up, so it is exact."""
    return int(credits.times @ in_sixtieths(d)) / (SHARES_OF_A_VOTE * len(credits))


def _two_way_variance(d: NDArray[np.float64], credits: Credits) -> tuple[float, str]:
    n, mean = len(credits), mean_of(d, credits)
    residuals = d - mean
    squares = float(credits.times @ residuals**2)
    of_people = credits.sums(d) / SHARES_OF_A_VOTE - credits.answered * mean
    by_participant = _clustered(of_people[credits.answered > 0], n)
    numbers, of_question = np.unique(credits.questions[credits.times > 0], return_inverse=True)
    weighed = (credits.times * residuals)[credits.times > 0]
    of_questions = np.bincount(of_question, weighed, len(numbers))
    by_question = _clustered(of_questions, n)
    both = by_participant + by_question - squares / n / (n - 1)
    negligible = 1e-12 * squares / n**2
    if both > negligible:
        return both, "two-way"
    larger = max(by_participant, by_question)
    return (larger if larger > negligible else 0.0), "larger one-way"


def _clustered(sums: NDArray[Any], n: int) -> float:
    return len(sums) / (len(sums) - 1) * float(sums @ sums) / n**2


def by_participants(d: NDArray[np.float64], credits: Credits) -> ParticipantsTest:
    """Test the mean of the participants' mean differences (T1): t and sign flips; d: (K,)."""
    means, places = _means_of_participants(d, credits)
    frame: dict[str, Any] = {"estimand": T1, "n": len(places), "unit": "participants"}
    if not means:
        return ParticipantsTest(**frame, why=NOBODY)
    p, method = sign_flip(means, places)
    frame |= {"sign_flip_p": p, "method": method}
    if len(places) < 2:
        return ParticipantsTest(**frame, why="a t test needs two participants")
    if len(set(means)) == 1:
        return ParticipantsTest(**frame, why="all participants have the same mean")
    floats = np.array([float(mean) for mean in means])[places]
    se = float(floats.std(ddof=1) / math.sqrt(len(floats)))
    return ParticipantsTest(**frame, **t_test(float(floats.mean()), se, len(floats) - 1))


def _means_of_participants(
    d: NDArray[np.float64], credits: Credits
) -> tuple[list[Fraction], NDArray[np.int32]]:
    """Return the distinct means, exactly, and which of them each participant's is.

    Sums and numbers of answers are small whole numbers, so few pairs of them differ.
    """
    there = credits.answered > 0
    sums, answered = credits.sums(d)[there], credits.answered[there]
    if not len(sums):
        return [], np.zeros(0, dtype=np.int32)
    most, least = int(answered.max()) + 1, int(sums.min())
    keys = (sums - least) * most + answered
    found, places = distinct(keys, (int(sums.max()) - least + 1) * most)
    return [
        Fraction(key // most + least, SHARES_OF_A_VOTE * (key % most)) for key in found.tolist()
    ], places


def by_questions(d: NDArray[np.float64], credits: Credits, asked: int) -> QuestionsTest:
    """Count the questions a measure wins, and flip their sums' signs (T2, no normality).

    d: (K,); ``asked``: how many questions there are; one that nobody answered is tied.
    """
    sums = _sums_of_questions(d, credits)
    won, lost = sum(total > 0 for total in sums), sum(total < 0 for total in sums)
    decided = won + lost
    return QuestionsTest(
        estimand=T2,
        n=asked,
        unit="questions",
        won=won,
        lost=lost,
        tied=asked - decided,
        sign_p=float(scipy.stats.binomtest(won, decided).pvalue) if decided else None,
        sign_flip_p=sign_flip(sums, np.arange(len(sums)))[0] if sums else None,
        why=None if decided else "no question has more credits for one than for the other",
    )


def _sums_of_questions(d: NDArray[np.float64], credits: Credits) -> list[Fraction]:
    there = credits.times > 0
    weighed = (credits.times * in_sixtieths(d))[there]
    numbers, places = np.unique(credits.questions[there], return_inverse=True)
    # Whole numbers below 2^53, which floats add up exactly.
    totals = np.bincount(places, weighed, len(numbers))
    return [Fraction(int(total), SHARES_OF_A_VOTE) for total in totals]


def t_test(mean: float, se: float, df: int) -> dict[str, Any]:
    """Return a mean with its t, two-sided p, and 95 % interval."""
    t = mean / se
    reach = float(scipy.stats.t.ppf(0.975, df)) * se
    return {
        "mean": mean,
        "se": se,
        "t": t,
        "df": df,
        "p": float(2 * scipy.stats.t.sf(abs(t), df)),
        "ci95": (mean - reach, mean + reach),
    }


def _no_spread(d: NDArray[np.float64]) -> str:
    if d[0] == 0:
        return "it is 0 in every response, so there is no spread to test against"
    return "it is the same in every response, so there is no spread to test against"
