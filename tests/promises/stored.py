"""What a database holds, to be held against what was acknowledged."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sqlalchemy import Engine, select, text
from sqlalchemy.orm import Session

from survey import tokens
from survey.db.models import Participant, Presentation, Revision, StoredResponse
from survey.kinds.ordering.answer import OrderingAnswer
from survey.kinds.ordering.models import StoredOrderingAnswer, StoredOrderingRevision

Place = tuple[str, int]  # a resume code, the position of a question


@dataclass(frozen=True)
class Faults:
    """How a database differs from what was acknowledged; all zero where it does not."""

    lost: int = 0  # acknowledged, and not there
    doubled: int = 0  # more rows than answers
    altered: int = 0  # another answer counts than the last acknowledged one


def faults(engine: Engine, acknowledged: Mapping[Place, Sequence[OrderingAnswer]]) -> Faults:
    """Compare row by row: one response for each place, one revision for each answer."""
    with Session(engine) as session:
        rows = Counter(_rows(session))
        current, history = _current(session), _history(session)
    lost = doubled = altered = 0
    for (code, position), given in acknowledged.items():
        place = (tokens.hash_code(code), position)
        expected = [answer for answer, _ in groupby(given)]
        found = history.get(place, [])
        lost += sum((Counter(expected) - Counter(found)).values())
        doubled += sum((Counter(found) - Counter(expected)).values()) + rows[place] - 1
        altered += current.get(place) != expected[-1] or found != expected
    return Faults(lost, doubled, altered)


def is_intact(engine: Engine) -> bool:
    """Tell whether SQLite finds its file in order (PostgreSQL has no such question)."""
    if engine.dialect.name != "sqlite":
        return True
    with engine.connect() as connection:
        whole = connection.execute(text("PRAGMA integrity_check")).scalars().all() == ["ok"]
        return whole and not connection.execute(text("PRAGMA foreign_key_check")).all()


def _rows(session: Session) -> list[tuple[str, int]]:
    return [(who, position) for who, position, _, _ in _responses(session)]


def _current(session: Session) -> dict[tuple[str, int], OrderingAnswer]:
    found = _responses(session)
    return {(who, position): OrderingAnswer(clicked, own) for who, position, clicked, own in found}


def _history(session: Session) -> dict[tuple[str, int], list[OrderingAnswer]]:
    given = defaultdict(list)
    statement = (
        _answers(StoredOrderingRevision)
        .select_from(Revision)
        .join(StoredOrderingRevision, StoredOrderingRevision.revision_id == Revision.id)
        .join(StoredResponse, StoredResponse.id == Revision.response_id)
        .order_by(Revision.number)
    )
    for who, position, clicked, own in session.execute(_shown(statement)):
        given[who, position].append(OrderingAnswer(clicked, own))
    return given


def _responses(session: Session) -> Sequence[tuple[str, int, frozenset[int], object]]:
    statement = (
        _answers(StoredOrderingAnswer)
        .select_from(StoredResponse)
        .join(StoredOrderingAnswer, StoredOrderingAnswer.response_id == StoredResponse.id)
    )
    return session.execute(_shown(statement)).all()


def _answers(own):
    return select(Participant.resume_hash, Presentation.position, own.clicked, own.own)


def _shown(statement):
    return statement.join(Participant, Participant.id == StoredResponse.participant_id).join(
        Presentation,
        (Presentation.participant_id == StoredResponse.participant_id)
        & (Presentation.question_id == StoredResponse.question_id),
    )
