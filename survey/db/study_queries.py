"""Queries of studies: by address, their participants counted and listed, guests, consent."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import ColumnElement, and_, case, exists, func, or_, select
from sqlalchemy.orm import Session, contains_eager, joinedload

from survey.db.models import (
    Browser,
    ConsentText,
    Guest,
    Identity,
    Participant,
    Presentation,
    StoredResponse,
    Study,
)


def study_by_slug(session: Session, slug: str) -> Study | None:
    """Return the study of that address."""
    return session.scalar(select(Study).where(Study.slug == slug))


def all_studies(session: Session) -> Sequence[Study]:
    """Return all studies, oldest first."""
    return session.scalars(select(Study).order_by(Study.id)).all()


def newest_consent(session: Session, study_id: int) -> ConsentText:
    """Return the consent text that participants of the study read now."""
    return session.scalars(
        select(ConsentText)
        .where(ConsentText.study_id == study_id)
        .order_by(ConsentText.version.desc())
    ).first()  # type: ignore[return-value] # a study is made with one


def participant_of_browser(session: Session, study_id: int, token_hash: str) -> Participant | None:
    """Return the participant for whom this browser speaks in this study."""
    return session.scalar(
        select(Participant)
        .join(Browser, Browser.participant_id == Participant.id)
        .where(Browser.study_id == study_id, Browser.token_hash == token_hash)
    )


def browser_of_token(session: Session, study_id: int, token_hash: str) -> Browser | None:
    """Return the row of a browser in a study."""
    return session.scalar(
        select(Browser).where(Browser.study_id == study_id, Browser.token_hash == token_hash)
    )


def participant_by_resume_hash(
    session: Session, study_id: int, resume_hash: str
) -> Participant | None:
    """Return the participant of the study whose resume code hashes to this."""
    return session.scalar(
        select(Participant).where(
            Participant.study_id == study_id, Participant.resume_hash == resume_hash
        )
    )


def locked_participant(session: Session, participant_id: int) -> Participant:
    """Return a participant whose row no other transaction may change until this one ends."""
    return session.scalars(
        select(Participant)
        .where(Participant.id == participant_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()


def presentation_at(session: Session, participant_id: int, position: int) -> Presentation | None:
    """Return what a participant sees at a position (0: practice), question included."""
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
    """Order participants byte by byte, whatever the language of a PostgreSQL database."""
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
    """Return a study whose row no other transaction may change until this one ends."""
    return session.scalars(
        select(Study)
        .where(Study.id == study_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()


def _holds_a_place(since: datetime) -> ColumnElement[bool]:
    """Participants who count towards the target: complete, or seen since that moment."""
    return and_(
        Participant.is_test.is_(False),
        Participant.excluded.is_(False),
        or_(
            Participant.status == "complete",
            and_(Participant.status == "started", Participant.last_seen_at > since),
        ),
    )


def places_taken(session: Session, study_id: int, since: datetime) -> int:
    """Count the participants of a study who hold a place."""
    taken = session.scalar(
        select(func.count())
        .select_from(Participant)
        .where(Participant.study_id == study_id, _holds_a_place(since))
    )
    return taken or 0


def times_asked(
    session: Session, study_id: int, since: datetime, *, is_test: bool
) -> dict[int, int]:
    """Count how often each question (practice left out) was given to those who count.

    Test participants are balanced among themselves.
    """
    counts = (
        Participant.is_test.is_(True) & (Participant.status != "screened_out")
        if is_test
        else _holds_a_place(since)
    )
    rows = session.execute(
        select(Presentation.question_id, func.count())
        .join(Participant, Participant.id == Presentation.participant_id)
        .where(Participant.study_id == study_id, Presentation.position > 0, counts)
        .group_by(Presentation.question_id)
    )
    return {row[0]: row[1] for row in rows}


def guests_of(session: Session, study_id: int) -> Sequence[Guest]:
    """Return a study's guest list in its order, with those who began."""
    return session.scalars(
        select(Guest)
        .options(joinedload(Guest.participant))
        .where(Guest.study_id == study_id)
        .order_by(Guest.id)
    ).all()


