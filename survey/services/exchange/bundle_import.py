"""Import a bundle from elsewhere as a read-only study."""

import secrets
from collections.abc import Callable, Collection, Container, Mapping
from datetime import UTC, date, datetime, time
from typing import Any

from sqlalchemy import Table
from sqlalchemy.exc import OperationalError, StatementError
from sqlalchemy.orm import Session

from survey import tokens
from survey.core.kinds import KINDS, kind_of
from survey.core.studies.fields import FieldAnswer, ParticipantRecord
from survey.core.studies.plan import Plan
from survey.core.text_input import shortened, steering_in
from survey.db import item_queries, participant_queries
from survey.db.export_queries import EXPORTED
from survey.db.models import (
    ConsentText,
    Participant,
    Presentation,
    Researcher,
    StoredQuestion,
    StoredResponse,
    Study,
    now,
)
from survey.db.models.base import own_values
from survey.services import accounts
from survey.services.exchange.bundle import files_of_kind
from survey.services.exchange.bundle_reader import read_bundle, replicate, require_bundle
from survey.services.exchange.input_files import BundleError, Files
from survey.services.exchange.tables import Content
from survey.services.participation.own_data import erased_tokens, token_of
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment


def import_bundle(
    session: Session,
    files: Files,
    name: str,
    slug: str,
    researcher: Researcher,
    on_erased: Callable[[int], object] = lambda _: None,
) -> Study:
    """Store a bundle's study as a closed one, and return it.

    ``name``: of the bundle's file or folder; ``slug``: the study's address here, "" for the
    bundle's own; ``researcher``: becomes its owner. Participants who were erased here are left
    out; ``on_erased`` is called with their number.

    Raises BundleError for a bundle that does not replicate, and SurveyError for an address that
    another study has.
    """
    # Recomputing takes a while, and participants' answers would wait for an open transaction.
    session.rollback()
    require_bundle(files, name)
    for _ in replicate(files):
        continue
    content, _ = read_bundle(files)
    _require_visible_ids(content)
    slug = slug or content.slug
    lifecycle.require_valid_slug(session, slug)
    study = _study(content, name, slug)
    lifecycle.insert_study(session, study)
    store_items(session, study, content)
    erased = erased_tokens(session)
    records = {each.public_id: each for each in content.participants()}
    participants = {
        public_id: _participant(record, study)
        for public_id, record in records.items()
        if token_of(content.slug, public_id) not in erased
    }
    erased_ids = records.keys() - participants.keys()
    on_erased(len(erased_ids))
    session.add_all(participants.values())
    session.flush()
    _store_answers(session, study, content, participants, erased_ids)
    for machine in content.machines:
        KINDS[content.plan.kind].store_machine(session, study, machine, researcher.name)
    study.status, study.digest = "closed", content.digest
    study.opened_at = _moment(content.opened_at)
    study.closed_at = _moment(content.closed_at) or now()
    study.unblinded_at, study.looks = content.unblinded_at, [*content.looks]
    study.registration = content.registration
    accounts.share(session, study, researcher, "owner")
    accounts.log(session, study, researcher.name, "imported", name)
    session.commit()
    return study


def _moment(moment: date | None) -> datetime | None:
    """Return a time; of a month, which is all that a public bundle says, its first second."""
    if moment is None or isinstance(moment, datetime):
        return moment
    return datetime.combine(moment, time.min, UTC)


def _require_visible_ids(content: Content) -> None:
    """Raise BundleError for an id with a sign that cannot be seen, as uploads of items do."""
    ids = [item.document for item in content.items], [topic.topic for topic in content.topics]
    named = ("source", "topic", "documents")
    questions = [
        {name: value for name, value in question.as_json().items() if name in named}
        for question in content.questions
    ]
    if strange := steering_in([*ids, questions]):
        raise BundleError(f"the id {shortened(strange)} has a sign that cannot be seen")


def describe_erased(count: int) -> list[str]:
    """Return the sentence about participants who are left out, in a list; [] if there are none."""
    who = "1 participant who has" if count == 1 else f"{count} participants who have"
    sentence = f"{who} deleted their data here: left out, so figures may differ from the bundle's."
    return [sentence] if count else []


def _study(content: Content, name: str, slug: str) -> Study:
    return Study(
        slug=slug,
        plan_json=content.plan.as_json(),
        generator_version=content.generator_version,
        packages={**(content.packages or {})},
        created_at=now(),
        imported_from=name[:200],
        recruitment=Recruitment().as_json(),
        questions=[
            StoredQuestion(number=each.number, content=each.as_json())
            for each in content.all_questions
        ],
        consent_texts=[
            ConsentText(created_at=now(), **vars(consent)) for consent in content.consents
        ],
    )


