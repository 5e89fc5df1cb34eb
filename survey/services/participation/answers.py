"""Read how participants are shown questions, and store their answers.

A presentation is drawn once and read from then on. A form that is sent twice is stored once.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from functools import lru_cache
from typing import Any

from sqlalchemy.orm import Session

from survey import tokens
from survey.core.kind import AnyKind
from survey.core.kinds import KINDS, kind_of
from survey.core.studies.fields import FieldAnswer
from survey.core.studies.plan import Plan, TaskQuestion
from survey.core.studies.rankings import Ranking
from survey.db import participant_queries, queries
from survey.db.engine import Record, begin_reading, begin_writing
from survey.db.item_queries import StudyItems
from survey.db.models import MOST_REFUSALS, Study, now
from survey.db.models.base import TaskTables
from survey.db.participant_queries import AnyParticipant, AnyStudy
from survey.errors import NotAllowedError, NotFoundError, SurveyError, marked
from survey.services.participation.participants import PRACTICE, require_open
from survey.services.participation.queue import (
    columns_with,
    earlier_presentations,
    has_queue,
    presentation_in,
)

# More than a person can send; without a limit, a script could fill the disk.
ANSWERS_A_MINUTE = 200
STEPS_A_MINUTE = 1_000
A_MINUTE = timedelta(minutes=1)

# Why a form was refused, as researchers read it: the type of fault, nothing of the answer.
INCOMPLETE, CONTRADICTORY, REASON, OUTDATED = "incomplete", "contradictory", "reason", "outdated"
REFUSALS = {
    INCOMPLETE: "something was missing, or was not on the page",
    CONTRADICTORY: "“My own ordering” and a method were ticked together",
    REASON: "the reason was too long, or had characters that cannot be stored",
    OUTDATED: "the question had been changed in another window",
}

# Why an answer is not stored any more, by the participant's status.
ENDED_REASONS = {
    "complete": marked("The answers were handed in and cannot be changed any more."),
    "stopped": marked("You have stopped taking part, so nothing more is stored."),
}
TOO_MANY = marked("Too many answers came within a minute, so this one is not stored yet.")


class TooManyAnswersError(SurveyError):
    """Rejects an answer of a participant who has sent too many within a minute."""


class Outcome(Enum):
    """The result of a posted answer.

    SAVED: stored now, or before from the same form. STALE: not stored, because the answer was
    changed after the form was shown.
    """

    SAVED = auto()
    STALE = auto()


@dataclass(frozen=True)
class StoredAnswer:
    """The answer that counts; ``revisions``: how often it was changed.

    ``reason``: why, in words, None where the participant left it empty or was not asked. ``asked``:
    what the page asked back before it saved this version, None for nothing. ``beside``: answers to
    what the plan asks beside each question, None where it asks for nothing.
    """

    answer: Any
    reason: str | None
    asked: str | None
    beside: Mapping[str, FieldAnswer] | None
    submitted_at: datetime
    revisions: int


@dataclass(frozen=True)
class ShownQuestion:
    """A question as a participant sees it, with their stored answer.

    ``name``: identifies the presentation; it is never used again, as a row id may be. ``number``:
    of the question in the study. ``refusals``: how often its form was refused since it was last
    accepted, and ``last_refusal`` why. ``asked_back``: what its page asked back last. ``drawn``:
    the labels and orders of this participant; ``view``: all that they may see. ``drawn``, ``view``
    and ``stored.answer`` have the types of the kind of question.
    """

    name: str
    number: int
    position: int
    shown_at: datetime | None
    refusals: int
    last_refusal: str | None
    asked_back: str | None
    row_id: int
    response_id: int | None
    drawn: Any
    view: Any
    stored: StoredAnswer | None

    @property
    def asked_before(self) -> str | None:
        """What its page asked back, also before the stored answer was saved."""
        return self.asked_back or (self.stored.asked if self.stored else None)


def find_presentation(
    session: Session, plan: Plan, participant: AnyParticipant, position: int
) -> ShownQuestion:
    """Return the question at a position (0: practice), or raise NotFoundError."""
    tables = KINDS[plan.kind].tables
    row = participant_queries.presentation(session, tables, participant.id, position)
    # In a database restored meanwhile, another participant may have the row id.
    if row is None or row.public_id != participant.public_id:
        raise no_such_question()
    steps = _steps(session, tables, participant.id, position)
    return _shown_question(plan, row, steps, _ItemsFor(session, plan, participant))


def all_presentations(
    session: Session, plan: Plan, participant: AnyParticipant
) -> list[ShownQuestion]:
    """Return all of a participant's questions by position, practice (0) first."""
    tables = KINDS[plan.kind].tables
    rows = participant_queries.presentations(session, tables, participant.id)
    steps = _steps(session, tables, participant.id)
    find = _ItemsFor(session, plan, participant)
    own_rows = [row for row in rows if row.public_id == participant.public_id]
    return [_shown_question(plan, row, steps, find) for row in own_rows]


