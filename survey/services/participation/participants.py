"""Participants: how they begin and resume, their slots, and their steps from consent to receipt.

A study has a slot for each participant that it wants. Agreeing takes one. A slot that is unused for
the time that the study sets is released, and that of who does nothing after agreeing sooner.
"""

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session

from survey import tokens
from survey.core.kinds import KINDS, kind_of
from survey.core.studies.fields import FieldAnswer, PersonalField
from survey.core.studies.plan import Plan
from survey.core.text_input import SLUG
from survey.db import participant_queries, queries
from survey.db.engine import begin_reading, begin_writing
from survey.db.models import (
    Browser,
    Guest,
    Identity,
    Participant,
    Presentation,
    StoredQuestion,
    Study,
    now,
)
from survey.db.models.base import own_values
from survey.db.participant_queries import AnyParticipant, AnyStudy, Visit

# For pages too, which may import services but not survey.db.
from survey.db.queries import consent_text as consent_text
from survey.errors import (
    IdTakenError,
    NotAllowedError,
    NotFoundError,
    StudyClosedError,
    StudyFullError,
    marked,
)
from survey.services import accounts
from survey.services.accounts import THE_SURVEY
from survey.services.participation.queue import Queue, has_queue, queue_of
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import find_guest, recruitment_of

FAILED_CHECK = "first answer to the check question was wrong"
QUOTA_FULL = "the quota of their group was full"
EARLIER_ARRIVALS = 99  # are stored beside the last; of more, the oldest are dropped
PRACTICE = 0  # the position of the practice question
AGREED_ONLY = timedelta(minutes=20)  # holds a slot for someone who saves nothing after agreeing
PLACEHOLDER_SIGNS = set("{}%")  # of {{%PROLIFIC_PID%}}, which a platform replaces by an id
QUERY_SIGNS = set("&=")  # between parameters: an id with one has swallowed another parameter
NO_ID_SIGNS = PLACEHOLDER_SIGNS | QUERY_SIGNS


def visit(session: Session, slug: str, browser_token: str) -> Visit:
    """Return the study with an address, and the browser's participant; or raise NotFoundError."""
    token_hash = tokens.hash_token(browser_token)
    # PostgreSQL raises an error for some characters, such as NUL: the query must not get them.
    visitor = participant_queries.visit(session, slug, token_hash) if SLUG.match(slug) else None
    if visitor is None:
        raise NotFoundError(marked("There is no survey at this address."))
    return visitor


@dataclass(frozen=True)
class Arrival:
    """How a visitor came: ``guest`` of a personal link, ``parameters`` of a platform, or a test.

    ``is_signed``: whether the platform has signed the parameters; anyone can type others.
    """

    guest: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    is_test: bool = False
    is_signed: bool = False


def begin(
    session: Session,
    study: AnyStudy,
    browser_token: str,
    secret_key: str,
    arrival: Arrival = Arrival(),
) -> Participant:
    """Create a participant and bind this browser to them, or return the one who began before.

    Of one who began before, a platform's new parameters are stored, in a closed study too. Raises
    NotFoundError for an invalid personal link, NotAllowedError where a link is needed or no one
    new is admitted, StudyFullError when no slot is free, and otherwise as
    ``returning_participant`` does.
    """
    # Without the lock, two browsers could begin with the same personal link or id.
    study = queries.locked_study(session, study)
    participant = returning_participant(session, study, browser_token, secret_key, arrival)
    if participant is None:
        require_open(study.status)
        require_can_begin(session, study, arrival)
        _discard_unclaimed(session, study, arrival)
        participant = _new_participant(session, study, secret_key, arrival)
    else:
        _store_arrival(session, study, participant, arrival)
    _bind_browser(session, study, browser_token, participant)
    session.commit()
    return participant


