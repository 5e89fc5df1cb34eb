"""The forms of the page that invites: a guest list, and how people come and go."""

from flask_wtf.file import FileField
from wtforms import BooleanField, RadioField, SelectChoice, StringField, TextAreaField

from survey.web.forms import Form


class GuestsForm(Form):
    """Names, typed or as a file."""

    names = TextAreaField("Names or addresses, one per line")
    guests = FileField("Or a CSV file with a column “name”")
    guests_only = BooleanField("From now on, let only those with a personal link begin")


class RecruitmentForm(Form):
    """How people come and go."""

    access = RadioField(
        "Who can begin",
        choices=[
            SelectChoice("public", "Anyone with the public link"),
            SelectChoice("personal", "Only those with a personal link"),
        ],
        validate_choice=False,
    )
    id_parameter = StringField("Parameter with a person's id")
    capture = StringField("Other parameters to keep")
    id_required = BooleanField("Let nobody begin without an id")
    code_complete = StringField("Code for those who finish")
    code_declined = StringField("Code for those who decline")
    code_screened_out = StringField("Code for those who are screened out")
    return_url = StringField("Address that the last page leads to")
    slot_minutes = StringField("Minutes after which a place that was left goes back")

    def values(self) -> dict[str, object]:
        """Return what was typed as the settings are stored."""
        typed = {f.name: f.data for f in self if f.name != "csrf_token"}
        typed = {name: one.strip() if isinstance(one, str) else one for name, one in typed.items()}
        typed |= {name: "" for name, one in typed.items() if one is None}
        minutes = typed["slot_minutes"]
        whole = minutes.isascii() and minutes.isdecimal() and len(minutes) < 8
        return typed | {
            "capture": typed["capture"].replace(",", " ").split(),
            "slot_minutes": int(minutes) if whole else minutes,
        }
