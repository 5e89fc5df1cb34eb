"""Recruitment: who may begin, guests and their links, platforms' ids, completion codes."""

import hmac
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import TYPE_CHECKING
from unicodedata import normalize
from urllib.parse import quote, urlsplit

from sqlalchemy.orm import Session

from survey import tokens
from survey.core.given_tables import Columns, table_in
from survey.core.measures import mentioned_measure
from survey.core.preflight import columns_not_read
from survey.core.studies.fields import (
    Choice,
    Fault,
    PlanError,
    Switch,
    Text,
    Whole,
    brace_faults,
    declared,
    placeholders,
    rule_faults,
    unknown_field,
)
from survey.core.text_input import (
    FaultyFilesError,
    FileFaults,
    Json,
    csv_line,
    did_you_mean,
    escaped,
    unescaped,
)
from survey.db import queries
from survey.db.models import Guest, Study, now
from survey.db.participant_queries import AnyStudy, StudyRow

# For pages too, which may import services but not survey.db.
from survey.db.queries import guests_of as guests_of
from survey.errors import NotFoundError, SurveyError, marked

if TYPE_CHECKING:
    from jwt import PyJWK

ACCESS = {
    "public": "Anyone with the public link",
    "personal": "Only people with a personal link",
}
LONGEST_PARAMETER = 40  # characters of a parameter's name
PARAMETER = re.compile(rf"[A-Za-z][A-Za-z0-9_-]{{0,{LONGEST_PARAMETER - 1}}}\Z")
LONGEST_VALUE = 200
MOST_PARAMETERS = 8
SIGNATURES = ["RS256", "ES256"]  # with public keys; Prolific's is the first
CLOCK_DIFFERENCE = 60  # seconds by which a platform's clock may differ from ours
BUILT_IN_NAMES = ("code", "participant_id", "study_id", "session_id")
# The parameters, in lower case, in which platforms send what a return address calls study_id
# and session_id.
PLATFORM_NAMES = {"study_id": ("study_id", "hitid"), "session_id": ("session_id", "assignmentid")}

LONGEST_GUEST_NAME = 200  # characters of a guest's name
MOST_AT_ONCE = 10_000  # names in a file of guests
GUEST_COLUMNS = Columns(
    ("name",), ("e-mail",), dict.fromkeys(("email", "mail"), "e-mail"), bare=("name",)
)
EMAIL = re.compile(r"[^@\s<>\"(),:;]+@[^@\s<>\"(),:;]+")
LONGEST_EMAIL = 200
# What the texts of mails may hold in braces.
PLACES_IN_MAILS = ("name", "link", "title", "minutes", "contact", "asked_by")
MAIL_TEXTS = ("mail_subject", "invitation", "reminder")
MOST_GUEST_FAULTS = 10  # that are shown of a guest list
NOT_STARTED = "not started"


