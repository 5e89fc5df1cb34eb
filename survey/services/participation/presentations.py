"""How a participant sees a question: read from what was drawn for them, never drawn again.

A study's questions as a participant would see them, drawn for nobody.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy.orm import Session

from survey import tokens
from survey.core.studies.blinding import BlindedQuestion, Blinding, blind
from survey.core.studies.questions import Question
from survey.core.studies.rankings import Ranking
from survey.core.studies.texts import marked
from survey.db import participant_queries, study_queries
from survey.db.models import Presentation, StoredQuestion, StoredResponse, Study
from survey.db.prepared import Record
from survey.db.records import AnyParticipant
from survey.errors import NotFoundError


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
    row = participant_queries.shown_at(session, participant.id, position)
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
        for presentation, response in study_queries.presentations_with_responses(
            session, participant.id
        )
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


def default_labels(study: Study) -> str:
    """Return the label order in which the plan's first measure is Method 1, and so on."""
    return "".join(str(number) for number in range(1, len(study.plan.measures) + 1))


def preview_question(study: Study, number: int, labels: str) -> BlindedQuestion:
    """Blind a question with this label order: "213" puts the plan's second measure first.

    Raises NotFoundError for a question or an order that the study does not have.
    """
    measures = study.plan.measures
    if sorted(labels) != sorted(default_labels(study)):
        raise NotFoundError(f"{labels!r} is no order of {default_labels(study)}.")
    question = next((one.content for one in study.questions if one.number == number), None)
    if question is None:
        raise NotFoundError("This study has no such question.")
    blinding = Blinding(
        label_order=tuple(measures[int(label) - 1] for label in labels),
        column_order=tuple(range(1, len(measures) + 1)),
        list_order=study.plan.letters,
    )
    shown = [question.columns[measure].shown for measure in blinding.label_order]
    return blind(question, blinding, shown)