def _steps(
    session: Session, tables: TaskTables, participant_id: int, position: int | None = None
) -> dict[int, list[Record]]:
    """Return the steps of a participant's presentations, of a kind that has some."""
    if tables.step is None:
        return {}
    return participant_queries.steps_of(session, tables.step, participant_id, position)


def _shown_question(
    plan: Plan, row: Record, steps: Mapping[int, list[Record]], find: StudyItems
) -> ShownQuestion:
    kind, drawn = kind_of(plan), presentation_in(plan.kind, row, steps)
    return ShownQuestion(
        name=presentation_name(row.public_id, row.id),
        number=row.number,
        position=row.position,
        shown_at=row.shown_at,
        refusals=row.refusals,
        last_refusal=row.last_refusal,
        asked_back=row.asked_back,
        row_id=row.id,
        response_id=row.response_id,
        drawn=drawn,
        view=_view(plan, _question(kind.name, row.number, row.content), drawn, find),
        stored=stored_answer(kind, row),
    )


class _ItemsFor(StudyItems):
    """What the questions of a participant may look up."""

    def __init__(self, session: Session, plan: Plan, participant: AnyParticipant) -> None:
        super().__init__(session, participant.study_id)
        self.plan, self.participant = plan, participant

    def earlier(self, number: int) -> Sequence[object]:
        """See ``FindItems``."""
        if not has_queue(self.plan, self.participant):
            return ()
        found = earlier_presentations(self.session, self.plan, self.participant, number)
        return found.get(number, ())


def _view(plan: Plan, question: TaskQuestion, drawn: object, find: StudyItems) -> Any:
    kind = kind_of(plan)
    view = kind.show(question, drawn)
    return kind.with_items(plan, question, view, find) if plan.has_items else view


@lru_cache(maxsize=1000)
def _question(kind: str, number: int, content: str) -> TaskQuestion:
    """Return a question from its JSON, parsed once for each text."""
    question: TaskQuestion = KINDS[kind].read_question(number, json.loads(content))
    return question


def stored_answer(kind: AnyKind, row: Record) -> StoredAnswer | None:
    """Return the stored answer of a row, None where the question is not answered."""
    if row.response_id is None:
        return None
    return StoredAnswer(
        *(answer_in(kind, row), row.reason, row.asked, row.beside, row.submitted_at),
        row.revisions,
    )


def answer_in(kind: AnyKind, row: Record) -> Any:
    """Return the answer in the columns answer_… of a row."""
    return kind.answer(**columns_with(row, "answer_"))


def usual_variant(plan: Plan) -> str:
    """Return the variant in which a preview shows a study's questions by default."""
    return kind_of(plan).usual_variant(plan)


def preview(
    session: Session, study: Study, number: int, variant: str, steps: Sequence[object] = ()
) -> Any:
    """Return what a participant may see of a question, in a named variant; 0: of the practice.

    ``steps``: taken so far, of a question that is answered in steps. Raises NotFoundError for a
    question or a variant that the study does not have.
    """
    if number == PRACTICE:
        return practice_view(session, study, study.plan, steps)
    content, drawn = drawn_variant(study, number, variant, steps)
    return _view(study.plan, content, drawn, StudyItems(session, study.id))


