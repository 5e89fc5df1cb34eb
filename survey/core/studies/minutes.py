"""How many minutes a study takes people: estimates, made from the numbers of its plan."""

from dataclasses import dataclass
from math import ceil

BESIDE = 3  # minutes for all pages but the questions
FIELD, REASON = 8, 12  # seconds of what a plan asks beside each question, of a reason
PICTURE, TEXT = 3, 20  # seconds of a document that is looked at
MOST_MINUTES = 600  # that a plan can promise
MOST_APART = 1.5  # times by which promised minutes may differ from the expected ones
LONG_STUDY, SHORT_STUDY = 30, 15  # minutes from which a pool is proposed, and about how long it is


@dataclass(frozen=True)
class DocumentLoad:
    """What questions show: ``texts`` or pictures; ``count``: of the collection, None if unknown."""

    texts: bool = False
    count: int | None = None


PICTURES = DocumentLoad()


def total_minutes(questions: int, seconds: float) -> int:
    """Return 3 + questions × seconds / 60 minutes, rounded up to a multiple of 5.

    ``seconds``: of one question. At most 600 are returned, which a plan can promise.
    """
    minutes = round(BESIDE + questions * seconds / 60, 6)  # else 25.000000000000004 would be 30
    return min(5 * ceil(minutes / 5), MOST_MINUTES)


def questions_of_short_study(seconds: float) -> int:
    """Return how many questions take about a quarter of an hour, from 5 on a multiple of 5."""
    questions = 60 * (SHORT_STUDY - BESIDE) / seconds
    return int(5 * ((questions + 2.5) // 5)) if questions >= 5 else max(1, int(questions))


def are_apart(promised: int, expected: int) -> bool:
    """Return whether people who were promised some minutes would be surprised."""
    return max(promised, expected) > MOST_APART * min(promised, expected)
