"""The tables of collections with secret judgements: topics, groups and the runs they sent."""

from datetime import date, datetime

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from survey.db.models.base import (
    Base,
    JsonObject,
    Moment,
    Names,
    RowId,
    Text64,
    Text200,
    Texts,
    UtcDateTime,
)

MOST_SUBMISSIONS = 10  # of a group
RETENTION = "until the collection is removed"


class StoredCollection(Base):
    """A test collection whose judgements of some topics are secret.

    No page, bundle or log holds them until they are revealed.
    """

    __tablename__ = "collection"
    retention = RETENTION

    id: Mapped[RowId]
    name: Mapped[Text64] = mapped_column(unique=True, doc="its address, /collections/NAME")
    title: Mapped[Text200] = mapped_column(doc="title of its page")
    published_at: Mapped[Moment] = mapped_column(doc="when it was published")
    closes: Mapped[date | None] = mapped_column(doc="last day on which runs are taken")
    closed_at: Mapped[datetime | None] = mapped_column(
        UtcDateTime, doc="when it was closed by the command"
    )
    is_revealed: Mapped[bool] = mapped_column(
        default=False, doc="whether the page shows the secret judgements"
    )
    digest: Mapped[Text64] = mapped_column(doc="SHA-256 of the salted judgements, which is public")
    salt: Mapped[Text64] = mapped_column(doc="random; without it the SHA-256 tells nothing")
    seed: Mapped[Text64] = mapped_column(doc="seed by which the secret topics were split")
    measures: Mapped[Names] = mapped_column(doc="measures of the feedback, three at most")
    topics: Mapped[Texts] = mapped_column(doc="each topic's id and text")
    open_topics: Mapped[Names] = mapped_column(doc="secret topics that give feedback")
    final_topics: Mapped[Names] = mapped_column(doc="secret topics of the final scores")
    judgements: Mapped[JsonObject] = mapped_column(
        deferred=True, doc="grade of each judged document, by topic"
    )
    baselines: Mapped[JsonObject] = mapped_column(
        doc="values of public baselines for each secret topic"
    )
    groups: Mapped[list["CollectionGroup"]] = relationship(
        cascade="all, delete-orphan", order_by="CollectionGroup.id"
    )


class CollectionGroup(Base):
    """A group that may send runs to a collection."""

    __tablename__ = "collection_group"
    retention = RETENTION

    id: Mapped[RowId]
    collection_id: Mapped[int] = mapped_column(
        ForeignKey("collection.id", ondelete="CASCADE"), doc="the collection"
    )
    name: Mapped[Text200] = mapped_column(doc="its name, which the results show")
    token_hash: Mapped[Text64] = mapped_column(unique=True, doc="SHA-256 of its token")
    added_at: Mapped[Moment] = mapped_column(doc="when it was added")
    faulty: Mapped[int] = mapped_column(default=0, doc="runs of a day that could not be read")
    faulty_on: Mapped[date | None] = mapped_column(doc="that day")
    submissions: Mapped[list["Submission"]] = relationship(
        cascade="all, delete-orphan", order_by="Submission.number"
    )

    __table_args__ = (UniqueConstraint("collection_id", "name"),)


class Submission(Base):
    """A run that a group sent: its checksum, values and receipt; the run is not stored."""

    __tablename__ = "submission"
    retention = RETENTION

    id: Mapped[RowId]
    group_id: Mapped[int] = mapped_column(
        ForeignKey("collection_group.id", ondelete="CASCADE"), doc="the group"
    )
    number: Mapped[int] = mapped_column(doc="which of the group's submissions, from 1")
    day: Mapped[date] = mapped_column(doc="the day in UTC; a group has one submission a day")
    run_sha256: Mapped[Text64] = mapped_column(doc="SHA-256 of the run")
    scores: Mapped[JsonObject] = mapped_column(doc="its value for each secret topic, by measure")
    receipt: Mapped[JsonObject] = mapped_column(doc="what the group was shown, signed")

    # The limits are the database's: two runs that are sent at once cannot both be taken.
    __table_args__ = (
        CheckConstraint(f"number BETWEEN 1 AND {MOST_SUBMISSIONS}", name="number_in_range"),
        UniqueConstraint("group_id", "number"),
        UniqueConstraint("group_id", "day"),
        UniqueConstraint("group_id", "run_sha256"),
    )
