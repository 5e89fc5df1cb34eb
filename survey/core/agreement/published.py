"""Published counts as responses: a printed Table 4, read as the votes behind it."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from survey.core.agreement.counts import OTHER
from survey.core.agreement.credits import Credits
from survey.core.stimuli.rankings import Ranking


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
        """Expand the counts into one row of credits per answer.

        Raises ValueError where identical orders have different counts, or a set's
        counts do not add up to the participants once identical orders are merged.
        """
        rows = [row for number in range(1, len(self.votes) + 1) for row in self._answers(number)]
        answers = self.participants
        return Credits(
            measures=self.measures,
            participants=np.tile([f"answer {k + 1}" for k in range(answers)], len(self.votes)),
            questions=np.repeat(np.arange(1, len(self.votes) + 1), answers),
            credited=np.array([row[:-1] for row in rows], dtype=bool),
            other=np.array([row[-1] for row in rows], dtype=bool),
            clicks=np.array([not row[-1] for row in rows], dtype=np.int64),
            weight=np.ones(len(rows)),
        )

    def _answers(self, number: int) -> list[list[bool]]:
        counts = dict(zip((*self.measures, OTHER), self.votes[number - 1], strict=True))
        together = self.identical.get(number, ())
        for name in together[1:]:
            if counts[name] != counts[together[0]]:
                raise ValueError(
                    f"set {number}: {together[0]} has {counts[together[0]]} votes and {name} "
                    f"{counts[name]}, though their orders are identical"
                )
        rows = []
        for name, count in counts.items():
            if name in together[1:]:
                continue
            credited = together if name in together else (name,)
            rows += [[one in credited for one in counts]] * count
        if len(rows) != self.participants:
            raise ValueError(
                f"set {number}: {len(rows)} votes after merging identical orders, "
                f"but {self.participants} participants"
            )
        return rows
