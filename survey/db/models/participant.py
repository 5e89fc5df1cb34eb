"""Participants, the browsers that speak for them, and how each question was shown to them."""

from sqlalchemy import CheckConstraint, ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column, relationship

from survey.core.stimuli.blinding import Blinding
from survey.core.stimuli.rankings import Ranking
from survey.db.models.base import Base, JsonObject, Moment, Names, Numbers, Texts
from survey.db.models.study import StoredQuestion, Study
from survey.db.types import WeakOrder


class Participant(Base):
    """Someone who pressed "Begin": how far they came, and what they said about themselves.

    ``public_id`` is random and stands in exports; ``resume_hash`` is the SHA-256 of
    the code that continues on another device. No name, address or device is kept.
    """

    __tablename__ = "participant"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="CASCADE"), index=True)
    public_id: Mapped[str] = mapped_column(
        String(16), doc="random id of the participant, P- and eight characters"
    )
    resume_hash: Mapped[str] = mapped_column(String(64), unique=True)
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
    personal: Mapped[JsonObject] = mapped_column(default=dict)
    consent_id: Mapped[int | None] = mapped_column(ForeignKey("consent_text.id"))
    receipt: Mapped[str | None] = mapped_column(String(16), unique=True)
    started_at: Mapped[Moment] = mapped_column(doc="when “Begin” was pressed")
    consented_at: Mapped[Moment | None]
    described_at: Mapped[Moment | None]
    informed_at: Mapped[Moment | None]
    completed_at: Mapped[Moment | None] = mapped_column(doc="when the answers were handed in")
    last_seen_at: Mapped[Moment | None]

    study: Mapped[Study] = relationship()

    __table_args__ = (
        # Within a study only: an imported one keeps the ids of its participants.
        UniqueConstraint("study_id", "public_id"),
        CheckConstraint(
            "status IN ('started', 'declined', 'screened_out', 'complete')", name="status_known"
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
    """A browser that speaks for a participant, known by the hash of its cookie's random id."""

    __tablename__ = "browser"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="CASCADE"))
    participant_id: Mapped[int] = mapped_column(
        ForeignKey("participant.id", ondelete="CASCADE"), index=True
    )
    token_hash: Mapped[str] = mapped_column(String(64))

    __table_args__ = (UniqueConstraint("study_id", "token_hash"),)


class Presentation(Base):
    """How one participant sees one question; written before the page is first shown.

    ``shown``: the values as printed, per label, in the order of the letters.
    ``shown_at``: when the page was first handed out. ``ranked_first``: the ranking given
    before the columns were shown, in studies that ask for one.
    """

    __tablename__ = "presentation"

    id: Mapped[int] = mapped_column(primary_key=True)
    participant_id: Mapped[int] = mapped_column(ForeignKey("participant.id", ondelete="CASCADE"))
    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"))
    position: Mapped[int] = mapped_column(doc="as which question the participant saw it, from 1")
    label_order: Mapped[Names] = mapped_column(doc="measures behind Method1, Method2, …")
    column_order: Mapped[Numbers] = mapped_column(doc="label numbers from left to right")
    list_order: Mapped[Names] = mapped_column(doc="list letters from top to bottom")
    shown: Mapped[Texts]
    shown_at: Mapped[Moment | None] = mapped_column(doc="when the page was first handed out")
    ranked_first: Mapped[Ranking | None] = mapped_column(
        WeakOrder, doc="the ranking given before the columns were shown"
    )
    ranked_at: Mapped[Moment | None] = mapped_column(doc="when that ranking was given")

    question: Mapped[StoredQuestion] = relationship()

    __table_args__ = (
        UniqueConstraint("participant_id", "question_id"),
        UniqueConstraint("participant_id", "position"),
    )

    @property
    def blinding(self) -> Blinding:
        """The permutations as the core knows them."""
        return Blinding(tuple(self.label_order), tuple(self.column_order), tuple(self.list_order))


class Guest(Base):
    """Someone on a study's guest list, with a link of their own.

    ``name``: as the researcher wrote it, personal data that only the guest list shows.
    ``nonce``: the public half of the link; the other half is derived under the server
    key. ``participant_id``: who began with it; a link is good for one participant.
    """

    __tablename__ = "guest"

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="CASCADE"), index=True)
    name: Mapped[str] = mapped_column(String(200))
    nonce: Mapped[str] = mapped_column(String(16), unique=True)
    participant_id: Mapped[int | None] = mapped_column(
        ForeignKey("participant.id", ondelete="SET NULL"), unique=True
    )
    created_at: Mapped[Moment]

    participant: Mapped[Participant | None] = relationship()

    __table_args__ = (UniqueConstraint("study_id", "name"),)


class Identity(Base):
    """What a recruitment platform said of a participant: personal data, kept apart.

    ``external_id``: the platform's id of the person; ``parameters``: all that was kept
    of the address they came with. Read only when identities are asked for.
    """

    __tablename__ = "identity"

    participant_id: Mapped[int] = mapped_column(
        ForeignKey("participant.id", ondelete="CASCADE"), primary_key=True
    )
    study_id: Mapped[int] = mapped_column(ForeignKey("study.id", ondelete="CASCADE"))
    external_id: Mapped[str | None] = mapped_column(String(200))
    parameters: Mapped[JsonObject] = mapped_column(default=dict)

    __table_args__ = (UniqueConstraint("study_id", "external_id"),)
