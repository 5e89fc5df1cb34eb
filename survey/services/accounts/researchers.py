"""Researchers' accounts, passwords, and the links with which they set a password."""

import re
import secrets
from datetime import timedelta

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError
from sqlalchemy.orm import Session

from survey import tokens
from survey.clock import now
from survey.db import account_queries as queries
from survey.db.engine import lock_globally
from survey.db.models import Researcher, SignInLink
from survey.errors import NotFoundError, SurveyError
from survey.services.accounts import access

NAME = re.compile(r"[^\W_](?:[\w .@'-]*[\w.])?\Z")
LINK_LIFETIME = timedelta(minutes=30)
# The account that `make run` adds to a survey without researchers.
FIRST_NAME = "researcher"
SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 128
FEWEST_CHARACTERS = 5  # different ones, so that "aaaaaaaaaaaa" is refused

hasher = PasswordHasher()
_UNUSED_HASH = hasher.hash(secrets.token_urlsafe(16))


class LinkError(SurveyError):
    """A sign-in link that is unknown, used or too old."""


def add_researcher(session: Session, name: str) -> tuple[Researcher, str]:
    """Add an account without a password; return it with the token of its sign-in link.

    The first researcher becomes the owner of all studies without members. Raises SurveyError
    for a name that is taken or not allowed.
    """
    name = " ".join(name.split())
    if not NAME.match(name) or len(name) > 64:
        raise SurveyError(
            f"{name!r} cannot be a researcher's name; letters, digits, spaces and . @ ' - are "
            "allowed, 64 characters at most."
        )
    if queries.researcher_by_name(session, name):
        raise SurveyError(
            f"There is a researcher {name!r} already; `survey researcher link` prints a new link."
        )
    first = not queries.all_researchers(session)
    researcher = Researcher(name=name, created_at=now())
    session.add(researcher)
    session.flush()
    if first:
        for study in queries.studies_without_members(session):
            access.share(session, study, researcher, "owner")
    return researcher, new_link(session, researcher)


def ensure_researcher(session: Session) -> str | None:
    """Return the token of a link for the first sign-in; None if a researcher has a password.

    Adds an account if there is none.
    """
    lock_globally(session)  # else servers that start together would add it twice
    known = queries.all_researchers(session)
    if not known:
        return add_researcher(session, FIRST_NAME)[1]
    if any(researcher.password_hash for researcher in known):
        return None
    return new_link(session, known[0])


def find_researcher(session: Session, name: str) -> Researcher:
    """Return the account of that name, upper or lower case, or raise NotFoundError."""
    researcher = queries.researcher_by_name(session, name)
    if researcher is None:
        raise NotFoundError(f"There is no researcher {name!r}.")
    return researcher


def all_researchers(session: Session) -> list[Researcher]:
    """Return the accounts, sorted by name."""
    return list(queries.all_researchers(session))


def remove_researcher(session: Session, researcher: Researcher) -> None:
    """Delete an account; its studies stay, and so does its name in their logs."""
    session.delete(researcher)
    session.commit()


def new_link(session: Session, researcher: Researcher) -> str:
    """Return the token of a new link to set a password with; earlier links are deleted."""
    for link in queries.links_of(session, researcher.id):
        session.delete(link)
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
    link = _valid_link(session, token)
    researcher = link.researcher
    store_password(session, researcher, password)
    link.used_at = now()
    session.commit()
    return researcher


def store_password(session: Session, researcher: Researcher, password: str) -> None:
    """Store the hash of a new password and end all sign-ins; the caller commits.

    Raises SurveyError for an easy password.
    """
    _refuse_easy(password, researcher.name)
    researcher.password_hash = hasher.hash(password)
    for sign_in in queries.sign_ins_of(session, researcher.id):
        session.delete(sign_in)


def is_password(stored: str | None, password: str) -> bool:
    """Return whether the password has that hash.

    Without a hash it takes as long, else response times would reveal which accounts exist.
    """
    try:
        hasher.verify(stored or _UNUSED_HASH, password[:LONGEST_PASSWORD])
    except VerificationError:
        return False
    return bool(stored)


def _refuse_easy(password: str, name: str) -> None:
    """Raise SurveyError for a password that is too short, too long or too easy to guess."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise SurveyError(
            f"The password has {len(password)} characters; "
            f"{SHORTEST_PASSWORD} to {LONGEST_PASSWORD} are allowed. A few words in a row are good."
        )
    plain = password.casefold()
    if len(set(plain)) < FEWEST_CHARACTERS or name.casefold() in plain or "password" in plain:
        raise SurveyError(
            "This password is too easy to guess; take one without your name, the word "
            "“password” or a repeated pattern. A few words in a row are good."
        )


def _valid_link(session: Session, token: str) -> SignInLink:
    link = queries.link_by_hash(session, tokens.hash_token(token))
    if link is None or link.used_at is not None or link.expires_at <= now():
        raise LinkError(
            "This link does not work any more: each link works once, for 30 minutes, and only the "
            "newest works. The administrator of the survey can print another with "
            "`survey researcher link`."
        )
    return link
