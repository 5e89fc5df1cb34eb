"""Stopping, and deleting everything a participant gave, also from databases restored later."""

import hashlib
import os
from datetime import date
from pathlib import Path

from sqlalchemy.orm import Session

from survey.db import personal_queries, queries
from survey.db.engine import scrub
from survey.db.models import Erasure, Participant
from survey.db.records import AnyParticipant, AnyStudy
from survey.services import access
from survey.services.clock import now

LEDGER = "erased.txt"
ERASED = "a participant who was erased"  # all that an event may say of one; a trigger knows it


def stop(session: Session, who: AnyParticipant) -> None:
    """End the survey for a participant who wants no more; what they saved stays.

    Whoever has handed in, or ended otherwise, has nothing to stop.
    """
    participant = queries.locked_participant(session, who.id)
    if participant.status == "started":
        participant.status = "stopped"
        participant.last_seen_at = now()
    session.commit()


def erase(session: Session, study: AnyStudy, who: AnyParticipant, instance: Path) -> None:
    """Delete a participant with all they gave, and see to it that no restore brings it back.

    ``instance``: the folder with the ledger of those who were erased. It holds hashes of
    random ids, nothing about anyone, and is read by ``erase_again``. It is written first:
    whoever asked for it shall be erased after a crash too.
    """
    queries.locked_study(session, study.id)
    participant = queries.locked_participant(session, who.id)
    token = token_of(study.slug, participant.public_id)
    _note(instance, [token])
    _delete(session, study, participant, token)
    access.log(session, study, "a participant", "erased")
    session.commit()
    scrub(session)


def erase_again(session: Session, instance: Path, known: frozenset[str] = frozenset()) -> int:
    """Delete whoever was erased before; return how many were. For a database just restored.

    ``known``: tokens beside those of the ledger and of the database, say of the database
    that was replaced.
    """
    tokens = known | erased_tokens(session) | _noted(instance)
    found = [
        (study, one, token)
        for study in queries.all_studies(session)
        for one in queries.participants_of(session, study.id)
        if (token := token_of(study.slug, one.public_id)) in tokens
    ]
    for study, one, token in found:
        _delete(session, study, one, token)
    for token in tokens - erased_tokens(session):
        session.add(Erasure(token=token, erased_on=_today()))
    session.commit()
    _note(instance, tokens - _noted(instance))
    scrub(session)
    return len(found)


def erased_tokens(session: Session) -> frozenset[str]:
    """Return the tokens of those whom this database knows to be erased."""
    return frozenset(personal_queries.erased_tokens(session))


def token_of(slug: str, public_id: str) -> str:
    """Return what is kept of an erased participant: a hash of an id that was random."""
    return hashlib.sha256(f"erased:{slug}:{public_id}".encode()).hexdigest()


def _delete(session: Session, study: AnyStudy, participant: Participant, token: str) -> None:
    for event in personal_queries.events_about(session, study.slug, participant.public_id):
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
