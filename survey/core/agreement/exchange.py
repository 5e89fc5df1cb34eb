"""The exact permutation of a set's counts: what if it made no difference whose order it is?

Within each set the counts stay with their orders, and the measures are exchanged among the
orders, every assignment being equally likely; measures whose orders are identical stay
together, as one order with one count. Nothing is assumed of the people behind the counts,
so it can be done where only the counts are known. It gives every *order* the same chance:
the second column that an identical order takes on the page is no part of it (for that, see
``permutation.label_permutation``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

from survey.core.agreement.differences import Pair
from survey.core.agreement.published import PublishedCounts
from survey.core.agreement.results import Statistic

EXCHANGED = "these counts, measures exchanged among the orders of each set"

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
