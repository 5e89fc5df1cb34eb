"""Tables of ordering questions: what they add to presentations, answers and revisions."""

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from survey.core.studies.rankings import Ranking
from survey.db.models.base import Base, Labels, Moment, Names, Numbers, Texts, WeakOrder


class StoredOrderingPresentation(Base):
    """How one participant is shown one question, and the ranking asked before the columns."""

    __tablename__ = "ordering_presentation"
    retention = "as long as the participant"

    presentation_id: Mapped[int] = mapped_column(
        ForeignKey("presentation.id", ondelete="CASCADE"),
        primary_key=True,
        doc="of which presentation",
    )
    label_order: Mapped[Names] = mapped_column(doc="measures behind Method1, Method2, …")
    column_order: Mapped[Numbers] = mapped_column(doc="label numbers from left to right")
    list_order: Mapped[Names] = mapped_column(doc="list letters from top to bottom")
    shown: Mapped[Texts] = mapped_column(doc="the values as they were printed")
    ranked_first: Mapped[Ranking | None] = mapped_column(
        WeakOrder, doc="the ranking given before the columns were shown"
    )
    ranked_at: Mapped[Moment | None] = mapped_column(doc="when that ranking was given")


class StoredOrderingAnswer(Base):
    """The labels that a participant ticked, or an own ranking.

    ``clicked`` is stored as a bit mask, so it is 0 where no label was ticked.
    """

    __tablename__ = "ordering_response"
    retention = "as long as the participant"

    response_id: Mapped[int] = mapped_column(
        ForeignKey("response.id", ondelete="CASCADE"), primary_key=True, doc="of which answer"
    )
    clicked: Mapped[frozenset[int]] = mapped_column(Labels, doc="labels that were ticked")
    own: Mapped[Ranking | None] = mapped_column(
        WeakOrder, doc="the participant's own ranking, where no label was ticked"
    )

    __table_args__ = (
        CheckConstraint("(clicked = 0) = (own IS NOT NULL)", name="columns_or_own_ranking"),
    )


class StoredOrderingRevision(Base):
    """A version of an answer, with the same fields as ``StoredOrderingAnswer``."""

    __tablename__ = "ordering_revision"
    retention = "as long as the participant"

    revision_id: Mapped[int] = mapped_column(
        ForeignKey("revision.id", ondelete="CASCADE"), primary_key=True, doc="of which revision"
    )
    clicked: Mapped[frozenset[int]] = mapped_column(Labels, doc="labels that were ticked")
    own: Mapped[Ranking | None] = mapped_column(
        WeakOrder, doc="the participant's own ranking, where no label was ticked"
    )

    __table_args__ = (
        CheckConstraint("(clicked = 0) = (own IS NOT NULL)", name="columns_or_own_ranking"),
    )
