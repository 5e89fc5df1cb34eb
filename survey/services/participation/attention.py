"""How participants answer attention checks while a study runs."""

from collections.abc import Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from sqlalchemy.orm import Session

from survey.core.agreement.attention import Attention
from survey.core.kinds import KINDS, kind_of
from survey.db import participant_queries
from survey.db.models import Study
from survey.services.participation.queue import columns_with, presentation_in


class CheckedAnswer(NamedTuple):
    """An answer with how its question was shown, of the types of the kind."""

    drawn: Any
    answer: Any


def attention_of(
    session: Session, study: Study, participant_ids: Sequence[int]
) -> Attention | None:
    """Return how participants, by their row ids, answered; None without attention checks."""
    plan, kind = study.plan, kind_of(study.plan)
    if not plan.checks:
        return None
    tables = KINDS[plan.kind].tables
    numbers = {
        number for check in plan.checks for number in (check.again, plan.number_of(check.name))
    }
    needs_all = not all(check.is_question for check in plan.checks)
    rows, steps = participant_queries.answers_to(
        session,
        tables,
        participant_ids,
        None if needs_all else {number for number in numbers if number},
    )
    people = (
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
    return Attention.of(plan, questions, people, kind.are_right)
