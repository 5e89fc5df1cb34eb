"""The form of one field of "About you"."""

from collections.abc import Mapping
from typing import Any

from wtforms import BooleanField, Form, SelectChoice, SelectField, StringField, TextAreaField

from survey.core.stimuli.personal import PersonalField


class PersonalFieldForm(Form):  # type: ignore[misc] # WTForms has no type hints
    """One field of "About you"; a row without name and label is no field."""

    name = StringField("Column name")
    label = StringField("Question")
    kind = SelectField(
        "Kind",
        choices=[
            SelectChoice("choice", "one of several options"),
            SelectChoice("number", "a whole number"),
            SelectChoice("text", "a text"),
        ],
        validate_choice=False,
    )
    required = BooleanField("Must be answered")
    options = TextAreaField("Options, one per line")
    screen_out = TextAreaField("Options with which someone cannot take part, one per line")
    lowest = StringField("Lowest")
    highest = StringField("Highest")
    help = StringField("Help text")

    @property
    def is_empty(self) -> bool:
        """Whether nothing was typed."""
        return not (self["name"].data or self.label.data or self.options.data)

    def values(self) -> dict[str, Any]:
        """Return the field as a plan file would hold it."""
        kind = self.kind.data
        content: dict[str, Any] = {
            "name": (self["name"].data or "").strip(),
            "label": self.label.data or "",
            "kind": kind,
            "required": self.required.data,
            "help": self.help.data or "",
        }
        if kind == "choice":
            content["options"] = _lines(self.options.data)
            content["screen_out"] = _lines(self.screen_out.data)
        if kind == "number":
            content["lowest"], content["highest"] = map(
                number_in, (self.lowest.data, self.highest.data)
            )
        return content


def personal_field_data(field: PersonalField) -> Mapping[str, Any]:
    """Return a field as the form shows it."""
    return {
        **vars(field),
        "options": "\n".join(field.options),
        "screen_out": "\n".join(field.screen_out),
        "lowest": "" if field.lowest is None else str(field.lowest),
        "highest": "" if field.highest is None else str(field.highest),
    }


def number_in(text: str | None) -> int | str | None:
    """Read a whole number; what is none is left for the plan to refuse, as it was typed."""
    plain = (text or "").strip()
    if not plain:
        return None
    digits = plain.removeprefix("-")
    return int(plain) if digits.isascii() and digits.isdecimal() and len(digits) < 20 else plain


def _lines(text: str | None) -> list[str]:
    return [line.strip() for line in (text or "").splitlines() if line.strip()]
