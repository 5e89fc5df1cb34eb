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
that, see ``permutation.label_permutation``).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations

import numpy as np

from survey.core.agreement.credits import distinct_questions
from survey.core.agreement.differences import (
    T2,
    Pair,
    QuestionsTest,
    Redraws,
    by_questions,
    differences,
    label_permutation,
    pairs,
)
from survey.core.statistics.significance import MeanTest, Statistic, holm, t_test
from survey.services.paper.recount import PublishedCounts

IDENTICAL_PAIR = "the orders of the two are identical"
IDENTICAL_ANY = "two of the orders are identical"
EXCHANGED = "these counts, measures exchanged among the orders of each set"
SCOPES = ("all_sets", "free", "distinct")

Votes = Mapping[str, int]
# The equally likely counts of the measures, set by set.
Assignments = Sequence[Sequence[Votes]]


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
class FirstPlaces(Statistic):
    """In how many sets a measure got most votes, tied or alone, and what exchanging gives.

    ``chance_by_set``: of being first or tied, in [0, 1], in the sets' order; ``expected``,
    ``expected_outright``: sets, the null means; ``p_at_least``, ``p_outright_at_least``:
    chance of as many sets or more, exact.
    """

    measure: str
    or_tied: int
    chance_by_set: tuple[float, ...]
    expected: float
    p_at_least: float
    outright: int
    expected_outright: float
    p_outright_at_least: float


@dataclass(frozen=True, kw_only=True)
class SetsMean(MeanTest):
    """A t test over sets of a difference in share, in [-1, 1], df = sets - 1.

    ``mean`` and ``sd`` (of n - 1) of the sets' differences, each the votes for the first
    minus those for the second, divided by the participants.
    """

    mean: float | None = None
    sd: float | None = None


@dataclass(frozen=True)
class ScopeTests:
    """A pair's tests over some of the sets; both name the sets left out and the reason."""

    sets: tuple[int, ...]
    mean: SetsMean
    questions: QuestionsTest


@dataclass(frozen=True)
class PairTests:
    """Two measures, compared over the sets.

    ``by_set``: votes for the first minus the second; ``lead``: their sum; ``chance_lead``:
    the lead that random clicking of one column per answer gives, since an identical order is
    credited for the other's column too; ``structural_ties``: sets where the two orders are
    identical, so that they tie whatever people think; ``lead_without``: the lead with each set
    left out. ``all_sets``, ``free`` (without the structural ties) and ``distinct`` (sets whose
    orders all differ, so that random clicking gives no lead) hold the same tests.
    """

    pair: Pair
    by_set: tuple[int, ...]
    lead: int
    chance_lead: float
    structural_ties: tuple[int, ...]
    lead_without: tuple[int, ...]
    all_sets: ScopeTests
    free: ScopeTests
    distinct: ScopeTests
    exchange: Exchange

    @property
    def ties(self) -> int:
        """The number of sets with equal votes for both, though their orders differ."""
        return self.free.questions.tied


@dataclass(frozen=True)
class SetLevel:
    """All tests that counts per set allow. ``totals``, ``first_places``: by measure."""

    pairs: tuple[PairTests, ...]
    totals: dict[str, Exchange]
    first_places: dict[str, FirstPlaces]


def set_level(counts: PublishedCounts) -> SetLevel:
    """Run all tests on the counts, each with Holm's correction over the pairs.

    Raises ValueError as ``PublishedCounts.credits`` does.
    """
    compared = [_compare(counts, pair) for pair in pairs(counts.measures)]
    return SetLevel(
        pairs=tuple(_corrected(compared)),
        totals={name: exchange_total(counts, name) for name in counts.measures},
        first_places={name: first_places_by_chance(counts, name) for name in counts.measures},
    )


def _compare(counts: PublishedCounts, pair: Pair) -> PairTests:
    by_set = tuple(_leads(counts, pair))
    lead = sum(by_set)
    sets = range(1, len(by_set) + 1)
    tied = tuple(k for k in sets if {pair.first, pair.second} <= set(counts.identical.get(k, ())))
    blind = label_permutation(Redraws(counts.credits()), pair).null_mean or 0.0
    free = [number for number in sets if number not in tied]
    distinct = distinct_questions(counts.rankings())
    return PairTests(
        pair=pair,
        by_set=by_set,
        lead=lead,
        chance_lead=round(blind, 9),
        structural_ties=tied,
        lead_without=tuple(lead - step for step in by_set),
        all_sets=_test_scope(counts, pair, sets, ""),
        free=_test_scope(counts, pair, free, IDENTICAL_PAIR),
        distinct=_test_scope(counts, pair, distinct, IDENTICAL_ANY),
        exchange=exchange_pair(counts, pair),
    )


def _leads(counts: PublishedCounts, pair: Pair) -> list[int]:
    first, second = (counts.measures.index(name) for name in (pair.first, pair.second))
    return [row[first] - row[second] for row in counts.votes]


def _test_scope(
    counts: PublishedCounts, pair: Pair, sets: Sequence[int], reason: str
) -> ScopeTests:
    """Test a pair over these sets; ``reason``: why the others are left out."""
    credits = counts.credits()
    credits = credits.subset(np.isin(credits.questions, sets))
    questions = by_questions(differences(credits, pair), credits, len(sets))
    skipped = len(counts.votes) - len(sets)
    left_out = {reason: skipped} if skipped else {}
    leads = _leads(counts, pair)
    shares = [leads[number - 1] / counts.participants for number in sets]
    return ScopeTests(
        sets=tuple(sets),
        mean=replace(_mean(shares), left_out=left_out),
        questions=replace(questions, left_out=left_out),
    )


