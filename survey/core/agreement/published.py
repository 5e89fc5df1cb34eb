"""Published counts as ballots: a printed Table 4, read as the votes behind it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from survey.core.agreement.ballots import Ballots
from survey.core.agreement.counts import OTHER
from survey.core.agreement.credits import Credits, tally_credits
from survey.core.stimuli.rankings import Ranking

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
