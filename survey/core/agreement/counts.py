"""Table 4 and the shares: counting credits, with every denominator named."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.credits import SHARES_OF_A_VOTE, Credits, in_sixtieths
from survey.core.studies.rankings import Ranking, identical_groups

OTHER = "OTHER"


@dataclass(frozen=True)
class Table4Row:
    """One question of Table 4: credits per measure and custom rankings.

    ``choice``: the measures with the most credits, in the measures' order, empty
    where nobody voted for one; ``identical``: groups of measures whose orders of the
    lists are equal, so that a vote for one counts for all of the group.
    """

    question: int
    votes: Mapping[str, float]
    choice: tuple[str, ...]
    identical: tuple[tuple[str, ...], ...]

    @property
    def merged(self) -> float:
        """The row's sum with each group of identical orders counted once.

        It is the number of participants, as long as nobody ticked two columns with
        different orders.
        """
        repeated = sum(self.votes[name] for group in self.identical for name in group[1:])
        return sum(self.votes.values()) - repeated


@dataclass(frozen=True)
class Table4:
    """Votes per question, as in the paper's Table 4."""

    measures: tuple[str, ...]
    rows: tuple[Table4Row, ...]

    @property
    def totals(self) -> dict[str, float]:
        """Column sums; their sum (354 in the paper) counts credits, not people."""
        names = (*self.measures, OTHER)
        return {name: sum(row.votes[name] for row in self.rows) for name in names}


@dataclass(frozen=True)
class Shares:
    """Shares of the votes in [0, 1], with four denominators; None where there are no votes.

    ``of_credits``: of all credits and custom rankings (the paper's 354), sums to 1.
    ``of_responses``: of the responses; identical orders and several ticks make it
    sum to more than 1. ``split``: of the responses, one vote each, shared among the
    measures credited. ``distinct_questions``: ``of_responses`` over the questions
    whose measures' orders all differ.
    """

    of_credits: Mapping[str, float] | None
    of_responses: Mapping[str, float] | None
    split: Mapping[str, float] | None
    distinct_questions: Mapping[str, float] | None


def table4(credits: Credits, rankings: Mapping[int, Mapping[str, Ranking]]) -> Table4:
    """Count credits per question; every question has a row, answered or not.

    ``rankings``: question number → measure → order (MNRO paper, Table 4).
    """
    rows = []
    for question in sorted(rankings):
        times = credits.times * (credits.questions == question)
        sums = times @ in_sixtieths(credits.votes) / SHARES_OF_A_VOTE
        votes = dict(zip(credits.measures, map(whole, sums), strict=True))
        most = max(votes.values())
        rows.append(
            Table4Row(
                question=question,
                votes={**votes, OTHER: int(times @ credits.other)},
                choice=tuple(name for name, count in votes.items() if count == most and most > 0),
                identical=tuple(map(tuple, identical_groups(rankings[question]))),
            )
        )
    return Table4(credits.measures, tuple(rows))


def whole(votes: float) -> float:
    """Return a count as an integer; a sum of split votes is rounded, so that ties are seen."""
    return int(votes) if float(votes).is_integer() else round(float(votes), 9)


def shares(credits: Credits, distinct: Sequence[int]) -> Shares:
    """Compute the four kinds of share; ``distinct``: questions whose orders all differ."""
    each = np.column_stack([credits.votes, credits.other])
    one_vote = np.column_stack([credits.split().votes, credits.other])
    where_distinct = credits.times * np.isin(credits.questions, distinct)
    names = (*credits.measures, OTHER)

    def part(votes: NDArray[Any], denominator: float) -> dict[str, float] | None:
        if not denominator:
            return None
        return dict(zip(names, (votes / denominator).tolist(), strict=True))

    return Shares(
        of_credits=part(credits.times @ each, (credits.times @ each).sum()),
        of_responses=part(credits.times @ each, len(credits)),
        split=part(credits.times @ one_vote, len(credits)),
        distinct_questions=part(where_distinct @ each, where_distinct.sum()),
    )


def first_places(table: Table4) -> tuple[dict[str, int], dict[str, int]]:
    """Count the questions in which each measure is first or tied, and outright first."""
    or_tied = {name: sum(name in row.choice for row in table.rows) for name in table.measures}
    outright = {name: sum(row.choice == (name,) for row in table.rows) for name in table.measures}
    return or_tied, outright


def distinct_questions(rankings: Mapping[int, Mapping[str, Ranking]]) -> list[int]:
    """Return the numbers of the questions whose measures' orders all differ."""
    return [number for number, orders in rankings.items() if not identical_groups(orders)]
