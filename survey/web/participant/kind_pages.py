"""The pages of a kind whose answers are declared: its form, and answers in words."""

import inspect
from collections import namedtuple
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from wtforms import HiddenField

from survey.core.kind import AnswerT, Declaration, PlanT, PresentationT, QuestionT
from survey.core.studies.fields import Text, ValueField, Whole, tidy_text, value_fields
from survey.core.text_input import parse_whole
from survey.errors import marked
from survey.services.participation.answers import ShownQuestion
from survey.web.forms import AnswerForm
from survey.web.language import gettext
from survey.web.participant.single_page import Doubt, SinglePage

UNSTORABLE = marked("This holds a character that cannot be stored; please type it again.")
MISSING = marked("Please answer this.")
OF_SWITCHES = marked("Yes"), marked("No")  # the words of ``Switch``, which are translated here


class DeclaredForm(AnswerForm):
    """The form of a question: a field for each that the answer's type declares.

    What the plan does not ask for is left out: a page without scripts may send it in any case.
    """

    declared: ClassVar[tuple[ValueField, ...]]
    make: ClassVar[Any]  # the type of answers
    shown_as: ClassVar[Any]  # a named tuple of what is filled in
    plan: Any

    def validate(self, extra_validators: Any = None) -> bool:
        """Check that everything is answered that the plan asks, with values of the page."""
        super().validate(extra_validators)
        self._values: dict[str, Any] = {}
        for each in self.declared:
            value = None
            if each.is_asked(self.plan, self._values):
                text = self[each.name].data or ""
                value = _sent(each, text)
                if value is None and (text.strip() or not isinstance(each.rule, Text)):
                    self._refuse(each, text)
            self._values[each.name] = value
        return not self.errors

    def _refuse(self, field: ValueField, text: str) -> None:
        control, rule = self[field.name], field.rule
        if rule.words:
            control.data = None  # no control shows such a value
        sentence = gettext(rule.missing or MISSING)
        if isinstance(rule, Text) and len(text) > rule.longest:
            sentence = gettext("At most %(longest)s characters, please.", longest=rule.longest)
        elif isinstance(rule, Text):
            sentence = gettext(
                "This holds a character that cannot be stored; please type it again."
            )
        control.errors = [sentence]

    @property
    def answer(self) -> Any:
        """The answer of a valid form."""
        return self.make(**self._values)

    @property
    def filled_in(self) -> Hashable:
        """What was chosen, each a text or None."""
        filled: Hashable = self.shown_as(*(self[each.name].data or None for each in self.declared))
        return filled

    def add_error(self, sentence: str) -> None:
        """Add an error beside the first field."""
        first = self[self.declared[0].name]
        first.errors = [*first.errors, sentence]


def _sent(field: ValueField, text: str) -> Any:
    """Return the value that a form sends for a declared field; None for one that it cannot have."""
    if not text.strip():
        return None
    value: Any = text
    if isinstance(field.rule, Whole) or field.type is int:
        value = parse_whole(text.strip(), signed=True)
    elif field.type is bool:
        value = {"1": True, "0": False}.get(text)
    elif isinstance(field.rule, Text):
        value = tidy_text(text)
    return None if value is None or field.breach(value) else value


class KindPages(SinglePage, Declaration[PlanT, QuestionT, PresentationT, AnswerT]):
    """The pages of a kind whose answers are declared; see ``TaskPages``."""

    variant_words: ClassVar[tuple[str, str]] = ("As planned", "as-planned.")

    @cached_property
    def folder(self) -> Path:
        """Where the kind keeps templates, static and translations: beside its class."""
        return Path(inspect.getfile(type(self))).parent

    def _template(self, file: str) -> str:
        """Return the kind's own template, in a folder of its name, or else that of all."""
        own = f"{self.name}/{file}"
        is_own = (self.folder / "templates" / own).is_file()
        return own if is_own else f"participant/declared/{file}"

    @cached_property
    def work_template(self) -> str:
        """A part of the entry page that describes what taking part is."""
        return self._template("_work.html")

    @cached_property
    def question_template(self) -> str:
        """The page of a question."""
        return self._template("question.html")

    @property
    def practice_template(self) -> str:
        """The page of the practice question."""
        return self.question_template

    @cached_property
    def answer_template(self) -> str:
        """What other pages show of an answer."""
        return self._template("_answer.html")

    def asked_fields(self, plan: PlanT) -> list[ValueField]:
        """Return the fields for which the page of a question asks, whatever is chosen there."""
        switches = ((each, each.rule.asked_by) for each in value_fields(self.answer))
        return [each for each, switch in switches if not switch or getattr(plan, switch)]

    @cached_property
    def shown_as(self) -> Any:
        """What is filled in: a text or None for each field of an answer."""
        names = [each.name for each in value_fields(self.answer)]
        return namedtuple("FilledIn", names, defaults=[None] * len(names))

    @cached_property
    def answer_form(self) -> type[AnswerForm]:  # type: ignore[override] # made of the declaration
        """The form with the answer's fields."""
        declared = value_fields(self.answer)
        members = {
            **{each.name: HiddenField() for each in declared},
            **{"declared": declared, "make": self.answer, "shown_as": self.shown_as},
            **{"asks": self.asks, "confirms": self.asks},
        }
        return type(f"{self.name.title()}Form", (DeclaredForm,), members)

    def filled_in(self, plan: PlanT, shown: ShownQuestion) -> Hashable:
        """Return the values of the stored answer; of a kind with steps, the view has them."""
        if not shown.stored or not value_fields(self.answer):
            return self.empty(plan)
        values = vars(shown.stored.answer).values()
        texts = (None if each is None else ValueField.sent(each) for each in values)
        filled: Hashable = self.shown_as(*texts)
        return filled

    def empty(self, plan: PlanT) -> Hashable:
        """Return no values; None for an answer without fields, that of a kind with steps."""
        filled: Hashable = self.shown_as() if value_fields(self.answer) else None
        return filled

    def doubt_of(self, plan: PlanT, form: Any, shown: Callable[[], ShownQuestion]) -> Doubt | None:
        """Return the doubt about an answer that contradicts itself."""
        return Doubt(self.asks[0]) if self.asks and form.answer.contradicts else None

    def in_words(self, answer: AnswerT) -> str:
        """Return what each value of an answer is called."""
        words = (_word(each, getattr(answer, each.name)) for each in value_fields(self.answer))
        return ", ".join(filter(None, words))

    def sent_in_words(self, sent: Mapping[str, list[str]]) -> str:
        """Return in words what a form holds of this kind's fields."""
        words = [
            _word(each, _sent(each, sent[each.name][0]))
            for each in value_fields(self.answer)
            if sent.get(each.name)
        ]
        return ", ".join(filter(None, words))

    def example_answer(self) -> AnswerT:
        """Return an answer for a preview of pages: the first value of each field that is needed."""
        values: dict[str, Any] = {}
        for each in value_fields(self.answer):
            firsts = {bool: True, str: ""}
            first = next(iter(each.rule.words), getattr(each.rule, "lowest", firsts.get(each.type)))
            values[each.name] = None if each.optional else first
        return self.answer(**values)


def _word(field: ValueField, value: Any) -> str:
    if value is None:
        return ""
    word = field.rule.words.get(value)
    return gettext(word) if word and word != str(value) else str(value)
