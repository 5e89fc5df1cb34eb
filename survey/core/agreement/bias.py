"""Did label, column or question order matter? Click counts, a conditional logit, times."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, distinct_keys, sum_by_participant
from survey.core.agreement.differences import DESCRIPTIVE, T1
from survey.core.statistics.conditional_logit import fit_conditional_logit
from survey.core.statistics.significance import MeanTest, Statistic, t_test, without_zeros

EQUAL = 1e-12  # slopes that differ by less, relative to the largest, differ by rounding


@dataclass(frozen=True, kw_only=True)
class Logit(Statistic):
    """A conditional logit of which columns of a response were ticked.

    ``terms`` against the first measure, Method1 and column 1; ``coef``: log odds ratios,
    ``se``: their standard errors (from the information matrix, answers independent).
    """

    terms: tuple[str, ...] = ()
    coef: tuple[float, ...] | None = None
    se: tuple[float, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Fatigue(MeanTest):
    """Seconds per further question: mean within-participant slope, negative = faster."""


@dataclass(frozen=True)
class PositionSummary:
    """The answers to a participant's first, second, … question.

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

    ``column_clicks``: from left to right, None where no response has a column order.
    ``fatigue``: mean over participants of the slopes of their times on position.
    """

    label_clicks: Mapping[str, int]
    column_clicks: tuple[int, ...] | None
    conditional_logit: Logit
    positions: tuple[PositionSummary, ...]
    fatigue: Fatigue


def bias_of(answers: Answers, measures: Sequence[str]) -> Bias:
    """Count clicks by label and column, fit the logit, summarise times by position."""
    layouts = Layouts.of(answers, measures)
    clicks = layouts.counts @ layouts.ticked
    return Bias(
        label_clicks={f"Method{label}": n for label, n in enumerate(clicks.tolist(), 1)},
        column_clicks=_column_clicks(layouts.subset(layouts.known)),
        conditional_logit=conditional_logit(layouts, measures),
        positions=_by_position(answers),
        fatigue=_fatigue(answers),
    )


@dataclass(frozen=True)
class Layouts:
    """The distinct layouts of columns with their ticks, and how many answers have each.

    For each layout and each label: ``measures``, the index of the measure behind it;
    ``columns``, its column from 0, −1 where unknown; ``ticked``, whether it was. All three
    (layouts, labels). ``counts``: (layouts,).
    """

    measures: NDArray[np.int64]
    columns: NDArray[np.int64]
    ticked: NDArray[np.bool_]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, answers: Answers, measures: Sequence[str]) -> "Layouts":
        """Group the answers by label order, column order and ticks."""
        sets, count = 1 << len(measures), len(measures)
        labels, orders = answers.label_order, answers.column_order
        behind = [[measures.index(name) for name in order] for order in labels.values]
        columns = [[order.index(label + 1) for label in range(count)] for order in orders.values]
        ways = len(orders.values) + 1
        keys = labels.codes.astype(np.int64) * ways + orders.codes + 1
        space = len(behind) * ways * sets
        layouts, layout_index = distinct_keys(keys * sets + answers.clicked, space)
        way, clicked = layouts // sets, layouts % sets
        return cls(
            measures=np.array(behind, dtype=np.int64).reshape(-1, count)[way // ways],
            columns=np.array([[-1] * count, *columns])[way % ways],
            ticked=(clicked[:, np.newaxis] >> np.arange(count) & 1).astype(bool),
            counts=np.bincount(layout_index, minlength=len(layouts)),
        )

    @property
    def known(self) -> NDArray[np.bool_]:
        """Mask of the layouts whose column order is known."""
        return self.columns[:, 0] >= 0

    @property
    def clicks(self) -> NDArray[np.int64]:
        """Number of columns ticked in each layout."""
        clicks: NDArray[np.int64] = self.ticked.sum(axis=1)
        return clicks

    def subset(self, chosen: NDArray[Any]) -> "Layouts":
        """Keep some of the layouts, by indices or a mask."""
        return Layouts(
            self.measures[chosen], self.columns[chosen], self.ticked[chosen], self.counts[chosen]
        )

    def terms(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the indicator terms of some layouts' labels: (layouts, labels, terms)."""
        count = self.measures.shape[1]
        indicator = np.eye(count)[:, 1:]
        of_labels = np.broadcast_to(indicator, (len(chosen), *indicator.shape))
        return np.concatenate(
            [indicator[self.measures[chosen]], of_labels, indicator[self.columns[chosen]]], axis=2
        )


