"""ForeignVotes as plain records: all that an analysis needs, wherever it comes from."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from survey.core.agreement.answers import Response
from survey.core.agreement.times import seconds_taken
from survey.core.stimuli.rankings import Ranking


@dataclass(frozen=True)
class ForeignAnswer:
    """One answer with how its question was shown; None where nobody knows.

    ``position``: as which question the participant saw it, from 1. ``label_order``: the
    measures behind Method1, Method2, …; ``column_order``: the label numbers from left to
    right; ``list_order``: the list letters from top to bottom. ``clicked``: label
    numbers, empty where ``own``, the custom ranking, is given. ``active_seconds``: how
    long the page was in view. ``is_test``, ``excluded``: of the participant.
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
    def response(self) -> Response:
        """The answer as the analysis takes it."""
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


@dataclass(frozen=True)
class ForeignVotes:
    """The answers to a study's questions, test data and excluded participants included.

    ``facts``: the "study" of an analysis, None (and a "why") where nobody knows.
    ``measures``: in the registry's order. ``rankings``: question → measure → order;
    ``lists``: question → letter → sorted positions of the relevant items.
    ``responses``: by participant and question, so that the same votes are analysed alike
    however their rows stand. ``asked``: how many questions each participant was to answer.
    """

    facts: Mapping[str, Any]
    measures: tuple[str, ...]
    rankings: Mapping[int, Mapping[str, Ranking]]
    lists: Mapping[int, Mapping[str, tuple[int, ...]]]
    responses: tuple[ForeignAnswer, ...]
    asked: int


def in_order(responses: list[ForeignAnswer]) -> tuple[ForeignAnswer, ...]:
    """Sort answers by participant and question, as no database's collation does for another."""
    return tuple(sorted(responses, key=lambda one: (one.participant, one.question)))
