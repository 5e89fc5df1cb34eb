"""What a participant's page asks of the database, and what an answer writes.

These run for every page and every answer, so they are prepared, name the columns that are
needed and make no objects of rows.

Whose page of which study a browser asks for: what every page of participants asks first.

What identifies people, and who was erased: finding it and deleting it.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    Table,
    Text,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
    text,
    update,
)
from sqlalchemy import cast as as_type
from sqlalchemy.orm import Session

from survey.core.studies.plan import Plan
from survey.db.models import (
    Browser,
    Erasure,
    Event,
    Guest,
    Identity,
    Participant,
    Presentation,
    Revision,
    StoredQuestion,
    StoredResponse,
    Study,
)
from survey.db.prepared import Prepared, Record
from survey.db.records import ParticipantRecord, StudyRecord

_browser, _participant, _presentation, _question, _response, _revision, _study = (
    cast(Table, model.__table__)
    for model in (
        *(Browser, Participant, Presentation, StoredQuestion, StoredResponse, Revision, Study),
    )
)

_ANSWERED = and_(
    _response.c.participant_id == _presentation.c.participant_id,
    _response.c.question_id == _presentation.c.question_id,
)

_POSITIONS = Prepared(
    select(_presentation.c.position, _response.c.id)
    .select_from(_presentation.outerjoin(_response, _ANSWERED))
    .where(_presentation.c.participant_id == bindparam("who"))
    .order_by(_presentation.c.position)
)


def answered_positions(session: Session, participant_id: int) -> dict[int, bool]:
    """Return the positions a participant has been given, and whether each is answered."""
    rows = _POSITIONS.rows(session, {"who": participant_id})
    return {position: response is not None for position, response in rows}


_AT_POSITION = and_(
    _presentation.c.participant_id == bindparam("who"), _presentation.c.position == bindparam("at")
)
_SHOWN = Prepared(
    select(
        *(_presentation.c[name] for name in ("id", "label_order", "column_order", "list_order")),
        *(_presentation.c[name] for name in ("shown", "ranked_first", "ranked_at")),
        _participant.c.public_id,
        _question.c.number,
        *(as_type(_question.c[name], Text).label(name) for name in ("lists", "columns", "marks")),
        *(_response.c[name] for name in ("clicked", "own", "active_seconds", "revisions")),
    )
    .select_from(_presentation.join(_participant).join(_question).outerjoin(_response, _ANSWERED))
    .where(_AT_POSITION)
)


def shown_at(session: Session, participant_id: int, position: int) -> Record | None:
    """Return what a participant sees at a position (0: practice), question and answer included."""
    return _SHOWN.first(session, {"who": participant_id, "at": position})


# On SQLite everybody else has waited since BEGIN.
_HELD = Prepared(
    select(_study.c.status)
    .join_from(_participant, _study)
    .where(_participant.c.id == bindparam("who"), _participant.c.public_id == bindparam("called"))
    .with_for_update(read=True, of=_study)
    .suffix_with(text("FOR UPDATE OF participant"), dialect="postgresql")
)


def hold(session: Session, participant_id: int, public_id: str) -> str | None:
    """Keep others from changing a participant, and from opening or closing their study.

    Until this transaction ends; returns the study's status, None without such a participant.
    Both names are asked for: SQLite may have given the number to someone else meanwhile.
    """
    found = _HELD.first(session, {"who": participant_id, "called": public_id})
    return None if found is None else str(found.status)


_SEEN = Prepared(update(_participant).where(_participant.c.id == bindparam("who")))


def note_seen(session: Session, participant_id: int, moment: datetime) -> None:
    """Note when a participant did something."""
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
_STATE = Prepared(
    select(
        _presentation.c.id,
        _presentation.c.question_id,
        _participant.c.public_id,
        _participant.c.status,
        _response.c.id.label("response_id"),
        *(_response.c[name] for name in ("clicked", "own", "active_seconds", "revisions")),
        _RECENT.label("recent"),
    )
    .select_from(_presentation.join(_participant).outerjoin(_response, _ANSWERED))
    .where(_AT_POSITION)
)


def state_of_answer(
    session: Session, participant_id: int, position: int, since: datetime
) -> Record | None:
    """Return what decides over a posted answer; ``recent``: how many came since a moment."""
    asked = {"who": participant_id, "at": position, "since": since}
    return _STATE.first(session, asked)


_GIVEN = Prepared(
    select(_revision.c.clicked, _revision.c.own).where(
        _revision.c.response_id == bindparam("response_id"),
        _revision.c.number == bindparam("number"),
    )
)


def revision_of(session: Session, response_id: int, number: int) -> Record:
    """Return an answer as it was given once."""
    return _GIVEN.first(session, {"response_id": response_id, "number": number})


_NEW_RESPONSE = Prepared(insert(_response).returning(_response.c.id))
_NEW_REVISION = Prepared(insert(_revision))
_CHANGED = Prepared(update(_response).where(_response.c.id == bindparam("changed")))


def store_answer(
    session: Session, response_id: int | None, response: Mapping[str, Any], seconds: float | None
) -> None:
    """Write the answer that counts, new or changed, and the revision that it is."""
    if response_id is None:
        [made] = _NEW_RESPONSE.rows(session, response)
        response_id = made.id
    else:
        _CHANGED.run(session, {"changed": response_id, **response})
    _NEW_REVISION.run(
        session,
        {
            **{name: response[name] for name in ("clicked", "own", "submitted_at")},
            "response_id": response_id,
            "number": response["revisions"] + 1,
            "active_seconds": seconds,
        },
    )


_HANDED_OUT = Prepared(
    update(_presentation).where(_AT_POSITION, _presentation.c.shown_at.is_(None))
)


def note_shown(session: Session, participant_id: int, position: int, moment: datetime) -> None:
    """Note when a question is handed out for the first time."""
    _HANDED_OUT.run(session, {"who": participant_id, "at": position, "shown_at": moment})


# JSON is fetched as it is written, so that what was read of it before can be found by it.
_VISIT = Prepared(
    select(
        *(_study.c[name].label(f"study_{name}") for name in ("id", "slug", "status")),
        as_type(_study.c.plan, Text).label("plan"),
        as_type(_study.c.recruitment, Text).label("recruitment"),
        exists().where(Guest.participant_id == _participant.c.id).label("is_guest"),
        *(_participant.c[name] for name in ("id", "public_id", "status", "is_test")),
        as_type(_participant.c.personal, Text).label("personal"),
        *(_participant.c[name] for name in ("receipt", "started_at", "consented_at")),
        *(_participant.c[name] for name in ("described_at", "informed_at", "last_seen_at")),
    )
    .outerjoin(
        _browser,
        and_(_browser.c.study_id == _study.c.id, _browser.c.token_hash == bindparam("token_hash")),
    )
    .outerjoin(_participant, _participant.c.id == _browser.c.participant_id)
    .where(_study.c.slug == bindparam("slug"))
)


def visit(
    session: Session, slug: str, token_hash: str
) -> tuple[StudyRecord, ParticipantRecord | None, bool] | None:
    """Return a study, for whom this browser speaks in it, and whether that one is a guest."""
    row = _VISIT.first(session, {"slug": slug, "token_hash": token_hash})
    return row and (_study_in(row), _participant_in(row), bool(row.is_guest))


def _study_in(row: Record) -> StudyRecord:
    return StudyRecord(
        id=row.study_id,
        slug=row.study_slug,
        status=row.study_status,
        plan=_plan(row.plan),
        recruitment_json=row.recruitment,
    )


@lru_cache(maxsize=100)
def _plan(written: str) -> Plan:
    """Read a plan as it is written, once: the same text is the same plan."""
    return Plan.from_json(json.loads(written), registered=False)


def _participant_in(row: Record) -> ParticipantRecord | None:
    if row.id is None:
        return None
    return ParticipantRecord(
        id=row.id,
        study_id=row.study_id,
        public_id=row.public_id,
        status=row.status,
        is_test=row.is_test,
        personal_json=row.personal,
        receipt=row.receipt,
        started_at=row.started_at,
        consented_at=row.consented_at,
        described_at=row.described_at,
        informed_at=row.informed_at,
        last_seen_at=row.last_seen_at,
    )


def erased_tokens(session: Session) -> Sequence[str]:
    """Return the tokens of those who were erased."""
    return session.scalars(select(Erasure.token)).all()


def events_about(session: Session, slug: str, public_id: str) -> Sequence[Event]:
    """Return the events of a study whose detail begins with a participant's id."""
    return session.scalars(
        select(Event).where(Event.slug == slug, Event.detail.startswith(public_id))
    ).all()


def has_personal(session: Session, study_id: int) -> bool:
    """Tell whether a study still holds what identifies people."""
    held = (
        exists().where(Participant.study_id == study_id, _says_something()),
        exists().where(Identity.study_id == study_id),
        exists().where(Guest.study_id == study_id),
    )
    return bool(session.scalar(select(or_(*held))))


def delete_personal(session: Session, study_id: int) -> None:
    """Delete what identifies people in a study: about themselves, platforms' ids, guests."""
    session.execute(
        update(Participant)
        .where(Participant.study_id == study_id, _says_something())
        .values(personal={})
    )
    session.execute(delete(Identity).where(Identity.study_id == study_id))
    session.execute(delete(Guest).where(Guest.study_id == study_id))


def _says_something() -> ColumnElement[bool]:
    return as_type(Participant.personal, Text) != "{}"
