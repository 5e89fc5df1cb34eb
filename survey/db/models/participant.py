"""Tables of participants: browsers, guests, identities, presentations, responses, revisions."""

from datetime import date

from sqlalchemy import (
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from survey.db.models.base import Base, JsonObject, Moment, StudyId
from survey.db.models.study import StoredQuestion, Study


class Participant(Base):
    """A person who pressed "Begin": their progress, and their answers about themselves.

    ``public_id``: a random id, for exports. ``resume_hash``: the SHA-256 of the code that
    continues on another device. No name, address or device is stored.
    """

    __tablename__ = "participant"
    retention = "until the participant erases it, or the study is deleted"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    study_id: Mapped[StudyId] = mapped_column(index=True)
    public_id: Mapped[str] = mapped_column(
        String(16), doc="random id of the participant, P- and eight characters"
    )
    resume_hash: Mapped[str] = mapped_column(
        String(64), unique=True, doc="SHA-256 of the code that continues on another device"
    )
    status: Mapped[str] = mapped_column(
        String(16), default="started", doc="how far the participant came"
    )
    is_test: Mapped[bool] = mapped_column(
        default=False, doc="whether this is test data, from a simulation or a trial"
    )
    excluded: Mapped[bool] = mapped_column(
        default=False, doc="whether the researchers left the participant out of the count"
    )
    exclude_reason: Mapped[str | None] = mapped_column(Text, doc="why the participant was left out")
    personal: Mapped[JsonObject] = mapped_column(
        default=dict,
        doc="what the participant said about themselves; until the study's date, if it has one",
    )
    consent_id: Mapped[int | None] = mapped_column(
        ForeignKey("consent_text.id"), doc="which version of the consent text was agreed to"
    )
    receipt: Mapped[str | None] = mapped_column(
        String(16), unique=True, doc="random code that shows that someone took part"
    )
    started_at: Mapped[Moment] = mapped_column(doc="when “Begin” was pressed")
    consented_at: Mapped[Moment | None] = mapped_column(doc="when the consent was given")
    described_at: Mapped[Moment | None] = mapped_column(doc="when “About you” was filled in")
    informed_at: Mapped[Moment | None] = mapped_column(doc="when the scenario was read")
    completed_at: Mapped[Moment | None] = mapped_column(doc="when the answers were handed in")
    last_seen_at: Mapped[Moment | None] = mapped_column(
        doc="when something was last saved, to give places back"
    )

    study: Mapped[Study] = relationship()

    __table_args__ = (
        # Unique within a study only: an imported study has the ids of its original.
        UniqueConstraint("study_id", "public_id"),
        CheckConstraint(
            "status IN ('started', 'declined', 'screened_out', 'stopped', 'complete')",
            name="status_known",
        ),
        CheckConstraint(
            "(status = 'complete') = (completed_at IS NOT NULL)", name="complete_has_a_time"
        ),
        CheckConstraint(
            "(consented_at IS NULL) = (consent_id IS NULL)", name="consent_names_its_text"
        ),
        CheckConstraint(
            "informed_at IS NULL OR consented_at IS NOT NULL", name="no_questions_before_consent"
        ),
        CheckConstraint(
            "NOT excluded OR exclude_reason IS NOT NULL", name="exclusion_has_a_reason"
        ),
    )


class Browser(Base):
    """A browser bound to a participant, known by the hash of its cookie's random id."""

    __tablename__ = "browser"
    retention = "until “I am someone else”, or as long as the participant"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    study_id: Mapped[StudyId]
    participant_id: Mapped[int] = mapped_column(
        ForeignKey("participant.id", ondelete="CASCADE"),
        index=True,
        doc="the participant who uses the browser",
    )
    token_hash: Mapped[str] = mapped_column(
        String(64), doc="SHA-256 of the random id in its cookie"
    )

    participant: Mapped[Participant] = relationship(lazy="joined", innerjoin=True)

    __table_args__ = (UniqueConstraint("study_id", "token_hash"),)


class Presentation(Base):
    """One question for one participant, inserted before the page is first shown.

    Labels and orders, drawn for this participant, are in a table of the kind of question.
    """

    __tablename__ = "presentation"
    retention = "as long as the participant"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    participant_id: Mapped[int] = mapped_column(
        ForeignKey("participant.id", ondelete="CASCADE"), doc="to whom it was shown"
    )
    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"), doc="which question")
    position: Mapped[int] = mapped_column(doc="as which question the participant saw it, from 1")
    shown_at: Mapped[Moment | None] = mapped_column(doc="when the page was first handed out")

    participant: Mapped[Participant] = relationship()
    question: Mapped[StoredQuestion] = relationship()

    __table_args__ = (
        UniqueConstraint("participant_id", "question_id"),
        UniqueConstraint("participant_id", "position"),
    )


class Guest(Base):
    """A person on a study's guest list, with a personal link.

    ``name``: as the researcher wrote it, personal data that only the guest list shows.
    ``nonce``: the public half of the link; the other half is derived under the server
    key. ``participant_id``: the only participant who can use the link.
    """

    __tablename__ = "guest"
    retention = "until removed from the list, the study's date for personal data, or its deletion"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    study_id: Mapped[StudyId] = mapped_column(index=True)
    name: Mapped[str] = mapped_column(
        String(200), doc="the name as the researchers wrote it, to invite someone"
    )
    nonce: Mapped[str] = mapped_column(
        String(16), unique=True, doc="one half of the personal link; the other is derived"
    )
    participant_id: Mapped[int | None] = mapped_column(
        ForeignKey("participant.id", ondelete="SET NULL"),
        unique=True,
        doc="who began with the link",
    )
    created_at: Mapped[Moment] = mapped_column(doc="when the guest was added")

    participant: Mapped[Participant | None] = relationship()

    __table_args__ = (UniqueConstraint("study_id", "name"),)


class Identity(Base):
    """A participant's data from a recruitment platform, in a table of its own.

    ``external_id``: the platform's id of the person. ``parameters``: the stored parameters of
    the address they opened. Exports read it only where identities are asked for.
    """

    __tablename__ = "identity"
    retention = "as long as the participant; until the study's date for personal data"

    participant_id: Mapped[int] = mapped_column(
        ForeignKey("participant.id", ondelete="CASCADE"), primary_key=True, doc="whose it is"
    )
    study_id: Mapped[StudyId]
    external_id: Mapped[str | None] = mapped_column(
        String(200), doc="the platform's id of the person, to credit them"
    )
    parameters: Mapped[JsonObject] = mapped_column(
        default=dict, doc="what else the study keeps of the address they came with"
    )

    participant: Mapped[Participant] = relationship(lazy="joined", innerjoin=True)

    __table_args__ = (UniqueConstraint("study_id", "external_id"),)


class Erasure(Base):
    """An erased participant, so that they are erased again in a restored backup.

    ``token``: the SHA-256 of a random id, which identifies no person.
    """

    __tablename__ = "erasure"
    retention = "permanently, so that no restored backup undoes it"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    token: Mapped[str] = mapped_column(
        String(64), unique=True, doc="SHA-256 of a random id; it identifies no person"
    )
    erased_on: Mapped[date] = mapped_column(doc="day of the erasure")


class StoredResponse(Base):
    """The answer that counts, unique by participant and question."""

    __tablename__ = "response"
    retention = "as long as the participant"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    participant_id: Mapped[int] = mapped_column(doc="whose answer")
    question_id: Mapped[int] = mapped_column(doc="to which question")
    submitted_at: Mapped[Moment] = mapped_column(doc="when the answer that counts was sent")
    active_seconds: Mapped[float | None] = mapped_column(
        doc="seconds the page was in view, as the browser says"
    )
    revisions: Mapped[int] = mapped_column(default=0, doc="how often the answer was changed")

    __table_args__ = (
        UniqueConstraint("participant_id", "question_id"),
        # Without it, an answer could be stored to a question that its participant never saw.
        ForeignKeyConstraint(
            ["participant_id", "question_id"],
            ["presentation.participant_id", "presentation.question_id"],
            name="fk_response_presentation",
            ondelete="CASCADE",
        ),
        CheckConstraint("revisions >= 0", name="revisions_count_from_0"),
    )


class Revision(Base):
    """A version of an answer, the first or a changed one; no row is changed later."""

    __tablename__ = "revision"
    retention = "as long as the participant"

    id: Mapped[int] = mapped_column(primary_key=True, doc="number of the row")
    response_id: Mapped[int] = mapped_column(
        ForeignKey("response.id", ondelete="CASCADE"), doc="of which answer"
    )
    number: Mapped[int] = mapped_column(doc="1 for the first, 2 for the first change")
    submitted_at: Mapped[Moment] = mapped_column(doc="when it was sent")
    active_seconds: Mapped[float | None] = mapped_column(
        doc="seconds the page was in view, as the browser says"
    )

    __table_args__ = (UniqueConstraint("response_id", "number"),)
