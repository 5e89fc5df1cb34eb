"""Queries of studies: participants, slots, guests, consent texts, personal data, erasures."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, Text, and_, case, delete, exists, func, or_, select, update
from sqlalchemy import cast as as_type
from sqlalchemy.orm import Session, contains_eager, joinedload

from survey.db.models import (
    Browser,
    ConsentText,
    Erasure,
    Event,
    Guest,
    Identity,
    Participant,
    Presentation,
    StoredResponse,
    Study,
)


def study_by_slug(session: Session, slug: str) -> Study | None:
    """Return the study with this address, None where there is none."""
    return session.scalar(select(Study).where(Study.slug == slug))


def all_studies(session: Session) -> Sequence[Study]:
    """Return all studies, oldest first."""
    return session.scalars(select(Study).order_by(Study.id)).all()


def newest_consent(session: Session, study_id: int) -> ConsentText:
    """Return the latest version of a study's consent text."""
    return session.scalars(
        select(ConsentText)
        .where(ConsentText.study_id == study_id)
        .order_by(ConsentText.version.desc())
    ).first()  # type: ignore[return-value] # each study is created with a text


def participant_of_browser(session: Session, study_id: int, token_hash: str) -> Participant | None:
    """Return the participant to whom a browser is bound in a study."""
    return session.scalar(
        select(Participant)
        .join(Browser, Browser.participant_id == Participant.id)
        .where(Browser.study_id == study_id, Browser.token_hash == token_hash)
    )


def browser_of_token(session: Session, study_id: int, token_hash: str) -> Browser | None:
    """Return the browser that holds this token in a study."""
    return session.scalar(
        select(Browser).where(Browser.study_id == study_id, Browser.token_hash == token_hash)
    )


def participant_by_resume_hash(
    session: Session, study_id: int, resume_hash: str
) -> Participant | None:
    """Return the participant of a study who has the resume code with this hash."""
    return session.scalar(
        select(Participant).where(
            Participant.study_id == study_id, Participant.resume_hash == resume_hash
        )
    )