def whole_study(session: Session, study: AnyStudy) -> Study:
    """Return a study with its questions, which a participant's visit does not load."""
    return session.get_one(Study, study.id)


def practice_view(session: Session, study: Study, plan: Plan, steps: Sequence[object] = ()) -> Any:
    """Return what the practice shows; ``plan``: the participant's own, by their arm."""
    kind = kind_of(plan)
    content, drawn = drawn_variant(study, PRACTICE, usual_variant(study.plan), steps)
    return kind.practice_view(plan, _view(plan, content, drawn, StudyItems(session, study.id)))


def drawn_variant(
    study: Study, number: int, variant: str, steps: Sequence[object] = ()
) -> tuple[Any, Any]:
    """Return a question, and how it is shown in a named variant; see ``preview``."""
    kind = kind_of(study.plan)
    rows = [row for row in study.questions if number in (PRACTICE, row.number)]
    if not rows:
        raise NotFoundError("This study has no such question.")
    questions = [kind.read_question(row.number, row.content) for row in rows]
    content = kind.practice_question(study.plan, questions) if number == PRACTICE else questions[0]
    try:
        drawn: Any = kind.draw_variant(study.plan, content, variant)
    except ValueError as error:
        raise NotFoundError(f"{error}.") from None
    return content, replace(drawn, steps=tuple(steps)) if steps else drawn


def step_type(plan: Plan) -> type[Any]:
    """Return the type of the steps of a plan's kind of question, of one that has steps."""
    step: Any = kind_of(plan).step
    return step  # type: ignore[no-any-return]


def steps_after(
    session: Session,
    study: Study,
    number: int,
    variant: str,
    steps: Sequence[object],
    steps_for: Callable[[Any, StudyItems], Sequence[object]],
) -> tuple[object, ...]:
    """Return the steps with those that a form asks for; nothing is stored, see ``save_steps``.

    Where no page has such a form, nothing is added.
    """
    content, drawn = drawn_variant(study, number, variant, steps)
    shown = kind_of(study.plan).show(content, drawn)
    with suppress(ValueError):
        return (*steps, *steps_for(shown, StudyItems(session, study.id)))
    return (*steps,)


def no_such_question() -> NotFoundError:
    """Return the error of a position without a question."""
    return NotFoundError(marked("This survey has no such question."))


def next_key(secret_key: str, shown: ShownQuestion) -> str:
    """Return the submission key of a form that shows the answer as it is stored now."""
    return tokens.submission_key(secret_key, shown.name, revision_count(shown.stored))


def presentation_name(public_id: str, presentation_id: int) -> str:
    """Return a name of a presentation that is never used again, as its row id may be."""
    return f"{public_id}:{presentation_id}"


def revision_count(stored: StoredAnswer | None) -> int:
    """Count the versions of an answer that are stored, the first included."""
    return 0 if stored is None else stored.revisions + 1


