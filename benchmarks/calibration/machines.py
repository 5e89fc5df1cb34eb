"""Machines that judge beside people: estimates from few of people, and replacing an annotator."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit

from benchmarks.calibration.cells import PARTS_OF_ONE
from survey.core.agreement.machine_replacement import replacement
from survey.core.agreement.machines import agreement, compare_labels
from survey.core.statistics.annotator_test import annotator_test
from survey.core.statistics.beside_people import (
    prediction_powered_mean,
    preference_crossed,
    preference_share,
    relevant_count,
)

POOL_COVERED = "the interval for the pool holds the true value"
KIND_COVERED = "the interval for units of this kind holds the true value"
WIDTH = "mean width of the interval, of that of people alone"

ALONE = "the alternative annotator test alone is passed"
MAY_REPLACE = "the machine may replace one annotator, by all conditions"

Numbers = NDArray[np.float64]
Study = Callable[[Generator], Mapping[str, bool | int | None]]

# Correlation of the normal variables behind people's values and the machine's; None: constant.
MACHINES: Mapping[str, float | None] = {
    "good": 0.9,
    "weak": 0.4,
    "useless": 0.0,
    "constant": None,
    "adversarial": -0.7,
}
MEAN_SCORE, SCORE_SPREAD = -0.5, 1.2  # of a topic's logit
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(80)  # for a mean over a normal variable


def _beside(values: Numbers, correlation: float | None, chance: Generator) -> Numbers:
    """Draw a machine's normal variables for people's."""
    if correlation is None:
        return np.zeros(len(values))
    own = chance.standard_normal(len(values))
    return np.asarray(correlation * values + math.sqrt(1 - correlation**2) * own)


def _holds(interval: Sequence[float], value: float) -> bool:
    return bool(interval[0] <= value <= interval[1])


def _width(interval: Sequence[float], alone: Sequence[float]) -> int:
    """Return a width in ten-thousandths of people's alone."""
    return round(PARTS_OF_ONE * (interval[1] - interval[0]) / (alone[1] - alone[0]))


def mean_of_run(n: int, pool: int, correlation: float | None) -> Study:
    """Estimate a run's mean over topics, of which people judge ``n``."""
    true = float(WEIGHTS @ expit(MEAN_SCORE + SCORE_SPREAD * NODES) / WEIGHTS.sum())

    def study(chance: Generator) -> Mapping[str, bool | int | None]:
        topics = chance.standard_normal(pool)
        people, machine = (
            expit(MEAN_SCORE + SCORE_SPREAD * each)
            for each in (topics, _beside(topics, correlation, chance))
        )
        sample = chance.choice(pool, n, replace=False)
        figures = prediction_powered_mean(
            labelled=sample.tolist(), people=people[sample], machine=machine
        )
        interval = figures["pool"]["ci95"]
        return {
            POOL_COVERED: _holds(interval, float(people.mean())),
            KIND_COVERED: _holds(figures["kind"]["ci95"], true),
            WIDTH: _width(interval, figures["people_alone"]["pool_ci95"]),
        }

    return study


# Chance of "relevant" for a relevant and for another document; None: tosses a coin for each.
JUDGES: Mapping[str, tuple[float, float] | None] = {
    "good": (0.9, 0.05),
    "weak": (0.6, 0.25),
    "useless": None,
    "constant": (0.0, 0.0),
    "adversarial": (0.15, 0.85),
}


def count_of_relevant(n: int, pool: int, share: float, judge: tuple[float, float] | None) -> Study:
    """Estimate how many documents are relevant, of which people judge ``n``.

    Where fewer than 5 % seem to be, people's own interval is the one that is shown.
    """
    chances = (0.5, 0.5) if judge is None else judge

    def study(chance: Generator) -> Mapping[str, bool | int | None]:
        relevant = chance.random(pool) < share
        marked = chance.random(pool) < np.where(relevant, *chances)
        sample = chance.choice(pool, n, replace=False)
        sizes, judged, found = [], [], []
        for says in (True, False):
            stratum = marked == says
            drawn = stratum[sample]
            sizes.append(int(stratum.sum()))
            judged.append(int(drawn.sum()))
            found.append(int(relevant[sample[drawn]].sum()))
        figures = relevant_count(pool=sizes, judged=judged, relevant=found)
        alone = figures["people_alone"]["ci95"]
        shown = alone if figures["missing"] else figures["ci95"]
        return {
            POOL_COVERED: _holds(shown, float(relevant.mean())),
            WIDTH: _width(shown, alone),
        }

    return study


AGREES, PREFERS = 0.4, 0.9  # logit of a measure's agreement; share of people with a preference
QUESTION_SPREAD, PERSON_SPREAD = 1.0, 0.5


