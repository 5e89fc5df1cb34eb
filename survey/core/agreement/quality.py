"""Quality flags: signs of careless answers. A flag alone excludes no participant."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, first_rows, sum_by_participant

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

# Participants' indices, each with the reason for the flag.
Reasons = Iterator[tuple[int, str]]


@dataclass(frozen=True)
class Flag:
    """A quality flag of a participant: its rule in ``kind``, the numbers in ``reason``."""

    participant: str
    kind: str
    reason: str


def quality_flags(answers: Answers, asked: int) -> tuple[Flag, ...]:
    """Flag participants by ``RULES``; ``asked``: the questions each was to answer.

    Participants without a single answer are not judged.
    """
    reasons_by_rule = {
        TOO_FAST: _too_fast(answers),
        SAME: _same_label(answers),
        ALL_CUSTOM: _all_custom(answers),
        INCOMPLETE: _incomplete(answers, asked),
    }
    rules = list(RULES)
    by_person = sorted(
        (person, rules.index(kind), reason)
        for kind, reasons in reasons_by_rule.items()
        for person, reason in reasons
    )
    return tuple(
        Flag(str(answers.people[person]), rules[rule], reason) for person, rule, reason in by_person
    )


def flagged_for_exclusion(flags: Sequence[Flag]) -> tuple[str, ...]:
    """Return the participants that "without flagged participants" leaves out, in order.

    The answers that an incomplete participant did give are sound, so that flag alone leaves
    no participant out.
    """
    return tuple(dict.fromkeys(flag.participant for flag in flags if flag.kind != INCOMPLETE))


def _too_fast(answers: Answers) -> Reasons:
    typical = _typical_seconds(answers)
    if np.isnan(typical).all():
        return
    usual = float(np.nanmedian(typical))
    # An unknown time is NaN, which is below no number.
    for person in np.flatnonzero((typical < FASTEST_SECONDS) | (typical < FASTEST_SHARE * usual)):
        took = f"{typical[person]:.1f} s for an answer"
        yield int(person), f"{took}; the median participant took {usual:.1f} s"


def _typical_seconds(answers: Answers) -> NDArray[np.float64]:
    """Return each participant's median time, NaN where none is known."""
    known = ~np.isnan(answers.seconds)
    seconds = answers.seconds[known]
    counts = sum_by_participant(known, answers.first_answer)
    first, typical = first_rows(counts), np.full(len(counts), np.nan)
    for count in set(counts.tolist()) - {0}:
        alike = counts == count
        rows = first[alike][:, np.newaxis] + np.arange(count)
        typical[alike] = np.median(seconds[rows], axis=1)
    return typical


def _same_label(answers: Answers) -> Reasons:
    labels = int(answers.clicked.max(initial=0)).bit_length()
    clicks = np.array(
        [
            sum_by_participant(answers.clicked >> label & 1, answers.first_answer)
            for label in range(labels)
        ]
    ).reshape(labels, len(answers.people))
    most = clicks.max(axis=0, initial=0)
    counts = answers.answer_counts
    enough = (counts >= FEWEST_ANSWERS) & (most > 0)
    for person in np.flatnonzero(enough & (most >= SAME_LABEL * counts)).tolist():
        label = _first_ticked(answers, person, np.flatnonzero(clicks[:, person] == most[person]))
        yield person, f"Method{label} ticked in {most[person]} of {counts[person]} answers"


def _first_ticked(answers: Answers, person: int, labels: NDArray[np.int64]) -> int:
    """Return the number, from 1, of the label that was ticked first; ``labels`` are from 0."""
    first = answers.first_answer[person]
    clicked = answers.clicked[first : first + answers.answer_counts[person]]
    first_ticks = [int(np.argmax(clicked >> label & 1)) for label in labels]
    return int(labels[np.argmin(first_ticks)]) + 1


def _all_custom(answers: Answers) -> Reasons:
    custom = sum_by_participant(answers.own.known, answers.first_answer)
    counts = answers.answer_counts
    for person in np.flatnonzero((counts > 1) & (custom == counts)).tolist():
        yield person, f"a custom ranking in all {counts[person]} answers"


def _incomplete(answers: Answers, asked: int) -> Reasons:
    for person in np.flatnonzero(answers.answer_counts < asked).tolist():
        yield person, f"{answers.answer_counts[person]} of {asked} answers"
