"""Quality flags: signs of answers given without looking. A flag excludes nobody."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from survey.core.agreement.credits import Response

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


@dataclass(frozen=True)
class Flag:
    """One sign against one participant: the rule, and what was found."""

    participant: str
    kind: str
    reason: str


def quality_flags(responses: Sequence[Response], asked: int) -> tuple[Flag, ...]:
    """Flag participants by ``RULES``; ``asked``: the questions each was to answer.

    Participants without a single answer are not judged.
    """
    answers: dict[str, list[Response]] = {}
    for response in responses:
        answers.setdefault(response.participant, []).append(response)
    typical = {
        who: seconds for who, mine in answers.items() if (seconds := _typical(mine)) is not None
    }
    return tuple(
        Flag(who, kind, reason)
        for who, mine in answers.items()
        for kind, reason in (
            *_too_fast(typical.get(who), typical),
            *_same_label(mine),
            *_all_custom(mine),
            *_incomplete(mine, asked),
        )
    )


def flagged_for_exclusion(flags: Sequence[Flag]) -> tuple[str, ...]:
    """Return the participants that "without flagged participants" leaves out, in order.

    An incomplete participant's answers are as good as anybody's: that flag alone leaves
    nobody out.
    """
    return tuple(dict.fromkeys(flag.participant for flag in flags if flag.kind != INCOMPLETE))


def _typical(mine: Sequence[Response]) -> float | None:
    known = [response.seconds for response in mine if response.seconds is not None]
    return median(known) if known else None


def _too_fast(seconds: float | None, everyone: Mapping[str, float]) -> list[tuple[str, str]]:
    if seconds is None:
        return []
    usual = median(everyone.values())
    if seconds >= FASTEST_SECONDS and seconds >= FASTEST_SHARE * usual:
        return []
    return [(TOO_FAST, f"{seconds:.1f} s for an answer; the median participant took {usual:.1f} s")]


def _same_label(mine: Sequence[Response]) -> list[tuple[str, str]]:
    clicks = Counter(label for response in mine for label in response.clicked)
    if len(mine) < FEWEST_ANSWERS or not clicks:
        return []
    label, times = clicks.most_common(1)[0]
    if times < SAME_LABEL * len(mine):
        return []
    return [(SAME, f"Method{label} ticked in {times} of {len(mine)} answers")]


def _all_custom(mine: Sequence[Response]) -> list[tuple[str, str]]:
    if len(mine) < 2 or not all(response.own is not None for response in mine):
        return []
    return [(ALL_CUSTOM, f"a custom ranking in all {len(mine)} answers")]


def _incomplete(mine: Sequence[Response], asked: int) -> list[tuple[str, str]]:
    return [(INCOMPLETE, f"{len(mine)} of {asked} answers")] if len(mine) < asked else []
