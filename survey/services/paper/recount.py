"""Table 4 counted again from its printed votes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from survey.core.agreement.ballots import Ballots
from survey.core.agreement.counts import (
    OTHER,
    Shares,
    Table4,
    distinct_questions,
    first_places,
    shares,
    table4,
)
from survey.core.agreement.credits import Credits, tally_credits
from survey.core.stimuli.rankings import Ranking
from survey.services.paper.reproduction import MEASURES, Comparison, printed

UNKNOWN = Ranking((("of one's own",), ("rest",)))


@dataclass(frozen=True)
class PublishedCounts:
    """A table of votes per set of which only the counts are known.

    ``votes``: for each set the counts of the measures, in order, and of OTHER.
    ``identical``: set number → the measures that order its lists alike, so that
    their counts are the same votes. ``participants``: answers per set, one each.
    """

    measures: tuple[str, ...]
    votes: tuple[tuple[int, ...], ...]
    identical: Mapping[int, tuple[str, ...]]
    participants: int

    def rankings(self) -> dict[int, dict[str, Ranking]]:
        """Return orders that are equal exactly where the published ones were.

        The lists were not published; these stand in for them wherever only the
        equality of orders matters (credits, counts, shares).
        """
        stand_ins = {}
        for number in range(1, len(self.votes) + 1):
            together = self.identical.get(number, ())
            first = together[0] if together else None
            stand_ins[number] = {
                name: Ranking(((first if first and name in together else name,), ("rest",)))
                for name in self.measures
            }
        return stand_ins

    def credits(self) -> Credits:
        """Read each count as so many ballots; who gave which answer, nobody knows.

        Raises ValueError where identical orders have different counts, or a set's
        counts do not add up to the participants once identical orders are merged.
        """
        counted = [
            (number, name, count)
            for number in range(1, len(self.votes) + 1)
            for name, count in self._answers(number)
        ]
        ticked = [[one == name for one in self.measures] for _, name, _ in counted]
        return tally_credits(
            Ballots(
                measures=self.measures,
                rankings=self.rankings(),
                questions=np.array([number for number, _, _ in counted]),
                ticked=np.array(ticked, dtype=bool),
                owns=tuple(UNKNOWN if name == OTHER else None for _, name, _ in counted),
                kinds=np.zeros(0, dtype=np.int32),
                begins=np.zeros(0, dtype=np.int64),
                times=np.array([count for _, _, count in counted]),
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


# Below Table 4: "in set 3 and set 9, there is a tie between the values of AP and
# MNRO, while in set 4, there is a tie between NMRR and MNRO."
IDENTICAL = {3: ("AP", "MNRO"), 4: ("NMRR", "MNRO"), 9: ("AP", "MNRO")}
PARTICIPANTS = 30


def published_counts() -> PublishedCounts:
    """Return the counts of Table 4, with what the text below it says of identical orders."""
    names = (*MEASURES, OTHER)
    return PublishedCounts(
        measures=MEASURES,
        votes=tuple(tuple(int(row[name]) for name in names) for row in printed("table4")),
        identical=IDENTICAL,
        participants=PARTICIPANTS,
    )


@dataclass(frozen=True)
class Recount:
    """Table 4 counted again from the printed votes."""

    table: Table4
    shares: Shares
    first_or_tied: dict[str, int]
    first_outright: dict[str, int]
    comparisons: list[Comparison]


def recount_table4() -> Recount:
    """Recompute what the paper says of Table 4: totals, winners, percentages, first places."""
    rows, counts = printed("table4"), published_counts()
    credits, rankings = counts.credits(), counts.rankings()
    table = table4(credits, rankings)
    parts = shares(credits, distinct_questions(rankings))
    or_tied, outright = first_places(table)
    return Recount(table, parts, or_tied, outright, _said_of_table4(table, parts, or_tied, rows))


def _said_of_table4(
    table: Table4, parts: Shares, or_tied: dict[str, int], rows: tuple[dict[str, str], ...]
) -> list[Comparison]:
    """Compare with the numbers in the table and in the text around it (Section 5.3)."""
    of_credits = parts.of_credits or {}
    said = [
        Comparison(f"set {row.question}", "choice", _choice(row.choice), _choice(cells["choice"]))
        for row, cells in zip(table.rows, rows, strict=True)
    ]
    for name, votes in {"AP": "90", "NMRR": "109", "MNRO": "135", OTHER: "20"}.items():
        said.append(Comparison("total", name, str(table.totals[name]), votes))
    for name, part in {"AP": "25.42%", "NMRR": "30.79%", "MNRO": "38.14%", OTHER: "5.65%"}.items():
        said.append(Comparison("share of the 354", name, f"{of_credits[name]:.2%}", part))
    ahead = sum(row.votes["NMRR"] > row.votes["AP"] for row in table.rows)
    said.append(Comparison("NMRR exceeds AP", "sets", str(ahead), "7"))
    said.append(Comparison("first or tied", "MNRO", str(or_tied["MNRO"]), "9"))
    return said


def _choice(names: tuple[str, ...] | str) -> str:
    parts = names.split("-") if isinstance(names, str) else names
    return "-".join(sorted(parts))
