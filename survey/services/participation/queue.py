"""The queue of a kind whose questions depend on others' answers, such as a third assessor's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from survey.core.kinds import KINDS, kind_of
from survey.core.studies.plan import Plan
from survey.db import participant_queries
from survey.db.engine import Record
from survey.db.models.base import own_columns
from survey.db.participant_queries import AnyParticipant

DECIDING_ANSWERS = 2  # answers to a question that decide whether it is due


@dataclass(frozen=True)
class Queue:
    """``due``: the numbers of questions to be asked, which no participant is asked yet.

    ``is_open``: whether others may follow.
    """

    due: Sequence[int]
    is_open: bool


def has_queue(plan: Plan, participant: AnyParticipant) -> bool:
    """Return whether a participant's questions depend on others' answers."""
    return plan.queue_arm is not None and participant.arm == plan.queue_arm


def queue_of(session: Session, plan: Plan, participant: AnyParticipant, since: datetime) -> Queue:
    """Return what a participant with a queue can be asked now.

    ``since``: when others of the same arm must have been seen to keep their questions.
    """
    if plan.queue_arm is None:
        return Queue((), is_open=False)
    earlier = earlier_presentations(session, plan, participant)
    asked = participant_queries.questions_of_arm(
        session, participant.study_id, plan.queue_arm, since, is_test=participant.is_test
    )
    due, is_open = [], False
    for question in plan.draw_questions():
        presentations = earlier.get(question.number, ())
        if len(presentations) < DECIDING_ANSWERS:
            is_open = True
        elif question.number not in asked and kind_of(plan).is_due(plan, question, presentations):
            due.append(question.number)
    return Queue(due, is_open)


def earlier_presentations(
    session: Session, plan: Plan, participant: AnyParticipant, number: int | None = None
) -> dict[int, list[object]]:
    """Return how participants of other arms did each question, of those first who began first.

    By the question's number; of ``number`` alone, if it is given.
    """
    tables = KINDS[plan.kind].tables
    rows, steps = participant_queries.done_in_other_arms(
        *(session, tables, participant.study_id, plan.queue_arm or "", number),
        is_test=participant.is_test,
    )
    earlier: dict[int, list[object]] = {}
    for row in rows:
        earlier.setdefault(row.number, []).append(presentation_in(plan.kind, row, steps))
    return earlier


def presentation_in(kind: str, row: Record, steps: Mapping[int, list[Record]]) -> Any:
    """Return the presentation of a row, with its steps if the kind has some."""
    drawn = KINDS[kind].presentation(**columns_with(row, "drawn_"))
    table = KINDS[kind].tables.step
    if table is None:
        return drawn
    names = [column.name for column in own_columns(table)]
    values = ({name: getattr(each, name) for name in names} for each in steps.get(row.id, ()))
    return replace(drawn, steps=tuple(KINDS[kind].step(**each) for each in values))


def columns_with(row: Record, prefix: str) -> dict[str, object]:
    """Return the columns with a prefix, by their names without it."""
    return {
        name.removeprefix(prefix): value
        for name, value in row._asdict().items()
        if name.startswith(prefix)
    }
