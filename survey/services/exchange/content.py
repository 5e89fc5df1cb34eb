"""A study as a bundle holds it: the records of every kind of study, and what a kind adds."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import starmap
from typing import Any, NamedTuple, Protocol

from sqlalchemy.orm import Session

from survey.core.studies.participant_fields import ParticipantRecord
from survey.core.studies.plan import Plan
from survey.db import export_queries
from survey.db.models import Study
from survey.services.analysis.study_results import (
    Choices,
)

STUDY = "study.json"
PACKAGES = "packages"  # measure → the package that brings it, with its version


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


class ImportedAnswer(NamedTuple):
    """An answer of a bundle as the database stores it, with how its question was shown.

    ``drawn`` and ``answer`` are of the types of the kind of question.
    """

    participant: str
    question: int
    position: int
    shown_at: datetime | None
    drawn: Any
    answer: Any
    submitted_at: datetime | None
    active_seconds: float | None
    revisions: int | None


class TaskContent(Protocol):
    """What a kind of question reads of a study's answers, from a database or from files.

    Its records are read at each call, ordered by participant and question, so that memory does
    not have to hold a million of them.
    """

    def count(self) -> int:
        """Count the answers."""

    def analyse(self, content: "Content", choices: Choices) -> Any:
        """Return the analysis of the answers."""

    def as_json(self, analysis: Any) -> dict[str, Any]:
        """Return an analysis as ``survey analyse --json`` prints it."""

    def to_import(self, content: "Content") -> Iterator[ImportedAnswer]:
        """Yield the answers as the database stores them."""


@dataclass(frozen=True)
class Content:
    """All that a bundle holds, but for its sums.

    ``questions``, ``practice`` and ``answers`` are of the types of the kind of question.
    ``participants`` reads its records at each call, in the order of their ids.
    """

    slug: str
    status: str
    digest: str
    generator_version: int
    opened_at: datetime | None
    closed_at: datetime | None
    unblinded_at: datetime | None
    plan: Plan
    practice: Any
    questions: Sequence[Any]
    consents: Sequence[ConsentRecord]
    participants: Callable[[], Iterator[ParticipantRecord]]
    answers: Any
    include_test: bool

    @property
    def all_questions(self) -> list[Any]:
        """The questions, the practice question first if there is one."""
        return [*([self.practice] if self.practice else []), *self.questions]

    @cached_property
    def analysis(self) -> Any:
        """The analysis with the protocol's choices, computed once."""
        return self.answers.analyse(self, Choices(include_test=self.include_test))

    @property
    def analysis_json(self) -> dict[str, Any]:
        """The analysis as ``survey analyse --json`` prints it."""
        return self.answers.as_json(self.analysis)  # type: ignore[no-any-return] # see TaskContent


def stored_participants(
    session: Session, study_id: int, *, include_test: bool
) -> Iterator[ParticipantRecord]:
    """Yield a study's participants in the order of their ids."""
    rows = export_queries.people_of(session, study_id, include_test=include_test)
    return starmap(ParticipantRecord, rows)


def identities_of(
    session: Session, study: Study, *, include_test: bool
) -> Iterator[IdentityRecord]:
    """Yield the recruitment platforms' ids of the participants: personal data."""
    rows = export_queries.identities_of(session, study.id, include_test=include_test)
    return starmap(IdentityRecord, rows)
