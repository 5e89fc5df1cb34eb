"""Researchers: how they sign in, which studies are theirs, and what they did."""

from sqlalchemy import CheckConstraint, ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from survey.db.models.base import Base, Moment
from survey.db.models.study import Study


class Researcher(Base):
    """Someone who can sign in. ``password_hash``: Argon2id; none until one is set."""

    __tablename__ = "researcher"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    password_hash: Mapped[str | None] = mapped_column(String(200))
    created_at: Mapped[Moment]


class SignInLink(Base):
    """A link to set a password with, known by the hash of its token; good once."""

    __tablename__ = "sign_in_link"

    id: Mapped[int] = mapped_column(primary_key=True)
    researcher_id: Mapped[int] = mapped_column(ForeignKey("researcher.id", ondelete="CASCADE"))
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    expires_at: Mapped[Moment]
    used_at: Mapped[Moment | None]

    researcher: Mapped[Researcher] = relationship()


class SignIn(Base):
    """A signed-in browser, known by the hash of its cookie's token.

    ``last_seen_at``: for the idle end; ``confirmed_at``: when the password was last typed.
    """

    __tablename__ = "sign_in"

    id: Mapped[int] = mapped_column(primary_key=True)
    researcher_id: Mapped[int] = mapped_column(
        ForeignKey("researcher.id", ondelete="CASCADE"), index=True
    )
    token_hash: Mapped[str] = mapped_column(String(64), unique=True)
    created_at: Mapped[Moment]
    last_seen_at: Mapped[Moment]
    confirmed_at: Mapped[Moment]

    researcher: Mapped[Researcher] = relationship()


class SignInThrottle(Base):
    """How often signing in under a name failed in a row, and until when to wait.

    ``name_hash``: of the name as typed, whether or not anyone has it.
    """

    __tablename__ = "sign_in_throttle"

    name_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    failures: Mapped[int]
    last_failed_at: Mapped[Moment]


class Membership(Base):
    """A researcher's part in a study: owner or viewer."""

    __tablename__ = "membership"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="CASCADE"))
    researcher_id: Mapped[int] = mapped_column(
        ForeignKey("researcher.id", ondelete="CASCADE"), index=True
    )
    role: Mapped[str] = mapped_column(String(16))

    study: Mapped[Study] = relationship()
    researcher: Mapped[Researcher] = relationship()

    __table_args__ = (
        UniqueConstraint("study_id", "researcher_id"),
        CheckConstraint("role IN ('owner', 'viewer')", name="role_known"),
    )


class Event(Base):
    """Something a researcher did that others may have to know of; rows are only ever added.

    ``slug`` and ``who`` are texts, so that an event outlives its study and its researcher.
    """

    __tablename__ = "event"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(64), index=True)
    who: Mapped[str] = mapped_column(String(64))
    at: Mapped[Moment]
    kind: Mapped[str] = mapped_column(String(32))
    detail: Mapped[str] = mapped_column(Text, default="")
