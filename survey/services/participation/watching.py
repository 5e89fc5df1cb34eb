"""Who takes part, and how far they are: nothing that tells how anyone voted."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from survey.clock import now
from survey.db import study_queries
from survey.db.models import Participant, Study
from survey.db.study_queries import Kind
from survey.errors import NotFoundError
from survey.services.participation import participants

MOST_SHOWN = 200  # of each kind; a page that is brought up to date every five seconds

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
class Listed:
    """Participants of a kind: those ``shown`` are the ones seen last of ``of``."""

    shown: Sequence[Watched]
    of: int


@dataclass(frozen=True)
class Watch:
    """A study's participants: those who count apart from test data and excluded ones.

    ``counts``: of those who count, by status. ``complete``, ``under_way``: how many finished;
    how many have begun, hold their place, and are not finished. ``beginning``: of the ids
    that were looked for.
    """

    counted: Listed
    test: Listed
    excluded: Listed
    counts: Mapping[str, int]
    under_way: int
    target: int
    beginning: str
    at: datetime

    @property
    def complete(self) -> int:
        """How many finished."""
        return self.counts.get("complete", 0)

    @property
    def most(self) -> int:
        """How many there are of the kind of which there are most."""
        return max(listed.of for listed in (self.counted, self.test, self.excluded))


def watch(session: Session, study: Study, beginning: str = "") -> Watch:
    """Look at a study's participants, those seen last first.

    ``beginning``: of the ids to be listed. However many there are, the database counts
    them, and no more are read than a page shows.
    """
    since = participants.slot_cutoff(study)
    standings = study_queries.status_counts(session, study.id, since)
    counted = [one for one in standings if one.kind == "counts"]

    def listed(kind: Kind) -> Listed:
        of = sum(one.participants for one in standings if one.kind == kind)
        return Listed(_shown(session, study, kind, beginning, since) if of else (), of)

    counts = Counter[str]()
    for one in counted:
        counts[one.status] += one.participants
    return Watch(
        counted=listed("counts"),
        test=listed("test"),
        excluded=listed("excluded"),
        counts=counts,
        under_way=counts["started"] - sum(one.participants for one in counted if one.away),
        target=study.plan.participants,
        beginning=beginning,
        at=now(),
    )


def _shown(
    session: Session, study: Study, kind: Kind, beginning: str, since: datetime
) -> list[Watched]:
    found = study_queries.recently_seen(session, study.id, kind, beginning, MOST_SHOWN)
    answered = study_queries.answer_counts(session, [one.id for one in found])
    return [_watched(one, answered.get(one.id, 0), study.plan.asked, since) for one in found]


def find_participant(session: Session, study: Study, public_id: str) -> Participant:
    """Return a participant of the study, or raise NotFoundError."""
    found = study_queries.participant_by_public_id(session, study.id, public_id[:16])
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
