"""Pages of preference questions: what will be saved, in words, and the practice."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from survey.errors import marked
from survey.kinds.preference.answer import MOST_SATISFIED, STRENGTHS, PreferenceAnswer
from survey.kinds.preference.plan import EQUAL, LEFT, NEITHER, RIGHT, PreferencePlan
from survey.web.language import gettext
from survey.web.participant.kind_pages import PracticeScreen

CHOSEN = {
    LEFT: marked("You prefer list 1."),
    RIGHT: marked("You prefer list 2."),
    EQUAL: marked("Both are equally good."),
    NEITHER: marked("Neither is any good."),
}
BY_HOW_MUCH = {
    LEFT: marked("You prefer list 1, %(strength)s."),
    RIGHT: marked("You prefer list 2, %(strength)s."),
}
SATISFIED = {
    "satisfaction_left": marked("Satisfied with list 1: %(points)s of %(most)s."),
    "satisfaction_right": marked("Satisfied with list 2: %(points)s of %(most)s."),
}


class PreferencePages:
    """What the pages of preference questions have beyond those of a declared answer."""

    variant_words = ("List at the left", "A or B.")
    work_template = "participant/preference/_work.html"
    question_template = "participant/preference/question.html"
    answer_template = "participant/preference/_answer.html"

    def practice_screens(self, plan: PreferencePlan) -> Sequence[PracticeScreen]:
        """Return the question's own page, with a task."""
        return (PracticeScreen("practice", "participant/preference/practice.html"),)

    def chosen_words(self) -> Mapping[str, Any]:
        """Return the sentences of what will be saved, with {strength} and {points} to fill in."""
        return {
            "chosen": {value: gettext(sentence) for value, sentence in CHOSEN.items()},
            "by_how_much": {
                value: gettext(sentence, strength="{strength}")
                for value, sentence in BY_HOW_MUCH.items()
            },
            "strengths": {str(value): gettext(word) for value, word in STRENGTHS.items()},
            "satisfied": {
                name: gettext(sentence, points="{points}", most=MOST_SATISFIED)
                for name, sentence in SATISFIED.items()
            },
        }

    def chosen_in_words(self, plan: PreferencePlan, filled_in: Any) -> str:
        """Return what will be saved of the values that a page shows."""
        words, sentences = self.chosen_words(), []
        if preferred := words["chosen"].get(filled_in.preferred):
            strength = words["strengths"].get(filled_in.strength)
            by_how_much = words["by_how_much"].get(filled_in.preferred) if strength else None
            sentences.append(by_how_much.format(strength=strength) if by_how_much else preferred)
        for name, sentence in words["satisfied"].items():
            if points := getattr(filled_in, name):
                sentences.append(sentence.format(points=points))
        return " ".join(sentences)

    def in_words(self, answer: PreferenceAnswer) -> str:
        """Return which list is better, by how much, and how satisfying both are."""
        left, right = answer.satisfaction_left, answer.satisfaction_right
        rest = replace(answer, satisfaction_left=None, satisfaction_right=None)
        words: str = super().in_words(rest)  # type: ignore[misc] # of the kind that has these pages
        if left and right:
            satisfied = gettext(
                "satisfied with list 1: %(first)s of 5, with list 2: %(second)s of 5",
                first=left,
                second=right,
            )
            words += f"; {satisfied}"
        return words
