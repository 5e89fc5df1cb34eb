"""What made a column be ticked: its measure, its label or its place, by a conditional logit.

Whether it mattered where and when something stood: labels, columns, question order.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, by_participant, distinct
from survey.core.agreement.differences import MeanTest, t_test
from survey.core.statistics.results import DESCRIPTIVE, T1, Statistic, without_zeros

AT_ONCE = 10_000  # layouts whose terms are laid out together: 15 MB of six measures


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
class Layouts:
    """The distinct ways in which columns stood and were ticked, and how many answers are one.

    For each of them and each label: ``measures``, the place of the measure behind it;
    ``places``, its column counted from 0 on, −1 where unknown; whether it was ``ticked``. All
    three (layouts, labels). ``times``: (layouts,).
    """

    measures: NDArray[np.int64]
    places: NDArray[np.int64]
    ticked: NDArray[np.bool_]
    times: NDArray[np.int64]

    @classmethod
    def of(cls, answers: Answers, measures: Sequence[str]) -> "Layouts":
        """Find the distinct layouts."""
        sets, count = 1 << len(measures), len(measures)
        labels, columns = answers.label_order, answers.column_order
        behind = [[measures.index(name) for name in order] for order in labels.values]
        places = [[order.index(label + 1) for label in range(count)] for order in columns.values]
        ways = len(columns.values) + 1
        keys = labels.codes.astype(np.int64) * ways + columns.codes + 1
        found, kinds = distinct(keys * sets + answers.clicked, len(behind) * ways * sets)
        orders, clicked = found // sets, found % sets
        return cls(
            measures=np.array(behind, dtype=np.int64).reshape(-1, count)[orders // ways],
            places=np.array([[-1] * count, *places])[orders % ways],
            ticked=(clicked[:, np.newaxis] >> np.arange(count) & 1).astype(bool),
            times=np.bincount(kinds, minlength=len(found)),
        )

    @property
    def known(self) -> NDArray[np.bool_]:
        """In which it is known where the columns stood."""
        return self.places[:, 0] >= 0

    @property
    def clicks(self) -> NDArray[np.int64]:
        """How many columns were ticked."""
        clicks: NDArray[np.int64] = self.ticked.sum(axis=1)
        return clicks

    def within(self, chosen: NDArray[Any]) -> "Layouts":
        """Return some of them."""
        return Layouts(
            self.measures[chosen], self.places[chosen], self.ticked[chosen], self.times[chosen]
        )

    def terms(self) -> NDArray[np.float64]:
        """Return the indicator terms of each label: (layouts, labels, terms)."""
        count = self.measures.shape[1]
        indicator = np.eye(count)[:, 1:]
        of_labels = np.broadcast_to(indicator, (len(self.times), *indicator.shape))
        return np.concatenate([indicator[self.measures], of_labels, indicator[self.places]], axis=2)


def conditional_logit(layouts: Layouts, measures: Sequence[str]) -> Logit:
    """Model the choice among a response's columns by measure, label and column place.

    P(ticked set C) is proportional to exp(Σ_{j in C} x_j β), given how many were ticked
    (McFadden 1974; Chamberlain 1980). Every response with a tick and a known column order
    counts, unless all or none of its columns are ticked, which says nothing. Newton's
    method, since statsmodels' ConditionalLogit stops at four digits and does not see a
    separated term.
    """
    clicks, times, every = layouts.clicks, layouts.times, len(measures)
    used = layouts.within(layouts.known & (clicks > 0) & (clicks < every))
    others = tuple(range(2, every + 1))
    left_out = {
        "custom rankings": int(times[clicks == 0].sum()),
        "all columns ticked": int(times[clicks == every].sum()),
        "columns unknown": int(times[(clicks > 0) & ~layouts.known].sum()),
    }
    frame: dict[str, Any] = {
        "estimand": DESCRIPTIVE,
        "n": int(used.times.sum()),
        "unit": "responses",
        "left_out": without_zeros(left_out),
        "terms": (
            *measures[1:],
            *(f"Method{n}" for n in others),
            *(f"column {n}" for n in others),
        ),
    }
    if not frame["n"]:
        return Logit(**frame, why="no response ticks some of its columns in a known place")
    solved = _newton(used, len(frame["terms"]))
    if solved is None:
        return Logit(**frame, why="the votes do not determine the terms: too few, or separated")
    coef, se = solved
    return Logit(**frame, coef=tuple(coef.tolist()), se=tuple(se.tolist()))


def _newton(layouts: Layouts, terms: int) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Maximise the conditional likelihood; None where it has no single finite maximum."""
    beta = np.zeros(terms)
    for _ in range(50):
        score, information = np.zeros(terms), np.zeros((terms, terms))
        for alike in _in_pieces(layouts):
            of_score, of_information = _score_and_information(alike, beta)
            score += of_score
            information += of_information
        if np.linalg.cond(information) > 1e10:
            return None
        step = np.linalg.solve(information, score)
        beta = beta + step
        if np.abs(beta).max() > 15:  # odds of millions to one: a term separates the choices
            return None
        if np.abs(step).max() < 1e-10:
            return beta, np.sqrt(np.diag(np.linalg.inv(information)))
    return None


def _in_pieces(layouts: Layouts) -> Iterator[Layouts]:
    """Give layouts with the same number of ticks together, not too many at once."""
    for clicks in range(1, layouts.ticked.shape[1]):
        alike = np.flatnonzero(layouts.clicks == clicks)
        for first in range(0, len(alike), AT_ONCE):
            yield layouts.within(alike[first : first + AT_ONCE])


def _score_and_information(
    alike: Layouts, beta: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log likelihood's first derivative, (terms,), and minus its second.

    With the chance of each set of as many columns come the chances that a column is in it,
    and that two are: E Σ x = Σ_j P(j) x_j, and E (Σ x)(Σ x)ᵀ = Σ_jk P(j, k) x_j x_kᵀ.
    """
    terms, count = alike.terms(), alike.ticked.shape[1]
    chosen_sets = combinations(range(count), int(alike.clicks[0]))
    sets = np.array([np.isin(range(count), chosen) for chosen in chosen_sets], dtype=np.float64)
    odds = np.exp((terms @ beta) @ sets.T)
    chances = odds / odds.sum(axis=1, keepdims=True)
    both = sets[:, :, np.newaxis] * sets[:, np.newaxis]
    of_two = np.tensordot(chances, both, axes=1)
    expected = ((chances @ sets)[:, np.newaxis] @ terms)[:, 0]
    weighed = terms * alike.times[:, np.newaxis, np.newaxis]
    second = np.tensordot(weighed, of_two @ terms, axes=([0, 1], [0, 1]))
    chosen = (alike.ticked[:, np.newaxis] @ terms)[:, 0]
    score: NDArray[np.float64] = alike.times @ (chosen - expected)
    return score, second - (expected.T * alike.times) @ expected


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
