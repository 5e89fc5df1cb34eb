"""Several studies of one difference: intervals of their mean, of the kind, of a new study."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from survey.core.statistics.components import TableSums, variance_components
from survey.core.statistics.pooling import (
    FEWEST_FOR_KIND,
    mean_of_sites,
    pooled_shared_questions,
    prediction,
)

MEAN_COVERED = "the interval of the sites' mean holds the true difference"
KIND_COVERED = "the interval for questions of this kind holds the true difference"
NEW_COVERED = "the interval for a new site holds its true difference"

SIZES: Mapping[str, tuple[int, ...]] = {
    "30 people each": (30,),
    "15 or 60 people": (15, 60),
    "10, 10 or 100 people": (10, 10, 100),
}
QUESTIONS = 10
OF_QUESTIONS, OF_PEOPLE, REST = 0.15, 0.25, 0.6  # standard deviations of a response
DRAWS = 1_000  # of a prediction: a fifth of the analysis', which only have less chance in them

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Sites:
    """Some studies; ``sizes``: people of each, again from the first; ``tau``: between studies.

    ``is_shared``: whether all ask the same questions.
    """

    number: int
    sizes: tuple[int, ...]
    tau: float
    is_shared: bool

    def draw(self, chance: Generator) -> tuple[list[Numbers], float]:
        """Draw each study's answers, people × questions, and the true difference.

        That is of the shared questions, or 0, that of questions of this kind.
        """
        shared = chance.normal(0, OF_QUESTIONS, QUESTIONS)
        tables = []
        for place in range(self.number):
            people = self.sizes[place % len(self.sizes)]
            own = shared if self.is_shared else chance.normal(0, OF_QUESTIONS, QUESTIONS)
            site = chance.normal(0, self.tau) if self.tau else 0.0
            of_people = chance.normal(0, OF_PEOPLE, (people, 1))
            tables.append(site + own + of_people + chance.normal(0, REST, (people, QUESTIONS)))
        return tables, float(shared.mean()) if self.is_shared else 0.0


def means(sites: Sites) -> Callable[[Generator], Mapping[str, bool | None]]:
    """Tell whether the intervals of the mean and of the kind hold the truth."""

    def study(chance: Generator) -> Mapping[str, bool | None]:
        tables, true = sites.draw(chance)
        happened = {MEAN_COVERED: _holds(mean_of_sites([each.mean() for each in tables]), true)}
        if sites.is_shared and sites.number >= FEWEST_FOR_KIND:
            by_question = [each.mean(axis=0).tolist() for each in tables]
            happened[KIND_COVERED] = _holds(pooled_shared_questions(table=by_question)["kind"], 0)
        return happened

    return study


def new_site(sites: Sites) -> Callable[[Generator], Mapping[str, bool | None]]:
    """Tell whether the interval for a new site holds what a new site is drawn to have."""

    def study(chance: Generator) -> Mapping[str, bool | None]:
        tables, true = sites.draw(chance)
        new = true + (chance.normal(0, sites.tau) if sites.tau else 0.0)
        y = np.array([each.mean() for each in tables])
        v = np.array([_variance(each, is_shared=sites.is_shared) for each in tables])
        low, high = prediction(y, v, int(chance.integers(2**31)), DRAWS)
        return {NEW_COVERED: low <= new <= high}

    return study


def _variance(table: Numbers, *, is_shared: bool) -> float:
    """Return the variance of a study's mean: over people, or over questions too."""
    people, questions = table.shape
    if is_shared:
        return float(table.mean(axis=1).var(ddof=1) / people)
    counts = np.full(people, float(questions)), np.full(questions, float(people))
    sums = TableSums.of(table.sum(axis=1), table.sum(axis=0), *counts, float((table**2).sum()))
    independent = float(table.var(ddof=1)) / table.size
    return max(float(variance_components(sums).variance), independent)


def _holds(figures: Mapping[str, tuple[float, float]], true: float) -> bool:
    low, high = figures["ci95"]
    return bool(low <= true <= high)