def _mean(shares: Sequence[float]) -> SetsMean:
    frame = SetsMean(estimand=T2, n=len(shares), unit="sets")
    if len(shares) < 2:
        return replace(frame, why="a t test needs two sets")
    mean, sd = float(np.mean(shares)), float(np.std(shares, ddof=1))
    frame = replace(frame, mean=mean, sd=sd)
    if len(set(shares)) == 1:
        return replace(frame, why="the difference is the same in every set")
    return replace(frame, **t_test(mean, sd / math.sqrt(len(shares)), len(shares) - 1))


def _corrected(compared: list[PairTests]) -> list[PairTests]:
    exchanged = holm([tests.exchange.p for tests in compared])
    scopes = [_corrected_scope([getattr(tests, name) for tests in compared]) for name in SCOPES]
    return [
        replace(
            tests,
            exchange=replace(tests.exchange, p_holm=p),
            **dict(zip(SCOPES, by_scope, strict=True)),
        )
        for tests, p, *by_scope in zip(compared, exchanged, *scopes, strict=True)
    ]


def _corrected_scope(scope: list[ScopeTests]) -> list[ScopeTests]:
    means = holm([tests.mean.p for tests in scope])
    flips = holm([tests.questions.sign_flip_p for tests in scope])
    return [
        replace(
            tests,
            mean=replace(tests.mean, p_holm=mean),
            questions=replace(tests.questions, sign_flip_p_holm=flip),
        )
        for tests, mean, flip in zip(scope, means, flips, strict=True)
    ]


def assignments(counts: PublishedCounts) -> Assignments:
    """List, for each set, the measures' votes under each exchange."""
    return [_exchanges(counts, number) for number in range(1, len(counts.votes) + 1)]


def _exchanges(counts: PublishedCounts, number: int) -> list[Votes]:
    votes = dict(zip(counts.measures, counts.votes[number - 1], strict=False))
    together = counts.identical.get(number, ())
    orders: list[tuple[str, ...]] = [(name,) for name in counts.measures if name not in together]
    if together:
        orders.append(tuple(together))
    return [
        {name: count for order, count in zip(orders, exchanged, strict=True) for name in order}
        for exchanged in permutations(votes[order[0]] for order in orders)
    ]


def exchange_pair(counts: PublishedCounts, pair: Pair) -> Exchange:
    """Test the lead of the first measure over the second; its null mean is 0."""
    leads = [
        [votes[pair.first] - votes[pair.second] for votes in exchanges]
        for exchanges in assignments(counts)
    ]
    return _exchange(sum(_leads(counts, pair)), leads)


def exchange_total(counts: PublishedCounts, measure: str) -> Exchange:
    """Test how many votes a measure collected over all sets."""
    total = sum(row[counts.measures.index(measure)] for row in counts.votes)
    votes = [[votes[measure] for votes in exchanges] for exchanges in assignments(counts)]
    return _exchange(total, votes)


def _exchange(observed: int, by_set: Sequence[Sequence[int]]) -> Exchange:
    """Test a sum over the sets; ``by_set``: each set's equally likely summands."""
    chances = _sum_distribution(by_set)
    mean = sum((total * chance for total, chance in chances.items()), Fraction(0))
    far = abs(observed - mean)
    return Exchange(
        estimand=EXCHANGED,
        n=len(by_set),
        unit="sets",
        observed=observed,
        null_mean=float(mean),
        p_upper=float(sum(chance for total, chance in chances.items() if total >= observed)),
        p=float(sum(chance for total, chance in chances.items() if abs(total - mean) >= far)),
    )


def _sum_distribution(by_set: Sequence[Sequence[int]]) -> dict[int, Fraction]:
    """Return the chance of every sum of one value from each set."""
    chances = {0: Fraction(1)}
    for values in by_set:
        longer: dict[int, Fraction] = {}
        for total, chance in chances.items():
            for value in values:
                longer[total + value] = longer.get(total + value, Fraction(0)) + chance / len(
                    values
                )
        chances = longer
    return chances


def first_places_by_chance(counts: PublishedCounts, measure: str) -> FirstPlaces:
    """Count the sets a measure won, and test that by exchanging the measures.

    A set without a vote for any measure has no first place.
    """
    printed = [dict(zip(counts.measures, row, strict=False)) for row in counts.votes]
    or_tied = sum(_is_first(votes, measure) for votes in printed)
    outright = sum(_is_alone(votes, measure) for votes in printed)
    exchanged = assignments(counts)
    first = [[_is_first(votes, measure) for votes in exchanges] for exchanges in exchanged]
    alone = [[_is_alone(votes, measure) for votes in exchanges] for exchanges in exchanged]
    expected, expected_outright = _exchange(or_tied, first), _exchange(outright, alone)
    return FirstPlaces(
        estimand=EXCHANGED,
        n=len(counts.votes),
        unit="sets",
        measure=measure,
        or_tied=or_tied,
        chance_by_set=tuple(sum(cases) / len(cases) for cases in first),
        expected=expected.null_mean,
        p_at_least=expected.p_upper,
        outright=outright,
        expected_outright=expected_outright.null_mean,
        p_outright_at_least=expected_outright.p_upper,
    )


def _is_first(votes: Votes, measure: str) -> bool:
    return votes[measure] == max(votes.values()) > 0


def _is_alone(votes: Votes, measure: str) -> bool:
    return _is_first(votes, measure) and list(votes.values()).count(votes[measure]) == 1
