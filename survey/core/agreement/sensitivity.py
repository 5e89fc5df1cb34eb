"""Whether the differences hang on a choice of ours: the same figures under other choices."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from survey.core.agreement.agreement import TIES, Rankings
from survey.core.agreement.credits import Credits, Response, tally_credits
from survey.core.agreement.differences import Pair, TwoWay, differences, pairs, two_way


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
    responses: Sequence[Response],
    rankings: Rankings,
    measures: Sequence[str],
    flagged: Collection[str],
) -> tuple[Variant, ...]:
    """Recompute the differences under each choice that could have been made otherwise.

    Without the ``flagged`` participants; with shared votes split, or dropped; and leaving
    out one question at a time.
    """
    credits = tally_credits(responses, rankings, measures)
    return tuple(
        Variant(name, len(some), _effects(some))
        for name, some in _choices(credits, sorted(rankings), flagged)
    )


def _choices(
    credits: Credits, questions: Sequence[int], flagged: Collection[str]
) -> Iterator[tuple[str, Credits]]:
    yield "every response", credits
    if flagged:
        kept = np.array([str(who) not in flagged for who in credits.participants], dtype=bool)
        yield "without flagged participants", credits.within(kept)
    for ties in TIES:
        if ties != "kept":
            yield f"shared votes {ties}", TIES[ties](credits)
    for question in questions if len(questions) > 1 else ():
        yield f"without question {question}", credits.within(credits.questions != question)


def _effects(credits: Credits) -> tuple[Effect, ...]:
    effects = []
    for pair in pairs(credits.measures):
        d = differences(credits, pair)
        mean = float(d.mean()) if len(d) else None
        effects.append(Effect(pair, mean, two_way(d, credits.participants, credits.questions)))
    return tuple(effects)
