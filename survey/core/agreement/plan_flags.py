"""Whom the rules of a plan flag besides attention checks: pace, equal answers, programs.

A flag is a reason to look, no proof: it excludes no participant.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.coincidence import coincidences
from survey.core.studies.fields import ParticipantRecord
from survey.core.studies.plan import ON_PROGRAMS, YES, Plan

PACE, EQUAL_ANSWERS, PROGRAM, LINE = "pace", "equal answers", "program", "line for programs"
Answers = Mapping[str, Mapping[Hashable, Hashable]]
"""Of each participant the answers to each question, or part of one, that can be equal."""


@dataclass(frozen=True)
class RuleFlags:
    """Whom a rule flags, of ``people`` whom it could judge: id → reason; ``rule``: in words.

    ``why``: why it could judge no one, "" where it could.
    """

    name: str
    rule: str
    people: int
    reasons: Mapping[str, str]
    why: str = ""


def rule_flags(
    plan: Plan,
    people: Iterable[ParticipantRecord],
    seconds: tuple[NDArray[np.str_], NDArray[np.float64]],
    answers: Answers,
) -> tuple[RuleFlags, ...]:
    """Return whom each rule of the plan flags, of the ``people`` who count.

    ``seconds``: ids, and the median time of each for a question, NaN where it is unknown.
    """
    rules = []
    if plan.least_seconds is not None:
        rules.append(pace(plan.least_seconds, *seconds))
    if plan.flag_equal_answers:
        rules.append(equal_answers(answers))
    if plan.ask_program or plan.machine_line:
        said, wrote = _of_programs(people)
        rules += [said] if plan.ask_program else []
        rules += [wrote] if plan.machine_line else []
    return tuple(rules)


def pace(least: int, ids: NDArray[np.str_], seconds: NDArray[np.float64]) -> RuleFlags:
    """Flag those whose median time for a question is below ``least`` seconds."""
    known = ~np.isnan(seconds)
    reasons = {
        str(ids[row]): f"median {seconds[row]:.1f} seconds"
        for row in np.flatnonzero(known & (seconds < least)).tolist()
    }
    rule = f"the median time for a question is below {least} seconds"
    return RuleFlags(PACE, rule, int(known.sum()), reasons)


def equal_answers(answers: Answers) -> RuleFlags:
    """Flag both of each pair whose answers coincide more than the questions' shares allow."""
    result = coincidences(answers)
    reasons: dict[str, list[str]] = {}
    for pair in result.found:
        for person, other in ((pair.first, pair.second), (pair.second, pair.first)):
            counted = f"{pair.equal} of {pair.common} equal to {other}'s"
            text = f"{counted}, {pair.expected:.1f} expected, p = {pair.p:.1g}"
            reasons.setdefault(person, []).append(text)
    rule = "two people's answers coincide more than the shares of each question allow"
    joined = {person: "; ".join(texts) for person, texts in reasons.items()}
    people = result.people if result.pairs else 0
    return RuleFlags(EQUAL_ANSWERS, f"{rule} (p < .001 after Holm)", people, joined, result.why)


def _of_programs(people: Iterable[ParticipantRecord]) -> tuple[RuleFlags, RuleFlags]:
    said: dict[str, str] = {}
    wrote: dict[str, str] = {}
    asked = count = 0
    for person in people:
        count += 1
        answer = (person.closing or {}).get(ON_PROGRAMS.name)
        asked += answer is not None
        if answer == YES:
            said[person.public_id] = "said so at the end"
        if person.machine_line:
            wrote[person.public_id] = "filled in"
    rule = "“Yes” to the closing question “Did a program answer for you?”"
    line = "the field for programs was filled in"
    return RuleFlags(PROGRAM, rule, asked, said), RuleFlags(LINE, line, count, wrote)
