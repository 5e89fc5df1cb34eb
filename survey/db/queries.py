"""Queries of studies, participants and researchers that return objects, counts and sums.

Those of participants' pages, which run for every answer, are in participant_queries.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, TypeVar

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Insert,
    Select,
    SQLColumnExpression,
    Table,
    Text,
    and_,
    case,
    delete,
    exists,
    extract,
    func,
    or_,
    select,
    text,
    update,
)
from sqlalchemy import cast as as_type
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, joinedload

from survey.db.engine import Record, is_sqlite
from survey.db.models import (
    IS_STUCK,
    ConsentText,
    Erasure,
    Event,
    Guest,
    Identity,
    Membership,
    Participant,
    Presentation,
    Publication,
    ReadToken,
    Researcher,
    SignIn,
    SignInLink,
    SignInThrottle,
    SlotCount,
    StoredCollection,
    StoredMachine,
    StoredQuestion,
    StoredResponse,
    Study,
)
from survey.db.models.base import Base, UtcDateTime
from survey.db.participant_queries import AnyParticipant, AnyStudy

Row = TypeVar("Row", bound=Base)

IS_ANSWERED = and_(
    StoredResponse.participant_id == Presentation.participant_id,
    StoredResponse.question_id == Presentation.question_id,
)
ADDRESS_CHANGED, BECAME = "address changed", " became "  # an event, and within its detail
MOST_TIMED = 1_000  # participants of whom a check reads how long they took
HAS_PERSONAL_ANSWERS = as_type(Participant.personal, Text) != "{}"


def find(session: Session, model: type[Row], **values: object) -> Row | None:
    """Return the row whose columns have these values, which no two rows share; None without it."""
    return session.scalar(select(model).filter_by(**values))


def all_collections(session: Session) -> list[StoredCollection]:
    """Return the collections with secret judgements by their names."""
    return [*session.scalars(select(StoredCollection).order_by(StoredCollection.name))]


def locked(session: Session, model: type[Row], **values: object) -> Row:
    """Return the row whose columns have these values, locked until the transaction ends.

    It is read again. Raises NoResultFound if it was deleted meanwhile. Others may add rows that
    refer to a locked study: those who hold a participant would wait for those who hold the study.
    """
    only_study = model is Study
    statement = select(model).filter_by(**values).with_for_update(of=model, key_share=only_study)
    return session.scalars(statement, execution_options={"populate_existing": True}).one()


def read_tokens(session: Session, study_id: int) -> Sequence[ReadToken]:
    """Return the tokens of programs that read a study, by name."""
    of_study = select(ReadToken).where(ReadToken.study_id == study_id)
    return session.scalars(of_study.order_by(ReadToken.name)).all()


def locked_study(session: Session, study: AnyStudy) -> Study:
    """Return a study, locked and read again; see ``locked``.

    The slug is compared too: in a restored backup, another study may have the row id.
    """
    return locked(session, Study, id=study.id, slug=study.slug)


def locked_participant(session: Session, record: AnyParticipant) -> Participant:
    """Return a participant, locked and read again; see ``locked``.

    The public id is compared too: after an erasure or in a restored backup, another participant
    may have the row id.
    """
    ids = {"id": record.id, "study_id": record.study_id, "public_id": record.public_id}
    return locked(session, Participant, **ids)


def current_participant(session: Session, record: AnyParticipant) -> Participant:
    """Return a participant, read again without a lock; otherwise as ``locked_participant``."""
    ids = {"id": record.id, "public_id": record.public_id}
    return session.scalars(select(Participant).filter_by(**ids)).one()


def identity_of(session: Session, record: AnyParticipant) -> Identity | None:
    """Return what a platform sent of a participant; public ids are compared as well."""
    ids = {"id": record.id, "public_id": record.public_id}
    return session.scalar(select(Identity).join(Participant).filter_by(**ids))


def all_studies(session: Session) -> Sequence[Study]:
    """Return all studies, oldest first."""
    return session.scalars(select(Study).order_by(Study.id)).all()


def consent_text(session: Session, study: AnyStudy) -> ConsentText:
    """Return the latest version of a study's consent text.

    Raises NoResultFound if the study was deleted meanwhile: each is created with a text.
    """
    return session.scalars(
        select(ConsentText)
        .where(ConsentText.study_id == study.id)
        .order_by(ConsentText.version.desc())
        .limit(1)
    ).one()


def participants_of(session: Session, study_id: int) -> Sequence[Participant]:
    """Return a study's participants, by public id."""
    return session.scalars(
        select(Participant).where(Participant.study_id == study_id).order_by(by_public_id(session))
    ).all()


