"""Answers: the one that counts, and every one that was given."""

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from survey.core.studies.rankings import Ranking
from survey.db.models.base import Base, Moment
from survey.db.types import Labels, WeakOrder


class StoredResponse(Base):
    """The answer that counts: one per participant and question, columns or an own ranking."""

    __tablename__ = "response"
    retention = "as long as the participant"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    participant_id: Mapped[int] = mapped_column(doc="whose answer")
    question_id: Mapped[int] = mapped_column(doc="to which question")
    clicked: Mapped[frozenset[int]] = mapped_column(Labels, doc="labels that were ticked")
    own: Mapped[Ranking | None] = mapped_column(
        WeakOrder, doc="the participant's own ranking, where no label was ticked"
    )
    submitted_at: Mapped[Moment] = mapped_column(doc="when the answer that counts was sent")
    active_seconds: Mapped[float | None] = mapped_column(
        doc="seconds the page was in view, as the browser says"
    )
    revisions: Mapped[int] = mapped_column(default=0, doc="how often the answer was changed")

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
    retention = "as long as the participant"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    response_id: Mapped[int] = mapped_column(
        ForeignKey("response.id", ondelete="CASCADE"), doc="of which answer"
    )
    number: Mapped[int] = mapped_column(doc="1 for the first, 2 for the first change")
    clicked: Mapped[frozenset[int]] = mapped_column(Labels, doc="labels that were ticked")
    own: Mapped[Ranking | None] = mapped_column(
        WeakOrder, doc="the participant's own ranking, where no label was ticked"
    )
    submitted_at: Mapped[Moment] = mapped_column(doc="when it was sent")
    active_seconds: Mapped[float | None] = mapped_column(
        doc="seconds the page was in view, as the browser says"
    )

    __table_args__ = (
        UniqueConstraint("response_id", "number"),
        CheckConstraint("(clicked = 0) = (own IS NOT NULL)", name="columns_or_own_ranking"),
    )
