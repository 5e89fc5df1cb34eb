"""Tables of ordering questions: what they add to presentations, answers and revisions."""

from typing import cast

from sqlalchemy import CheckConstraint, Table, false
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from survey.core.studies.rankings import Ranking
from survey.db.models.base import (
    OF_ANSWERS,
    Base,
    Labels,
    Moment,
    Names,
    Numbers,
    OfPresentation,
    OfResponse,
    OfRevision,
    TaskTables,
    Text16,
    Texts,
    WeakOrder,
)


class StoredOrderingPresentation(Base):
    """How one participant is shown one question, and the ranking asked before the columns."""

    __tablename__ = "ordering_presentation"
    retention = OF_ANSWERS

    presentation_id: Mapped[OfPresentation]
    label_order: Mapped[Names] = mapped_column(doc="measures behind Method1, Method2, …")
    column_order: Mapped[Numbers] = mapped_column(doc="label numbers from left to right")
    list_order: Mapped[Names] = mapped_column(doc="list letters from top to bottom")
    shown: Mapped[Texts] = mapped_column(doc="the values as they were printed")
    ranked_first: Mapped[Ranking | None] = mapped_column(
        WeakOrder, doc="the ranking given before the columns were shown"
    )
    ranked_at: Mapped[Moment | None] = mapped_column(doc="when that ranking was given")
    ranked_asked: Mapped[Text16 | None] = mapped_column(
        doc="what the page asked back before it saved that ranking"
    )


class OrderingAnswerColumns:
    """The columns of an answer and of each of its versions.

    ``clicked`` is stored as a bit mask, so it is 0 where no label was ticked.
    """

    retention = OF_ANSWERS

    clicked: Mapped[frozenset[int]] = mapped_column(Labels, doc="labels that were ticked")
    own: Mapped[Ranking | None] = mapped_column(
        WeakOrder, doc="the participant's own ranking, where no label was ticked"
    )
    typed: Mapped[bool] = mapped_column(
        default=False,
        server_default=false(),
        doc="whether the ticked columns' ordering was given as the participant's own",
    )
    scores_seen: Mapped[bool | None] = mapped_column(
        doc="whether the methods' scores were in view, where the plan shows them; empty: unknown"
    )

    @declared_attr.directive
    @classmethod
    def __table_args__(cls) -> tuple[CheckConstraint, ...]:
        """Require ticked labels or an own ranking, and not both."""
        rule = "(clicked = 0) = (own IS NOT NULL)"
        return (
            CheckConstraint(rule, name="columns_or_own_ranking"),
            CheckConstraint("NOT typed OR clicked <> 0", name="typed_as_a_column"),
        )


class StoredOrderingAnswer(OrderingAnswerColumns, Base):
    """The labels that a participant ticked, or an own ranking."""

    __tablename__ = "ordering_response"

    response_id: Mapped[OfResponse]


class StoredOrderingRevision(OrderingAnswerColumns, Base):
    """A version of an answer."""

    __tablename__ = "ordering_revision"

    revision_id: Mapped[OfRevision]


TABLES = TaskTables(
    presentation=cast("Table", StoredOrderingPresentation.__table__),
    response=cast("Table", StoredOrderingAnswer.__table__),
    revision=cast("Table", StoredOrderingRevision.__table__),
)
