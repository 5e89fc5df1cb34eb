"""A participant's way from "Begin" to the receipt, apart from the answers themselves."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session

from survey.core.stimuli.blinding import draw_blinding
from survey.core.stimuli.plan import Plan
from survey.core.stimuli.words import marked
from survey.db import queries
from survey.db.models import (
    Browser,
    ConsentText,
    Identity,
    Participant,
    Presentation,
    StoredQuestion,
    Study,
)
from survey.services import guests, places, tokens
from survey.services.clock import now
from survey.services.errors import NotAllowedError, NotFoundError, StudyClosedError
from survey.services.recruitment import recruitment_of
from survey.services.whereabouts import PRACTICE, Step, whereabouts


def of_browser(session: Session, study: Study, browser_token: str) -> Participant | None:
    """Return the participant for whom this browser speaks in the study."""
    return queries.participant_of_browser(session, study.id, tokens.hash_token(browser_token))


@dataclass(frozen=True)
class Arrival:
    """How someone came: with a guest's link, with a platform's parameters, as a test."""

    guest: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    is_test: bool = False


def begin(
    session: Session,
    study: Study,
    browser_token: str,
    secret_key: str,
    arrival: Arrival = Arrival(),
) -> Participant:
    """Start a participant for this browser, or return the one it already speaks for.

    A guest's link or a platform's id leads back to the participant it began, on
    whatever device. Raises NotFoundError for a link that is none, NotAllowedError
    where one is needed, and StudyFullError when all places are taken.
    """
    require_open(study)
    study = queries.locked_study(session, study.id)  # places are counted one by one
    known = expected(session, study, browser_token, secret_key, arrival)
    if known is None:
        require_welcome(session, study, arrival)
        known = _new_participant(session, study, secret_key, arrival)
    _speak_for(session, study, browser_token, known)
    session.commit()
    return known


def expected(
    session: Session, study: Study, browser_token: str, secret_key: str, arrival: Arrival
) -> Participant | None:
    """Return who is meant: the guest, else the platform's person, else this browser's.

    Raises NotFoundError for a personal link that is none.
    """
    if arrival.guest:
        return guests.guest_of(session, study, secret_key, arrival.guest).participant
    external_id = arrival.parameters.get(recruitment_of(study).id_parameter)
    if external_id:
        return queries.participant_of_identity(session, study.id, external_id)
    return of_browser(session, study, browser_token)


def require_welcome(session: Session, study: Study, arrival: Arrival) -> None:
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
    places.require_one(session, study)


def _new_participant(
    session: Session, study: Study, secret_key: str, arrival: Arrival
) -> Participant:
    public_id, moment = tokens.new_public_id(), now()
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
        session.add(
            Identity(
                participant_id=participant.id,
                study_id=study.id,
                external_id=arrival.parameters.get(recruitment_of(study).id_parameter),
                parameters=dict(arrival.parameters),
            )
        )
    return participant


def _speak_for(
    session: Session, study: Study, browser_token: str, participant: Participant
) -> None:
    """Let this browser speak for a participant, and for nobody else in the study."""
    token_hash = tokens.hash_token(browser_token)
    browser = queries.browser_of_token(session, study.id, token_hash)
    if browser is None:
        browser = Browser(study_id=study.id, token_hash=token_hash)
        session.add(browser)
    browser.participant_id = participant.id


def identity_of(session: Session, participant: Participant) -> Mapping[str, str]:
    """Return the parameters with which a platform sent a participant."""
    found = queries.identity_of(session, participant.id)
    return found.parameters if found else {}


def resume(session: Session, study: Study, code: str, browser_token: str) -> Participant:
    """Let this browser go on for the participant whose code was typed.

    Raises NotFoundError when the study has no such code.
    """
    participant = queries.participant_by_resume_hash(session, study.id, tokens.hash_code(code))
    if participant is None:
        raise NotFoundError(
            marked(
                "This code does not belong to anyone in this study. "
                "It has 14 letters and digits, like A1B2C-D3E4F-G5H6."
            )
        )
    queries.locked_participant(session, participant.id)  # two presses of the button wait here
    _speak_for(session, study, browser_token, participant)
    session.commit()
    return participant


def consent_text(session: Session, study: Study) -> ConsentText:
    """Return the consent text that participants of the study read now."""
    return queries.newest_consent(session, study.id)


def agree(session: Session, participant: Participant, text_digest: str) -> bool:
    """Store that the newest consent text was agreed to; False if another one was read."""
    participant = queries.locked_participant(session, participant.id)
    text = queries.newest_consent(session, participant.study_id)
    if text.digest != text_digest:
        return False
    if participant.consented_at is None:
        participant.status = "started"
        participant.consent_id = text.id
        participant.consented_at = participant.last_seen_at = now()
        session.commit()
    return True


def decline(session: Session, participant: Participant) -> None:
    """Store that a participant does not want to take part; they may still change their mind.

    Whoever agreed before takes that back, and what they said about themselves is
    deleted. Once the questions were shown, stopping is leaving.
    """
    participant = queries.locked_participant(session, participant.id)
    if participant.informed_at is None and participant.status in ("started", "declined"):
        participant.status = "declined"
        participant.consented_at = participant.consent_id = participant.described_at = None
        participant.personal = {}
    session.commit()


def describe(
    session: Session, study: Study, participant: Participant, personal: dict[str, Any]
) -> None:
    """Store what a participant says about themselves; correcting it is allowed until the end.

    An option that the study screens out ends the survey for them.
    """
    participant.personal = personal
    participant.last_seen_at = now()
    participant.described_at = participant.described_at or participant.last_seen_at
    for one in study.plan.personal_fields:
        if personal.get(one.name) in one.screen_out:
            participant.status = "screened_out"
    session.commit()


def inform(session: Session, study: Study, participant: Participant) -> None:
    """After the scenario: draw and store how this participant will see each question.

    Once per participant, however often the button is pressed; from here on every
    page they see is a row in the database.
    """
    study = queries.locked_study(session, study.id)  # a pool is balanced one by one
    participant = queries.locked_participant(session, participant.id)
    participant.last_seen_at = now()
    if participant.informed_at is None:
        participant.informed_at = participant.last_seen_at
        plan = study.plan
        for position, question in _asked_of(session, study, plan, participant):
            session.add(_present(plan, position, question, participant))
    session.commit()


def _asked_of(
    session: Session, study: Study, plan: Plan, participant: Participant
) -> list[tuple[int, StoredQuestion]]:
    """Draw which questions a participant answers, and in which order: (position, question).

    From a pool come those that were asked least often so far, chance deciding among
    equals, so that the counts never differ by more than one while nobody leaves.
    """
    chance = secrets.SystemRandom()
    practice = [question for question in study.questions if question.number == PRACTICE]
    questions = [question for question in study.questions if question.number != PRACTICE]
    if plan.design == "pool":
        since = places.held_since(study)
        asked = queries.times_asked(session, study.id, since, is_test=participant.is_test)
        chance.shuffle(questions)
        questions.sort(key=lambda question: asked.get(question.id, 0))
        questions = sorted(questions[: plan.asked], key=lambda question: question.number)
    if plan.shuffle_questions:
        chance.shuffle(questions)
    return [(PRACTICE, one) for one in practice] + list(enumerate(questions, 1))


def _present(
    plan: Plan, position: int, question: StoredQuestion, participant: Participant
) -> Presentation:
    blinding = draw_blinding(
        plan.measures, plan.letters, secrets.SystemRandom(), shuffle_lists=plan.shuffle_lists
    )
    first = PRACTICE if plan.practice else 1
    return Presentation(
        participant_id=participant.id,
        question_id=question.id,
        position=position,
        label_order=list(blinding.label_order),
        column_order=list(blinding.column_order),
        list_order=list(blinding.list_order),
        shown=[list(question.columns[measure]["shown"]) for measure in blinding.label_order],
        shown_at=participant.informed_at if position == first else None,
    )


def leave(session: Session, study: Study, browser_token: str) -> None:
    """Let this browser speak for nobody in the study, so that someone else can begin on it."""
    browser = queries.browser_of_token(session, study.id, tokens.hash_token(browser_token))
    if browser is not None:
        session.delete(browser)
    session.commit()


def start_questions(session: Session, participant: Participant) -> None:
    """Leave the practice page for the first question."""
    first = queries.presentation_at(session, participant.id, 1)
    if first is not None and first.shown_at is None:
        first.shown_at = participant.last_seen_at = now()
    session.commit()


def finish(session: Session, participant: Participant) -> None:
    """Hand the answers in; raises NotAllowedError while one is missing."""
    participant = queries.locked_participant(session, participant.id)
    if participant.status != "complete":
        place = whereabouts(session, participant)
        if place.step != Step.REVIEW:
            raise NotAllowedError(marked("Some questions are still open."))
        participant.status = "complete"
        participant.completed_at = now()
        participant.receipt = tokens.new_receipt()
    session.commit()


def require_open(study: Study) -> None:
    """Raise NotAllowedError unless the study takes answers now."""
    if study.status == "closed":
        raise StudyClosedError(
            marked(
                "It takes no more answers. The answers that were saved before are kept; "
                "one sent just now is not saved."
            )
        )
    if study.status != "open":
        raise NotAllowedError(marked("This study is not open yet."))
