"""Studies: the plan, the frozen questions, the consent texts."""

from sqlalchemy import CheckConstraint, ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from survey.core.stimuli.plan import Plan
from survey.core.stimuli.questions import Column, Question
from survey.core.stimuli.rankings import Ranking
from survey.db.models.base import Base, JsonObject, Moment


class Study(Base):
    """A study: its plan, and from opening on the digest of all it shows.

    Triggers refuse any change of plan, digest and questions once it is no draft.
    ``recruitment``: links and codes, which may change while it runs. ``imported_from``:
    the name of the bundle it was read from; such a study is only looked at.
    ``unblinded_at``: when someone chose to see results of a study still running.
    """

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
    archived_at: Mapped[Moment | None]
    unblinded_at: Mapped[Moment | None]
    imported_from: Mapped[str | None] = mapped_column(String(200))
    recruitment: Mapped[JsonObject] = mapped_column(default=dict, server_default="{}")

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
        """The plan as the core knows it."""
        return Plan.from_json(self.plan_json)

    @property
    def standing(self) -> str:
        """What a list of studies calls it: "archived", "imported", else its status."""
        if self.archived_at is not None:
            return "archived"
        return self.status if self.imported_from is None else "imported"


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
