"""Tokens with which programs read a study's JSON: each is of one study, and ends."""

import math
import secrets
from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy.orm import Session

from survey import tokens
from survey.core.text_input import did_you_mean
from survey.db import queries
from survey.db.models import ReadToken, Study, now
from survey.errors import NotFoundError, SurveyError
from survey.services import accounts

PREFIX = "survey-"  # by which people and scanners of secrets know such a token
MINUTE, MOST_IN_A_MINUTE = timedelta(minutes=1), 60


def add(session: Session, study: Study, name: str, days: int, who: str) -> str:
    """Add a token that works for these days; return it, as only its hash is stored."""
    name = " ".join(name.split())[:64]
    if not name:
        raise SurveyError("A token needs a name, which says what it is for.")
    if queries.find(session, ReadToken, study_id=study.id, name=name):
        raise SurveyError(
            f"The study {study.slug!r} has a token {name!r} already: choose another name, or "
            "remove it first."
        )
    token = PREFIX + secrets.token_urlsafe(32)
    session.add(
        ReadToken(
            study_id=study.id,
            name=name,
            token_hash=tokens.hash_token(token),
            made_by=who,
            expires_at=now() + timedelta(days=days),
        )
    )
    accounts.log(session, study, who, "token added", name)
    session.commit()
    return token


def remove(session: Session, study: Study, name: str, who: str) -> None:
    """Remove a token, which works no longer; raises NotFoundError."""
    row = queries.find(session, ReadToken, study_id=study.id, name=name)
    if row is None:
        names = [repr(token.name) for token in all_of(session, study)]
        known = did_you_mean(repr(name), names) if names else "It has none."
        raise NotFoundError(f"The study {study.slug!r} has no token {name!r}. {known}")
    session.delete(row)
    accounts.log(session, study, who, "token removed", name)
    session.commit()


def all_of(session: Session, study: Study) -> Sequence[ReadToken]:
    """Return a study's tokens by name, also those that have ended."""
    return queries.read_tokens(session, study.id)


def find(session: Session, token: str) -> ReadToken | None:
    """Return the row of a token that works now, else None."""
    row = queries.find(session, ReadToken, token_hash=tokens.hash_token(token))
    return row if row and row.expires_at > now() else None


def seconds_to_wait(session: Session, token_id: int) -> int:
    """Count a request of a token; return 0, or the seconds to wait where it made too many.

    Commits, so that requests at the same time are counted one after another.
    """
    row, moment = queries.locked(session, ReadToken, id=token_id), now()
    begun = row.minute_began_at
    if begun is None or not begun <= moment < begun + MINUTE:
        row.minute_began_at, row.requests = moment, 0
    row.requests += 1
    wait = 0
    if row.requests > MOST_IN_A_MINUTE and row.minute_began_at:
        wait = math.ceil((row.minute_began_at + MINUTE - moment).total_seconds())
        session.rollback()  # what was refused does not count
    session.commit()
    return wait
