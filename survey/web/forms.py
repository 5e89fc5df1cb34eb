"""The base class of forms, whose errors link to controls, and of questions' forms; their pages."""

import weakref
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from flask import render_template, request
from flask_babel.speaklater import LazyString
from flask_wtf import FlaskForm
from flask_wtf.csrf import generate_csrf
from werkzeug.datastructures import CombinedMultiDict, MultiDict
from wtforms import (
    BooleanField,
    Field,
    FileField,
    HiddenField,
    RadioField,
    SelectChoice,
    SelectField,
    StringField,
    TextAreaField,
)
from wtforms.fields.core import UnboundField
from wtforms.validators import Length, ValidationError

from survey.core.studies.fields import (
    LONGEST_ANSWER,
    AskedField,
    Choice,
    FieldAnswer,
    Language,
    Nested,
    Rule,
    Switch,
    Text,
    Words,
    is_storable,
    tidy_text,
)
from survey.errors import SurveyError
from survey.services.participation import answers
from survey.services.studies.languages import language_names
from survey.web import uploads
from survey.web.language import gettext, lazy_gettext

LONGEST_BREAK = 24 * 3600.0  # seconds
EXPIRED = lazy_gettext(
    "The page had been open for too long. Please send it once more. If that does not help, "
    "allow this site to set its cookie."
)


def language_choices() -> list[SelectChoice]:
    """Return the languages that pages exist in, each by its own name and marked with its code."""
    return [
        SelectChoice(code, name, render_kw={"lang": code})
        for code, name in language_names().items()
    ]


def slug_field(label: str, *validators: object) -> Field:
    """Return the field of a slug, a study's part of an address; spaces around it are removed."""
    return StringField(label, filters=[lambda text: text and text.strip()], validators=validators)


def field_for(rule: Rule) -> Field:
    """Return the field of a form that asks for what a rule allows; the rule itself checks it."""
    texts = {"label": rule.label, "description": rule.help}
    if isinstance(rule, Switch):
        return BooleanField(**texts)
    if isinstance(rule, Choice):
        choices = [SelectChoice(*choice) for choice in rule.allowed.items()]
        return RadioField(**texts, choices=choices, validate_choice=False)
    if isinstance(rule, Language):
        return SelectField(**texts, choices=language_choices, validate_choice=False)
    if isinstance(rule, Text | Words) and rule.rows:
        return TextAreaField(**texts, render_kw={"rows": rule.rows})
    if isinstance(rule, Nested):
        return TextAreaField(**texts, render_kw={"rows": 6, "spellcheck": "false"})
    return StringField(**texts)


def storable(_: FlaskForm, field: Field) -> None:
    """Reject a text with a character that PostgreSQL cannot store, such as NUL."""
    if not is_storable(field.data or ""):
        raise ValidationError(
            gettext(
                "%(label)s: this holds a character that cannot be stored; please type it again.",
                label=field.label.text,
            )
        )


def long_text_field(label: object, *validators: object, **kwargs: object) -> Field:
    """Return the field of a text of several lines, with Unix line ends and no outer spaces."""
    return TextAreaField(
        label,
        filters=[lambda text: tidy_text(text or "")],
        validators=[*validators, storable],
        **kwargs,
    )


class _LazyToken(FlaskForm.Meta.csrf_class):  # type: ignore[misc] # Flask-WTF has no type hints
    def generate_csrf_token(self, csrf_token_field: Field) -> LazyString:  # noqa: ARG002
        """Return the token of a form, which is signed only if a page shows it."""
        return LazyString(generate_csrf)


class Form(FlaskForm):  # type: ignore[misc] # Flask-WTF has no type hints
    """A form with a token against forgery, whose errors are sentences for its reader."""

    class Meta(FlaskForm.Meta):  # type: ignore[misc] # Flask-WTF has no type hints
        """How fields are bound to their form, and what they are filled from."""

        csrf_class = _LazyToken

        def bind_field(
            self, form: FlaskForm, unbound_field: UnboundField, options: dict[str, object]
        ) -> Field:
            """Give the field a weak reference to its form, so that both are freed with the page.

            Otherwise the garbage collector has to find them, and all requests wait 50 ms for it.
            """
            # The fields in a list of fields already get a weak reference.
            is_weak = isinstance(form, weakref.ProxyType)
            return unbound_field.bind(form=form if is_weak else weakref.proxy(form), **options)

        def wrap_formdata(self, form: FlaskForm, formdata: object) -> object:
            """Return the texts of a POST, and its files if the form has fields for files.

            Values that the caller passes as ``formdata`` are returned unchanged. Flask-WTF would
            also accept a file for a text field, and JSON, which no browser sends: its values need
            not be texts, and it may be nested to any depth.
            """
            if formdata is None or isinstance(formdata, MultiDict):
                return formdata
            if request.method != "POST":
                return None
            names = [field.name for field in form if isinstance(field, FileField)]
            files = {name: request.files.getlist(name) for name in names}
            return CombinedMultiDict((MultiDict(files), request.form)) or None

    @property
    def problems(self) -> list[tuple[str, str]]:
        """For the first error of each field, in their order: (id of its control, sentence).

        The id is empty for an error of the whole form.
        """
        return [
            ("", str(EXPIRED))
            if field.name == "csrf_token"
            else (self.control_id(field), str(field.errors[0]))
            for field in self
            if field.errors
        ]

    def control_id(self, field: Field) -> str:
        """Return the id of the control to which the field's error links."""
        return str(field.name)


BESIDE_PREFIX = "beside_"  # before the name of what a plan asks beside a question


