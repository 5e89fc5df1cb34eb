"""Quality flags: signs of answers given without looking. A flag excludes nobody."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, begins_of, by_participant

FASTEST_SECONDS = 3.0
FASTEST_SHARE = 1 / 3
SAME_LABEL = 0.9  # 9 of 10 (protocol)
# In fewer answers the same label comes up again and again by chance.
FEWEST_ANSWERS = 5

TOO_FAST = "too fast"
SAME = "same label throughout"
ALL_CUSTOM = "all custom"
INCOMPLETE = "incomplete"

RULES = {
    TOO_FAST: "the median time for an answer is below 3 seconds, or below a third of the "
    "median participant's",
    SAME: "one label was ticked in at least nine tenths of five or more answers",
    ALL_CUSTOM: "two or more answers, every one a custom ranking",
    INCOMPLETE: "not all questions were answered",
}

# Participants' places with what was found.
Found = Iterator[tuple[int, str]]


@dataclass(frozen=True)
class Flag:
    """One sign against one participant: the rule, and what was found."""

    participant: str
    kind: str
    reason: str


def quality_flags(answers: Answers, asked: int) -> tuple[Flag, ...]:
    """Flag participants by ``RULES``; ``asked``: the questions each was to answer.

    Participants without a single answer are not judged.
    """
    found = {
        TOO_FAST: _too_fast(answers),
        SAME: _same_label(answers),
        ALL_CUSTOM: _all_custom(answers),
        INCOMPLETE: _incomplete(answers, asked),
    }
    rules = list(RULES)
    by_person = sorted(
        (place, rules.index(kind), reason) for kind, one in found.items() for place, reason in one
    )
    return tuple(
        Flag(str(answers.people[place]), rules[rule], reason) for place, rule, reason in by_person
    )


def flagged_for_exclusion(flags: Sequence[Flag]) -> tuple[str, ...]:
    """Return the participants that "without flagged participants" leaves out, in order.

    An incomplete participant's answers are as good as anybody's: that flag alone leaves
    nobody out.
    """
    return tuple(dict.fromkeys(flag.participant for flag in flags if flag.kind != INCOMPLETE))


def _too_fast(answers: Answers) -> Found:
    typical = _typical_seconds(answers)
    if np.isnan(typical).all():
        return
    usual = float(np.nanmedian(typical))
    # A time that is unknown is below nothing.
    for place in np.flatnonzero((typical < FASTEST_SECONDS) | (typical < FASTEST_SHARE * usual)):
        took = f"{typical[place]:.1f} s for an answer"
        yield int(place), f"{took}; the median participant took {usual:.1f} s"


def _typical_seconds(answers: Answers) -> NDArray[np.float64]:
    """Return each participant's median time, NaN where none is known."""
    known = ~np.isnan(answers.seconds)
    seconds = answers.seconds[known]
    given = by_participant(known, answers.begins)
    begins, typical = begins_of(given), np.full(len(given), np.nan)
    for count in set(given.tolist()) - {0}:
        alike = given == count
        rows = begins[alike][:, np.newaxis] + np.arange(count)
        typical[alike] = np.median(seconds[rows], axis=1)
    return typical


def _same_label(answers: Answers) -> Found:
    labels = int(answers.clicked.max(initial=0)).bit_length()
    clicks = np.array(
        [by_participant(answers.clicked >> label & 1, answers.begins) for label in range(labels)]
    ).reshape(labels, len(answers.people))
    most = clicks.max(axis=0, initial=0)
    enough = (answers.given >= FEWEST_ANSWERS) & (most > 0)
    for place in np.flatnonzero(enough & (most >= SAME_LABEL * answers.given)).tolist():
        label = _first_ticked(answers, place, np.flatnonzero(clicks[:, place] == most[place]))
        yield place, f"Method{label} ticked in {most[place]} of {answers.given[place]} answers"


def _first_ticked(answers: Answers, place: int, labels: NDArray[np.int64]) -> int:
    """Return which of the labels, from 0 on, was ticked first, as the number it is shown by."""
    begin = answers.begins[place]
    mine = answers.clicked[begin : begin + answers.given[place]]
    firsts = [int(np.argmax(mine >> label & 1)) for label in labels]
    return int(labels[np.argmin(firsts)]) + 1


def _all_custom(answers: Answers) -> Found:
    custom = by_participant(answers.own.known, answers.begins)
    for place in np.flatnonzero((answers.given > 1) & (custom == answers.given)).tolist():
        yield place, f"a custom ranking in all {answers.given[place]} answers"


def _incomplete(answers: Answers, asked: int) -> Found:
    for place in np.flatnonzero(answers.given < asked).tolist():
        yield place, f"{answers.given[place]} of {asked} answers"