def by_public_id(session: Session) -> ColumnElement[str]:
    """Return a sort key that compares ids byte by byte.

    PostgreSQL would otherwise sort by the language of the database.
    """
    return Participant.public_id.collate("BINARY" if is_sqlite(session) else "C")


def participant_counts(session: Session, study_id: int) -> dict[tuple[str, bool, bool], int]:
    """Count a study's participants by status, whether they are test data, and if excluded."""
    groups = (Participant.status, Participant.is_test, Participant.excluded)
    rows = session.execute(
        select(*groups, func.count()).where(Participant.study_id == study_id).group_by(*groups)
    )
    return {(status, is_test, excluded): count for status, is_test, excluded, count in rows}


def _holds_slot(since: datetime) -> ColumnElement[bool]:
    """Return the condition of holding a slot: complete, or agreed and seen since a time."""
    return and_(
        Participant.is_test.is_(False),
        Participant.excluded.is_(False),
        or_(Participant.status == "complete", _is_under_way(since)),
    )


def _is_under_way(since: datetime) -> ColumnElement[bool]:
    return and_(
        Participant.status == "started",
        Participant.consented_at.is_not(None),
        Participant.completed_at.is_(None),  # SQLite uses the index of those under way then
        Participant.last_seen_at > since,
    )


def taken_slots(session: Session, study_id: int, since: datetime, agreed_since: datetime) -> int:
    """Count the slots of a study that are in use: those counted, and those of people under way.

    Who has saved nothing since they agreed holds one only if they agreed after ``agreed_since``.
    """
    did_something = Participant.last_seen_at > Participant.consented_at
    counted = select(SlotCount.complete).where(SlotCount.study_id == study_id).scalar_subquery()
    under_way = select(func.count()).where(
        *(Participant.study_id == study_id, CONDITIONS["counts"], _is_under_way(since)),
        or_(did_something, Participant.last_seen_at > agreed_since),
    )
    statement = select(func.coalesce(counted, 0) + under_way.scalar_subquery())
    return session.scalar(statement) or 0


def has_others_under_way(session: Session, study_id: int, since: datetime, arm: str | None) -> bool:
    """Return whether someone who counts and is not in an arm began and was seen since a time."""
    under_way = select(Participant.id).where(
        *(Participant.study_id == study_id, CONDITIONS["counts"]),
        *(Participant.status == "started", Participant.last_seen_at > since),
        Participant.arm.is_distinct_from(arm),
    )
    return bool(session.scalar(select(exists(under_way))))


def times_asked(
    session: Session, study_id: int, since: datetime, *, is_test: bool
) -> dict[int, int]:
    """Count the participants who are shown each question, by row id, practice left out.

    Only those who hold a slot are counted; test participants are counted by themselves.
    """
    counted = _counts_as(since, is_test=is_test)
    statement = (
        select(Presentation.question_id, func.count())
        .join(Participant, Participant.id == Presentation.participant_id)
        .where(Participant.study_id == study_id, Presentation.position > 0, counted)
        .group_by(Presentation.question_id)
    )
    return dict(session.execute(statement).all())


