"""Whether it mattered where and when something stood: labels, columns, question order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, linear_regression, median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.credits import Response
from survey.core.agreement.differences import MeanTest, t_test
from survey.core.agreement.results import DESCRIPTIVE, T1, Statistic, without_zeros


@dataclass(frozen=True, kw_only=True)
class Logit(Statistic):
    """A conditional logit of which columns of a response were ticked.

    ``terms`` against the first measure, Method1 and column 1; ``coef``: log odds ratios,
    ``se``: their standard errors (from the information matrix, answers independent).
    """

    terms: tuple[str, ...] = ()
    coef: tuple[float, ...] | None = None
    se: tuple[float, ...] | None = None


@dataclass(frozen=True)
class AtPosition:
    """The answers given as a participant's first, second, … question.

    ``own``: custom rankings; ``several``: answers with more than one tick; ``seconds``:
    median time, None where unknown.
    """

    position: int
    responses: int
    own: int
    several: int
    seconds: float | None


@dataclass(frozen=True)
class Bias:
    """Clicks by label and by column, their joint model, and the course of a session.

    ``column_clicks``: from left to right, None where no response says how its columns
    stood. ``fatigue``: mean over participants of the slopes of their times on position.
    """

    label_clicks: Mapping[str, int]
    column_clicks: tuple[int, ...] | None
    conditional_logit: Logit
    positions: tuple[AtPosition, ...]
    fatigue: "Fatigue"


@dataclass(frozen=True, kw_only=True)
class Fatigue(MeanTest):
    """Seconds per further question: mean within-participant slope, negative = faster."""


def bias_of(responses: Sequence[Response], measures: Sequence[str]) -> Bias:
    """Count clicks by label and column, fit the logit, follow the session."""
    labels = range(1, len(measures) + 1)
    known = [one for one in responses if one.column_order is not None]
    columns = tuple(
        sum((one.column_order or ())[place] in one.clicked for one in known)
        for place in range(len(measures))
    )
    return Bias(
        label_clicks={f"Method{n}": sum(n in one.clicked for one in responses) for n in labels},
        column_clicks=columns if known else None,
        conditional_logit=conditional_logit(responses, measures),
        positions=_course(responses),
        fatigue=_fatigue(responses),
    )


def conditional_logit(responses: Sequence[Response], measures: Sequence[str]) -> Logit:
    """Model the choice among a response's columns by measure, label and column place.

    P(ticked set C) is proportional to exp(Σ_{j in C} x_j β), given how many were ticked
    (McFadden 1974; Chamberlain 1980). Every response with a tick and a known column order
    counts, unless all or none of its columns are ticked, which says nothing. Newton's
    method, since statsmodels' ConditionalLogit stops at four digits and does not see a
    separated term.
    """
    used = [
        one
        for one in responses
        if one.column_order is not None and 0 < len(one.clicked) < len(measures)
    ]
    others = tuple(range(2, len(measures) + 1))
    frame: dict[str, Any] = {
        "estimand": DESCRIPTIVE,
        "n": len(used),
        "unit": "responses",
        "left_out": without_zeros(_left_out_of_logit(responses, measures)),
        "terms": (
            *measures[1:],
            *(f"Method{n}" for n in others),
            *(f"column {n}" for n in others),
        ),
    }
    if not used:
        return Logit(**frame, why="no response ticks some of its columns in a known place")
    solved = _newton(*_choices(used, measures))
    if solved is None:
        return Logit(**frame, why="the votes do not determine the terms: too few, or separated")
    coef, se = solved
    return Logit(**frame, coef=tuple(coef.tolist()), se=tuple(se.tolist()))


def _left_out_of_logit(responses: Sequence[Response], measures: Sequence[str]) -> dict[str, int]:
    return {
        "custom rankings": sum(one.own is not None for one in responses),
        "all columns ticked": sum(len(one.clicked) == len(measures) for one in responses),
        "columns unknown": sum(bool(one.clicked) and one.column_order is None for one in responses),
    }


def _choices(
    used: Sequence[Response], measures: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Lay out what was chosen and what could have been.

    Returns the chosen sets' summed terms (responses, terms), those of every set of as
    many columns (responses, sets, terms), and which of the sets exist (responses, sets).
    """
    chosen, possible = [], []
    for one in used:
        rows = _terms(one, measures)
        chosen.append(rows[[label - 1 for label in one.clicked]].sum(axis=0))
        sets = combinations(range(len(measures)), len(one.clicked))
        possible.append(np.array([rows[list(places)].sum(axis=0) for places in sets]))
    most = max(map(len, possible))
    padded = np.zeros((len(used), most, len(chosen[0])))
    there = np.zeros((len(used), most), dtype=bool)
    for row, sets_of_one in enumerate(possible):
        padded[row, : len(sets_of_one)] = sets_of_one
        there[row, : len(sets_of_one)] = True
    return np.array(chosen), padded, there


def _terms(one: Response, measures: Sequence[str]) -> NDArray[np.float64]:
    """Return a response's indicator terms, one row for each label."""
    count = len(measures)
    rows = np.zeros((count, 3, count))
    for label in range(count):
        rows[label, 0, measures.index(one.label_order[label])] = 1
        rows[label, 1, label] = 1
        rows[label, 2, (one.column_order or ()).index(label + 1)] = 1
    return rows[:, :, 1:].reshape(count, -1)


def _newton(
    chosen: NDArray[np.float64], possible: NDArray[np.float64], there: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Maximise the conditional likelihood; None where it has no single finite maximum."""
    beta = np.zeros(chosen.shape[1])
    for _ in range(50):
        odds = np.where(there, np.exp(possible @ beta), 0.0)
        chance = odds / odds.sum(axis=1, keepdims=True)
        expected = np.einsum("rs,rst->rt", chance, possible)
        second = np.einsum("rs,rst,rsu->tu", chance, possible, possible)
        information = second - expected.T @ expected
        if np.linalg.cond(information) > 1e10:
            return None
        step = np.linalg.solve(information, (chosen - expected).sum(axis=0))
        beta = beta + step
        if np.abs(beta).max() > 15:  # odds of millions to one: a term separates the choices
            return None
        if np.abs(step).max() < 1e-10:
            return beta, np.sqrt(np.diag(np.linalg.inv(information)))
    return None


def _course(responses: Sequence[Response]) -> tuple[AtPosition, ...]:
    places = sorted({one.position for one in responses if one.position is not None})
    course = []
    for place in places:
        here = [one for one in responses if one.position == place]
        seconds = [one.seconds for one in here if one.seconds is not None]
        course.append(
            AtPosition(
                position=place,
                responses=len(here),
                own=sum(one.own is not None for one in here),
                several=sum(len(one.clicked) > 1 for one in here),
                seconds=median(seconds) if seconds else None,
            )
        )
    return tuple(course)


def _fatigue(responses: Sequence[Response]) -> Fatigue:
    timed: dict[str, dict[int, float]] = {}
    for one in responses:
        if one.position is not None and one.seconds is not None:
            timed.setdefault(one.participant, {})[one.position] = one.seconds
    slopes = [
        linear_regression(list(mine), list(mine.values())).slope
        for mine in timed.values()
        if len(mine) > 1
    ]
    frame: dict[str, Any] = {"estimand": T1, "n": len(slopes), "unit": "participants"}
    if len(slopes) < 2 or np.ptp(slopes) == 0:
        return Fatigue(**frame, why="it needs the times of two participants that differ")
    mean, spread = fmean(slopes), float(np.std(slopes, ddof=1))
    return Fatigue(**frame, **t_test(mean, spread / len(slopes) ** 0.5, len(slopes) - 1))