def returning_participant(
    session: Session, study: AnyStudy, browser_token: str, secret_key: str, arrival: Arrival
) -> Participant | None:
    """Return the participant of the personal link, else of the browser; None for a new visitor.

    With a platform's id, only the browser that began with it continues, unless the platform has
    signed it. Raises NotFoundError for an invalid link, NotAllowedError for what is no id (a
    placeholder, a part of the link), and IdTakenError for the id of another browser's participant.
    """
    if arrival.guest:
        return find_guest(session, study, secret_key, arrival.guest).participant
    browser = _browser(session, study, browser_token)
    external_id = _external_id(study, arrival)
    if not external_id:
        return browser.participant if browser else None
    identity = _identity(session, study, arrival)
    if identity and browser and browser.participant_id == identity.participant_id:
        return identity.participant
    if PLACEHOLDER_SIGNS & set(external_id):
        raise NotAllowedError(
            marked(
                "This link is not complete: it has a placeholder where your id should be. Please "
                "tell the researchers. For researchers: open the link from your platform, which "
                "puts the id in, and compare the placeholder with the platform's instructions."
            )
        )
    if QUERY_SIGNS & set(external_id):
        raise NotAllowedError(
            marked(
                "This link was changed on its way: the id in it holds another part of the link. "
                "Please open the survey again from the page that sent you here; if this comes "
                "back, tell the researchers."
            )
        )
    if identity is None or not _is_claimed(identity.participant):
        return None
    if not arrival.is_signed:
        raise IdTakenError(
            marked(
                "Someone has begun this survey with the id in your link, on another device or in "
                "another browser. If it was you, type your code below to continue. If you do not "
                "have the code, ask the researchers for it."
            )
        )
    return identity.participant


def _external_id(study: AnyStudy, arrival: Arrival) -> str | None:
    return arrival.parameters.get(recruitment_of(study).id_parameter)


def _identity(session: Session, study: AnyStudy, arrival: Arrival) -> Identity | None:
    sent = {"study_id": study.id, "external_id": _external_id(study, arrival)}
    return queries.find(session, Identity, **sent) if sent["external_id"] else None


def _is_claimed(participant: Participant) -> bool:
    """Return whether more is stored of a participant than that they began."""
    return participant.consented_at is not None or participant.excluded


def _discard_unclaimed(session: Session, study: Study, arrival: Arrival) -> None:
    """Delete the participant who began with the same id but has not agreed.

    Else anyone who knows an id could keep the person from taking part, or could have begun for
    them and read later what they answer.
    """
    identity = None if arrival.guest else _identity(session, study, arrival)
    if identity is not None and not _is_claimed(identity.participant):
        session.delete(identity)
        session.delete(identity.participant)
        session.flush()


def _browser(session: Session, study: AnyStudy, browser_token: str) -> Browser | None:
    token_hash = tokens.hash_token(browser_token)
    return queries.find(session, Browser, study_id=study.id, token_hash=token_hash)


def require_can_begin(session: Session, study: AnyStudy, arrival: Arrival) -> None:
    """Raise NotAllowedError or StudyFullError if a new visitor cannot begin this way."""
    if arrival.is_test:
        return
    if study.admission_ended_at is not None:
        raise NotAllowedError(
            marked(
                "This survey takes no new participants. Those who have already begun can finish. "
                "Thank you for your interest."
            )
        )
    settings = recruitment_of(study)
    if settings.access == "personal" and not arrival.guest:
        raise NotAllowedError(
            marked(
                "To begin, open the personal link that the researchers sent you: this survey is "
                "for those they invited."
            )
        )
    if settings.id_required and not _external_id(study, arrival):
        raise NotAllowedError(
            marked(
                "To begin, open the survey from the page that sent you here: its link carries an "
                "id with which you are credited, and this address has none."
            )
        )
    if settings.signing_keys and _external_id(study, arrival) and not arrival.is_signed:
        raise NotAllowedError(
            marked(
                "To begin, open the survey again from the page that sent you here: this address is "
                "not signed by it, or is too old."
            )
        )
    require_free_slot(session, study)


def _new_participant(
    session: Session, study: Study, secret_key: str, arrival: Arrival
) -> Participant:
    public_id, moment = tokens.new_public_id(), now()
    external_id = _external_id(study, arrival)
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
        guest = find_guest(session, study, secret_key, arrival.guest)
        guest.participant_id = participant.id
    if arrival.parameters:
        if _identity(session, study, arrival):
            # Of another participant: a guest opened the link with their address.
            external_id = None
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
    browser = _browser(session, study, browser_token)
    if browser is None:
        browser = Browser(study_id=study.id, token_hash=tokens.hash_token(browser_token))
        session.add(browser)
    browser.participant_id = participant.id


def comes_anew(session: Session, participant: AnyParticipant, arrival: Arrival) -> bool:
    """Return whether a platform sends a participant with other parameters than the stored ones.

    Fewer are none: a link may have been cut off.
    """
    stored = identity_of(session, participant)
    return any(stored.get(name) != value for name, value in arrival.parameters.items())


