"""Tables of studies: the plan, the frozen questions, the consent texts."""

from sqlalchemy import CheckConstraint, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from survey.core.studies.plan import Plan
from survey.core.tasks import plan_from_json
from survey.db.models.base import Base, JsonObject, Moment, StudyId


class Study(Base):
    """A study: its plan, and once it opens the digest of all it shows.

    Triggers reject changes of plan, digest and questions of a study that is no draft.
    ``recruitment``: links and codes, which may change while it runs. ``imported_from``:
    the name of the bundle it was read from; such a study is read-only.
    ``unblinded_at``: when a researcher chose to see results of an open study.
    """

    __tablename__ = "study"
    retention = "until the study is deleted"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    slug: Mapped[str] = mapped_column(String(64), unique=True, doc="the study's address")
    status: Mapped[str] = mapped_column(String(16), default="draft", doc="draft, open or closed")
    plan_json: Mapped[JsonObject] = mapped_column("plan", doc="design and texts")
    digest: Mapped[str | None] = mapped_column(
        String(64), doc="SHA-256 of all that the study shows"
    )
    generator_version: Mapped[int] = mapped_column(doc="which generator drew the lists")
    created_at: Mapped[Moment] = mapped_column(doc="when it was made")
    opened_at: Mapped[Moment | None] = mapped_column(doc="when it was opened")
    closed_at: Mapped[Moment | None] = mapped_column(doc="when it was closed")
    archived_at: Mapped[Moment | None] = mapped_column(doc="when it was put away")
    unblinded_at: Mapped[Moment | None] = mapped_column(
        doc="when someone chose to see results before the end"
    )
    imported_from: Mapped[str | None] = mapped_column(
        String(200), doc="name of the bundle it was read from"
    )
    recruitment: Mapped[JsonObject] = mapped_column(
        default=dict,
        server_default="{}",
        doc="how people come and go: codes, addresses, names of parameters",
    )

    questions: Mapped[list["StoredQuestion"]] = relationship(
        order_by="StoredQuestion.number", cascade="all, delete-orphan", passive_deletes=True
    )
    consent_texts: Mapped[list["ConsentText"]] = relationship(
        order_by="ConsentText.version", cascade="all, delete-orphan", passive_deletes=True
    )

    __table_args__ = (
        CheckConstraint("status IN ('draft', 'open', 'closed')", name="status_known"),
        CheckConstraint("status = 'draft' OR digest IS NOT NULL", name="frozen_has_digest"),
    )

    @property
    def plan(self) -> Plan:
        """The plan, read from ``plan_json``."""
        return plan_from_json(self.plan_json, registered=False)

    @property
    def status_label(self) -> str:
        """The status that lists print: "archived", "imported", else ``status``."""
        if self.archived_at is not None:
            return "archived"
        return self.status if self.imported_from is None else "imported"


class StoredQuestion(Base):
    """A question of a study, the same for all participants; number 0 is practice."""

    __tablename__ = "question"
    retention = "until the study is deleted"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    study_id: Mapped[StudyId]
    number: Mapped[int] = mapped_column(doc="number of the question, 0 for practice")
    content: Mapped[JsonObject] = mapped_column(
        doc="what the question holds, and what is shown of it"
    )

    __table_args__ = (
        UniqueConstraint("study_id", "number"),
        CheckConstraint("number >= 0", name="number_counts_from_0"),
    )


class ConsentText(Base):
    """A version of a study's consent text; participants refer to the version they agreed to."""

    __tablename__ = "consent_text"
    retention = "until the study is deleted"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    study_id: Mapped[StudyId]
    version: Mapped[int] = mapped_column(doc="version of the text")
    text: Mapped[str] = mapped_column(Text, doc="what was agreed to, word for word")
    digest: Mapped[str] = mapped_column(String(64), doc="SHA-256 of the text")
    created_at: Mapped[Moment] = mapped_column(doc="when it was written")

    __table_args__ = (UniqueConstraint("study_id", "version"),)
