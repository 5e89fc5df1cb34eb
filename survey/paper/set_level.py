"""Tests that need only the votes per set: their units are the sets, not the participants.

Without the single answers there is no participant to take a mean over, so the tests over
participants (T1), the two-way errors, McNemar and Cochran's Q are impossible. The tests here
take the sets as a sample of their kind (T2). They see how much sets differ, the noise of their
votes included, but not how much the participants do, who were the same in every set. A
percentile bootstrap over ten sets is too narrow and not offered.

The exchange test is exact. Within each set the counts stay with their orders, and the measures
are exchanged among the orders, every assignment being equally likely; measures whose orders
are identical stay together, as one order with one count. It gives every *order* the same
chance: the second column that an identical order takes on the page is no part of it (for
that, see ``label_permutation``).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import permutations
from operator import add, itemgetter
from typing import Any

import numpy as np

from survey.core.agreement.agreement import json_values, with_holm
from survey.core.agreement.credits import OTHER, Ballots, Credits, distinct_questions, tally_credits
from survey.core.agreement.differences import (
    T2,
    Pair,
    QuestionsTest,
    by_questions,
    differences,
    pairs,
)
from survey.core.agreement.label_permutation import Redraws, label_permutation
from survey.core.statistics.max_t import T, largest_t_p
from survey.core.statistics.significance import LEVEL, MeanTest, Statistic, t_test
from survey.core.studies.rankings import Ranking

MEAN_COUNT = 3  # measures
IDENTICAL_PAIR = "the orders of the two are identical"
IDENTICAL_ANY = "two of the orders are identical"
EXCHANGED = "these counts, measures exchanged among the orders of each set"
OWN_ORDERING = Ranking((("of one's own",), ("rest",)))  # of an answer that is OTHER

Votes = Mapping[str, int]


@dataclass(frozen=True)
class PublishedCounts:
    """A table of votes per set, without the answers behind it.

    ``votes``: for each set the counts of the measures, in order, and of OTHER.
    ``identical``: set number → the measures that order its lists alike, so that
    their counts are the same votes. ``participants``: answers per set, one each.
    """

    measures: tuple[str, ...]
    votes: tuple[tuple[int, ...], ...]
    identical: Mapping[int, tuple[str, ...]]
    participants: int

    @property
    def by_set(self) -> dict[int, Votes]:
        """Set number → votes by measure and OTHER."""
        names = (*self.measures, OTHER)
        return {n: dict(zip(names, row, strict=True)) for n, row in enumerate(self.votes, 1)}

    def rankings(self) -> dict[int, dict[str, Ranking]]:
        """Return placeholder orders, equal exactly where the unpublished orders were equal.

        They serve credits, counts and shares, which depend on the equality of orders only.
        """
        placeholders = {}
        for number in self.by_set:
            together = self.identical.get(number, ())
            firsts = {name: together[0] if name in together else name for name in self.measures}
            placeholders[number] = {
                name: Ranking(((first,), ("rest",))) for name, first in firsts.items()
            }
        return placeholders

    def credits(self) -> Credits:
        """Convert the counts to ballots and return their credits.

        Raises ValueError where identical orders have different counts, or a set's
        counts do not add up to the participants once identical orders are merged.
        """
        answers = [
            (number, name, count) for number in self.by_set for name, count in self._answers(number)
        ]
        ticked = [[measure == name for measure in self.measures] for _, name, _ in answers]
        return tally_credits(
            Ballots(
                measures=self.measures,
                rankings=self.rankings(),
                questions=np.array([number for number, _, _ in answers]),
                ticked=np.array(ticked, dtype=bool),
                owns=tuple(OWN_ORDERING if name == OTHER else None for _, name, _ in answers),
                ballot_index=np.zeros(0, dtype=np.int32),
                first_answer=np.zeros(0, dtype=np.int64),
                counts=np.array([count for _, _, count in answers]),
            )
        )

    def _answers(self, number: int) -> list[tuple[str, int]]:
        """Return a set's measures and OTHER with their votes, identical orders once."""
        counts, together = self.by_set[number], self.identical.get(number, ())
        for name in together[1:]:
            if counts[name] != counts[together[0]]:
                raise ValueError(
                    f"set {number}: {together[0]} has {counts[together[0]]} votes and {name} "
                    f"{counts[name]}, though their orders are identical"
                )
        answers = [(name, count) for name, count in counts.items() if name not in together[1:]]
        total = sum(count for _, count in answers)
        if total != self.participants:
            raise ValueError(
                f"set {number}: {total} votes after merging identical orders, "
                f"but {self.participants} participants"
            )
        return answers


