"""Guest lists: read names from a file, and give each guest a personal link."""

import csv
import hmac
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.orm import Session

from survey import tokens
from survey.clock import now
from survey.core.studies.texts import marked
from survey.db import study_queries
from survey.db.models import Guest, Study
from survey.db.records import AnyStudy
from survey.errors import NotFoundError, SurveyError
from survey.services.spreadsheets import escaped, line_of, unescaped
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import recruitment_of

LONGEST_NAME = 200
MOST_AT_ONCE = 10_000
NOT_STARTED = "not started"


def read_guests(text: str, file: str = "the guest list") -> list[str]:
    """Return the names in a CSV file that has a column "name" or a single column.

    A file that ``links_csv`` wrote gives the names that it was written from. Raises SurveyError
    with the first ten faulty rows.
    """
    rows = _rows(text, file)
    if not any(any(cell.strip() for cell in row) for row in rows):
        raise SurveyError(f"{file} is empty; one name per row is needed.")
    header = [cell.strip().lower() for cell in rows[0]]
    column = header.index("name") if "name" in header else 0
    if "name" not in header and len(header) > 1:
        raise SurveyError(
            f"{file}, row 1: columns {', '.join(rows[0])} found; one of them must be called name."
        )
    first = 2 if "name" in header else 1
    return _checked_names(rows[first - 1 :], first, column, file)


def _rows(text: str, file: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        rows.extend(csv.reader(io.StringIO(text.lstrip("\ufeff"), newline="")))
    except csv.Error:
        most = csv.field_size_limit()
        raise SurveyError(
            f"{file}, row {len(rows) + 1}: a cell of more than {most:,} characters found; "
            f"a name has at most {LONGEST_NAME}."
        ) from None
    return rows


def _checked_names(rows: Sequence[Sequence[str]], first: int, column: int, file: str) -> list[str]:
    names: dict[str, int] = {}
    faults = []
    for number, row in enumerate(rows, first):
        if not any(cell.strip() for cell in row):
            continue
        name = " ".join(unescaped(row[column]).split()) if len(row) > column else ""
        if not name or "\0" in name:
            faults.append(f"{file}, row {number}: no name found; one is needed")
        elif len(name) > LONGEST_NAME:
            faults.append(f"{file}, row {number}: {len(name)} characters; {LONGEST_NAME} allowed")
        elif name in names:
            faults.append(f"{file}, row {number}: {name!r} is in row {names[name]} already")
        else:
            names[name] = number
    if len(names) > MOST_AT_ONCE:
        faults = [f"{file} has {len(names)} names; {MOST_AT_ONCE} at once are allowed"]
    if faults:
        raise SurveyError(". ".join(faults[:10]) + ".")
    return list(names)


def invite(session: Session, study: Study, names: Iterable[str]) -> int:
    """Add names to the study's guest list; return how many were new."""
    known = {guest.name for guest in study_queries.guests_of(session, study.id)}
    new = [name for name in names if name not in known]
    session.add_all(
        Guest(study_id=study.id, name=name, nonce=tokens.random_code(12), created_at=now())
        for name in new
    )
    session.commit()
    return len(new)


def admit_guests_only(session: Session, study: Study, who: str) -> None:
    """Close the public link to new participants, who would take the guests' slots."""
    lifecycle.change_recruitment(
        session, study, replace(recruitment_of(study), access="personal"), who
    )


def guests_of(session: Session, study: Study) -> list[Guest]:
    """Return the guest list, in the order in which names were added."""
    return list(study_queries.guests_of(session, study.id))


def remove(session: Session, study: Study, guest_id: int) -> None:
    """Delete a guest who has not begun.

    Raises NotFoundError for an id that is not on this study's list, and SurveyError for a guest
    who has begun.
    """
    guests = {guest.id: guest for guest in study_queries.guests_of(session, study.id)}
    guest = guests.get(guest_id)
    if guest is None:
        raise NotFoundError("This study's guest list has no such guest.")
    if guest.participant_id is not None:
        raise SurveyError(f"{guest.name} has begun already, so the link cannot be withdrawn.")
    session.delete(guest)
    session.commit()


def link_token(secret_key: str, guest: Guest) -> str:
    """Return the token of a guest's link: a stored half, and a half derived from the key."""
    return guest.nonce + _second_half(secret_key, guest.nonce)


def guest_of(session: Session, study: AnyStudy, secret_key: str, token: str) -> Guest:
    """Return the guest of a link's token, or raise NotFoundError."""
    nonce, second = token[:12].upper(), token[12:].upper()
    if hmac.compare_digest(_second_half(secret_key, nonce).encode(), second.encode()):
        guest = study_queries.guest_by_nonce(session, study.id, nonce)
        if guest is not None:
            return guest
    raise NotFoundError(marked("This personal link is not complete, or it was withdrawn."))


@dataclass(frozen=True)
class PersonalLink:
    """A guest's link, with the status of its participant, or NOT_STARTED."""

    guest_id: int
    name: str
    link: str
    status: str


def personal_links(guests: Iterable[Guest], secret_key: str, address: str) -> list[PersonalLink]:
    """Return the guests' links; ``address`` is that of the study's first page."""
    return [
        PersonalLink(
            guest.id,
            guest.name,
            f"{address}?guest={link_token(secret_key, guest)}",
            guest.participant.status if guest.participant else NOT_STARTED,
        )
        for guest in guests
    ]


def names_csv(names: Iterable[str]) -> str:
    """Return a CSV file that ``read_guests`` can read."""
    return "".join(line_of([cell]) for cell in ("name", *map(escaped, names)))


def links_csv(links: Iterable[PersonalLink]) -> str:
    """Return a CSV file of the guests with their links and statuses."""
    rows = ((escaped(guest.name), guest.link, guest.status) for guest in links)
    return "".join(map(line_of, (("name", "link", "status"), *rows)))


def _second_half(secret_key: str, nonce: str) -> str:
    mac = hmac.digest(secret_key.encode(), f"guest:{nonce}".encode(), "sha256")
    return "".join(tokens.ALPHABET[byte % 32] for byte in mac[:12])
