"""The pages of preference: a form of one choice between two lists, and an answer in words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from wtforms import HiddenField

from survey.core.tasks.preference import (
    ASKED,
    EQUAL,
    LEFT,
    LESS_SATISFYING,
    NEITHER,
    PREFERRED,
    RIGHT,
    SATISFACTION,
    STRENGTHS,
    PreferenceAnswer,
    PreferencePlan,
)
from survey.errors import marked
from survey.services.participation.answers import ShownQuestion
from survey.web.forms import AnswerForm
from survey.web.language import gettext
from survey.web.participant.single_page import Doubt, SinglePage

IN_WORDS = {
    LEFT: marked("List 1 is better"),
    RIGHT: marked("List 2 is better"),
    EQUAL: marked("Both are equally good"),
    NEITHER: marked("Neither is good"),
}
STRENGTH_IN_WORDS = (marked("slightly"), marked("clearly"), marked("by far"))


class FilledIn(NamedTuple):
    """The values that a question's page shows as chosen, each a text or None."""

    preferred: str | None = None
    strength: str | None = None
    satisfaction_left: str | None = None
    satisfaction_right: str | None = None

    @classmethod
    def answer(cls, answer: PreferenceAnswer) -> "FilledIn":
        """Return the values of a stored answer."""
        values = (getattr(answer, name) for name in cls._fields)
        return cls(*(None if value is None else str(value) for value in values))


class PreferenceForm(AnswerForm):
    """Which list is better; and how much, and how satisfying each is, where the plan asks.

    A strength that comes with no preferred list is left out: a page without scripts shows the
    field in any case.
    """

    asks = confirms = ASKED
    plan: PreferencePlan

    preferred = HiddenField()
    strength = HiddenField()
    satisfaction_left = HiddenField()
    satisfaction_right = HiddenField()

    def validate(self, extra_validators: Any = None) -> bool:
        """Check that everything is answered that the plan asks, with values of the page."""
        super().validate(extra_validators)
        self._check(self.preferred, PREFERRED, gettext("Please choose one of the four answers."))
        if self._has_strength:
            self._check(
                self.strength, STRENGTHS, gettext("Please say how much better the list is.")
            )
        if self.plan.ask_satisfaction:
            for field, number in ((self.satisfaction_left, 1), (self.satisfaction_right, 2)):
                sentence = gettext("Please say how satisfied you are with list %(number)s.")
                self._check(field, SATISFACTION, sentence % {"number": number})
        return not self.errors

    def _check(self, field: Any, allowed: Sequence[object], sentence: str) -> None:
        if field.data not in map(str, allowed):
            field.data, field.errors = None, [sentence]

    @property
    def _has_strength(self) -> bool:
        return self.plan.ask_strength and self.preferred.data in (LEFT, RIGHT)

    @property
    def answer(self) -> PreferenceAnswer:
        """The answer of a valid form."""
        satisfaction: list[int | None] = [None, None]
        if self.plan.ask_satisfaction:
            fields = (self.satisfaction_left, self.satisfaction_right)
            satisfaction = [int(field.data) for field in fields]
        strength = int(self.strength.data) if self._has_strength else None
        return PreferenceAnswer(self.preferred.data, strength, *satisfaction)

    @property
    def filled_in(self) -> FilledIn:
        """What was chosen."""
        return FilledIn(*(self[name].data or None for name in FilledIn._fields))

    def add_error(self, sentence: str) -> None:
        """Add an error beside the choice."""
        self.preferred.errors = [*self.preferred.errors, sentence]


class PreferencePages(SinglePage):
    """The pages of the kind of question "preference", as the registry of pages holds them."""

    answer_form = PreferenceForm
    variant_words = ("List at the left", "A or B.")
    work_template = "participant/preference/_work.html"
    question_template = practice_template = "participant/preference/question.html"
    answer_template = "participant/preference/_answer.html"

    def filled_in(self, plan: PreferencePlan, shown: ShownQuestion) -> FilledIn:
        """Return the values of the stored answer."""
        return FilledIn.answer(shown.stored.answer) if shown.stored else FilledIn()

    def empty(self, plan: PreferencePlan) -> FilledIn:
        """Return no values."""
        return FilledIn()

    def doubt_of(
        self, plan: PreferencePlan, form: PreferenceForm, shown: Callable[[], ShownQuestion]
    ) -> Doubt | None:
        """Return the doubt about a preference for the list that satisfies less."""
        return Doubt(LESS_SATISFYING) if form.answer.contradicts else None

    def in_words(self, answer: PreferenceAnswer) -> str:
        """Return which list is better, by how much, and how satisfying both are."""
        words = gettext(IN_WORDS[answer.preferred])
        if answer.strength:
            words += f", {gettext(STRENGTH_IN_WORDS[answer.strength - 1])}"
        if answer.satisfaction_left and answer.satisfaction_right:
            satisfied = gettext(
                "satisfied with list 1: %(first)s of 5, with list 2: %(second)s of 5",
                first=answer.satisfaction_left,
                second=answer.satisfaction_right,
            )
            words += f"; {satisfied}"
        return words

    def sent_in_words(self, sent: Mapping[str, list[str]]) -> str:
        """Return in words which list a form says is better."""
        [preferred] = sent.get("preferred", [""])[:1]
        return gettext(IN_WORDS[preferred]) if preferred in IN_WORDS else ""

    def example_answer(self) -> PreferenceAnswer:
        """Return an answer for a preview of pages."""
        return PreferenceAnswer(LEFT)
