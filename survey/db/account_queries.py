"""Queries about researchers, their sign-ins, and who may see which study."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import Insert, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, joinedload

from survey.db.models import (
    Event,
    Membership,
    Researcher,
    SignIn,
    SignInLink,
    SignInThrottle,
    Study,
)


def researcher_by_name(session: Session, name: str) -> Researcher | None:
    """Return the researcher of that name, ignoring upper and lower case."""
    # Not compared in SQL: SQLite's lower() changes ASCII letters only.
    wanted = name.casefold()
    matches = (person for person in all_researchers(session) if person.name.casefold() == wanted)
    return next(matches, None)


def all_researchers(session: Session) -> Sequence[Researcher]:
    """Return the accounts, sorted by name."""
    return session.scalars(select(Researcher).order_by(Researcher.name)).all()


def links_of(session: Session, researcher_id: int) -> Sequence[SignInLink]:
    """Return a researcher's sign-in links, used ones too."""
    return session.scalars(
        select(SignInLink).where(SignInLink.researcher_id == researcher_id)
    ).all()


def link_by_hash(session: Session, token_hash: str) -> SignInLink | None:
    """Return the link with this token's hash, locked so that two browsers cannot both use it."""
    return session.scalar(
        select(SignInLink)
        .options(joinedload(SignInLink.researcher))
        .where(SignInLink.token_hash == token_hash)
        .with_for_update(of=SignInLink)
    )


def sign_ins_of(session: Session, researcher_id: int) -> Sequence[SignIn]:
    """Return a researcher's sign-ins, expired ones too, last seen first."""
    return session.scalars(
        select(SignIn)
        .where(SignIn.researcher_id == researcher_id)
        .order_by(SignIn.last_seen_at.desc(), SignIn.id)
    ).all()


def sign_in_by_hash(session: Session, token_hash: str) -> SignIn | None:
    """Return the sign-in with this token's hash, its researcher loaded with it."""
    return session.scalar(
        select(SignIn).options(joinedload(SignIn.researcher)).where(SignIn.token_hash == token_hash)
    )


def add_throttle(session: Session, name_hash: str, moment: datetime) -> None:
    """Insert the row that counts failures under a name, unless it exists."""
    row = {"name_hash": name_hash, "failures": 0, "last_failed_at": moment}
    dialect = sqlite if session.get_bind().dialect.name == "sqlite" else postgresql
    insert: Insert = dialect.insert(SignInThrottle).values(**row).on_conflict_do_nothing()
    session.execute(insert)


def throttle_of(session: Session, name_hash: str) -> SignInThrottle | None:
    """Return the row that counts failures under a name, None if there were none."""
    return session.get(SignInThrottle, name_hash)


def locked_throttle(session: Session, name_hash: str) -> SignInThrottle:
    """Return the row that counts failures under a name, locked until the transaction ends."""
    return session.scalars(
        select(SignInThrottle)
        .where(SignInThrottle.name_hash == name_hash)
        .with_for_update()
        .execution_options(populate_existing=True)
    ).one()


def studies_of_researcher(session: Session, researcher_id: int) -> list[tuple[Study, str]]:
    """Return a researcher's studies, newest first, with the role in each."""
    rows = session.execute(
        select(Study, Membership.role)
        .join(Membership, Membership.study_id == Study.id)
        .where(Membership.researcher_id == researcher_id)
        .order_by(Study.id.desc())
    )
    return [(study, role) for study, role in rows]


def study_of_researcher(
    session: Session, researcher_id: int, slug: str
) -> tuple[Study, str] | None:
    """Return a study and the researcher's role in it, None without a role."""
    row = session.execute(
        select(Study, Membership.role)
        .join(Membership, Membership.study_id == Study.id)
        .where(Membership.researcher_id == researcher_id, Study.slug == slug)
    ).first()
    return None if row is None else (row[0], row[1])


def studies_without_members(session: Session) -> Sequence[Study]:
    """Return the studies that no researcher can see."""
    return session.scalars(
        select(Study)
        .outerjoin(Membership, Membership.study_id == Study.id)
        .where(Membership.id.is_(None))
        .order_by(Study.id)
    ).all()


def membership_of(session: Session, study_id: int, researcher_id: int) -> Membership | None:
    """Return the row that holds a researcher's role in a study."""
    return session.scalar(
        select(Membership).where(
            Membership.study_id == study_id, Membership.researcher_id == researcher_id
        )
    )


def members_of(session: Session, study_id: int) -> Sequence[Membership]:
    """Return the members of a study, owners first, then by name."""
    return session.scalars(
        select(Membership)
        .join(Membership.researcher)
        .options(joinedload(Membership.researcher))
        .where(Membership.study_id == study_id)
        .order_by(Membership.role, Researcher.name)
    ).all()


def events_of(session: Session, study: Study) -> Sequence[Event]:
    """Return the log of a study since it was created, newest first.

    Events of an earlier, deleted study may bear the same slug.
    """
    return session.scalars(
        select(Event)
        .where(Event.slug == study.slug, Event.at >= study.created_at)
        .order_by(Event.id.desc())
    ).all()
