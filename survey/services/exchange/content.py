"""A study as a bundle holds it: plain records, from a database or from files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from survey.core.agreement.answers import Answers, Response
from survey.core.agreement.participants import People
from survey.core.agreement.times import seconds_taken
from survey.core.stimuli.blinding import Blinding
from survey.core.stimuli.plan import Plan
from survey.core.stimuli.questions import Question
from survey.core.stimuli.rankings import Ranking
from survey.services.analysis import Choices, StudyAnalysis
from survey.services.study_analysis import analyse_records, study_facts


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