def conditional_logit(layouts: Layouts, measures: Sequence[str]) -> Logit:
    """Model which of a response's columns were ticked by measure, label and column.

    Every response with a tick and a known column order counts, unless all or none of its
    columns are ticked, which says nothing.
    """
    clicks, counts, every = layouts.clicks, layouts.counts, len(measures)
    used = layouts.subset(layouts.known & (clicks > 0) & (clicks < every))
    others = tuple(range(2, every + 1))
    left_out = {
        "custom rankings": int(counts[clicks == 0].sum()),
        "all columns ticked": int(counts[clicks == every].sum()),
        "columns unknown": int(counts[(clicks > 0) & ~layouts.known].sum()),
    }
    frame: dict[str, Any] = {
        "estimand": DESCRIPTIVE,
        "n": int(used.counts.sum()),
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
    solved = fit_conditional_logit(used.terms, len(frame["terms"]), used.ticked, used.counts)
    if solved is None:
        return Logit(**frame, why="the votes do not determine the terms: too few, or separated")
    coef, se = solved
    return Logit(**frame, coef=tuple(coef.tolist()), se=tuple(se.tolist()))


def _column_clicks(layouts: Layouts) -> tuple[int, ...] | None:
    if not len(layouts.counts):
        return None
    totals = np.zeros(layouts.columns.shape[1], dtype=np.int64)
    np.add.at(totals, layouts.columns, layouts.counts[:, np.newaxis] * layouts.ticked)
    return tuple(totals.tolist())


def _by_position(answers: Answers) -> tuple[PositionSummary, ...]:
    several = np.array([bits.bit_count() > 1 for bits in range(256)])[answers.clicked]
    summaries = []
    positions = enumerate(answers.position.values)
    for code, position in sorted(positions, key=lambda numbered: numbered[1]):
        at_position = answers.position.codes == code
        seconds = answers.seconds[at_position]
        known = seconds[~np.isnan(seconds)]
        if len(seconds):
            summaries.append(
                PositionSummary(
                    position=position,
                    responses=len(seconds),
                    own=int(np.count_nonzero(answers.own.known & at_position)),
                    several=int(np.count_nonzero(several & at_position)),
                    seconds=float(np.median(known)) if len(known) else None,
                )
            )
    return tuple(summaries)


def _fatigue(answers: Answers) -> Fatigue:
    slopes = _slopes(answers.subset(answers.position.known & ~np.isnan(answers.seconds)))
    frame: dict[str, Any] = {"estimand": T1, "n": len(slopes), "unit": "participants"}
    if len(slopes) < 2 or np.ptp(slopes) <= EQUAL * np.abs(slopes).max():
        return Fatigue(**frame, why="it needs the times of two participants that differ")
    mean, sd = float(slopes.mean()), float(slopes.std(ddof=1))
    return Fatigue(**frame, **t_test(mean, sd / len(slopes) ** 0.5, len(slopes) - 1))


def _slopes(timed: Answers) -> NDArray[np.float64]:
    """Return the least-squares slope of seconds on position of all with times at two positions.

    Σ (x - x̄)(y - y₁) / Σ (x - x̄)² with each participant's first time y₁, so that a constant
    time gives exactly 0.
    """
    counts, first = timed.answer_counts, timed.first_answer
    x = np.array([*timed.position.values, 0], dtype=np.float64)[timed.position.codes]
    x -= np.repeat(sum_by_participant(x, first) / counts, counts)
    y = timed.seconds - np.repeat(timed.seconds[first], counts)
    above, below = sum_by_participant(x * y, first), sum_by_participant(x * x, first)
    slopes: NDArray[np.float64] = above[below > 0] / below[below > 0]
    return slopes