@dataclass(frozen=True)
class Recruitment:
    """Who may begin a study, and what is exchanged with the platform that sends participants.

    The study's digest does not cover these settings, so they may change while it is open.

    ``access``: "public" (a common link) or "personal" (guests only).
    ``id_parameter``: the query parameter with the platform's id of a person, stored as
    an identity; ``capture``: other parameters to store; ``id_required``: refuse participants
    without an id. ``code_…``: the codes shown to those who complete, decline or are screened
    out. ``return_url``: where the last page leads, with {code}, {participant_id}, {study_id},
    {session_id} and captured names. ``slot_minutes``: when an unused slot is released.
    ``signing_keys``: the public keys (a JWKS) of a platform that signs its links, ``workspace``:
    the researcher's workspace there; with them an id counts only if the link is signed.
    ``mail_subject``, ``invitation``, ``reminder``: of mails to guests; empty, the usual texts.

    Raises PlanError with all faults.
    """

    access: str = declared(Choice("Who can begin", ACCESS), "public")
    id_parameter: str = "PROLIFIC_PID"
    capture: tuple[str, ...] = ("STUDY_ID", "SESSION_ID")
    id_required: bool = declared(Switch("Require an id to begin"), False)
    code_complete: str = declared(Text("Code for those who finish", 100, needed=False), "")
    code_declined: str = declared(Text("Code for those who decline", 100, needed=False), "")
    code_screened_out: str = declared(
        Text("Code for those who are screened out", 100, needed=False), ""
    )
    return_url: str = declared(Text("Address that the last page links to", 2_000, needed=False), "")
    slot_minutes: int = declared(
        Whole("Minutes after which an unused slot is released", 5, 525_600), 180
    )
    signing_keys: str = declared(Text("Keys of signed links", 20_000, needed=False, rows=3), "")
    workspace: str = declared(Text("Workspace of signed links", 100, needed=False), "")
    mail_subject: str = declared(Text("Subject of mails", 200, needed=False), "")
    invitation: str = declared(Text("Invitation", 5_000, needed=False, rows=12), "")
    reminder: str = declared(Text("Reminder", 5_000, needed=False, rows=10), "")

    def __post_init__(self) -> None:
        object.__setattr__(self, "capture", tuple(self.capture))
        if faults := [*self._faults()]:
            raise PlanError(faults)

    def _faults(self) -> Iterable[Fault]:
        yield from rule_faults(self)
        captured = (("capture", name) for name in self.capture)
        for place, name in (("id_parameter", self.id_parameter), *captured):
            if not (isinstance(name, str) and PARAMETER.match(name)):
                yield Fault(
                    (place,),
                    f"{name!r} found in {place}; a parameter's name begins with a letter and has "
                    f"at most {LONGEST_PARAMETER} characters: letters A to Z, digits, - and _",
                )
        if len(self.capture) > MOST_PARAMETERS:
            yield Fault(("capture",), f"at most {MOST_PARAMETERS} parameters can be captured")
        yield from self._return_url_faults()
        yield from self._mail_faults()
        if isinstance(self.signing_keys, str) and self.signing_keys:
            if not _public_keys(self.signing_keys):
                yield Fault(
                    ("signing_keys",),
                    "signing_keys is no set of public keys (a JWKS with keys for RS256 or ES256)",
                )
            if not self.workspace:
                yield Fault(("workspace",), "signing_keys needs the workspace that may send people")

    def _mail_faults(self) -> Iterable[Fault]:
        for name in MAIL_TEXTS:
            text = getattr(self, name)
            if not isinstance(text, str) or not text:
                continue
            yield from brace_faults(name, text, PLACES_IN_MAILS)
            with suppress(ValueError):
                if name != "mail_subject" and "link" not in placeholders(text):
                    yield Fault((name,), f"{name} has no {{link}}, with which people begin")

    def _return_url_faults(self) -> Iterable[Fault]:
        if not self.return_url or not isinstance(self.return_url, str):
            return
        place = ("return_url",)
        try:
            parts = urlsplit(self.return_url)
        except ValueError:
            yield Fault(place, "return_url is no address")
            return
        if parts.scheme not in ("http", "https") or not parts.netloc:
            yield Fault(place, "return_url must begin with https:// and name a site")
        yield from brace_faults(*place, self.return_url, (*BUILT_IN_NAMES, *self.capture))
        with suppress(ValueError):
            if "code" in placeholders(self.return_url) and not self.code_complete:
                text = "return_url has a {code}, so code_complete cannot be empty"
                yield Fault(("code_complete",), text)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters that are stored."""
        return (self.id_parameter, *self.capture)

    def select_parameters(self, query: Mapping[str, str]) -> dict[str, str]:
        """Return the configured parameters of a query, ignoring upper and lower case.

        Values are cut at LONGEST_VALUE characters. All other parameters are dropped: they may be
        personal data.
        """
        lowered = {name.lower(): value for name, value in query.items()}
        values = {
            name: lowered.get(name.lower(), "").replace("\0", "").strip()[:LONGEST_VALUE]
            for name in self.parameters
        }
        return {name: value for name, value in values.items() if value}

    def verify_parameters(self, token: str, host: str) -> dict[str, str] | None:
        """Return the parameters in a token that the platform signed; None if it is not valid.

        The token is a JWT as Prolific adds it to a secured link, with the parameters and the
        workspace in the claim "prolific". ``host``: ours, for which it must be meant. Anyone can
        have Prolific sign a link to us with parameters of their choice, hence the workspace.
        """
        import jwt  # slow to load, and few studies have keys

        try:
            key = _public_keys(self.signing_keys)[jwt.get_unverified_header(token).get("kid")]
            claims = jwt.decode(
                token,
                key,
                algorithms=SIGNATURES,
                leeway=CLOCK_DIFFERENCE,
                options={"require": ["exp", "aud"], "verify_aud": False},
            )
        except (jwt.PyJWTError, KeyError):
            return None
        sent, meant = claims.get("prolific"), claims["aud"]
        hosts = {urlsplit(meant).hostname, meant} if isinstance(meant, str) else set()
        if not isinstance(sent, dict) or sent.get("workspace_id") != self.workspace:
            return None
        texts = {name: value for name, value in sent.items() if isinstance(value, str)}
        return self.select_parameters(texts) if host in hosts else None

    def return_address(self, code: str, parameters: Mapping[str, str]) -> str | None:
        """Return the filled-in return address of a participant, None without a return_url.

        {study_id} and {session_id} are what any known platform calls them (PLATFORM_NAMES).
        A captured parameter called code or participant_id does not replace these two.
        """
        if not self.return_url:
            return None
        values = {name: parameters.get(name, "") for name in self.capture}
        lowered = {name.lower(): value for name, value in parameters.items()}
        for name, sent_as in PLATFORM_NAMES.items():
            values[name] = next((lowered[sent] for sent in sent_as if sent in lowered), "")
        values |= {"code": code, "participant_id": parameters.get(self.id_parameter, "")}
        quoted = {name: quote(value, safe="") for name, value in values.items()}
        return self.return_url.format_map(quoted)

    def code_for(self, status: str) -> str:
        """Return the code for a participant of that status, "" without a code."""
        return str(getattr(self, f"code_{status}", ""))

    def as_json(self) -> dict[str, Json]:
        """Return the settings as JSON values, to be stored."""
        # Release 0.2.0 does not know the texts of mails.
        return {name: v for name, v in asdict(self).items() if v or name not in MAIL_TEXTS}


PLATFORMS: Mapping[str, Mapping[str, object]] = {
    "prolific": {
        "id_parameter": "PROLIFIC_PID",
        "capture": ("STUDY_ID", "SESSION_ID"),
        "return_url": "https://app.prolific.com/submissions/complete?cc={code}",
    },
    "mturk": {
        "id_parameter": "workerId",
        "capture": ("assignmentId", "hitId"),
        "return_url": "",
    },
    "sona": {
        "id_parameter": "survey_code",
        "capture": (),
        "return_url": "https://SCHOOL.sona-systems.com/webstudy_credit.aspx"
        "?experiment_id=NUMBER&credit_token=TOKEN&survey_code={participant_id}",
    },
}
"""Settings for the three best known platforms: the parameters they send, the return address."""


@lru_cache(maxsize=100)
def _public_keys(text: str) -> dict[str | None, "PyJWK"]:
    """Parse a JWKS; return its keys by id, nothing if it is none or holds keys of other types."""
    import jwt

    try:
        keys = jwt.PyJWKSet.from_json(text).keys
    except (jwt.PyJWTError, ValueError, TypeError, AttributeError):
        return {}
    # A private key could sign, and belongs to the platform alone.
    usable = all(
        key.algorithm_name in SIGNATURES and not hasattr(key.key, "public_key") for key in keys
    )
    return {key.key_id: key for key in keys} if usable else {}


def recruitment_of(study: AnyStudy) -> Recruitment:
    """Return a study's recruitment settings; the text in a ``StudyRow`` is parsed once."""
    if isinstance(study, StudyRow):
        return _parse_stored(study.recruitment_json)
    return Recruitment(**study.recruitment)