@dataclass(frozen=True, kw_only=True)
class Exchange(Statistic):
    """A number of votes when measures are exchanged among the orders of each set.

    ``observed``, ``null_mean``: votes; ``p_upper``: chance of as much or more; ``p``: of
    being as far from the null mean, on either side; ``p_holm``: ``p`` over all pairs. Both
    exact, in (0, 1].
    """

    observed: int
    null_mean: float
    p_upper: float
    p: float
    p_holm: float | None = None


@dataclass(frozen=True, kw_only=True)
class MeasureExchange(Exchange):
    """The same for one measure; ``p_any``: exact chance that any measure has as much or more.

    It is the one that counts where a measure was chosen after its votes were seen.
    """

    p_any: float


@dataclass(frozen=True, kw_only=True)
class FirstPlaces(Statistic):
    """In how many sets a measure got most votes, tied or alone, and what exchanging gives.

    ``chance_by_set``: of being first or tied, in [0, 1], in the sets' order; ``expected``,
    ``expected_outright``: sets, the null means; ``p_at_least``, ``p_outright_at_least``:
    chance of as many sets or more, exact; ``p_any_at_least``, ``p_any_outright_at_least``: that
    any measure gets as many.
    """

    measure: str
    or_tied: int
    chance_by_set: tuple[float, ...]
    expected: float
    p_at_least: float
    p_any_at_least: float
    outright: int
    expected_outright: float
    p_outright_at_least: float
    p_any_outright_at_least: float


@dataclass(frozen=True, kw_only=True)
class SetsMean(MeanTest):
    """A t test over sets of a difference in share, in [-1, 1], df = sets - 1.

    ``mean`` and ``sd`` (of n - 1) of the sets' differences, each the votes for the first
    minus those for the second, divided by the participants.
    """

    sd: float | None = None


@dataclass(frozen=True)
class ScopeTests:
    """A pair's tests over some of the sets; both name the sets left out and the reason."""

    sets: tuple[int, ...]
    mean: SetsMean
    questions: QuestionsTest


@dataclass(frozen=True)
class SetTests:
    """Two measures, compared over the sets.

    ``by_set``: votes for the first minus the second; ``chance_lead``: the lead that random
    clicking of one column per answer gives, since an identical order is credited for the
    other's column too; ``structural_ties``: sets where the two orders are identical, so that
    they tie whatever people think. ``scopes``: the same tests over ``all_sets``, ``free`` (without
    the structural ties) and ``distinct`` (sets whose orders all differ, so that random clicking
    gives no lead).
    """

    pair: Pair
    by_set: tuple[int, ...]
    chance_lead: float
    structural_ties: tuple[int, ...]
    scopes: dict[str, ScopeTests]
    exchange: Exchange

    @property
    def lead(self) -> int:
        """Votes for the first minus the second in all sets together."""
        return sum(self.by_set)

    @property
    def lead_without(self) -> tuple[int, ...]:
        """The lead with each set left out."""
        return tuple(self.lead - step for step in self.by_set)

    def as_json(self) -> dict[str, Any]:
        """Return the lead and the tests as plain values."""
        return {
            "pair": str(self.pair),
            "by_set": list(self.by_set),
            "lead": self.lead,
            "chance_lead": self.chance_lead,
            "structural_ties": list(self.structural_ties),
            "ties": self.scopes["free"].questions.tied,
            "lead_without_set": list(self.lead_without),
            "exchange": json_values(self.exchange),
            **{
                name: {
                    "sets": list(scope.sets),
                    "t_test": json_values(scope.mean),
                    "questions": json_values(scope.questions),
                }
                for name, scope in self.scopes.items()
            },
        }


@dataclass(frozen=True)
class SetLevel:
    """All tests that counts per set allow. ``totals``, ``first_places``: by measure."""

    pairs: tuple[SetTests, ...]
    totals: dict[str, MeasureExchange]
    first_places: dict[str, FirstPlaces]

    def as_json(self) -> dict[str, Any]:
        """Return all tests as plain values."""
        return {
            "pairs": [tests.as_json() for tests in self.pairs],
            "totals": json_values(self.totals),
            "first_places": json_values(self.first_places),
        }


