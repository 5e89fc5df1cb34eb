"""Invitations and reminders by e-mail: their texts, who gets them, and sending each once.

What is to be sent is marked in the guest list, so that it survives a restart. Before a mail is
sent its guest is marked as written to, so that of several processes one sends it, and none sends
it again where this one ends in between.
"""

import smtplib
import ssl
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid

from sqlalchemy.orm import Session

from survey.config import Smtp
from survey.core.studies.plan import Plan
from survey.db import queries
from survey.db.models import Guest, Study, now
from survey.errors import NotAllowedError, marked
from survey.services import accounts
from survey.services.studies.languages import catalogue
from survey.services.studies.recruitment import (
    PLACES_IN_MAILS,
    Recruitment,
    link_token,
    recruitment_of,
)

INVITATION, REMINDER = "invitation", "reminder"
SENT_AT = {INVITATION: "invited_at", REMINDER: "reminded_at"}  # the column of a guest
PATIENCE = 20  # seconds in which a mail server has to answer
UNCERTAIN = "The connection broke while it was sent: it may have arrived or not."
LONGEST_FAULT = 200

SUBJECT = marked("Invitation: {title}")
TEXTS = {
    INVITATION: marked(
        "Dear {name},\n\nwe invite you to take part in “{title}”. It takes about {minutes} "
        "minutes, and taking part is voluntary.\n\nThis link is for you alone. With it you can "
        "stop and go on later, on any device:\n\n{link}\n\nIf you have questions, write to: "
        "{contact}\n\nThank you,\n{asked_by}"
    ),
    REMINDER: marked(
        "Dear {name},\n\nsome time ago we invited you to take part in “{title}”. If you would "
        "like to, you still can; it takes about {minutes} minutes. This is your link:\n\n{link}\n\n"
        "If not, you need not do anything: we do not write again. If you have questions, write "
        "to: {contact}\n\nThank you,\n{asked_by}"
    ),
}


@dataclass(frozen=True)
class Letter:
    """A mail as a guest reads it."""

    subject: str
    text: str


def texts_of(plan: Plan, settings: Recruitment) -> dict[str, str]:
    """Return the subject and the texts of mails, the usual ones in the study's language.

    They hold {name}, {link} and more in braces.
    """
    usual = catalogue(plan.language).gettext
    return {
        "mail_subject": settings.mail_subject or usual(SUBJECT),
        "invitation": settings.invitation or usual(TEXTS[INVITATION]),
        "reminder": settings.reminder or usual(TEXTS[REMINDER]),
    }


def letter_for(plan: Plan, settings: Recruitment, kind: str, name: str, link: str) -> Letter:
    """Return the mail of a kind for a guest."""
    texts = texts_of(plan, settings)
    values = {place: str(getattr(plan, place, "")) for place in PLACES_IN_MAILS}
    values |= {"name": name, "link": link}
    return Letter(
        " ".join(texts["mail_subject"].format_map(values).split()), texts[kind].format_map(values)
    )


def is_due(guest: Guest, kind: str) -> bool:
    """Return whether a guest can be sent a mail of a kind: once, and none who has finished."""
    if not guest.email or guest.mail_due or getattr(guest, SENT_AT[kind]) is not None:
        return False
    status = guest.participant.status if guest.participant else None
    if kind == INVITATION:
        return status is None
    return guest.invited_at is not None and status in (None, "started")


def plan_mails(session: Session, study: Study, kind: str, who: str) -> int:
    """Mark the guests who can be sent a mail of a kind; return how many. The log has the number.

    Raises NotAllowedError where the study is not open.
    """
    study = queries.locked_study(session, study)
    if study.status != "open":
        session.rollback()
        raise NotAllowedError("The study is not open, so the links in the mails would not work.")
    guests = [guest for guest in queries.guests_of(session, study) if is_due(guest, kind)]
    for guest in guests:
        guest.mail_due, guest.mail_fault = kind, None
    if guests:
        accounts.log(session, study, who, "mails sent", f"{len(guests)} × {kind}")
    session.commit()
    return len(guests)


def send_due(
    session: Session, smtp: Smtp, secret_key: str, address: str, study: Study | None = None
) -> Generator[bool]:
    """Send the mails that are due, of one study or all; yield after each whether it was sent.

    ``address``: of the survey, with which the links begin. Where the server cannot be reached,
    every mail that is due gets the fault, and can be planned again.
    """
    study_id = study.id if study else None
    if not queries.has_due_mail(session, study_id):
        session.rollback()
        return
    session.rollback()  # no transaction while the server answers
    try:
        with connection(smtp) as server:
            while claimed := _claim(session, study_id):
                yield _send(session, server, smtp, *claimed, secret_key, address)
    except (OSError, smtplib.SMTPException) as error:
        fault = connection_fault(smtp, error)
        queries.clear_due_mail(session, study_id, fault[:LONGEST_FAULT])
        session.commit()
        yield False