def _store_arrival(
    session: Session, study: AnyStudy, participant: Participant, arrival: Arrival
) -> None:
    """Store with which parameters a platform sent a participant again, beside the earlier ones.

    Nothing is stored of an address of another person, nor of one that is not signed but should be.
    """
    unsigned = recruitment_of(study).signing_keys and not arrival.is_signed
    external_id = _external_id(study, arrival)
    is_id = not NO_ID_SIGNS & set(external_id or "")
    if unsigned or not is_id or not comes_anew(session, participant, arrival):
        return
    known, sent = _identity(session, study, arrival), session.get(Identity, participant.id)
    if known is not None and known is not sent:
        return
    if sent is None:
        sent = Identity(participant_id=participant.id, study_id=study.id, earlier=[])
        session.add(sent)
    elif sent.external_id not in (None, external_id):
        return
    else:
        at = sent.arrived_at or participant.started_at
        before = {"at": at.isoformat(), "parameters": dict(sent.parameters)}
        sent.earlier = [*sent.earlier, before][-EARLIER_ARRIVALS:]
    sent.external_id = external_id
    sent.parameters = {**(sent.parameters or {}), **arrival.parameters}
    sent.arrived_at = now()


def resume(
    session: Session,
    study: AnyStudy,
    code: str,
    browser_token: str,
    arrival: Arrival = Arrival(),
) -> Participant:
    """Bind this browser to the participant who has a resume code, and return them.

    A platform's new parameters are stored. Raises NotFoundError when the study has no such code.
    """
    resume_hash = tokens.hash_code(code)
    participant = queries.find(session, Participant, study_id=study.id, resume_hash=resume_hash)
    if participant is None:
        raise NotFoundError(
            marked(
                "This code does not belong to anyone in this study. "
                "It has 14 letters and digits, like A1B2C-D3E4F-G5H6."
            )
        )
    # Without the study's lock, beginning or pressing twice at once could bind the browser twice.
    queries.locked_study(session, study)
    queries.locked_participant(session, participant)
    _bind_browser(session, study, browser_token, participant)
    _store_arrival(session, study, participant, arrival)
    session.commit()
    return participant


def leave(session: Session, study: AnyStudy, browser_token: str) -> None:
    """Release a browser from its participant, so that another person can begin on it."""
    token_hash = tokens.hash_token(browser_token)
    session.execute(delete(Browser).filter_by(study_id=study.id, token_hash=token_hash))
    session.commit()


def identity_of(session: Session, participant: AnyParticipant) -> Mapping[str, str]:
    """Return the parameters with which a platform sent a participant."""
    identity = queries.identity_of(session, participant)
    return identity.parameters if identity else {}


def slot_cutoff(study: AnyStudy) -> datetime:
    """Return the time since which participants under way must have been seen to hold a slot."""
    return now() - timedelta(minutes=recruitment_of(study).slot_minutes)


def free_slots(session: Session, study: AnyStudy) -> int:
    """Return how many more participants can begin now."""
    since = slot_cutoff(study)
    taken = queries.taken_slots(session, study.id, since, max(since, now() - AGREED_ONLY))
    return max(0, study.plan.participants - taken)


def count_under_way(session: Session, study: AnyStudy) -> int:
    """Return how many participants who count have begun, were seen lately and are not complete."""
    counts = queries.status_counts(session, study.id, slot_cutoff(study))
    return sum(
        row.participants
        for row in counts
        if row.population == "counts" and row.status == "started" and not row.away
    )


def close_ended(session: Session) -> int:
    """Close open studies that admit no one new once no one is under way; return how many.

    When their time is over also those in which people are.
    """
    closed = 0
    for study in queries.closing_studies(session):
        is_late = study.closes_at is not None and now() > study.closes_at
        if is_late or not count_under_way(session, study):
            lifecycle.close_study(session, study, THE_SURVEY)
            closed += 1
    return closed


def require_free_slot(session: Session, study: AnyStudy) -> None:
    """Raise StudyFullError when no slot is free."""
    if not free_slots(session, study):
        raise StudyFullError(
            marked(
                "Enough people have taken part already, or are taking part right now. "
                "Thank you for your interest."
            )
        )


