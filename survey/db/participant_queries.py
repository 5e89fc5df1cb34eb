"""Queries of participants' pages: the visitor, the presentations, the answers.

They run for every page and every answer, so the statements are prepared and select single columns,
not objects of the ORM. To change a row of a study or participant, a service loads and locks it.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    Table,
    Text,
    and_,
    bindparam,
    exists,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy import cast as as_type
from sqlalchemy.orm import Session

from survey.core.kinds import read_stored_plan
from survey.core.studies.fields import FieldAnswer
from survey.core.studies.plan import Plan
from survey.db.engine import Prepared, Record
from survey.db.models import (
    Browser,
    Guest,
    Participant,
    Presentation,
    Revision,
    StoredQuestion,
    StoredResponse,
    Study,
)
from survey.db.models.base import TaskTables, key_of, own_columns, own_values


@dataclass(frozen=True, slots=True)
class StudyRow:
    """What every page needs of a study; ``recruitment_json``: the stored text."""

    id: int
    slug: str
    status: str
    plan: Plan
    recruitment_json: str
    admission_ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class ParticipantRow:
    """What every page needs of a participant; ``…_json``: the stored text."""

    id: int
    study_id: int
    public_id: str
    status: str
    is_test: bool
    personal_json: str
    closing_json: str | None
    receipt: str | None
    arm: str | None
    started_at: datetime
    consented_at: datetime | None
    described_at: datetime | None
    informed_at: datetime | None
    last_seen_at: datetime | None

    @property
    def personal(self) -> Mapping[str, FieldAnswer]:
        """The answers of the page "About you"."""
        return json.loads(self.personal_json)  # type: ignore[no-any-return] # an object

    @property
    def closing(self) -> Mapping[str, FieldAnswer] | None:
        """The answers to the closing questions, None until they are sent."""
        return None if self.closing_json is None else json.loads(self.closing_json)


@dataclass(frozen=True, slots=True)
class Visit:
    """A study, and the participant of the browser, None before they begin.

    ``by_personal_link``: whether the participant began with a personal link.
    """

    study: StudyRow
    participant: ParticipantRow | None
    by_personal_link: bool


AnyStudy = Study | StudyRow
AnyParticipant = Participant | ParticipantRow

_browser = cast("Table", Browser.__table__)
_participant = cast("Table", Participant.__table__)
_presentation = cast("Table", Presentation.__table__)
_question = cast("Table", StoredQuestion.__table__)
_response = cast("Table", StoredResponse.__table__)
_revision = cast("Table", Revision.__table__)
_study = cast("Table", Study.__table__)

# Parameters are named who (a participant's row id), at (a position) and changed (a row id), since
# SQLAlchemy refuses in an UPDATE a parameter that has a column's name.

_ANSWERED = and_(
    _response.c.participant_id == _presentation.c.participant_id,
    _response.c.question_id == _presentation.c.question_id,
)

_POSITIONS = Prepared(
    select(_presentation.c.position, _response.c.id, _presentation.c.shown_at)
    .select_from(_presentation.outerjoin(_response, _ANSWERED))
    .where(_presentation.c.participant_id == bindparam("who"))
    .order_by(_presentation.c.position)
)


class Positions(NamedTuple):
    """The positions of a participant's questions, each with whether it is answered.

    ``has_begun``: whether the first question was shown, or any is answered.
    """

    answered: dict[int, bool]
    has_begun: bool


def positions_of(session: Session, participant_id: int) -> Positions:
    """Return the positions of a participant's questions, in their order."""
    rows = _POSITIONS.rows(session, {"who": participant_id})
    answered = {position: response is not None for position, response, _ in rows}
    is_shown = any(position == 1 and shown_at is not None for position, _, shown_at in rows)
    return Positions(answered, is_shown or any(answered.values()))


_AT_POSITION = and_(
    _presentation.c.participant_id == bindparam("who"), _presentation.c.position == bindparam("at")
)


def _answer_columns(tables: TaskTables) -> list[ColumnElement[object]]:
    """Select the stored answer; the columns of its kind are named answer_…."""
    own = (column.label(f"answer_{column.name}") for column in own_columns(tables.response))
    names = ("submitted_at", "active_seconds", "reason", "asked", "beside", "revisions")
    shared = (_response.c[name] for name in names)
    return [_response.c.id.label("response_id"), *shared, *own]