def numbers_asked(
    session: Session, study_id: int, since: datetime, *, is_test: bool
) -> list[frozenset[int]]:
    """Return the numbers of the questions of each participant, as ``times_asked`` counts them."""
    statement = (
        select(Presentation.participant_id, StoredQuestion.number)
        .join(StoredQuestion, StoredQuestion.id == Presentation.question_id)
        .join(Participant, Participant.id == Presentation.participant_id)
        .where(Participant.study_id == study_id, Presentation.position > 0)
        .where(_counts_as(since, is_test=is_test))
    )
    numbers: dict[int, set[int]] = {}
    for participant_id, number in session.execute(statement):
        numbers.setdefault(participant_id, set()).add(number)
    return [*map(frozenset, numbers.values())]


def arm_counts(
    session: Session, study_id: int, since: datetime, *, is_test: bool
) -> dict[str | None, int]:
    """Count the participants of each arm, as ``times_asked`` counts them."""
    statement = (
        select(Participant.arm, func.count())
        .where(Participant.study_id == study_id, _counts_as(since, is_test=is_test))
        .group_by(Participant.arm)
    )
    return dict(session.execute(statement).all())


def answers_to_field(
    session: Session, study_id: int, name: str, since: datetime, *, but: int | None = None
) -> dict[str | None, int]:
    """Count the answers to a personal field of those who hold a slot, one participant left out."""
    statement = (
        select(Participant.personal[name].as_string().label("answer"), func.count())
        .where(Participant.study_id == study_id, _holds_slot(since))
        .where(Participant.id.is_distinct_from(but))
        .group_by("answer")
    )
    return dict(session.execute(statement).all())


def _counts_as(since: datetime, *, is_test: bool) -> ColumnElement[bool]:
    if is_test:
        return Participant.is_test.is_(True) & (Participant.status != "screened_out")
    return _holds_slot(since)


def guests_of(session: Session, study: Study) -> Sequence[Guest]:
    """Return a study's guests, oldest first, each with the participant who used the link."""
    return session.scalars(
        select(Guest)
        .options(joinedload(Guest.participant))
        .where(Guest.study_id == study.id)
        .order_by(Guest.id)
    ).all()


def has_due_mail(session: Session, study_id: int | None) -> bool:
    """Return whether a mail is to be sent to a guest of a study, or of any for None."""
    return bool(session.scalar(select(exists(_due_guests(study_id)))))


def next_due_guest(session: Session, study_id: int | None) -> Guest | None:
    """Return a guest to whom a mail is to be sent, locked; no other process gets the same one."""
    due = _due_guests(study_id).order_by(Guest.id).limit(1)
    return session.scalars(due.with_for_update(of=Guest, skip_locked=True)).first()


def clear_due_mail(session: Session, study_id: int | None, fault: str) -> None:
    """Mark all mail that is due as not sent, with the fault."""
    due = _due_guests(study_id).with_only_columns(Guest.id)
    statement = update(Guest).where(Guest.id.in_(due)).values(mail_due=None, mail_fault=fault)
    session.execute(statement, execution_options={"synchronize_session": False})


def _due_guests(study_id: int | None) -> Select[Guest]:
    due = select(Guest).where(Guest.mail_due.is_not(None))
    return due if study_id is None else due.where(Guest.study_id == study_id)


def count_answers(session: Session, study_id: int, *, include_test: bool = True) -> int:
    """Count a study's answers, practice included."""
    statement = (
        select(func.count(StoredResponse.id))
        .join(Participant, Participant.id == StoredResponse.participant_id)
        .where(Participant.study_id == study_id)
    )
    if not include_test:
        statement = statement.where(Participant.is_test.is_(False))
    return session.scalar(statement) or 0


Population = Literal["counts", "test", "excluded"]

# Exclusive conditions: an excluded test participant is listed once, as excluded.
CONDITIONS: dict[Population, ColumnElement[bool]] = {
    "counts": and_(Participant.is_test.is_(False), Participant.excluded.is_(False)),
    "test": and_(Participant.is_test.is_(True), Participant.excluded.is_(False)),
    "excluded": Participant.excluded.is_(True),
}


@dataclass(frozen=True)
class StatusCount:
    """How many participants have the same population and status; ``away``: not seen for long."""

    population: Population
    status: str
    away: bool
    participants: int


