"""Researchers' accounts: made on the command line, opened with a link that is good once."""

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
LINK_IS_GOOD_FOR = timedelta(minutes=30)
# Whom `make run` makes where there is nobody.
FIRST_NAME = "researcher"
SHORTEST_PASSWORD, LONGEST_PASSWORD = 12, 128
FEWEST_CHARACTERS = 5  # different ones, so that "aaaaaaaaaaaa" is none

hasher = PasswordHasher()


class LinkError(SurveyError):
    """A sign-in link that is not, or no longer, good."""


def add_researcher(session: Session, name: str) -> tuple[Researcher, str]:
    """Make an account without a password; return it with the token of its sign-in link.

    The first researcher gets the studies that are nobody's. Raises SurveyError for a
    name that is taken or cannot be.
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
    """Make sure that somebody can sign in; return the token of a link where nobody can yet."""
    lock_globally(session)  # several servers may make their first start together
    known = queries.all_researchers(session)
    if not known:
        return add_researcher(session, FIRST_NAME)[1]
    if any(one.password_hash for one in known):
        return None
    return new_link(session, known[0])


def find_researcher(session: Session, name: str) -> Researcher:
    """Return the researcher of that name, or raise NotFoundError."""
    researcher = queries.researcher_by_name(session, name)
    if researcher is None:
        raise NotFoundError(f"There is no researcher {name!r}.")
    return researcher


def all_researchers(session: Session) -> list[Researcher]:
    """Return all researchers, by name."""
    return list(queries.all_researchers(session))


def remove_researcher(session: Session, researcher: Researcher) -> None:
    """Remove an account; its studies stay, and its name in the log of what was done."""
    session.delete(researcher)
    session.commit()


def new_link(session: Session, researcher: Researcher) -> str:
    """Return the token of a new link to set a password with; earlier links are good no more."""
    for link in queries.links_of(session, researcher.id):
        session.delete(link)
    token = secrets.token_urlsafe(32)
    session.add(
        SignInLink(
            researcher_id=researcher.id,
            token_hash=tokens.hash_token(token),
            expires_at=now() + LINK_IS_GOOD_FOR,
        )
    )
    session.commit()
    return token


def researcher_of_link(session: Session, token: str) -> Researcher:
    """Return whose link it is; raises LinkError for one that is unknown, used or too old."""
    return _good_link(session, token).researcher


def set_password(session: Session, token: str, password: str) -> Researcher:
    """Use a link: store the password and sign its researcher out everywhere.

    Raises LinkError as ``researcher_of_link`` does, and SurveyError for a password
    that is too easy.
    """
    link = _good_link(session, token)
    researcher = link.researcher
    store_password(session, researcher, password)
    link.used_at = now()
    session.commit()
    return researcher


def store_password(session: Session, researcher: Researcher, password: str) -> None:
    """Store the hash of a new password and end all sign-ins; the caller commits."""
    refuse_easy(password, researcher.name)
    researcher.password_hash = hasher.hash(password)
    for sign_in in queries.sign_ins_of(session, researcher.id):
        session.delete(sign_in)


def refuse_easy(password: str, name: str) -> None:
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


def is_password(stored: str | None, password: str) -> bool:
    """Tell whether the password has that hash; as slow where there is none."""
    try:
        hasher.verify(stored or _NOBODYS, password[:LONGEST_PASSWORD])
    except VerificationError:
        return False
    return bool(stored)


_NOBODYS = hasher.hash(secrets.token_urlsafe(16))


def _good_link(session: Session, token: str) -> SignInLink:
    link = queries.link_by_hash(session, tokens.hash_token(token))
    if link is None or link.used_at is not None or link.expires_at <= now():
        raise LinkError(
            "This link is not good any more: it works once, for 30 minutes, and only the newest "
            "one. Whoever runs the survey can print another with `survey researcher link`."
        )
    return link
