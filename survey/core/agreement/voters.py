"""How a simulated participant with a preference votes on the columns that a page shows.

The bots of ``survey simulate`` read a page and call it; the calibration calls it on
questions that no page shows. So a planted preference means the same in both.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from survey.core.agreement.credits import OTHER
from survey.core.studies.questions import BlindedColumn, Question
from survey.core.studies.rankings import Ranking

TICKS_EVERY_MATCH = 0.3  # how often all columns with the preferred order are ticked, not one

Chance = np.random.Generator


class Drawing(Protocol):
    """A distribution over the measures and OTHER, by which a voter prefers them."""

    def draw(self, chance: Chance) -> str:
        """Return the name of a measure, or OTHER."""


@dataclass(frozen=True)
class Vote:
    """The labels that are ticked; or none, and an own order."""

    clicked: frozenset[int] = frozenset()
    own: Ranking | None = None


def cast_vote(
    preference: Drawing, question: Question, columns: Sequence[BlindedColumn], chance: Chance
) -> Vote:
    """Draw a measure and tick its column, or draw OTHER and return an own order.

    The column is known by its order and printed values, never by its label. Where other
    columns have the same order, all of them are ticked in three votes of ten; a measure is
    credited for either. So a measure's share of the credits is its planted share where all
    orders differ, and the sum over the measures of its order where they do not. An own order
    is never an offered one. Raises ValueError where no column is the drawn measure's.
    """
    preferred = preference.draw(chance)
    every_match = chance.random() < TICKS_EVERY_MATCH
    if preferred == OTHER:
        return Vote(own=own_order(tuple(question.lists), set(question.rankings.values()), chance))
    wanted = question.columns[preferred]
    printed = dict(zip(wanted.ranking.letters, wanted.shown, strict=True))
    same_order = [column for column in columns if column.ranking == wanted.ranking]
    same_column = [column.label for column in same_order if dict(column.shown) == printed]
    if not same_column:
        raise ValueError(f"no column is that of {preferred}")
    ticked = (column.label for column in same_order) if every_match else same_column[:1]
    return Vote(clicked=frozenset(ticked))


def own_order(letters: Sequence[str], offered: Collection[Ranking], chance: Chance) -> Ranking:
    """Draw a place for each list, ties allowed, until the order is none of those offered."""
    while True:
        places = chance.integers(1, len(letters), len(letters), endpoint=True)
        own = Ranking.by_key(dict(zip(letters, places.tolist(), strict=True)))
        if own not in offered:
            return own
