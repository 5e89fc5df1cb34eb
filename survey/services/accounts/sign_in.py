"""Sign-ins of researchers: their sessions, when these end, and the wait after wrong passwords."""

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

IDLE_LIMIT = timedelta(hours=1)
AGE_LIMIT = timedelta(hours=10)
CONFIRMATION_LIFETIME = timedelta(minutes=10)
REFRESH_INTERVAL = timedelta(minutes=1)  # else each page would wait for the write lock

FREE_FAILURES = 5
LONGEST_WAIT = timedelta(minutes=15)


class WrongPasswordError(SurveyError):
    """The name is unknown or the password is wrong; the text does not say which."""


@dataclass(frozen=True)
class TooManyAttemptsError(SurveyError):
    """Too many failures in a row under a name; ``seconds`` is the wait."""

    seconds: int

    def __str__(self) -> str:
        return (
            f"Too many attempts under this name. Please wait {self.seconds} "
            f"second{'s' if self.seconds != 1 else ''} and try again."
        )


def sign_in(session: Session, name: str, password: str) -> str:
    """Check name and password; return the token of a new session.

    Raises WrongPasswordError, for an unknown name too, and TooManyAttemptsError: after five
    failures in a row under a name each failure doubles the wait, up to 15 minutes.
    """
    researcher = _check_password(session, name, password)
    if researchers.hasher.check_needs_rehash(researcher.password_hash or ""):
        researcher.password_hash = researchers.hasher.hash(password)
    return new_session(session, researcher)


def new_session(session: Session, researcher: Researcher) -> str:
    """Start a session without a password check; return its token."""
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
    for previous in queries.sign_ins_of(session, researcher.id):
        if not _is_alive(previous, moment):
            session.delete(previous)
    session.commit()
    return token


def find_sign_in(session: Session, token: str) -> SignIn | None:
    """Return the session of this token, None if it is unknown or has ended."""
    stored = queries.sign_in_by_hash(session, tokens.hash_token(token))
    return stored if stored is not None and _is_alive(stored, now()) else None


def needs_refresh(current: SignIn) -> bool:
    """Return whether ``refresh`` was last called more than a minute ago."""
    return now() - current.last_seen_at > REFRESH_INTERVAL


def refresh(session: Session, token: str) -> None:
    """Let the idle hour of a session start again."""
    current = find_sign_in(session, token)
    if current is not None:
        current.last_seen_at = now()
    session.commit()


def confirm(session: Session, token: str, password: str) -> None:
    """Check the password of a session again, before a risky action.

    Raises as ``sign_in`` does.
    """
    current = find_sign_in(session, token)
    if current is None:
        raise WrongPasswordError("You are signed out. Please sign in again.")
    _check_password(session, current.researcher.name, password)
    current.confirmed_at = now()
    session.commit()


def is_confirmed(current: SignIn) -> bool:
    """Return whether the password was typed within the last ten minutes."""
    return now() - current.confirmed_at <= CONFIRMATION_LIFETIME


def sign_out(session: Session, token: str) -> None:
    """End the session of this token; an unknown token changes nothing."""
    stored = queries.sign_in_by_hash(session, tokens.hash_token(token))
    if stored is not None:
        session.delete(stored)
    session.commit()


def sign_out_everywhere(session: Session, researcher: Researcher) -> None:
    """End the sessions of a researcher in all browsers."""
    for stored in queries.sign_ins_of(session, researcher.id):
        session.delete(stored)
    session.commit()


def live_sign_ins(session: Session, researcher: Researcher) -> list[SignIn]:
    """Return a researcher's sessions that have not ended, last seen first."""
    moment = now()
    stored = queries.sign_ins_of(session, researcher.id)
    return [sign_in for sign_in in stored if _is_alive(sign_in, moment)]


def reset_failures(session: Session, name: str) -> None:
    """Forget the failures counted under a name; the caller commits."""
    throttle = queries.throttle_of(session, _throttle_key(name))
    if throttle is not None:
        session.delete(throttle)


def _is_alive(stored: SignIn, moment: datetime) -> bool:
    return moment - stored.created_at < AGE_LIMIT and moment - stored.last_seen_at < IDLE_LIMIT


def _check_password(session: Session, name: str, password: str) -> Researcher:
    """Return the researcher of that name and password; count the attempt if it fails.

    The password is hashed between two transactions: hashing is slow, and would block
    participants' answers.
    """
    name = " ".join(name.split())
    session.rollback()
    begin_reading(session)
    researcher = queries.researcher_by_name(session, name)
    throttle = queries.throttle_of(session, _throttle_key(name))
    _require_no_wait(throttle)
    stored = researcher.password_hash if researcher else None
    session.rollback()
    correct = researchers.is_password(stored, password)
    queries.add_throttle(session, _throttle_key(name), now())
    throttle = queries.locked_throttle(session, _throttle_key(name))
    _require_no_wait(throttle)  # other attempts may have failed meanwhile
    researcher = queries.researcher_by_name(session, name)
    if not correct or researcher is None or researcher.password_hash != stored:
        throttle.failures += 1
        throttle.last_failed_at = now()
        session.commit()
        raise WrongPasswordError("Name and password do not belong together. Please check both.")
    session.delete(throttle)
    return researcher


def _throttle_key(name: str) -> str:
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
