"""What a participant fills in; fields are named as interfaces.md says."""

from collections.abc import Mapping, Sequence
from typing import Any

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    Field,
    HiddenField,
    IntegerField,
    SelectChoice,
    SelectField,
    StringField,
)
from wtforms.validators import (
    DataRequired,
    InputRequired,
    Length,
    NumberRange,
    Optional,
)

from survey.core.stimuli.personal import PersonalField

EXPIRED = "The page had been open for too long. Please send it once more."


class Form(FlaskForm):  # type: ignore[misc] # Flask-WTF has no type hints
    """A form whose only errors are sentences for the person who fills it in."""

    @property
    def problems(self) -> list[tuple[str, str]]:
        """(id of the control, sentence) for the first error of each field, in their order.

        The id is empty where there is no control to go to.
        """
        return [
            ("", EXPIRED) if field.name == "csrf_token" else (self.target(field), field.errors[0])
            for field in self
            if field.errors
        ]

    def target(self, field: Field) -> str:
        """Return the id of the control to which an error of the field leads."""
        return str(field.name)


class ResumeForm(Form):
    """The code that continues on another device."""

    code = StringField(
        "Your code", validators=[DataRequired("Type the code you were given."), Length(max=64)]
    )


class ConsentForm(Form):
    """Agreement to one version of the consent text."""

    agree = BooleanField(
        "I have read this and agree to take part.",
        validators=[InputRequired("To take part, tick that you agree.")],
    )
    consent_version = HiddenField()


def personal_form(fields: Sequence[PersonalField]) -> type[Form]:
    """Make the form of a study's "About you" page."""
    # Prefixed, so that a study may have a field called "data" or "errors".
    made = {f"personal_{field.name}": _personal_field(field) for field in fields}
    return type("PersonalForm", (Form,), made)


def _personal_field(field: PersonalField) -> Field:
    missing = f"Please fill in: {field.label}."
    needed = [InputRequired(missing)] if field.required else [Optional()]
    if field.kind == "number":
        lowest, highest = field.lowest, field.highest
        allowed = NumberRange(
            lowest, highest, f"{field.label}: a whole number from {lowest} to {highest}, please."
        )
        return WholeNumberField(field.label, name=field.name, validators=[*needed, allowed])
    if field.kind == "choice":
        options = [SelectChoice("", "Choose …"), *map(SelectChoice, field.options)]
        return SelectField(field.label, name=field.name, choices=options, validators=needed)
    return StringField(field.label, name=field.name, validators=[*needed, Length(max=500)])


class WholeNumberField(IntegerField):  # type: ignore[misc] # WTForms has no type hints
    """A whole number; says in plain words when something else was typed."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Read the number, forgiving spaces around it."""
        self.data = None
        text = valuelist[0].strip() if valuelist else ""
        if text:
            if not (text.isascii() and text.isdecimal() and len(text) < 10):
                raise ValueError(f"{self.label.text}: {text[:20]!r} is not a whole number.")
            self.data = int(text)


def personal_data(form: Form, fields: Sequence[PersonalField]) -> Mapping[str, Any]:
    """Return what was filled in, without the fields left empty."""
    given = {field.name: form[f"personal_{field.name}"].data for field in fields}
    return {name: value for name, value in given.items() if value not in (None, "")}
