"""Storing an answer: once, after a look at what is stored already, and before saying so."""

from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any

from sqlalchemy.orm import Session

from survey import tokens
from survey.clock import now
from survey.core.studies.rankings import Ranking
from survey.core.studies.texts import marked
from survey.db import participant_queries, study_queries
from survey.db.prepared import Record
from survey.db.records import AnyParticipant
from survey.errors import NotAllowedError, SurveyError
from survey.services.participation.participants import require_open
from survey.services.participation.presentations import (
    Answer,
    answers_given,
    name_of,
    no_such_question,
    stored_in,
)

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
    participant: AnyParticipant,
    position: int,
    answer: Answer,
    key: str,
    active_seconds: float | None = None,
    onward_to: int | None = None,
) -> Outcome:
    """Store an answer and commit; the caller may say "saved" only after this returns.

    ``key`` tells on which state of the answer the form was filled in. A form sent
    twice is SAVED and stores nothing more; a form from before a change made
    elsewhere is STALE unless it says what is stored. Raises NotAllowedError after
    the answers were handed in, TooManyAnswersError when this participant sends more
    than a person could, and NotFoundError where there is no such question. ``onward_to``:
    the position of the question that is shown next, if one is.
    """
    who = participant.id
    # Two tabs at once wait here for each other on PostgreSQL; on SQLite they did at BEGIN.
    status = participant_queries.hold(session, who, participant.public_id)
    if status is None:
        raise no_such_question()
    require_open(status)
    moment = now()
    state = participant_queries.state_of_answer(
        session, who, position, moment - timedelta(minutes=1)
    )
    outcome = _judge(session, secret_key, _required(state), answer, key)
    if outcome is not None:
        session.rollback()
        return outcome
    _store(session, who, _required(state), answer, moment, active_seconds)
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
    session: Session, secret_key: str, state: Record, answer: Answer, key: str
) -> Outcome | None:
    """Decide what a form is: SAVED before, STALE, or None for news to be stored.

    News are refused with TooManyAnswersError to keep one participant from filling the disk;
    each has a limit of their own.
    """
    stored = stored_in(state)
    base = tokens.revision_of(secret_key, name_of(state.public_id, state.id), key)
    given = answers_given(stored)
    if stored is not None and answer.same_as(stored):
        return Outcome.SAVED
    if base == given:
        if state.recent >= ANSWERS_A_MINUTE:
            session.rollback()
            raise TooManyAnswersError(
                marked("So many answers came within a minute that this one is not stored yet.")
            )
        return None
    if stored is not None and base is not None and base < given:
        replayed = participant_queries.revision_of(session, state.response_id, base + 1)
        return Outcome.SAVED if answer.same_as(replayed) else Outcome.STALE
    return Outcome.STALE


def _store(
    session: Session,
    participant_id: int,
    state: Record,
    answer: Answer,
    moment: datetime,
    active_seconds: float | None,
) -> None:
    response: dict[str, Any] = {
        "clicked": answer.clicked,
        "own": answer.own,
        "submitted_at": moment,
    }
    if active_seconds is not None:
        response["active_seconds"] = (state.active_seconds or 0) + active_seconds
    if state.response_id is None:
        response |= {"participant_id": participant_id, "question_id": state.question_id}
    response["revisions"] = answers_given(stored_in(state))
    participant_queries.store_answer(session, state.response_id, response, active_seconds)


def save_first_ranking(
    session: Session, who: AnyParticipant, position: int, ranking: Ranking
) -> None:
    """Store the ranking that is given before the columns are shown; the first one counts."""
    if participant_queries.hold(session, who.id, who.public_id) is None:
        raise no_such_question()
    participant = study_queries.locked_participant(session, who.id)
    presentation = study_queries.presentation_at(session, participant.id, position)
    if presentation is None:
        raise no_such_question()
    if presentation.ranked_at is None:
        presentation.ranked_first = ranking
        presentation.ranked_at = participant.last_seen_at = now()
    session.commit()
