"""What can be said where only the votes per set are known: every test has sets as its units.

Without knowing who gave which answer there is no participant to take a mean over, so the
tests over participants (T1), the two-way errors, McNemar and Cochran's Q cannot be had.
What is left takes the sets as a sample of their kind (T2). It sees how much sets differ,
the noise of their votes included, but not how much the participants do, who were the same
in every set. A percentile bootstrap over ten sets is too narrow and not offered.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from survey.core.agreement.exchange import (
    Exchange,
    FirstPlaces,
    exchange_pair,
    exchange_total,
    first_places_by_chance,
)
from survey.core.agreement.holm import holm
from survey.core.agreement.permutation import Redraws, label_permutation
from survey.core.agreement.published import PublishedCounts
from survey.core.agreement.results import T2

IDENTICAL_PAIR = "the orders of the two are identical"
IDENTICAL_ANY = "two of the orders are identical"


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
