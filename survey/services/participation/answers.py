"""How a participant sees a question, and storing what they answer.

What was drawn for a participant is read, never drawn again. An answer is stored once, after a
look at what is stored already, and before the page says so.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from functools import lru_cache
from typing import Any

from sqlalchemy.orm import Session

from survey import tokens
from survey.clock import now
from survey.core.studies.plan import Plan
from survey.core.studies.rankings import Ranking
from survey.core.studies.texts import marked
from survey.core.tasks import TASKS, Task, TaskQuestion, task_of
from survey.db import participant_queries, study_queries
from survey.db.models import Study
from survey.db.prepared import Record
from survey.db.records import AnyParticipant
from survey.db.tasks import tables_of
from survey.errors import NotAllowedError, NotFoundError, SurveyError
from survey.services.participation.participants import require_open


@dataclass(frozen=True)
class StoredAnswer:
    """The answer that counts, as it is stored; ``revisions``: how often it was changed."""

    answer: Any
    submitted_at: datetime
    revisions: int


@dataclass(frozen=True)
class Shown:
    """How a participant sees a question, and what is stored of their answer to it.

    ``name``: identifies the presentation, also after its row is erased. ``drawn``: what was drawn
    for this participant; ``view``: all that they may see. Both, as ``stored.answer``, are of the
    types of the kind of question.
    """

    name: str
    position: int
    shown_at: datetime | None
    row_id: int
    response_id: int | None
    drawn: Any
    view: Any
    stored: StoredAnswer | None


def find_presentation(
    session: Session, plan: Plan, participant: AnyParticipant, position: int
) -> Shown:
    """Return how the participant sees the question at a position, or raise NotFoundError."""
    row = participant_queries.presentation(session, tables_of(plan), participant.id, position)
    if row is None:
        raise no_such_question()
    return _shown(task_of(plan), row)


def all_presentations(session: Session, plan: Plan, participant: AnyParticipant) -> list[Shown]:
    """Return all that a participant was given, in order, practice (position 0) included."""
    rows = participant_queries.presentations(session, tables_of(plan), participant.id)
    return [_shown(task_of(plan), row) for row in rows]


def _shown(task: Task, row: Record) -> Shown:
    drawn = task.presentation(**_columns(row, "drawn_"))
    return Shown(
        name=presentation_name(row.public_id, row.id),
        position=row.position,
        shown_at=row.shown_at,
        row_id=row.id,
        response_id=row.response_id,
        drawn=drawn,
        view=task.show(_question(task.name, row.number, row.content), drawn),
        stored=stored_answer(task, row),
    )


def _columns(row: Record, prefix: str) -> dict[str, Any]:
    """Return the columns of the kind's own table, named as its type names its fields."""
    return {
        name.removeprefix(prefix): value
        for name, value in row._asdict().items()
        if name.startswith(prefix)
    }


@lru_cache(maxsize=1000)
def _question(kind: str, number: int, content: str) -> TaskQuestion:
    """Parse a question's JSON once: the same text is the same question."""
    return TASKS[kind].read_question(number, json.loads(content))


def stored_answer(task: Task, row: Record) -> StoredAnswer | None:
    """Return the answer that a row holds, if there is one."""
    if row.response_id is None:
        return None
    return StoredAnswer(answer_in(task, row), row.submitted_at, row.revisions)


def answer_in(task: Task, row: Record) -> Any:
    """Return the answer that the columns answer_… of a row hold."""
    return task.answer(**_columns(row, "answer_"))


def usual_variant(plan: Plan) -> str:
    """Return the variant in which a preview shows a study's questions by default."""
    return task_of(plan).usual_variant(plan)


def preview(study: Study, number: int, variant: str) -> Any:
    """Return what a participant may see of a question, in a variant of the kind's own.

    Raises NotFoundError for a question or a variant that the study does not have.
    """
    task = task_of(study.plan)
    question = next((one for one in study.questions if one.number == number), None)
    if question is None:
        raise NotFoundError("This study has no such question.")
    content = task.read_question(number, question.content)
    try:
        return task.show(content, task.draw_variant(study.plan, content, variant))
    except ValueError as error:
        raise NotFoundError(f"{error}.") from None


def no_such_question() -> NotFoundError:
    """Return the error that a study has no question at a position."""
    return NotFoundError(marked("This survey has no such question."))


def next_key(secret_key: str, shown: Shown) -> str:
    """Return the submission key for a form that shows this state of the answer."""
    return tokens.submission_key(secret_key, shown.name, answers_given(shown.stored))


def presentation_name(public_id: str, presentation_id: int) -> str:
    """Return a presentation's name; the number alone may become another row's."""
    return f"{public_id}:{presentation_id}"


