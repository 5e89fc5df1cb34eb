"""The select()s about who takes part: counted in the database, listed as far as they are shown."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import ColumnElement, and_, case, exists, func, select
from sqlalchemy.orm import Session

from survey.db.models import Participant, Presentation, StoredResponse

Kind = Literal["counts", "test", "excluded"]

# Each participant is of one kind; whoever is excluded is not listed as test data as well.
CONDITIONS: dict[Kind, ColumnElement[bool]] = {
    "counts": and_(Participant.is_test.is_(False), Participant.excluded.is_(False)),
    "test": and_(Participant.is_test.is_(True), Participant.excluded.is_(False)),
    "excluded": Participant.excluded.is_(True),
}


@dataclass(frozen=True)
class Standing:
    """So many participants of whom the same is true; ``away``: their place has gone back."""

    kind: Kind
    status: str
    away: bool
    participants: int


def standings(session: Session, study_id: int, since: datetime) -> list[Standing]:
    """Count a study's participants; whoever was last seen before ``since`` is away."""
    kind = case(*((condition, kind) for kind, condition in CONDITIONS.items()))
    seen = func.coalesce(Participant.last_seen_at, Participant.started_at)
    away = and_(Participant.status == "started", seen <= since)
    columns = (kind.label("kind"), Participant.status, away.label("away"), func.count())
    rows = session.execute(
        select(*columns)
        .where(Participant.study_id == study_id)
        .group_by("kind", Participant.status, "away")
    )
    return [Standing(kind, status, bool(away), count) for kind, status, away, count in rows]


def seen_last(
    session: Session, study_id: int, kind: Kind, beginning: str, most: int
) -> Sequence[Participant]:
    """Return those seen last, so many at most, whose id has that beginning ("" for any)."""
    seen = func.coalesce(Participant.completed_at, Participant.last_seen_at, Participant.started_at)
    found = select(Participant).where(Participant.study_id == study_id, CONDITIONS[kind])
    if beginning:
        found = found.where(Participant.public_id.startswith(beginning, autoescape=True))
    return session.scalars(found.order_by(seen.desc(), Participant.id.desc()).limit(most)).all()


def answers_of(session: Session, participant_ids: Collection[int]) -> dict[int, int]:
    """Count the answers of each of these participants, practice left out."""
    rows = session.execute(
        select(Presentation.participant_id, func.count())
        .join(
            StoredResponse,
            (StoredResponse.participant_id == Presentation.participant_id)
            & (StoredResponse.question_id == Presentation.question_id),
        )
        .where(Presentation.participant_id.in_(participant_ids), Presentation.position > 0)
        .group_by(Presentation.participant_id)
    )
    return {row[0]: row[1] for row in rows}


def has_real_answers(session: Session, study_id: int) -> bool:
    """Tell whether anyone who is no test data has answered a question, practice left out."""
    answered = (
        select(Presentation.id)
        .join(Participant, Participant.id == Presentation.participant_id)
        .join(
            StoredResponse,
            (StoredResponse.participant_id == Presentation.participant_id)
            & (StoredResponse.question_id == Presentation.question_id),
        )
        .where(
            Participant.study_id == study_id,
            Participant.is_test.is_(False),
            Presentation.position > 0,
        )
    )
    return bool(session.scalar(select(exists(answered))))
