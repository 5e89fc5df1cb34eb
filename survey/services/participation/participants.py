"""A participant's way from the consent to the receipt: their next page, and their slot.

A study wants so many participants; a slot is one of them. A slot that is left unused for the time
that the study sets is released.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy.orm import Session

from survey import tokens
from survey.clock import now
from survey.core.studies.plan import Plan
from survey.core.studies.texts import marked
from survey.core.tasks import task_of
from survey.db import participant_queries, study_queries
from survey.db.models import ConsentText, Participant, Presentation, StoredQuestion, Study
from survey.db.records import AnyParticipant, AnyStudy
from survey.db.tasks import tables_of
from survey.errors import NotAllowedError, StudyClosedError, StudyFullError
from survey.services.studies.recruitment import recruitment_of


def slot_cutoff(study: AnyStudy) -> datetime:
    """Return the moment since which someone must have been seen to hold their place."""
    return now() - timedelta(minutes=recruitment_of(study).slot_minutes)


def free(session: Session, study: AnyStudy) -> int:
    """Return how many more participants can begin now."""
    taken = study_queries.taken_slots(session, study.id, slot_cutoff(study))
    return max(0, study.plan.participants - taken)


def require_free_slot(session: Session, study: AnyStudy) -> None:
    """Raise StudyFullError when no place is free."""
    if not free(session, study):
        raise StudyFullError(
            marked(
                "Enough people have taken part already, or are taking part right now. "
                "Thank you for your interest."
            )
        )


def require_slot(session: Session, study: AnyStudy, participant: AnyParticipant) -> None:
    """Raise StudyFullError for someone who was away for long and whose place was given away."""
    seen = participant.last_seen_at or participant.started_at
    if participant.is_test or participant.status != "started" or seen > slot_cutoff(study):
        return
    if not free(session, study):
        raise StudyFullError(
            marked(
                "You were away for a long time, and your place went to someone else. What you had "
                "saved is kept. Thank you for your interest."
            )
        )


PRACTICE = 0


class Step(StrEnum):
    """The pages of a survey, in order."""

    CONSENT = "consent"
    DECLINED = "declined"
    SCREENED_OUT = "screened_out"
    STOPPED = "stopped"
    ABOUT_YOU = "about_you"
    SCENARIO = "scenario"
    PRACTICE = "practice"
    QUESTION = "question"
    REVIEW = "review"
    DONE = "done"


# Where a status alone decides.
ENDS = {
    "complete": Step.DONE,
    "declined": Step.DECLINED,
    "screened_out": Step.SCREENED_OUT,
    "stopped": Step.STOPPED,
}


@dataclass(frozen=True)
class Whereabouts:
    """Where a participant has come to.

    ``position``: of the next question, if there is one. ``answered``: for each
    position that was drawn, practice (0) included, whether it is answered.
    """

    step: Step
    position: int | None = None
    answered: Mapping[int, bool] = field(default_factory=dict)

    @property
    def questions(self) -> dict[int, bool]:
        """``answered`` without practice."""
        return {position: done for position, done in self.answered.items() if position > PRACTICE}

    def with_answer(self, position: int) -> "Whereabouts":
        """Tell where it goes on once the question at this position is answered."""
        return _among({**self.answered, position: True})


def whereabouts(session: Session, participant: AnyParticipant) -> Whereabouts:
    """Tell where a participant goes on, from what is stored and nothing else."""
    if participant.status in ENDS:
        return Whereabouts(ENDS[participant.status])
    if participant.consented_at is None:
        return Whereabouts(Step.CONSENT)
    if participant.described_at is None:
        return Whereabouts(Step.ABOUT_YOU)
    if participant.informed_at is None:
        return Whereabouts(Step.SCENARIO)
    return _among(participant_queries.answered_positions(session, participant.id))


def _among(answered: Mapping[int, bool]) -> Whereabouts:
    """Tell where someone goes on who has been given these questions."""
    if not any(answered.values()) and PRACTICE in answered:
        return Whereabouts(Step.PRACTICE, PRACTICE, answered)
    for position, done in answered.items():
        if not done and position > PRACTICE:
            return Whereabouts(Step.QUESTION, position, answered)
    return Whereabouts(Step.REVIEW, None, answered)


def consent_text(session: Session, study: AnyStudy) -> ConsentText:
    """Return the consent text that participants of the study read now."""
    return study_queries.newest_consent(session, study.id)


def agree(session: Session, who: AnyParticipant, text_digest: str) -> bool:
    """Store that the newest consent text was agreed to; False if another one was read."""
    study = study_queries.locked_study(session, who.study_id)
    participant = study_queries.locked_participant(session, who.id)
    text = study_queries.newest_consent(session, participant.study_id)
    if text.digest != text_digest:
        return False
    if participant.consented_at is None:
        if participant.status == "declined" and not participant.is_test:
            require_free_slot(session, study)  # their place may have gone to someone else
        participant.status = "started"
        participant.consent_id = text.id
        participant.consented_at = participant.last_seen_at = now()
        session.commit()
    return True


def decline(session: Session, who: AnyParticipant) -> None:
    """Store that a participant does not want to take part; they may still change their mind.

    Whoever agreed before takes that back, and what they said about themselves is
    deleted. Once the questions were shown, stopping is leaving.
    """
    participant = study_queries.locked_participant(session, who.id)
    if participant.informed_at is None and participant.status in ("started", "declined"):
        participant.status = "declined"
        participant.consented_at = participant.consent_id = participant.described_at = None
        participant.personal = {}
    session.commit()


def describe(
    session: Session, study: AnyStudy, who: AnyParticipant, personal: dict[str, Any]
) -> None:
    """Store what a participant says about themselves; correcting it is allowed until the end.

    An option that the study screens out ends the survey for them.
    """
    participant = study_queries.locked_participant(session, who.id)
    participant.personal = personal
    participant.last_seen_at = now()
    participant.described_at = participant.described_at or participant.last_seen_at
    for one in study.plan.personal_fields:
        if participant.informed_at is None and personal.get(one.name) in one.screen_out:
            participant.status = "screened_out"
    session.commit()


def inform(session: Session, who: AnyParticipant) -> None:
    """After the scenario: draw and store how this participant will see each question.

    Once per participant, however often the button is pressed; from here on every
    page they see is a row in the database.
    """
    study = study_queries.locked_study(session, who.study_id)  # a pool is balanced one by one
    participant = study_queries.locked_participant(session, who.id)
    participant.last_seen_at = now()
    if participant.informed_at is None:
        participant.informed_at = participant.last_seen_at
        plan = study.plan
        for position, question in _asked_of(session, study, plan, participant):
            _present(session, plan, position, question, participant)
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
        since = slot_cutoff(study)
        asked = study_queries.times_asked(session, study.id, since, is_test=participant.is_test)
        chance.shuffle(questions)
        questions.sort(key=lambda question: asked.get(question.id, 0))
        questions = sorted(questions[: plan.asked], key=lambda question: question.number)
    if plan.shuffle_questions:
        chance.shuffle(questions)
    return [(PRACTICE, one) for one in practice] + list(enumerate(questions, 1))


def _present(
    session: Session,
    plan: Plan,
    position: int,
    question: StoredQuestion,
    participant: Participant,
) -> None:
    """Draw and store how a participant will see a question."""
    task = task_of(plan)
    drawn = task.draw(
        plan, task.read_question(question.number, question.content), secrets.SystemRandom()
    )
    first = PRACTICE if plan.practice else 1
    presentation = Presentation(
        participant_id=participant.id,
        question_id=question.id,
        position=position,
        shown_at=participant.informed_at if position == first else None,
    )
    session.add(presentation)
    session.flush()
    participant_queries.store_presentation(session, tables_of(plan), presentation.id, vars(drawn))


def start_questions(session: Session, who: AnyParticipant) -> None:
    """Leave the practice page for the first question."""
    participant = study_queries.locked_participant(session, who.id)
    first = study_queries.presentation_at(session, participant.id, 1)
    if first is not None and first.shown_at is None:
        first.shown_at = participant.last_seen_at = now()
    session.commit()


def finish(session: Session, who: AnyParticipant) -> None:
    """Hand the answers in; raises NotAllowedError while one is missing."""
    participant = study_queries.locked_participant(session, who.id)
    if participant.status != "complete":
        place = whereabouts(session, participant)
        if place.step != Step.REVIEW:
            raise NotAllowedError(marked("Some questions are still open."))
        participant.status = "complete"
        participant.completed_at = now()
        participant.receipt = tokens.new_receipt()
    session.commit()


def require_open(status: str) -> None:
    """Raise NotAllowedError unless a study of this status takes answers."""
    if status == "closed":
        raise StudyClosedError(
            marked(
                "It takes no more answers. The answers that were saved before are kept; "
                "one sent just now is not saved."
            )
        )
    if status != "open":
        raise NotAllowedError(marked("This study is not open yet."))