def status_counts(session: Session, study_id: int, since: datetime) -> list[StatusCount]:
    """Count a study's participants by population, status and absence (not seen since a time)."""
    population = case(*((condition, population) for population, condition in CONDITIONS.items()))
    seen = func.coalesce(Participant.last_seen_at, Participant.started_at)
    away = and_(Participant.status == "started", seen <= since)
    columns = (population.label("population"), Participant.status, away.label("away"), func.count())
    rows = session.execute(
        select(*columns)
        .where(Participant.study_id == study_id)
        .group_by("population", Participant.status, "away")
    )
    return [
        StatusCount(population, status, bool(away), count)
        for population, status, away, count in rows
    ]


def recently_seen(
    session: Session, study_id: int, population: Population, id_prefix: str, limit: int
) -> Sequence[Participant]:
    """Return participants of a population whose public id has a prefix, those seen last first."""
    seen = func.coalesce(Participant.completed_at, Participant.last_seen_at, Participant.started_at)
    statement = select(Participant).where(Participant.study_id == study_id, CONDITIONS[population])
    if id_prefix:
        statement = statement.where(Participant.public_id.startswith(id_prefix, autoescape=True))
    statement = statement.order_by(seen.desc(), Participant.id.desc()).limit(limit)
    return session.scalars(statement).all()


def stuck_participants(session: Session, study_id: int) -> Sequence[Record]:
    """Return questions whose form was refused several times in a row, of participants under way.

    Rows: public_id, is_test, position, number (of the question), refusals, last_refusal.
    """
    statement = (
        select(
            *(Participant.public_id, Participant.is_test, Presentation.position),
            *(StoredQuestion.number, Presentation.refusals, Presentation.last_refusal),
        )
        .join_from(Presentation, Participant)
        .join(StoredQuestion, StoredQuestion.id == Presentation.question_id)
        .where(text(IS_STUCK), Participant.study_id == study_id)
        .where(Participant.status == "started", Participant.excluded.is_(False))
        .order_by(Presentation.refusals.desc(), Participant.public_id)
    )
    return session.execute(statement).all()


def first_and_last_arrival(
    session: Session, study_id: int
) -> tuple[datetime | None, datetime | None]:
    """Return when the first and the last participant who counts began; None without any."""
    columns = (func.min(Participant.started_at), func.max(Participant.started_at))
    statement = select(*columns).where(Participant.study_id == study_id, CONDITIONS["counts"])
    first, last = session.execute(statement).one()
    return first, last


def counts_by_time(
    session: Session, study_id: int, column: SQLColumnExpression[datetime | None], seconds: int
) -> dict[int, int]:
    """Count participants who count by intervals of this length since 1970, by a moment of theirs.

    Intervals without any are left out.
    """
    # On PostgreSQL a cast rounds: the last half second would be the next interval's.
    moment = column if is_sqlite(session) else func.date_trunc("second", column)
    interval = as_type(extract("epoch", moment), BigInteger) // seconds
    statement = (
        select(interval, func.count())
        .where(Participant.study_id == study_id, CONDITIONS["counts"], column.is_not(None))
        .group_by(interval)
    )
    return {int(number): count for number, count in session.execute(statement)}


def answer_counts(session: Session, participant_ids: Collection[int]) -> dict[int, int]:
    """Count each participant's answers, by row id, practice left out."""
    statement = _presented(participant_ids).join(StoredResponse, IS_ANSWERED)
    return dict(session.execute(statement).all())


def asked_counts(session: Session, participant_ids: Collection[int]) -> dict[int, int]:
    """Count the questions that each participant is asked so far, by row id, practice left out."""
    return dict(session.execute(_presented(participant_ids)).all())


def _presented(participant_ids: Collection[int]) -> Select[int, int]:
    """Select the number of each participant's presentations, practice left out."""
    return (
        select(Presentation.participant_id, func.count())
        .where(Presentation.participant_id.in_(participant_ids), Presentation.position > 0)
        .group_by(Presentation.participant_id)
    )


