"""Table 4 counted again from its printed votes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from survey.core.agreement.credits import (
    OTHER,
    Ballots,
    Credits,
    Shares,
    Table4,
    distinct_questions,
    first_places,
    shares,
    table4,
    tally_credits,
)
from survey.core.studies.rankings import Ranking
from survey.services.paper.reproduction import MEASURES, Comparison, printed_rows

# Below Table 4: "in set 3 and set 9, there is a tie between the values of AP and
# MNRO, while in set 4, there is a tie between NMRR and MNRO."
IDENTICAL = {3: ("AP", "MNRO"), 4: ("NMRR", "MNRO"), 9: ("AP", "MNRO")}
PARTICIPANTS = 30
TOTALS_IN_TEXT = {"AP": "90", "NMRR": "109", "MNRO": "135", OTHER: "20"}
SHARES_IN_TEXT = {"AP": "25.42%", "NMRR": "30.79%", "MNRO": "38.14%", OTHER: "5.65%"}
OWN_ORDERING = Ranking((("of one's own",), ("rest",)))  # of an answer that is OTHER


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

    def rankings(self) -> dict[int, dict[str, Ranking]]:
        """Return placeholder orders, equal exactly where the unpublished orders were equal.

        They serve credits, counts and shares, which depend on the equality of orders only.
        """
        placeholders = {}
        for number in range(1, len(self.votes) + 1):
            together = self.identical.get(number, ())
            first = together[0] if together else None
            placeholders[number] = {
                name: Ranking(((first if first and name in together else name,), ("rest",)))
                for name in self.measures
            }
        return placeholders

    def credits(self) -> Credits:
        """Convert the counts to ballots and return their credits.

        Raises ValueError where identical orders have different counts, or a set's
        counts do not add up to the participants once identical orders are merged.
        """
        answers = [
            (number, name, count)
            for number in range(1, len(self.votes) + 1)
            for name, count in self._answers(number)
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
        counts = dict(zip((*self.measures, OTHER), self.votes[number - 1], strict=True))
        together = self.identical.get(number, ())
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


@dataclass(frozen=True)
class Recount:
    """Table 4 with its shares and first places, compared with what the paper prints of them."""

    table: Table4
    shares: Shares
    first_or_tied: dict[str, int]
    first_outright: dict[str, int]
    comparisons: list[Comparison]


def published_counts() -> PublishedCounts:
    """Return the votes of Table 4 with the identical orders that the text below it names."""
    names = (*MEASURES, OTHER)
    return PublishedCounts(
        measures=MEASURES,
        votes=tuple(tuple(int(row[name]) for name in names) for row in printed_rows("table4")),
        identical=IDENTICAL,
        participants=PARTICIPANTS,
    )


def recount_table4() -> Recount:
    """Recompute the totals, winners, percentages and first places of Table 4."""
    counts = published_counts()
    credits, rankings = counts.credits(), counts.rankings()
    table = table4(credits, rankings)
    parts = shares(credits, distinct_questions(rankings))
    or_tied, outright = first_places(table)
    return Recount(table, parts, or_tied, outright, _comparisons(table, parts, or_tied))


def _comparisons(table: Table4, parts: Shares, or_tied: dict[str, int]) -> list[Comparison]:
    """Compare with the numbers in the table and in the text around it (Section 5.3)."""
    of_credits = parts.of_credits or {}
    ahead = sum(row.votes["NMRR"] > row.votes["AP"] for row in table.rows)
    return [
        *(
            Comparison(
                f"set {row.question}",
                "choice",
                "-".join(sorted(row.choice)),
                "-".join(sorted(cells["choice"].split("-"))),
            )
            for row, cells in zip(table.rows, printed_rows("table4"), strict=True)
        ),
        *(
            Comparison("total", name, str(table.totals[name]), votes)
            for name, votes in TOTALS_IN_TEXT.items()
        ),
        *(
            Comparison("share of the 354", name, f"{of_credits[name]:.2%}", share)
            for name, share in SHARES_IN_TEXT.items()
        ),
        Comparison("NMRR exceeds AP", "sets", str(ahead), "7"),
        Comparison("first or tied", "MNRO", str(or_tied["MNRO"]), "9"),
    ]
