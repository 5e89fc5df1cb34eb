"""What is stored about one participant, for that participant: seen, taken along, stopped, erased.

Which measure was behind which label stays hidden while the study runs, and with it the study's
digest, which depends on the measures. What their pages have not shown yet is left out too. At the
end: deleting what identifies people on the day that a study has announced.
"""

import errno
import hashlib
import logging
import os
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import NamedTuple

from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as DatabaseTimeout
from sqlalchemy.orm import Session

from survey.core.kinds import KINDS, kind_of
from survey.core.studies.plan import Plan
from survey.db import participant_queries, queries
from survey.db.engine import begin_reading, lock_globally, note_deletion, snapshot

# For pages and the server too, which may import services but not survey.db.
from survey.db.engine import deletions_in_log as deletions_in_log
from survey.db.engine import empty_log as empty_log
from survey.db.models import (
    ConsentText,
    Erasure,
    Guest,
    Identity,
    Participant,
    Presentation,
    Revision,
    Study,
    now,
)
from survey.db.models.base import Base
from survey.db.participant_queries import AnyParticipant, AnyStudy
from survey.db.queries import erased_tokens as erased_tokens
from survey.errors import NotAllowedError
from survey.services import accounts
from survey.services.participation.answers import all_presentations, answer_in

LEDGER = "erased.txt"
ERASED = "a participant who was erased"  # all that an event may say of one; a trigger knows it
KEEPER = "the survey itself"
DUE = "personal data due"  # the type of event that announces a deletion

# How long before the end of a study's last day something must have happened for the clock to be
# believed; else how long the deletion is announced first. People set a wrong clock right by then.
DAYS_OF_GRACE = timedelta(days=3)

# Of a guest's mails.
MAILS_STORED = ("email", "invited_at", "reminded_at", "mail_due", "mail_fault")
# Columns that have another name in the file. A column that is not in HIDDEN_COLUMNS is in the file.
COLUMN_KEYS = {
    "participant": {
        "public_id": "id",
        "status": "status",
        "started_at": "began",
        "described_at": "described",
        "personal": "about_you",
        "closing": "closing_questions",
        "understood": "check_question_right",
        "arm": "arm",
        "informed_at": "read_the_scenario",
        "completed_at": "handed_in",
        "receipt": "receipt",
        "last_seen_at": "last_seen",
        "exclude_reason": "not_counted_because",
        "machine_line": "field_for_programs_filled_in",
    },
    "presentation": {
        "position": "question",
        "shown_at": "first_shown",
        "refusals": "form_sent_back",
        "last_refusal": "form_sent_back_because",
        "asked_back": "asked_back",
    },
    "revision": {
        "submitted_at": "saved",
        "active_seconds": "seconds_in_view",
        "asked": "asked_back",
    },
}
# Columns that are not in the file by themselves, each with its reason. Keys of rows need none: they
# mean nothing outside the database.
HIDDEN_COLUMNS = {
    "participant": {
        "resume_hash": "a checksum of the code that the page itself shows",
        "consented_at": "“consent” has it, with the text that was agreed to",
        "is_test": "true of simulations and trials of the researchers only",
        "excluded": "“not_counted_because” says so, with the reason",
    },
    "presentation": {},
    "response": {
        "submitted_at": "the last of “answers” has it",
        "active_seconds": "the last of “answers” has it",
        "reason": "the last of “answers” has it",
        "asked": "the last of “answers” has it",
        "beside": "the last of “answers” has it",
        "revisions": "“answers” has every version",
    },
    "revision": {"number": "“answers” is in this order"},
}


def own_data(session: Session, study: AnyStudy, who: AnyParticipant) -> dict[str, object]:
    """Return all that is stored about a participant as plain values, ready for JSON.

    All is read from one state of the database: while a backup is restored, another participant
    may get the row id. Raises NoResultFound for a participant who is gone.
    """
    participant = queries.current_participant(snapshot(session), who)
    consent = session.get(ConsentText, participant.consent_id) if participant.consent_id else None
    sent = session.get(Identity, participant.id)
    guest = queries.find(session, Guest, participant_id=participant.id)
    return {
        "survey": {"title": study.plan.title, "address": study.slug},
        **_stored_values(Participant, participant),
        "consent": consent
        and {
            "version": consent.version,
            "sha256": consent.digest,
            "agreed": _json_value(participant.consented_at),
            "text": consent.text,
        },
        "sent_by_a_platform": dict(sent.parameters) if sent else {},
        "sent_again": _json_value(sent.arrived_at) if sent else None,
        "sent_before": [*sent.earlier] if sent else [],
        "name_on_the_guest_list": guest.name if guest else None,
        "mails": guest and {name: _json_value(getattr(guest, name)) for name in MAILS_STORED},
        "questions": _questions(session, study.plan.in_arm(participant.arm), participant),
    }


