"""What preferences between two lists say of measures, of people's agreement, and of runs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from survey.core.studies.questions import Question
from survey.core.tasks.preference import PREFERRED, PreferencePlan


@dataclass(frozen=True)
class Judgement:
    """A preference: ``preferred`` is a list's letter, "equal" or "neither"; ``side`` as answered.

    ``satisfaction``: by letter, from 1 to 5, None where it was not asked.
    """

    participant: str
    question: int
    preferred: str
    side: str
    strength: int | None
    satisfaction: Mapping[str, int | None]


@dataclass(frozen=True)
class PreferenceResults:
    """The preferences of the participants who count."""

    plan: PreferencePlan
    questions: Sequence[Question]
    judgements: Sequence[Judgement]

    def as_json(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        sides = Counter(each.side for each in self.judgements)
        return {
            "selection": self.plan.selection_sentence,
            "answers": {name: sides[name] for name in PREFERRED},
        }
