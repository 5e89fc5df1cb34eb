"""How a participant sees a question: read from what was drawn for them, never drawn again."""

import json
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy.orm import Session

from survey.core.stimuli.blinding import BlindedQuestion, Blinding, blind
from survey.core.stimuli.questions import Question
from survey.core.stimuli.rankings import Ranking
from survey.core.stimuli.words import marked
from survey.db import answer_queries, queries
from survey.db.models import Presentation, StoredQuestion, StoredResponse
from survey.db.prepared import Record
from survey.db.records import AnyParticipant
from survey.services import tokens
from survey.services.errors import NotFoundError


@dataclass(frozen=True)
class Answer:
    """What a participant said: label numbers, or an own ranking."""

    clicked: frozenset[int]
    own: Ranking | None

    def same_as(self, stored: Any) -> bool:
        """Tell whether this is what is stored, as the answer that counts or as a revision."""
        return (self.clicked, self.own) == (stored.clicked, stored.own)


@dataclass(frozen=True)
class StoredAnswer(Answer):
    """The answer that counts, as it is stored; ``revisions``: how often it was changed."""

    revisions: int


@dataclass(frozen=True)
class Shown:
    """How a participant sees a question, and what is stored of their answer to it.

    ``name``: what the presentation is called for good; ``ranked_first``, ``ranked_at``: the
    ranking from before the columns.
    """

    name: str
    blinded: BlindedQuestion
    ranked_first: Ranking | None
    ranked_at: datetime | None
    stored: StoredAnswer | None


def find_presentation(session: Session, participant: AnyParticipant, position: int) -> Shown:
    """Return how the participant sees the question there, or raise NotFoundError."""
    row = answer_queries.shown_at(session, participant.id, position)
    if row is None:
        raise no_such_question()
    question = _question(row.number, row.lists, row.columns, row.marks)
    blinding = Blinding(tuple(row.label_order), tuple(row.column_order), tuple(row.list_order))
    return Shown(
        name=name_of(row.public_id, row.id),
        blinded=blind(question, blinding, row.shown),
        ranked_first=row.ranked_first,
        ranked_at=row.ranked_at,
        stored=stored_in(row),
    )


@lru_cache(maxsize=1000)
def _question(number: int, lists: str, columns: str, marks: str | None) -> Question:
    """Read a question as it is written, once: the same text is the same question."""
    stored = StoredQuestion(
        number=number,
        lists=json.loads(lists),
        columns=json.loads(columns),
        marks=json.loads(marks or "null"),
    )
    return stored.content


def stored_in(row: Record) -> StoredAnswer | None:
    """Return the answer that a row holds, if there is one."""
    if row.revisions is None:
        return None
    return StoredAnswer(row.clicked, row.own, row.revisions)


def no_such_question() -> NotFoundError:
    """Return what is raised where a study has no question at a position."""
    return NotFoundError(marked("This survey has no such question."))


def blinded_question(presentation: Presentation) -> BlindedQuestion:
    """Return what the participant may see of a presentation."""
    return blind(presentation.question.content, presentation.blinding, presentation.shown)


def all_answers(
    session: Session, participant: AnyParticipant
) -> list[tuple[int, BlindedQuestion, StoredResponse | None]]:
    """Return a participant's questions in order (practice left out) with their answers."""
    return [
        (presentation.position, blinded_question(presentation), response)
        for presentation, response in queries.presentations_with_responses(session, participant.id)
        if presentation.position > 0
    ]


def next_key(secret_key: str, shown: Shown) -> str:
    """Return the submission key for a form that shows this state of the answer."""
    return tokens.submission_key(secret_key, shown.name, answers_given(shown.stored))


def name_of(public_id: str, presentation_id: int) -> str:
    """Return what a presentation is called for good; its number may become another's."""
    return f"{public_id}:{presentation_id}"


def answers_given(stored: StoredAnswer | None) -> int:
    """Count the answers that were given there, changed ones too."""
    return 0 if stored is None else stored.revisions + 1