def answers_given(stored: StoredAnswer | None) -> int:
    """Count the answers that were given to a question, changed ones too."""
    return 0 if stored is None else stored.revisions + 1


# More than a person can give, and more than a study can ask; see survey.core.stimuli.plan.
ANSWERS_A_MINUTE = 200


class TooManyAnswersError(SurveyError):
    """More answers in a minute than a person can give; this one is not stored."""


class Outcome(Enum):
    """What became of a posted answer.

    SAVED: stored, or stored before by the same form. STALE: nothing was stored,
    because the form was filled in on an earlier state of the answer.
    """

    SAVED = auto()
    STALE = auto()


def save_answer(
    session: Session,
    secret_key: str,
    plan: Plan,
    participant: AnyParticipant,
    position: int,
    answer: Any,
    key: str,
    active_seconds: float | None = None,
    onward_to: int | None = None,
) -> Outcome:
    """Store an answer of the plan's kind and commit; "saved" may be said only after this returns.

    ``key`` tells on which state of the answer the form was filled in. A form sent
    twice is SAVED and stores nothing more; a form from before a change made
    elsewhere is STALE unless it says what is stored. Raises NotAllowedError after
    the answers were handed in, TooManyAnswersError when this participant sends more
    than a person could, and NotFoundError where there is no such question. ``onward_to``:
    the position of the question that is shown next, if one is.
    """
    who = participant.id
    # Two tabs at once wait here for each other on PostgreSQL; on SQLite they did at BEGIN.
    status = participant_queries.lock(session, who, participant.public_id)
    if status is None:
        raise no_such_question()
    require_open(status)
    moment = now()
    task, tables = task_of(plan), tables_of(plan)
    state = participant_queries.state_of_answer(
        session, tables, who, position, moment - timedelta(minutes=1)
    )
    required = _required(state)
    stored = stored_answer(task, required)
    outcome = _judge(session, secret_key, plan, required, stored, answer, key)
    if outcome is not None:
        session.rollback()
        return outcome
    response: dict[str, Any] = {"submitted_at": moment, "revisions": answers_given(stored)}
    if active_seconds is not None:
        response["active_seconds"] = (required.active_seconds or 0) + active_seconds
    if stored is None:
        response |= {"participant_id": who, "question_id": required.question_id}
    participant_queries.store_answer(
        session, tables, required.response_id, response, vars(answer), active_seconds
    )
    participant_queries.note_seen(session, who, moment)
    if onward_to is not None:
        participant_queries.note_shown(session, who, onward_to, moment)
    session.commit()
    return Outcome.SAVED


def _required(state: Record | None) -> Record:
    """Return what an answer is stored upon; raise what keeps it from being stored."""
    if state is None:
        raise no_such_question()
    if state.status == "complete":
        raise NotAllowedError(marked("The answers were handed in and cannot be changed any more."))
    if state.status == "stopped":
        raise NotAllowedError(marked("You have stopped taking part, so nothing more is stored."))
    return state


def _judge(
    session: Session,
    secret_key: str,
    plan: Plan,
    state: Record,
    stored: StoredAnswer | None,
    answer: Any,
    key: str,
) -> Outcome | None:
    """Decide what a form is: SAVED before, STALE, or None for a new answer to be stored.

    New answers are refused with TooManyAnswersError to keep one participant from filling the
    disk; the limit is each participant's own.
    """
    base = tokens.revision_of(secret_key, presentation_name(state.public_id, state.id), key)
    given_so_far = answers_given(stored)
    if stored is not None and answer == stored.answer:
        return Outcome.SAVED
    if base == given_so_far:
        if state.recent >= ANSWERS_A_MINUTE:
            session.rollback()
            raise TooManyAnswersError(
                marked("So many answers came within a minute that this one is not stored yet.")
            )
        return None
    if stored is not None and base is not None and base < given_so_far:
        row = participant_queries.revision_of(session, tables_of(plan), state.response_id, base + 1)
        same = row is not None and answer == answer_in(task_of(plan), row)
        return Outcome.SAVED if same else Outcome.STALE
    return Outcome.STALE


def save_first_ranking(
    session: Session, plan: Plan, who: AnyParticipant, position: int, ranking: Ranking
) -> None:
    """Store the ranking that is given before the columns are shown; the first one counts."""
    if participant_queries.lock(session, who.id, who.public_id) is None:
        raise no_such_question()
    participant = study_queries.locked_participant(session, who.id)
    shown = find_presentation(session, plan, participant, position)
    if shown.drawn.ranked_at is None:
        moment = participant.last_seen_at = now()
        participant_queries.change_presentation(
            session, tables_of(plan), shown.row_id, {"ranked_first": ranking, "ranked_at": moment}
        )
    session.commit()
