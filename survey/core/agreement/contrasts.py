"""Where a difference between two measures comes from: questions in which they contradict or not.

For a pair of measures a question is of one of three kinds. They contradict each other where they
put some two lists in opposite orders. They differ by ties only where one orders lists that the
other ties, and nothing more: who ticks the first there may only want an order without ties. Where
their orders are identical, no answer can tell them apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.credits import Credits, answered_questions
from survey.core.agreement.differences import (
    NO_RESPONSES,
    Components,
    Pair,
    ParticipantsTest,
    TwoWay,
    by_participants,
    components,
    mean_of,
    two_way,
)
from survey.core.studies.rankings import CONTRADICTING, IDENTICAL, TIES_ONLY, breaks_ties, contrast


@dataclass(frozen=True)
class QuestionCounts:
    """How many answered ``questions`` there are of a kind, and ``responses`` to them."""

    questions: int
    responses: int


@dataclass(frozen=True)
class ContrastPart(QuestionCounts):
    """The questions of one kind, and what they give to the difference.

    ``contribution``: what their responses add to the mean difference of all responses; ``mean``:
    the difference in their responses alone, which is what the tests are of; ``why``: why there
    is none.
    """

    contribution: float | None
    mean: float | None
    why: str | None
    two_way: TwoWay
    components: Components
    participants: ParticipantsTest


@dataclass(frozen=True)
class ByContrast:
    """A difference, split by how the two orders differ in a question.

    ``first_breaks_ties``: the number of ``ties_only`` questions in which the first order puts lists
    apart that the second ties; ``second_breaks_ties``: the other way round.
    """

    contradicting: ContrastPart
    ties_only: ContrastPart
    identical: QuestionCounts
    first_breaks_ties: int
    second_breaks_ties: int


def by_contrast(d: NDArray[np.float64], credits: Credits, pair: Pair) -> ByContrast:
    """Split the mean of d by how the pair's orders differ in a question.

    ``d``: (K,), a value for each ballot.
    """
    ballots = credits.ballots
    rankings = {number: ballots.rankings[number] for number in answered_questions(ballots)}
    orders = {number: (of[pair.first], of[pair.second]) for number, of in rankings.items()}
    kinds = {number: contrast(*both) for number, both in orders.items()}
    ties = [orders[number] for number, kind in kinds.items() if kind == TIES_ONLY]
    identical = _of_kind(credits, kinds, IDENTICAL)
    return ByContrast(
        contradicting=_part(d, credits, kinds, CONTRADICTING),
        ties_only=_part(d, credits, kinds, TIES_ONLY),
        identical=QuestionCounts(list(kinds.values()).count(IDENTICAL), len(identical)),
        first_breaks_ties=sum(breaks_ties(first, second) for first, second in ties),
        second_breaks_ties=sum(breaks_ties(second, first) for first, second in ties),
    )


def _of_kind(credits: Credits, kinds: Mapping[int, str], kind: str) -> Credits:
    numbers = [number for number, found in kinds.items() if found == kind]
    return credits.subset(np.isin(credits.questions, numbers))


def _part(
    d: NDArray[np.float64], credits: Credits, kinds: Mapping[int, str], kind: str
) -> ContrastPart:
    questions, part = list(kinds.values()).count(kind), _of_kind(credits, kinds, kind)
    mean, participants = mean_of(d, part), by_participants(d, part)
    return ContrastPart(
        questions=questions,
        responses=len(part),
        contribution=mean * len(part) / len(credits) if mean is not None else None,
        mean=mean,
        why=None if len(part) else NO_RESPONSES if questions else "no question is of this kind",
        two_way=two_way(d, part),
        components=components(d, part, participants),
        participants=participants,
    )
