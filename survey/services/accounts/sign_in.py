"""Signing in: server-side sessions with two ends, and a throttle kept in the database."""

import math
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from survey import tokens
from survey.clock import now
from survey.db import account_queries as queries
from survey.db.engine import begin_reading
from survey.db.models import Researcher, SignIn, SignInThrottle
from survey.errors import SurveyError
from survey.services.accounts import researchers

ENDS_IDLE_AFTER = timedelta(hours=1)
ENDS_AFTER = timedelta(hours=10)
CONFIRMED_FOR = timedelta(minutes=10)
NOTED_EVERY = timedelta(minutes=1)  # so that looking at pages hardly ever writes

FREE_FAILURES = 5
LONGEST_WAIT = timedelta(minutes=15)


class WrongPasswordError(SurveyError):
    """Name and password do not belong together."""


@dataclass(frozen=True)
class TooManyAttemptsError(SurveyError):
    """Too many failures in a row under one name."""

    seconds: int

    def __str__(self) -> str:
        return (
            f"Too many attempts under this name. Please wait {self.seconds} "
            f"second{'s' if self.seconds != 1 else ''} and try again."
        )


def sign_in(session: Session, name: str, password: str) -> str:
    """Check name and password; return the token of a new session.

    Raises WrongPasswordError, the same for an unknown name and a wrong password, and
    TooManyAttemptsError: after five failures in a row under a name each further one
    costs a wait, doubling up to 15 minutes.
    """
    researcher = _checked(session, name, password)
    if researchers.hasher.check_needs_rehash(researcher.password_hash or ""):
        researcher.password_hash = researchers.hasher.hash(password)
    return new_session(session, researcher)


def new_session(session: Session, researcher: Researcher) -> str:
    """Begin a session for someone whose password is known to be right; return its token."""
    token = secrets.token_urlsafe(32)
    moment = now()
    session.add(
        SignIn(
            researcher_id=researcher.id,
            token_hash=tokens.hash_token(token),
            created_at=moment,
            last_seen_at=moment,
            confirmed_at=moment,
        )
    )
    for old in queries.sign_ins_of(session, researcher.id):
        if not _is_alive(old, moment):
            session.delete(old)
    session.commit()
    return token


def find_sign_in(session: Session, token: str) -> SignIn | None:
    """Return the live session of this token."""
    found = queries.sign_in_by_hash(session, tokens.hash_token(token))
    return found if found is not None and _is_alive(found, now()) else None


def is_worth_noting(found: SignIn) -> bool:
    """Tell whether a session was last noted so long ago that it should be noted again."""
    return now() - found.last_seen_at > NOTED_EVERY


def note_seen(session: Session, token: str) -> None:
    """Put off the idle end of a session."""
    found = find_sign_in(session, token)
    if found is not None:
        found.last_seen_at = now()
    session.commit()


def confirm(session: Session, token: str, password: str) -> None:
    """Type the password once more, for what is not done lightly; throttled like signing in."""
    found = find_sign_in(session, token)
    if found is None:
        raise WrongPasswordError("You are signed out. Please sign in again.")
    _checked(session, found.researcher.name, password)
    found.confirmed_at = now()
    session.commit()


def is_confirmed(found: SignIn) -> bool:
    """Tell whether the password was typed within the last ten minutes."""
    return now() - found.confirmed_at <= CONFIRMED_FOR


def sign_out(session: Session, token: str) -> None:
    """End this session."""
    found = queries.sign_in_by_hash(session, tokens.hash_token(token))
    if found is not None:
        session.delete(found)
    session.commit()


def sign_out_everywhere(session: Session, researcher: Researcher) -> None:
    """End all sessions of a researcher."""
    for one in queries.sign_ins_of(session, researcher.id):
        session.delete(one)
    session.commit()


def live_sign_ins(session: Session, researcher: Researcher) -> list[SignIn]:
    """Return a researcher's live sessions, newest first."""
    moment = now()
    return [one for one in queries.sign_ins_of(session, researcher.id) if _is_alive(one, moment)]


def _is_alive(found: SignIn, moment: datetime) -> bool:
    return moment - found.created_at < ENDS_AFTER and moment - found.last_seen_at < ENDS_IDLE_AFTER


def _checked(session: Session, name: str, password: str) -> Researcher:
    """Return the researcher whose name and password these are, counting failures.

    The password is hashed between two transactions: it takes long, and nobody's answer
    shall wait for it.
    """
    name = " ".join(name.split())
    session.rollback()
    begin_reading(session)
    known = queries.researcher_by_name(session, name)
    throttle = queries.throttle_of(session, _key_of(name))
    _require_no_wait(throttle)
    stored = known.password_hash if known else None
    session.rollback()
    right = researchers.is_password(stored, password)
    queries.add_throttle(session, _key_of(name), now())
    throttle = queries.locked_throttle(session, _key_of(name))
    _require_no_wait(throttle)  # others may have tried meanwhile
    researcher = queries.researcher_by_name(session, name)
    if not right or researcher is None or researcher.password_hash != stored:
        throttle.failures += 1
        throttle.last_failed_at = now()
        session.commit()
        raise WrongPasswordError("Name and password do not belong together. Please check both.")
    session.delete(throttle)
    return researcher


def forget_failures(session: Session, name: str) -> None:
    """Start counting failures under a name anew; the caller commits."""
    throttle = queries.throttle_of(session, _key_of(name))
    if throttle is not None:
        session.delete(throttle)


def _key_of(name: str) -> str:
    return tokens.hash_token(name.casefold())


def _require_no_wait(throttle: SignInThrottle | None) -> None:
    wait = _seconds_to_wait(throttle) if throttle else 0
    if wait:
        raise TooManyAttemptsError(wait)


def _seconds_to_wait(throttle: SignInThrottle) -> int:
    over = throttle.failures - FREE_FAILURES
    if over < 0:
        return 0
    wait = min(timedelta(seconds=2 ** min(over, 20)), LONGEST_WAIT)
    left = throttle.last_failed_at + wait - now()
    return max(0, math.ceil(left.total_seconds()))
