"""Preferences between the lists of runs, and measures that are computed of these lists."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy
from numpy.random import Generator
from numpy.typing import NDArray

from survey.core.agreement.preferences import Answer, PairOfLists, analyse_preferences
from survey.core.agreement.run_strengths import run_strengths
from survey.core.agreement.verdicts import Decision, decide
from survey.core.statistics.bradley_terry import Comparisons, bradley_terry

RATE_COVERED = "the interval of a rate holds the true one"
SOME_RUN = "some run is wrongly preferred to another"
SOME_PAIR = "some measure is wrongly said to agree more often than another"
SOME_HALF = "some measure is wrongly said to agree with more or less than one half"
SHARE_COVERED = "the interval of a measure's share holds one half"
ALPHA_COVERED = "the interval of alpha holds the true alpha"
MIRRORED = "alpha changes if lists A and B of some questions change places"

MEASURES = ("one", "two", "three")
MANY = 400_000  # draws by which an expectation is computed

Numbers = NDArray[np.float64]
Look = Callable[[Generator], Mapping[str, bool | None]]


@dataclass(frozen=True)
class Topics:
    """Each of ``people`` compares every two runs' lists for each of ``topics``.

    ``strengths``: of the runs over all topics; ``by_topic``: the standard deviation of a run's
    strength between topics, and ``by_person`` between people; ``neither``: the share of answers
    that prefer neither list.
    """

    people: int
    topics: int
    strengths: tuple[float, ...]
    by_topic: float = 0.7
    by_person: float = 0.3
    neither: float = 0.12

    @property
    def runs(self) -> list[str]:
        """The names of the runs."""
        return [f"run {number}" for number in range(1, 1 + len(self.strengths))]

    @cached_property
    def questions(self) -> list[tuple[int, int, int]]:
        """Of each question the topic and the two runs."""
        pairs = [*combinations(range(len(self.strengths)), 2)]
        return [(topic, *pair) for topic in range(self.topics) for pair in pairs]

    def signs(self, chance: Generator) -> NDArray[np.int64]:
        """Draw the answers, (people, questions): 1 for the first run, -1 for the second, or 0."""
        topic, first, second = np.array(self.questions).T
        strength = np.array(self.strengths) + chance.normal(
            0, self.by_topic, (self.topics, len(self.strengths))
        )
        of_person = chance.normal(0, self.by_person, (self.people, len(self.strengths)))
        lead = strength[topic, first] - strength[topic, second]
        lead = lead + of_person[:, first] - of_person[:, second]
        prefers = chance.random(lead.shape) < scipy.special.expit(lead)
        signs = np.where(prefers, 1, -1)
        return np.where(chance.random(lead.shape) < self.neither, 0, signs)

    def true_rates(self) -> Numbers:
        """Return how often each run is preferred to each, as strengths that fit all topics give it.

        Topics and people make preferences more even than the strengths alone.
        """
        pairs = np.array([*combinations(range(len(self.strengths)), 2)])
        spread = np.sqrt(2 * (self.by_topic**2 + self.by_person**2))
        half = np.random.default_rng(1).normal(0, spread, MANY // 2)
        normal = np.concatenate([half, -half])
        strengths = np.array(self.strengths)
        leads = strengths[pairs[:, 0]] - strengths[pairs[:, 1]]
        scores = np.array([scipy.special.expit(lead + normal).mean() for lead in leads])
        scores = self.neither / 2 + (1 - self.neither) * scores
        once = np.ones(len(pairs), dtype=np.int64)
        compared = Comparisons(len(strengths), pairs[:, 0], pairs[:, 1], scores, once)
        theta = np.array(bradley_terry(compared).theta)
        rates: Numbers = scipy.special.expit(theta[:, np.newaxis] - theta)
        return rates


def runs_compared(design: Topics) -> Look:
    """Tell whether the rate of two runs is covered, and whether any pair of equals is decided."""
    numbers = range(1, 1 + len(design.questions))
    names, true_rates = design.runs, design.true_rates()
    sides = {
        number: (names[first], names[second])
        for number, (_, first, second) in zip(numbers, design.questions, strict=True)
    }
    topics = {
        number: f"topic {each[0]}" for number, each in zip(numbers, design.questions, strict=True)
    }

    def study(chance: Generator) -> Mapping[str, bool | None]:
        signs = design.signs(chance)
        answers = [
            (f"P{person:03}", number, sign)
            for person, of_person in enumerate(signs.tolist())
            for number, sign in zip(numbers, of_person, strict=True)
        ]
        pairs = run_strengths(answers, sides, names, topics).pairs
        wrong = [
            each.tests is not None and _for_the_kind(decide(each.tests))
            for each in pairs
            if len({design.strengths[names.index(run)] for run in each.pair}) == 1
        ]
        # Pairs of a study are not independent, so one of them is counted.
        looked_at = pairs[int(chance.integers(len(pairs)))]
        rate = true_rates[*map(names.index, looked_at.pair)]
        covered = None
        if looked_at.ci95:
            covered = bool(looked_at.ci95[0] <= rate <= looked_at.ci95[1])
        return {RATE_COVERED: covered, SOME_RUN: any(wrong)}

    return study


def measures_compared(design: Topics) -> Look:
    """Tell what is decided of measures that have nothing to do with preferences.

    A measure has a random value for each list.
    """
    numbers = range(1, 1 + len(design.questions))
    topic, first, second = np.array(design.questions).T

    def study(chance: Generator) -> Mapping[str, bool | None]:
        values = chance.normal(0, 1, (len(MEASURES), design.topics, len(design.strengths)))
        leads = values[:, topic, first] - values[:, topic, second]
        lists = [
            PairOfLists(number, dict(zip(MEASURES, of, strict=True)), f"topic {each[0]}")
            for number, of, each in zip(numbers, leads.T.tolist(), design.questions, strict=True)
        ]
        analysis = analyse_preferences(_answers(design.signs(chance)), lists, MEASURES)
        of_first = analysis.measures[0].ci95
        return {
            SOME_PAIR: any(_for_the_kind(decide(each.tests)) for each in analysis.differences),
            SOME_HALF: any(_for_the_kind(each.decision()) for each in analysis.measures),
            SHARE_COVERED: of_first and bool(of_first[0] <= 0.5 <= of_first[1]),
        }

    return study


def _for_the_kind(decision: Decision | None) -> bool:
    """Return whether something is decided of topics of this kind.

    Of these topics alone it may be true: they differ.
    """
    return decision is not None and decision.scope == "kind"


def _answers(signs: NDArray[np.int64]) -> list[Answer]:
    return [
        Answer(f"P{person:03}", number, sign)
        for person, of_person in enumerate(signs.tolist())
        for number, sign in enumerate(of_person, 1)
    ]


def alpha_of_preferences(people: int, topics: int, spread: float, neither: float) -> Look:
    """Tell whether the interval of alpha holds the true one, and whether mirroring changes alpha.

    Each topic has two questions, and a lead drawn with a standard deviation of ``spread``.
    """
    lead = np.random.default_rng(1).normal(0, spread, MANY)
    first = (1 - neither) * scipy.special.expit(lead)
    second, total = 1 - neither - first, 1 - neither
    observed = 2 * (first + second) * neither + 8 * first * second
    expected = 2 * total**2 + 2 * total * neither
    true_alpha = 1 - observed.mean() / expected
    lists = [PairOfLists(number, {}, f"topic {number // 2}") for number in range(2 * topics)]

    def alpha_of(signs: NDArray[np.int64]) -> tuple[float | None, tuple[float, float] | None]:
        answers = [
            Answer(f"P{person:03}", number, sign)
            for person, of_person in enumerate(signs.tolist())
            for number, sign in enumerate(of_person)
        ]
        people = analyse_preferences(answers, lists, ()).people
        return people.alpha, people.alpha_ci95

    def study(chance: Generator) -> Mapping[str, bool | None]:
        leads = np.repeat(chance.normal(0, spread, topics), 2)
        shape = (people, 2 * topics)
        signs = np.where(chance.random(shape) < scipy.special.expit(leads), 1, -1)
        signs = np.where(chance.random(shape) < neither, 0, signs)
        alpha, interval = alpha_of(signs)
        turned, _ = alpha_of(signs * chance.choice((-1, 1), 2 * topics))
        return {
            ALPHA_COVERED: interval and bool(interval[0] <= true_alpha <= interval[1]),
            MIRRORED: abs((turned or 0.0) - (alpha or 0.0)) > 1e-9,
        }

    return study
