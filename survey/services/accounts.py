"""Researchers: accounts, passwords and sign-ins, their roles in studies, and the studies' logs."""

import math
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Literal

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from sqlalchemy import delete
from sqlalchemy.orm import Session

from survey import tokens
from survey.core.text_input import SLUG, did_you_mean
from survey.db import queries
from survey.db.engine import begin_reading, lock_globally
from survey.db.models import (
    Event,
    Membership,
    Researcher,
    SignIn,
    SignInLink,
    SignInThrottle,
    Study,
    now,
)
from survey.db.participant_queries import AnyStudy

# For pages and commands too, which may import services but not survey.db.
from survey.db.queries import all_researchers as all_researchers
from survey.db.queries import events_of as events_of
from survey.db.queries import members_of as members_of
from survey.db.queries import studies_of as studies_of
from survey.errors import NotAllowedError, NotFoundError, SurveyError
from survey.services import second_factor

Role = Literal["owner", "viewer"]
COMMAND_LINE, THE_SURVEY = "command line", "the survey"  # who did something, in a log

RESEARCHER_NAME = re.compile(r"[^\W_](?:[\w .@'-]*[\w.])?\Z")
FIRST_NAME = "researcher"  # the account that `make run` adds to a survey without researchers
LINK_LIFETIME = timedelta(minutes=30)

SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 128
FEWEST_PASSWORD_CHARACTERS = 5  # different ones, so that "aaaaaaaaaaaa" is refused
# The passwords that are guessed first are rows of keys, digits or letters, or a few words.
ROWS = (
    *("01234567890123456789", "qwertyuiop", "asdfghjkl", "zxcvbnm", "abcdefghijklmnopqrstuvwxyz"),
    *("1q2w3e4r5t6y7u8i9o0p", "q1w2e3r4t5y6u7i8o9p0", "1qaz2wsx3edc4rfv5tgb6yhn7ujm"),
)
PARTS_OF_ROWS = {row[at : at + 4] for row in ROWS for at in range(len(row) - 3)}
GUESSED_WORDS = re.compile("iloveyou|letmein|welcome|admin")
FREE_FAILURES = 5
LONGEST_WAIT = timedelta(seconds=30)  # longer, and strangers could shut out the right person
# Under all names: hashing takes a processor's time from participants.
FAILURES_IN_ALL, PERIOD = 10, timedelta(seconds=10)
FAILURES_STORED = timedelta(hours=1)
CLOCKS_DIFFER = timedelta(minutes=1)  # two servers' clocks, at most
LONGEST_QUEUE = 5  # seconds that a password waits for others to be hashed

IDLE_LIMIT = timedelta(hours=1)
AGE_LIMIT = timedelta(hours=10)
CONFIRMATION_LIFETIME = timedelta(minutes=10)
REFRESH_INTERVAL = timedelta(minutes=1)  # else each page would wait for the write lock

WRONG = "Name and password do not belong together. Please check both."
WRONG_CODE = " If your account has a second factor, check the code too; each code works once."
_hashing = threading.Lock()  # a hash takes 64 MiB and a processor
hasher = PasswordHasher()


class LinkError(SurveyError):
    """A sign-in link that is unknown, used or too old."""


class WrongPasswordError(SurveyError):
    """The name is unknown, or password or code is wrong; the text does not say which."""


@dataclass(frozen=True)
class TooManyAttemptsError(SurveyError):
    """Too many failures, under a name or in all; ``seconds`` is the wait."""

    seconds: int

    def __str__(self) -> str:
        return (
            f"Too many attempts to sign in. Please wait {self.seconds} "
            f"second{'s' if self.seconds != 1 else ''} and try again."
        )


def add_researcher(session: Session, name: str) -> tuple[Researcher, str]:
    """Add an account without a password; return it with the token of its sign-in link.

    The first researcher becomes the owner of all studies without members. Raises SurveyError
    for a name that is taken or not allowed.
    """
    name = " ".join(name.split())
    if not RESEARCHER_NAME.match(name) or len(name) > 64:
        raise SurveyError(
            f"{name!r} cannot be a researcher's name; letters, digits, spaces and . @ ' - are "
            "allowed, 64 characters at most."
        )
    if existing := queries.researcher_by_name(session, name):
        raise SurveyError(
            f"There is a researcher {existing.name!r} already; `survey researcher link` prints a "
            "new link."
        )
    first = not all_researchers(session)
    researcher = Researcher(name=name, created_at=now())
    session.add(researcher)
    session.flush()
    if first:
        for study in queries.studies_without_members(session):
            share(session, study, researcher, "owner")
    return researcher, new_link(session, researcher)


