"""A study's participants and their progress, without their answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from survey.db import queries
from survey.db.models import Participant, Study, now
from survey.db.queries import Kind
from survey.errors import NotFoundError
from survey.services.participation import participants

MOST_SHOWN = 200  # participants of each kind: the page is loaded again every five seconds

STEPS = (
    ("consented_at", "consent"),
    ("described_at", "about you"),
    ("informed_at", "scenario"),
)


@dataclass(frozen=True)
class ListedParticipant:
    """What a researcher may see of a participant while a study runs.

    ``page``: the next page in words, or the status of those who have ended. ``minutes``: from the
    beginning to the end, or to when they were last seen. ``away``: their slot is released.
    """

    public_id: str
    status: str
    page: str
    answered: int
    asked: int
    last_seen: datetime
    minutes: float
    away: bool
    is_test: bool
    excluded: bool
    exclude_reason: str | None


@dataclass(frozen=True)
class ParticipantList:
    """Participants of a kind. ``total``: how many the study has, whatever their ids begin with.

    ``shown``: those whose id has the prefix, at most MOST_SHOWN, those seen last first.
    """

    shown: Sequence[ListedParticipant]
    total: int


@dataclass(frozen=True)
class StudyParticipants:
    """A study's participants: those who count, test data, and excluded ones.

    ``counts``: how many of those who count have each status. ``under_way``: how many of them have
    begun, hold a slot and are not complete. ``id_prefix``: what the listed ids begin with; it
    changes no number.
    """

    counted: ParticipantList
    test: ParticipantList
    excluded: ParticipantList
    counts: Mapping[str, int]
    under_way: int
    target: int
    id_prefix: str
    at: datetime

    @property
    def complete(self) -> int:
        """How many of those who count are complete."""
        return self.counts.get("complete", 0)

    @property
    def longest(self) -> int:
        """The total of the longest list."""
        return max(listed.total for listed in (self.counted, self.test, self.excluded))


def list_participants(session: Session, study: Study, id_prefix: str = "") -> StudyParticipants:
    """List a study's participants whose id has a prefix; count all of its participants.

    The database counts, so at most MOST_SHOWN rows of each kind are read.
    """
    since = participants.slot_cutoff(study)
    status_counts = queries.status_counts(session, study.id, since)
    counted = [row for row in status_counts if row.kind == "counts"]

    def participant_list(kind: Kind) -> ParticipantList:
        total = sum(row.participants for row in status_counts if row.kind == kind)
        shown = _list_recent(session, study, kind, id_prefix, since) if total else ()
        return ParticipantList(shown, total)

    counts = Counter[str]()
    for row in counted:
        counts[row.status] += row.participants
    return StudyParticipants(
        counted=participant_list("counts"),
        test=participant_list("test"),
        excluded=participant_list("excluded"),
        counts=counts,
        under_way=counts["started"] - sum(row.participants for row in counted if row.away),
        target=study.plan.participants,
        id_prefix=id_prefix,
        at=now(),
    )


def find_participant(session: Session, study: Study, public_id: str) -> Participant:
    """Return the participant with a public id, or raise NotFoundError."""
    participant = queries.find(session, Participant, study_id=study.id, public_id=public_id[:16])
    if participant is None:
        raise NotFoundError(f"This study has no participant {public_id!r}.")
    return participant


def _list_recent(
    session: Session, study: Study, kind: Kind, id_prefix: str, since: datetime
) -> list[ListedParticipant]:
    rows = queries.recently_seen(session, study.id, kind, id_prefix, MOST_SHOWN)
    answered = queries.answer_counts(session, [row.id for row in rows])
    return [
        _listed_participant(row, answered.get(row.id, 0), study.plan.asked, since) for row in rows
    ]


def _listed_participant(
    participant: Participant, answered: int, asked: int, since: datetime
) -> ListedParticipant:
    last_seen = participant.completed_at or participant.last_seen_at or participant.started_at
    return ListedParticipant(
        public_id=participant.public_id,
        status=participant.status,
        page=_page_in_words(participant, answered, asked),
        answered=answered,
        asked=asked,
        last_seen=last_seen,
        minutes=(last_seen - participant.started_at).total_seconds() / 60,
        away=participant.status == "started" and last_seen <= since,
        is_test=participant.is_test,
        excluded=participant.excluded,
        exclude_reason=participant.exclude_reason,
    )


def _page_in_words(participant: Participant, answered: int, asked: int) -> str:
    """Return a participant's next page in words, or the status of those who have ended."""
    if participant.status != "started":
        return (
            "finished" if participant.status == "complete" else participant.status.replace("_", " ")
        )
    for moment, name in STEPS:
        if getattr(participant, moment) is None:
            return name
    return "review" if answered >= asked else f"question {answered + 1} of {asked}"