def _with_answers(tables: TaskTables, source: FromClause) -> FromClause:
    return source.outerjoin(_response, _ANSWERED).outerjoin(
        tables.response, key_of(tables.response) == _response.c.id
    )


def _presentation_query(tables: TaskTables) -> Select[Any]:
    source = _presentation.join(_participant).join(_question)
    source = source.join(tables.presentation, key_of(tables.presentation) == _presentation.c.id)
    return select(
        *(_presentation.c[name] for name in ("id", "position", "shown_at")),
        *(_presentation.c[name] for name in ("refusals", "last_refusal", "asked_back")),
        *(column.label(f"drawn_{column.name}") for column in own_columns(tables.presentation)),
        _participant.c.public_id,
        _question.c.number,
        as_type(_question.c.content, Text).label("content"),
        *_answer_columns(tables),
    ).select_from(_with_answers(tables, source))


@cache
def _presentation_at(tables: TaskTables) -> Prepared:
    return Prepared(_presentation_query(tables).where(_AT_POSITION))


@cache
def _all_presentations(tables: TaskTables) -> Prepared:
    by_participant = _presentation.c.participant_id == bindparam("who")
    statement = _presentation_query(tables).where(by_participant)
    return Prepared(statement.order_by(_presentation.c.position))


def presentation(
    session: Session, tables: TaskTables, participant_id: int, position: int
) -> Record | None:
    """Return a participant's presentation at a position (0: practice), its question and answer.

    The columns of the kind's own tables are named drawn_… and answer_….
    """
    return _presentation_at(tables).first(session, {"who": participant_id, "at": position})


def presentations(session: Session, tables: TaskTables, participant_id: int) -> Sequence[Record]:
    """Return a participant's presentations by position, practice included; see ``presentation``."""
    return _all_presentations(tables).rows(session, {"who": participant_id})


@cache
def _steps(step: Table) -> Prepared:
    by_participant = _presentation.c.participant_id == bindparam("who")
    statement = select(step).join(_presentation).where(by_participant)
    return Prepared(statement.order_by(step.c.presentation_id, step.c.number))


@cache
def _steps_at(step: Table) -> Prepared:
    statement = select(step).join(_presentation).where(_AT_POSITION)
    return Prepared(statement.order_by(step.c.number))


def steps_of(
    session: Session, step: Table, participant_id: int, position: int | None = None
) -> dict[int, list[Record]]:
    """Return the steps of a participant by presentation, of all or of the one at a position."""
    prepared = _steps(step) if position is None else _steps_at(step)
    steps: dict[int, list[Record]] = {}
    for row in prepared.rows(session, {"who": participant_id, "at": position}):
        steps.setdefault(row.presentation_id, []).append(row)
    return steps


def answers_to(
    session: Session,
    tables: TaskTables,
    participant_ids: Collection[int],
    numbers: Collection[int] | None,
) -> tuple[Sequence[Record], dict[int, list[Record]]]:
    """Return the presentations that participants have answered, and their steps.

    ``numbers``: of the questions, None for all. Rows are by participant, see ``presentation``;
    steps are by presentation id, in their order.
    """
    of_people = _presentation.c.participant_id.in_(participant_ids)
    query = _presentation_query(tables).where(of_people, _response.c.id.is_not(None))
    wanted = _question.c.number > 0 if numbers is None else _question.c.number.in_(numbers)
    query = query.where(wanted)
    rows = session.execute(query.order_by(_participant.c.public_id, _question.c.number)).all()
    steps: dict[int, list[Record]] = {}
    if tables.step is not None:
        statement = select(tables.step).join(_presentation).where(of_people)
        ordered = statement.order_by(tables.step.c.presentation_id, tables.step.c.number)
        for row in session.execute(ordered):
            steps.setdefault(row.presentation_id, []).append(row)
    return rows, steps


