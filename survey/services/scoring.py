"""Scoring lists that someone types in."""

from collections.abc import Sequence

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
