"""Measures compared where people only order the lists: whose orders come nearest to people's own.

Where no participant is shown columns, nothing can be ticked and no measure is credited. What is
compared is each ordering's agreement with either measure, by pairs of lists that the person puts in
an order: 1 where the measure has the same, ½ where it ties the two, 0 where it has the opposite. So
random orderings give neither a lead, whatever ties there are, and ties of a measure are half right.
Kendall's tau-b and the agreement rate, which reward or punish ties, are given beside it and decide
nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.agreement import MeanTests, PairTests, corrected_tests
from survey.core.agreement.anchoring import COMPARISONS
from survey.core.agreement.answers import Answers
from survey.core.agreement.concordance import Compare, ParticipantOrders
from survey.core.agreement.credits import Ballots, Credits, tally_credits
from survey.core.agreement.differences import Pair, mean_of, pairs
from survey.core.agreement.order_effects import OrderEffect, effects_of_ballots
from survey.core.agreement.verdicts import (
    PreferredFor,
    Verdict,
    decide,
    population_start,
    rests_on,
    stopped_by_looks,
    uncorrected_p,
    undecided_difference,
)
from survey.core.statistics.rater_agreement import signs
from survey.core.statistics.significance import LEVEL, Interval, rounded

DECIDES = "pairs"


def pairs_in_order(own: NDArray[np.float64], measure: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of pairs of lists in the order of one's own, a tie of the measure as half.

    Midranks in the last axis. Of all pairs, in [0, 1]; those that are tied in one's own order count
    for nothing.
    """
    of_person, of_measure = signs(own), signs(measure)
    right = np.where(of_person != 0, (1 + of_person * of_measure) / 2, 0.0)
    share: NDArray[np.float64] = right.mean(axis=-1)
    return share


STATISTICS: Mapping[str, Compare] = {DECIDES: pairs_in_order, **COMPARISONS}


@dataclass(frozen=True)
class PairsPart:
    """What some pairs of lists add to the mean difference of all responses."""

    contribution: float | None


@dataclass(frozen=True)
class ContradictingPairs(PairsPart, MeanTests):
    """The same of pairs of lists that the measures put in opposite orders.

    The tests are of this part alone, over the responses to questions with such pairs.
    """


@dataclass(frozen=True)
class ByPairs:
    """A difference split by pairs of lists: which the measures contradict each other in.

    ``first_only``, ``second_only``: pairs that only this measure orders, and the other ties.
    """

    contradicting: ContradictingPairs
    first_only: PairsPart
    second_only: PairsPart


@dataclass(frozen=True)
class OrderingDifference:
    """How much nearer orderings are to one measure's orders than to the other's.

    ``statistic``: "pairs", "tau_b" or "agreement_rate"; ``first``, ``second``: mean agreement with
    either, over the ``responses`` where it is defined with both, None without such; ``tests``: of
    the difference, p corrected over all pairs; ``by_pairs``: of the statistic that decides.
    """

    pair: Pair
    statistic: str
    responses: int
    first: float | None
    second: float | None
    tests: PairTests
    by_pairs: ByPairs | None


@dataclass(frozen=True)
class OwnOrderings:
    """The differences of every statistic and pair, by the one that decides first."""

    differences: tuple[OrderingDifference, ...]

    def verdicts(self, questions: int, level: float = LEVEL) -> tuple[Verdict, ...]:
        """Return what the orderings support for each pair, where no columns were shown."""
        return tuple(
            _verdict(difference, self._others(difference), questions, level)
            for difference in self.deciding
        )

    @property
    def deciding(self) -> list[OrderingDifference]:
        """The differences of each pair by the statistic that decides."""
        return [each for each in self.differences if each.statistic == DECIDES]

    def _others(self, difference: OrderingDifference) -> list[OrderingDifference]:
        return [
            each
            for each in self.differences
            if each.pair == difference.pair and each.statistic != DECIDES
        ]


def own_orderings_of(ballots: Ballots, primary: Pair | None = None) -> OwnOrderings:
    """Compare the agreement of orderings with every two measures, a ``primary`` pair first."""
    return OwnOrderings(tuple(_differences(ballots, primary)))


def changes_of(answers: Answers, ballots: Ballots) -> tuple[OrderEffect, ...]:
    """Compare later with earlier, and slower with faster orderings, by what decides."""
    d = values_by_pair(ballots)
    counted = np.isfinite(d[0])  # by pairs all are
    return effects_of_ballots(answers, ballots, pairs(ballots.measures), d, counted)


def values_by_pair(ballots: Ballots) -> NDArray[np.float64]:
    """Return for each pair by how much nearer each ballot is to the first, by what decides."""
    measures = ballots.measures
    values = ParticipantOrders(ballots).against_measures(STATISTICS[DECIDES])
    sides = ([*map(measures.index, pair)] for pair in pairs(measures))
    return np.array([values[:, first] - values[:, second] for first, second in sides])