def locked_participant(session: Session, participant_id: int) -> Participant:
    """Return a participant, locked and read again, until the transaction ends."""
    return session.scalars(
        select(Participant)
        .where(Participant.id == participant_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()


def presentation_at(session: Session, participant_id: int, position: int) -> Presentation | None:
    """Return a participant's presentation at a position (0: practice), with its question."""
    return session.scalar(
        select(Presentation)
        .join(Presentation.question)
        .options(contains_eager(Presentation.question))
        .where(Presentation.participant_id == participant_id, Presentation.position == position)
    )


def participants_of(session: Session, study_id: int) -> Sequence[Participant]:
    """Return a study's participants, by public id."""
    return session.scalars(
        select(Participant).where(Participant.study_id == study_id).order_by(by_public_id(session))
    ).all()


def by_public_id(session: Session) -> ColumnElement[str]:
    """Return a sort key that compares ids byte by byte.

    PostgreSQL would otherwise sort by the language of the database.
    """
    is_sqlite = session.get_bind().dialect.name == "sqlite"
    return Participant.public_id.collate("BINARY" if is_sqlite else "C")


def participant_counts(session: Session, study_id: int) -> dict[tuple[str, bool], int]:
    """Count a study's participants by status and by whether they are test data."""
    rows = session.execute(
        select(Participant.status, Participant.is_test, func.count())
        .where(Participant.study_id == study_id)
        .group_by(Participant.status, Participant.is_test)
    )
    return {(status, is_test): count for status, is_test, count in rows}


def locked_study(session: Session, study_id: int) -> Study:
    """Return a study, locked and read again, until the transaction ends."""
    return session.scalars(
        select(Study)
        .where(Study.id == study_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()


def _holds_slot(since: datetime) -> ColumnElement[bool]:
    """Return the condition of holding a slot: complete, or under way and seen since a time."""
    return and_(
        Participant.is_test.is_(False),
        Participant.excluded.is_(False),
        or_(
            Participant.status == "complete",
            and_(Participant.status == "started", Participant.last_seen_at > since),
        ),
    )


def taken_slots(session: Session, study_id: int, since: datetime) -> int:
    """Count the slots of a study that are in use."""
    taken = session.scalar(
        select(func.count())
        .select_from(Participant)
        .where(Participant.study_id == study_id, _holds_slot(since))
    )
    return taken or 0


def times_asked(
    session: Session, study_id: int, since: datetime, *, is_test: bool
) -> dict[int, int]:
    """Count the participants who are shown each question, by row id, practice left out.

    Only those who hold a slot are counted; test participants are counted by themselves.
    """
    counted = (
        Participant.is_test.is_(True) & (Participant.status != "screened_out")
        if is_test
        else _holds_slot(since)
    )
    rows = session.execute(
        select(Presentation.question_id, func.count())
        .join(Participant, Participant.id == Presentation.participant_id)
        .where(Participant.study_id == study_id, Presentation.position > 0, counted)
        .group_by(Presentation.question_id)
    )
    return {row[0]: row[1] for row in rows}


def guests_of(session: Session, study_id: int) -> Sequence[Guest]:
    """Return a study's guests, oldest first, each with the participant who used the link."""
    return session.scalars(
        select(Guest)
        .options(joinedload(Guest.participant))
        .where(Guest.study_id == study_id)
        .order_by(Guest.id)
    ).all()


def guest_by_nonce(session: Session, study_id: int, nonce: str) -> Guest | None:
    """Return the guest of a study whose personal link holds this nonce."""
    return session.scalar(
        select(Guest)
        .options(joinedload(Guest.participant))
        .where(Guest.study_id == study_id, Guest.nonce == nonce)
    )


def participant_of_identity(
    session: Session, study_id: int, external_id: str
) -> Participant | None:
    """Return the participant of a study whom a platform knows by this id."""
    return session.scalar(
        select(Participant)
        .join(Identity, Identity.participant_id == Participant.id)
        .where(Identity.study_id == study_id, Identity.external_id == external_id)
    )


def consent_of(session: Session, consent_id: int | None) -> ConsentText | None:
    """Return a consent text by its row id; None for no id."""
    return None if consent_id is None else session.get(ConsentText, consent_id)


def guest_of_participant(session: Session, participant_id: int) -> Guest | None:
    """Return the guest whose personal link a participant used."""
    return session.scalar(select(Guest).where(Guest.participant_id == participant_id))


def identity_of(session: Session, participant_id: int) -> Identity | None:
    """Return a participant's id and parameters from a platform."""
    return session.get(Identity, participant_id)


def participant_by_public_id(session: Session, study_id: int, public_id: str) -> Participant | None:
    """Return the participant of a study with this public id."""
    return session.scalar(
        select(Participant).where(
            Participant.study_id == study_id, Participant.public_id == public_id
        )
    )


def stored_plans(session: Session) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Return the address of every study with the JSON of its plan."""
    return [(slug, plan) for slug, plan in session.execute(select(Study.slug, Study.plan_json))]


def answers_in(session: Session, study_id: int, *, include_test: bool = True) -> int:
    """Count a study's answers, practice included."""
    statement = (
        select(func.count(StoredResponse.id))
        .join(Participant, Participant.id == StoredResponse.participant_id)
        .where(Participant.study_id == study_id)
    )
    if not include_test:
        statement = statement.where(Participant.is_test.is_(False))
    return session.scalar(statement) or 0


Kind = Literal["counts", "test", "excluded"]

# Exclusive conditions: an excluded test participant is listed once, as excluded.
CONDITIONS: dict[Kind, ColumnElement[bool]] = {
    "counts": and_(Participant.is_test.is_(False), Participant.excluded.is_(False)),
    "test": and_(Participant.is_test.is_(True), Participant.excluded.is_(False)),
    "excluded": Participant.excluded.is_(True),
}


@dataclass(frozen=True)
class StatusCount:
    """How many participants have the same kind and status; ``away``: their slot is released."""

    kind: Kind
    status: str
    away: bool
    participants: int


def status_counts(session: Session, study_id: int, since: datetime) -> list[StatusCount]:
    """Count a study's participants by kind, status and absence (not seen since a time)."""
    kind = case(*((condition, kind) for kind, condition in CONDITIONS.items()))
    seen = func.coalesce(Participant.last_seen_at, Participant.started_at)
    away = and_(Participant.status == "started", seen <= since)
    columns = (kind.label("kind"), Participant.status, away.label("away"), func.count())
    rows = session.execute(
        select(*columns)
        .where(Participant.study_id == study_id)
        .group_by("kind", Participant.status, "away")
    )
    return [StatusCount(kind, status, bool(away), count) for kind, status, away, count in rows]


def recently_seen(
    session: Session, study_id: int, kind: Kind, id_prefix: str, limit: int
) -> Sequence[Participant]:
    """Return participants of a kind whose public id has a prefix, those seen last first."""
    seen = func.coalesce(Participant.completed_at, Participant.last_seen_at, Participant.started_at)
    statement = select(Participant).where(Participant.study_id == study_id, CONDITIONS[kind])
    if id_prefix:
        statement = statement.where(Participant.public_id.startswith(id_prefix, autoescape=True))
    statement = statement.order_by(seen.desc(), Participant.id.desc()).limit(limit)
    return session.scalars(statement).all()


def answer_counts(session: Session, participant_ids: Collection[int]) -> dict[int, int]:
    """Count each participant's answers, by row id, practice left out."""
    rows = session.execute(
        select(Presentation.participant_id, func.count())
        .join(
            StoredResponse,
            (StoredResponse.participant_id == Presentation.participant_id)
            & (StoredResponse.question_id == Presentation.question_id),
        )
        .where(Presentation.participant_id.in_(participant_ids), Presentation.position > 0)
        .group_by(Presentation.participant_id)
    )
    return {row[0]: row[1] for row in rows}


def has_real_answers(session: Session, study_id: int) -> bool:
    """Return whether a participant who is not test data has answered a question beside practice."""
    answered = (
        select(Presentation.id)
        .join(Participant, Participant.id == Presentation.participant_id)
        .join(
            StoredResponse,
            (StoredResponse.participant_id == Presentation.participant_id)
            & (StoredResponse.question_id == Presentation.question_id),
        )
        .where(
            Participant.study_id == study_id,
            Participant.is_test.is_(False),
            Presentation.position > 0,
        )
    )
    return bool(session.scalar(select(exists(answered))))


def erased_tokens(session: Session) -> Sequence[str]:
    """Return the hashes from which a restored backup knows whom to erase."""
    return session.scalars(select(Erasure.token)).all()


def events_about(session: Session, slug: str, public_id: str) -> Sequence[Event]:
    """Return the events of a study whose detail begins with a participant's id."""
    return session.scalars(
        select(Event).where(Event.slug == slug, Event.detail.startswith(public_id))
    ).all()


def has_personal(session: Session, study_id: int) -> bool:
    """Return whether a study still holds data that identify people."""
    conditions = (
        exists().where(Participant.study_id == study_id, _has_personal_answers()),
        exists().where(Identity.study_id == study_id),
        exists().where(Guest.study_id == study_id),
    )
    return bool(session.scalar(select(or_(*conditions))))


def delete_personal(session: Session, study_id: int) -> None:
    """Delete a study's personal answers, platform ids and guest list."""
    session.execute(
        update(Participant)
        .where(Participant.study_id == study_id, _has_personal_answers())
        .values(personal={})
    )
    session.execute(delete(Identity).where(Identity.study_id == study_id))
    session.execute(delete(Guest).where(Guest.study_id == study_id))


def _has_personal_answers() -> ColumnElement[bool]:
    return as_type(Participant.personal, Text) != "{}"