def times_of_answers(
    session: Session, participant_ids: Collection[int], last: int
) -> Sequence[tuple[str, float | None, datetime | None, datetime]]:
    """Return of each answer up to question ``last``: whose, seconds in view, shown, submitted."""
    of_people = _presentation.c.participant_id.in_(participant_ids)
    columns = (_response.c.active_seconds, _presentation.c.shown_at, _response.c.submitted_at)
    source = _presentation.join(_response).join(_question).join(_participant)
    statement = (
        select(_participant.c.public_id, *columns)
        .select_from(source)
        .where(of_people, _question.c.number.between(1, last))
    )
    return [(*row,) for row in session.execute(statement)]


def done_in_other_arms(
    session: Session,
    tables: TaskTables,
    study_id: int,
    arm: str,
    number: int | None,
    *,
    is_test: bool,
) -> tuple[Sequence[Record], dict[int, list[Record]]]:
    """Return the answered presentations of participants in arms other than ``arm``, and the steps.

    Presentations are in the order in which their participants began; those of excluded
    participants are left out. ``number``: of one question, None for all. Rows have id, number and
    drawn_…; steps are by presentation id, in their order.
    """
    own = (column.label(f"drawn_{column.name}") for column in own_columns(tables.presentation))
    source = _presentation.join(_participant).join(_question).join(_response, _ANSWERED)
    source = source.join(tables.presentation, key_of(tables.presentation) == _presentation.c.id)
    query = (
        select(_presentation.c.id, _question.c.number, *own)
        .select_from(source)
        .where(
            _participant.c.study_id == study_id,
            _participant.c.is_test.is_(is_test),
            _participant.c.excluded.is_(False),
            _participant.c.arm != arm,
        )
        .order_by(_participant.c.started_at, _participant.c.public_id)
    )
    rows = session.execute(
        query if number is None else query.where(_question.c.number == number)
    ).all()
    steps: dict[int, list[Record]] = {}
    if tables.step is not None:
        of_these = tables.step.c.presentation_id.in_([row.id for row in rows])
        ordered = select(tables.step).where(of_these).order_by(tables.step.c.number)
        for step in session.execute(ordered):
            steps.setdefault(step.presentation_id, []).append(step)
    return rows, steps


def questions_of_arm(
    session: Session, study_id: int, arm: str | None, since: datetime, *, is_test: bool
) -> set[int]:
    """Return the numbers of the questions that participants of an arm are asked.

    Of participants who were last seen before ``since``, only those that they have answered.
    """
    source = _presentation.join(_participant).join(_question).outerjoin(_response, _ANSWERED)
    query = (
        select(_question.c.number)
        .select_from(source)
        .where(
            _participant.c.study_id == study_id,
            _participant.c.is_test.is_(is_test),
            _participant.c.excluded.is_(False),
            _participant.c.arm == arm,
            _response.c.id.is_not(None)
            | ((_participant.c.status == "started") & (_participant.c.last_seen_at > since)),
        )
    )
    return {*session.scalars(query)}


def store_steps(
    session: Session, step: Table, presentation_id: int, first: int, records: Iterable[object]
) -> None:
    """Insert a presentation's steps, numbered from ``first``; records have the kind's fields."""
    for number, record in enumerate(records, first):
        key = {"presentation_id": presentation_id, "number": number}
        _new_row(step).run(session, {**own_values(step, record), **key})


def _revisions(tables: TaskTables) -> Select[Any]:
    keys, names = ("response_id", "number"), ("submitted_at", "active_seconds", "reason", "asked")
    own = (column.label(f"answer_{column.name}") for column in own_columns(tables.revision))
    shared = (_revision.c[name] for name in (*keys, *names, "beside"))
    return select(*shared, *own).join(tables.revision, key_of(tables.revision) == _revision.c.id)


@cache
def _history(tables: TaskTables) -> Prepared:
    return Prepared(
        _revisions(tables)
        .join(_response, _response.c.id == _revision.c.response_id)
        .where(_response.c.participant_id == bindparam("who"))
        .order_by(_revision.c.response_id, _revision.c.number)
    )


def history_of(session: Session, tables: TaskTables, participant_id: int) -> Sequence[Record]:
    """Return every revision of a participant's answers, by answer and number."""
    return _history(tables).rows(session, {"who": participant_id})


