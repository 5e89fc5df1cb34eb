"""Begin a survey, resume it, and release a browser for another participant."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from survey import tokens
from survey.clock import now
from survey.core.studies.texts import SLUG, marked
from survey.db import participant_queries, study_queries
from survey.db.models import Browser, Identity, Participant, Study
from survey.db.records import AnyParticipant, AnyStudy, ParticipantRecord, StudyRecord
from survey.errors import NotAllowedError, NotFoundError
from survey.services.participation import participants
from survey.services.participation.participants import require_open
from survey.services.studies import recruitment
from survey.services.studies.recruitment import recruitment_of

NO_SURVEY = marked("There is no survey at this address.")


@dataclass(frozen=True)
class Visit:
    """A study, and the participant of the browser, None before they begin.

    ``by_personal_link``: whether the participant began with a personal link.
    """

    study: StudyRecord
    participant: ParticipantRecord | None
    by_personal_link: bool


def visit(session: Session, slug: str, browser_token: str) -> Visit:
    """Return the study with an address, and the browser's participant; or raise NotFoundError."""
    # PostgreSQL raises an error for a NUL, say, so the address is checked before the query.
    row = (
        participant_queries.visit(session, slug, tokens.hash_token(browser_token))
        if SLUG.match(slug)
        else None
    )
    if row is None:
        raise NotFoundError(NO_SURVEY)
    return Visit(*row)


def participant_of_browser(
    session: Session, study: AnyStudy, browser_token: str
) -> Participant | None:
    """Return the participant to whom a browser is bound in a study."""
    return study_queries.participant_of_browser(session, study.id, tokens.hash_token(browser_token))


@dataclass(frozen=True)
class Arrival:
    """How a visitor came: ``guest`` of a personal link, ``parameters`` of a platform, or a test."""

    guest: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    is_test: bool = False


def begin(
    session: Session,
    study: AnyStudy,
    browser_token: str,
    secret_key: str,
    arrival: Arrival = Arrival(),
) -> Participant:
    """Create a participant and bind this browser to them, or return the one who began before.

    A personal link or a platform's id leads to the same participant on every device. Raises
    NotFoundError for an invalid personal link, NotAllowedError where a link is needed, and
    StudyFullError when no slot is free.
    """
    # Without the lock, two visitors could take the last slot.
    study = study_queries.locked_study(session, study.id)
    require_open(study.status)
    participant = returning_participant(session, study, browser_token, secret_key, arrival)
    if participant is None:
        require_can_begin(session, study, arrival)
        participant = _new_participant(session, study, secret_key, arrival)
    _bind_browser(session, study, browser_token, participant)
    session.commit()
    return participant


def returning_participant(
    session: Session, study: AnyStudy, browser_token: str, secret_key: str, arrival: Arrival
) -> Participant | None:
    """Return the participant of the personal link, of the platform's id, or of the browser.

    The first of these that the visitor has decides. Raises NotFoundError for an invalid link.
    """
    if arrival.guest:
        return recruitment.guest_of(session, study, secret_key, arrival.guest).participant
    external_id = arrival.parameters.get(recruitment_of(study).id_parameter)
    if external_id:
        return study_queries.participant_of_identity(session, study.id, external_id)
    return participant_of_browser(session, study, browser_token)


def require_can_begin(session: Session, study: AnyStudy, arrival: Arrival) -> None:
    """Raise NotAllowedError or StudyFullError if a new visitor cannot begin this way."""
    if arrival.is_test:
        return
    settings = recruitment_of(study)
    if settings.access == "personal" and not arrival.guest:
        raise NotAllowedError(
            marked(
                "To begin, open the personal link that the researchers sent you: this survey is "
                "for those they invited."
            )
        )
    if settings.id_required and not arrival.parameters.get(settings.id_parameter):
        raise NotAllowedError(
            marked(
                "To begin, open the survey from the page that sent you here: its link carries an "
                "id with which you are credited, and this address has none."
            )
        )
    participants.require_free_slot(session, study)


def _new_participant(
    session: Session, study: Study, secret_key: str, arrival: Arrival
) -> Participant:
    public_id, moment = tokens.new_public_id(), now()
    external_id = arrival.parameters.get(recruitment_of(study).id_parameter)
    participant = Participant(
        study_id=study.id,
        public_id=public_id,
        resume_hash=tokens.hash_code(tokens.resume_code(secret_key, public_id)),
        is_test=arrival.is_test,
        started_at=moment,
        last_seen_at=moment,
    )
    session.add(participant)
    session.flush()
    if arrival.guest:
        guest = recruitment.guest_of(session, study, secret_key, arrival.guest)
        guest.participant_id = participant.id
    if arrival.parameters:
        if external_id and study_queries.participant_of_identity(session, study.id, external_id):
            external_id = None  # of another participant: a guest opened the link with their address
        session.add(
            Identity(
                participant_id=participant.id,
                study_id=study.id,
                external_id=external_id,
                parameters=dict(arrival.parameters),
            )
        )
    return participant


def _bind_browser(
    session: Session, study: AnyStudy, browser_token: str, participant: Participant
) -> None:
    """Bind a browser to a participant, and release it from another one of the study."""
    token_hash = tokens.hash_token(browser_token)
    browser = study_queries.browser_of_token(session, study.id, token_hash)
    if browser is None:
        browser = Browser(study_id=study.id, token_hash=token_hash)
        session.add(browser)
    browser.participant_id = participant.id


def identity_of(session: Session, participant: AnyParticipant) -> Mapping[str, str]:
    """Return the parameters with which a platform sent a participant."""
    identity = study_queries.identity_of(session, participant.id)
    return identity.parameters if identity else {}


def resume(session: Session, study: AnyStudy, code: str, browser_token: str) -> Participant:
    """Bind this browser to the participant who has a resume code, and return them.

    Raises NotFoundError when the study has no such code.
    """
    participant = study_queries.participant_by_resume_hash(
        session, study.id, tokens.hash_code(code)
    )
    if participant is None:
        raise NotFoundError(
            marked(
                "This code does not belong to anyone in this study. "
                "It has 14 letters and digits, like A1B2C-D3E4F-G5H6."
            )
        )
    # Without the lock, pressing the button twice could bind the browser twice.
    study_queries.locked_participant(session, participant.id)
    _bind_browser(session, study, browser_token, participant)
    session.commit()
    return participant


def leave(session: Session, study: AnyStudy, browser_token: str) -> None:
    """Release a browser from its participant, so that another person can begin on it."""
    browser = study_queries.browser_of_token(session, study.id, tokens.hash_token(browser_token))
    if browser is not None:
        session.delete(browser)
    session.commit()
