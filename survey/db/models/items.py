"""The tables of what a study's documents and topics stand for: pictures and texts."""

import secrets

from sqlalchemy import UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from survey.db.models.base import Base, LongText, RowId, StudyId, Text64, Text200


def random_name() -> str:
    """Return a name that tells nothing of the picture or text and cannot be guessed."""
    return secrets.token_urlsafe(12)


class StoredPicture(Base):
    """A picture in two sizes, as WebP without metadata; several items may show the same one.

    An imported study may lack the pictures of its items.
    """

    __tablename__ = "picture"
    retention = "until the study is deleted"

    id: Mapped[RowId]
    study_id: Mapped[StudyId]
    name: Mapped[Text64] = mapped_column(
        default=random_name, unique=True, doc="random, of its address on participants' pages"
    )
    sha256: Mapped[Text64] = mapped_column(doc="SHA-256 of the file that it was made from")
    width: Mapped[int] = mapped_column(doc="width of the larger size, in pixels")
    height: Mapped[int] = mapped_column(doc="height of the larger size, in pixels")
    thumbnail: Mapped[bytes] = mapped_column(doc="the picture, small")
    larger: Mapped[bytes] = mapped_column(doc="the picture, larger")
    vector: Mapped[bytes | None] = mapped_column(
        doc="its colours, edges and greys as numbers, by which pictures are compared"
    )

    __table_args__ = (UniqueConstraint("study_id", "sha256"),)


class StoredVector(Base):
    """Numbers that the researcher gave, by which a document is compared with others."""

    __tablename__ = "vector"
    retention = "until the study is deleted"

    id: Mapped[RowId]
    study_id: Mapped[StudyId]
    document: Mapped[LongText] = mapped_column(doc="id of the document, or file of a topic's image")
    numbers: Mapped[bytes] = mapped_column(doc="whole numbers of two bytes each")

    __table_args__ = (UniqueConstraint("study_id", "document"),)


class StoredItem(Base):
    """What a document of a study's runs stands for: a picture, texts or both."""

    __tablename__ = "item"
    retention = "until the study is deleted"

    id: Mapped[RowId]
    study_id: Mapped[StudyId]
    document: Mapped[LongText] = mapped_column(doc="id of the document in runs and judgements")
    file: Mapped[Text200 | None] = mapped_column(doc="name of the picture's file")
    sha256: Mapped[Text64 | None] = mapped_column(doc="SHA-256 of the picture's file")
    title: Mapped[LongText | None] = mapped_column(doc="the document's title")
    url: Mapped[LongText | None] = mapped_column(doc="the document's address, as it is shown")
    snippet: Mapped[LongText | None] = mapped_column(doc="what a list of results shows of it")
    text: Mapped[LongText | None] = mapped_column(doc="the document's text, or some of it")
    html: Mapped[LongText | None] = mapped_column(
        doc="the document as HTML, reduced to text and its layout"
    )
    alt: Mapped[LongText | None] = mapped_column(doc="what the picture shows, in words")
    lang: Mapped[Text64 | None] = mapped_column(doc="language of its texts, as a tag like el")
    keywords: Mapped[LongText | None] = mapped_column(
        doc="its classes, with semicolons between; queries by these words show it first"
    )
    name: Mapped[Text64] = mapped_column(
        default=random_name, unique=True, doc="random, of its text's address on participants' pages"
    )

    __table_args__ = (UniqueConstraint("study_id", "document"),)


class StoredTopic(Base):
    """What was searched for in a question: a text, a picture or both."""

    __tablename__ = "topic"
    retention = "until the study is deleted"

    id: Mapped[RowId]
    study_id: Mapped[StudyId]
    topic: Mapped[LongText] = mapped_column(doc="id of the topic in runs and judgements")
    image: Mapped[LongText | None] = mapped_column(doc="document or file that the picture is of")
    sha256: Mapped[Text64 | None] = mapped_column(doc="SHA-256 of the picture's file")
    text: Mapped[LongText | None] = mapped_column(doc="what was searched for, in words")
    cluster_type: Mapped[Text200 | None] = mapped_column(doc="what its sub-topics are, like animal")
    description: Mapped[LongText | None] = mapped_column(doc="what counts as relevant, in short")
    narrative: Mapped[LongText | None] = mapped_column(doc="what counts as relevant, at length")
    lang: Mapped[Text64 | None] = mapped_column(doc="language of its texts, as a tag like el")

    __table_args__ = (UniqueConstraint("study_id", "topic"),)
