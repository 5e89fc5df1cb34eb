"""How participants answer attention checks while a study runs."""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from survey.core.agreement.answers import seconds_taken
from survey.core.agreement.attention import Attention
from survey.core.agreement.plan_flags import RuleFlags, rule_flags
from survey.core.kinds import KINDS, kind_of
from survey.core.studies.plan import Plan, changed
from survey.db import participant_queries
from survey.db.models import Participant, Study
from survey.services.participation.queue import columns_with, presentation_in


class CheckedAnswer(NamedTuple):
    """An answer with how its question was shown, of the types of the kind."""

    drawn: Any
    answer: Any


def attention_of(session: Session, study: Study, people: Sequence[Participant]) -> Attention | None:
    """Return how participants answered, and whom rules flag; None without checks and rules.

    Equal answers are left out, as they are compared among all participants.
    """
    plan, kind, ids = study.plan, kind_of(study.plan), [each.id for each in people]
    rules = _rules(session, plan, people, ids) if plan.has_flag_rules else ()
    if not plan.checks:
        return Attention((), rules) if rules else None
    tables = KINDS[plan.kind].tables
    numbers = {
        number for check in plan.checks for number in (check.again, plan.number_of(check.name))
    }
    needs_all = not all(check.is_question for check in plan.checks)
    rows, steps = participant_queries.answers_to(
        session, tables, ids, None if needs_all else {number for number in numbers if number}
    )
    answered = (
        (
            person,
            {
                row.number: CheckedAnswer(
                    presentation_in(plan.kind, row, steps),
                    kind.answer(**columns_with(row, "answer_")),
                )
                for row in of_person
            },
        )
        for person, of_person in groupby(rows, attrgetter("public_id"))
    )
    questions = [kind.read_question(row.number, row.content) for row in study.questions]
    return replace(Attention.of(plan, questions, answered, kind.are_right), rules=rules)


def _rules(
    session: Session, plan: Plan, people: Sequence[Participant], ids: Sequence[int]
) -> tuple[RuleFlags, ...]:
    times: dict[str, list[float]] = {each.public_id: [] for each in people}
    if plan.least_seconds is not None:
        rows = participant_queries.times_of_answers(session, ids, plan.questions)
        for public_id, active, shown_at, submitted_at in rows:
            taken = seconds_taken(active, shown_at, submitted_at)
            times[public_id] += [] if taken is None else [taken]
    medians = [float(np.median(each)) if each else math.nan for each in times.values()]
    seconds = np.array([*times], dtype=np.str_), np.array(medians, dtype=np.float64)
    records: Any = people  # rows have what rules look at
    return rule_flags(changed(plan, flag_equal_answers=False), records, seconds, {})
