"""Where in the survey a participant is, told from what is stored and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from sqlalchemy.orm import Session

from survey.db import answer_queries
from survey.db.records import AnyParticipant

PRACTICE = 0


class Step(StrEnum):
    """The pages of a survey, in order."""

    CONSENT = "consent"
    DECLINED = "declined"
    SCREENED_OUT = "screened_out"
    STOPPED = "stopped"
    ABOUT_YOU = "about_you"
    SCENARIO = "scenario"
    PRACTICE = "practice"
    QUESTION = "question"
    REVIEW = "review"
    DONE = "done"


# Where a status alone decides.
ENDS = {
    "complete": Step.DONE,
    "declined": Step.DECLINED,
    "screened_out": Step.SCREENED_OUT,
    "stopped": Step.STOPPED,
}


@dataclass(frozen=True)
class Whereabouts:
    """Where a participant has come to.

    ``position``: of the next question, if there is one. ``answered``: for each
    position that was drawn, practice (0) included, whether it is answered.
    """

    step: Step
    position: int | None = None
    answered: Mapping[int, bool] = field(default_factory=dict)

    @property
    def questions(self) -> dict[int, bool]:
        """``answered`` without practice."""
        return {position: done for position, done in self.answered.items() if position > PRACTICE}

    def with_answer(self, position: int) -> "Whereabouts":
        """Tell where it goes on once the question at this position is answered."""
        return _among({**self.answered, position: True})


def whereabouts(session: Session, participant: AnyParticipant) -> Whereabouts:
    """Tell where a participant goes on, from what is stored and nothing else."""
    if participant.status in ENDS:
        return Whereabouts(ENDS[participant.status])
    if participant.consented_at is None:
        return Whereabouts(Step.CONSENT)
    if participant.described_at is None:
        return Whereabouts(Step.ABOUT_YOU)
    if participant.informed_at is None:
        return Whereabouts(Step.SCENARIO)
    return _among(answer_queries.answered_positions(session, participant.id))


def _among(answered: Mapping[int, bool]) -> Whereabouts:
    """Tell where someone goes on who has been given these questions."""
    if not any(answered.values()) and PRACTICE in answered:
        return Whereabouts(Step.PRACTICE, PRACTICE, answered)
    for position, done in answered.items():
        if not done and position > PRACTICE:
            return Whereabouts(Step.QUESTION, position, answered)
    return Whereabouts(Step.REVIEW, None, answered)
