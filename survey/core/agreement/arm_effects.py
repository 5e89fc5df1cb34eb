"""What an arm changes: how the answers of its participants differ from those of the first arm's.

A study may draw its participants at random among arms that differ in its plan: in an instruction,
the practice, the layout. All arms answer the same questions, and an arm may change more in some
than in others. So a difference is tested over participants, who are others in each arm, and over
questions, as the measures' differences are (``crossed_test``), and corrected for all rows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.anchoring import Side, crossed_test
from survey.core.agreement.differences import pairs
from survey.core.statistics.significance import (
    LEVEL,
    Interval,
    holm,
    p_text,
    rounded,
    t_quantile,
)

SHARE, AGREEMENT = "share", "agreement"
# What is compared: of one measure, and of the difference of two.
WORDS = {
    SHARE: ("{}'s share of the votes", "the lead of {} over {}"),
    AGREEMENT: ("agreement with {}", "the lead of {} over {} in agreement"),
}


@dataclass(frozen=True)
class ArmAnswers:
    """The answers of an arm's participants, an entry for each answer.

    ``values`` (answers, measures): what each answer gives each measure, from 0 to 1; NaN where
    that is undefined.
    """

    people: NDArray[np.str_]
    questions: NDArray[np.int64]
    values: NDArray[np.float64]


@dataclass(frozen=True)
class ArmMeans:
    """The means of an arm's answers; ``means``: measure → mean in [0, 1], None where undefined."""

    arm: str
    participants: int
    answers: int
    means: Mapping[str, float | None]


@dataclass(frozen=True)
class ArmEffect:
    """What an arm changes in a measure, or in the lead of one over another, against the first arm.

    ``measure``, ``over``: the lead of the one over the other; ``over`` is None of a measure by
    itself. ``mean``: the arm's mean less that of ``reference``, in [-1, 1], of a lead in [-2, 2].
    ``p`` and ``ci95``: of this row by itself; ``p_holm`` and ``ci95_simultaneous``: of all rows
    together. Numbers are None where there can be no test; ``why`` says why.
    """

    arm: str
    reference: str
    measure: str
    over: str | None
    mean: float | None = None
    se: float | None = None
    df: float | None = None
    p: float | None = None
    p_holm: float | None = None
    ci95: Interval | None = None
    ci95_simultaneous: Interval | None = None
    why: str | None = None

    @property
    def of(self) -> str:
        """The measure, or the pair as files write it: MNRO-AP."""
        return f"{self.measure}-{self.over}" if self.over else self.measure

    def is_decided(self, level: float = LEVEL) -> bool:
        """Return whether the arm changes this, for questions of this kind and such people."""
        return self.p_holm is not None and self.p_holm < level


@dataclass(frozen=True)
class ArmEffects:
    """The arms' means, and what each arm but the first changes.

    ``statistic``: SHARE, of votes, or AGREEMENT, with preferences or people's own orderings.
    """

    statistic: str
    arms: tuple[ArmMeans, ...]
    effects: tuple[ArmEffect, ...]

    def sentence(self, effect: ArmEffect, level: float = LEVEL) -> str:
        """Say what an arm changes, and whether that is decided."""
        alone, lead = WORDS[self.statistic]
        of = lead.format(effect.measure, effect.over) if effect.over else alone.format(effect.of)
        if effect.mean is None:
            return f"What “{effect.arm}” changes in {of} cannot be told: {effect.why}."
        way = (
            "the same as" if not effect.mean else "higher than" if effect.mean > 0 else "lower than"
        )
        points = f"{rounded(100 * abs(effect.mean))} points " if effect.mean else ""
        start = f"With “{effect.arm}” {of} is {points}{way} with “{effect.reference}”"
        if effect.p_holm is None:
            return f"{start}. It cannot be tested: {effect.why}."
        of_rows = len(self.effects)
        if effect.is_decided(level):
            corrected = f"{p_text(effect.p_holm)}, corrected for {of_rows} comparisons"
            ends = _ends(effect.ci95, effect.mean)
            return f"{start} ({ends}; {corrected}), for questions of this kind and such people."
        ends = _ends(effect.ci95_simultaneous, effect.mean)
        return f"{start} ({ends}, for all {of_rows} comparisons together): not decided."


def _ends(interval: Interval | None, mean: float) -> str:
    """Return the ends of an interval in points, counted in the direction of the mean."""
    low, high = interval or (np.nan, np.nan)
    low, high = (-high, -low) if mean < 0 else (low, high)
    return f"{rounded(100 * low)} to {rounded(100 * high)}"


def arm_effects(
    arms: Mapping[str, ArmAnswers], measures: Sequence[str], statistic: str
) -> ArmEffects:
    """Compare every arm with the first, in each measure and in each pair of measures.

    ``arms``: in the plan's order; those without answers are left out.
    """
    answered = {name: answers for name, answers in arms.items() if len(answers.people)}
    compared = []
    for name in [*answered][1:]:
        reference = next(iter(answered))
        for measure, over, weights in _rows(measures):
            sides = [_side(answered[arm], weights) for arm in (name, reference)]
            test, least = crossed_test(sides)
            compared.append((ArmEffect(name, reference, measure, over, **test), least))
    corrected = holm([effect.p for effect, _ in compared])
    return ArmEffects(
        statistic,
        tuple(_means(name, answers, measures) for name, answers in answered.items()),
        tuple(
            replace(
                effect,
                p_holm=None if p is None else max(p, least),
                ci95=_within(effect.over, effect.ci95),
                ci95_simultaneous=_together(effect, len(compared)),
            )
            for (effect, least), p in zip(compared, corrected, strict=True)
        ),
    )


def _rows(measures: Sequence[str]) -> Iterator[tuple[str, str | None, NDArray[np.float64]]]:
    """Yield each measure, then each pair, with the measures' weights in what is compared."""
    unit = dict(zip(measures, np.eye(len(measures)), strict=True))
    for measure in measures:
        yield measure, None, unit[measure]
    for first, second in pairs(measures):
        yield first, second, unit[first] - unit[second]


def _side(answers: ArmAnswers, weights: NDArray[np.float64]) -> Side:
    values = answers.values[:, weights != 0] @ weights[weights != 0]
    known = np.isfinite(values)
    return Side(answers.people[known], answers.questions[known], values[known])


def _means(arm: str, answers: ArmAnswers, measures: Sequence[str]) -> ArmMeans:
    known = [column[np.isfinite(column)] for column in answers.values.T]
    means = [float(column.mean()) if len(column) else None for column in known]
    people = len(np.unique(answers.people))
    return ArmMeans(arm, people, len(answers.people), dict(zip(measures, means, strict=True)))


def _together(effect: ArmEffect, rows: int) -> Interval | None:
    """Return the interval that holds for all rows together, by Bonferroni's correction."""
    if effect.mean is None or effect.se is None or effect.df is None:
        return None
    half = t_quantile(1 - 0.025 / rows, effect.df) * effect.se
    return _within(effect.over, (effect.mean - half, effect.mean + half))


def _within(over: str | None, interval: Interval | None) -> Interval | None:
    """Return an interval without what no difference of shares, or of leads, can be."""
    most = 1.0 if over is None else 2.0
    return interval and (max(interval[0], -most), min(interval[1], most))
