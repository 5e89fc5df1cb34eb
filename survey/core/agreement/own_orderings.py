"""Measures compared where people only order the lists: whose orders come nearest to people's own.

Where no participant is shown columns, nothing can be ticked and no measure is credited. What is
compared is each ordering's agreement with either measure. Kendall's tau-b decides: a random
ordering has tau-b 0 on average with any order, so neither ties nor identical orders give a lead.
The agreement rate is given beside it; there a tie agrees with no order of two lists.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from survey.core.agreement.agreement import PairTests, corrected_tests
from survey.core.agreement.anchoring import COMPARISONS
from survey.core.agreement.concordance import ParticipantOrders
from survey.core.agreement.credits import UNITS_OF_A_VOTE, Ballots, in_units, tally_credits
from survey.core.agreement.differences import Pair, mean_of, pairs
from survey.core.agreement.verdicts import (
    Verdict,
    decide,
    population_start,
    rests_on,
    undecided_difference,
)
from survey.core.statistics.significance import LEVEL, Interval, rounded

DECIDES = "tau_b"


@dataclass(frozen=True)
class OrderingDifference:
    """How much nearer orderings are to one measure's orders than to the other's.

    ``statistic``: "tau_b" or "agreement_rate"; ``first``, ``second``: mean agreement with either,
    over the ``responses`` where it is defined with both, None without such; ``tests``: of the
    difference, p corrected over all pairs.
    """

    pair: Pair
    statistic: str
    responses: int
    first: float | None
    second: float | None
    tests: PairTests


@dataclass(frozen=True)
class OwnOrderings:
    """The differences of every statistic and pair, by tau-b first."""

    differences: tuple[OrderingDifference, ...]

    def verdicts(self, questions: int, level: float = LEVEL) -> tuple[Verdict, ...]:
        """Return what the orderings support for each pair, where no columns were shown."""
        deciding = [each for each in self.differences if each.statistic == DECIDES]
        return tuple(_verdict(each, len(deciding), questions, level) for each in deciding)


def own_orderings_of(ballots: Ballots) -> OwnOrderings:
    """Compare the agreement of orderings with every two measures."""
    return OwnOrderings(tuple(_differences(ballots)))


def _differences(ballots: Ballots) -> Iterator[OrderingDifference]:
    orders, credits, measures = ParticipantOrders(ballots), tally_credits(ballots), ballots.measures
    for statistic, compare in COMPARISONS.items():
        # In the units of votes, so that sums are exact and tests the same wherever they run.
        values = orders.against_measures(compare)
        known = ~np.isnan(values)
        values = in_units(np.nan_to_num(values)) / UNITS_OF_A_VOTE
        compared, all_tests = [], []
        for pair in pairs(measures):
            sides = [*map(measures.index, pair)]
            counted = credits.subset(known[:, sides[0]] & known[:, sides[1]])
            first, second = (mean_of(values[:, side], counted) for side in sides)
            d = values[:, sides[0]] - values[:, sides[1]]
            all_tests.append(PairTests.of_pair(d, counted, len(ballots.rankings)))
            compared.append((pair, statistic, len(counted), first, second))
        for each, tests in zip(compared, corrected_tests(all_tests, measures), strict=True):
            yield OrderingDifference(*each, tests)


def _verdict(
    difference: OrderingDifference, comparisons: int, questions: int, level: float
) -> Verdict:
    pair, tests = difference.pair, difference.tests
    mean = tests.mean
    if mean is None or difference.first is None or difference.second is None:
        sentence = f"{pair.title} cannot be compared: tau-b is defined in no ordering."
        return Verdict.undecided(pair, sentence)
    ahead, behind = pair if mean > 0 else pair[::-1]
    higher, lower = sorted((difference.first, difference.second), reverse=True)
    agreement = f"mean tau-b {rounded(higher, 3)} and {rounded(lower, 3)}"
    if decision := decide(tests, comparisons, level):
        sentence = (
            f"{population_start(decision.population, questions)}, people's own orderings are "
            f"nearer to {ahead}'s orders than to {behind}'s: {agreement}, a difference of "
            f"{rounded(abs(mean), 3)}{rests_on(decision, mean, comparisons, _interval)}."
        )
        return Verdict(pair, decision.scope, ahead, "orders", decision.population, sentence)
    of_which = undecided_difference(tests, comparisons, questions, level, _interval)
    sentence = (
        f"People's own orderings do not decide between {pair.first} and {pair.second}: mean tau-b "
        f"is {rounded(difference.first, 3)} and {rounded(difference.second, 3)}; the "
        f"difference is {rounded(mean, 3)}, and {of_which}."
    )
    return Verdict.undecided(pair, sentence)


def _interval(interval: Interval, mean: float) -> str:
    """Format an interval, with its sign reversed for a negative mean."""
    low, high = interval if mean > 0 else (-interval[1], -interval[0])
    return f"{rounded(low, 3)} to {rounded(high, 3)}"
