"""A participant's way from "Begin" to the receipt, apart from the answers themselves."""

import secrets
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from survey.core.stimuli.blinding import draw_blinding
from survey.db import queries
from survey.db.models import Browser, ConsentText, Participant, Presentation, StoredQuestion, Study
from survey.services import tokens
from survey.services.clock import now
from survey.services.errors import NotAllowedError, NotFoundError, StudyClosedError
from survey.services.whereabouts import PRACTICE, Step, whereabouts


def of_browser(session: Session, study: Study, browser_token: str) -> Participant | None:
    """Return the participant for whom this browser speaks in the study."""
    return queries.participant_of_browser(session, study.id, tokens.hash_token(browser_token))


def begin(
    session: Session, study: Study, browser_token: str, secret_key: str, *, is_test: bool = False
) -> Participant:
    """Start a participant for this browser, or return the one it already speaks for."""
    require_open(study)
    token_hash = tokens.hash_token(browser_token)
    known = queries.participant_of_browser(session, study.id, token_hash)
    if known is not None:
        return known
    public_id = tokens.new_public_id()
    participant = Participant(
        study_id=study.id,
        public_id=public_id,
        resume_hash=tokens.hash_code(tokens.resume_code(secret_key, public_id)),
        is_test=is_test,
        started_at=now(),
    )
    try:
        session.add(participant)
        session.flush()
        session.add(
            Browser(study_id=study.id, participant_id=participant.id, token_hash=token_hash)
        )
        session.commit()
    except IntegrityError:  # the same browser pressed the button twice at once
        session.rollback()
        known = queries.participant_of_browser(session, study.id, token_hash)
        if known is None:
            raise
        return known
    return participant


def resume(session: Session, study: Study, code: str, browser_token: str) -> Participant:
    """Let this browser go on for the participant whose code was typed.

    Raises NotFoundError when the study has no such code.
    """
    participant = queries.participant_by_resume_hash(session, study.id, tokens.hash_code(code))
    if participant is None:
        raise NotFoundError(
            "This code does not belong to anyone in this study. "
            "It has 14 letters and digits, like A1B2C-D3E4F-G5H6."
        )
    token_hash = tokens.hash_token(browser_token)
    browser = queries.browser_of_token(session, study.id, token_hash)
    if browser is None:
        browser = Browser(study_id=study.id, token_hash=token_hash)
        session.add(browser)
    browser.participant_id = participant.id
    session.commit()
    return participant


def consent_text(session: Session, study: Study) -> ConsentText:
    """Return the consent text that participants of the study read now."""
    return queries.newest_consent(session, study.id)


def agree(session: Session, participant: Participant, text_digest: str) -> bool:
    """Store that the newest consent text was agreed to; False if another one was read."""
    text = queries.newest_consent(session, participant.study_id)
    if text.digest != text_digest:
        return False
    if participant.consented_at is None:
        participant.status = "started"
        participant.consent_id = text.id
        participant.consented_at = now()
        session.commit()
    return True


def decline(session: Session, participant: Participant) -> None:
    """Store that a participant does not want to take part; they may still change their mind."""
    if participant.consented_at is None:
        participant.status = "declined"
        session.commit()


def describe(session: Session, participant: Participant, personal: dict[str, Any]) -> None:
    """Store what a participant says about themselves; correcting it is allowed until the end."""
    participant.personal = personal
    participant.described_at = participant.described_at or now()
    session.commit()


def inform(session: Session, study: Study, participant: Participant) -> None:
    """After the scenario: draw and store how this participant will see each question.

    Once per participant, however often the button is pressed; from here on every
    page they see is a row in the database.
    """
    participant = queries.locked_participant(session, participant.id)
    if participant.informed_at is None:
        participant.informed_at = now()
        for question in study.questions:
            session.add(_present(study, question, participant))
    session.commit()


def _present(study: Study, question: StoredQuestion, participant: Participant) -> Presentation:
    plan = study.plan
    blinding = draw_blinding(
        plan.measures, plan.letters, secrets.SystemRandom(), shuffle_lists=plan.shuffle_lists
    )
    first = PRACTICE if plan.practice else 1
    return Presentation(
        participant_id=participant.id,
        question_id=question.id,
        position=question.number,
        label_order=list(blinding.label_order),
        column_order=list(blinding.column_order),
        list_order=list(blinding.list_order),
        shown=[list(question.columns[measure]["shown"]) for measure in blinding.label_order],
        shown_at=participant.informed_at if question.number == first else None,
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
        first.shown_at = now()
    session.commit()


def finish(session: Session, participant: Participant) -> None:
    """Hand the answers in; raises NotAllowedError while one is missing."""
    participant = queries.locked_participant(session, participant.id)
    if participant.status != "complete":
        place = whereabouts(session, participant)
        if place.step != Step.REVIEW:
            raise NotAllowedError("Some questions are still open.")
        participant.status = "complete"
        participant.completed_at = now()
        participant.receipt = tokens.new_receipt()
    session.commit()


def require_open(study: Study) -> None:
    """Raise NotAllowedError unless the study takes answers now."""
    if study.status == "closed":
        raise StudyClosedError(
            "It takes no more answers. The answers that were saved before are kept; "
            "one sent just now is not saved."
        )
    if study.status != "open":
        raise NotAllowedError("This study is not open yet.")