def ensure_researcher(session: Session) -> str | None:
    """Return the token of a link for the first sign-in; None if a researcher has a password.

    Adds an account if there is none.
    """
    lock_globally(session)  # else servers that start together would add it twice
    known = all_researchers(session)
    if not known:
        return add_researcher(session, FIRST_NAME)[1]
    if any(researcher.password_hash for researcher in known):
        return None
    return new_link(session, known[0])


def find_researcher(session: Session, name: str) -> Researcher:
    """Return the account of that name, upper or lower case, or raise NotFoundError.

    The error names others, so it is for commands: pages use ``researcher_named``.
    """
    researcher = queries.researcher_by_name(session, " ".join(name.split()))
    if researcher is None:
        names = [repr(each.name) for each in all_researchers(session)]
        others = did_you_mean(repr(name), names) if names else "`survey researcher add` adds one."
        raise NotFoundError(f"There is no researcher {name!r}. {others}")
    return researcher


def remove_researcher(session: Session, researcher: Researcher) -> None:
    """Delete an account; its studies stay, and so does its name in their logs."""
    session.delete(researcher)
    session.commit()


def new_link(session: Session, researcher: Researcher) -> str:
    """Return the token of a new link to set a password with; earlier links are deleted."""
    session.execute(delete(SignInLink).where(SignInLink.researcher_id == researcher.id))
    token = secrets.token_urlsafe(32)
    session.add(
        SignInLink(
            researcher_id=researcher.id,
            token_hash=tokens.hash_token(token),
            expires_at=now() + LINK_LIFETIME,
        )
    )
    session.commit()
    return token


def researcher_of_link(session: Session, token: str) -> Researcher:
    """Return the researcher of a link; raise LinkError if it is unknown, used or too old."""
    return _valid_link(session, token).researcher


def set_password(session: Session, token: str, password: str) -> Researcher:
    """Store the password of a link's researcher, use up the link, end all sign-ins.

    Raises LinkError as ``researcher_of_link`` does, and SurveyError for an easy password.
    """
    hashed = _hash_password(session, researcher_of_link(session, token).name, password)
    link = _valid_link(session, token)  # another browser may have used it meanwhile
    _store_hash(session, link.researcher, hashed)
    link.used_at = now()
    session.commit()
    return link.researcher


def store_password(session: Session, researcher: Researcher, password: str) -> None:
    """Store the hash of a new password and end all sign-ins; the caller commits.

    Raises SurveyError for an easy password.
    """
    hashed = _hash_password(session, researcher.name, password)
    _store_hash(session, researcher, hashed)


def _store_hash(session: Session, researcher: Researcher, hashed: str) -> None:
    queries.locked(session, Researcher, id=researcher.id, name=researcher.name)
    researcher.password_hash = hashed
    _end_sign_ins(session, researcher)


def _hash_password(session: Session, name: str, password: str) -> str:
    """Return the hash of a new password; raise SurveyError for an easy one.

    It ends the transaction: hashing is slow, and would block participants' answers.
    """
    _refuse_easy(password, name)
    session.rollback()
    with _one_at_a_time():
        return hasher.hash(password)


def _refuse_easy(password: str, name: str) -> None:
    """Raise SurveyError for a password that is too short, too long or too easy to guess."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise SurveyError(
            f"The password has {len(password)} characters; "
            f"{SHORTEST_PASSWORD} to {LONGEST_PASSWORD} are allowed. A few words in a row are good."
        )
    plain = password.casefold()
    if (
        len(_hard_to_guess(plain)) < FEWEST_PASSWORD_CHARACTERS
        or name.casefold() in plain
        or "password" in plain
    ):
        raise SurveyError(
            "This password is too easy to guess; take one without your name, the word "
            "“password”, a repeated pattern or a row of keys. A few words in a row are good."
        )


def _hard_to_guess(password: str) -> set[str]:
    """Return a password's characters outside of rows, in either direction, and guessed words."""
    left = GUESSED_WORDS.sub("", password)
    pieces = [left[at : at + 4] for at in range(len(left) - 3)]
    in_rows = {
        at + step
        for at, piece in enumerate(pieces)
        if piece in PARTS_OF_ROWS or piece[::-1] in PARTS_OF_ROWS
        for step in range(4)
    }
    return {character for at, character in enumerate(left) if at not in in_rows}