def documents_in_steps(
    session: Session, step: Table, participant_ids: Collection[int], looks: Collection[str]
) -> Iterator[tuple[int, int, datetime | None, datetime]]:
    """Yield for each question with steps how many documents these are about, but for looks.

    ``looks``: actions that say only what was in view. Each is (participant's row id, documents,
    when the question was first shown, the last step).
    """
    rows = session.execute(
        select(
            *(Presentation.participant_id, func.sum(func.json_array_length(step.c.documents))),
            *(Presentation.shown_at, func.max(step.c.saved_at, type_=UtcDateTime)),
        )
        .join(step, step.c.presentation_id == Presentation.id)
        .where(Presentation.participant_id.in_(participant_ids), step.c.action.not_in(looks))
        .group_by(Presentation.id)
    )
    for participant_id, documents, shown_at, saved_at in rows:
        yield participant_id, int(documents or 0), shown_at, saved_at


def has_real_answers(session: Session, study_id: int) -> bool:
    """Return whether a participant who is not test data has answered a question beside practice."""
    answered = _answered(study_id, Presentation.id).where(Participant.is_test.is_(False))
    return bool(session.scalar(select(exists(answered))))


def counted_people(session: Session, study_id: int) -> tuple[int, int]:
    """Count the participants whose answers count, no test data and none excluded; their answers."""
    people, answers = func.count(func.distinct(StoredResponse.participant_id)), func.count()
    answered = _answered(study_id, people, answers).where(CONDITIONS["counts"])
    row = session.execute(answered).one()
    return row[0], row[1]


def mean_seconds(session: Session, study_id: int, *, by_clock: bool) -> list[float]:
    """Return the mean seconds of a question for each participant who finished and counts.

    Of more than MOST_TIMED, for those who finished last. ``by_clock``: from the first sight of a
    question to its answer; else as browsers measured how long it was in view.
    """
    sent, seen = (
        extract("epoch", StoredResponse.submitted_at),
        extract("epoch", Presentation.shown_at),
    )
    seconds: Any = sent - seen if by_clock else StoredResponse.active_seconds
    finished = (
        select(Participant.id)
        .where(Participant.study_id == study_id, CONDITIONS["counts"])
        .where(Participant.status == "complete")
        .order_by(Participant.completed_at.desc())
        .limit(MOST_TIMED)
    )
    statement = (
        _answered(study_id, func.avg(seconds))
        .where(Participant.id.in_(finished), seconds.is_not(None))
        .group_by(Participant.id)
    )
    return [float(mean) for mean in session.scalars(statement)]


def minutes_of_finished(session: Session, study_id: int) -> list[float]:
    """Return the minutes from "Begin" to "Hand in" of each participant who finished and counts.

    Of more than MOST_TIMED, those who finished last.
    """
    finished = (
        select(Participant.started_at, Participant.completed_at)
        .where(Participant.study_id == study_id, CONDITIONS["counts"])
        .where(Participant.status == "complete")
        .order_by(Participant.completed_at.desc())
        .limit(MOST_TIMED)
    )
    times = session.execute(finished).all()
    return [(end - start).total_seconds() / 60 for start, end in times if end is not None]


def _answered(study_id: int, *columns: Any) -> Select[Any]:
    """Select from a study's answers, practice left out."""
    return (
        select(*columns)
        .select_from(Presentation)
        .join(Participant, Participant.id == Presentation.participant_id)
        .join(StoredResponse, IS_ANSWERED)
        .where(Participant.study_id == study_id, Presentation.position > 0)
    )


def publications(session: Session) -> Sequence[Publication]:
    """Return the publications that were not taken back, of closed studies, the newest first."""
    return session.scalars(
        select(Publication)
        .join(Publication.study)
        .options(joinedload(Publication.study))
        .where(Publication.taken_back_at.is_(None), Study.status == "closed")
        .order_by(Publication.published_at.desc(), Publication.study_id.desc())
    ).all()