@lru_cache(maxsize=100)
def _parse_stored(settings: str) -> Recruitment:
    return Recruitment(**json.loads(settings))


def parse_recruitment(values: object) -> Recruitment:
    """Parse settings from plain values, by default those of ``Recruitment``.

    Raises PlanError, with all faults of the first check that fails: the names of the settings,
    the type of ``capture``, the values, measures' names in codes.
    """
    if not isinstance(values, Mapping):
        raise PlanError([Fault((), f"recruitment is {values!r}; fields with values are needed")])
    known = {field.name for field in fields(Recruitment)}
    unknown = [name for name in values if name not in known]
    if unknown:
        raise PlanError(unknown_field(str(name), sorted(known), "recruitment") for name in unknown)
    if not isinstance(values.get("capture", ()), list | tuple):
        raise PlanError([Fault(("capture",), "capture is a list of names")])
    settings = replace(Recruitment(), **values)
    # Not in the constructor: a study stays usable when a later version registers such a measure.
    if faults := [
        Fault((name,), f"{name} holds the name of a measure ({measure}), and participants see it")
        for name in ("code_complete", "code_declined", "code_screened_out", *MAIL_TEXTS)
        if (measure := mentioned_measure(getattr(settings, name)))
    ]:
        raise PlanError(faults)
    return settings