def shown_columns(model: type[Base]) -> dict[str, str]:
    """Return the columns of a table that its participant sees, each with its key in the file."""
    table = model.__tablename__
    names = [
        column.name
        for column in model.__table__.columns
        if not (column.primary_key or column.foreign_keys or column.name in HIDDEN_COLUMNS[table])
    ]
    keys = COLUMN_KEYS.get(table, {})
    return {**keys, **{name: name for name in names if name not in keys}}


def _stored_values(model: type[Base], row: object) -> dict[str, object]:
    return {key: _json_value(getattr(row, name)) for name, key in shown_columns(model).items()}


def _questions(session: Session, plan: Plan, participant: Participant) -> list[dict[str, object]]:
    """Return what was shown until now, with every answer; what is still ahead stays hidden."""
    kind = kind_of(plan)
    history: dict[int, list[dict[str, object]]] = {}
    for row in participant_queries.history_of(session, KINDS[plan.kind].tables, participant.id):
        history.setdefault(row.response_id, []).append(
            {
                **kind.describe_answer(answer_in(kind, row)),
                **_stored_values(Revision, row),
            }
        )
    return [
        {
            **_stored_values(Presentation, shown),
            "question": shown.position or "practice",
            **kind.describe(plan.for_question(shown.number), shown.view, shown.drawn),
            "answers": history.get(shown.response_id or 0, []),
        }
        for shown in all_presentations(session, plan, participant)
        if shown.shown_at is not None or shown.stored is not None
    ]


