"""Simulated ordering studies in which the truth is known, as the columns that the database gives.

Who picks what is drawn for all participants and questions at once; labels are drawn for each
answer. So thousands of studies take minutes, and the analysis' own functions read them.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeVar

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, Coded, by_groups, first_rows
from survey.core.agreement.credits import Ballots, Credits, Rankings, tally_credits
from survey.core.studies.rankings import Ranking

MEASURES = ("AP", "NMRR", "MNRO")
OWN = len(MEASURES)  # picked where an order of one's own is given
OWN_ORDER = Ranking.parse("A>B>C>D>E")
COLUMNS = tuple(sorted(permutations((1, 2, 3))))
LABELS = tuple(sorted(permutations(MEASURES)))
LABEL_OF = np.array([[order.index(name) for name in MEASURES] for order in LABELS])

# Every two contradict each other, and none ties any lists.
DISTINCT = dict(zip(MEASURES, map(Ranking.parse, ("A>B>C", "B>A>C", "C>B>A")), strict=True))

Picks = NDArray[np.int64]
Mask = NDArray[np.bool_]
Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True)
class Study:
    """The answers of a simulated study, and the orders in its questions."""

    answers: Answers
    rankings: Rankings

    @property
    def ballots(self) -> Ballots:
        """The distinct ballots."""
        return Ballots.of(self.answers, self.rankings, MEASURES)

    @property
    def credits(self) -> Credits:
        """The credits of the measures."""
        return tally_credits(self.ballots)


def study_of(
    picked: Picks,
    answered: Mask,
    rankings: Rankings,
    chance: Generator,
    *,
    shuffled: bool = True,
) -> Study:
    """Return a study in which measures were picked, (participants, questions).

    ``picked``: the measure's index, or OWN; ``answered``: where there is an answer; ``shuffled``:
    whether each participant has the questions in an order of their own.
    """
    who, which = np.nonzero(answered)
    chosen, of_labels = picked[who, which], chance.integers(len(LABELS), size=len(who))
    labels = LABEL_OF[of_labels, np.minimum(chosen, OWN - 1)]
    counts = answered.sum(axis=1)
    counts = counts[counts > 0]
    columns = chance.integers(len(LABELS), size=len(who))
    in_order = chance.permutation if shuffled else np.arange
    position = np.concatenate([in_order(count) for count in counts.tolist()])
    return Study(
        Answers(
            people=np.array([f"P{number:04}" for number in range(len(counts))]),
            first_answer=first_rows(counts),
            question=_coded(tuple(range(1, 1 + answered.shape[1])), which),
            label_order=_coded(LABELS, of_labels),
            clicked=np.where(chosen == OWN, 0, 1 << labels).astype(np.uint8),
            asked=np.zeros(len(who), dtype=np.uint8),
            own=_coded((OWN_ORDER,), np.where(chosen == OWN, 0, -1)),
            column_order=_coded(COLUMNS, columns),
            position=_coded(tuple(range(1, 1 + counts.max())), position),
            seconds=chance.lognormal(3, 0.5, len(who)).round(),
        ),
        rankings,
    )


def _coded(values: tuple[Value, ...], codes: NDArray[Any]) -> Coded[Value]:
    return Coded(values, codes.astype(np.int16))


def ordered_study(held: list[list[Ranking]], rankings: Rankings) -> Study:
    """Return a study in which each participant gives an order in each question."""
    people, questions = len(held), len(rankings)
    own = Coded.of(order for of_person in held for order in of_person).in_order(by_groups)
    nothing = np.full(people * questions, -1)
    return Study(
        Answers(
            people=np.array([f"P{number:04}" for number in range(people)]),
            first_answer=np.arange(people) * questions,
            question=_coded(tuple(rankings), np.tile(np.arange(questions), people)),
            label_order=_coded(LABELS, nothing + 1),
            clicked=np.zeros(people * questions, dtype=np.uint8),
            asked=np.zeros(people * questions, dtype=np.uint8),
            own=own,
            column_order=_coded(COLUMNS, nothing),
            position=_coded((1,), nothing),
            seconds=np.full(people * questions, np.nan),
        ),
        rankings,
    )
