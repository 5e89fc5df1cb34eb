"""What identifies people, and who was erased: finding it and deleting it."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Text, cast, delete, exists, or_, select, update
from sqlalchemy.orm import Session

from survey.db.models import Erasure, Event, Guest, Identity, Participant


def erased_tokens(session: Session) -> Sequence[str]:
    """Return the tokens of those who were erased."""
    return session.scalars(select(Erasure.token)).all()


def events_about(session: Session, slug: str, public_id: str) -> Sequence[Event]:
    """Return the events of a study whose detail begins with a participant's id."""
    return session.scalars(
        select(Event).where(Event.slug == slug, Event.detail.startswith(public_id))
    ).all()


def has_personal(session: Session, study_id: int) -> bool:
    """Tell whether a study still holds what identifies people."""
    held = (
        exists().where(Participant.study_id == study_id, _says_something()),
        exists().where(Identity.study_id == study_id),
        exists().where(Guest.study_id == study_id),
    )
    return bool(session.scalar(select(or_(*held))))


def delete_personal(session: Session, study_id: int) -> None:
    """Delete what identifies people in a study: about themselves, platforms' ids, guests."""
    session.execute(
        update(Participant)
        .where(Participant.study_id == study_id, _says_something())
        .values(personal={})
    )
    session.execute(delete(Identity).where(Identity.study_id == study_id))
    session.execute(delete(Guest).where(Guest.study_id == study_id))


def _says_something() -> ColumnElement[bool]:
    return cast(Participant.personal, Text) != "{}"
