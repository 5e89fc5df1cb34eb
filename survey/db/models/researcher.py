"""Researchers: their accounts and sign-ins, their roles in studies, and the log of their acts."""

from sqlalchemy import CheckConstraint, ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from survey.db.models.base import Base, Moment, StudyId
from survey.db.models.study import Study


class Researcher(Base):
    """An account. ``password_hash`` is None until the researcher has set a password."""

    __tablename__ = "researcher"
    retention = "until the account is removed"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    name: Mapped[str] = mapped_column(String(64), unique=True, doc="name to sign in with")
    password_hash: Mapped[str | None] = mapped_column(
        String(200), doc="Argon2id hash of the password"
    )
    created_at: Mapped[Moment] = mapped_column(doc="when the account was made")


class SignInLink(Base):
    """A link to set a password with; it works once. Only the hash of its token is stored."""

    __tablename__ = "sign_in_link"
    retention = "until the next link, or the account is removed"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    researcher_id: Mapped[int] = mapped_column(
        ForeignKey("researcher.id", ondelete="CASCADE"), doc="for whom"
    )
    token_hash: Mapped[str] = mapped_column(
        String(64), unique=True, doc="SHA-256 of the link's token"
    )
    expires_at: Mapped[Moment] = mapped_column(doc="until when it works")
    used_at: Mapped[Moment | None] = mapped_column(doc="when it was used")

    researcher: Mapped[Researcher] = relationship()


class SignIn(Base):
    """A signed-in browser. Only the hash of its cookie's token is stored.

    It ends an hour after ``last_seen_at``; risky actions need a recent ``confirmed_at``.
    """

    __tablename__ = "sign_in"
    retention = "an hour idle, ten hours at most; removed at the next sign-in"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    researcher_id: Mapped[int] = mapped_column(
        ForeignKey("researcher.id", ondelete="CASCADE"), index=True, doc="who is signed in"
    )
    token_hash: Mapped[str] = mapped_column(
        String(64), unique=True, doc="SHA-256 of the cookie's token"
    )
    created_at: Mapped[Moment] = mapped_column(doc="when they signed in")
    last_seen_at: Mapped[Moment] = mapped_column(doc="last request, for the end after an idle hour")
    confirmed_at: Mapped[Moment] = mapped_column(doc="when the password was last typed")

    researcher: Mapped[Researcher] = relationship()


class SignInThrottle(Base):
    """The failed attempts in a row to sign in under a name, from which the wait follows.

    Names without an account have rows too, so that a wait does not reveal who has one.
    """

    __tablename__ = "sign_in_throttle"
    retention = "until the next successful sign-in"

    name_hash: Mapped[str] = mapped_column(
        String(64), primary_key=True, doc="SHA-256 of the name that was typed"
    )
    failures: Mapped[int] = mapped_column(doc="failures in a row")
    last_failed_at: Mapped[Moment] = mapped_column(doc="when the last failure was")


class Membership(Base):
    """A researcher's role in a study: owner or viewer."""

    __tablename__ = "membership"
    retention = "until the study is no longer shared"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    study_id: Mapped[StudyId]
    researcher_id: Mapped[int] = mapped_column(
        ForeignKey("researcher.id", ondelete="CASCADE"), index=True, doc="who may see it"
    )
    role: Mapped[str] = mapped_column(String(16), doc="owner or viewer")

    study: Mapped[Study] = relationship()
    researcher: Mapped[Researcher] = relationship()

    __table_args__ = (
        UniqueConstraint("study_id", "researcher_id"),
        CheckConstraint("role IN ('owner', 'viewer')", name="role_known"),
    )


class Event(Base):
    """An act of a researcher, logged for the others; rows are only added.

    ``slug`` and ``who`` are texts, so that an event outlives its study and its researcher.
    """

    __tablename__ = "event"
    retention = "permanently; rows are only added"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    slug: Mapped[str] = mapped_column(String(64), index=True, doc="the study")
    who: Mapped[str] = mapped_column(String(64), doc="who did it")
    at: Mapped[Moment] = mapped_column(doc="when")
    kind: Mapped[str] = mapped_column(String(32), doc="what was done")
    detail: Mapped[str] = mapped_column(Text, default="", doc="further details, such as a reason")
