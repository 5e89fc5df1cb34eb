"""What a participant's page asks of the database, and what an answer writes.

These run for every page and every answer, so they are built once, name the columns that are
needed and make no objects of rows (an ORM select costs three times the processor time).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from sqlalchemy import (
    CursorResult,
    Row,
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
from sqlalchemy.orm import Session, defer

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

_participant, _presentation, _question, _response, _revision, _study = (
    cast(Table, model.__table__)
    for model in (Participant, Presentation, StoredQuestion, StoredResponse, Revision, Study)
)

# A row whose columns are named as in its select; typed rows end at ten columns.
Record = Row[*tuple[Any, ...]]

_ANSWERED = and_(
    _response.c.participant_id == _presentation.c.participant_id,
    _response.c.question_id == _presentation.c.question_id,
)

# JSON is fetched as it is written, so that what was read of it before can be found by it.
_VISIT = (
    select(
        Study,
        Participant,
        as_type(Study.plan_json, Text),
        exists().where(Guest.participant_id == Participant.id),
    )
    .outerjoin(
        Browser, and_(Browser.study_id == Study.id, Browser.token_hash == bindparam("token_hash"))
    )
    .outerjoin(Participant, Participant.id == Browser.participant_id)
    .where(Study.slug == bindparam("slug"))
    .options(defer(Study.plan_json))
)


def visit(
    session: Session, slug: str, token_hash: str
) -> tuple[Study, Participant | None, str, bool] | None:
    """Return a study, for whom this browser speaks in it, its plan as written, is it a guest."""
    return session.execute(_VISIT, {"slug": slug, "token_hash": token_hash}).one_or_none()


_POSITIONS = (
    select(_presentation.c.position, _response.c.id)
    .select_from(_presentation.outerjoin(_response, _ANSWERED))
    .where(_presentation.c.participant_id == bindparam("who"))
    .order_by(_presentation.c.position)
)


def answered_positions(session: Session, participant_id: int) -> dict[int, bool]:
    """Return the positions a participant has been given, and whether each is answered."""
    rows = session.execute(_POSITIONS, {"who": participant_id})
    return {position: response is not None for position, response in rows}


_AT_POSITION = and_(
    _presentation.c.participant_id == bindparam("who"), _presentation.c.position == bindparam("at")
)
_SHOWN = (
    select(
        *(_presentation.c[name] for name in ("id", "label_order", "column_order", "list_order")),
        *(_presentation.c[name] for name in ("shown", "shown_at", "ranked_first", "ranked_at")),
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
    return session.execute(_SHOWN, {"who": participant_id, "at": position}).one_or_none()


# On SQLite everybody else has waited since BEGIN.
_HELD = (
    select(_study.c.status)
    .join_from(_participant, _study)
    .where(_participant.c.id == bindparam("who"))
    .with_for_update(read=True, of=_study)
    .suffix_with(text("FOR UPDATE OF participant"), dialect="postgresql")
)


def hold(session: Session, participant_id: int) -> str | None:
    """Keep others from changing a participant, and from opening or closing their study.

    Until this transaction ends; returns the study's status, None without such a participant.
    """
    return session.execute(_HELD, {"who": participant_id}).scalar_one_or_none()


_SEEN = update(_participant).where(_participant.c.id == bindparam("who"))


def note_seen(session: Session, participant_id: int, moment: datetime) -> None:
    """Note when a participant did something."""
    session.execute(_SEEN, {"who": participant_id, "last_seen_at": moment})


_RECENT = (
    select(func.count())
    .select_from(_revision.join(_response, _response.c.id == _revision.c.response_id))
    .where(
        _response.c.participant_id == bindparam("who"),
        _revision.c.submitted_at > bindparam("since", type_=_revision.c.submitted_at.type),
    )
    .scalar_subquery()
)
_STATE = (
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
    return session.execute(_STATE, asked).one_or_none()


_GIVEN = select(_revision.c.clicked, _revision.c.own).where(
    _revision.c.response_id == bindparam("response_id"),
    _revision.c.number == bindparam("number"),
)


def revision_of(session: Session, response_id: int, number: int) -> Record:
    """Return an answer as it was given once."""
    return session.execute(_GIVEN, {"response_id": response_id, "number": number}).one()


_NEW_RESPONSE, _NEW_REVISION = insert(_response), insert(_revision)
_CHANGED = update(_response).where(_response.c.id == bindparam("changed"))


def store_answer(
    session: Session, response_id: int | None, response: Mapping[str, Any], seconds: float | None
) -> None:
    """Write the answer that counts, new or changed, and the revision that it is."""
    if response_id is None:
        made = cast(CursorResult[Any], session.execute(_NEW_RESPONSE, response))
        response_id = made.inserted_primary_key[0]  # type: ignore[index] # a row was inserted
    else:
        session.execute(_CHANGED, {"changed": response_id, **response})
    session.execute(
        _NEW_REVISION,
        {
            **{name: response[name] for name in ("clicked", "own", "submitted_at")},
            "response_id": response_id,
            "number": response["revisions"] + 1,
            "active_seconds": seconds,
        },
    )


_HANDED_OUT = update(_presentation).where(_AT_POSITION, _presentation.c.shown_at.is_(None))


def note_shown(session: Session, participant_id: int, position: int, moment: datetime) -> None:
    """Note when a question is handed out for the first time."""
    session.execute(_HANDED_OUT, {"who": participant_id, "at": position, "shown_at": moment})
