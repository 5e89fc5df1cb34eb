"""Tables of preference: what it adds to presentations, answers and revisions."""

from typing import cast

from sqlalchemy import CheckConstraint, Table
from sqlalchemy.orm import Mapped, declared_attr, mapped_column

from survey.db.models.base import (
    OF_ANSWERS,
    Base,
    OfPresentation,
    OfResponse,
    OfRevision,
    TaskTables,
    Text16,
)


class StoredPreferencePresentation(Base):
    """How one participant is shown one pair of lists."""

    __tablename__ = "preference_presentation"
    retention = OF_ANSWERS

    presentation_id: Mapped[OfPresentation]
    left_list: Mapped[Text16] = mapped_column(
        doc="the letter of the list that is shown at the left"
    )

    __table_args__ = (CheckConstraint("left_list IN ('A', 'B')", name="left_is_a_list"),)


class PreferenceAnswerColumns:
    """The columns of an answer and of each of its versions."""

    retention = OF_ANSWERS

    preferred: Mapped[Text16] = mapped_column(doc="which list is better, or neither")
    strength: Mapped[int | None] = mapped_column(
        doc="how much better, where it is asked: 1 slightly, 2 clearly, 3 by far"
    )
    satisfaction_left: Mapped[int | None] = mapped_column(
        doc="satisfaction with the list at the left, from 1 (not at all) to 5 (very), where asked"
    )
    satisfaction_right: Mapped[int | None] = mapped_column(
        doc="satisfaction with the list at the right, likewise"
    )

    @declared_attr.directive
    @classmethod
    def __table_args__(cls) -> tuple[CheckConstraint, ...]:
        """Refuse what ``PreferenceAnswer`` refuses."""
        satisfied = "satisfaction_left IS NULL) = (satisfaction_right IS NULL"
        return (
            CheckConstraint(
                "preferred IN ('left', 'right', 'equal', 'neither')", name="preferred_known"
            ),
            CheckConstraint("strength BETWEEN 1 AND 3", name="strength_from_1_to_3"),
            CheckConstraint(
                "strength IS NULL OR preferred IN ('left', 'right')", name="strength_of_a_list"
            ),
            CheckConstraint("satisfaction_left BETWEEN 1 AND 5", name="left_from_1_to_5"),
            CheckConstraint("satisfaction_right BETWEEN 1 AND 5", name="right_from_1_to_5"),
            CheckConstraint(f"({satisfied})", name="satisfaction_with_both"),
        )


class StoredPreferenceAnswer(PreferenceAnswerColumns, Base):
    """Which of two lists a participant prefers."""

    __tablename__ = "preference_response"

    response_id: Mapped[OfResponse]


class StoredPreferenceRevision(PreferenceAnswerColumns, Base):
    """A version of an answer."""

    __tablename__ = "preference_revision"

    revision_id: Mapped[OfRevision]


TABLES = TaskTables(
    presentation=cast(Table, StoredPreferencePresentation.__table__),
    response=cast(Table, StoredPreferenceAnswer.__table__),
    revision=cast(Table, StoredPreferenceRevision.__table__),
)
