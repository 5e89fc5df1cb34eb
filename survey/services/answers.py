"""Storing an answer: once, after a look at what is stored already, and before saying so."""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, auto

from sqlalchemy.orm import Session

from survey.core.stimuli.blinding import BlindedQuestion, blind
from survey.core.stimuli.rankings import Ranking
from survey.core.stimuli.words import marked
from survey.db import queries
from survey.db.models import Participant, Presentation, Revision, StoredResponse
from survey.services import tokens
from survey.services.clock import now
from survey.services.errors import NotAllowedError, NotFoundError, SurveyError
from survey.services.participants import require_open

# More than a person can give, and more than a study can ask; see survey.core.stimuli.plan.
ANSWERS_A_MINUTE = 200


class TooManyAnswersError(SurveyError):
    """More answers in a minute than a person can give; this one is not stored."""


@dataclass(frozen=True)
class Answer:
    """What a participant said: label numbers, or an own ranking."""

    clicked: frozenset[int]
    own: Ranking | None

    def same_as(self, stored: StoredResponse | Revision) -> bool:
        """Tell whether this is what is stored."""
        return self.clicked == stored.clicked and self.own == stored.own


class Outcome(Enum):
    """What became of a posted answer.

    SAVED: stored, or stored before by the same form. STALE: nothing was stored,
    because the form was filled in on an earlier state of the answer.
    """

    SAVED = auto()
    STALE = auto()


def find_presentation(session: Session, participant: Participant, position: int) -> Presentation:
    """Return how the participant sees the question there, or raise NotFoundError."""
    presentation = queries.presentation_at(session, participant.id, position)
    if presentation is None:
        raise NotFoundError(marked("This survey has no such question."))
    return presentation


def blinded_question(presentation: Presentation) -> BlindedQuestion:
    """Return what the participant may see of a presentation."""
    return blind(presentation.question.content, presentation.blinding, presentation.shown)


def stored_answer(
    session: Session, participant: Participant, presentation: Presentation
) -> StoredResponse | None:
    """Return the answer stored for a presentation."""
    return queries.response_to(session, participant.id, presentation.question_id)


def all_answers(
    session: Session, participant: Participant
) -> list[tuple[int, BlindedQuestion, StoredResponse | None]]:
    """Return a participant's questions in order (practice left out) with their answers."""
    return [
        (presentation.position, blinded_question(presentation), response)
        for presentation, response in queries.presentations_with_responses(session, participant.id)
        if presentation.position > 0
    ]


def next_key(secret_key: str, presentation: Presentation, stored: StoredResponse | None) -> str:
    """Return the submission key for a form that shows this state of the answer."""
    return tokens.submission_key(secret_key, _name_of(presentation), _answers_given(stored))


def _name_of(presentation: Presentation) -> str:
    return f"{presentation.participant.public_id}:{presentation.id}"


def save_answer(
    session: Session,
    secret_key: str,
    participant: Participant,
    presentation: Presentation,
    answer: Answer,
    key: str,
    active_seconds: float | None = None,
    onward_to: int | None = None,
) -> Outcome:
    """Store an answer and commit; the caller may say "saved" only after this returns.

    ``key`` tells on which state of the answer the form was filled in. A form sent
    twice is SAVED and stores nothing more; a form from before a change made
    elsewhere is STALE unless it says what is stored. Raises NotAllowedError after
    the answers were handed in, and TooManyAnswersError when this participant sends more
    than a person could. ``onward_to``: the position of the question that is shown next,
    if one is.
    """
    # Two tabs at once wait here for each other on PostgreSQL; on SQLite they did at BEGIN.
    require_open(queries.study_kept_as_it_is(session, participant.study_id))
    participant = queries.locked_participant(session, participant.id)
    if participant.status == "complete":
        raise NotAllowedError(marked("The answers were handed in and cannot be changed any more."))
    if participant.status == "stopped":
        raise NotAllowedError(marked("You have stopped taking part, so nothing more is stored."))
    stored = queries.response_to(session, participant.id, presentation.question_id)
    outcome = _judge(secret_key, presentation, stored, answer, key)
    if outcome is None:
        _require_unhurried(session, participant)
        _store(session, participant, presentation, stored, answer, active_seconds)
        _note_shown(session, participant, onward_to)
    session.commit()
    return outcome or Outcome.SAVED


def _judge(
    secret_key: str,
    presentation: Presentation,
    stored: StoredResponse | None,
    answer: Answer,
    key: str,
) -> Outcome | None:
    """Decide what a form is: SAVED before, STALE, or None for news to be stored."""
    base = tokens.revision_of(secret_key, _name_of(presentation), key)
    given = _answers_given(stored)
    if stored is not None and answer.same_as(stored):
        return Outcome.SAVED
    if base == given:
        return None
    if stored is not None and base is not None and base < given:
        replayed = answer.same_as(stored.history[base])
        return Outcome.SAVED if replayed else Outcome.STALE
    return Outcome.STALE


def _require_unhurried(session: Session, participant: Participant) -> None:
    """Keep one participant from filling the disk; each has a limit of their own."""
    recent = queries.answers_since(session, participant.id, now() - timedelta(minutes=1))
    if recent >= ANSWERS_A_MINUTE:
        session.rollback()
        raise TooManyAnswersError(
            marked("So many answers came within a minute that this one is not stored yet.")
        )


def _answers_given(stored: StoredResponse | None) -> int:
    return 0 if stored is None else stored.revisions + 1


def _store(
    session: Session,
    participant: Participant,
    presentation: Presentation,
    stored: StoredResponse | None,
    answer: Answer,
    active_seconds: float | None,
) -> None:
    moment = participant.last_seen_at = now()
    if stored is None:
        stored = StoredResponse(
            participant_id=participant.id, question_id=presentation.question_id, revisions=0
        )
        session.add(stored)
    else:
        stored.revisions += 1
    stored.clicked, stored.own, stored.submitted_at = answer.clicked, answer.own, moment
    if active_seconds is not None:
        stored.active_seconds = (stored.active_seconds or 0) + active_seconds
    stored.history.append(
        Revision(
            number=stored.revisions + 1,
            clicked=answer.clicked,
            own=answer.own,
            submitted_at=moment,
            active_seconds=active_seconds,
        )
    )


def _note_shown(session: Session, participant: Participant, position: int | None) -> None:
    """Note when a question is handed out for the first time, before it is."""
    if position is None:
        return
    following = queries.presentation_at(session, participant.id, position)
    if following is not None and following.shown_at is None:
        following.shown_at = participant.last_seen_at


def save_first_ranking(
    session: Session, participant: Participant, presentation: Presentation, ranking: Ranking
) -> None:
    """Store the ranking that is given before the columns are shown; the first one counts."""
    participant = queries.locked_participant(session, participant.id)
    session.refresh(presentation)
    if presentation.ranked_at is None:
        presentation.ranked_first = ranking
        presentation.ranked_at = participant.last_seen_at = now()
    session.commit()
