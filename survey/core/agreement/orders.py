"""The order of the lists that a participant holds, and how far each measure agrees with it.

A custom ranking is held as it is. Whoever ticks columns holds the mean of the distinct
ticked orders' midranks, ranked again. Agreement is Kendall's tau-b, Spearman's rho and
the agreement rate over the pairs of lists (Sakai & Zeng 2021). A ticked order has tau 1
with itself by construction, so custom rankings are also given alone.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from survey.core.agreement.credits import Response
from survey.core.stimuli.rankings import Ranking

Midranks = tuple[float, ...]
Compare = Callable[[Midranks, Midranks], float]

# A study has few distinct orders and many responses.
remembered = lru_cache(maxsize=100_000)


@remembered
def midranks_of(ranking: Ranking) -> Midranks:
    """Return the midranks of the lists in alphabetical order: A=B>C is 1.5, 1.5, 3."""
    return tuple(ranking.midranks.values())


def held_order(response: Response, orders: Mapping[str, Ranking]) -> Midranks:
    """Return the midranks of the order a response stands for; ``orders``: by measure."""
    if response.own is not None:
        return midranks_of(response.own)
    return joined(frozenset(orders[response.label_order[n - 1]] for n in response.clicked))


@remembered
def joined(approved: frozenset[Ranking]) -> Midranks:
    """Return the mean of distinct orders' midranks, ranked again with average ranks."""
    # Sums, not means: equal sums of halves are equal exactly.
    return tuple(map(float, stats.rankdata(np.sum([midranks_of(one) for one in approved], axis=0))))


@remembered
def tau_b(one: Midranks, other: Midranks) -> float:
    """Kendall's tau-b in [-1, 1]; NaN where a side is all tied.

    Σ s t / sqrt(Σ s² Σ t²) over the pairs of lists, with the signs s, t of the two
    orders (Kendall 1945). scipy's kendalltau computes a p value as well, which fails for
    two lists and means nothing at five.
    """
    mine, theirs = _signs(one), _signs(other)
    untied = float(mine @ mine) * float(theirs @ theirs)
    return float(mine @ theirs) / math.sqrt(untied) if untied else math.nan


@remembered
def spearman(one: Midranks, other: Midranks) -> float:
    """Spearman's rho on midranks, in [-1, 1]; NaN where a side is all tied."""
    if len(set(one)) == 1 or len(set(other)) == 1:
        return math.nan
    return float(np.corrcoef(one, other)[0, 1])


@remembered
def agreement_strict(one: Midranks, other: Midranks) -> float:
    """Return the share of list pairs ordered alike, a tie agreeing with a tie; in [0, 1]."""
    return float(np.mean(_signs(one) == _signs(other)))


@remembered
def agreement_half(one: Midranks, other: Midranks) -> float:
    """Return the agreement rate with 1/2 for a pair that exactly one side ties; in [0, 1]."""
    mine, theirs = _signs(one), _signs(other)
    one_tied = (mine == 0) != (theirs == 0)
    return float(np.mean((mine == theirs) + 0.5 * one_tied))


@remembered
def _signs(midranks: Midranks) -> NDArray[np.float64]:
    return np.array([np.sign(b - a) for a, b in combinations(midranks, 2)])


@dataclass(frozen=True)
class Held:
    """The orders held in a study's responses, and the measures' beside them.

    ``participants``, ``questions``, ``custom``: for each response; ``held``: its order;
    ``offered``: question → measure → midranks.
    """

    measures: tuple[str, ...]
    participants: tuple[str, ...]
    questions: tuple[int, ...]
    custom: tuple[bool, ...]
    held: tuple[Midranks, ...]
    offered: Mapping[int, Mapping[str, Midranks]]

    def against_measures(self, compare: Compare) -> NDArray[np.float64]:
        """Compare each response's order with each measure's, shape (responses, measures)."""
        return np.array(
            [
                [compare(order, self.offered[question][name]) for name in self.measures]
                for order, question in zip(self.held, self.questions, strict=True)
            ]
        ).reshape(len(self.held), len(self.measures))

    def in_question(self) -> Iterator[tuple[int, list[tuple[str, Midranks]]]]:
        """Yield each question with its participants' orders, also where nobody answered."""
        answers = list(zip(self.questions, self.participants, self.held, strict=True))
        for question in self.offered:
            yield question, [(who, order) for where, who, order in answers if where == question]


def hold(
    responses: Sequence[Response],
    rankings: Mapping[int, Mapping[str, Ranking]],
    measures: Sequence[str],
) -> Held:
    """Read the order held in each response; ``rankings``: question → measure → order."""
    return Held(
        measures=tuple(measures),
        participants=tuple(response.participant for response in responses),
        questions=tuple(response.question for response in responses),
        custom=tuple(response.own is not None for response in responses),
        held=tuple(held_order(one, rankings[one.question]) for one in responses),
        offered={
            question: {name: midranks_of(orders[name]) for name in measures}
            for question, orders in sorted(rankings.items())
        },
    )