def set_level(counts: PublishedCounts) -> SetLevel:
    """Run all tests on the counts, each with Holm's correction over the pairs.

    Raises ValueError as ``PublishedCounts.credits`` does.
    """
    credits, compared = counts.credits(), pairs(counts.measures)
    sets = range(1, len(counts.votes) + 1)
    ties = [
        tuple(k for k in sets if set(pair) <= set(counts.identical.get(k, ()))) for pair in compared
    ]
    free = [[number for number in sets if number not in tied] for tied in ties]
    distinct = distinct_questions(counts.rankings())
    scopes = {
        "all_sets": _test_scope(counts, credits, [sets] * len(compared), ""),
        "free": _test_scope(counts, credits, free, IDENTICAL_PAIR),
        "distinct": _test_scope(counts, credits, [distinct] * len(compared), IDENTICAL_ANY),
    }
    exchanges = [_exchange(counts, partial(_lead, pair)) for pair in compared]
    tests = zip(compared, ties, with_holm(exchanges, "p"), strict=True)
    return SetLevel(
        pairs=tuple(
            SetTests(
                pair,
                tuple(_lead(pair, votes) for votes in counts.by_set.values()),
                round(label_permutation(Redraws(credits), pair).null_mean or 0.0, 9),
                tied,
                {scope: by_pair[index] for scope, by_pair in scopes.items()},
                exchange,
            )
            for index, (pair, tied, exchange) in enumerate(tests)
        ),
        totals=_of_each_measure(counts, itemgetter),
        first_places=_first_places(counts),
    )


def p_if_participants_differ(tests: SetTests, spread: float, participants: int) -> float:
    """Return p of the mean over all sets as the product's verdicts have it, if participants differ.

    ``spread``: the standard deviation of the participants' own mean differences, a share. Counts
    per set do not show it; the mean's variance grows by spread² / participants, its degrees of
    freedom are Satterthwaite's, and p is that of the largest |t| of all measures' pairs.
    """
    mean = tests.scopes["all_sets"].mean
    if mean.mean is None or mean.se is None or mean.df is None:
        raise ValueError(f"{tests.pair}: the mean over the sets is not tested")
    of_sets, of_people = mean.se**2, spread**2 / participants
    variance = of_sets + of_people
    df = variance**2 / (of_sets**2 / mean.df + of_people**2 / (participants - 1))
    return largest_t_p(T(mean.mean / math.sqrt(variance), df), MEAN_COUNT)


def most_points_apart(tests: SetTests, participants: int) -> int | None:
    """Return the largest spread, in whole points, with which a difference is still beyond chance.

    None where it is not even if participants are alike, or whatever the spread.
    """
    for points in range(101):
        if p_if_participants_differ(tests, points / 100, participants) >= LEVEL:
            return points - 1 if points else None
    return None


def _lead(pair: Pair, votes: Votes) -> int:
    return votes[pair.first] - votes[pair.second]


def _test_scope(
    counts: PublishedCounts, credits: Credits, sets_by_pair: Sequence[Sequence[int]], reason: str
) -> list[ScopeTests]:
    """Test each pair over its sets; ``reason``: why the others are left out."""
    means, questions = [], []
    for pair, sets in zip(pairs(counts.measures), sets_by_pair, strict=True):
        skipped = len(counts.votes) - len(sets)
        left_out = {reason: skipped} if skipped else {}
        leads = [_lead(pair, counts.by_set[number]) for number in sets]
        mean = _mean([lead / counts.participants for lead in leads])
        of_sets = credits.subset(np.isin(credits.questions, sets))
        by_set = by_questions(differences(of_sets, pair), of_sets, len(sets))
        means.append(replace(mean, left_out=left_out))
        questions.append(replace(by_set, left_out=left_out))
    means, questions = with_holm(means, "p"), with_holm(questions, "sign_flip_p")
    return [
        ScopeTests(tuple(sets), mean, by_set)
        for sets, mean, by_set in zip(sets_by_pair, means, questions, strict=True)
    ]


def _mean(shares: Sequence[float]) -> SetsMean:
    frame = SetsMean(estimand=T2, n=len(shares), unit="sets")
    if len(shares) < 2:
        return replace(frame, why="a t test needs two sets")
    mean, sd = float(np.mean(shares)), float(np.std(shares, ddof=1))
    frame = replace(frame, mean=mean, sd=sd)
    if len(set(shares)) == 1:
        return replace(frame, why="the difference is the same in every set")
    return replace(frame, **t_test(mean, sd / math.sqrt(len(shares)), len(shares) - 1))


