"""How many questions and participants a verdict needs at least.

If all of n participants (or questions) agree, chance alone does that in 2^(1 - n) of studies; no p
is below that number.
"""

import math
from collections.abc import Iterator

from survey.core.agreement.differences import least_p
from survey.core.statistics.significance import LEVEL, p_text
from survey.core.studies.fields import Finding


def fewest(comparisons: int = 1) -> int:
    """Return the smallest number whose least p, corrected for all comparisons, is below LEVEL."""
    return math.floor(1 - math.log2(LEVEL / comparisons)) + 1


def too_few_to_decide(
    participants: int, questions: int, comparisons: int, mend: str, noun: str = "questions"
) -> Iterator[Finding]:
    """Yield findings on what so few participants and questions can never decide.

    ``comparisons``: for how many p is corrected; ``mend``: where questions can be added; ``noun``:
    what is sampled, questions or topics.
    """
    for why in why_nothing_of_the_kind(1_000, questions, noun):
        yield Finding(None, why, mend=mend, code="few-questions")
    of_these = f"of these {noun} alone"
    if participants < fewest():
        text = f"nothing can be said, of {noun} of this kind or {of_these}: "
        text += f"{_no_p(participants, 'participants')}; it takes {fewest()}"
        if comparisons > 1:
            text += f", and {fewest(comparisons)} {of_these}"
        yield Finding(None, text, mend="participants", code="few-participants")
    elif participants < fewest(comparisons):
        corrected = f", corrected for {comparisons} comparisons,"
        least = _no_p(participants, "participants", comparisons, corrected)
        text = f"{of_these} nothing can be said: {least}; it takes {fewest(comparisons)}"
        yield Finding(None, text, mend="participants", code="few-participants")


def why_nothing_of_the_kind(
    participants: int, questions: int, noun: str = "questions"
) -> Iterator[str]:
    """Yield why so few can never decide for questions of this kind, as clauses.

    ``noun``: what is sampled, questions or topics.
    """
    for number, what in ((questions, noun), (participants, "participants")):
        if number < fewest():
            yield (
                f"of {noun} of this kind nothing can be said: {_no_p(number, what)}; it takes "
                f"{fewest()}"
            )


def _no_p(number: int, what: str, comparisons: int = 1, corrected: str = "") -> str:
    least = min(1.0, comparisons * least_p(number))
    text = p_text(least).removeprefix("p = ") if least < 1 else "1"
    what = what.removesuffix("s") if number == 1 else what
    return f"with {number} {what} no p{corrected} is below {text}"