def _differences(ballots: Ballots, primary: Pair | None) -> Iterator[OrderingDifference]:
    orders, credits, measures = ParticipantOrders(ballots), tally_credits(ballots), ballots.measures
    for statistic, compare in STATISTICS.items():
        values = orders.against_measures(compare)
        known = ~np.isnan(values)
        values = np.nan_to_num(values)
        compared, all_tests, parts = [], [], []
        for pair in pairs(measures):
            sides = [*map(measures.index, pair)]
            counted = credits.subset(known[:, sides[0]] & known[:, sides[1]])
            first, second = (mean_of(values[:, side], counted) for side in sides)
            d = values[:, sides[0]] - values[:, sides[1]]
            all_tests.append(PairTests.of_pair(d, counted, len(ballots.rankings)))
            compared.append((pair, statistic, len(counted), first, second))
            parts.append(_by_pairs(orders, credits, sides) if statistic == DECIDES else None)
        corrected = corrected_tests(all_tests, measures, primary=primary)
        for each, tests, part in zip(compared, corrected, parts, strict=True):
            yield OrderingDifference(*each, tests, part)


def _by_pairs(orders: ParticipantOrders, credits: Credits, sides: list[int]) -> ByPairs:
    parts = np.zeros((3, len(orders.ballots)))  # contradicting, first_only, second_only
    has_some = np.zeros(len(orders.ballots), dtype=bool)
    for question in orders.answered():
        own, (first, second) = signs(question.orders), signs(question.measures[sides])
        contradict = first * second < 0
        for part, chosen in enumerate((contradict, second == 0, first == 0)):
            of_pairs = own * (first - second) / 2 * chosen
            parts[part, question.ballots] = of_pairs.mean(axis=1)
        has_some[question.ballots] = contradict.any()
    contributions = [mean_of(part, credits) for part in parts]
    tests = MeanTests.of(parts[0], credits.subset(has_some))
    contradicting = ContradictingPairs(contribution=contributions[0], **vars(tests))
    return ByPairs(contradicting, *(PairsPart(each) for each in contributions[1:]))


def _verdict(
    difference: OrderingDifference,
    others: list[OrderingDifference],
    questions: int,
    level: float,
) -> Verdict:
    pair, tests = difference.pair, difference.tests
    mean = tests.mean
    if mean is None or difference.first is None or difference.second is None:
        sentence = f"{pair.title} cannot be compared: there are no orderings."
        return Verdict.undecided(pair, sentence)
    ahead, behind = pair if mean > 0 else pair[::-1]
    higher, lower = sorted((difference.first, difference.second), reverse=True)
    agreement = f"{_percent(higher)} and {_percent(lower)} of 100 pairs of lists"
    opposite = [each.statistic for each in others if (each.tests.mean or 0.0) * mean < 0]
    names = {"tau_b": "tau-b", "agreement_rate": "the agreement rate"}
    aside = f" By {' and '.join(names[each] for each in opposite)} it is the other way round."
    aside = aside if opposite else ""
    if decision := decide(tests, level):
        preferred_for = _preferred_for(difference.by_pairs, decision.population, mean)
        only = f"through pairs of lists that only {_orders_more(difference, ahead)} orders"
        through, stays_open = "", ""
        if preferred_for == "ties":
            through = f", {only}"
        elif preferred_for == "open":
            stays_open = f" Whether for its order or {only} stays open."
        sentence = (
            f"{population_start(decision.population, questions)}, people's own orderings are "
            f"nearer to {ahead}'s orders than to {behind}'s{through}: {agreement}, a difference of "
            f"{_percent(abs(mean))} points{rests_on(decision, mean, tests.correction, _interval)}."
            f"{stays_open}{aside}"
        )
        return Verdict(pair, decision.scope, ahead, preferred_for, decision.population, sentence)
    of_which = undecided_difference(tests, questions, level, _interval)
    sentence = (
        f"People's own orderings do not decide between {pair.first} and {pair.second}: they have "
        f"{_percent(difference.first)} and {_percent(difference.second)} of 100 pairs of lists in "
        f"common; the difference is {_percent(mean)} points, and {of_which}.{aside}"
    )
    return Verdict.undecided(pair, sentence, stopped_by_looks(tests))


def _preferred_for(parts: ByPairs | None, population: str, mean: float) -> PreferredFor:
    """Return what a lead is for, by pairs of lists that the measures put in opposite orders."""
    part = parts.contradicting if parts else None
    if part is None or (part.contribution or 0.0) * mean <= 0:
        return "ties"
    p = uncorrected_p(part, population)
    return "orders" if p is not None and p < LEVEL else "open"


def _orders_more(difference: OrderingDifference, ahead: str) -> str:
    """Return the measure whose orders, or ties, give most of a lead beside contradictions."""
    parts, pair = difference.by_pairs, difference.pair
    if parts is None:
        return ahead
    towards = 1 if ahead == pair.first else -1
    first, second = (
        towards * (each.contribution or 0.0) for each in (parts.first_only, parts.second_only)
    )
    return pair.first if first >= second else pair.second


def _percent(share: float) -> str:
    return rounded(100 * share)


def _interval(interval: Interval, mean: float) -> str:
    """Format an interval in points, with its sign reversed for a negative mean."""
    low, high = interval if mean > 0 else (-interval[1], -interval[0])
    return f"{_percent(low)} to {_percent(high)}"