def store_items(session: Session, study: Study, content: Content) -> None:
    """Store items and topics, with the bundle's pictures; their small size serves as both sizes."""
    thumbnails = [*content.thumbnails()] if content.thumbnails else []
    pictures = [{**each._asdict(), "larger": each.thumbnail} for each in thumbnails]
    item_queries.store_pictures(session, study.id, pictures)
    item_queries.store_items(session, study.id, content.items)
    item_queries.store_topics(session, study.id, content.topics)
    study.items_digest, study.vectors_digest = content.items_digest, content.vectors_digest


def _participant(record: ParticipantRecord, study: Study) -> Participant:
    consent_ids = {consent.version: consent.id for consent in study.consent_texts}
    consent_id = consent_ids.get(record.consent_version or 0)
    return Participant(
        study_id=study.id,
        # Of a token that is stored nowhere: an imported participant cannot be resumed.
        resume_hash=tokens.hash_token(secrets.token_urlsafe(32)),
        consent_id=consent_id,
        consented_at=record.started_at if consent_id else None,
        **{name: getattr(record, name) for name in EXPORTED},
    )


def _store_answers(
    session: Session,
    study: Study,
    content: Content,
    participants: Mapping[str, Participant],
    erased: Collection[str],
) -> None:
    """Store how each question was shown and answered, without revisions: bundles lack them.

    ``erased``: participants whose answers are left out. Raises BundleError for an answer that
    cannot be stored: another package's kind may have read it without checks.
    """
    plan, question_ids = content.plan, {row.number: row.id for row in study.questions}
    beside = {(each.participant, each.question): each.values for each in content.beside()}
    for record, drawn, answer in content.answers.to_import(content):
        if record.participant in erased:
            continue
        fault = _answer_fault(plan, participants, question_ids, record, drawn, answer)
        if not fault:
            ids = participants[record.participant], question_ids[record.question]
            try:
                values = beside.get((record.participant, record.question))
                _store_answer(session, plan.kind, *ids, record, drawn, answer, values)
            except OperationalError:
                raise  # the database is locked or full, whatever the answer is
            except StatementError as error:
                fault = f"the database cannot hold it ({str(error.orig).partition(chr(10))[0]})"
        if fault:
            session.rollback()
            place = f"participant {record.participant}, question {record.question}"
            raise BundleError(f"{files_of_kind(plan).answers_file}, {place}: {fault}")


def _answer_fault(
    plan: Plan,
    participants: Container[str],
    questions: Container[int],
    record: Any,
    drawn: object,
    answer: object,
) -> str:
    """Return why an answer does not belong to the study or its kind of question, "" if it does."""
    kind = kind_of(plan)
    if record.participant not in participants:
        return "participants.csv has no such participant"
    if record.question not in questions:
        return "the study has no such question"
    if not isinstance(drawn, kind.presentation):
        return f"{drawn!r} is no {kind.presentation.__name__}"
    if not isinstance(answer, kind.answer | None):
        return f"{answer!r} is no {kind.answer.__name__}"
    return ""


def _store_answer(
    session: Session,
    kind: str,
    participant: Participant,
    question_id: int,
    record: Any,
    drawn: Any,
    answer: object,
    beside: Mapping[str, FieldAnswer] | None,
) -> None:
    """Insert a presentation with its steps, and the answer, if there is one.

    ``beside``: the answers to the questions beside it.
    """
    tables = KINDS[kind].tables
    presentation = Presentation(
        participant_id=participant.id,
        question_id=question_id,
        position=record.position or 0,
        shown_at=record.shown_at,
    )
    rows: list[tuple[Table, Presentation | StoredResponse, object]] = [
        (tables.presentation, presentation, drawn)
    ]
    if answer is not None:
        response = StoredResponse(
            participant_id=participant.id,
            question_id=question_id,
            submitted_at=record.submitted_at or participant.started_at,
            active_seconds=record.active_seconds,
            reason=record.reason,
            asked=record.asked,
            beside=beside,
            revisions=record.revisions or 0,
        )
        rows.append((tables.response, response, answer))
    session.add_all(row for _, row, _ in rows)
    session.flush()
    for table, row, own in rows:
        participant_queries.store_own_columns(session, table, row.id, own_values(table, own))
    if tables.step is not None:
        participant_queries.store_steps(session, tables.step, presentation.id, 1, drawn.steps)
