"""What a participant fills in; fields are named as interfaces.md says."""

from collections.abc import Mapping, Sequence
from typing import Any

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
    ValidationError,
)

from survey.core.stimuli.faults import is_storable
from survey.core.stimuli.personal import PersonalField
from survey.web.forms import Form
from survey.web.language import gettext, lazy_gettext


class ResumeForm(Form):
    """The code that continues on another device."""

    code = StringField(
        validators=[
            DataRequired(lazy_gettext("Type the code you were given.")),
            Length(max=64, message=lazy_gettext("A code has 14 letters and digits.")),
        ]
    )


class ConsentForm(Form):
    """Agreement to one version of the consent text."""

    agree = BooleanField(
        lazy_gettext("I have read this and agree to take part."),
        validators=[DataRequired(lazy_gettext("To take part, tick that you agree."))],
    )
    consent_version = HiddenField()


def personal_form(fields: Sequence[PersonalField]) -> type[Form]:
    """Make the form of a study's "About you" page."""
    # Prefixed, so that a study may have a field called "data" or "errors".
    made = {f"personal_{field.name}": _personal_field(field) for field in fields}
    return type("PersonalForm", (Form,), made)


def _personal_field(field: PersonalField) -> Field:
    missing = gettext("Please fill in: %(label)s.", label=field.label)
    needed = [InputRequired(missing)] if field.required else [Optional()]
    if field.kind == "number":
        allowed = NumberRange(field.lowest, field.highest, _literally(_about_bounds(field)))
        return WholeNumberField(field.label, name=field.name, validators=[*needed, allowed])
    if field.kind == "choice":
        options = [SelectChoice("", gettext("Choose …")), *map(SelectChoice, field.options)]
        unknown = gettext("%(label)s: please choose one of the options.", label=field.label)
        return SelectField(
            field.label,
            name=field.name,
            choices=options,
            validators=needed,
            invalid_choice_message=unknown,
        )
    most = gettext("%(label)s: 500 characters at most, please.", label=field.label)
    longest = Length(max=500, message=_literally(most))
    return StringField(field.label, name=field.name, validators=[*needed, longest, _storable])


def _storable(_: Form, field: Field) -> None:
    """Refuse a text with a NUL, which no keyboard types and not every database keeps."""
    if not is_storable(field.data or ""):
        raise ValidationError(
            gettext(
                "%(label)s: this holds a character that cannot be stored; please type it anew.",
                label=field.label.text,
            )
        )


def _about_bounds(field: PersonalField) -> str:
    label, lowest, highest = field.label, field.lowest, field.highest
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


def _literally(sentence: str) -> str:
    """Keep WTForms from looking for its own placeholders in a sentence with a study's words."""
    return sentence.replace("%", "%%")


class WholeNumberField(IntegerField):  # type: ignore[misc] # WTForms has no type hints
    """A whole number; says in plain words when something else was typed."""

    def process_formdata(self, valuelist: list[str]) -> None:
        """Read the number, forgiving spaces around it."""
        self.data = None
        text = valuelist[0].strip() if valuelist else ""
        if text:
            digits = text.removeprefix("-")
            if not (digits.isascii() and digits.isdecimal() and len(digits) < 10):
                raise ValueError(
                    gettext(
                        "%(label)s: %(text)s is not a whole number.",
                        label=self.label.text,
                        text=repr(text[:20]),
                    )
                )
            self.data = int(text)


def personal_data(form: Form, fields: Sequence[PersonalField]) -> Mapping[str, Any]:
    """Return what was filled in, without the fields left empty."""
    given = {field.name: form[f"personal_{field.name}"].data for field in fields}
    return {name: value for name, value in given.items() if value not in (None, "")}
