"""The tables. Their rules are named constraints of the database: no code path can skip them."""

import json
from datetime import date

from sqlalchemy import (
    JSON,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column, relationship

from survey.core.kinds import KIND_KEY, has_known_kind, read_stored_plan
from survey.core.studies.fields import Fault, FieldAnswer, PlanError, UnreadablePlanError
from survey.core.studies.plan import Plan
from survey.db.models.base import (
    Asked,
    Base,
    Beside,
    JsonList,
    JsonObject,
    LongText,
    Moment,
    Names,
    OfParticipant,
    OfResearcher,
    Reason,
    RowId,
    Seconds,
    StudyId,
    Text16,
    Text32,
    Text64,
    Text200,
)
from survey.db.models.base import now as now
from survey.db.models.collections import CollectionGroup as CollectionGroup
from survey.db.models.collections import StoredCollection as StoredCollection
from survey.db.models.collections import Submission as Submission
from survey.db.models.items import StoredItem as StoredItem
from survey.db.models.items import StoredPicture as StoredPicture
from survey.db.models.items import StoredTopic as StoredTopic
from survey.db.models.items import StoredVector as StoredVector

UNDER_WAY = "consented_at IS NOT NULL AND completed_at IS NULL"
MOST_REFUSALS = 9  # that are counted, so that a script's refused forms stop writing
IS_STUCK = "refusals >= 3"  # literally, or no database would use the index


class Study(Base):
    """A study: its plan, and once it opens the digest of all it shows.

    Triggers reject changes of plan, digest and questions of a study that is no draft.
    ``recruitment``: links and codes, which may change while it runs. ``imported_from``:
    the name of the bundle it was read from; such a study is read-only.
    ``unblinded_at``: when a researcher chose to see results of an open study. ``looks``: each
    is {"at": time, "participants": how many had finished, "reason": why}.
    """

    __tablename__ = "study"
    retention = "until the study is deleted"

    id: Mapped[RowId]
    slug: Mapped[Text64] = mapped_column(unique=True, doc="the study's address")
    status: Mapped[Text16] = mapped_column(default="draft", doc="draft, open or closed")
    plan_json: Mapped[JsonObject] = mapped_column("plan", doc="design and texts")
    digest: Mapped[Text64 | None] = mapped_column(doc="SHA-256 of all that the study shows")
    items_digest: Mapped[Text64 | None] = mapped_column(
        doc="SHA-256 of its documents' and topics' texts and of the pictures' files, if it has some"
    )
    vectors_digest: Mapped[Text64 | None] = mapped_column(
        doc="SHA-256 of the researcher's vectors of its documents, if there are some"
    )
    generator_version: Mapped[int] = mapped_column(doc="which generator drew the lists")
    packages: Mapped[JsonObject] = mapped_column(
        default=dict,
        server_default="{}",
        doc="which packages brought its measures when the lists were drawn, with their versions",
    )
    created_at: Mapped[Moment] = mapped_column(doc="when it was made")
    opened_at: Mapped[Moment | None] = mapped_column(doc="when it was opened")
    closed_at: Mapped[Moment | None] = mapped_column(doc="when it was closed")
    admission_ended_at: Mapped[Moment | None] = mapped_column(
        doc="since when no one new can begin, while those under way finish"
    )
    closes_at: Mapped[Moment | None] = mapped_column(
        doc="when it closes at the latest, once no one new can begin"
    )
    archived_at: Mapped[Moment | None] = mapped_column(doc="when it was put away")
    unblinded_at: Mapped[Moment | None] = mapped_column(
        doc="when someone chose to see results before the end"
    )
    looks: Mapped[JsonList] = mapped_column(
        default=list,
        server_default="[]",
        doc="when results could be seen before the last answers came, and why",
    )
    imported_from: Mapped[Text200 | None] = mapped_column(doc="name of the bundle it was read from")
    registration: Mapped[LongText | None] = mapped_column(
        doc="its registration, as written when it was preregistered"
    )
    recruitment: Mapped[JsonObject] = mapped_column(
        default=dict,
        server_default="{}",
        doc="how people come and go: codes, addresses, names of parameters",
    )

    questions: Mapped[list["StoredQuestion"]] = relationship(
        order_by="StoredQuestion.number", cascade="all, delete-orphan", passive_deletes=True
    )
    consent_texts: Mapped[list["ConsentText"]] = relationship(
        order_by="ConsentText.version", cascade="all, delete-orphan", passive_deletes=True
    )

    __table_args__ = (
        CheckConstraint("status IN ('draft', 'open', 'closed')", name="status_known"),
        CheckConstraint("status = 'draft' OR digest IS NOT NULL", name="frozen_has_digest"),
    )

    @property
    def plan(self) -> Plan:
        """The plan, read from ``plan_json``; raises UnreadablePlanError that names the study."""
        return self._read_plan()

    def _read_plan(self) -> Plan:
        if not has_known_kind(self.plan_json):
            package = self.packages.get(KIND_KEY) or "the package that brings it"
            text = (
                f"The study {self.slug!r} is of kind {self.plan_json['kind']!r}, which is not "
                f"installed here. Install {package}, or write its rows as they are: "
                f"`survey export {self.slug} --rows FOLDER`."
            )
            raise UnreadablePlanError([Fault(("kind",), text)])
        try:
            return read_stored_plan(json.dumps(self.plan_json))
        except PlanError as error:
            text = (
                f"The plan of the study {self.slug!r} cannot be read by this version: "
                f"{error.faults[0].text}. Run the version that made it."
            )
            raise UnreadablePlanError([Fault(error.faults[0].place, text)]) from error

    @property
    def plan_fault(self) -> str:
        """Why this program cannot read the plan, "" where it can."""
        try:
            self._read_plan()
        except UnreadablePlanError as error:
            return str(error)
        return ""

    @property
    def is_readable(self) -> bool:
        """Whether this program can read the plan; lists leave other studies out."""
        return not self.plan_fault

    @property
    def status_or_closing(self) -> str:
        """The status; "closing" where the study is open and admits no one new."""
        is_closing = self.status == "open" and self.admission_ended_at is not None
        return "closing" if is_closing else self.status

    @property
    def status_label(self) -> str:
        """The status that lists print: "archived", "imported", else ``status_or_closing``."""
        if self.archived_at is not None:
            return "archived"
        return self.status_or_closing if self.imported_from is None else "imported"


class StoredQuestion(Base):
    """A question of a study, the same for all participants; number 0 is practice."""

    __tablename__ = "question"
    retention = "until the study is deleted"

    id: Mapped[RowId]
    study_id: Mapped[StudyId]
    number: Mapped[int] = mapped_column(doc="number of the question, 0 for practice")
    content: Mapped[JsonObject] = mapped_column(
        doc="what the question holds, and what is shown of it"
    )

    __table_args__ = (
        UniqueConstraint("study_id", "number"),
        CheckConstraint("number >= 0", name="number_counts_from_0"),
    )


class ConsentText(Base):
    """A version of a study's consent text; participants refer to the version they agreed to."""

    __tablename__ = "consent_text"
    retention = "until the study is deleted"

    id: Mapped[RowId]
    study_id: Mapped[StudyId]
    version: Mapped[int] = mapped_column(doc="version of the text")
    text: Mapped[LongText] = mapped_column(doc="what was agreed to, word for word")
    digest: Mapped[Text64] = mapped_column(doc="SHA-256 of the text")
    created_at: Mapped[Moment] = mapped_column(doc="when it was written")

    __table_args__ = (UniqueConstraint("study_id", "version"),)


class Participant(Base):
    """A person who pressed "Begin": their progress, and their answers about themselves.

    ``public_id``: a random id, for exports. ``resume_hash``: the SHA-256 of the code that
    continues on another device. No name, address or device is stored.
    """

    __tablename__ = "participant"
    retention = "until the participant erases it, or the study is deleted"

    id: Mapped[RowId]
    study_id: Mapped[StudyId] = mapped_column(index=True)
    public_id: Mapped[Text16] = mapped_column(
        doc="random id of the participant, P- and eight characters"
    )
    resume_hash: Mapped[Text64] = mapped_column(
        unique=True, doc="SHA-256 of the code that continues on another device"
    )
    status: Mapped[Text16] = mapped_column(default="started", doc="how far the participant came")
    is_test: Mapped[bool] = mapped_column(
        default=False, doc="whether this is test data, from a simulation or a trial"
    )
    excluded: Mapped[bool] = mapped_column(
        default=False, doc="whether the researchers left the participant out of the count"
    )
    exclude_reason: Mapped[LongText | None] = mapped_column(doc="why the participant was left out")
    understood: Mapped[bool | None] = mapped_column(
        doc="whether the first answer to the check question was right; empty where it was not asked"
    )
    machine_line: Mapped[bool] = mapped_column(
        default=False,
        doc="whether the field for programs was filled in; not what was written there",
    )
    arm: Mapped[Text16 | None] = mapped_column(
        doc="in which arm of the study the participant is, where it has arms"
    )
    personal: Mapped[JsonObject] = mapped_column(
        default=dict,
        doc="what the participant said about themselves; until the study's date, if it has one",
    )
    closing: Mapped[dict[str, FieldAnswer] | None] = mapped_column(
        JSON(none_as_null=True),
        doc="answers to the closing questions, after the last question; they stay after that date",
    )
    consent_id: Mapped[int | None] = mapped_column(
        ForeignKey("consent_text.id"), doc="which version of the consent text was agreed to"
    )
    receipt: Mapped[Text16 | None] = mapped_column(
        unique=True, doc="random code that shows that someone took part"
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
        Index(
            "ix_participant_under_way",
            *("study_id", "last_seen_at"),
            sqlite_where=text(UNDER_WAY),
            postgresql_where=text(UNDER_WAY),
        ),
    )


class SlotCount(Base):
    """The slots of a study that those who finished hold, counted by triggers on participants.

    Counting the rows for each visitor would take longer with each participant.
    """

    __tablename__ = "slot_count"
    retention = "until the study is deleted"

    study_id: Mapped[StudyId] = mapped_column(primary_key=True)
    complete: Mapped[int] = mapped_column(
        doc="how many have finished, without test data and those who were left out"
    )


class Browser(Base):
    """A browser bound to a participant, known by the hash of its cookie's random id."""

    __tablename__ = "browser"
    retention = "until “I am someone else”, or as long as the participant"

    id: Mapped[RowId]
    study_id: Mapped[StudyId]
    participant_id: Mapped[OfParticipant] = mapped_column(
        index=True, doc="the participant who uses the browser"
    )
    token_hash: Mapped[Text64] = mapped_column(doc="SHA-256 of the random id in its cookie")

    participant: Mapped[Participant] = relationship(lazy="joined", innerjoin=True)

    __table_args__ = (UniqueConstraint("study_id", "token_hash"),)


class Presentation(Base):
    """One question for one participant, inserted before the page is first shown.

    Labels and orders, drawn for this participant, are in a table of the kind of question.
    """

    __tablename__ = "presentation"
    retention = "as long as the participant"

    id: Mapped[RowId]
    participant_id: Mapped[OfParticipant] = mapped_column(doc="to whom it was shown")
    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"), doc="which question")
    position: Mapped[int] = mapped_column(doc="as which question the participant saw it, from 1")
    shown_at: Mapped[Moment | None] = mapped_column(doc="when the page was first handed out")
    refusals: Mapped[int] = mapped_column(
        default=0,
        server_default="0",
        doc="how often its form was sent back since an answer was last saved, 9 at most",
    )
    last_refusal: Mapped[Text16 | None] = mapped_column(
        doc="the kind of fault for which it was sent back last, without what was typed"
    )
    asked_back: Mapped[Text16 | None] = mapped_column(doc="what its page asked back last")

    participant: Mapped[Participant] = relationship()
    question: Mapped[StoredQuestion] = relationship()

    __table_args__ = (
        UniqueConstraint("participant_id", "question_id"),
        UniqueConstraint("participant_id", "position"),
        CheckConstraint(f"refusals BETWEEN 0 AND {MOST_REFUSALS}", name="refusals_few"),
        CheckConstraint("(refusals = 0) = (last_refusal IS NULL)", name="refusal_has_a_kind"),
        Index(
            "ix_presentation_stuck",
            "participant_id",
            sqlite_where=text(IS_STUCK),
            postgresql_where=text(IS_STUCK),
        ),
    )


class Guest(Base):
    """A person on a study's guest list, with a personal link.

    ``name``: as the researcher wrote it, personal data that only the guest list shows.
    ``nonce``: the public half of the link; the other half is derived under the server
    key. ``participant_id``: the only participant who can use the link. ``mail_due`` is a mail that
    the server is still to send; ``mail_fault`` why the last one was not sent, or may not have been.
    """

    __tablename__ = "guest"
    retention = "until removed from the list, the study's date for personal data, or its deletion"

    id: Mapped[RowId]
    study_id: Mapped[StudyId] = mapped_column(index=True)
    name: Mapped[Text200] = mapped_column(
        doc="the name as the researchers wrote it, to invite someone"
    )
    nonce: Mapped[Text16] = mapped_column(
        unique=True, doc="one half of the personal link; the other is derived"
    )
    arm: Mapped[Text32 | None] = mapped_column(doc="the role that the link gives, if it gives one")
    participant_id: Mapped[int | None] = mapped_column(
        ForeignKey("participant.id", ondelete="SET NULL"),
        unique=True,
        doc="who began with the link",
    )
    created_at: Mapped[Moment] = mapped_column(doc="when the guest was added")
    email: Mapped[Text200 | None] = mapped_column(doc="where to send the link, if researchers do")
    mail_due: Mapped[Text16 | None] = mapped_column(
        doc="what is to be sent to them next: the invitation or the reminder"
    )
    invited_at: Mapped[Moment | None] = mapped_column(doc="when the invitation was sent")
    reminded_at: Mapped[Moment | None] = mapped_column(doc="when the reminder was sent")
    mail_fault: Mapped[Text200 | None] = mapped_column(doc="why the last mail was not sent")

    participant: Mapped[Participant | None] = relationship()
    study: Mapped[Study] = relationship()

    __table_args__ = (UniqueConstraint("study_id", "name"),)


class Identity(Base):
    """A participant's data from a recruitment platform, in a table of its own.

    ``external_id``: the platform's id of the person. ``parameters``: the stored parameters of
    the address they opened last. ``earlier``: those of up to EARLIER_ARRIVALS addresses before,
    each as ``at`` and ``parameters``. Exports read it only where identities are asked for.
    """

    __tablename__ = "identity"
    retention = "as long as the participant; until the study's date for personal data"

    participant_id: Mapped[OfParticipant] = mapped_column(primary_key=True, doc="whose it is")
    study_id: Mapped[StudyId]
    external_id: Mapped[Text200 | None] = mapped_column(
        doc="the platform's id of the person, to credit them"
    )
    parameters: Mapped[JsonObject] = mapped_column(
        default=dict, doc="what else the study keeps of the address they came with last"
    )
    arrived_at: Mapped[Moment | None] = mapped_column(
        doc="when they came with it; empty if they began with it"
    )
    earlier: Mapped[JsonList] = mapped_column(
        default=list,
        server_default="[]",
        doc="the same of addresses they came with before, and when",
    )

    participant: Mapped[Participant] = relationship(lazy="joined", innerjoin=True)

    __table_args__ = (UniqueConstraint("study_id", "external_id"),)


class Erasure(Base):
    """An erased participant, so that they are erased again in a restored backup.

    ``token``: the SHA-256 of a random id, which identifies no person.
    """

    __tablename__ = "erasure"
    retention = "permanently, so that no restored backup undoes it"

    id: Mapped[RowId]
    token: Mapped[Text64] = mapped_column(
        unique=True, doc="SHA-256 of a random id; it identifies no person"
    )
    erased_on: Mapped[date] = mapped_column(doc="day of the erasure")


class StoredResponse(Base):
    """The answer that counts, unique by participant and question."""

    __tablename__ = "response"
    retention = "as long as the participant"

    id: Mapped[RowId]
    participant_id: Mapped[int] = mapped_column(doc="whose answer")
    question_id: Mapped[int] = mapped_column(doc="to which question")
    submitted_at: Mapped[Moment] = mapped_column(doc="when the answer that counts was sent")
    active_seconds: Mapped[Seconds]
    reason: Mapped[Reason]
    asked: Mapped[Asked]
    beside: Mapped[Beside]
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

    id: Mapped[RowId]
    response_id: Mapped[int] = mapped_column(
        ForeignKey("response.id", ondelete="CASCADE"), doc="of which answer"
    )
    number: Mapped[int] = mapped_column(doc="1 for the first, 2 for the first change")
    submitted_at: Mapped[Moment] = mapped_column(doc="when it was sent")
    active_seconds: Mapped[Seconds]
    reason: Mapped[Reason]
    asked: Mapped[Asked]
    beside: Mapped[Beside]

    __table_args__ = (UniqueConstraint("response_id", "number"),)


class Researcher(Base):
    """An account. ``password_hash`` is None until the researcher has set a password.

    ``second_factor``: with the server's key it gives the secret that the researcher's app shares.
    """

    __tablename__ = "researcher"
    retention = "until the account is removed"

    id: Mapped[RowId]
    name: Mapped[Text64] = mapped_column(unique=True, doc="name to sign in with")
    password_hash: Mapped[Text200 | None] = mapped_column(doc="Argon2id hash of the password")
    created_at: Mapped[Moment] = mapped_column(doc="when the account was made")
    second_factor: Mapped[Text64 | None] = mapped_column(
        doc="random text of which the server's key makes the secret of the codes at sign-in"
    )
    last_code_step: Mapped[int | None] = mapped_column(
        doc="the half minute of the last code, which is not accepted again"
    )
    recovery_codes: Mapped[Names] = mapped_column(
        default=list, server_default="[]", doc="SHA-256 of each recovery code that is not used yet"
    )


class SignInLink(Base):
    """A link to set a password with; it works once. Only the hash of its token is stored."""

    __tablename__ = "sign_in_link"
    retention = "until the next link, or the account is removed"

    id: Mapped[RowId]
    researcher_id: Mapped[OfResearcher] = mapped_column(doc="for whom")
    token_hash: Mapped[Text64] = mapped_column(unique=True, doc="SHA-256 of the link's token")
    expires_at: Mapped[Moment] = mapped_column(doc="until when it works")
    used_at: Mapped[Moment | None] = mapped_column(doc="when it was used")

    researcher: Mapped[Researcher] = relationship()


class SignIn(Base):
    """A signed-in browser. Only the hash of its cookie's token is stored.

    It ends an hour after ``last_seen_at``; risky actions need a recent ``confirmed_at``.
    """

    __tablename__ = "sign_in"
    retention = "an hour idle, ten hours at most; removed at the next sign-in"

    id: Mapped[RowId]
    researcher_id: Mapped[OfResearcher] = mapped_column(index=True, doc="who is signed in")
    token_hash: Mapped[Text64] = mapped_column(unique=True, doc="SHA-256 of the cookie's token")
    created_at: Mapped[Moment] = mapped_column(doc="when they signed in")
    last_seen_at: Mapped[Moment] = mapped_column(doc="last request, for the end after an idle hour")
    confirmed_at: Mapped[Moment] = mapped_column(doc="when the password was last typed")

    researcher: Mapped[Researcher] = relationship()


class SignInThrottle(Base):
    """The failed attempts in a row to sign in under a name, from which the wait follows.

    Names without an account have rows too, so that a wait does not reveal who has one. A browser
    in which a researcher has signed in before has a row of its own, all names have one together.
    """

    __tablename__ = "sign_in_throttle"
    retention = "until the next successful sign-in, or the first attempt after an hour"

    name_hash: Mapped[Text64] = mapped_column(
        primary_key=True, doc="SHA-256 of the name that was typed, for a known browser with its id"
    )
    failures: Mapped[int] = mapped_column(doc="failures in a row")
    last_failed_at: Mapped[Moment] = mapped_column(doc="when the last failure was")


class Membership(Base):
    """A researcher's role in a study: owner or viewer."""

    __tablename__ = "membership"
    retention = "until the study is no longer shared"

    id: Mapped[RowId]
    study_id: Mapped[StudyId]
    researcher_id: Mapped[OfResearcher] = mapped_column(index=True, doc="who may see it")
    role: Mapped[Text16] = mapped_column(doc="owner or viewer")

    study: Mapped[Study] = relationship()
    researcher: Mapped[Researcher] = relationship()

    __table_args__ = (
        UniqueConstraint("study_id", "researcher_id"),
        CheckConstraint("role IN ('owner', 'viewer')", name="role_known"),
    )


class Publication(Base):
    """The public page of a closed study, with how the study is to be cited.

    It holds no results: they are computed from the stored answers when a page is opened.
    """

    __tablename__ = "publication"
    retention = "until the study is deleted"

    study_id: Mapped[StudyId] = mapped_column(primary_key=True)
    title: Mapped[Text200] = mapped_column(doc="title under which the study is cited")
    authors: Mapped[Names] = mapped_column(doc="whom to cite, as the owner typed their names")
    licence: Mapped[Text32] = mapped_column(doc="licence of the data, empty for none")
    published_by: Mapped[Text64] = mapped_column(doc="who published it")
    published_at: Mapped[Moment] = mapped_column(doc="since when it is public")
    taken_back_at: Mapped[Moment | None] = mapped_column(
        doc="when it was taken back, after which no one sees it"
    )
    doi: Mapped[Text200] = mapped_column(
        default="", server_default="", doc="DOI that an archive gave its bundle, empty for none"
    )

    study: Mapped[Study] = relationship()


class ReadToken(Base):
    """A token with which a program reads a study's JSON. Only the hash of it is stored."""

    __tablename__ = "read_token"
    retention = "until it is removed, or the study is deleted"

    id: Mapped[RowId]
    study_id: Mapped[StudyId] = mapped_column(index=True)
    name: Mapped[Text64] = mapped_column(doc="what it is for, as its owner calls it")
    token_hash: Mapped[Text64] = mapped_column(unique=True, doc="SHA-256 of the token")
    made_by: Mapped[Text64] = mapped_column(doc="who made it")
    expires_at: Mapped[Moment] = mapped_column(doc="until when it works")
    minute_began_at: Mapped[Moment | None] = mapped_column(doc="when the minute of requests began")
    requests: Mapped[int] = mapped_column(default=0, doc="requests in that minute")

    study: Mapped[Study] = relationship()

    __table_args__ = (UniqueConstraint("study_id", "name"),)


class StoredMachine(Base):
    """What a machine that judged beside people was asked, and what it answered.

    Its answers are in no count of people: no other table refers to them.
    """

    __tablename__ = "machine"
    retention = "until the study is deleted"

    id: Mapped[RowId]
    study_id: Mapped[StudyId] = mapped_column(index=True)
    digest: Mapped[Text64] = mapped_column(doc="SHA-256 of the record")
    about: Mapped[JsonObject] = mapped_column(doc="how it was asked: record.json")
    answers: Mapped[LongText] = mapped_column(doc="its answers: answers.csv")
    replies: Mapped[LongText] = mapped_column(doc="its replies, word for word: replies.jsonl")
    made_by: Mapped[Text64] = mapped_column(doc="who asked it")
    made_at: Mapped[Moment] = mapped_column(doc="when")

    __table_args__ = (UniqueConstraint("study_id", "digest"),)


PLAN_CHANGED = "plan changed"  # an event whose detail has the former values, as JSON


class Event(Base):
    """An act of a researcher, logged for the others; rows are only added.

    ``slug`` and ``who`` are texts, so that an event outlives its study and its researcher.
    """

    __tablename__ = "event"
    retention = "permanently; rows are only added"

    id: Mapped[RowId]
    slug: Mapped[Text64] = mapped_column(index=True, doc="the study")
    who: Mapped[Text64] = mapped_column(doc="who did it")
    at: Mapped[Moment] = mapped_column(doc="when")
    kind: Mapped[Text32] = mapped_column(doc="what was done")
    detail: Mapped[LongText] = mapped_column(
        default="",
        doc="further details, such as a reason, or what the plan of a draft said before a change",
    )

    @property
    def remark(self) -> str:
        """The detail as a log shows it: without former values of a plan, which undo reads."""
        return "" if self.kind == PLAN_CHANGED else self.detail
