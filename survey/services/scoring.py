"""Scoring lists that someone types in."""

from collections.abc import Sequence
from decimal import Decimal

from survey.core.measures import MEASURES, Setting
from survey.core.stimuli.questions import Question, build_question


def score_lists(
    ranks: Sequence[Sequence[int]], collection_size: int, gmt: int | None, *, literal_eq15: bool
) -> Question:
    """Score and order lists with every registered measure.

    Raises ValueError naming the row and the fault of ranks that cannot be.
    """
    setting = Setting(collection_size, gmt, literal_eq15)
    return build_question(1, ranks, tuple(MEASURES), setting)


def printed_values(question: Question) -> dict[str, tuple[str, ...]]:
    """Return each measure's own values as texts with as many decimals as tell them apart.

    A page shows 1-AP, a table of values AP: the same digits, taken from 1.
    """
    return {
        name: tuple(
            str(1 - Decimal(text)) if MEASURES[name].better == "higher" else text
            for text in column.shown
        )
        for name, column in question.columns.items()
    }
