"""Coming, coming back, and leaving a browser to someone else."""

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
from survey.services.studies import guests
from survey.services.studies.recruitment import recruitment_of

NO_SURVEY = marked("There is no survey at this address.")


@dataclass(frozen=True)
class Visit:
    """A study and who looks at it: nobody as yet, or the one for whom the browser speaks.

    ``by_personal_link``: whether such a link leads back to this participant.
    """

    study: StudyRecord
    participant: ParticipantRecord | None
    by_personal_link: bool


def visit(session: Session, slug: str, browser_token: str) -> Visit:
    """Return who asks for a page of the study of that address, or raise NotFoundError."""
    # What cannot be a slug is not even asked for: PostgreSQL refuses a NUL, for one.
    found = (
        participant_queries.visit(session, slug, tokens.hash_token(browser_token))
        if SLUG.match(slug)
        else None
    )
    if found is None:
        raise NotFoundError(NO_SURVEY)
    return Visit(*found)


def of_browser(session: Session, study: AnyStudy, browser_token: str) -> Participant | None:
    """Return the participant for whom this browser speaks in the study."""
    return study_queries.participant_of_browser(session, study.id, tokens.hash_token(browser_token))


@dataclass(frozen=True)
class Arrival:
    """How someone came: with a guest's link, with a platform's parameters, as a test."""

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
    """Start a participant for this browser, or return the one it already speaks for.

    A guest's link or a platform's id leads back to the participant it began, on
    whatever device. Raises NotFoundError for a link that is none, NotAllowedError
    where one is needed, and StudyFullError when all places are taken.
    """
    study = study_queries.locked_study(session, study.id)  # places are counted one by one
    require_open(study.status)
    known = expected(session, study, browser_token, secret_key, arrival)
    if known is None:
        require_welcome(session, study, arrival)
        known = _new_participant(session, study, secret_key, arrival)
    _speak_for(session, study, browser_token, known)
    session.commit()
    return known


def expected(
    session: Session, study: AnyStudy, browser_token: str, secret_key: str, arrival: Arrival
) -> Participant | None:
    """Return who is meant: the guest, else the platform's person, else this browser's.

    Raises NotFoundError for a personal link that is none.
    """
    if arrival.guest:
        return guests.guest_of(session, study, secret_key, arrival.guest).participant
    external_id = arrival.parameters.get(recruitment_of(study).id_parameter)
    if external_id:
        return study_queries.participant_of_identity(session, study.id, external_id)
    return of_browser(session, study, browser_token)


def require_welcome(session: Session, study: AnyStudy, arrival: Arrival) -> None:
    """Raise NotAllowedError, or StudyFullError, where nobody new may begin this way."""
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
        guest = guests.guest_of(session, study, secret_key, arrival.guest)
        guest.participant_id = participant.id
    if arrival.parameters:
        if external_id and study_queries.participant_of_identity(session, study.id, external_id):
            external_id = None  # a guest whose link was opened with someone else's id
        session.add(
            Identity(
                participant_id=participant.id,
                study_id=study.id,
                external_id=external_id,
                parameters=dict(arrival.parameters),
            )
        )
    return participant


def _speak_for(
    session: Session, study: AnyStudy, browser_token: str, participant: Participant
) -> None:
    """Let this browser speak for a participant, and for nobody else in the study."""
    token_hash = tokens.hash_token(browser_token)
    browser = study_queries.browser_of_token(session, study.id, token_hash)
    if browser is None:
        browser = Browser(study_id=study.id, token_hash=token_hash)
        session.add(browser)
    browser.participant_id = participant.id


def identity_of(session: Session, participant: AnyParticipant) -> Mapping[str, str]:
    """Return the parameters with which a platform sent a participant."""
    found = study_queries.identity_of(session, participant.id)
    return found.parameters if found else {}


def resume(session: Session, study: AnyStudy, code: str, browser_token: str) -> Participant:
    """Let this browser go on for the participant whose code was typed.

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
    study_queries.locked_participant(session, participant.id)  # two presses of the button wait here
    _speak_for(session, study, browser_token, participant)
    session.commit()
    return participant


def leave(session: Session, study: AnyStudy, browser_token: str) -> None:
    """Let this browser speak for nobody in the study, so that someone else can begin on it."""
    browser = study_queries.browser_of_token(session, study.id, tokens.hash_token(browser_token))
    if browser is not None:
        session.delete(browser)
    session.commit()
