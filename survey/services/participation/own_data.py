"""What is stored about one participant, for that participant: seen, taken along, stopped, erased.

Which measure was behind which label stays hidden while the study runs, and with it the study's
digest, which depends on the measures. What their pages have not shown yet is left out too. At the
end: deleting what identifies people on the day that a study has announced.
"""

import hashlib
import os
from datetime import date
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from survey.clock import now
from survey.core.studies.plan import Plan
from survey.core.tasks import task_of
from survey.db import participant_queries, study_queries
from survey.db.engine import begin_reading, empty_log
from survey.db.models import Erasure, Participant, Study
from survey.db.records import AnyParticipant, AnyStudy
from survey.db.tasks import tables_of
from survey.services.accounts import access
from survey.services.participation.answers import all_presentations, answer_in


def own_data(session: Session, study: AnyStudy, who: AnyParticipant) -> dict[str, Any]:
    """Return all that is stored about a participant as plain values, ready for JSON."""
    participant = session.get_one(Participant, who.id)
    consent = study_queries.consent_of(session, participant.consent_id)
    sent = study_queries.identity_of(session, participant.id)
    guest = study_queries.guest_of_participant(session, participant.id)
    return {
        "survey": {"title": study.plan.title, "address": study.slug},
        "id": participant.public_id,
        "status": participant.status,
        "began": _moment(participant.started_at),
        "consent": consent
        and {
            "version": consent.version,
            "sha256": consent.digest,
            "agreed": _moment(participant.consented_at),
            "text": consent.text,
        },
        "described": _moment(participant.described_at),
        "about_you": dict(participant.personal),
        "sent_by_a_platform": dict(sent.parameters) if sent else {},
        "name_on_the_guest_list": guest.name if guest else None,
        "read_the_scenario": _moment(participant.informed_at),
        "handed_in": _moment(participant.completed_at),
        "receipt": participant.receipt,
        "last_seen": _moment(participant.last_seen_at),
        "not_counted_because": participant.exclude_reason,
        "questions": _questions(session, study.plan, participant),
    }


def _questions(session: Session, plan: Plan, participant: Participant) -> list[dict[str, Any]]:
    """Return what was shown until now, with every answer; what is still ahead stays hidden."""
    task = task_of(plan)
    history: dict[int, list[dict[str, Any]]] = {}
    for row in participant_queries.history_of(session, tables_of(plan), participant.id):
        history.setdefault(row.response_id, []).append(
            {
                **task.describe_answer(answer_in(task, row)),
                "saved": _moment(row.submitted_at),
                "seconds_in_view": row.active_seconds,
            }
        )
    return [
        {
            "question": shown.position or "practice",
            **task.describe(plan, shown.view, shown.drawn),
            "first_shown": _moment(shown.shown_at),
            "answers": history.get(shown.response_id or 0, []),
        }
        for shown in all_presentations(session, plan, participant)
        if shown.shown_at is not None
    ]


def _moment(moment: Any) -> str | None:
    return None if moment is None else moment.isoformat()


LEDGER = "erased.txt"
ERASED = "a participant who was erased"  # all that an event may say of one; a trigger knows it


def stop(session: Session, who: AnyParticipant) -> None:
    """End the survey for a participant who wants no more; saved answers stay.

    It changes nothing for participants who are complete or ended otherwise.
    """
    participant = study_queries.locked_participant(session, who.id)
    if participant.status == "started":
        participant.status = "stopped"
        participant.last_seen_at = now()
    session.commit()


def erase(session: Session, study: AnyStudy, who: AnyParticipant, instance: Path) -> None:
    """Delete a participant's data, and note it so that a restored backup is erased again.

    ``instance``: the folder of the ledger of erased participants, which holds hashes of random
    ids and is read by ``erase_again``. It is written first, so that a crash before the commit
    does not lose the request.
    """
    study_queries.locked_study(session, study.id)
    participant = study_queries.locked_participant(session, who.id)
    token = token_of(study.slug, participant.public_id)
    _note(instance, [token])
    _delete(session, study, participant, token)
    access.log(session, study, "a participant", "erased")
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
        for study in study_queries.all_studies(session)
        for participant in study_queries.participants_of(session, study.id)
        if (token := token_of(study.slug, participant.public_id)) in tokens
    ]
    for study, participant, token in erased:
        _delete(session, study, participant, token)
    for token in tokens - erased_tokens(session):
        session.add(Erasure(token=token, erased_on=_today()))
    session.commit()
    _note(instance, tokens - _noted(instance))
    empty_log(session)
    return len(erased)


def erased_tokens(session: Session) -> frozenset[str]:
    """Return the tokens of erased participants in the database."""
    return frozenset(participant_queries.erased_tokens(session))


def token_of(slug: str, public_id: str) -> str:
    """Return a participant's token in the ledger: the hash of a random id."""
    return hashlib.sha256(f"erased:{slug}:{public_id}".encode()).hexdigest()


def _delete(session: Session, study: AnyStudy, participant: Participant, token: str) -> None:
    for event in participant_queries.events_about(session, study.slug, participant.public_id):
        event.detail = ERASED
    session.delete(participant)  # the database deletes what hangs on it
    if token not in erased_tokens(session):
        session.add(Erasure(token=token, erased_on=_today()))
    session.flush()


def _today() -> date:
    return now().date()


def _noted(instance: Path) -> frozenset[str]:
    ledger = instance / LEDGER
    return frozenset(ledger.read_text().split()) if ledger.exists() else frozenset()


def _note(instance: Path, tokens: frozenset[str] | list[str]) -> None:
    """Add tokens to the ledger; they are on the disk when this returns."""
    if not tokens:
        return
    number = os.open(instance / LEDGER, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(number, "a") as file:
        file.write("".join(f"{token}\n" for token in sorted(tokens)))
        file.flush()
        os.fsync(file.fileno())


KEEPER = "the survey itself"


def drop_due(session: Session) -> list[str]:
    """Delete what identifies people in every study whose day has passed; return their slugs.

    Deleted are personal answers, platforms' ids and parameters, and the guest list. Answers to
    questions stay. Repeating it does no harm.
    """
    session.rollback()
    begin_reading(session)
    due = [study.slug for study in study_queries.all_studies(session) if _is_due(session, study)]
    session.rollback()
    for slug in due:
        study = study_queries.study_by_slug(session, slug)
        if study is not None:
            participant_queries.delete_personal(session, study.id)
            access.log(
                session, study, KEEPER, "personal data deleted", study.plan.personal_until or ""
            )
            session.commit()
    if due:
        empty_log(session)
    return due


def _is_due(session: Session, study: Study) -> bool:
    until = study.plan_json.get("personal_until")
    passed = until is not None and now().date() > date.fromisoformat(until)
    return passed and participant_queries.has_personal(session, study.id)