def _json_value(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def stop(session: Session, who: AnyParticipant) -> None:
    """End the survey for a participant who wants no more; saved answers stay.

    It changes nothing for participants who are complete or ended otherwise.
    """
    participant = queries.locked_participant(session, who)
    if participant.status == "started":
        participant.status = "stopped"
        participant.last_seen_at = now()
    session.commit()


def erase(
    session: Session,
    study: AnyStudy,
    participant: AnyParticipant,
    instance: Path,
    who: str = "a participant",
) -> None:
    """Delete a participant's data, and note it so that a restored backup is erased again.

    ``who``: who did it, in the study's log, which does not say whose data they were.
    ``instance``: the folder of the ledger of erased participants, which holds hashes of random
    ids and is read by ``erase_again``. It is written first, so that a crash before the commit
    does not lose the request. Raises OSError, before anything is deleted, where it cannot be
    written. ``empty_log`` may have to be called again, see ``deletions_in_log``.
    """
    queries.locked_study(session, study)
    locked = queries.locked_participant(session, participant)
    token = token_of(study.slug, locked.public_id)
    lock_globally(session)  # one process writes to the ledger at a time
    _note(instance, [token])
    _delete(session, study, locked, token)
    accounts.log(session, study, who, "erased")
    session.commit()
    empty_log(session)


def erase_again(session: Session, instance: Path, known: frozenset[str] = frozenset()) -> int:
    """Erase again, in a restored database, all participants who were erased; count them.

    ``known``: tokens beside those of the ledger and of the database, say of the database
    that was replaced.
    """
    tokens = known | erased_tokens(session) | _noted(instance)
    erased = [
        (study, participant, token)
        for study in queries.all_studies(session)
        for participant in queries.participants_of(session, study.id)
        if (token := token_of(study.slug, participant.public_id)) in tokens
    ]
    for study, participant, token in erased:
        _delete(session, study, participant, token)
    for token in tokens - erased_tokens(session):
        session.add(Erasure(token=token, erased_on=now().date()))
    session.commit()
    _note(instance, tokens - _noted(instance))
    empty_log(session)
    return len(erased)


def token_of(slug: str, public_id: str) -> str:
    """Return a participant's token in the ledger: the hash of a random id."""
    return hashlib.sha256(f"erased:{slug}:{public_id}".encode()).hexdigest()


def _delete(session: Session, study: AnyStudy, participant: Participant, token: str) -> None:
    for event in queries.events_about(session, study.slug, participant.public_id):
        event.detail = ERASED
    if (guest := queries.find(session, Guest, participant_id=participant.id)) is not None:
        guest.email = guest.mail_due = guest.mail_fault = None  # no reminder reaches them now
    session.delete(participant)  # the database deletes what hangs on it
    note_deletion(session)
    if token not in erased_tokens(session):
        session.add(Erasure(token=token, erased_on=now().date()))
    session.flush()


def _noted(instance: Path) -> frozenset[str]:
    """Return the tokens of the ledger.

    A token has 64 digits and a line of its own, so half a token, from a write that was interrupted,
    is recognised.
    """
    ledger = instance / LEDGER
    content = ledger.read_text("ascii", "replace") if ledger.exists() else ""
    return frozenset(re.findall("^[0-9a-f]{64}$", content, re.MULTILINE))


def _note(instance: Path, tokens: frozenset[str] | list[str]) -> None:
    """Add tokens to the ledger; they are on the disk when this returns.

    Raises OSError for a write that failed, and cuts the file back to what it was.
    """
    if not tokens:
        return
    ledger = instance / LEDGER
    number = os.open(ledger, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    # Unbuffered: a buffer would be written once more when the file is closed.
    with os.fdopen(number, "a+b", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        lines = [f"{token}\n" for token in sorted(tokens)]
        file.seek(max(0, size - 1))
        if file.read(1) not in (b"\n", b""):
            lines.insert(0, "\n")  # after half a token
        content = "".join(lines).encode()
        try:
            if file.write(content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(ledger))
            os.fsync(file.fileno())
        except OSError:
            file.truncate(size)
            raise


class Due(NamedTuple):
    """The slugs of studies whose data were due: those done, and those where it failed."""

    deleted: Sequence[str]
    failed: Sequence[str]


def drop_due(session: Session) -> Due:
    """Delete what identifies people in every study whose day has passed.

    Deleted are personal answers, platforms' ids and parameters, and the guest list. Answers to
    questions stay, with their reasons, and so do those to the closing questions. Where the clock
    may be ahead, the deletion is only announced in the study's log, see ``_clock_is_credible``.
    Repeating it does no harm. A study's fault is logged and stops no other study.
    """
    session.rollback()
    begin_reading(session)
    slugs = [study.slug for study in queries.all_studies(session)]
    session.rollback()
    deleted, failed = [], []
    for slug in slugs:
        try:
            if _delete_personal(session, slug):
                deleted.append(slug)
        except (OperationalError, InterfaceError, DatabaseTimeout):
            raise  # the database is busy or lost, for all studies alike
        except Exception:
            session.rollback()
            logging.getLogger(__name__).exception("Personal data of %s cannot be deleted", slug)
            failed.append(slug)
    return Due(deleted, failed)


def require_none_due(session: Session, study: Study) -> None:
    """Raise NotAllowedError if a study still has personal data that were to be deleted by now."""
    if _is_due(session, study):
        raise NotAllowedError(
            f"The personal data of {study.slug!r} were to be deleted after "
            f"{study.plan.personal_until}. The server deletes them within the hour, or, if nothing "
            f"had happened in the days before, {DAYS_OF_GRACE.days} days after it noticed; the "
            "study's log says so. Export afterwards, or set the clock right if it is ahead."
        )


def _delete_personal(session: Session, slug: str) -> bool:
    """Delete a study's personal data, or announce it; return whether they are deleted."""
    begin_reading(session)
    study = queries.find(session, Study, slug=slug)
    is_due = study is not None and _is_due(session, study)
    session.rollback()
    if not is_due:
        return False
    study = queries.find(session, Study, slug=slug)
    if study is None or not _is_due(session, queries.locked_study(session, study)):
        session.rollback()  # another process was earlier
        return False
    last_day = study.plan_json.get("personal_until") or ""  # of an unknown kind too
    announced = [event.at for event in accounts.events_of(session, study) if event.kind == DUE]
    is_credible = _clock_is_credible(session, study, announced)
    if is_credible:
        queries.delete_personal(session, study.id)
        note_deletion(session)
        accounts.log(session, study, KEEPER, "personal data deleted", last_day)
    elif not any(at <= now() for at in announced):
        accounts.log(session, study, KEEPER, DUE, last_day)
        logging.getLogger(__name__).warning(
            "Personal data of %s will be deleted in %s days: by this machine's clock their last "
            "day, %s, has passed, but nothing happened here in the days before it. If the clock "
            "is ahead, set it right.",
            *(slug, DAYS_OF_GRACE.days, last_day),
        )
    session.commit()
    empty_log(session)
    return is_credible


def _clock_is_credible(session: Session, study: Study, announced: Sequence[datetime]) -> bool:
    """Return whether the last day has passed by more than a clock that was set wrong.

    Something happened shortly before its end, or the deletion was announced days ago.
    """
    end = _end_of_last_day(study)
    last = queries.last_activity(session, end)
    happened = last is not None and end - last <= DAYS_OF_GRACE
    return happened or any(at <= now() - DAYS_OF_GRACE for at in announced)


def _is_due(session: Session, study: Study) -> bool:
    until = study.plan_json.get("personal_until")
    passed = until is not None and now() > _end_of_last_day(study)
    return passed and queries.has_personal(session, study.id)


def _end_of_last_day(study: Study) -> datetime:
    day = date.fromisoformat(study.plan_json["personal_until"])
    return datetime.combine(day, time.max, UTC)  # the next day may be beyond the calendar