def _valid_link(session: Session, token: str) -> SignInLink:
    link = queries.link_by_hash(session, tokens.hash_token(token))
    left = link.expires_at - now() if link and link.used_at is None else timedelta(0)
    # More is left of a link that was made while the clock was ahead.
    if link is None or not timedelta(0) < left <= LINK_LIFETIME + CLOCKS_DIFFER:
        raise LinkError(
            "This link does not work any more: each link works once, for 30 minutes, and only the "
            "newest works. The administrator of the survey can print another with "
            "`survey researcher link`."
        )
    return link


def sign_in(
    session: Session, name: str, password: str, browser: str = "", code: str = "", key: str = ""
) -> str:
    """Check name, password and the code of a second factor; return the token of a new session.

    ``browser``: an id of a browser in which this researcher has signed in before, empty for
    others. ``key``: the server's, from which codes are derived. Raises WrongPasswordError, for an
    unknown name and a wrong code too, and TooManyAttemptsError: after five failures in a row under
    a name each failure doubles the wait, up to 30 seconds, and all names together have ten failures
    in ten seconds. Known browsers are counted apart, so that strangers cannot make their researcher
    wait.
    """
    accepts = partial(second_factor.use_code, session, key, code=code)
    return new_session(session, _check_password(session, name, password, browser, accepts))


def _check_password(
    session: Session,
    name: str,
    password: str,
    browser: str,
    accepts: Callable[[Researcher], bool] | None = None,
) -> Researcher:
    """Return the researcher of that name and password; count the attempt if it fails.

    ``accepts``: whether the researcher may go on, asked only where the password is right.

    The password is hashed between two transactions: hashing is slow, and would block
    participants' answers. A password that was hashed at another cost is hashed again.
    """
    name = " ".join(name.split())
    # A known browser's failures are counted apart, and in the first row only.
    keys = [_throttle_key(name, browser)] if browser else [_throttle_key(name), IN_ALL]
    session.rollback()
    begin_reading(session)
    researcher = queries.researcher_by_name(session, name)
    for key in keys:
        _require_no_wait(session.get(SignInThrottle, key))
    stored = researcher.password_hash if researcher else None
    session.rollback()
    correct, renewed = is_password(stored, password), ""
    if stored and correct and hasher.check_needs_rehash(stored):
        with _one_at_a_time():
            renewed = hasher.hash(password)
    queries.delete_throttles(session, now() - FAILURES_STORED, now() + CLOCKS_DIFFER)
    for key in keys:
        queries.add_throttle(session, key, now())
    throttle, *in_all = (queries.locked(session, SignInThrottle, name_hash=key) for key in keys)
    _require_no_wait(throttle)  # other attempts may have failed meanwhile
    researcher = queries.researcher_by_name(session, name)
    is_same = researcher is not None and researcher.password_hash == stored
    if researcher is None or not (correct and is_same and (not accepts or accepts(researcher))):
        throttle.failures += 1
        throttle.last_failed_at = now()
        for row in in_all:
            begins = abs(now() - row.last_failed_at) > PERIOD
            row.failures, row.last_failed_at = (
                (1, now()) if begins else (row.failures + 1, row.last_failed_at)
            )
        session.commit()
        raise WrongPasswordError(WRONG + (WRONG_CODE if accepts else ""))
    session.delete(throttle)
    if renewed:
        researcher = queries.locked(session, Researcher, id=researcher.id, name=researcher.name)
        if researcher.password_hash == stored:  # else it was changed meanwhile
            researcher.password_hash = renewed
    return researcher


