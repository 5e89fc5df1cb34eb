"""Who takes part, and how far they are: nothing that tells how anyone voted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from survey.db import queries
from survey.db.models import Participant, Study
from survey.services import places
from survey.services.clock import now
from survey.services.errors import NotFoundError

STEPS = (
    ("consented_at", "consent"),
    ("described_at", "about you"),
    ("informed_at", "scenario"),
)


@dataclass(frozen=True)
class Watched:
    """One participant as a researcher may watch them while a study runs.

    ``where``: the page they are at, in words. ``minutes``: from the beginning to the end, or to
    when they were last seen. ``away``: their place has gone back.
    """

    public_id: str
    status: str
    where: str
    answered: int
    asked: int
    last_seen: datetime
    minutes: float
    away: bool
    is_test: bool
    excluded: bool
    exclude_reason: str | None


@dataclass(frozen=True)
class Watch:
    """All participants of a study, those who count apart from test data and excluded ones."""

    counted: Sequence[Watched]
    test: Sequence[Watched]
    excluded: Sequence[Watched]
    target: int
    at: datetime

    def having(self, status: str) -> int:
        """Count those who count and have that status."""
        return sum(one.status == status for one in self.counted)

    @property
    def complete(self) -> int:
        """How many finished."""
        return self.having("complete")

    @property
    def under_way(self) -> int:
        """How many have begun, hold their place, and are not finished."""
        return sum(one.status == "started" and not one.away for one in self.counted)


def watch(session: Session, study: Study) -> Watch:
    """Look at a study's participants, those seen last first."""
    answered = queries.answers_given(session, study.id)
    since = places.held_since(study)
    everyone = [
        _watched(one, answered.get(one.id, 0), study.plan.asked, since)
        for one in queries.participants_of(session, study.id)
    ]
    everyone.sort(key=lambda one: one.last_seen, reverse=True)
    return Watch(
        counted=[one for one in everyone if not (one.is_test or one.excluded)],
        test=[one for one in everyone if one.is_test and not one.excluded],
        excluded=[one for one in everyone if one.excluded],
        target=study.plan.participants,
        at=now(),
    )


def find_participant(session: Session, study: Study, public_id: str) -> Participant:
    """Return a participant of the study, or raise NotFoundError."""
    found = queries.participant_by_public_id(session, study.id, public_id[:16])
    if found is None:
        raise NotFoundError(f"This study has no participant {public_id!r}.")
    return found


def _watched(one: Participant, answered: int, asked: int, since: datetime) -> Watched:
    last_seen = one.completed_at or one.last_seen_at or one.started_at
    return Watched(
        public_id=one.public_id,
        status=one.status,
        where=_where(one, answered, asked),
        answered=answered,
        asked=asked,
        last_seen=last_seen,
        minutes=(last_seen - one.started_at).total_seconds() / 60,
        away=one.status == "started" and last_seen <= since,
        is_test=one.is_test,
        excluded=one.excluded,
        exclude_reason=one.exclude_reason,
    )


def _where(one: Participant, answered: int, asked: int) -> str:
    if one.status != "started":
        return {"complete": "finished"}.get(one.status, one.status.replace("_", " "))
    for moment, name in STEPS:
        if getattr(one, moment) is None:
            return name
    return "review" if answered >= asked else f"question {answered + 1} of {asked}"
