"""Anchoring: how far people's orderings follow the measures' orderings that they saw.

A study may draw its participants at random among arms: columns shown before people order the lists
themselves, after it, or never. Orderings that were made before any column was seen cannot follow
one, so the difference in agreement from these to the others measures what seeing them does. In the
arm ``before`` people may also tick a measure's column as their answer, and then agree with it
fully. So the effect of that arm is that of seeing and of ticking together.

All arms answer the same questions, and seeing may do more in some than in others. So a difference
is tested over participants and questions alike, as the measures' differences are.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers
from survey.core.agreement.concordance import Compare, ParticipantOrders
from survey.core.agreement.credits import Ballots, Rankings
from survey.core.agreement.differences import least_p
from survey.core.statistics.components import TableSums, effective_df, variance_components
from survey.core.statistics.rater_agreement import agreement_rate, tau_b
from survey.core.statistics.significance import Interval, holm, t_test

Numbers = NDArray[np.float64]

Orderings = tuple[str, str]
"""An arm, and which of its orderings: FIRST or ANSWER."""

BEFORE, AFTER, NEVER = "before", "after", "never"
FIRST, ANSWER = "own ordering first", "answer"
SMALLEST_VARIANCE = 1e-12
NEAREST = "nearest"  # the measure whose order is nearest to a response's
# Compared as first minus second. The second was made before any column was seen; in the last pair,
# which should not differ, the first was too.
ANCHORING_PAIRS = (
    ((BEFORE, ANSWER), (AFTER, FIRST)),
    ((BEFORE, ANSWER), (NEVER, ANSWER)),
    ((AFTER, ANSWER), (AFTER, FIRST)),
    ((AFTER, ANSWER), (NEVER, ANSWER)),
    ((AFTER, FIRST), (NEVER, ANSWER)),
)
COMPARISONS: Mapping[str, Compare] = {"tau_b": tau_b, "agreement_rate": agreement_rate}


@dataclass(frozen=True)
class ArmAgreement:
    """The mean agreement of the orderings of one type in an arm with each measure.

    ``orderings``: FIRST, given before the columns were seen, or ANSWER. ``tau_b`` and
    ``agreement_rate``: measure, or NEAREST, → mean of the responses; None where it is undefined.
    """

    arm: str
    orderings: str
    participants: int
    responses: int
    tau_b: Mapping[str, float | None]
    agreement_rate: Mapping[str, float | None]


@dataclass(frozen=True)
class ArmDifference:
    """The difference between two types of orderings in their mean agreement with a measure.

    ``first``, ``second``: (arm, orderings), compared as first minus second; ``measure``: its name,
    or NEAREST; ``statistic``: "tau_b" or "agreement_rate". The test is over participants and
    questions (``crossed_test``); ``ci95`` and ``p`` are of this difference by itself; ``p_holm`` is
    corrected for all differences of the statistic, and never below what so few questions can show.
    Numbers are None where it is undefined.
    """

    first: Orderings
    second: Orderings
    measure: str
    statistic: str
    mean: float | None = None
    se: float | None = None
    df: float | None = None
    p: float | None = None
    p_holm: float | None = None
    ci95: Interval | None = None
    why: str | None = None


@dataclass(frozen=True)
class Anchoring:
    """The agreement in each arm, and the differences between them."""

    arms: tuple[ArmAgreement, ...]
    differences: tuple[ArmDifference, ...]


@dataclass(frozen=True)
class _Agreements:
    """The responses' agreement with the measures, and with the nearest of each response.

    ``people``, ``questions``: of each response; ``values``: statistic → array of shape
    (responses, measures and NEAREST).
    """

    people: NDArray[np.str_]
    questions: NDArray[np.int64]
    values: Mapping[str, Numbers]


@dataclass(frozen=True)
class Side:
    """The numbers of some participants, each in some of the questions.

    ``people``, ``questions``: of each number; ``values``: the numbers.
    """

    people: NDArray[np.str_]
    questions: NDArray[np.int64]
    values: Numbers

    @classmethod
    def of(cls, agreements: _Agreements, statistic: str, column: int) -> "Side":
        """Return one column, without the responses in which it is undefined."""
        values = agreements.values[statistic][:, column]
        known = np.isfinite(values)
        return cls(agreements.people[known], agreements.questions[known], values[known])

    def minus(self, other: "Side") -> "Side":
        """Return the differences of the same participants in the same questions."""
        own, others = (
            [*zip(side.people.tolist(), side.questions.tolist(), strict=True)]
            for side in (self, other)
        )
        place = {key: row for row, key in enumerate(others)}
        of_own = [row for row, key in enumerate(own) if key in place]
        of_others = [place[own[row]] for row in of_own]
        values = self.values[of_own] - other.values[of_others]
        return Side(self.people[of_own], self.questions[of_own], values)

    @cached_property
    def row(self) -> NDArray[np.int64]:
        """The participant of each number, counted from 0."""
        return np.unique(self.people, return_inverse=True)[1]

    @cached_property
    def table(self) -> TableSums:
        """The sums by participant and question."""
        column, ones = np.unique(self.questions, return_inverse=True)[1], np.ones(len(self.values))
        return TableSums.of(
            np.bincount(self.row, self.values),
            np.bincount(column, self.values),
            np.bincount(self.row, ones),
            np.bincount(column, ones),
            float((self.values**2).sum()),
        )

    @property
    def participants(self) -> tuple[float, float]:
        """The variance of the mean over participants, each left out in turn, and its df."""
        counts = np.bincount(self.row)
        residuals = np.bincount(self.row, self.values - self.values.mean())
        moved = residuals / (len(self.values) - counts)
        people = len(counts)
        variance = (people - 1) / people * float(moved @ moved)
        return variance, float(effective_df(self.table.effective[0]))


def anchoring_of(
    groups: Mapping[Orderings, Answers], rankings: Rankings, measures: Sequence[str]
) -> Anchoring:
    """Compare how far people agree with the measures: between arms, and before and after seeing.

    ``groups``: (arm, FIRST or ANSWER) → the answers, one for each participant and question.
    """
    agreements = {key: _agreements(answers, rankings, measures) for key, answers in groups.items()}
    columns = (*measures, NEAREST)
    return Anchoring(
        tuple(
            _arm(*key, groups[key], of_answers, columns) for key, of_answers in agreements.items()
        ),
        tuple(
            each
            for statistic in COMPARISONS
            for each in _corrected([*_differences(agreements, statistic, columns)])
        ),
    )


def _agreements(answers: Answers, rankings: Rankings, measures: Sequence[str]) -> _Agreements:
    ballots = Ballots.of(answers, rankings, measures)
    orders = ParticipantOrders(ballots)
    values = {}
    for name, compare in COMPARISONS.items():
        of_ballots = orders.against_measures(compare)
        known = ~np.isnan(of_ballots)
        nearest = np.where(known, of_ballots, -np.inf).max(axis=1, keepdims=True)
        columns = np.hstack([of_ballots, np.where(np.isfinite(nearest), nearest, np.nan)])
        values[name] = columns[ballots.ballot_index]
    people = np.repeat(answers.people, ballots.answer_counts)
    return _Agreements(people, ballots.questions[ballots.ballot_index], values)


def _arm(
    arm: str, orderings: str, answers: Answers, agreements: _Agreements, columns: Sequence[str]
) -> ArmAgreement:
    averages: dict[str, Any] = {
        name: dict(zip(columns, map(_mean, values.T), strict=True))
        for name, values in agreements.values.items()
    }
    return ArmAgreement(arm, orderings, len(answers.people), len(answers), **averages)


def _mean(values: Numbers) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None


def _differences(
    agreements: Mapping[Orderings, _Agreements], statistic: str, columns: Sequence[str]
) -> Iterator[tuple[ArmDifference, float]]:
    """Yield each difference, and the smallest p that its questions can show."""
    for first, second in ANCHORING_PAIRS:
        if first in agreements and second in agreements:
            for index, column in enumerate(columns):
                x, y = (Side.of(agreements[arm], statistic, index) for arm in (first, second))
                sides = [x.minus(y)] if first[0] == second[0] else [x, y]
                test, least = crossed_test(sides)
                yield ArmDifference(first, second, column, statistic, **test), least


def _corrected(compared: Sequence[tuple[ArmDifference, float]]) -> Iterator[ArmDifference]:
    """Correct p for all differences, by Holm."""
    corrected = holm([each.p for each, _ in compared])
    for (each, least), p in zip(compared, corrected, strict=True):
        yield replace(each, p_holm=None if p is None else max(p, least))


def crossed_test(sides: Sequence[Side]) -> tuple[dict[str, Any], float]:
    """Test a mean, or the difference of two, over participants and questions.

    The variance is that over participants, who are others on each side, plus that over questions:
    of the questions' own differences, less what the rest gives to these. The degrees of freedom are
    Satterthwaite's. Where all answered all questions, this is the test by components of variance,
    never narrower than that over participants. Also returns the smallest p that can be.
    """
    if min(side.table.rows for side in sides) < 2:
        return {"why": "a test needs two participants on each side"}, 1.0
    means = [float(side.values.mean()) for side in sides]
    mean = means[0] - sum(means[1:])
    questions = np.unique(np.concatenate([side.questions for side in sides]))
    counts = np.array([_by_question(side, questions) for side in sides])
    answered = (counts > 0).all(axis=0)
    if answered.sum() < 2 or min(side.table.rest_df for side in sides) < 1:
        return {"mean": mean, "why": "a test needs two questions that both sides answered"}, 1.0
    sums = [_by_question(side, questions, side.values)[answered] for side in sides]
    signs = np.array([1.0, -1.0])[: len(sides), np.newaxis]
    own = (signs * sums / counts[:, answered]).sum(axis=0)
    rest = np.array([[float(variance_components(side.table).rest)] for side in sides])
    noise = (rest / counts[:, answered]).sum(axis=0).mean()
    weights = (counts / counts.sum(axis=1, keepdims=True)).mean(axis=0)
    share = float((weights**2).sum())
    of_questions = float(np.var(own, ddof=1)) * share
    of_people, dfs = np.array([side.participants for side in sides]).T
    over_people = float(of_people.sum())
    variance = over_people + max(0.0, of_questions - noise * share)
    if variance < SMALLEST_VARIANCE:
        what = "mean" if len(sides) > 1 else "difference"
        return {"mean": mean, "why": f"all participants have the same {what}"}, 1.0
    question_df = float(effective_df(1 / share))
    people_df = over_people**2 / float((of_people**2 / dfs).sum()) if over_people else question_df
    squares = over_people**2 / people_df + of_questions**2 / question_df
    df = max(variance**2 / squares, min(people_df, question_df))
    test = t_test(mean, math.sqrt(variance), df)
    return {name: test[name] for name in ("mean", "se", "df", "p", "ci95")}, least_p(1 / share)


def _by_question(
    side: Side, questions: NDArray[np.int64], weights: Numbers | None = None
) -> NDArray[np.int64 | np.float64]:
    return np.bincount(np.searchsorted(questions, side.questions), weights, len(questions))