def save_answer(
    session: Session,
    secret_key: str,
    plan: Plan,
    participant: AnyParticipant,
    position: int,
    answer: object,
    key: str,
    active_seconds: float | None = None,
    onward_to: int | None = None,
    reason: str | None = None,
    asked: str | None = None,
    beside: Mapping[str, FieldAnswer] | None = None,
) -> Outcome:
    """Store an answer with what belongs to it and commit; return whether it is saved or stale.

    ``key``: the form's submission key, which holds the number of the revision that it showed. A
    form that is sent twice is SAVED and adds no revision; a form from before another change is
    STALE, unless it says what is stored. ``onward_to``: the position of the question that is shown
    next. ``asked``: what the page asked back before, where it is not noted yet, see ``note_asked``.
    Raises NotAllowedError after the end, TooManyAnswersError, and NotFoundError for a position
    without a question.
    """
    participant_id, tables = participant.id, KINDS[plan.kind].tables
    current, moment = _locked_state(session, tables, participant, position)
    stored = stored_answer(kind_of(plan), current)
    asked = asked or current.asked_back
    sent = (answer, reason, asked, beside)
    outcome = _outcome(session, secret_key, plan, current, stored, sent, key)
    if outcome == Outcome.STALE:
        session.rollback()
        return outcome
    if current.refusals:
        participant_queries.store_refusals(session, participant_id, position, 0, None)
    if onward_to is not None:
        participant_queries.note_shown(session, participant_id, onward_to, moment)
    if outcome == Outcome.SAVED:
        session.commit()
        return outcome
    response: dict[str, object] = {
        "submitted_at": moment,
        "revisions": revision_count(stored),
        "reason": reason,
        "asked": asked,
        "beside": beside,
    }
    if active_seconds is not None:
        response["active_seconds"] = (current.active_seconds or 0) + active_seconds
    if stored is None:
        response |= {"participant_id": participant_id, "question_id": current.question_id}
    participant_queries.store_answer(
        session, tables, current.response_id, response, vars(answer), active_seconds
    )
    participant_queries.note_seen(session, participant_id, moment)
    session.commit()
    return Outcome.SAVED


def _locked_state(
    session: Session, tables: TaskTables, participant: AnyParticipant, position: int
) -> tuple[Record, datetime]:
    """Lock a participant; return what decides whether their form is stored, and the time.

    Raises NotAllowedError after the end, and NotFoundError for a position without a question.
    """
    # Without the lock, two tabs on PostgreSQL could both store a first answer.
    status = participant_queries.lock(session, participant.id, participant.public_id)
    if status is None:
        raise no_such_question()
    require_open(status)
    moment = now()
    state = participant_queries.state_of_answer(
        session, tables, participant.id, position, moment - A_MINUTE
    )
    if state is None:
        raise no_such_question()
    if state.status in ENDED_REASONS:
        raise NotAllowedError(ENDED_REASONS[state.status])
    return state, moment


def _outcome(
    session: Session,
    secret_key: str,
    plan: Plan,
    state: Record,
    stored: StoredAnswer | None,
    sent: tuple[object, ...],
    key: str,
) -> Outcome | None:
    """Return SAVED for an answer that is stored already, STALE, or None for one to be stored.

    ``sent``: the answer, its reason, what was asked back, and what was answered beside it. Raises
    TooManyAnswersError for one to be stored when the participant's limit is reached.
    """
    base = tokens.key_revision(secret_key, presentation_name(state.public_id, state.id), key)
    latest = revision_count(stored)
    if stored is not None and sent == (stored.answer, *_beside_answer(stored)):
        return Outcome.SAVED
    if base == latest:
        if state.recent >= ANSWERS_A_MINUTE:
            session.rollback()
            raise TooManyAnswersError(TOO_MANY)
        return None
    if stored is None or base is None or base > latest:
        return Outcome.STALE
    tables = KINDS[plan.kind].tables
    row = participant_queries.revision_of(session, tables, state.response_id, base + 1)
    same = row is not None and sent == (answer_in(kind_of(plan), row), *_beside_answer(row))
    return Outcome.SAVED if same else Outcome.STALE


def _beside_answer(row: Record) -> tuple[object, ...]:
    return row.reason, row.asked, row.beside


def note_refusal(
    session: Session, participant: AnyParticipant, position: int, refusal: str
) -> None:
    """Count a form of a question that was refused, commit, and go on reading.

    ``refusal``: the type of fault, a key of REFUSALS. After MOST_REFUSALS, none is counted.
    """
    who = (session, participant.id, position)
    if (participant_queries.refusals_at(*who) or 0) >= MOST_REFUSALS:
        return
    begin_writing(session)
    is_there = participant_queries.lock(session, participant.id, participant.public_id)
    refusals = participant_queries.refusals_at(*who) if is_there else None
    if refusals is not None and refusals < MOST_REFUSALS:
        participant_queries.store_refusals(*who, refusals + 1, refusal)
    session.commit()
    begin_reading(session)


