"""Arms whose answers differ by a known amount, or not at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from benchmarks.calibration.studies import MEASURES
from survey.core.agreement.arm_effects import SHARE, ArmAnswers, ArmEffect, arm_effects
from survey.core.statistics.significance import LEVEL, Interval

SOME_EFFECT = "an arm is wrongly said to change something"
ALL_COVERED = "the intervals for all comparisons together hold all true differences"
COVERED = "the interval of AP's share holds the true difference"
FOUND = "the arm is said to raise AP's share"
DRAWS = 400_000  # of participants and questions, for the true shares
OWN_ORDERS = 0.1
ARM = "arm "


@dataclass(frozen=True)
class Arms:
    """A design with arms, and how their participants pick.

    ``pushes``: of each arm, what it adds to the logit of AP. ``people``, ``questions``: standard
    deviations of a measure's logit between participants, and between questions for all arms alike;
    ``shifts``: between questions for each arm by itself, so that an arm changes more in some.
    """

    pushes: tuple[float, ...]
    participants: int  # of each arm
    asked: int
    people: float = 0.5
    questions: float = 0.5
    shifts: float = 0.0

    def __str__(self) -> str:
        return f"{len(self.pushes)} arms of {self.participants} × {self.asked}"

    def chances(
        self, push: float, people: NDArray[np.float64], others: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how likely each measure is picked; the last axis is that of the measures."""
        logits = people + others + push * np.eye(len(MEASURES))[0]
        odds = np.exp(logits)
        shares: NDArray[np.float64] = (1 - OWN_ORDERS) * odds / odds.sum(axis=-1, keepdims=True)
        return shares

    @cache  # noqa: B019 - of the few designs of this page
    def true_shares(self) -> NDArray[np.float64]:
        """Return each arm's true shares, (arms, measures)."""
        chance = np.random.default_rng(1)
        size = (DRAWS, len(MEASURES))
        people = chance.normal(0, self.people, size)
        others = chance.normal(0, np.hypot(self.questions, self.shifts), size)
        return np.array([self.chances(push, people, others).mean(axis=0) for push in self.pushes])

    def draw(self, chance: Generator) -> Mapping[str, ArmAnswers]:
        """Draw the answers of each arm."""
        measures = len(MEASURES)
        of_questions = chance.normal(0, self.questions, (self.asked, measures))
        number = np.tile(np.arange(self.asked), self.participants)
        groups = {}
        for arm, push in enumerate(self.pushes):
            people = chance.normal(0, self.people, (self.participants, 1, measures))
            shifts = chance.normal(0, self.shifts, (self.asked, measures))
            shares = self.chances(push, people, of_questions + shifts)
            ends = shares.cumsum(axis=-1)
            picked = (chance.random((*ends.shape[:2], 1)) > ends).sum(axis=-1)
            values = np.eye(measures + 1)[picked.ravel(), :measures]
            names = np.array([f"{arm}-{each:03}" for each in range(self.participants)])
            groups[f"{ARM}{arm}"] = ArmAnswers(names.repeat(self.asked), number, values)
        return groups


def compared(arms: Arms, chance: Generator) -> Mapping[str, bool | None]:
    """Tell what the analysis says of a simulated study, where the truth is known."""
    effects = arm_effects(arms.draw(chance), MEASURES, SHARE).effects
    changes = arms.true_shares()[1:] - arms.true_shares()[0]
    true = [_change(changes[int(each.arm.removeprefix(ARM)) - 1], each) for each in effects]
    pairs = zip(effects, true, strict=True)
    first, has_effect = effects[0], any(arms.pushes)
    return {
        SOME_EFFECT: None if has_effect else any(each.is_decided(LEVEL) for each in effects),
        ALL_COVERED: all(_holds(each.ci95_simultaneous, value) for each, value in pairs),
        COVERED: _holds(first.ci95, true[0]),
        FOUND: first.is_decided(LEVEL) and (first.mean or 0) > 0 if has_effect else None,
    }


def _change(shares: NDArray[np.float64], effect: ArmEffect) -> float:
    """Return the true change that an effect estimates, from the changes of the shares."""
    less = shares[MEASURES.index(effect.over)] if effect.over else 0.0
    return float(shares[MEASURES.index(effect.measure)] - less)


def _holds(interval: Interval | None, value: float) -> bool:
    return interval is not None and interval[0] <= value <= interval[1]
