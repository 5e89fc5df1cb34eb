"""The analysis of answers, from the database or from files, under chosen options; its JSON."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import (
    RESPONSES_AT_ONCE,
    Coded,
    Codes,
    People,
    seconds_between,
)
from survey.core.statistics.sequential import NEAREST_FRACTIONS as NEAREST_LOOKS
from survey.core.statistics.sequential import look_levels
from survey.core.statistics.significance import LEVEL
from survey.core.studies.fields import ParticipantRecord
from survey.core.studies.plan import Plan


@dataclass(frozen=True)
class AnalysisOptions:
    """Which answers count, and how; every output states them.

    ``include_test``: count simulated participants; ``exclude_flagged``: leave out participants
    with a quality flag; ``without_question``: leave this question out; ``ties``: whether a vote
    that credits several measures is kept, split or dropped.
    """

    include_test: bool = False
    exclude_flagged: bool = False
    without_question: int | None = None
    ties: str = "kept"

    @property
    def as_planned(self) -> bool:
        """Whether the options are the protocol's; ``include_test`` may have any value."""
        return replace(self, include_test=False) == AnalysisOptions()


class Exclusions(NamedTuple):
    """For each participant, whether they are test data, and whether they are excluded."""

    is_test: NDArray[np.bool_]
    excluded: NDArray[np.bool_]


def counted_mask(people: Exclusions, options: AnalysisOptions) -> NDArray[np.bool_]:
    """Return a mask of the participants who count: test data only if chosen, excluded never."""
    return ~people.excluded & (options.include_test | ~people.is_test)


@dataclass(frozen=True)
class LeftOut:
    """Numbers of participants who are not counted, by reason; no participant is in two of them.

    Excluded test participants are in ``test``, unless test data are included.
    """

    test: int
    excluded: int
    flagged: int

    @classmethod
    def of(cls, people: Exclusions, options: AnalysisOptions) -> "LeftOut":
        """Count the participants left out by the options, before quality flags are computed."""
        left_out = int((~counted_mask(people, options)).sum())
        test = 0 if options.include_test else int(people.is_test.sum())
        return cls(test=test, excluded=left_out - test, flagged=0)


def level_left(plan: Plan, looks: Iterable[Mapping[str, Any]], finished: int) -> float:
    """Return the level that planned looks leave to this one.

    ``finished``: how many participants have finished; the level is 0 as long as there are none.
    """
    if not plan.looks:
        return LEVEL
    fractions = [0.0]
    for count in (*(each["participants"] for each in looks), finished):
        fraction = min(1.0, count / plan.participants)
        if fraction >= fractions[-1] + NEAREST_LOOKS:
            fractions.append(fraction)
    if fractions[1:] == [1.0]:
        return LEVEL
    return look_levels(fractions[1:], LEVEL)[-1] if fractions[1:] else 0.0


def people_from(participants: Iterable[ParticipantRecord]) -> People:
    """Convert participants' records to columns; memory holds few records at once."""
    texts, arms = Codes[str](), Codes[str]()
    left = iter(participants)
    batches = [_people_batch([], texts, arms)]
    for records in iter(lambda: list(islice(left, RESPONSES_AT_ONCE)), []):
        batches.append(_people_batch(records, texts, arms))
    ids, flags, minutes, text_codes, arm_codes = map(np.concatenate, zip(*batches, strict=True))
    personal = texts.column(text_codes)
    is_test, excluded, completed, wrong = flags.T
    return People(
        ids=ids,
        is_test=is_test,
        excluded=excluded,
        complete=completed,
        minutes=minutes,
        personal=Coded(tuple(map(json.loads, personal.values)), personal.codes),
        misunderstood=wrong,
        arm=arms.column(arm_codes).in_order(),
    )


def _people_batch(
    records: Sequence[ParticipantRecord], texts: Codes[str], arms: Codes[str]
) -> tuple[NDArray[Any], ...]:
    """Return the ids, flags, minutes, and codes of the answers and arms of some participants."""
    flags = [
        (each.is_test, each.excluded, each.status == "complete", each.understood is False)
        for each in records
    ]
    answers = [{**each.personal, **(each.closing or {})} for each in records]
    return (
        np.array([each.public_id for each in records], dtype=str),
        np.array(flags, dtype=bool).reshape(-1, 4),
        np.array([*map(minutes_taken, records)], dtype=np.float64),
        texts.encode(json.dumps(each, sort_keys=True) for each in answers),
        arms.encode(each.arm for each in records),
    )


def minutes_taken(participant: ParticipantRecord) -> float:
    """Return the minutes from "Begin" to "Hand in" by the server's clock; NaN if not finished."""
    seconds = seconds_between(participant.started_at, participant.completed_at)
    return math.nan if seconds is None else seconds / 60