def note_asked(session: Session, participant: AnyParticipant, position: int, asked: str) -> None:
    """Store that the page of a question asked back, commit, and go on reading.

    It is stored at once: who changes the answer then has been asked as well.
    """
    begin_writing(session)
    if participant_queries.lock(session, participant.id, participant.public_id):
        participant_queries.note_asked(session, participant.id, position, asked)
    session.commit()
    begin_reading(session)


def step_key(secret_key: str, name: str, steps: int) -> str:
    """Return the submission key of a form that shows a presentation after its stored steps."""
    return tokens.submission_key(secret_key, f"{name}:steps", steps)


@dataclass(frozen=True)
class SavedSteps:
    """The result of posted steps: the presentation with all that are stored, and the next key."""

    outcome: Outcome
    drawn: Any
    key: str


def save_steps(
    session: Session,
    secret_key: str,
    plan: Plan,
    participant: AnyParticipant,
    position: int,
    steps_for: Callable[[Any, StudyItems], Sequence[Any]],
    key: str,
) -> SavedSteps:
    """Store a participant's steps towards an answer, and commit.

    ``steps_for``: returns the steps that the form asks for, from the question as the kind's
    ``show`` has it; ValueError where no page has such a form. ``key``: the form's step key. As
    with answers, a form that is sent twice is SAVED and adds no step; a form from before another
    step is STALE. Raises as ``save_answer``.
    """
    kind, tables = kind_of(plan), KINDS[plan.kind].tables
    _, moment = _locked_state(session, tables, participant, position)
    who = (session, tables, participant.id, position)
    row = participant_queries.presentation(*who)
    if row is None or tables.step is None:
        raise no_such_question()
    drawn = presentation_in(plan.kind, row, _steps(*who))
    name, stored = presentation_name(row.public_id, row.id), drawn.steps
    base = tokens.key_revision(secret_key, f"{name}:steps", key)
    steps: Sequence[Any] = ()
    outcome = Outcome.STALE
    if base is not None and base <= len(stored):
        shown = replace(drawn, steps=stored[:base])
        question = _question(kind.name, row.number, row.content)
        find = _ItemsFor(session, plan, participant)
        with suppress(ValueError):
            steps = tuple(steps_for(kind.show(question, shown), find))
            if base == len(stored) or steps == stored[base : base + len(steps)]:
                outcome = Outcome.SAVED
    if outcome == Outcome.STALE or base != len(stored) or not steps:
        session.rollback()
        return SavedSteps(outcome, drawn, step_key(secret_key, name, len(stored)))
    if sum(step.saved_at > moment - A_MINUTE for step in stored) >= STEPS_A_MINUTE:
        session.rollback()
        raise TooManyAnswersError(TOO_MANY)
    steps = tuple(replace(step, saved_at=moment) for step in steps)
    participant_queries.store_steps(session, tables.step, row.id, len(stored) + 1, steps)
    if row.refusals:
        participant_queries.store_refusals(session, participant.id, position, 0, None)
    participant_queries.note_seen(session, participant.id, moment)
    session.commit()
    drawn = replace(drawn, steps=(*stored, *steps))
    return SavedSteps(outcome, drawn, step_key(secret_key, name, len(drawn.steps)))


def save_first_ranking(
    session: Session,
    plan: Plan,
    record: AnyParticipant,
    position: int,
    ranking: Ranking,
    asked: str | None,
) -> None:
    """Store the ranking from before the columns are shown; a second one is ignored.

    ``asked``: what the page asked back before.
    """
    participant = queries.locked_participant(session, record)
    shown = find_presentation(session, plan, participant, position)
    if participant.status == "started" and shown.drawn.ranked_at is None:
        moment = participant.last_seen_at = now()
        table = KINDS[plan.kind].tables.presentation
        changes = {"ranked_first": ranking, "ranked_at": moment, "ranked_asked": asked}
        if shown.refusals:
            participant_queries.store_refusals(session, record.id, position, 0, None)
        participant_queries.change_own_columns(session, table, shown.row_id, changes)
    session.commit()
