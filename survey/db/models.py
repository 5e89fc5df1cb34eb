"""The tables: studies with their frozen questions, participants, presentations, responses.

Rules that must never be broken stand here as named constraints, so that no code
path can skip them.
"""

from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    MetaData,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from survey.core.stimuli.blinding import Blinding
from survey.core.stimuli.plan import Plan
from survey.core.stimuli.questions import Column, Question
from survey.core.stimuli.rankings import Ranking
from survey.db.types import Labels, UtcDateTime, WeakOrder

Moment = Annotated[datetime, mapped_column(UtcDateTime)]
JsonObject = Annotated[dict[str, Any], mapped_column(JSON)]
Names = Annotated[list[str], mapped_column(JSON)]
Numbers = Annotated[list[int], mapped_column(JSON)]
Texts = Annotated[list[list[str]], mapped_column(JSON)]


class Base(DeclarativeBase):
    """All tables; constraints carry names so that migrations can speak of them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class Study(Base):
    """A study: its plan, and from opening on the digest of all it shows."""

    __tablename__ = "study"

    id: Mapped[int] = mapped_column(primary_key=True)
    slug: Mapped[str] = mapped_column(String(64), unique=True)
    status: Mapped[str] = mapped_column(String(16), default="draft")
    plan_json: Mapped[JsonObject] = mapped_column("plan")
    digest: Mapped[str | None] = mapped_column(String(64))
    generator_version: Mapped[int]
    created_at: Mapped[Moment]
    opened_at: Mapped[Moment | None]
    closed_at: Mapped[Moment | None]

    questions: Mapped[list["StoredQuestion"]] = relationship(
        order_by="StoredQuestion.number", cascade="all, delete-orphan"
    )
    consent_texts: Mapped[list["ConsentText"]] = relationship(
        order_by="ConsentText.version", cascade="all, delete-orphan"
    )

    __table_args__ = (
        CheckConstraint("status IN ('draft', 'open', 'closed')", name="status_known"),
        CheckConstraint("status = 'draft' OR digest IS NOT NULL", name="frozen_has_digest"),
    )

    @property
    def plan(self) -> Plan:
        """The plan as the core knows it."""
        return Plan.from_json(self.plan_json)


class StoredQuestion(Base):
    """A question's lists and columns; number 0 is the practice question."""

    __tablename__ = "question"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="CASCADE"))
    number: Mapped[int]
    lists: Mapped[JsonObject]
    columns: Mapped[JsonObject]

    __table_args__ = (
        UniqueConstraint("study_id", "number"),
        CheckConstraint("number >= 0", name="number_counts_from_0"),
    )

    @classmethod
    def of(cls, question: Question) -> "StoredQuestion":
        """Make a row of a question."""
        return cls(
            number=question.number,
            lists={letter: list(ranks) for letter, ranks in question.lists.items()},
            columns={
                name: {
                    "values": list(column.values),
                    "shown": list(column.shown),
                    "places": column.ranking.places,
                }
                for name, column in question.columns.items()
            },
        )

    @property
    def content(self) -> Question:
        """The question as the core knows it."""
        return Question(
            number=self.number,
            lists={letter: tuple(ranks) for letter, ranks in sorted(self.lists.items())},
            columns={
                name: Column(
                    values=tuple(column["values"]),
                    shown=tuple(column["shown"]),
                    ranking=Ranking.by_key(column["places"]),
                )
                for name, column in self.columns.items()
            },
        )


class ConsentText(Base):
    """One version of a study's consent text; participants point at the one they agreed to."""

    __tablename__ = "consent_text"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="CASCADE"))
    version: Mapped[int]
    text: Mapped[str] = mapped_column(Text)
    digest: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[Moment]

    __table_args__ = (UniqueConstraint("study_id", "version"),)


