"""Signing in: server-side sessions with two ends, and a throttle kept in the database."""

import math
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from survey.db import account_queries as queries
from survey.db.models import Researcher, SignIn, SignInThrottle
from survey.services import researchers, tokens
from survey.services.clock import now
from survey.services.errors import SurveyError

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
    """Return the researcher whose name and password these are, counting failures."""
    name = " ".join(name.split())
    throttle = _throttle(session, name)
    wait = _seconds_to_wait(throttle)
    if wait:
        raise TooManyAttemptsError(wait)
    researcher = queries.researcher_by_name(session, name)
    if not researchers.is_password(researcher, password) or researcher is None:
        throttle.failures += 1
        throttle.last_failed_at = now()
        session.commit()
        raise WrongPasswordError("Name and password do not belong together. Please check both.")
    throttle.failures = 0
    return researcher


def _throttle(session: Session, name: str) -> SignInThrottle:
    """Return the row that counts failures under a name, locked until this transaction ends."""
    name_hash = tokens.hash_token(name.casefold())
    queries.add_throttle(session, name_hash, now())
    return queries.locked_throttle(session, name_hash)


def _seconds_to_wait(throttle: SignInThrottle) -> int:
    over = throttle.failures - FREE_FAILURES
    if over < 0:
        return 0
    wait = min(timedelta(seconds=2 ** min(over, 20)), LONGEST_WAIT)
    left = throttle.last_failed_at + wait - now()
    return max(0, math.ceil(left.total_seconds()))
