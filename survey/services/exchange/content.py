"""A study as a bundle holds it: plain records, from a database or from files.

From the database to records: what a bundle says of a study.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from survey.core.agreement.answers import Answers, People, Response, seconds_taken
from survey.core.studies.blinding import Blinding
from survey.core.studies.plan import Plan
from survey.core.studies.questions import Question
from survey.core.studies.rankings import Ranking
from survey.db import export_queries, vote_queries
from survey.db.models import Study
from survey.services.analysis.study_results import (
    Choices,
    StudyAnalysis,
    analyse_records,
    study_facts,
)
from survey.services.participation.participants import PRACTICE
from survey.services.studies.lifecycle import current_digest, questions_of


@dataclass(frozen=True)
class Person:
    """A participant as exported: no name, address or device, and no id of a platform."""

    public_id: str
    status: str
    personal: Mapping[str, Any]
    consent_version: int | None
    started_at: datetime
    completed_at: datetime | None
    is_test: bool
    excluded: bool
    exclude_reason: str | None

    @property
    def texts(self) -> dict[str, str]:
        """What was written of them, by the column of participants.csv."""
        written = {**self.personal, "exclude_reason": self.exclude_reason}
        return {name: text for name, text in written.items() if isinstance(text, str)}


class Given(NamedTuple):
    """An answer with how its question was shown; a tuple, since there may be millions."""

    participant: str
    question: int
    position: int
    blinding: Blinding
    clicked: frozenset[int]
    own: Ranking | None
    shown_at: datetime | None
    submitted_at: datetime | None
    active_seconds: float | None
    revisions: int | None
    is_test: bool
    excluded: bool

    @property
    def ballot(self) -> "Ballot":
        """What its votes rest on."""
        return Ballot(self.participant, self.question, self.blinding.label_order, self.clicked)

    @property
    def response(self) -> Response:
        """The answer as the analysis takes it."""
        return Response(
            participant=self.participant,
            question=self.question,
            label_order=self.blinding.label_order,
            clicked=self.clicked,
            own=self.own,
            column_order=self.blinding.column_order,
            position=self.position,
            seconds=seconds_taken(self.active_seconds, self.shown_at, self.submitted_at),
        )


class Ballot(NamedTuple):
    """What the votes of an answer rest on: who ticked which labels, and what stood behind them."""

    participant: str
    question: int
    label_order: tuple[str, ...]
    clicked: frozenset[int]


@dataclass(frozen=True)
class FirstRanking:
    """The ranking someone gave before the columns were shown."""

    participant: str
    question: int
    ranking: Ranking
    given_at: datetime | None


@dataclass(frozen=True)
class Identified:
    """Who a participant is to the platform they came from: personal data."""

    participant: str
    external_id: str | None
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class Consent:
    """One version of the consent text."""

    version: int
    text: str
    digest: str


@dataclass(frozen=True)
class Content:
    """All of a bundle but its sums.

    ``people``, ``answers``, ``ballots`` (those that count: not of excluded participants) and
    ``first_rankings`` give their records anew at each call, ordered by participant and
    question, so that none of them has to stay in memory. ``votes``: people and answers in
    columns, as the analysis takes them.
    """

    slug: str
    status: str
    digest: str
    generator_version: int
    opened_at: datetime | None
    closed_at: datetime | None
    unblinded_at: datetime | None
    plan: Plan
    practice: Question | None
    questions: Sequence[Question]
    consents: Sequence[Consent]
    people: Callable[[], Iterator[Person]]
    answers: Callable[[], Iterator[Given]]
    ballots: Callable[[], Iterator[Ballot]]
    first_rankings: Callable[[], Iterator[FirstRanking]]
    votes: Callable[[], tuple[People, Answers]]
    include_test: bool

    @property
    def rankings(self) -> dict[int, Mapping[str, Ranking]]:
        """Question → measure → order."""
        return {question.number: question.rankings for question in self.questions}

    @cached_property
    def analysis(self) -> StudyAnalysis:
        """What the answers say, analysed once."""
        return self.analysed(Choices(include_test=self.include_test))

    def analysed(self, choices: Choices) -> StudyAnalysis:
        """Analyse the answers as the choices say."""
        facts = study_facts(self.slug, self.status, self.digest, self.generator_version, self.plan)
        return analyse_records(facts, self.plan, self.rankings, *self.votes(), choices)


def content_of(session: Session, study: Study, *, include_test: bool = False) -> Content:
    """Return a study's content; call it in a session that is ``begin_reading``."""
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
