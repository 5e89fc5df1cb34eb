"""A study's answers as the models have them, one by one: what quicker readings must agree with."""

from sqlalchemy import select
from sqlalchemy.orm import contains_eager

from survey.db.models import Participant, Presentation, StoredQuestion, StoredResponse
from survey.db.study_queries import by_public_id


def responses_of(session, study_id):
    """Who answered, how the question was shown, and the answer; practice left out."""
    return session.execute(
        select(Participant, Presentation, StoredResponse)
        .join(Presentation, Presentation.participant_id == Participant.id)
        .join(
            StoredResponse,
            (StoredResponse.participant_id == Presentation.participant_id)
            & (StoredResponse.question_id == Presentation.question_id),
        )
        .join(StoredQuestion, StoredQuestion.id == Presentation.question_id)
        .options(contains_eager(Presentation.question))
        .where(Participant.study_id == study_id, StoredQuestion.number > 0)
        .order_by(by_public_id(session), StoredQuestion.number)
    )
