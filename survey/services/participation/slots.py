"""Places: how many are wanted, how many are taken, and when one that was left goes back."""

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from survey.clock import now
from survey.core.studies.texts import marked
from survey.db import study_queries
from survey.db.records import AnyParticipant, AnyStudy
from survey.errors import StudyFullError
from survey.services.studies.recruitment import recruitment_of


def held_since(study: AnyStudy) -> datetime:
    """Return the moment since which someone must have been seen to hold their place."""
    return now() - timedelta(minutes=recruitment_of(study).slot_minutes)


def free(session: Session, study: AnyStudy) -> int:
    """Return how many more participants can begin now."""
    taken = study_queries.places_taken(session, study.id, held_since(study))
    return max(0, study.plan.participants - taken)


def require_one(session: Session, study: AnyStudy) -> None:
    """Raise StudyFullError when no place is free."""
    if not free(session, study):
        raise StudyFullError(
            marked(
                "Enough people have taken part already, or are taking part right now. "
                "Thank you for your interest."
            )
        )


def require_still_held(session: Session, study: AnyStudy, participant: AnyParticipant) -> None:
    """Raise StudyFullError for someone who was away for long and whose place was given away."""
    seen = participant.last_seen_at or participant.started_at
    if participant.is_test or participant.status != "started" or seen > held_since(study):
        return
    if not free(session, study):
        raise StudyFullError(
            marked(
                "You were away for a long time, and your place went to someone else. What you had "
                "saved is kept. Thank you for your interest."
            )
        )