def require_slot(session: Session, study: AnyStudy, participant: AnyParticipant) -> None:
    """Raise StudyFullError if the participant has no slot, and none is free."""
    if participant.is_test or participant.status != "started":
        return
    seen = participant.last_seen_at or participant.started_at
    if participant.consented_at is None:
        require_free_slot(session, study)
        return
    since = slot_cutoff(study)
    if seen <= participant.consented_at:
        since = max(since, now() - AGREED_ONLY)
    if seen <= since and not (
        free_slots(session, study) and _has_place(session, study, participant, participant.personal)
    ):
        raise StudyFullError(
            marked(
                "You were away for a long time, and your place went to someone else. What you had "
                "saved is kept. Thank you for your interest."
            )
        )


def release(session: Session, study: Study, record: AnyParticipant, who: str) -> None:
    """Release the slot of a participant who is under way, and log it; saved answers stay.

    The survey is over for them as if they had stopped, until ``readmit``. Raises NotAllowedError
    for a participant of another status, and where the study is not open.
    """
    participant = _locked_under_way(session, study, record)
    if participant.status != "started":
        raise NotAllowedError(
            f"{participant.public_id} is {_status_words(participant)} and holds no slot to release."
        )
    participant.status = "stopped"
    accounts.log(session, study, who, "released", participant.public_id)
    session.commit()


def readmit(session: Session, study: Study, record: AnyParticipant, who: str) -> None:
    """Let a participant who stopped or was screened out go on, and log it.

    They get a slot, as if they had been seen now; who was screened out describes themselves again.
    Raises NotAllowedError for a participant of another status, and where the study is not open or
    has no free slot.
    """
    participant = _locked_under_way(session, study, record)
    if participant.status not in ("stopped", "screened_out"):
        raise NotAllowedError(
            f"{participant.public_id} is {_status_words(participant)}; only people who stopped or "
            "were screened out can be readmitted."
        )
    if not participant.is_test and not free_slots(session, study):
        raise NotAllowedError(
            f"All {study.plan.participants} slots of {study.slug!r} are taken; `survey study "
            "release` frees that of someone under way."
        )
    if participant.status == "screened_out":
        participant.described_at = None
    if participant.exclude_reason == QUOTA_FULL:
        participant.exclude_reason = None
    participant.status, participant.last_seen_at = "started", now()
    accounts.log(session, study, who, "readmitted", participant.public_id)
    session.commit()


def _locked_under_way(session: Session, study: Study, record: AnyParticipant) -> Participant:
    """Return a participant of an open study, locked; raise NotAllowedError for another study."""
    study = queries.locked_study(session, study)
    lifecycle.require_changeable(study)
    if study.status != "open":
        raise NotAllowedError(
            f"The study {study.slug!r} is {study.status}, so no one is under way."
        )
    return queries.locked_participant(session, record)


def _status_words(participant: Participant) -> str:
    words = participant.status.replace("_", " ").replace("started", "under way")
    return words.replace("complete", "finished")


def require_open(status: str) -> None:
    """Raise NotAllowedError unless a study of this status takes answers."""
    if status == "closed":
        raise StudyClosedError(marked("It takes no more answers. Thank you for your interest."))
    if status != "open":
        raise NotAllowedError(marked("This study is not open yet."))


class ParticipantStep(StrEnum):
    """The pages of a survey, in order."""

    CONSENT = "consent"
    DECLINED = "declined"
    SCREENED_OUT = "screened_out"
    STOPPED = "stopped"
    ABOUT_YOU = "about_you"
    SCENARIO = "scenario"
    PRACTICE = "practice"
    QUESTION = "question"
    WAITING = "waiting"
    CLOSING = "closing"
    REVIEW = "review"
    DONE = "done"


@dataclass(frozen=True)
class Progress:
    """A participant's next page.

    ``position``: of the next question, if that is the page. ``answered``: for each position,
    whether it is answered; position 0 is the practice of release 0.2. ``closing``: whether the
    closing questions have still to be answered.
    """

    step: ParticipantStep
    position: int | None = None
    answered: Mapping[int, bool] = field(default_factory=dict)
    closing: bool = False

    @property
    def questions(self) -> dict[int, bool]:
        """``answered`` without the practice of release 0.2."""
        return {position: done for position, done in self.answered.items() if position > PRACTICE}

    def with_answer(self, position: int) -> "Progress":
        """Return the progress once the question at a position is answered."""
        return _progress_among({**self.answered, position: True}, closing=self.closing)