def read_guests(text: str, file: str = "the guest list") -> tuple[dict[str, str], list[str]]:
    """Return names with e-mail addresses, "" for none, and a sentence about other columns.

    The names are in a column "name" of a table, see ``table_in``, or in a single column without a
    heading. A file that ``links_csv`` wrote gives the names that it was written from. Raises
    FaultyFilesError.
    """
    table = table_in(text, file, GUEST_COLUMNS)
    if not table.rows:
        fault = f"{file}: no row found below the heading; one name per row is needed"
        raise FaultyFilesError([fault])
    names = _checked_names(((row.number, row["name"]) for row in table.rows), file)
    emails = [unescaped(row["e-mail"]).strip() for row in table.rows]
    faults = FileFaults(most=MOST_GUEST_FAULTS)
    for row, email in zip(table.rows, emails, strict=True):
        if email and not is_email(email):
            faults.add(row.fault("e-mail", f"{email!r} is not an e-mail address"))
    faults.raise_any()
    not_read = columns_not_read(file, table.columns_not_read)
    return dict(zip(names, emails, strict=True)), [f"{each.text}." for each in not_read]


def read_names(text: str) -> list[str]:
    """Return the names that were typed, one in each line; raises FaultyFilesError."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]
    return _checked_names(((number, escaped(line)) for number, line in lines), "the list")


def _checked_names(rows: Iterable[tuple[int, str]], file: str) -> list[str]:
    """Return names from numbered cells, in NFC; raises FaultyFilesError with all faults."""
    faults = FileFaults(most=MOST_GUEST_FAULTS)
    names: dict[str, int] = {}
    for number, cell in rows:
        place = f"{file}, row {number}"
        name = " ".join(normalize("NFC", unescaped(cell)).split())
        if not name or "\0" in name:
            faults.add(f"{place}: no name found; one is needed")
        elif len(name) > LONGEST_GUEST_NAME:
            faults.add(f"{place}: {len(name)} characters; {LONGEST_GUEST_NAME} allowed")
        elif name in names:
            faults.add(f"{place}: {name!r} is in row {names[name]} already")
        else:
            names[name] = number
    if len(names) > MOST_AT_ONCE:
        faults = FileFaults([f"{file} has {len(names)} names; {MOST_AT_ONCE} at once are allowed"])
    faults.raise_any()
    return list(names)


def is_email(text: str) -> bool:
    """Return whether a text can be an e-mail address."""
    return len(text) <= LONGEST_EMAIL and EMAIL.fullmatch(text) is not None


def add_guests(
    session: Session,
    study: Study,
    names: Iterable[str] | Mapping[str, str],
    arm: str | None = None,
) -> int:
    """Add names to the study's guest list, and send nothing; return how many were new.

    ``names``: or a mapping to e-mail addresses, which guests who are known get too; a name can be
    an address itself. ``arm``: the role that their links give, where the study's links give one.
    """
    queries.locked_study(session, study)  # else two requests could add the same name
    # Earlier versions stored names as they came.
    known = {normalize("NFC", guest.name): guest for guest in guests_of(session, study)}
    emails = names if isinstance(names, Mapping) else {}
    new = [name for name in dict.fromkeys(names) if name not in known]
    for name in new:
        guest = Guest(study_id=study.id, name=name, nonce=tokens.random_code(12), created_at=now())
        guest.arm, known[name] = arm, guest
        session.add(guest)
    for name in dict.fromkeys(names):
        email = emails.get(name) or (name if is_email(name) else None)
        known[name].email = email or known[name].email
    session.commit()
    return len(new)


def remove_guest(session: Session, study: Study, guest_id: int) -> None:
    """Delete a guest who has not begun.

    Raises NotFoundError for an id that is not on this study's list, and SurveyError for a guest
    who has begun.
    """
    queries.locked_study(session, study)  # a guest who begins meanwhile waits
    guests = {guest.id: guest for guest in guests_of(session, study)}
    guest = guests.get(guest_id)
    if guest is None:
        raise NotFoundError("This study's guest list has no such guest.")
    if guest.participant_id is not None:
        raise SurveyError(f"{guest.name} has begun already, so the link cannot be withdrawn.")
    session.delete(guest)
    session.commit()


def withdraw(session: Session, study: Study, name: str) -> None:
    """Delete the guest of a name as ``remove_guest`` does; raises NotFoundError without one."""
    guests = {guest.name: guest.id for guest in guests_of(session, study)}
    if (guest_id := guests.get(normalize("NFC", " ".join(name.split())))) is None:
        known = did_you_mean(repr(name), [*map(repr, guests)]) if guests else "It has no guests."
        raise NotFoundError(f"{name!r} is not on the guest list of {study.slug!r}. {known}")
    remove_guest(session, study, guest_id)


def link_token(secret_key: str, guest: Guest) -> str:
    """Return the token of a guest's link: a stored half, and a half derived from the key."""
    return guest.nonce + _second_half(secret_key, guest.nonce)


