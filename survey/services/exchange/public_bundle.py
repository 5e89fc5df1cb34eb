"""A study's bundle as everyone may have it: without what people said of themselves, or wrote.

It is a bundle like any other: its tables and its analysis are computed from what is left, so it
replicates, and has the digest of the study.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from sqlalchemy.orm import Session

from survey.core.studies.fields import ParticipantRecord
from survey.db.engine import snapshot
from survey.db.models import Study
from survey.services.analysis.sheets import Sheet
from survey.services.exchange.bundle import content_of, stream_content, with_citation
from survey.services.exchange.tables import BesideRecord, Content, MoveTime

NOT_PUBLISHED = "not published"  # in place of a researcher's reason, which a bundle must have
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)  # when everybody begins in a public bundle


def stream_public_bundle(session: Session, study: Study, address: str = "") -> Iterator[bytes]:
    """Yield the zip of a study's public bundle in chunks, as the database is now.

    ``address``: of its public page, "" where it is not known.
    """
    snapshot(session)
    content = public_content(session, study)
    return stream_content(with_citation(session, study, content, address))


def public_content(session: Session, study: Study) -> Content:
    """Return a study's content as everyone may have it, without test data.

    Personal answers, closing answers, reasons and names of groups are left out. How long people
    took stays, when they took part does not: everybody begins at ``BEGINNING``. Of the times when
    the study was opened and closed the month stays: one that is open for a lesson has a lesson's
    people. When it was looked at is left out.
    """
    content = content_of(session, study)
    move = _moved_times(content)

    def participants() -> Iterator[ParticipantRecord]:
        return (_public_record(each, move) for each in content.participants())

    typed = {each.name for each in content.plan.ask if each.kind == "text"}

    def beside() -> Iterator[BesideRecord]:
        for each in content.beside():
            chosen = {name: value for name, value in each.values.items() if name not in typed}
            yield each._replace(values=chosen)

    at = BEGINNING.isoformat()
    return replace(
        content,
        is_public=True,
        opened_at=_month(content.opened_at),
        closed_at=_month(content.closed_at),
        unblinded_at=None,
        looks=[{**look, "at": at, "reason": NOT_PUBLISHED} for look in content.looks],
        participants=participants,
        answers=content.answers.public(move),
        beside=beside,
    )


def tried_sheet(
    session: Session, study: Study, number: int, drawn: object, answer: object
) -> Sheet:
    """Return what measures or participants say of a question, beside an answer; see TaskContent."""
    content = public_content(session, study)
    sheet: Sheet = content.answers.tried_sheet(content, number, drawn, answer)
    return sheet


def _public_record(record: ParticipantRecord, move: MoveTime) -> ParticipantRecord:
    return replace(
        record,
        personal={},
        closing=None,
        exclude_reason=NOT_PUBLISHED if record.excluded else None,
        started_at=move(record.public_id, record.started_at) or BEGINNING,
        completed_at=move(record.public_id, record.completed_at),
    )


def _moved_times(content: Content) -> MoveTime:
    """Return what moves a participant's times, in whole seconds as files give them.

    Where questions depend on others' answers, the order in which people began decides whose
    answers count, so they begin a second after one another.
    """
    began = {each.public_id: _whole(each.started_at) for each in content.participants()}
    in_order = sorted(began, key=lambda name: (began[name], name))
    second = timedelta(seconds=content.plan.queue_arm is not None)
    shifts = {name: BEGINNING + place * second - began[name] for place, name in enumerate(in_order)}

    def move(participant: str, moment: datetime | None) -> datetime | None:
        return None if moment is None else _whole(moment) + shifts[participant]

    return move


def _month(moment: date | None) -> date | None:
    """Return the first day of a moment's month in UTC, as a date without a time."""
    if isinstance(moment, datetime):
        moment = moment.astimezone(UTC).date()
    return None if moment is None else moment.replace(day=1)


def _whole(moment: datetime) -> datetime:
    return moment.replace(microsecond=0)
