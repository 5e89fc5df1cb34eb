"""Rows of ordering studies: each shared row with the row of the kind's own table."""

from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from survey.db.models import Presentation, Revision, StoredResponse
from survey.kinds.ordering.models import (
    StoredOrderingAnswer,
    StoredOrderingPresentation,
    StoredOrderingRevision,
)


def shown_rows(
    session: Session, **values: Any
) -> list[tuple[Presentation, StoredOrderingPresentation]]:
    """How questions were shown, practice included; ``values``: of presentation, to choose by."""
    own = StoredOrderingPresentation
    found = select(Presentation, own).join(own, own.presentation_id == Presentation.id)
    order = (Presentation.participant_id, Presentation.position)
    rows = session.execute(found.filter_by(**values).order_by(*order))
    return [(shared, ordering) for shared, ordering in rows]


def answer_rows(
    session: Session, **values: Any
) -> list[tuple[StoredResponse, StoredOrderingAnswer]]:
    """The answers that count, as they came; ``values``: columns of response, to choose by."""
    own = StoredOrderingAnswer
    found = select(StoredResponse, own).join(own, own.response_id == StoredResponse.id)
    rows = session.execute(found.filter_by(**values).order_by(StoredResponse.id))
    return [(shared, ordering) for shared, ordering in rows]


def revision_rows(
    session: Session, response_id: int
) -> list[tuple[Revision, StoredOrderingRevision]]:
    """Every version of an answer, the first one first."""
    own = StoredOrderingRevision
    found = select(Revision, own).join(own, own.revision_id == Revision.id)
    rows = session.execute(found.filter_by(response_id=response_id).order_by(Revision.number))
    return [(shared, ordering) for shared, ordering in rows]