class Participant(Base):
    """Someone who pressed "Begin": how far they came, and what they said about themselves.

    ``public_id`` is random and stands in exports; ``resume_hash`` is the SHA-256 of
    the code that continues on another device. No name, address or device is kept.
    """

    __tablename__ = "participant"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="CASCADE"), index=True)
    public_id: Mapped[str] = mapped_column(String(16), unique=True)
    resume_hash: Mapped[str] = mapped_column(String(64), unique=True)
    status: Mapped[str] = mapped_column(String(16), default="started")
    is_test: Mapped[bool] = mapped_column(default=False)
    excluded: Mapped[bool] = mapped_column(default=False)
    exclude_reason: Mapped[str | None] = mapped_column(Text)
    personal: Mapped[JsonObject] = mapped_column(default=dict)
    consent_id: Mapped[int | None] = mapped_column(ForeignKey("consent_text.id"))
    receipt: Mapped[str | None] = mapped_column(String(16), unique=True)
    started_at: Mapped[Moment]
    consented_at: Mapped[Moment | None]
    described_at: Mapped[Moment | None]
    informed_at: Mapped[Moment | None]
    completed_at: Mapped[Moment | None]

    study: Mapped[Study] = relationship()

    __table_args__ = (
        CheckConstraint("status IN ('started', 'declined', 'complete')", name="status_known"),
        CheckConstraint(
            "(status = 'complete') = (completed_at IS NOT NULL)", name="complete_has_a_time"
        ),
        CheckConstraint(
            "(consented_at IS NULL) = (consent_id IS NULL)", name="consent_names_its_text"
        ),
        CheckConstraint(
            "informed_at IS NULL OR consented_at IS NOT NULL", name="no_questions_before_consent"
        ),
        CheckConstraint(
            "NOT excluded OR exclude_reason IS NOT NULL", name="exclusion_has_a_reason"
        ),
    )


class Browser(Base):
    """A browser that speaks for a participant, known by the hash of its cookie's random id."""

    __tablename__ = "browser"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="CASCADE"))
    participant_id: Mapped[int] = mapped_column(
        ForeignKey("participant.id", ondelete="CASCADE"), index=True
    )
    token_hash: Mapped[str] = mapped_column(String(64))

    __table_args__ = (UniqueConstraint("study_id", "token_hash"),)


class Presentation(Base):
    """How one participant sees one question; written before the page is first shown.

    ``shown``: the values as printed, per label, in the order of the letters.
    ``shown_at``: when the page was first handed out.
    """

    __tablename__ = "presentation"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id", ondelete="CASCADE"))
    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"))
    position: Mapped[int]
    label_order: Mapped[Names]
    column_order: Mapped[Numbers]
    list_order: Mapped[Names]
    shown: Mapped[Texts]
    shown_at: Mapped[Moment | None]

    question: Mapped[StoredQuestion] = relationship()

    __table_args__ = (
        UniqueConstraint("participant_id", "question_id"),
        UniqueConstraint("participant_id", "position"),
    )

    @property
    def blinding(self) -> Blinding:
        """The permutations as the core knows them."""
        return Blinding(tuple(self.label_order), tuple(self.column_order), tuple(self.list_order))


class StoredResponse(Base):
    """The answer that counts: one per participant and question, columns or an own ranking."""

    __tablename__ = "response"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int]
    question_id: Mapped[int]
    clicked: Mapped[frozenset[int]] = mapped_column(Labels)
    own: Mapped[Ranking | None] = mapped_column(WeakOrder)
    submitted_at: Mapped[Moment]
    active_seconds: Mapped[float | None]
    revisions: Mapped[int] = mapped_column(default=0)

    history: Mapped[list["Revision"]] = relationship(
        order_by="Revision.number", cascade="all, delete-orphan"
    )

    __table_args__ = (
        UniqueConstraint("participant_id", "question_id"),
        # Nobody answers what they were not shown.
        ForeignKeyConstraint(
            ["participant_id", "question_id"],
            ["presentation.participant_id", "presentation.question_id"],
            name="fk_response_presentation",
            ondelete="CASCADE",
        ),
        CheckConstraint("(clicked = 0) = (own IS NOT NULL)", name="columns_or_own_ranking"),
        CheckConstraint("revisions >= 0", name="revisions_count_from_0"),
    )


class Revision(Base):
    """Every answer as it was given, first and changed ones; rows are only ever added."""

    __tablename__ = "revision"

    id: Mapped[int] = mapped_column(primary_key=True)
    response_id: Mapped[int] = mapped_column(ForeignKey("response.id", ondelete="CASCADE"))
    number: Mapped[int]
    clicked: Mapped[frozenset[int]] = mapped_column(Labels)
    own: Mapped[Ranking | None] = mapped_column(WeakOrder)
    submitted_at: Mapped[Moment]
    active_seconds: Mapped[float | None]

    __table_args__ = (
        UniqueConstraint("response_id", "number"),
        CheckConstraint("(clicked = 0) = (own IS NOT NULL)", name="columns_or_own_ranking"),
    )
