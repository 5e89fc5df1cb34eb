"""Where a difference between two measures comes from: questions in which they contradict or not.

For a pair of measures a question is of one of three types. They contradict each other where they
put some two lists in opposite orders. They differ by ties only where one orders lists that the
other ties, and nothing more: who ticks the first there may only want an order without ties. Where
their orders are identical, no answer can tell them apart.

Where they contradict each other, one may tie lists besides. Such a question is balanced if each
ties as many pairs of lists that the other orders; else who avoids ties, or holds an order without
any, leans to one of the two for that alone. So a preference between the orders is decided by
balanced questions, beyond what people with random orders without ties give there.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.credits import Credits, answered_questions
from survey.core.agreement.differences import (
    NO_RESPONSES,
    BallotSums,
    Components,
    Pair,
    ParticipantsTest,
    TwoWay,
    by_participants,
    components,
    mean_of,
    two_way,
)
from survey.core.statistics.rater_agreement import signs
from survey.core.statistics.significance import RandomStream
from survey.core.studies.rankings import (
    CONTRADICTING,
    IDENTICAL,
    TIES_ONLY,
    Ranking,
    breaks_ties,
    contrast,
    is_balanced,
    more_ties,
)

NO_QUESTION = "no question is of this kind"
BALANCED, UNBALANCED = "balanced", "unbalanced"
CONTRASTS = (BALANCED, UNBALANCED, TIES_ONLY, IDENTICAL)
MOST_PERMUTED = 7  # lists, of which all orders are taken
RANDOM_ORDERS = 5040  # of more lists


@dataclass(frozen=True)
class QuestionCounts:
    """How many answered ``questions`` there are of a contrast, and ``responses`` to them."""

    questions: int
    responses: int


@dataclass(frozen=True)
class ContrastPart(QuestionCounts):
    """The questions of one contrast, and what they give to the difference.

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
class Beyond:
    """A mean difference in balanced questions, less what random orders without ties give there."""

    mean: float | None
    why: str | None
    components: Components
    participants: ParticipantsTest


@dataclass(frozen=True)
class Balanced(QuestionCounts):
    """The contradicting questions in which neither measure ties more lists than the other.

    ``mean``: the difference in their responses alone, which is what the tests are of.
    """

    mean: float | None
    why: str | None
    components: Components
    participants: ParticipantsTest
    above_random_orders: Beyond


@dataclass(frozen=True)
class Unbalanced(QuestionCounts):
    """The other contradicting questions, with the mean difference in their responses alone.

    ``first_ties_fewer``: in how many of them the first measure ties fewer lists.
    """

    mean: float | None
    why: str | None
    first_ties_fewer: int


@dataclass(frozen=True)
class ByContrast:
    """A difference, split by how the two orders differ in a question.

    ``balanced`` and ``unbalanced`` are the contradicting questions. ``first_breaks_ties``: the
    number of ``ties_only`` questions in which the first order puts lists apart that the second
    ties; ``second_breaks_ties``: the other way round.
    """

    contradicting: ContrastPart
    balanced: Balanced
    unbalanced: Unbalanced
    ties_only: ContrastPart
    identical: QuestionCounts
    first_breaks_ties: int
    second_breaks_ties: int


def contrast_part(first: Ranking, second: Ranking) -> str:
    """Return how two orders differ in a question, one of CONTRASTS; two parts contradict."""
    how = contrast(first, second)
    if how != CONTRADICTING:
        return how
    return BALANCED if is_balanced(first, second) else UNBALANCED


def by_contrast(d: NDArray[np.float64], credits: Credits, pair: Pair) -> ByContrast:
    """Split the mean of d by how the pair's orders differ in a question.

    ``d``: (K,), a value for each ballot.
    """
    ballots = credits.ballots
    rankings = {number: ballots.rankings[number] for number in answered_questions(ballots)}
    orders = {number: (of[pair.first], of[pair.second]) for number, of in rankings.items()}
    contrasts = {number: contrast(*both) for number, both in orders.items()}
    ties = [orders[number] for number, how in contrasts.items() if how == TIES_ONLY]
    identical = _with_contrast(credits, contrasts, IDENTICAL)
    contradicting = [number for number, how in contrasts.items() if how == CONTRADICTING]
    balanced = {number for number in contradicting if contrast_part(*orders[number]) == BALANCED}
    return ByContrast(
        contradicting=_part(d, credits, contrasts, CONTRADICTING),
        balanced=_balanced(d, credits, pair, balanced),
        unbalanced=_unbalanced(
            d,
            credits,
            {*contradicting} - balanced,
            sum(more_ties(*reversed(orders[number])) > 0 for number in contradicting),
        ),
        ties_only=_part(d, credits, contrasts, TIES_ONLY),
        identical=QuestionCounts(list(contrasts.values()).count(IDENTICAL), len(identical)),
        first_breaks_ties=sum(breaks_ties(first, second) for first, second in ties),
        second_breaks_ties=sum(breaks_ties(second, first) for first, second in ties),
    )


