"""What can be said where only the votes per set are known: every test has sets as its units.

Without knowing who gave which answer there is no participant to take a mean over, so the
tests over participants (T1), the two-way errors, McNemar and Cochran's Q cannot be had.
What is left takes the sets as a sample of their kind (T2). It sees how much sets differ,
the noise of their votes included, but not how much the participants do, who were the same
in every set. A percentile bootstrap over ten sets is too narrow and not offered.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations

import numpy as np

from survey.core.agreement.counts import distinct_questions
from survey.core.agreement.differences import (
    MeanTest,
    Pair,
    QuestionsTest,
    by_questions,
    differences,
    pairs,
    t_test,
)
from survey.core.agreement.holm import holm
from survey.core.agreement.permutation import Redraws, label_permutation
from survey.core.agreement.results import T2, Statistic
from survey.services.paper.recount import PublishedCounts

IDENTICAL_PAIR = "the orders of the two are identical"
IDENTICAL_ANY = "two of the orders are identical"


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
class OverSets:
    """A pair's tests over some of the sets; both say which were left out, and why."""

    sets: tuple[int, ...]
    mean: SetsMean
    questions: QuestionsTest


@dataclass(frozen=True)
class PairOverSets:
    """Two measures, compared over the sets.

    ``by_set``: votes for the first minus the second; ``lead``: their sum; ``chance_lead``:
    what ticking one column blindly per answer gives, since an identical order is credited
    for the other's column too; ``structural_ties``: sets where the two orders are
    identical, tied whatever people think; ``without``: the lead with each set left out.
    ``all_sets``, ``free`` (without the structural ties) and ``distinct`` (only sets whose
    orders all differ, where nobody has a head start) hold the same tests.
    """

    pair: Pair
    by_set: tuple[int, ...]
    lead: int
    chance_lead: float
    structural_ties: tuple[int, ...]
    without: tuple[int, ...]
    all_sets: OverSets
    free: OverSets
    distinct: OverSets
    exchange: Exchange

    @property
    def ties(self) -> int:
        """Sets with as many votes for one as for the other, though their orders differ."""
        return self.free.questions.tied


@dataclass(frozen=True)
class SetLevel:
    """Everything that counts per set support. ``totals``, ``first``: by measure."""

    pairs: tuple[PairOverSets, ...]
    totals: dict[str, Exchange]
    first: dict[str, FirstPlaces]


def set_level(counts: PublishedCounts) -> SetLevel:
    """Analyse published counts; Holm's correction over the pairs, test by test.

    Raises ValueError as ``PublishedCounts.credits`` does.
    """
    compared = _corrected([_pair(counts, pair) for pair in pairs(counts.measures)])
    return SetLevel(
        pairs=tuple(compared),
        totals={name: exchange_total(counts, name) for name in counts.measures},
        first={name: first_places_by_chance(counts, name) for name in counts.measures},
    )


def _pair(counts: PublishedCounts, pair: Pair) -> PairOverSets:
    first, second = (counts.measures.index(name) for name in (pair.first, pair.second))
    by_set = tuple(row[first] - row[second] for row in counts.votes)
    sets = range(1, len(by_set) + 1)
    tied = tuple(k for k in sets if {pair.first, pair.second} <= set(counts.identical.get(k, ())))
    blind = label_permutation(Redraws(counts.credits()), pair).null_mean or 0.0
    free = [number for number in sets if number not in tied]
    distinct = distinct_questions(counts.rankings())
    return PairOverSets(
        pair=pair,
        by_set=by_set,
        lead=sum(by_set),
        chance_lead=round(blind, 9),
        structural_ties=tied,
        without=tuple(sum(by_set) - one for one in by_set),
        all_sets=_over(counts, pair, sets, ""),
        free=_over(counts, pair, free, IDENTICAL_PAIR),
        distinct=_over(counts, pair, distinct, IDENTICAL_ANY),
        exchange=exchange_pair(counts, pair),
    )


