"""Tables of labelling: what it adds to presentations, answers and revisions, and its steps."""

from typing import cast

from sqlalchemy import JSON, CheckConstraint, Table
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from survey.db.models.base import (
    OF_ANSWERS,
    Base,
    LongText,
    Moment,
    OfPresentation,
    OfResponse,
    OfRevision,
    TaskTables,
    Text16,
)


class StoredLabellingPresentation(Base):
    """How one annotator meets one query."""

    __tablename__ = "labelling_presentation"
    retention = OF_ANSWERS

    presentation_id: Mapped[OfPresentation]
    order_seed: Mapped[int] = mapped_column(doc="seed of the order of what nothing ranks")


class StoredLabellingStep(Base):
    """What an annotator did with a query, step by step; no row is changed later."""

    __tablename__ = "labelling_step"
    retention = OF_ANSWERS

    presentation_id: Mapped[OfPresentation]
    number: Mapped[int] = mapped_column(primary_key=True, doc="1 for the first step")
    saved_at: Mapped[Moment] = mapped_column(doc="when it was saved")
    action: Mapped[Text16] = mapped_column(
        doc="mark, next (batch), refine (rank again by the marks), turn (to an earlier batch), "
        "seen (documents were in view), shown (the batch was left, by a page without scripts)"
    )
    batch: Mapped[int] = mapped_column(doc="of the mark, or shown from then on")
    document: Mapped[LongText | None] = mapped_column(doc="the document of a mark")
    grade: Mapped[int | None] = mapped_column(doc="its grade; 0 takes a mark back")
    documents: Mapped[list[str] | None] = mapped_column(
        JSON(none_as_null=True),
        doc="the documents of a new batch, as they were shown; those that were looked at",
    )

    __table_args__ = (
        CheckConstraint("number >= 1 AND batch >= 1", name="counts_from_1"),
        CheckConstraint(
            "action IN ('mark', 'next', 'refine', 'turn', 'seen', 'shown')", name="action_known"
        ),
        CheckConstraint(
            "(document IS NULL) = (action <> 'mark') AND (grade IS NULL) = (action <> 'mark')",
            name="mark_has_a_grade",
        ),
        CheckConstraint("grade BETWEEN 0 AND 3", name="grade_known"),
        CheckConstraint(
            "(action IN ('next', 'refine', 'seen', 'shown')) = (documents IS NOT NULL)",
            name="batch_has_documents",
        ),
    )


class DoneColumns:
    """The columns of an answer, and of its versions, that a question is done."""

    retention = OF_ANSWERS

    steps: Mapped[int] = mapped_column(doc="after how many steps the question was done")

    @declared_attr.directive
    @classmethod
    def __table_args__(cls) -> tuple[CheckConstraint, ...]:
        """Require a step: the first batch is one."""
        return (CheckConstraint("steps >= 1", name="steps_count_from_1"),)


class StoredLabellingAnswer(DoneColumns, Base):
    """That a query is done."""

    __tablename__ = "labelling_response"

    response_id: Mapped[OfResponse]


class StoredLabellingRevision(DoneColumns, Base):
    """A query that was done, or done again after a change."""

    __tablename__ = "labelling_revision"

    revision_id: Mapped[OfRevision]


TABLES = TaskTables(
    presentation=cast(Table, StoredLabellingPresentation.__table__),
    response=cast(Table, StoredLabellingAnswer.__table__),
    revision=cast(Table, StoredLabellingRevision.__table__),
    step=cast(Table, StoredLabellingStep.__table__),
)
