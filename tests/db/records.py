"""A study's answers as the models have them, one by one: what quicker readings must agree with."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session, contains_eager

from survey.db.models import Participant, Presentation, StoredQuestion, StoredResponse
from survey.db.queries import by_public_id
from survey.kinds.ordering.models import StoredOrderingAnswer, StoredOrderingPresentation


def responses_of(session: Session, study_id: int) -> Iterator[tuple[Participant, Any, Any]]:
    """Yield each participant, with the rows of how a question was shown, and of the answer.

    Both are pairs: the row that all kinds share, and that of the kind. Practice is left out.
    """
    rows = session.execute(
        select(
            *(Participant, Presentation, StoredOrderingPresentation),
            *(StoredResponse, StoredOrderingAnswer),
        )
        .join(Presentation, Presentation.participant_id == Participant.id)
        .join(
            StoredOrderingPresentation,
            StoredOrderingPresentation.presentation_id == Presentation.id,
        )
        .join(
            StoredResponse,
            (StoredResponse.participant_id == Presentation.participant_id)
            & (StoredResponse.question_id == Presentation.question_id),
        )
        .join(StoredOrderingAnswer, StoredOrderingAnswer.response_id == StoredResponse.id)
        .join(StoredQuestion, StoredQuestion.id == Presentation.question_id)
        .options(contains_eager(Presentation.question))
        .where(Participant.study_id == study_id, StoredQuestion.number > 0)
        .order_by(by_public_id(session), StoredQuestion.number)
    )
    for who, shown, ordering, given, answer in rows:
        yield who, (shown, ordering), (given, answer)
