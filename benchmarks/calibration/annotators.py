"""Annotators who mark documents, with a chance for each document that is known."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.random import Generator

from survey.core.agreement.reliability import reliability_of

ALPHA_COVERED = "the interval of alpha holds the true alpha"
SOME_DIFFERS = "some annotator is wrongly said to differ"
GUESSER = "the annotator who guesses is said to differ"

RELEVANT = 0.3  # of the documents
MARKED, MARKED_ELSE = 0.9, 0.08  # chance to mark a relevant, and another, document


def alike(annotators: int, documents: int) -> Callable[[Generator], Mapping[str, bool | None]]:
    """Let annotators mark documents who all judge alike."""
    chances, weights = np.array([MARKED, MARKED_ELSE]), np.array([RELEVANT, 1 - RELEVANT])
    mean = float(chances @ weights)
    true_alpha = 1 - float((chances * (1 - chances)) @ weights) / (mean * (1 - mean))
    names = [f"annotator {number}" for number in range(annotators)]

    def study(chance: Generator) -> Mapping[str, bool | None]:
        result = reliability_of(names, [("topic", _marks(documents, annotators, chance))])
        interval = result.ci95
        return {
            ALPHA_COVERED: interval and bool(interval[0] <= true_alpha <= interval[1]),
            SOME_DIFFERS: any(each.differs for each in result.by_assessor),
        }

    return study


def with_a_guesser(
    annotators: int, documents: int, guesses: float
) -> Callable[[Generator], Mapping[str, bool | None]]:
    """Let the first of the annotators toss a coin in a share of the documents."""
    names = [f"annotator {number}" for number in range(annotators)]

    def study(chance: Generator) -> Mapping[str, bool | None]:
        marks = _marks(documents, annotators, chance)
        guessed = chance.random(documents) < guesses
        marks[guessed, 0] = chance.random(int(guessed.sum())) < 0.5
        return {GUESSER: reliability_of(names, [("topic", marks)]).by_assessor[0].differs}

    return study


def _marks(documents: int, annotators: int, chance: Generator) -> "np.typing.NDArray[np.float64]":
    relevant = chance.random((documents, 1)) < RELEVANT
    marked = chance.random((documents, annotators)) < np.where(relevant, MARKED, MARKED_ELSE)
    return marked.astype(np.float64)