def is_password(stored: str | None, password: str) -> bool:
    """Return whether the password has that hash.

    Without a hash it takes as long, else response times would reveal which accounts exist. A
    process hashes one password at a time; raises TooManyAttemptsError where too many wait.
    """
    with _one_at_a_time():
        unused = _unused_hash()  # also for a name that has a hash, so that both take as long
        try:
            hasher.verify(stored or unused, password[:LONGEST_PASSWORD])
        except VerificationError:
            return False
    return bool(stored)


@cache
def _unused_hash() -> str:
    """Return the hash of a random password, to compare with where an account has none."""
    return hasher.hash(secrets.token_urlsafe(16))


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Wait until no other thread hashes; raise TooManyAttemptsError after a few seconds."""
    if not _hashing.acquire(timeout=LONGEST_QUEUE):
        raise TooManyAttemptsError(LONGEST_QUEUE)
    try:
        yield
    finally:
        _hashing.release()


def _require_no_wait(throttle: SignInThrottle | None) -> None:
    """Raise TooManyAttemptsError while a wait goes on.

    A failure in the future was counted by a wrong clock, and causes no wait.
    """
    if throttle is None or throttle.last_failed_at > now() + CLOCKS_DIFFER:
        return
    is_of_all = throttle.name_hash == IN_ALL
    more = throttle.failures - (FAILURES_IN_ALL if is_of_all else FREE_FAILURES)
    if more < 0:
        return
    wait = PERIOD if is_of_all else min(timedelta(seconds=2 ** min(more, 20)), LONGEST_WAIT)
    left = min(throttle.last_failed_at + wait - now(), wait)
    if left > timedelta(0):
        raise TooManyAttemptsError(math.ceil(left.total_seconds()))


def _throttle_key(name: str, browser: str = "") -> str:
    return tokens.hash_token(f"{name.casefold()}\n{browser}" if browser else name.casefold())


IN_ALL = _throttle_key("")  # no researcher has an empty name


def reset_failures(session: Session, name: str) -> None:
    """Forget the failures counted under a name; the caller commits."""
    session.execute(delete(SignInThrottle).where(SignInThrottle.name_hash == _throttle_key(name)))


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
    stored = queries.sign_ins_of(session, researcher.id)
    ended = [each.id for each in stored if not _is_alive(each, moment)]
    session.execute(delete(SignIn).where(SignIn.id.in_(ended)))
    session.commit()
    return token


def find_sign_in(session: Session, token: str) -> SignIn | None:
    """Return the session of this token, None if it is unknown or has ended."""
    stored = queries.sign_in_by_hash(session, tokens.hash_token(token))
    return stored if stored is not None and _is_alive(stored, now()) else None


def live_sign_ins(session: Session, researcher: Researcher) -> list[SignIn]:
    """Return a researcher's sessions that have not ended, last seen first."""
    moment = now()
    stored = queries.sign_ins_of(session, researcher.id)
    return [sign_in for sign_in in stored if _is_alive(sign_in, moment)]


def _is_alive(stored: SignIn, moment: datetime) -> bool:
    # A time in the future was noted by a wrong clock, and would put off the end until then.
    age, idle = abs(moment - stored.created_at), abs(moment - stored.last_seen_at)
    return age < AGE_LIMIT and idle < IDLE_LIMIT


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
    _check_password(session, current.researcher.name, password, f"session {current.id}")
    current.confirmed_at = now()
    session.commit()


def is_confirmed(current: SignIn) -> bool:
    """Return whether the password was typed within the last ten minutes."""
    return abs(now() - current.confirmed_at) <= CONFIRMATION_LIFETIME


def sign_out(session: Session, token: str) -> None:
    """End the session of this token; an unknown token changes nothing."""
    # By a statement: another request may delete the row at the same time.
    session.execute(delete(SignIn).where(SignIn.token_hash == tokens.hash_token(token)))
    session.commit()


def sign_out_everywhere(session: Session, researcher: Researcher) -> None:
    """End the sessions of a researcher in all browsers."""
    _end_sign_ins(session, researcher)
    session.commit()


def _end_sign_ins(session: Session, researcher: Researcher) -> None:
    session.execute(delete(SignIn).where(SignIn.researcher_id == researcher.id))


