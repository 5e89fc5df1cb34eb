"""Whether it mattered where and when something stood: labels, columns, question order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, by_participant
from survey.core.agreement.column_choice import Layouts, Logit, conditional_logit
from survey.core.agreement.differences import MeanTest, t_test
from survey.core.agreement.results import T1

EQUAL = 1e-12  # slopes that differ by less, relative to the largest, differ by rounding


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


def bias_of(answers: Answers, measures: Sequence[str]) -> Bias:
    """Count clicks by label and column, fit the logit, follow the session."""
    layouts = Layouts.of(answers, measures)
    clicks = layouts.times @ layouts.ticked
    return Bias(
        label_clicks={f"Method{label}": n for label, n in enumerate(clicks.tolist(), 1)},
        column_clicks=_column_clicks(layouts.within(layouts.known)),
        conditional_logit=conditional_logit(layouts, measures),
        positions=_course(answers),
        fatigue=_fatigue(answers),
    )


def _column_clicks(layouts: Layouts) -> tuple[int, ...] | None:
    if not len(layouts.times):
        return None
    columns = np.zeros(layouts.places.shape[1], dtype=np.int64)
    clicks = layouts.times[:, np.newaxis] * layouts.ticked
    np.add.at(columns, layouts.places, clicks)
    return tuple(columns.tolist())


def _course(answers: Answers) -> tuple[AtPosition, ...]:
    several = np.array([bits.bit_count() > 1 for bits in range(256)])[answers.clicked]
    places = enumerate(answers.position.values)
    course = []
    for code, position in sorted(places, key=lambda place: place[1]):
        here = answers.position.codes == code
        seconds = answers.seconds[here]
        known = seconds[~np.isnan(seconds)]
        if len(seconds):
            course.append(
                AtPosition(
                    position=position,
                    responses=len(seconds),
                    own=int(np.count_nonzero(answers.own.known & here)),
                    several=int(np.count_nonzero(several & here)),
                    seconds=float(np.median(known)) if len(known) else None,
                )
            )
    return tuple(course)


def _fatigue(answers: Answers) -> Fatigue:
    slopes = _slopes(answers.within(answers.position.known & ~np.isnan(answers.seconds)))
    frame: dict[str, Any] = {"estimand": T1, "n": len(slopes), "unit": "participants"}
    if len(slopes) < 2 or np.ptp(slopes) <= EQUAL * np.abs(slopes).max():
        return Fatigue(**frame, why="it needs the times of two participants that differ")
    mean, spread = float(slopes.mean()), float(slopes.std(ddof=1))
    return Fatigue(**frame, **t_test(mean, spread / len(slopes) ** 0.5, len(slopes) - 1))


def _slopes(timed: Answers) -> NDArray[np.float64]:
    """Return the least-squares slope of seconds on position of all with times at two positions.

    Σ (x - x̄)(y - y₁) / Σ (x - x̄)² with each participant's first time y₁, so that a constant
    time gives exactly 0.
    """
    given, begins = timed.given, timed.begins
    x = np.array([*timed.position.values, 0], dtype=np.float64)[timed.position.codes]
    x -= np.repeat(by_participant(x, begins) / given, given)
    y = timed.seconds - np.repeat(timed.seconds[begins], given)
    above, below = by_participant(x * y, begins), by_participant(x * x, begins)
    slopes: NDArray[np.float64] = above[below > 0] / below[below > 0]
    return slopes
