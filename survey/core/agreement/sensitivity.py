"""Whether the differences hang on a choice of ours: the same figures under other choices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.agreement import TIES
from survey.core.agreement.answers import Answers
from survey.core.agreement.ballots import Ballots, Rankings
from survey.core.agreement.credits import Credits, tally_credits
from survey.core.agreement.differences import (
    Pair,
    TwoWay,
    differences,
    mean_of,
    pairs,
    two_way,
)


@dataclass(frozen=True)
class Effect:
    """A pair's mean difference per response, and its two-way test."""

    pair: Pair
    mean: float | None
    two_way: TwoWay


@dataclass(frozen=True)
class Variant:
    """The differences under one choice, named; ``responses``: how many it rests on."""

    name: str
    responses: int
    effects: tuple[Effect, ...]


def sensitivity(
    answers: Answers,
    rankings: Rankings,
    measures: Sequence[str],
    flagged: NDArray[np.bool_],
) -> tuple[Variant, ...]:
    """Recompute the differences under each choice that could have been made otherwise.

    Without the ``flagged`` participants, a mask over them; with shared votes split, or
    dropped; and leaving out one question at a time.
    """
    ballots = Ballots.of(answers, rankings, measures)
    return tuple(
        Variant(name, len(some), _effects(some)) for name, some in _choices(ballots, flagged)
    )


def _choices(ballots: Ballots, flagged: NDArray[np.bool_]) -> Iterator[tuple[str, Credits]]:
    credits, questions = tally_credits(ballots), sorted(ballots.rankings)
    yield "every response", credits
    if flagged.any():
        kept = ballots.of_people(~flagged)
        yield "without flagged participants", replace(credits, ballots=kept)
    for ties in TIES:
        if ties != "kept":
            yield f"shared votes {ties}", TIES[ties](credits)
    for question in questions if len(questions) > 1 else ():
        yield f"without question {question}", credits.within(credits.questions != question)


def _effects(credits: Credits) -> tuple[Effect, ...]:
    effects = []
    for pair in pairs(credits.measures):
        d = differences(credits, pair)
        mean = mean_of(d, credits) if len(credits) else None
        effects.append(Effect(pair, mean, two_way(d, credits)))
    return tuple(effects)
