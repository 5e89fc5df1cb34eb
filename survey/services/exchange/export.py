"""From the database to records: what a bundle says of a study."""

from collections.abc import Iterator
from itertools import starmap

import numpy as np
from sqlalchemy.orm import Session

from survey.core.agreement.answers import Answers
from survey.core.agreement.participants import People
from survey.db import export_queries, vote_queries
from survey.db.models import Study
from survey.services.exchange.content import (
    Ballot,
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
    wanted = {"include_test": include_test}
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
        people=lambda: starmap(Person, export_queries.people_of(session, study.id, **wanted)),
        answers=lambda: map(Given._make, export_queries.answers_of(session, study.id, **wanted)),
        ballots=lambda: map(Ballot._make, export_queries.ballots_of(session, study.id, **wanted)),
        first_rankings=lambda: starmap(
            FirstRanking, export_queries.first_rankings_of(session, study.id, **wanted)
        ),
        votes=lambda: _votes(session, study, **wanted),
        include_test=include_test,
    )


def _votes(session: Session, study: Study, *, include_test: bool) -> tuple[People, Answers]:
    """Return the votes of all that the bundle tells of; of others not even how many they are."""
    people, answers = vote_queries.votes_of(session, study.id)
    return people if include_test else people.within(np.flatnonzero(~people.is_test)), answers


def identities_of(session: Session, study: Study, *, include_test: bool) -> Iterator[Identified]:
    """Give what platforms said of the participants: personal data."""
    found = export_queries.identities_of(session, study.id, include_test=include_test)
    return starmap(Identified, found)