def share_of_preferences(n: int, pool: int, people: int, correlation: float | None) -> Study:
    """Estimate the share of preferences that a measure agrees with; the people are fixed."""

    def study(chance: Generator) -> Mapping[str, bool | int | None]:
        questions = chance.standard_normal(pool)
        agree_chance = expit(AGREES + QUESTION_SPREAD * questions)
        # The pool's truth is what these people would say of all its questions.
        prefer = chance.random((people, pool)) < PREFERS
        agree = prefer & (chance.random((people, pool)) < agree_chance)
        machine = _beside(questions, correlation, chance)
        machine_prefer = chance.random(pool) < PREFERS
        machine_agree = machine_prefer & (AGREES + QUESTION_SPREAD * machine > 0)
        if correlation is None:
            machine_prefer, machine_agree = np.ones((2, pool), dtype=bool)
        sample = chance.choice(pool, n, replace=False)
        figures = preference_share(
            people_agree=agree[:, sample].mean(axis=0),
            people_prefer=prefer[:, sample].mean(axis=0),
            machine_agree=machine_agree.astype(float),
            machine_prefer=machine_prefer.astype(float),
            labelled=sample.tolist(),
        )
        true = float(WEIGHTS @ expit(AGREES + QUESTION_SPREAD * NODES) / WEIGHTS.sum())
        interval = figures["pool_ci95"]
        return {
            POOL_COVERED: _holds(interval, float(agree.sum() / prefer.sum())),
            KIND_COVERED: _holds(figures["kind_ci95"], true),
            WIDTH: _width(interval, figures["people_alone_pool_ci95"]),
        }

    return study


def crossed_preferences(n: int, pool: int, people: int, correlation: float | None) -> Study:
    """Estimate the lead of one of two measures over people and questions that are both drawn."""
    true = _true_lead()

    def study(chance: Generator) -> Mapping[str, bool | int | None]:
        questions = chance.standard_normal(pool)
        persons = PERSON_SPREAD * chance.standard_normal((people, 1))
        sample = chance.choice(pool, n, replace=False)
        chances = expit(AGREES + QUESTION_SPREAD * questions[sample] + persons)
        answers = np.where(chance.random((people, n)) < chances, 1.0, -1.0)
        answers[chance.random((people, n)) < 1 - PREFERS] = 0.0
        machine = np.sign(AGREES + QUESTION_SPREAD * _beside(questions, correlation, chance))
        figures = preference_crossed(
            people=answers.tolist(), machine=machine, labelled=sample.tolist()
        )
        interval, alone = (figures[of]["ci95"] for of in ("with_machine", "people_alone"))
        return {
            KIND_COVERED: _holds(interval, true),
            WIDTH: _width(interval, alone),
        }

    return study


@cache
def _true_lead() -> float:
    """Return the mean answer over all questions and people."""
    spread = math.hypot(QUESTION_SPREAD, PERSON_SPREAD)
    share = float(WEIGHTS @ expit(AGREES + spread * NODES) / WEIGHTS.sum())
    return PREFERS * (2 * share - 1)


MARGIN = 0.1
Judge = Literal["constant", "coin", "equal", "70 %", "seldom yes"]


@dataclass(frozen=True)
class Annotators:
    """Five people who are right with a known chance, and a machine beside them.

    ``relevant``: share of the documents; ``right``: a person's chance, whatever the document;
    ``machine``: "constant" says no, "coin" says yes as often as documents are relevant, "equal" is
    as good as a person, "70 %" has 70 % of a person's skill, which is the chance above one half.
    "seldom yes": so are people, who know ``right`` of the documents and else say yes as often as
    documents are relevant; the machine knows 70 % as many. ``topics``: the documents are those of
    so many, in each of which the machine is right more or less often; 0: without topics.
    """

    documents: int
    relevant: float
    right: float
    machine: Judge
    topics: int = 0
    people: int = 5

    def draw(self, chance: Generator) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Draw people's answers, (people, documents), and the machine's."""
        truth = chance.random(self.documents) < self.relevant
        if self.machine == "seldom yes":
            known = np.full((self.people + 1, 1), self.right)
            known[-1] *= 0.7
            shape = (self.people + 1, self.documents)
            guess = chance.random(shape) < self.relevant
            answers = np.where(chance.random(shape) < known, truth, guess)
            return answers[:-1], answers[-1]
        wrong = chance.random((self.people, self.documents)) >= self.right
        skill = {"70 %": 0.7}.get(self.machine, 1.0)
        right = np.full(self.documents, 0.5 + skill * (self.right - 0.5))
        if self.topics:
            shifts = chance.uniform(-TOPIC_SHIFT, TOPIC_SHIFT, self.topics)
            right = np.minimum(1.0, right + shifts[self.of_topics])
        machine = {
            "constant": np.zeros(self.documents, dtype=bool),
            "coin": chance.random(self.documents) < self.relevant,
        }.get(self.machine, truth ^ (chance.random(self.documents) >= right))
        return truth ^ wrong, machine

    @property
    def of_topics(self) -> NDArray[np.int64]:
        """The topic of each document."""
        return np.arange(self.documents) * self.topics // self.documents


TOPIC_SHIFT = 0.05  # at most, of the machine's chance to be right in a topic


def replaced(design: Annotators) -> Study:
    """Decide whether the machine may replace one of the annotators."""
    topics: Mapping[Any, str] | None = None
    if design.topics:
        topics = {place: f"topic {topic}" for place, topic in enumerate(design.of_topics)}

    def study(chance: Generator) -> Mapping[str, bool | int | None]:
        people, machine = design.draw(chance)
        answers = {
            f"person {number}": dict(enumerate(row.tolist()))
            for number, row in enumerate(people, start=1)
        }
        comparison = compare_labels(answers, dict(enumerate(machine.tolist())), topics)
        passes = annotator_test(comparison.scores, MARGIN).passes
        # The bootstrap behind the last conditions takes time, and cannot change a failed test.
        may = passes and replacement(comparison, agreement(comparison), MARGIN).may_replace
        return {ALONE: passes, MAY_REPLACE: may}

    return study