def _over(counts: PublishedCounts, pair: Pair, sets: Sequence[int], reason: str) -> OverSets:
    """Test a pair over these sets; ``reason``: why the others are left out."""
    credits = counts.credits()
    credits = credits.within(np.isin(credits.questions, sets))
    questions = by_questions(differences(credits, pair), credits, len(sets))
    skipped = len(counts.votes) - len(sets)
    left_out = {reason: skipped} if skipped else {}
    first, second = (counts.measures.index(name) for name in (pair.first, pair.second))
    votes = [counts.votes[number - 1] for number in sets]
    shares = [(row[first] - row[second]) / counts.participants for row in votes]
    return OverSets(
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


def _corrected(found: list[PairOverSets]) -> list[PairOverSets]:
    exchanged = holm([one.exchange.p for one in found])
    scopes = [_holm_of([getattr(one, name) for one in found]) for name in SCOPES]
    return [
        replace(
            one,
            exchange=replace(one.exchange, p_holm=p),
            **dict(zip(SCOPES, tests, strict=True)),
        )
        for one, p, *tests in zip(found, exchanged, *scopes, strict=True)
    ]


SCOPES = ("all_sets", "free", "distinct")


def _holm_of(tests: list[OverSets]) -> list[OverSets]:
    means = holm([one.mean.p for one in tests])
    flips = holm([one.questions.sign_flip_p for one in tests])
    return [
        replace(
            one,
            mean=replace(one.mean, p_holm=mean),
            questions=replace(one.questions, sign_flip_p_holm=flip),
        )
        for one, mean, flip in zip(tests, means, flips, strict=True)
    ]


EXCHANGED = "these counts, measures exchanged among the orders of each set"

Votes = Mapping[str, int]
# The equally likely counts of the measures, set by set.
Assignments = Sequence[Sequence[Votes]]


def assignments(counts: PublishedCounts) -> Assignments:
    """List, for each set, what the measures would be credited under each exchange."""
    return [_exchanged(counts, number) for number in range(1, len(counts.votes) + 1)]


def _exchanged(counts: PublishedCounts, number: int) -> list[Votes]:
    votes = dict(zip(counts.measures, counts.votes[number - 1], strict=False))
    together = counts.identical.get(number, ())
    orders: list[tuple[str, ...]] = [(name,) for name in counts.measures if name not in together]
    if together:
        orders.append(tuple(together))
    return [
        {name: count for order, count in zip(orders, put, strict=True) for name in order}
        for put in permutations(votes[order[0]] for order in orders)
    ]


def exchange_pair(counts: PublishedCounts, pair: Pair) -> Exchange:
    """Test the lead of the first measure over the second; its null mean is 0."""
    first, second = (counts.measures.index(name) for name in (pair.first, pair.second))
    lead = sum(row[first] - row[second] for row in counts.votes)
    steps = [
        [votes[pair.first] - votes[pair.second] for votes in of_set]
        for of_set in assignments(counts)
    ]
    return _tested(lead, steps)


def exchange_total(counts: PublishedCounts, measure: str) -> Exchange:
    """Test how many votes a measure collected over all sets."""
    total = sum(row[counts.measures.index(measure)] for row in counts.votes)
    return _tested(total, [[votes[measure] for votes in of_set] for of_set in assignments(counts)])


def _tested(observed: int, steps: Sequence[Sequence[int]]) -> Exchange:
    chances = _chances(steps)
    mean = sum((total * chance for total, chance in chances.items()), Fraction(0))
    far = abs(observed - mean)
    return Exchange(
        estimand=EXCHANGED,
        n=len(steps),
        unit="sets",
        observed=observed,
        null_mean=float(mean),
        p_upper=float(sum(chance for total, chance in chances.items() if total >= observed)),
        p=float(sum(chance for total, chance in chances.items() if abs(total - mean) >= far)),
    )


def first_places_by_chance(counts: PublishedCounts, measure: str) -> FirstPlaces:
    """Count the sets a measure won, beside what exchanging the measures would give.

    A set without a vote for any measure has no first place.
    """
    shown = [dict(zip(counts.measures, row, strict=False)) for row in counts.votes]
    or_tied = sum(_first(votes, measure) for votes in shown)
    outright = sum(_alone(votes, measure) for votes in shown)
    exchanged = assignments(counts)
    tied_or_first = [[_first(votes, measure) for votes in of_set] for of_set in exchanged]
    alone = [[_alone(votes, measure) for votes in of_set] for of_set in exchanged]
    expected, expected_outright = _tested(or_tied, tied_or_first), _tested(outright, alone)
    return FirstPlaces(
        estimand=EXCHANGED,
        n=len(counts.votes),
        unit="sets",
        measure=measure,
        or_tied=or_tied,
        chance_by_set=tuple(sum(of_set) / len(of_set) for of_set in tied_or_first),
        expected=expected.null_mean,
        p_at_least=expected.p_upper,
        outright=outright,
        expected_outright=expected_outright.null_mean,
        p_outright_at_least=expected_outright.p_upper,
    )


def _first(votes: Votes, measure: str) -> bool:
    return votes[measure] == max(votes.values()) > 0


def _alone(votes: Votes, measure: str) -> bool:
    return _first(votes, measure) and list(votes.values()).count(votes[measure]) == 1


def _chances(steps: Sequence[Sequence[int]]) -> dict[int, Fraction]:
    """Return every total of one step from each set, and its chance."""
    chances = {0: Fraction(1)}
    for of_set in steps:
        grown: dict[int, Fraction] = {}
        for total, chance in chances.items():
            for step in of_set:
                grown[total + step] = grown.get(total + step, Fraction(0)) + chance / len(of_set)
        chances = grown
    return chances