class AnswerForm(Form):
    """The form of a question; each kind adds its fields and the answer that they make.

    ``submission_key``: names the revision of the answer that the form showed. ``active_seconds``:
    how long the page was in view. ``go``: the button that was pressed: "next", which Enter presses,
    or "back". ``asked``: what the page asked back, until the answer is saved. ``reason``: why, in
    words; a form of a question without a reason has no such field.

    ``asks``: what the page may ask back, the doubts that are stored with an answer.
    ``confirms``: those of them that sending the form again settles.

    ``takes_steps``: whether the question is answered in many small steps, each stored at once. Such
    a form has ``steps_for`` and the fields ``step_key`` and ``go``. ``stored_steps``: how many are
    stored, once they are; ``was_done``: whether the question was answered before;
    ``asks_first``: what the page asks back before such a form does what its button says, "" for
    nothing. ``holds_answer``: whether what is sent is the answer itself, as of all other kinds.
    ``ask``:
    what the plan asks beside each question; ``asked_fields.with_further`` adds the controls.
    """

    asks: ClassVar[Sequence[str]] = ()
    confirms: ClassVar[Sequence[str]] = ()
    takes_steps = False
    stored_steps = 0
    holds_answer = False
    was_done = False
    asks_first = ""
    ask: ClassVar[Sequence[AskedField]] = ()

    submission_key = HiddenField()
    active_seconds = HiddenField()
    go = HiddenField()
    asked = HiddenField()
    reason = long_text_field(
        lazy_gettext("Your reason"),
        Length(
            max=LONGEST_ANSWER,
            message=lazy_gettext("Your reason: %(max)s characters at most, please."),
        ),
    )

    @property
    def answer(self) -> Any:
        """The answer that a valid form holds, of the kind's own type."""
        raise TypeError(f"{type(self).__name__} has no answer")

    @property
    def filled_in(self) -> Hashable:
        """The values of the answer's fields, with which the page shows the form again.

        Hashable, since they are part of the key under which a part of the page is cached.
        """
        raise TypeError(f"{type(self).__name__} shows nothing")

    def steps_for(self, shown: Any, find: Any) -> Sequence[object]:  # noqa: ARG002 - for subclasses
        """Return the steps of a valid form, see ``answers.save_steps``."""
        return ()

    def add_error(self, sentence: str) -> None:  # noqa: ARG002 - for subclasses
        """Add an error beside the answer's fields."""
        raise TypeError(f"{type(self).__name__} has no place for an error")

    @property
    def refusal(self) -> str:
        """The type of fault of a form with errors, a key of ``answers.REFUSALS``."""
        return answers.REASON if "reason" in self.errors else answers.INCOMPLETE

    @property
    def is_done(self) -> bool:
        """Whether a form with steps, once they are stored, holds the answer as well."""
        return bool(self.go.data == "done")

    @property
    def says_more(self) -> bool:
        """Whether the next page says how the answer counts."""
        return False

    @property
    def was_asked(self) -> str | None:
        """What the page asked back before this form was sent, one of ``asks``, else None.

        A form without a valid token may be another site's, which no page of ours has asked.
        """
        is_ours = "csrf_token" not in self.errors
        return self.asked.data if is_ours and self.asked.data in self.asks else None

    def is_settled(self, doubt: str, before: str | None = None) -> bool:
        """Return whether a doubt was asked about before, and needs no choice; else note it.

        ``before``: what was asked back about the question before.
        """
        known = self.was_asked or before
        if doubt in self.asks:
            self.asked.data = doubt
        return doubt in self.confirms and known == doubt

    def validate(self, extra_validators: object = None) -> bool:
        """Check the form; what the plan asks beside a question is checked with its answer only."""
        super().validate(extra_validators)
        if self.takes_steps and not self.holds_answer:
            for _, control in self.further:
                control.errors = []
        return not self.errors

    @property
    def further(self) -> list[tuple[AskedField, Field]]:
        """What the plan asks beside the question, each with its control."""
        return [(field, self[f"{BESIDE_PREFIX}{field.name}"]) for field in self.ask]

    @property
    def beside(self) -> dict[str, FieldAnswer] | None:
        """The answers to it by name, without those left empty; None where it asks for nothing."""
        if not self.ask:
            return None
        values = {field.name: control.data for field, control in self.further}
        return {name: value for name, value in values.items() if value not in (None, "")}

    @property
    def reason_text(self) -> str | None:
        """The reason, None where it is empty or not asked."""
        return (self.reason.data or None) if "reason" in self else None

    @property
    def seconds(self) -> float | None:
        """How long the page was in view, as the browser measured it.

        None for what is no number of seconds from 0 to LONGEST_BREAK.
        """
        try:
            seconds = float(self.active_seconds.data or "nan")
        except ValueError:
            return None
        return round(seconds, 1) if 0 <= seconds <= LONGEST_BREAK else None


def form_page(
    template: str, form: Form | None = None, status: int | None = None, **content: object
) -> tuple[str, int]:
    """Render a page with the errors of its form at the top; with errors, its status is 400.

    The files of a form with errors are kept, so that they need not be chosen again.
    """
    form = form or Form(formdata=None)
    if form.problems:
        uploads.keep(form)
    problems = form.problems
    html = render_template(template, form=form, problems=problems, **content)
    return html, status or (400 if problems else 200)


@contextmanager
def errors_beside(
    field: Field, error_types: tuple[type[Exception], ...] = (SurveyError,)
) -> Iterator[None]:
    """Show an error of these types beside a field of a form, instead of raising it."""
    try:
        yield
    except error_types as error:
        field.errors = [gettext(str(error))]
