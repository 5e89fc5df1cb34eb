"""Anchoring: how far people's orderings follow the measures' orderings that they saw.

A study may draw its participants at random among arms: columns shown before people order the lists
themselves, after it, or never. Orderings that were made before any column was seen cannot follow
one, so the difference in agreement from these to the others measures what seeing them does. In the
arm ``before`` people may also tick a measure's column as their answer, and then agree with it
fully. So the effect of that arm is that of seeing and of ticking together.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers
from survey.core.agreement.concordance import Compare, ParticipantOrders, means_by_participant
from survey.core.agreement.credits import Ballots, Rankings
from survey.core.statistics.rater_agreement import agreement_rate, tau_b
from survey.core.statistics.significance import Interval, t_test

Orderings = tuple[str, str]
"""An arm, and which of its orderings: FIRST or ANSWER."""

BEFORE, AFTER, NEVER = "before", "after", "never"
FIRST, ANSWER = "own ordering first", "answer"
NO_SPREAD = 1e-12
NEAREST = "nearest"  # the measure whose order is nearest to a response's
# Compared as first minus second. The second was made before any column was seen; in the last pair,
# which should not differ, the first was too.
PAIRS = (
    ((BEFORE, ANSWER), (AFTER, FIRST)),
    ((BEFORE, ANSWER), (NEVER, ANSWER)),
    ((AFTER, ANSWER), (AFTER, FIRST)),
    ((AFTER, ANSWER), (NEVER, ANSWER)),
    ((AFTER, FIRST), (NEVER, ANSWER)),
)
COMPARISONS: Mapping[str, Compare] = {"tau_b": tau_b, "agreement_rate": agreement_rate}


@dataclass(frozen=True)
class ArmAgreement:
    """The mean agreement of the orderings of one kind in an arm with each measure.

    ``orderings``: FIRST, given before the columns were seen, or ANSWER. ``tau_b`` and
    ``agreement_rate``: measure, or NEAREST, → mean of the participants' means; None where it is
    undefined.
    """

    arm: str
    orderings: str
    participants: int
    responses: int
    tau_b: Mapping[str, float | None]
    agreement_rate: Mapping[str, float | None]


@dataclass(frozen=True)
class ArmDifference:
    """The difference between two kinds of orderings in their mean agreement with a measure.

    ``first``, ``second``: (arm, orderings), compared as first minus second; ``measure``: its name,
    or NEAREST; ``statistic``: "tau_b" or "agreement_rate". The t test is Welch's, or paired where
    both orderings are of the same participants; numbers are None where it is undefined.
    """

    first: Orderings
    second: Orderings
    measure: str
    statistic: str
    mean: float | None = None
    df: float | None = None
    p: float | None = None
    ci95: Interval | None = None
    why: str | None = None


@dataclass(frozen=True)
class Anchoring:
    """The agreement in each arm, and the differences between them."""

    arms: tuple[ArmAgreement, ...]
    differences: tuple[ArmDifference, ...]


@dataclass(frozen=True)
class _Means:
    """The participants' mean agreement with the measures, and with the nearest of each response.

    ``values``: statistic → array of shape (participants, measures and NEAREST).
    """

    ids: NDArray[np.str_]
    responses: int
    values: Mapping[str, NDArray[np.float64]]


def anchoring_of(
    groups: Mapping[Orderings, Answers], rankings: Rankings, measures: Sequence[str]
) -> Anchoring:
    """Compare how far people agree with the measures: between arms, and before and after seeing.

    ``groups``: (arm, FIRST or ANSWER) → the answers, one for each participant and question.
    """
    means = {
        key: _participant_means(answers, rankings, measures) for key, answers in groups.items()
    }
    columns = (*measures, NEAREST)
    return Anchoring(
        tuple(_agreement(*key, of, columns) for key, of in means.items()),
        tuple(_differences(means, columns)),
    )


def _participant_means(answers: Answers, rankings: Rankings, measures: Sequence[str]) -> _Means:
    ballots = Ballots.of(answers, rankings, measures)
    orders = ParticipantOrders(ballots)
    values = {}
    for name, compare in COMPARISONS.items():
        of_ballots = orders.against_measures(compare)
        known = ~np.isnan(of_ballots)
        nearest = np.where(known, of_ballots, -np.inf).max(axis=1, keepdims=True)
        columns = np.hstack([of_ballots, np.where(np.isfinite(nearest), nearest, np.nan)])
        values[name] = means_by_participant(ballots, columns)
    return _Means(answers.people, len(answers), values)


def _agreement(arm: str, orderings: str, means: _Means, columns: Sequence[str]) -> ArmAgreement:
    averages: dict[str, Any] = {
        name: dict(zip(columns, map(_mean, values.T), strict=True))
        for name, values in means.values.items()
    }
    return ArmAgreement(arm, orderings, len(means.ids), means.responses, **averages)


def _mean(values: NDArray[np.float64]) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None


def _differences(
    means: Mapping[Orderings, _Means], columns: Sequence[str]
) -> Iterator[ArmDifference]:
    for first, second in PAIRS:
        if first in means and second in means:
            for statistic, (index, column) in product(COMPARISONS, enumerate(columns)):
                x, y = (means[side].values[statistic][:, index] for side in (first, second))
                if is_paired := first[0] == second[0]:
                    ids = (means[first].ids, means[second].ids)
                    _, of_x, of_y = np.intersect1d(*ids, return_indices=True)
                    both = np.isfinite(x[of_x]) & np.isfinite(y[of_y])
                    x, y = x[of_x][both], y[of_y][both]
                else:
                    x, y = x[np.isfinite(x)], y[np.isfinite(y)]
                test = _test(x, y, is_paired=is_paired)
                yield ArmDifference(first, second, column, statistic, **test)


def _test(x: NDArray[np.float64], y: NDArray[np.float64], *, is_paired: bool) -> dict[str, Any]:
    """Test the difference of two means by Welch's t, or by a paired t."""
    if min(len(x), len(y)) < 2:
        return {"why": "a test needs two participants on each side"}
    mean = float(x.mean() - y.mean())
    if (np.ptp(x - y) if is_paired else max(np.ptp(x), np.ptp(y))) < NO_SPREAD:
        what = "difference" if is_paired else "mean"
        return {"mean": mean, "why": f"all participants have the same {what}"}
    df: float
    if is_paired:
        variance, df = float(np.var(x - y, ddof=1)) / len(x), len(x) - 1
    else:
        parts = [float(np.var(side, ddof=1)) / len(side) for side in (x, y)]
        variance = sum(parts)
        df = variance**2 / sum(
            part**2 / (len(side) - 1) for part, side in zip(parts, (x, y), strict=True)
        )
    test = t_test(mean, math.sqrt(variance), df)
    return {name: test[name] for name in ("mean", "df", "p", "ci95")}