def _with_contrast(credits: Credits, contrasts: Mapping[int, str], how: str) -> Credits:
    return _in(credits, [number for number, found in contrasts.items() if found == how])


def _in(credits: Credits, numbers: Collection[int]) -> Credits:
    return credits.subset(np.isin(credits.questions, [*numbers]))


def _balanced(
    d: NDArray[np.float64], credits: Credits, pair: Pair, numbers: Collection[int]
) -> Balanced:
    part = _in(credits, numbers)
    spread = BallotSums.of(d, part)
    above = BallotSums.of(d - expected_of_random_orders(part, pair, numbers), part)
    tests = by_participants(spread)
    tests_above = by_participants(above)
    return Balanced(
        questions=len(numbers),
        responses=len(part),
        mean=spread.mean,
        why=_why(part, numbers),
        components=components(spread, tests),
        participants=tests,
        above_random_orders=Beyond(
            above.mean, _why(part, numbers), components(above, tests_above), tests_above
        ),
    )


def _unbalanced(
    d: NDArray[np.float64], credits: Credits, numbers: Collection[int], first_ties_fewer: int
) -> Unbalanced:
    part = _in(credits, numbers)
    why = _why(part, numbers)
    return Unbalanced(len(numbers), len(part), mean_of(d, part), why, first_ties_fewer)


def _why(part: Credits, numbers: Collection[int]) -> str | None:
    """Return why a part of the questions has no mean, None where it has one."""
    return None if len(part) else NO_RESPONSES if numbers else NO_QUESTION


def expected_of_random_orders(
    credits: Credits, pair: Pair, numbers: Collection[int]
) -> NDArray[np.float64]:
    """Return what d is on average if people hold random orders without ties, for each ballot (K,).

    They tick the order that agrees with theirs in most pairs of lists; where one ties two lists, it
    agrees with none. Of several that agree equally, each is ticked as often. 0 for an order of
    one's own, and in other questions than the numbered.
    """
    expected = np.zeros(len(credits.questions))
    for number in numbers:
        ballots = (credits.questions == number) & ~credits.other
        expected[ballots] = expected_of_question(credits.ballots.rankings[number], pair)
    return expected


def expected_of_question(orders: Mapping[str, Ranking], pair: Pair) -> float:
    """Return what d is on average in a question if people hold random orders without ties."""
    distinct = [*dict.fromkeys(orders.values())]
    offered = signs([[*order.places.values()] for order in distinct]).astype(np.int64)
    held = _random_orders(len(distinct[0].places))
    agreeing = (held @ offered.T + (offered != 0).sum(axis=1)) // 2
    nearest = agreeing == agreeing.max(axis=1, keepdims=True)
    ticks = (nearest / nearest.sum(axis=1, keepdims=True)).mean(axis=0)
    first, second = (distinct.index(orders[name]) for name in pair)
    return float(ticks[first] - ticks[second])


@cache
def _random_orders(lists: int) -> NDArray[np.int64]:
    """Return strict orders as the signs of all pairs of lists: all of them, or some at random."""
    if lists <= MOST_PERMUTED:
        places = np.array([*permutations(range(lists))])
    else:
        drawn = np.concatenate([*RandomStream().halves(lists)])[:, :RANDOM_ORDERS]
        places = drawn.T.argsort(axis=1)
    return signs(places).astype(np.int64)


def _part(
    d: NDArray[np.float64], credits: Credits, contrasts: Mapping[int, str], how: str
) -> ContrastPart:
    questions, part = list(contrasts.values()).count(how), _with_contrast(credits, contrasts, how)
    spread = BallotSums.of(d, part)
    mean, participants = spread.mean, by_participants(spread)
    return ContrastPart(
        questions=questions,
        responses=len(part),
        contribution=mean * len(part) / len(credits) if mean is not None else None,
        mean=mean,
        why=None if len(part) else NO_RESPONSES if questions else NO_QUESTION,
        two_way=two_way(d, part),
        components=components(spread, participants),
        participants=participants,
    )