def progress_of(session: Session, plan: Plan, participant: AnyParticipant) -> Progress:
    """Return a participant's next page, from what is stored alone."""
    if participant.status != "started":
        ended = participant.status
        return Progress(ParticipantStep.DONE if ended == "complete" else ParticipantStep(ended))
    if step := step_before_questions(participant):
        return Progress(step)
    answered, has_begun = participant_queries.positions_of(session, participant.id)
    closing = bool(plan.asked_at_end) and participant.closing is None
    if plan.practice and answered and not has_begun:
        return Progress(ParticipantStep.PRACTICE, PRACTICE, answered, closing)
    progress = _progress_among(answered, closing=closing)
    if progress.step in (ParticipantStep.CLOSING, ParticipantStep.REVIEW) and has_queue(
        plan, participant
    ):
        queue = _queue_of(session, plan, participant)
        if queue.due or queue.is_open:
            return replace(progress, step=ParticipantStep.WAITING)
    return progress


def _queue_of(session: Session, plan: Plan, participant: AnyParticipant) -> Queue:
    study = session.get_one(Study, participant.study_id)
    since = slot_cutoff(study)
    queue = queue_of(session, plan, participant, since)
    if queue.is_open and study.admission_ended_at is not None and not participant.is_test:
        return replace(
            queue, is_open=queries.has_others_under_way(session, study.id, since, plan.queue_arm)
        )
    return queue


def step_before_questions(participant: AnyParticipant) -> ParticipantStep | None:
    """Return the first page before the questions that a participant has not sent yet, or None."""
    if participant.consented_at is None:
        return ParticipantStep.CONSENT
    if participant.described_at is None:
        return ParticipantStep.ABOUT_YOU
    return ParticipantStep.SCENARIO if participant.informed_at is None else None


def _progress_among(answered: Mapping[int, bool], *, closing: bool) -> Progress:
    """Return the first open question; else what follows."""
    for position, done in answered.items():
        if not done and position > PRACTICE:
            return Progress(ParticipantStep.QUESTION, position, answered, closing)
    return Progress(
        ParticipantStep.CLOSING if closing else ParticipantStep.REVIEW, None, answered, closing
    )


def agree(session: Session, record: AnyParticipant, text_digest: str) -> bool:
    """Store the agreement to the latest consent text; return False if another was shown.

    Raises StudyFullError when no slot is free.
    """
    # Without the lock, two participants could take the last slot.
    study = queries.locked(session, Study, id=record.study_id)
    participant = queries.locked_participant(session, record)
    text = consent_text(session, study)
    if text.digest != text_digest:
        return False
    # Who has stopped meanwhile, in another window, has not come back by this.
    if participant.consented_at is None and participant.status in ("started", "declined"):
        if not participant.is_test:
            require_free_slot(session, study)
        participant.status = "started"
        participant.consent_id = text.id
        participant.consented_at = participant.last_seen_at = now()
        session.commit()
    return True


def decline(session: Session, record: AnyParticipant) -> None:
    """Store that a participant does not want to take part; they can still agree later.

    An earlier agreement is withdrawn and the personal answers are deleted. Nothing changes once
    questions were drawn: ``own_data.stop`` ends the survey then.
    """
    participant = queries.locked_participant(session, record)
    if participant.informed_at is None and participant.status in ("started", "declined"):
        participant.status = "declined"
        participant.consented_at = participant.consent_id = participant.described_at = None
        participant.personal = {}
    session.commit()


def store_personal_answers(
    session: Session, study: AnyStudy, record: AnyParticipant, personal: dict[str, FieldAnswer]
) -> None:
    """Store a participant's personal answers, which they can correct until the end.

    An answer that the study screens out, or whose group has reached its quota, ends the survey for
    them; then none is stored. Others are
    drawn into an arm, where the study has arms that differ in what comes next. Nothing
    changes for participants who have stopped meanwhile.
    """
    # Without the lock, two participants could be drawn into an arm that lacks one, or take the last
    # place of a group.
    needs_lock = study.plan.arms or study.plan.quota_fields
    locked = queries.locked(session, Study, id=record.study_id) if needs_lock else None
    participant = queries.locked_participant(session, record)
    if participant.status != "started":
        return
    participant.personal = personal
    participant.last_seen_at = now()
    participant.described_at = participant.described_at or participant.last_seen_at
    fields = study.plan.personal_fields
    if participant.informed_at is None and any(
        field.screens_out(personal.get(field.name)) for field in fields
    ):
        participant.status, participant.personal = "screened_out", {}
    elif participant.informed_at is None and not _has_place(session, study, participant, personal):
        participant.status, participant.personal = "screened_out", {}
        participant.exclude_reason = QUOTA_FULL
    elif locked is not None and participant.arm is None and locked.plan.queue_arm is None:
        participant.arm = _draw_arm(session, locked, participant)  # the scenario may differ in it
    session.commit()