def study_of(session: Session, researcher: Researcher, slug: str) -> tuple[Study, str]:
    """Return a study and the researcher's role in it.

    Raises the same NotFoundError for a missing study and for a study of others, so that its
    text does not reveal which studies exist.
    """
    # PostgreSQL rejects some texts that are no slug: those with a NUL.
    match = queries.study_of_researcher(session, researcher.id, slug) if SLUG.match(slug) else None
    if match is None:
        raise NotFoundError("There is no such study among yours.")
    return match


def require_owner(role: str) -> None:
    """Raise NotAllowedError unless the role is owner."""
    if role != "owner":
        raise NotAllowedError("You may look at this study; only its owners may change it.")


def require_other_owner(session: Session, study: Study, leaving: Researcher) -> None:
    """Raise NotAllowedError if a researcher is the only owner of a study."""
    members = members_of(session, study)
    if [m.researcher_id for m in members if m.role == "owner"] == [leaving.id]:
        raise NotAllowedError("A study needs an owner; make another member an owner first.")


def share(session: Session, study: Study, researcher: Researcher, role: Role) -> None:
    """Give a researcher a role in a study, or change it; the caller commits.

    Raises NotAllowedError if the study would lose its last owner.
    """
    queries.locked_study(session, study)  # else two owners could remove each other at once
    member = queries.find(session, Membership, study_id=study.id, researcher_id=researcher.id)
    if member is None:
        session.add(Membership(study_id=study.id, researcher_id=researcher.id, role=role))
    elif member.role != role:
        if role != "owner":
            require_other_owner(session, study, researcher)
        member.role = role
    session.flush()


def change_role(
    session: Session, study: Study, researcher: Researcher, role: Role, who: str
) -> None:
    """Give a researcher a role in a study as ``share`` does, and log it."""
    share(session, study, researcher, role)
    log(session, study, who, "shared", f"{researcher.name}: {role}")
    session.commit()


def unshare(session: Session, study: Study, researcher: Researcher, who: str) -> None:
    """Remove a researcher from a study, and log it.

    Raises NotAllowedError if the study would lose its last owner.
    """
    queries.locked_study(session, study)  # as in ``share``
    member = queries.find(session, Membership, study_id=study.id, researcher_id=researcher.id)
    if member is not None:
        require_other_owner(session, study, researcher)
        session.delete(member)
        log(session, study, who, "no longer shared", researcher.name)
    session.commit()


def member_of(session: Session, study: Study, researcher_id: int) -> Researcher:
    """Return a member of a study by id, or raise NotFoundError."""
    for member in members_of(session, study):
        if member.researcher_id == researcher_id:
            return member.researcher
    raise NotFoundError("This study has no such member.")


def member_named(session: Session, study: Study, name: str) -> Researcher:
    """Return a member of a study by name, or raise NotFoundError, which names the members."""
    members = [member.researcher for member in members_of(session, study)]
    typed = " ".join(name.split()).casefold()
    for researcher in members:
        if researcher.name.casefold() == typed:
            return researcher
    others = did_you_mean(repr(name), [repr(member.name) for member in members]) if members else ""
    raise NotFoundError(f"{name!r} is not a member of this study. {others}".strip())


def researcher_named(session: Session, name: str) -> Researcher:
    """Return the researcher to share a study with.

    Raises SurveyError, naming the command that adds a researcher.
    """
    researcher = queries.researcher_by_name(session, " ".join(name.split()))
    if researcher is None:
        raise SurveyError(
            f"There is no researcher {name!r}. The administrator of the survey can add a "
            "researcher with `survey researcher add`."
        )
    return researcher


def log(session: Session, study: AnyStudy, who: str, event: str, detail: str = "") -> None:
    """Add an event to the log of a study; the caller commits."""
    session.add(Event(slug=study.slug, who=who, at=now(), kind=event, detail=detail))


def log_of(session: Session, study: Study) -> list[tuple[Event, int]]:
    """Return the log of a study, newest first, with how often the same was done in a row."""
    alike: list[tuple[Event, int]] = []
    for event in events_of(session, study):
        last = alike[-1][0] if alike else None
        if last and (last.who, last.kind, last.remark) == (event.who, event.kind, event.remark):
            alike[-1] = (last, alike[-1][1] + 1)
        else:
            alike.append((event, 1))
    return alike
