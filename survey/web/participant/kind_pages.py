"""The pages of a kind whose answers are declared: its form, and answers in words."""

import inspect
from collections import namedtuple
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from sqlalchemy.orm import Session
from wtforms import HiddenField

from survey.core.kind import AnswerT, Declaration, PlanT, PresentationT, QuestionT
from survey.core.studies.fields import Text, ValueField, Whole, tidy_text, value_fields
from survey.core.studies.plan import Plan
from survey.core.text_input import parse_whole
from survey.errors import marked
from survey.services.participation.answers import ShownQuestion
from survey.web.forms import AnswerForm, Form
from survey.web.language import gettext

UNSTORABLE = marked("This holds a character that cannot be stored; please type it again.")
MISSING = marked("Please answer this.")
OF_SWITCHES = marked("Yes"), marked("No")  # the words of ``Switch``, which are translated here
PUNCTUATION = (".", ":", "?", "!", ";")  # at the end of a label; ";" asks in Greek
# The values that the answer bar has room for beside each other, on a phone too.
MOST_POINTS_IN_BAR, MOST_WORDS_IN_BAR, LONGEST_WORDS_IN_BAR = 10, 6, 30


class DeclaredForm(AnswerForm):
    """The form of a question: a field for each that the answer's type declares.

    What the plan does not ask for is left out: a page without scripts may send it in any case.
    """

    declared: ClassVar[tuple[ValueField, ...]]
    make: ClassVar[Any]  # the type of answers
    shown_as: ClassVar[Any]  # a named tuple of what is filled in
    plan: Plan

    def validate(self, extra_validators: object = None) -> bool:
        """Check that everything is answered that the plan asks, with values of the page."""
        super().validate(extra_validators)
        self._values: dict[str, object] = {}
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


def _sent(field: ValueField, text: str) -> str | int | None:
    """Return the value that a form sends for a declared field; None for one that it cannot have."""
    if not text.strip():
        return None
    value: str | int | None = text
    if isinstance(field.rule, Whole) or field.type is int:
        value = parse_whole(text.strip(), signed=True)
    elif field.type is bool:
        value = {"1": True, "0": False}.get(text)
    elif isinstance(field.rule, Text):
        value = tidy_text(text)
    return None if value is None or field.breach(value) else value


class Doubt(NamedTuple):
    """What a page asks back about an answer; sending the answer again settles it.

    ``kind``: what may not be meant; stored with the answer that is saved then, changed or not.
    """

    kind: str


class PracticeScreen(NamedTuple):
    """A screen of the practice, by its name and its template."""

    name: str
    template: str