def _has_place(
    session: Session,
    study: AnyStudy,
    participant: AnyParticipant,
    personal: Mapping[str, FieldAnswer],
) -> bool:
    """Return whether no group that these personal answers are in is full without the participant.

    Test data have no quota.
    """
    if participant.is_test:
        return True
    for item in study.plan.quota_fields:
        group = item.quota_group(personal.get(item.name))
        held = quota_counts(session, study, item, but=participant.id)
        if group is not None and held[group] >= dict(item.quotas)[group]:
            return False
    return True


def quota_counts(
    session: Session, study: AnyStudy, item: PersonalField, *, but: int | None = None
) -> Counter[str]:
    """Count the participants who hold a slot in each group of a field; ``but``: one left out."""
    answers = queries.answers_to_field(session, study.id, item.name, slot_cutoff(study), but=but)
    counts = Counter[str]()
    for answer, people in answers.items():
        typed = int(answer) if answer and item.kind in ("number", "scale") else answer
        if (group := item.quota_group(typed)) is not None:
            counts[group] += people
    return counts


def is_over_quota(session: Session, record: AnyParticipant) -> bool:
    """Return whether a participant was screened out because their group was full."""
    return queries.current_participant(session, record).exclude_reason == QUOTA_FULL


def confirm_scenario(session: Session, record: AnyParticipant) -> None:
    """Store that the scenario was read; draw and store the participant's questions.

    They are drawn once, also if the button is pressed twice. Nothing changes for participants who
    have stopped meanwhile.
    """
    # Without the lock, two participants would be drawn the same questions of a pool.
    study = queries.locked(session, Study, id=record.study_id)
    participant = queries.locked_participant(session, record)
    if participant.status != "started":
        return
    participant.last_seen_at = now()
    if participant.informed_at is None:
        participant.informed_at = participant.last_seen_at
        if participant.arm is None:
            participant.arm = _draw_arm(session, study, participant)
        plan = study.plan.in_arm(participant.arm)
        if not has_queue(plan, participant):
            questions = _draw_questions(session, study, plan, participant)
            _present(session, plan, participant, questions, participant.informed_at)
    session.commit()


def _present(
    session: Session,
    plan: Plan,
    participant: Participant,
    questions: Sequence[tuple[int, StoredQuestion]],
    moment: datetime,
) -> None:
    """Draw and store how a participant meets questions; without practice the first is shown now."""
    kind, table = kind_of(plan), KINDS[plan.kind].tables.presentation
    again = {plan.number_of(check.name): check.again for check in plan.checks}
    shown: dict[int | None, Any] = {}
    for position, row in questions:
        question, chance = kind.read_question(row.number, row.content), secrets.SystemRandom()
        if (earlier := shown.get(again.get(row.number))) is None:
            drawn = kind.draw(plan, question, chance)
        else:
            drawn = kind.draw_again(plan, question, earlier, chance)
        shown[row.number] = drawn
        presentation = Presentation(
            participant_id=participant.id,
            question_id=row.id,
            position=position,
            shown_at=moment if position == questions[0][0] and not plan.practice else None,
        )
        session.add(presentation)
        session.flush()
        values = own_values(table, drawn)
        participant_queries.store_own_columns(session, table, presentation.id, values)


