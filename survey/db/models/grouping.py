"""Tables of grouping: what it adds to presentations, answers and revisions, and its steps."""

from typing import Any, cast

from sqlalchemy import JSON, CheckConstraint, Table
from sqlalchemy.orm import Mapped, mapped_column

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
from survey.db.models.labelling import DoneColumns


class StoredGroupingPresentation(Base):
    """How one assessor meets one topic."""

    __tablename__ = "grouping_presentation"
    retention = OF_ANSWERS

    presentation_id: Mapped[OfPresentation]
    order_seed: Mapped[int] = mapped_column(doc="seed of the order of the documents")


class StoredGroupingStep(Base):
    """What an assessor did with a topic, step by step; no row is changed later."""

    __tablename__ = "grouping_step"
    retention = OF_ANSWERS

    presentation_id: Mapped[OfPresentation]
    number: Mapped[int] = mapped_column(primary_key=True, doc="1 for the first step")
    saved_at: Mapped[Moment] = mapped_column(doc="when it was saved")
    action: Mapped[Text16] = mapped_column(
        doc="put (into a group), take (out), rename, merge, adopt (another's groups), undo, look "
        "(at both earlier groupings)"
    )
    group_number: Mapped[int | None] = mapped_column(
        doc="of which group, from 1; 0 is for what cannot be placed"
    )
    name: Mapped[LongText | None] = mapped_column(doc="the name of a new or renamed group")
    merged_into: Mapped[int | None] = mapped_column(doc="the group that a merged one becomes")
    documents: Mapped[list[str] | None] = mapped_column(
        JSON(none_as_null=True), doc="the documents that are put in or taken out"
    )
    groups: Mapped[dict[str, Any] | None] = mapped_column(
        JSON(none_as_null=True), doc="the adopted groups: name and documents of each"
    )

    __table_args__ = (
        CheckConstraint("number >= 1", name="counts_from_1"),
        CheckConstraint(
            "action IN ('put', 'take', 'rename', 'merge', 'adopt', 'undo', 'look')",
            name="action_known",
        ),
        CheckConstraint(
            "(documents IS NOT NULL) = (action IN ('put', 'take'))", name="moves_have_documents"
        ),
        CheckConstraint("(groups IS NOT NULL) = (action = 'adopt')", name="adopted_has_groups"),
        CheckConstraint(
            "(group_number IS NOT NULL) = (action IN ('put', 'take', 'rename', 'merge'))",
            name="group_is_named",
        ),
    )


class StoredGroupingAnswer(DoneColumns, Base):
    """That a topic is done."""

    __tablename__ = "grouping_response"

    response_id: Mapped[OfResponse]


class StoredGroupingRevision(DoneColumns, Base):
    """A topic that was done, or done again after a change."""

    __tablename__ = "grouping_revision"

    revision_id: Mapped[OfRevision]


TABLES = TaskTables(
    presentation=cast(Table, StoredGroupingPresentation.__table__),
    response=cast(Table, StoredGroupingAnswer.__table__),
    revision=cast(Table, StoredGroupingRevision.__table__),
    step=cast(Table, StoredGroupingStep.__table__),
)