def guest_by_nonce(session: Session, study_id: int, nonce: str) -> Guest | None:
    """Return the guest of a study with this half of a link."""
    return session.scalar(
        select(Guest)
        .options(joinedload(Guest.participant))
        .where(Guest.study_id == study_id, Guest.nonce == nonce)
    )


def participant_of_identity(
    session: Session, study_id: int, external_id: str
) -> Participant | None:
    """Return the participant of a study who came with that platform id."""
    return session.scalar(
        select(Participant)
        .join(Identity, Identity.participant_id == Participant.id)
        .where(Identity.study_id == study_id, Identity.external_id == external_id)
    )


def consent_of(session: Session, consent_id: int | None) -> ConsentText | None:
    """Return the consent text a participant agreed to, if they did."""
    return None if consent_id is None else session.get(ConsentText, consent_id)


def guest_of_participant(session: Session, participant_id: int) -> Guest | None:
    """Return the guest as whom a participant began."""
    return session.scalar(select(Guest).where(Guest.participant_id == participant_id))


def identity_of(session: Session, participant_id: int) -> Identity | None:
    """Return what a platform said of a participant."""
    return session.get(Identity, participant_id)


def participant_by_public_id(session: Session, study_id: int, public_id: str) -> Participant | None:
    """Return the participant of a study under that id."""
    return session.scalar(
        select(Participant).where(
            Participant.study_id == study_id, Participant.public_id == public_id
        )
    )


def stored_plans(session: Session) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Return every study's address and plan, as stored."""
    return [(slug, plan) for slug, plan in session.execute(select(Study.slug, Study.plan_json))]


def answers_in(session: Session, study_id: int, *, include_test: bool = True) -> int:
    """Count the stored answers of a study."""
    found = (
        select(func.count(StoredResponse.id))
        .join(Participant, Participant.id == StoredResponse.participant_id)
        .where(Participant.study_id == study_id)
    )
    if not include_test:
        found = found.where(Participant.is_test.is_(False))
    return session.scalar(found) or 0


Kind = Literal["counts", "test", "excluded"]

# Each participant is of one kind; whoever is excluded is not listed as test data as well.
CONDITIONS: dict[Kind, ColumnElement[bool]] = {
    "counts": and_(Participant.is_test.is_(False), Participant.excluded.is_(False)),
    "test": and_(Participant.is_test.is_(True), Participant.excluded.is_(False)),
    "excluded": Participant.excluded.is_(True),
}


@dataclass(frozen=True)
class Standing:
    """So many participants of whom the same is true; ``away``: their place has gone back."""

    kind: Kind
    status: str
    away: bool
    participants: int


def standings(session: Session, study_id: int, since: datetime) -> list[Standing]:
    """Count a study's participants; whoever was last seen before ``since`` is away."""
    kind = case(*((condition, kind) for kind, condition in CONDITIONS.items()))
    seen = func.coalesce(Participant.last_seen_at, Participant.started_at)
    away = and_(Participant.status == "started", seen <= since)
    columns = (kind.label("kind"), Participant.status, away.label("away"), func.count())
    rows = session.execute(
        select(*columns)
        .where(Participant.study_id == study_id)
        .group_by("kind", Participant.status, "away")
    )
    return [Standing(kind, status, bool(away), count) for kind, status, away, count in rows]


def seen_last(
    session: Session, study_id: int, kind: Kind, beginning: str, most: int
) -> Sequence[Participant]:
    """Return those seen last, so many at most, whose id has that beginning ("" for any)."""
    seen = func.coalesce(Participant.completed_at, Participant.last_seen_at, Participant.started_at)
    found = select(Participant).where(Participant.study_id == study_id, CONDITIONS[kind])
    if beginning:
        found = found.where(Participant.public_id.startswith(beginning, autoescape=True))
    return session.scalars(found.order_by(seen.desc(), Participant.id.desc()).limit(most)).all()


def answers_of(session: Session, participant_ids: Collection[int]) -> dict[int, int]:
    """Count the answers of each of these participants, practice left out."""
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
    """Tell whether anyone who is no test data has answered a question, practice left out."""
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