def take_due_questions(session: Session, record: AnyParticipant) -> bool:
    """Ask a participant with a queue the questions that are due; return whether there are some."""
    # Without the lock, two participants could be asked the same question.
    study = queries.locked(session, Study, id=record.study_id)
    participant = queries.locked_participant(session, record)
    require_open(study.status)
    plan = study.plan.in_arm(participant.arm)
    if participant.status != "started" or not has_queue(plan, participant):
        return False
    due = [*_queue_of(session, plan, participant).due]
    if not due:
        return False
    participant.last_seen_at = now()
    last = max(participant_queries.positions_of(session, participant.id).answered, default=0)
    rows = {row.number: row for row in study.questions}
    order = enumerate(plan.arrange(due, secrets.SystemRandom()), last + 1)
    questions = [(position, rows[number]) for position, number in order]
    _present(session, plan, participant, questions, participant.last_seen_at)
    session.commit()
    return True


def _draw_arm(session: Session, study: Study, participant: Participant) -> str | None:
    """Return the arm that a personal link gives, else draw one; None where the study has none."""
    guest = queries.find(session, Guest, participant_id=participant.id)
    if guest is not None and guest.arm in study.plan.arms:
        return guest.arm
    since = slot_cutoff(study)
    counts = queries.arm_counts(session, study.id, since, is_test=participant.is_test)
    by_arm = {arm or "": count for arm, count in counts.items()}
    return study.plan.arm_for(by_arm, secrets.SystemRandom())


def _draw_questions(
    session: Session, study: Study, plan: Plan, participant: Participant
) -> list[tuple[int, StoredQuestion]]:
    """Draw which questions a participant answers, and in which order: (position, question).

    Of a pool, those asked least often are drawn, ties at random. Until a participant leaves, the
    counts differ by one at most, but for a question that everyone is asked. Of a plan's blocks,
    the first of those held by the fewest is taken.
    """
    chance = secrets.SystemRandom()
    questions = {question.number: question for question in study.questions}
    numbers = list(range(1, plan.questions + 1))
    if plan.blocks:
        held = queries.numbers_asked(
            session, study.id, slot_cutoff(study), is_test=participant.is_test
        )
        numbers = [*min(plan.blocks, key=lambda block: held.count(frozenset(block)))]
    elif plan.design == "pool":
        since = slot_cutoff(study)
        asked = queries.times_asked(session, study.id, since, is_test=participant.is_test)
        chance.shuffle(numbers)
        numbers.sort(
            key=lambda number: (not plan.is_for_all(number), asked.get(questions[number].id, 0))
        )
        numbers = numbers[: plan.counted]
    order = enumerate(plan.arrange(numbers, chance), 1)
    return [(position, questions[number]) for position, number in order]


def start_questions(session: Session, record: AnyParticipant) -> None:
    """Store that the first question is shown, after practice."""
    participant = queries.locked_participant(session, record)
    first = queries.find(session, Presentation, participant_id=participant.id, position=1)
    if participant.status == "started" and first is not None and first.shown_at is None:
        first.shown_at = participant.last_seen_at = now()
    session.commit()


def store_check(
    session: Session, study: AnyStudy, record: AnyParticipant, *, is_right: bool
) -> None:
    """Store whether the first answer to the check question was right.

    Where the plan excludes for a wrong one, the participant is excluded with that reason.
    """
    participant = queries.locked_participant(session, record)
    if participant.understood is None and participant.status == "started":
        participant.understood = is_right
        participant.last_seen_at = now()
        if study.plan.exclude_failed_check and not is_right:
            participant.excluded, participant.exclude_reason = True, FAILED_CHECK
    session.commit()


def note_machine_line(session: Session, record: AnyParticipant) -> None:
    """Store that the field for programs was filled in, commit, and go on reading."""
    begin_writing(session)
    participant = queries.locked_participant(session, record)
    participant.machine_line = participant.machine_line or participant.status == "started"
    session.commit()
    begin_reading(session)


def store_closing_answers(
    session: Session, record: AnyParticipant, closing: dict[str, FieldAnswer]
) -> None:
    """Store the answers to the closing questions, which can be changed until they are handed in."""
    participant = queries.locked_participant(session, record)
    if participant.status == "started":
        participant.closing = closing
        participant.last_seen_at = now()
    session.commit()


def finish(session: Session, record: AnyParticipant) -> None:
    """Store that a participant is complete; raises NotAllowedError while an answer is missing."""
    participant = queries.locked_participant(session, record)
    if participant.status != "complete":
        if progress_of(session, participant.study.plan, participant).step != ParticipantStep.REVIEW:
            raise NotAllowedError(marked("Some questions are still open."))
        participant.status = "complete"
        participant.completed_at = now()
        participant.receipt = tokens.new_receipt()
    session.commit()
