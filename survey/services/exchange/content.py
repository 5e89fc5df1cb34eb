"""A study's content as plain records: what a bundle holds, and how the database gives it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import starmap
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy.orm import Session

from survey.core.agreement.answers import Answers, People, Response, seconds_taken
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
class ParticipantRecord:
    """A participant as exported: without name, address, device or a platform's id."""

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
        """The texts among the cells of participants.csv, which escapes them, by column."""
        cells = {**self.personal, "exclude_reason": self.exclude_reason}
        return {name: cell for name, cell in cells.items() if isinstance(cell, str)}


class AnswerRecord(NamedTuple):
    """An answer and how its question was shown; a tuple, since there may be millions.

    ``position``: 1 for the question that the participant saw first. ``label_order``: the
    measures behind Method1, Method2, …; ``column_order``: label numbers from left to right;
    ``list_order``: letters from top to bottom. ``clicked``: label numbers, empty where ``own``
    holds a ranking. What a file from elsewhere does not say is None.
    """

    participant: str
    question: int
    position: int | None
    label_order: tuple[str, ...]
    column_order: tuple[int, ...] | None
    list_order: tuple[str, ...]
    clicked: frozenset[int]
    own: Ranking | None
    shown_at: datetime | None
    submitted_at: datetime | None
    active_seconds: float | None
    revisions: int | None
    is_test: bool
    excluded: bool

    @property
    def counted(self) -> "CountedAnswer":
        """What its votes follow from."""
        return CountedAnswer(self.participant, self.question, self.label_order, self.clicked)

    @property
    def response(self) -> Response:
        """The answer as the analysis takes it; raises ValueError for an impossible answer."""
        return Response(
            participant=self.participant,
            question=self.question,
            label_order=self.label_order,
            clicked=self.clicked,
            own=self.own,
            column_order=self.column_order,
            position=self.position,
            seconds=seconds_taken(self.active_seconds, self.shown_at, self.submitted_at),
        )


class CountedAnswer(NamedTuple):
    """The part of an answer from which its votes follow; excluded participants have none."""

    participant: str
    question: int
    label_order: tuple[str, ...]
    clicked: frozenset[int]


@dataclass(frozen=True)
class FirstRanking:
    """The ranking that a participant submitted before the columns were shown."""

    participant: str
    question: int
    ranking: Ranking
    submitted_at: datetime | None


@dataclass(frozen=True)
class IdentityRecord:
    """A recruitment platform's id of a participant, with the address's parameters: personal."""

    participant: str
    external_id: str | None
    parameters: Mapping[str, str]


@dataclass(frozen=True)
class ConsentRecord:
    """One version of the consent text."""

    version: int
    text: str
    digest: str


@dataclass(frozen=True)
class Content:
    """All that a bundle holds, but for its sums.

    ``participants``, ``answers``, ``counted_answers`` and ``first_rankings`` read their records
    at each call, ordered by participant and question, so that memory does not have to hold a
    million of them. ``votes``: participants and answers in columns, as the analysis takes them.
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
    consents: Sequence[ConsentRecord]
    participants: Callable[[], Iterator[ParticipantRecord]]
    answers: Callable[[], Iterator[AnswerRecord]]
    counted_answers: Callable[[], Iterator[CountedAnswer]]
    first_rankings: Callable[[], Iterator[FirstRanking]]
    votes: Callable[[], tuple[People, Answers]]
    include_test: bool

    @property
    def rankings(self) -> dict[int, Mapping[str, Ranking]]:
        """Question → measure → order."""
        return {question.number: question.rankings for question in self.questions}

    @cached_property
    def analysis(self) -> StudyAnalysis:
        """The analysis with the protocol's choices, computed once."""
        return self.analyse(Choices(include_test=self.include_test))

    def analyse(self, choices: Choices) -> StudyAnalysis:
        """Return the analysis of the answers with other choices."""
        facts = study_facts(self.slug, self.status, self.digest, self.generator_version, self.plan)
        return analyse_records(facts, self.plan, self.rankings, *self.votes(), choices)


def content_of(session: Session, study: Study, *, include_test: bool = False) -> Content:
    """Return a study's content; call ``begin_reading`` for the session first."""
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
        practice=next((each for each in questions if each.number == PRACTICE), None),
        questions=[each for each in questions if each.number != PRACTICE],
        consents=[
            ConsentRecord(each.version, each.text, each.digest) for each in study.consent_texts
        ],
        participants=lambda: starmap(
            ParticipantRecord, export_queries.people_of(session, study.id, **wanted)
        ),
        answers=lambda: map(
            AnswerRecord._make, export_queries.answers_of(session, study.id, **wanted)
        ),
        counted_answers=lambda: map(
            CountedAnswer._make, export_queries.ballots_of(session, study.id, **wanted)
        ),
        first_rankings=lambda: starmap(
            FirstRanking, export_queries.first_rankings_of(session, study.id, **wanted)
        ),
        votes=lambda: _votes(session, study, **wanted),
        include_test=include_test,
    )


def _votes(session: Session, study: Study, *, include_test: bool) -> tuple[People, Answers]:
    people, answers = vote_queries.votes_of(session, study.id)
    if not include_test:
        # A bundle without test data may not even tell how many test participants there were.
        people = people.subset(np.flatnonzero(~people.is_test))
    return people, answers


def identities_of(
    session: Session, study: Study, *, include_test: bool
) -> Iterator[IdentityRecord]:
    """Yield the recruitment platforms' ids of the participants: personal data."""
    rows = export_queries.identities_of(session, study.id, include_test=include_test)
    return starmap(IdentityRecord, rows)