# On SQLite the lock is that of BEGIN IMMEDIATE.
_LOCKED_STATUS = Prepared(
    select(_study.c.status)
    .join_from(_participant, _study)
    .where(
        _participant.c.id == bindparam("who"), _participant.c.public_id == bindparam("public_id")
    )
    .with_for_update(read=True, of=_study)
    .suffix_with(text("FOR UPDATE OF participant"), dialect="postgresql")
)


def lock(session: Session, participant_id: int, public_id: str) -> str | None:
    """Lock a participant, and their study's status, until the transaction ends; return the status.

    None if there is no such participant. The public id is compared too: after an erasure, SQLite
    may give the row id to another participant.
    """
    row = _LOCKED_STATUS.first(session, {"who": participant_id, "public_id": public_id})
    return None if row is None else str(row.status)


_SEEN = Prepared(update(_participant).where(_participant.c.id == bindparam("who")))


def note_seen(session: Session, participant_id: int, moment: datetime) -> None:
    """Store when a participant last saved something, which keeps their slot."""
    _SEEN.run(session, {"who": participant_id, "last_seen_at": moment})


_RECENT = (
    select(func.count())
    .select_from(_revision.join(_response, _response.c.id == _revision.c.response_id))
    .where(
        _response.c.participant_id == bindparam("who"),
        _revision.c.submitted_at > bindparam("since", type_=_revision.c.submitted_at.type),
    )
    .scalar_subquery()
)


@cache
def _state(tables: TaskTables) -> Prepared:
    return Prepared(
        select(
            _presentation.c.id,
            _presentation.c.question_id,
            *(_presentation.c.refusals, _presentation.c.asked_back),
            *(_participant.c.public_id, _participant.c.status),
            *_answer_columns(tables),
            _RECENT.label("recent"),
        )
        .select_from(_with_answers(tables, _presentation.join(_participant)))
        .where(_AT_POSITION)
    )


def state_of_answer(
    session: Session, tables: TaskTables, participant_id: int, position: int, since: datetime
) -> Record | None:
    """Return what decides whether an answer is stored: ids, status, and the stored answer.

    Its column ``recent``: how many answers the participant has sent after ``since``. None for a
    position without a question.
    """
    values = {"who": participant_id, "at": position, "since": since}
    return _state(tables).first(session, values)


@cache
def _revision_of(tables: TaskTables) -> Prepared:
    of_answer = _revision.c.response_id == bindparam("response_id")
    return Prepared(_revisions(tables).where(of_answer, _revision.c.number == bindparam("number")))


def revision_of(session: Session, tables: TaskTables, response_id: int, number: int) -> Record:
    """Return a revision of an answer, by its number, with the kind's columns as answer_…."""
    values = {"response_id": response_id, "number": number}
    return _revision_of(tables).first(session, values)


_NEW_RESPONSE = Prepared(insert(_response).returning(_response.c.id))
_NEW_REVISION = Prepared(insert(_revision).returning(_revision.c.id))
_CHANGED_RESPONSE = Prepared(update(_response).where(_response.c.id == bindparam("changed")))


def store_answer(
    session: Session,
    tables: TaskTables,
    response_id: int | None,
    response: Mapping[str, Any],
    answer: Mapping[str, object],
    seconds: float | None,
) -> None:
    """Insert or update the answer that counts, and add it as a revision.

    ``response_id``: of the answer to update, None to insert. ``response``: the columns that all
    kinds share, ``revisions`` being the number of earlier ones; ``answer``: the kind's own columns;
    ``seconds``: taken for this revision.
    """
    if response_id is None:
        [stored] = _NEW_RESPONSE.rows(session, response)
        response_id = stored.id
        store_own_columns(session, tables.response, stored.id, answer)
    else:
        _CHANGED_RESPONSE.run(session, {"changed": response_id, **response})
        change_own_columns(session, tables.response, response_id, answer)
    [revision] = _NEW_REVISION.rows(
        session,
        {
            "response_id": response_id,
            "number": response["revisions"] + 1,
            "submitted_at": response["submitted_at"],
            "active_seconds": seconds,
            "reason": response["reason"],
            "asked": response["asked"],
            "beside": response["beside"],
        },
    )
    store_own_columns(session, tables.revision, revision.id, answer)


