"""How many minutes a study takes people: estimates, made from the numbers of its plan.

The constants are estimates, not measurements, but for the speed of reading: 238 words a minute
(Brysbaert, Journal of Memory and Language, 2019).
"""

from dataclasses import dataclass
from math import ceil

WORDS_A_SECOND = 4
FIELD, REASON = 8, 12  # seconds of a personal field or closing question, of a reason
TO_BEGIN = 20  # seconds for the first and the last page
PAUSES = 1.15  # people look up now and then
MOST_MINUTES = 600  # that a plan can promise
MOST_APART = 1.5  # times by which promised minutes may differ from the expected ones


@dataclass(frozen=True)
class DocumentLoad:
    """What questions show: ``texts`` or pictures; ``count``: of the collection, None if unknown."""

    texts: bool = False
    count: int | None = None


PICTURES = DocumentLoad()


def total_minutes(words: int, fields: int, practice: float, questions: int, seconds: float) -> int:
    """Return the minutes of a study, rounded up: to whole ones up to 10, then to multiples of 5.

    ``words``: of its consent and scenario; ``fields``: personal ones and closing questions;
    ``practice``: its seconds; ``seconds``: those of one question.
    """
    reading = words / WORDS_A_SECOND
    total = PAUSES * (reading + FIELD * fields + practice + questions * seconds + TO_BEGIN)
    minutes = ceil(total / 60)
    return minutes if minutes <= 10 else min(5 * ceil(minutes / 5), MOST_MINUTES)


def are_apart(promised: int, expected: int) -> bool:
    """Return whether people who were promised some minutes would be surprised."""
    return max(promised, expected) > MOST_APART * min(promised, expected)