@contextmanager
def connection(smtp: Smtp) -> Iterator[smtplib.SMTP]:
    """Connect to a mail server and sign in; raises OSError or SMTPException."""
    context = ssl.create_default_context()
    if smtp.security == "tls":
        server: smtplib.SMTP = smtplib.SMTP_SSL(
            smtp.host, smtp.port, timeout=PATIENCE, context=context
        )
    else:
        server = smtplib.SMTP(smtp.host, smtp.port, timeout=PATIENCE)
    with server:
        if smtp.security == "starttls":
            server.starttls(context=context)
        if smtp.user:
            server.login(smtp.user, smtp.password)
        yield server


def connection_fault(smtp: Smtp, error: OSError | smtplib.SMTPException) -> str:
    """Return in one sentence why a mail server cannot be used, with the setting to look at."""
    what = f"The mail server {smtp.host} could not be used"
    if isinstance(error, ssl.SSLCertVerificationError):
        why = str(error.verify_message).rstrip(".")
        return (
            f"{what}: its certificate is not trusted ({why}); check SURVEY_SMTP_HOST, or name the "
            "file of its authority in SSL_CERT_FILE."
        )
    if isinstance(error, smtplib.SMTPAuthenticationError):
        said = _described(error, "it answers")
        return (
            f"{what}: it refuses the sign-in of {smtp.user}, and {said}; check SURVEY_SMTP_USER "
            "and SURVEY_SMTP_PASSWORD."
        )
    if isinstance(error, smtplib.SMTPNotSupportedError) and "STARTTLS" in str(error):
        return f"{what}: it has no STARTTLS; check SURVEY_SMTP_PORT, or set SURVEY_SMTP_SECURITY."
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return f"{what}: it has no sign-in; leave SURVEY_SMTP_USER and SURVEY_SMTP_PASSWORD empty."
    if isinstance(error, ssl.SSLError):
        return (
            f"{what}: port {smtp.port} does not speak TLS from the first byte; check "
            "SURVEY_SMTP_PORT, or set SURVEY_SMTP_SECURITY to starttls."
        )
    return _described(error, what)


def _claim(session: Session, study_id: int | None) -> tuple[Guest, str] | None:
    """Mark the next guest with a due mail as written to; return them and the kind of mail."""
    while (guest := queries.next_due_guest(session, study_id)) is not None:
        kind, guest.mail_due = str(guest.mail_due), None
        # Since it was planned, the study may have closed, or the guest may have taken part.
        if guest.study.status == "open" and is_due(guest, kind):
            setattr(guest, SENT_AT[kind], now())
            guest.mail_fault = UNCERTAIN
            session.commit()
            return guest, kind
        session.commit()
    session.rollback()
    return None


def _send(
    session: Session,
    server: smtplib.SMTP,
    smtp: Smtp,
    guest: Guest,
    kind: str,
    secret_key: str,
    address: str,
) -> bool:
    """Send a mail, and store whether it was; raises SMTPServerDisconnected, after which all end."""
    settings, link = recruitment_of(guest.study), link_token(secret_key, guest)
    letter = letter_for(
        guest.study.plan, settings, kind, guest.name, f"{address}/s/{guest.study.slug}?guest={link}"
    )
    guest_id, email = guest.id, str(guest.email)
    session.rollback()  # no transaction while the server answers
    fault = None
    try:
        server.send_message(_message(smtp.sender, email, letter))
    except smtplib.SMTPServerDisconnected:
        raise  # the guest stays marked as UNCERTAIN
    except (smtplib.SMTPException, ValueError, IndexError, AttributeError) as error:
        # The library's parser raises the last ones for an address that is none, like a@[.
        fault = _described(error, "The mail server refused it")[:LONGEST_FAULT]
    if (sent_to := session.get(Guest, guest_id)) is not None:  # else deleted meanwhile
        sent_to.mail_fault = fault
        if fault:
            setattr(sent_to, SENT_AT[kind], None)
    session.commit()
    return fault is None


def _message(sender: str, email: str, letter: Letter) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = sender, email
    message["Subject"], message["Date"] = letter.subject, formatdate(localtime=False)
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2].strip("> ") or None)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(letter.text)
    return message


def _described(error: Exception, what: str) -> str:
    """Return a fault as a sentence, with what the server said."""
    code: int
    text: bytes | str
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        [(code, text)] = list(error.recipients.values())[:1]
    elif isinstance(error, smtplib.SMTPResponseException):
        code, text = error.smtp_code, error.smtp_error
    else:
        return f"{what}: {error or type(error).__name__}."
    said = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return f"{what}: {code} {' '.join(said.split())}"
