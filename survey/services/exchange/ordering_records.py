"""Records of answers to ordering questions, the same from a database and from files."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from survey.core.agreement.answers import Response, seconds_taken
from survey.core.studies.rankings import Ranking
from survey.services.exchange.content import Content


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


def rankings_of(content: Content) -> dict[int, Mapping[str, Ranking]]:
    """Return question → measure → order."""
    return {question.number: question.rankings for question in content.questions}
