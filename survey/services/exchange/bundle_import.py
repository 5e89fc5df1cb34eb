"""Taking a bundle in: a study that is only looked at."""

import secrets
from collections.abc import Iterable

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
from survey.services.exchange.content import Content, Given, Person
from survey.services.exchange.input_files import Files
from survey.services.exchange.reading import read_content
from survey.services.exchange.replication import replicate
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment


def take_in(session: Session, files: Files, name: str, slug: str, researcher: Researcher) -> Study:
    """Store a bundle's study, closed, under its own address or another.

    Only a bundle that replicates is taken. Raises BundleError naming what does not
    agree, and SurveyError for an address that is taken.
    """
    session.rollback()  # nobody's answer waits while everything is recomputed
    for _ in replicate(files):
        continue
    content = read_content(files).content
    slug = slug or content.slug
    lifecycle.refuse_slug(slug)
    if study_queries.study_by_slug(session, slug):
        raise SurveyError(f"There is a study {slug!r} already; give this one another address.")
    study = _study(content, name, slug)
    session.add(study)
    session.flush()
    people = {one.public_id: _participant(one, study) for one in content.people()}
    session.add_all(people.values())
    session.flush()
    _store_answers(session, study, content, people)
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
            ConsentText(version=one.version, text=one.text, digest=one.digest, created_at=now())
            for one in content.consents
        ],
    )


def _participant(one: Person, study: Study) -> Participant:
    consents = {text.version: text.id for text in study.consent_texts}
    consent_id = consents.get(one.consent_version or 0)
    agreed_at = one.started_at if consent_id else None
    return Participant(
        study_id=study.id,
        public_id=one.public_id,
        resume_hash=tokens.hash_token(secrets.token_urlsafe(32)),  # nobody goes on
        status=one.status,
        is_test=one.is_test,
        excluded=one.excluded,
        exclude_reason=one.exclude_reason,
        personal=dict(one.personal),
        consent_id=consent_id,
        started_at=one.started_at,
        consented_at=agreed_at,
        completed_at=one.completed_at,
    )


def _store_answers(
    session: Session, study: Study, content: Content, people: dict[str, Participant]
) -> None:
    questions = {question.number: question for question in study.questions}
    first = {(one.participant, one.question): one for one in content.first_rankings()}
    for one in content.answers():
        participant, question = people[one.participant], questions[one.question]
        shown = _presentation(one, participant, question)
        ranked = first.get((one.participant, one.question))
        if ranked is not None:
            shown.ranked_first, shown.ranked_at = ranked.ranking, ranked.given_at
        session.add(shown)
    session.flush()
    session.add_all(_responses(content.answers(), people, questions))


def _presentation(one: Given, participant: Participant, question: StoredQuestion) -> Presentation:
    return Presentation(
        participant_id=participant.id,
        question_id=question.id,
        position=one.position,
        label_order=list(one.blinding.label_order),
        column_order=list(one.blinding.column_order),
        list_order=list(one.blinding.list_order),
        shown=[list(question.columns[name]["shown"]) for name in one.blinding.label_order],
        shown_at=one.shown_at,
    )


def _responses(
    answers: Iterable[Given],
    people: dict[str, Participant],
    questions: dict[int, StoredQuestion],
) -> Iterable[StoredResponse]:
    for one in answers:
        yield StoredResponse(
            participant_id=people[one.participant].id,
            question_id=questions[one.question].id,
            clicked=one.clicked,
            own=one.own,
            submitted_at=one.submitted_at or people[one.participant].started_at,
            active_seconds=one.active_seconds,
            revisions=one.revisions or 0,
        )