def machines(session: Session, study_id: int) -> Sequence[StoredMachine]:
    """Return the records of a study's machines by their digests, as a bundle has them."""
    return session.scalars(
        select(StoredMachine)
        .where(StoredMachine.study_id == study_id)
        .order_by(StoredMachine.digest)
    ).all()


def has_people(session: Session, study_id: int, number: int) -> bool:
    """Return whether as many participants have answers that count, without counting all."""
    answered = exists().where(
        IS_ANSWERED, Presentation.participant_id == Participant.id, Presentation.position > 0
    )
    people = (
        select(Participant.id)
        .where(Participant.study_id == study_id, CONDITIONS["counts"], answered)
        .limit(number)
    )
    return len(session.scalars(people).all()) == number


def last_changes(session: Session, slug: str) -> tuple[object, ...]:
    """Return what differs after each event of a study's log, and after each erasure."""
    newest = select(Event.id, Event.at).where(Event.slug == slug).order_by(Event.id.desc()).limit(1)
    event = session.execute(newest).one_or_none()
    return (*(event or ()), session.scalar(select(func.max(Erasure.id))))


def erased_tokens(session: Session) -> frozenset[str]:
    """Return the hashes from which a restored backup knows whom to erase."""
    return frozenset(session.scalars(select(Erasure.token)))


def closing_studies(session: Session) -> Sequence[Study]:
    """Return the open studies that admit no one new."""
    is_closing = (Study.status == "open", Study.admission_ended_at.is_not(None))
    return session.scalars(select(Study).where(*is_closing).order_by(Study.id)).all()


def events_about(session: Session, slug: str, public_id: str) -> Sequence[Event]:
    """Return the events of a study whose detail begins with a participant's id."""
    return session.scalars(
        select(Event).where(Event.slug == slug, Event.detail.startswith(public_id))
    ).all()


def last_activity(session: Session, until: datetime) -> datetime | None:
    """Return when someone last did something that was stored, up to a time; None for never."""
    columns = (Event.at, Participant.started_at, Participant.last_seen_at)
    times = [session.scalar(select(func.max(each)).where(each <= until)) for each in columns]
    return max(filter(None, times), default=None)


def has_personal(session: Session, study_id: int) -> bool:
    """Return whether a study still holds data that identify people."""
    conditions = (
        exists().where(Participant.study_id == study_id, HAS_PERSONAL_ANSWERS),
        exists().where(Identity.study_id == study_id),
        exists().where(Guest.study_id == study_id),
    )
    return bool(session.scalar(select(or_(*conditions))))


def delete_personal(session: Session, study_id: int) -> None:
    """Delete a study's personal answers, platform ids and guest list."""
    session.execute(
        update(Participant)
        .where(Participant.study_id == study_id, HAS_PERSONAL_ANSWERS)
        .values(personal={})
    )
    session.execute(delete(Identity).where(Identity.study_id == study_id))
    session.execute(delete(Guest).where(Guest.study_id == study_id))


def researcher_by_name(session: Session, name: str) -> Researcher | None:
    """Return the researcher of that name, ignoring upper and lower case."""
    # Not compared in SQL: SQLite's lower() changes ASCII letters only.
    wanted = name.casefold()
    matches = (person for person in all_researchers(session) if person.name.casefold() == wanted)
    return next(matches, None)


def all_researchers(session: Session) -> Sequence[Researcher]:
    """Return the accounts, sorted by name."""
    return sorted(session.scalars(select(Researcher)), key=_alphabetical)


def _alphabetical(researcher: Researcher) -> tuple[str, str]:
    """Return a sort key; SQL would sort names differently on SQLite and PostgreSQL."""
    return researcher.name.casefold(), researcher.name


def link_by_hash(session: Session, token_hash: str) -> SignInLink | None:
    """Return the link with this token's hash, locked so that two browsers cannot both use it."""
    return session.scalar(
        select(SignInLink)
        .options(joinedload(SignInLink.researcher))
        .where(SignInLink.token_hash == token_hash)
        .with_for_update(of=SignInLink)
    )


