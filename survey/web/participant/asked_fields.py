"""The controls of fields that a plan declares: of "About you", at the end, beside each question."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from flask import request
from wtforms import Field, IntegerField, SelectChoice, SelectField, StringField
from wtforms.validators import DataRequired, InputRequired, Length, NumberRange, Optional

from survey.core.studies.fields import AskedField, ClosingQuestion, FieldAnswer, PersonalField
from survey.core.studies.plan import ON_PROGRAMS, Plan
from survey.core.text_input import parse_whole
from survey.errors import marked
from survey.web.forms import BESIDE_PREFIX, AnswerForm, Form, long_text_field, storable
from survey.web.language import gettext

LARGEST_ANSWER_NUMBER = 999_999_999
IDS_OF_PAGE = ("kept", "main", "problems")
# The words of ON_PROGRAMS, for the catalogues: core marks none.
WORDS_ON_PROGRAMS = (
    marked("Did a program answer for you?"),
    marked("For example an AI model or a script. It has no effect on your payment."),
    *(marked("No"), marked("Yes")),
)
TOO_LONG = re.compile(r"[+-]?[0-9]{10,}")


class WholeNumberField(IntegerField):  # type: ignore[misc] # WTForms has no type hints
    """A whole number, with an error that says how to write one."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Parse the number; spaces around it are allowed."""
        self.data = None
        text = valuelist[0].strip() if valuelist else ""
        if text:
            number = parse_whole(text, -LARGEST_ANSWER_NUMBER, LARGEST_ANSWER_NUMBER, signed=True)
            label = _without_ending(self.label.text)
            shown = {"label": label}
            if number is None and TOO_LONG.fullmatch(text):
                raise ValueError(gettext("%(label)s: nine digits at most, please.", **shown))
            if number is None and self.short_name == "age":
                raise ValueError(gettext("Please write your age in digits, for example 20."))
            if number is None:
                raise ValueError(gettext("%(label)s: please use digits, for example 20.", **shown))
            self.data = number


class PersonalForm(Form):
    """The form of "About you" or of the closing questions."""

    def control_id(self, field: Field) -> str:
        """Return the field's id."""
        return str(field.id)


def personal_form(
    fields: Sequence[PersonalField], stored: Mapping[str, FieldAnswer] | None = None
) -> Form:
    """Return the form of "About you" or of the closing questions, with what was stored or sent."""
    # Prefixed: a field called "data" or "errors" would hide the form's own attribute.
    form_fields = {f"personal_{field.name}": _asked_field(field) for field in fields}
    form: type[Form] = type("AskedForm", (PersonalForm,), form_fields)
    shown = {} if stored is None or request.method == "POST" else stored
    return form(data={f"personal_{name}": value for name, value in shown.items()})


def filled_in(form: Form, fields: Sequence[PersonalField]) -> dict[str, FieldAnswer]:
    """Return the answers of a valid form by field, without those that were left empty."""
    values = {field.name: form[f"personal_{field.name}"].data for field in fields}
    return {name: value for name, value in values.items() if value not in (None, "")}


def closing_fields(plan: Plan) -> list[ClosingQuestion]:
    """Return what is asked at the end, the survey's own question in the participant's language."""
    return [
        replace(field, label=gettext(field.label), help=gettext(field.help))
        if field is ON_PROGRAMS
        else field
        for field in plan.asked_at_end
    ]


def with_further(form: type[AnswerForm], fields: Sequence[AskedField]) -> type[AnswerForm]:
    """Return the form of a question with what its plan asks beside it."""
    if not fields:
        return form
    controls = {
        f"{BESIDE_PREFIX}{field.name}": _asked_field(field, BESIDE_PREFIX) for field in fields
    }
    return type(form.__name__, (form,), {"ask": fields, **controls})


def _asked_field(field: PersonalField, prefix: str = "") -> Field:
    """Return the control of a field; its name is the field's, after a prefix."""
    name = f"{prefix}{field.name}"
    # A part of the page may have that id.
    control = {"name": name, "id": f"asked-{name}" if name in IDS_OF_PAGE else name}
    label = _without_ending(field.label)
    missing = gettext("Please fill in: %(label)s.", label=label)
    needed = [InputRequired(missing)] if field.required else [Optional()]
    if field.kind in ("number", "scale"):
        allowed = NumberRange(*field.bounds, _escape_percent(_bounds_message(field)))
        return WholeNumberField(field.label, **control, validators=[*needed, allowed])
    if field.kind == "choice":
        nothing = gettext("Choose …") if field.required else gettext("Prefer not to say")
        is_ours = field.options == ON_PROGRAMS.options and field.name == ON_PROGRAMS.name
        labels = map(gettext, field.options) if is_ours else field.options
        options = [SelectChoice("", nothing), *map(SelectChoice, field.options, labels)]
        unknown = gettext("%(label)s: please choose one of the options.", label=label)
        return SelectField(
            field.label,
            **control,
            default="",
            choices=options,
            validators=needed,
            invalid_choice_message=unknown,
        )
    most = gettext(
        "%(label)s: %(most)s characters at most, please.", label=label, most=field.longest
    )
    longest = Length(max=field.longest, message=_escape_percent(most))
    needed = [DataRequired(missing)] if field.required else [Optional()]
    if isinstance(field, ClosingQuestion):
        return long_text_field(field.label, *needed, longest, **control)
    return StringField(
        field.label,
        **control,
        filters=[lambda text: text and text.strip()],
        validators=[*needed, longest, storable],
    )


def _without_ending(label: str) -> str:
    """Return a field's label without the punctuation at its end."""
    return label.rstrip(" .:?;")


def _bounds_message(field: PersonalField) -> str:
    label, (lowest, highest) = _without_ending(field.label), field.bounds
    if lowest is None and highest is None:
        return gettext("%(label)s: a whole number, please.", label=label)
    if highest is None:
        return gettext(
            "%(label)s: a whole number from %(lowest)s on, please.", label=label, lowest=lowest
        )
    if lowest is None:
        return gettext(
            "%(label)s: a whole number up to %(highest)s, please.", label=label, highest=highest
        )
    return gettext(
        "%(label)s: a whole number from %(lowest)s to %(highest)s, please.",
        label=label,
        lowest=lowest,
        highest=highest,
    )


def _escape_percent(sentence: str) -> str:
    """Escape % for WTForms, which would read it in a study's words as a placeholder."""
    return sentence.replace("%", "%%")
