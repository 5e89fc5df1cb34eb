"""Import a bundle as a read-only study."""

import secrets
from collections.abc import Iterable, Mapping

from sqlalchemy.orm import Session

from survey import tokens
from survey.clock import now
from survey.db import study_queries
from survey.db.models import (
    ConsentText,
    Participant,
    Presentation,
    Researcher,
    StoredQuestion,
    StoredResponse,
    Study,
)
from survey.errors import SurveyError
from survey.services.accounts import access
from survey.services.exchange.content import AnswerRecord, Content, ParticipantRecord
from survey.services.exchange.input_files import Files
from survey.services.exchange.reading import read_bundle
from survey.services.exchange.replication import replicate
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment


def import_bundle(
    session: Session, files: Files, name: str, slug: str, researcher: Researcher
) -> Study:
    """Store a bundle's study, closed, and return it; ``slug`` is empty for the bundle's own.

    Raises BundleError for a bundle that does not replicate, and SurveyError for an address that
    another study has.
    """
    # Recomputing takes a while, and a transaction would let participants' answers wait.
    session.rollback()
    for _ in replicate(files):
        continue
    content = read_bundle(files).content
    slug = slug or content.slug
    lifecycle.refuse_slug(slug)
    if study_queries.study_by_slug(session, slug):
        raise SurveyError(f"There is a study {slug!r} already; give this one another address.")
    study = _study(content, name, slug)
    session.add(study)
    session.flush()
    participants = {each.public_id: _participant(each, study) for each in content.participants()}
    session.add_all(participants.values())
    session.flush()
    _store_answers(session, study, content, participants)
    study.status, study.digest = "closed", content.digest
    study.opened_at, study.closed_at = content.opened_at, content.closed_at or now()
    access.share(session, study, researcher, "owner")
    access.log(session, study, researcher.name, "imported", name)
    session.commit()
    return study


def _study(content: Content, name: str, slug: str) -> Study:
    questions = [*([content.practice] if content.practice else []), *content.questions]
    return Study(
        slug=slug,
        plan_json=content.plan.as_json(),
        generator_version=content.generator_version,
        created_at=now(),
        imported_from=name[:200],
        recruitment=Recruitment().as_json(),
        questions=[StoredQuestion.of(question) for question in questions],
        consent_texts=[
            ConsentText(
                version=consent.version,
                text=consent.text,
                digest=consent.digest,
                created_at=now(),
            )
            for consent in content.consents
        ],
    )


def _participant(record: ParticipantRecord, study: Study) -> Participant:
    consent_ids = {consent.version: consent.id for consent in study.consent_texts}
    consent_id = consent_ids.get(record.consent_version or 0)
    return Participant(
        study_id=study.id,
        public_id=record.public_id,
        # Of a token that is stored nowhere: an imported participant cannot be resumed.
        resume_hash=tokens.hash_token(secrets.token_urlsafe(32)),
        status=record.status,
        is_test=record.is_test,
        excluded=record.excluded,
        exclude_reason=record.exclude_reason,
        personal=dict(record.personal),
        consent_id=consent_id,
        started_at=record.started_at,
        consented_at=record.started_at if consent_id else None,
        completed_at=record.completed_at,
    )


def _store_answers(
    session: Session, study: Study, content: Content, participants: Mapping[str, Participant]
) -> None:
    questions = {question.number: question for question in study.questions}
    first_rankings = {(each.participant, each.question): each for each in content.first_rankings()}
    for answer in content.answers():
        presentation = _presentation(
            answer, participants[answer.participant], questions[answer.question]
        )
        first = first_rankings.get((answer.participant, answer.question))
        if first is not None:
            presentation.ranked_first = first.ranking
            presentation.ranked_at = first.submitted_at
        session.add(presentation)
    session.flush()
    session.add_all(_responses(content.answers(), participants, questions))


def _presentation(
    answer: AnswerRecord, participant: Participant, question: StoredQuestion
) -> Presentation:
    return Presentation(
        participant_id=participant.id,
        question_id=question.id,
        position=answer.position,
        label_order=list(answer.label_order),
        column_order=list(answer.column_order or ()),
        list_order=list(answer.list_order),
        shown=[list(question.columns[name]["shown"]) for name in answer.label_order],
        shown_at=answer.shown_at,
    )


def _responses(
    answers: Iterable[AnswerRecord],
    participants: Mapping[str, Participant],
    questions: Mapping[int, StoredQuestion],
) -> Iterable[StoredResponse]:
    for answer in answers:
        participant = participants[answer.participant]
        yield StoredResponse(
            participant_id=participant.id,
            question_id=questions[answer.question].id,
            clicked=answer.clicked,
            own=answer.own,
            submitted_at=answer.submitted_at or participant.started_at,
            active_seconds=answer.active_seconds,
            revisions=answer.revisions or 0,
        )