def sign_ins_of(session: Session, researcher_id: int) -> Sequence[SignIn]:
    """Return a researcher's sign-ins, expired ones too, last seen first."""
    return session.scalars(
        select(SignIn)
        .where(SignIn.researcher_id == researcher_id)
        .order_by(SignIn.last_seen_at.desc(), SignIn.id)
    ).all()


def sign_in_by_hash(session: Session, token_hash: str) -> SignIn | None:
    """Return the sign-in with this token's hash, its researcher loaded with it."""
    return session.scalar(
        select(SignIn).options(joinedload(SignIn.researcher)).where(SignIn.token_hash == token_hash)
    )


def delete_throttles(session: Session, since: datetime, until: datetime) -> None:
    """Delete the counted failures whose last was not between these times."""
    last = SignInThrottle.last_failed_at
    session.execute(delete(SignInThrottle).where((last < since) | (last > until)))


def add_throttle(session: Session, name_hash: str, moment: datetime) -> None:
    """Insert the row that counts failures under a name, unless it exists."""
    row = {"name_hash": name_hash, "failures": 0, "last_failed_at": moment}
    dialect = sqlite if is_sqlite(session) else postgresql
    insert: Insert = dialect.insert(SignInThrottle).values(**row).on_conflict_do_nothing()
    session.execute(insert)


def studies_of(session: Session, researcher: Researcher) -> list[tuple[Study, str]]:
    """Return the studies that a researcher may see, with the role in each, newest first."""
    rows = session.execute(_studies(researcher.id).order_by(Study.id.desc()))
    return [(study, role) for study, role in rows]


def study_of_researcher(
    session: Session, researcher_id: int, slug: str
) -> tuple[Study, str] | None:
    """Return a study and the researcher's role in it, None without a role."""
    row = session.execute(_studies(researcher_id).where(Study.slug == slug)).first()
    return None if row is None else (row[0], row[1])


def _studies(researcher_id: int) -> Select[Study, str]:
    membership = Membership.study_id == Study.id
    studies = select(Study, Membership.role).join(Membership, membership)
    return studies.where(Membership.researcher_id == researcher_id)


def studies_without_members(session: Session) -> Sequence[Study]:
    """Return the studies that no researcher can see."""
    return session.scalars(
        select(Study)
        .outerjoin(Membership, Membership.study_id == Study.id)
        .where(Membership.id.is_(None))
        .order_by(Study.id)
    ).all()


def members_of(session: Session, study: Study) -> Sequence[Membership]:
    """Return the members of a study, owners first, then by name."""
    members = session.scalars(
        select(Membership)
        .options(joinedload(Membership.researcher))
        .where(Membership.study_id == study.id)
        .execution_options(populate_existing=True)  # another owner may have changed a role
    )
    return sorted(members, key=lambda member: (member.role, *_alphabetical(member.researcher)))


def events_of(session: Session, study: Study) -> Sequence[Event]:
    """Return the log of a study, newest first, also from before its address changed.

    Events of an earlier, deleted study may bear the same slug.
    """
    events = _events_at(session, study.slug, study.created_at)
    while events and events[-1].kind == ADDRESS_CHANGED:
        slug = events[-1].detail.partition(BECAME)[0]
        earlier = _events_at(session, slug, study.created_at, events[-1].at)
        if not earlier:
            break
        events += earlier
    return events


def _events_at(
    session: Session, slug: str, since: datetime, until: datetime | None = None
) -> list[Event]:
    bounds = [Event.slug == slug, Event.at >= since]
    bounds += [] if until is None else [Event.at <= until]
    return [*session.scalars(select(Event).where(*bounds).order_by(Event.id.desc()))]


def all_answers(session: Session) -> int:
    """Count the answers of all studies."""
    return session.scalar(select(func.count()).select_from(StoredResponse)) or 0


def database_bytes(session: Session) -> int:
    """Return the size of the database in bytes, without a log that it writes ahead."""
    if is_sqlite(session):
        pages = text("SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()")
        return int(session.execute(pages).scalar_one())
    return session.scalar(select(func.pg_database_size(func.current_database()))) or 0