class KindPages(Declaration[PlanT, QuestionT, PresentationT, AnswerT]):
    """The pages of a kind; a question is a single page, if it says nothing else.

    ``variant_words``: for researchers, what they choose in a preview by the variants of
    ``draw_variant``, and how it is written. ``first_template``: a page that may precede the
    question's, see ``first_form``. ``answer_note``: how answers are written in a list of them, a
    marked text.
    """

    variant_words: ClassVar[tuple[str, str]] = ("As planned", "as-planned.")
    first_template: ClassVar[str] = ""
    answer_note: ClassVar[str] = ""

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
    def art_template(self) -> str:
        """What the entry page shows beside its text."""
        return self._template("_art.html")

    @cached_property
    def question_template(self) -> str:
        """The page of a question."""
        return self._template("question.html")

    def practice_screens(self, plan: PlanT) -> Sequence[PracticeScreen]:
        """Return the screens of the practice in their order; one, if a kind says nothing else."""
        return (PracticeScreen("practice", self._template("practice.html")),)

    def leaves_practice(self, go: str) -> bool:
        """Return whether a button leaves the practice of a question that is answered in steps."""
        return go == "done"

    def practice_doubt(
        self, plan: PlanT, screen: str, view: Any
    ) -> tuple[AnswerForm, Doubt | None] | None:
        """Return the form that was sent from a screen, and what the screen asks back about it.

        None for a screen that asks nothing back.
        """
        return None

    @cached_property
    def answer_template(self) -> str:
        """What other pages show of an answer."""
        return self._template("_answer.html")

    def plan_form(self) -> type[Form] | None:
        """Return the form of the kind's plans, a ``PlanForm``, where its own fields need one."""
        return None

    def asked_fields(self, plan: PlanT) -> list[ValueField]:
        """Return the fields for which the page of a question asks, whatever is chosen there."""
        switches = ((each, each.rule.asked_by) for each in value_fields(self.answer))
        return [each for each, switch in switches if not switch or getattr(plan, switch)]

    def asked_only_with(self, field: ValueField) -> str:
        """Return the words of the answers with which alone a field is asked; "" for any."""
        before, *values = field.rule.only_with
        words = {each.name: each.rule.words for each in value_fields(self.answer)}.get(before, {})
        return ", ".join(gettext(words[value]) for value in values if value in words)

    def values_before(self, field: ValueField) -> list[str]:
        """Return the values, as a form sends them, with which alone a field is asked."""
        return [*map(ValueField.sent, field.rule.only_with[1:])]

    def field_in_bar(self, plan: PlanT) -> ValueField | None:
        """Return the field that is asked in the answer bar: the page's only one, if it fits."""
        fields = self.asked_fields(plan)
        words = fields[0].rule.words if len(fields) == 1 else {}
        is_scale = bool(words) and fields[0].control == "scale"
        most = MOST_POINTS_IN_BAR if is_scale else MOST_WORDS_IN_BAR
        is_short = all(len(text) <= LONGEST_WORDS_IN_BAR for text in words.values())
        return fields[0] if 0 < len(words) <= most and is_short else None

    def said(self, field: ValueField, value: str | int | None = None) -> str:
        """Return a field's value with its label, as the answer bar says it; without one the label.

        Like "How many stars? 4." or "Your word: sea."
        """
        label = gettext(field.label)
        label = label if label[-1:] in PUNCTUATION else f"{label}:"
        return label if value is None else f"{label} {_word(field, value)}."

    def chosen_in_words(self, plan: PlanT, filled_in: Any) -> str:
        """Return what will be saved of the values that a page shows, but for texts."""
        values: dict[str, object] = {}
        sentences = []
        for field in value_fields(self.answer):
            text = getattr(filled_in, field.name) or ""
            value = _sent(field, text) if field.is_asked(plan, values) else None
            values[field.name] = value
            if value is not None and not isinstance(field.rule, Text):
                sentences.append(self.said(field, value))
        return " ".join(sentences)

    @cached_property
    def shown_as(self) -> Any:
        """What is filled in: a text or None for each field of an answer."""
        names = [each.name for each in value_fields(self.answer)]
        return namedtuple("FilledIn", names, defaults=[None] * len(names))

    @cached_property
    def answer_form(self) -> type[AnswerForm]:
        """The form with the answer's fields."""
        declared = value_fields(self.answer)
        members = {
            **{each.name: HiddenField() for each in declared},
            **{"declared": declared, "make": self.answer, "shown_as": self.shown_as},
            **{"asks": self.asks, "confirms": self.asks},
        }
        return type(f"{self.name.title()}Form", (DeclaredForm,), members)

    def form(self, plan: PlanT) -> type[AnswerForm]:
        """Return the form that a question of this plan is answered with; it knows the plan."""
        return _form_of(self, plan)

    def filled_in(self, plan: PlanT, shown: ShownQuestion) -> Hashable:
        """Return the values that a page shows first: those of the stored answer.

        None of a kind that is answered in steps, as the view has what is stored.
        """
        if not shown.stored or self.step:
            return self.empty(plan)
        values = vars(shown.stored.answer).values()
        texts = (None if each is None else ValueField.sent(each) for each in values)
        filled: Hashable = self.shown_as(*texts)
        return filled

    def empty(self, plan: PlanT) -> Hashable:
        """Return the values of an empty page."""
        filled: Hashable = None if self.step else self.shown_as()
        return filled

    def filled_in_again(self, plan: PlanT, shown: ShownQuestion, form: AnswerForm) -> Hashable:
        """Return the values that a page shows again: those of a form that was not saved."""
        filled: Hashable = form.filled_in
        return filled

    def doubt_of(
        self, plan: PlanT, form: AnswerForm, shown: Callable[[], ShownQuestion]
    ) -> Doubt | None:
        """Return what the question's page asks back before a valid form is saved, or None.

        ``shown``: loads the question; a kind calls it only where it needs it.
        """
        return Doubt(self.asks[0]) if self.asks and form.answer.contradicts else None

    def in_words(self, answer: AnswerT) -> str:
        """Return an answer in words, for the middle of a sentence."""
        words = (_word(each, getattr(answer, each.name)) for each in value_fields(self.answer))
        return ", ".join(filter(None, words))

    def sent_in_words(self, sent: Mapping[str, list[str]]) -> str:
        """Return the values of a form in words; "" for a form of another kind.

        ``sent`` is unchecked, and the study is unknown.
        """
        words = [
            _word(each, _sent(each, sent[each.name][0]))
            for each in value_fields(self.answer)
            if sent.get(each.name)
        ]
        return ", ".join(filter(None, words))

    def example_answer(self) -> AnswerT:
        """Return an answer for a preview of pages: the first value of each field that is needed."""
        values: dict[str, object] = {}
        for each in value_fields(self.answer):
            firsts = {bool: True, str: ""}
            first = next(iter(each.rule.words), getattr(each.rule, "lowest", firsts.get(each.type)))
            values[each.name] = None if each.optional else first
        return self.answer(**values)

    def remark(self, shown: ShownQuestion) -> str:
        """Say how a stored answer counts, where it is not as it was given; else ""."""
        return ""

    def check(self, plan: PlanT) -> Any:
        """Return the question that checks whether the task is understood, None for none.

        Its ``better`` is the number of the right answer.
        """
        return None

    def first_form(self, plan: PlanT, shown: ShownQuestion) -> type[AnswerForm] | None:
        """Return the form of the page that precedes the question's now; None for no page."""
        return None

    def preview_first_form(self, plan: PlanT) -> type[AnswerForm] | None:
        """Return the form of the preceding page for a preview; None for no page."""
        return None

    def filled_in_after(self, first: AnswerForm) -> Hashable:
        """Return the values that the question's page shows after a valid preceding form."""
        return None

    def first_doubt_of(self, plan: PlanT, form: AnswerForm, shown: ShownQuestion) -> Doubt | None:
        """Return what the preceding page asks back before it is saved, or None."""
        return None

    def save_first(
        self, session: Session, plan: PlanT, participant: Any, position: int, form: AnswerForm
    ) -> None:
        """Store a valid form of the preceding page, and commit."""


@lru_cache(maxsize=100)
def _form_of(pages: Any, plan: Plan) -> type[AnswerForm]:
    form = pages.answer_form
    return type(form.__name__, (form,), {"plan": plan})


def _word(field: ValueField, value: str | int | None) -> str:
    if value is None:
        return ""
    word = field.rule.words.get(value)
    return gettext(word) if word and word != str(value) else str(value)