@cache
def _new_row(table: Table) -> Prepared:
    return Prepared(insert(table))


def store_own_columns(
    session: Session, table: Table, row_id: int, values: Mapping[str, object]
) -> None:
    """Insert the row of a kind's own table that extends the shared row with this id."""
    _new_row(table).run(session, {key_of(table).name: row_id, **values})


@cache
def _changed_row(table: Table) -> Prepared:
    return Prepared(update(table).where(key_of(table) == bindparam("changed")))


def change_own_columns(
    session: Session, table: Table, row_id: int, changes: Mapping[str, object]
) -> None:
    """Update some columns of a kind's own table, in the row that extends the shared one."""
    _changed_row(table).run(session, {"changed": row_id, **changes})


_FIRST_SHOWN = Prepared(
    update(_presentation).where(_AT_POSITION, _presentation.c.shown_at.is_(None))
)


def note_shown(session: Session, participant_id: int, position: int, moment: datetime) -> None:
    """Store when a question is first shown; later times change nothing."""
    _FIRST_SHOWN.run(session, {"who": participant_id, "at": position, "shown_at": moment})


_REFUSALS = Prepared(select(_presentation.c.refusals).where(_AT_POSITION))
_REFUSED = Prepared(update(_presentation).where(_AT_POSITION))


def refusals_at(session: Session, participant_id: int, position: int) -> int | None:
    """Return how often a question's form was refused; None for a position without a question."""
    row = _REFUSALS.first(session, {"who": participant_id, "at": position})
    return None if row is None else int(row.refusals)


def store_refusals(
    session: Session, participant_id: int, position: int, refusals: int, last: str | None
) -> None:
    """Store how often a question's form was refused, and the type of the last fault."""
    changes = {"refusals": refusals, "last_refusal": last}
    _REFUSED.run(session, {"who": participant_id, "at": position, **changes})


def note_asked(session: Session, participant_id: int, position: int, asked: str) -> None:
    """Store what the page of a question asked back."""
    _REFUSED.run(session, {"who": participant_id, "at": position, "asked_back": asked})


# JSON is fetched as text, the key of the cache of parsed plans. The participant's columns are named
# as the fields of ``ParticipantRow``.
_VISIT = Prepared(
    select(
        *(_study.c[name].label(f"study_{name}") for name in ("id", "slug", "status")),
        _study.c.admission_ended_at,
        as_type(_study.c.plan, Text).label("plan"),
        as_type(_study.c.recruitment, Text).label("recruitment"),
        exists().where(Guest.participant_id == _participant.c.id).label("is_guest"),
        *(_participant.c[name] for name in ("id", "public_id", "status", "is_test")),
        as_type(_participant.c.personal, Text).label("personal_json"),
        as_type(_participant.c.closing, Text).label("closing_json"),
        *(_participant.c[name] for name in ("receipt", "arm", "started_at", "consented_at")),
        *(_participant.c[name] for name in ("described_at", "informed_at", "last_seen_at")),
    )
    .outerjoin(
        _browser,
        and_(_browser.c.study_id == _study.c.id, _browser.c.token_hash == bindparam("token_hash")),
    )
    .outerjoin(_participant, _participant.c.id == _browser.c.participant_id)
    .where(_study.c.slug == bindparam("slug"))
)


_PARTICIPANT_FIELDS = attrgetter(*(field.name for field in fields(ParticipantRow)))


def visit(session: Session, slug: str, token_hash: str) -> Visit | None:
    """Return the study with an address, and the participant of the browser with a token's hash."""
    row = _VISIT.first(session, {"slug": slug, "token_hash": token_hash})
    if row is None:
        return None
    study = StudyRow(
        id=row.study_id,
        slug=row.study_slug,
        status=row.study_status,
        plan=read_stored_plan(row.plan),
        recruitment_json=row.recruitment,
        admission_ended_at=row.admission_ended_at,
    )
    participant = None if row.id is None else ParticipantRow(*_PARTICIPANT_FIELDS(row))
    return Visit(study, participant, by_personal_link=bool(row.is_guest))
