"""Whose page of which study a browser asks for: what every page of participants asks first."""

import json
from functools import lru_cache
from typing import cast

from sqlalchemy import Table, Text, and_, bindparam, exists, select
from sqlalchemy import cast as as_type
from sqlalchemy.orm import Session

from survey.core.stimuli.plan import Plan
from survey.db.models import Browser, Guest, Participant, Study
from survey.db.prepared import Prepared, Record
from survey.db.records import ParticipantRecord, StudyRecord

_browser, _participant, _study = (
    cast(Table, model.__table__) for model in (Browser, Participant, Study)
)

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
    row = _VISIT.one_or_none(session, {"slug": slug, "token_hash": token_hash})
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