def assignments(counts: PublishedCounts) -> list[list[Votes]]:
    """List, for each set, the measures' votes under each exchange, all equally likely."""
    return [_exchanges(counts, number) for number in counts.by_set]


def _exchanges(counts: PublishedCounts, number: int) -> list[Votes]:
    votes, together = counts.by_set[number], counts.identical.get(number, ())
    orders: list[tuple[str, ...]] = [(name,) for name in counts.measures if name not in together]
    if together:
        orders.append(tuple(together))
    return [
        {name: count for order, count in zip(orders, exchanged, strict=True) for name in order}
        for exchanged in permutations(votes[order[0]] for order in orders)
    ]


def _exchange(counts: PublishedCounts, value: Callable[[Votes], int]) -> Exchange:
    """Test the sum over the sets of a value of each set's votes."""
    observed = sum(map(value, counts.by_set.values()))
    chances = {0: Fraction(1)}  # of every sum
    for exchanges in assignments(counts):
        longer: dict[int, Fraction] = defaultdict(Fraction)
        for total, chance in chances.items():
            for votes in exchanges:
                longer[total + value(votes)] += chance / len(exchanges)
        chances = longer
    mean = sum((total * chance for total, chance in chances.items()), Fraction(0))
    far = abs(observed - mean)
    return Exchange(
        estimand=EXCHANGED,
        n=len(counts.votes),
        unit="sets",
        observed=observed,
        null_mean=float(mean),
        p_upper=float(sum(chance for total, chance in chances.items() if total >= observed)),
        p=float(sum(chance for total, chance in chances.items() if abs(total - mean) >= far)),
    )


def _of_each_measure(
    counts: PublishedCounts, value_of: Callable[[str], Callable[[Votes], int]]
) -> dict[str, MeasureExchange]:
    """Test each measure's sum of a value, also against the largest of the measures' sums."""
    values = [value_of(name) for name in counts.measures]
    largest = _largest_sums(counts, values)
    exchanges = {}
    for name, value in zip(counts.measures, values, strict=True):
        alone = _exchange(counts, value)
        p_any = float(sum(chance for most, chance in largest.items() if most >= alone.observed))
        exchanges[name] = MeasureExchange(**vars(alone), p_any=p_any)
    return exchanges


def _largest_sums(
    counts: PublishedCounts, values: Sequence[Callable[[Votes], int]]
) -> dict[int, Fraction]:
    """Return the chance of every largest among the sums of several values over the sets."""
    ways, all_ways = {(0,) * len(values): 1}, 1
    for exchanges in assignments(counts):
        steps = Counter(tuple(value(votes) for value in values) for votes in exchanges)
        longer: dict[tuple[int, ...], int] = defaultdict(int)
        for sums, number in ways.items():
            for step, times in steps.items():
                longer[tuple(map(add, sums, step))] += number * times
        ways, all_ways = longer, all_ways * len(exchanges)
    largest: dict[int, Fraction] = defaultdict(Fraction)
    for sums, number in ways.items():
        largest[max(sums)] += Fraction(number, all_ways)
    return largest


def _first_places(counts: PublishedCounts) -> dict[str, FirstPlaces]:
    """Count the sets that each measure won, and test that by exchanging the measures.

    A set without a vote for any measure has no first place.
    """

    def is_first(measure: str, votes: Votes) -> bool:
        return votes[measure] == max(votes[name] for name in counts.measures) > 0

    def is_alone(measure: str, votes: Votes) -> bool:
        others = (votes[name] for name in counts.measures if name != measure)
        return is_first(measure, votes) and votes[measure] not in others

    or_tied = _of_each_measure(counts, lambda name: partial(is_first, name))
    outright = _of_each_measure(counts, lambda name: partial(is_alone, name))
    return {
        name: FirstPlaces(
            estimand=EXCHANGED,
            n=len(counts.votes),
            unit="sets",
            measure=name,
            or_tied=or_tied[name].observed,
            chance_by_set=tuple(
                sum(is_first(name, votes) for votes in exchanges) / len(exchanges)
                for exchanges in assignments(counts)
            ),
            expected=or_tied[name].null_mean,
            p_at_least=or_tied[name].p_upper,
            p_any_at_least=or_tied[name].p_any,
            outright=outright[name].observed,
            expected_outright=outright[name].null_mean,
            p_outright_at_least=outright[name].p_upper,
            p_any_outright_at_least=outright[name].p_any,
        )
        for name in counts.measures
    }