def find_guest(session: Session, study: AnyStudy, secret_key: str, token: str) -> Guest:
    """Return the guest of a link's token, or raise NotFoundError."""
    code = tokens.plain_code(token)
    nonce, second = code[:12], code[12:]
    if hmac.compare_digest(_second_half(secret_key, nonce).encode(), second.encode()):
        guest = queries.find(session, Guest, study_id=study.id, nonce=nonce)
        if guest is not None:
            return guest
    raise NotFoundError(marked("This personal link is not complete, or it was withdrawn."))


@dataclass(frozen=True)
class PersonalLink:
    """A guest's link, with the status of its participant, or NOT_STARTED; ``arm``: its role."""

    guest_id: int
    name: str
    link: str
    status: str
    arm: str | None = None
    email: str = ""


def personal_links(guests: Iterable[Guest], secret_key: str, address: str) -> list[PersonalLink]:
    """Return the guests' links; ``address`` is that of the study's first page."""
    return [
        PersonalLink(
            guest.id,
            guest.name,
            f"{address}?guest={link_token(secret_key, guest)}",
            guest.participant.status if guest.participant else NOT_STARTED,
            guest.arm,
            guest.email or "",
        )
        for guest in guests
    ]


def links_csv(links: Iterable[PersonalLink]) -> str:
    """Return a CSV file of the guests with their links and statuses."""
    rows = ((escaped(link.name), link.link, link.status, escaped(link.email)) for link in links)
    return "".join(map(csv_line, (("name", "link", "status", "e-mail"), *rows)))


def _second_half(secret_key: str, nonce: str) -> str:
    mac = hmac.digest(secret_key.encode(), f"guest:{nonce}".encode(), "sha256")
    return "".join(tokens.ALPHABET[byte % 32] for byte in mac[:12])
