"""From the database to records: what a bundle says of a study."""

from collections.abc import Iterator, Mapping

from sqlalchemy.orm import Session

from survey.db import queries
from survey.db.models import Participant, Presentation, StoredResponse, Study
from survey.services.exchange.content import (
    Consent,
    Content,
    FirstRanking,
    Given,
    Identified,
    Person,
)
from survey.services.studies import current_digest, questions_of
from survey.services.whereabouts import PRACTICE


def content_of(session: Session, study: Study, *, include_test: bool = False) -> Content:
    """Return a study's content; call it in a session that is ``only_reading``."""
    questions = questions_of(study, practice=True)
    versions = {text.id: text.version for text in study.consent_texts}
    return Content(
        slug=study.slug,
        status=study.status,
        digest=study.digest or current_digest(study),
        generator_version=study.generator_version,
        opened_at=study.opened_at,
        closed_at=study.closed_at,
        unblinded_at=study.unblinded_at,
        plan=study.plan,
        practice=next((one for one in questions if one.number == PRACTICE), None),
        questions=[one for one in questions if one.number != PRACTICE],
        consents=[Consent(one.version, one.text, one.digest) for one in study.consent_texts],
        people=[
            _person(one, versions)
            for one in queries.participants_of(session, study.id)
            if include_test or not one.is_test
        ],
        answers=lambda: _answers(session, study, include_test=include_test),
        first_rankings=lambda: _first_rankings(session, study, include_test=include_test),
        include_test=include_test,
    )


def identities_of(session: Session, study: Study, *, include_test: bool) -> Iterator[Identified]:
    """Return what platforms said of the participants: personal data."""
    for participant, identity in queries.identities_of(session, study.id):
        if include_test or not participant.is_test:
            yield Identified(participant.public_id, identity.external_id, identity.parameters)


def _person(one: Participant, versions: Mapping[int, int]) -> Person:
    return Person(
        public_id=one.public_id,
        status=one.status,
        personal=one.personal,
        consent_version=versions.get(one.consent_id) if one.consent_id else None,
        started_at=one.started_at,
        completed_at=one.completed_at,
        is_test=one.is_test,
        excluded=one.excluded,
        exclude_reason=one.exclude_reason,
    )


def _answers(session: Session, study: Study, *, include_test: bool) -> Iterator[Given]:
    for participant, shown, response in queries.responses_of(session, study.id):
        if include_test or not participant.is_test:
            yield _given(participant, shown, response)


def _given(participant: Participant, shown: Presentation, response: StoredResponse) -> Given:
    return Given(
        participant=participant.public_id,
        question=shown.question.number,
        position=shown.position,
        blinding=shown.blinding,
        clicked=response.clicked,
        own=response.own,
        shown_at=shown.shown_at,
        submitted_at=response.submitted_at,
        active_seconds=response.active_seconds,
        revisions=response.revisions,
        is_test=participant.is_test,
        excluded=participant.excluded,
    )


def _first_rankings(
    session: Session, study: Study, *, include_test: bool
) -> Iterator[FirstRanking]:
    for participant, shown in queries.first_rankings_of(session, study.id):
        if (include_test or not participant.is_test) and shown.ranked_first is not None:
            yield FirstRanking(
                participant.public_id, shown.question.number, shown.ranked_first, shown.ranked_at
            )
