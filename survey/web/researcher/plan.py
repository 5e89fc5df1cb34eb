"""The form of one field of "About you".

The form of a plan: the same fields as a plan file, judged by the plan itself.

The plan of a study: its form while it is a draft, its text afterwards.
"""

from collections.abc import Mapping
from typing import Any

from flask import Response, flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import (
    BooleanField,
    Field,
    FieldList,
    FormField,
    RadioField,
    SelectChoice,
    SelectField,
    SelectMultipleField,
    StringField,
    TextAreaField,
)
from wtforms import Form as Subform

from survey.core.studies.faults import Fault, PlanError
from survey.core.studies.personal_fields import PersonalField
from survey.core.studies.plan import Plan
from survey.errors import SurveyError
from survey.services.studies import lifecycle, plans
from survey.services.studies.plans import write_plan
from survey.services.studies.recruitment import recruitment_of
from survey.web.forms import Form, language_choices
from survey.web.requests import session
from survey.web.researcher.pages import STUDY, blueprint, page


class PersonalFieldForm(Subform):  # type: ignore[misc] # WTForms has no type hints
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


NUMBERS = (
    *("minutes", "questions", "lists", "relevant", "collection_size", "seed"),
    *("gmt", "per_participant", "participants"),
)
MAY_BE_EMPTY = ("gmt", "per_participant", "personal_until")
DEALT = ("grades", "weights", "clusters")  # marks of drawn lists
PLACES = {"own_lists": "generator", "own_marks": "generator", "marks": "grades"}
MOST_ROWS = 25


class PlanForm(Form):
    """All of a plan that a page can hold; own lists have a page of their own."""

    title = StringField("Title")
    asked_by = StringField("Who asks")
    contact = StringField("Where participants can ask")
    language = SelectField("Language of the pages", validate_choice=False)
    minutes = StringField("Minutes it takes")
    purpose = TextAreaField("Purpose")
    consent = TextAreaField("Consent text")
    scenario = TextAreaField("Scenario")
    reminder = TextAreaField("Reminder")
    question_text = StringField("The task, in one sentence")
    list_noun = StringField("What a list stands for")

    measures = SelectMultipleField("Measures", validate_choice=False)
    questions = StringField("Questions")
    lists = StringField("Lists per question")
    relevant = StringField("Relevant items per list")
    collection_size = StringField("Collection size")
    generator = RadioField("Where the lists come from", validate_choice=False)
    seed = StringField("Seed")
    gmt = StringField("GMT cap of NMRR")
    literal_eq15 = BooleanField("Take MNRO's Eq. 15 as printed")
    other_measures = StringField("Others, by name")
    grades = StringField("Grades of a list's relevant items")
    weights = StringField("Weights of a list's relevant items")
    clusters = StringField("Clusters of a list's relevant items")

    design = RadioField("Who answers what", validate_choice=False)
    per_participant = StringField("Questions per participant")
    participants = StringField("Participants wanted")
    shuffle_questions = BooleanField("Shuffle the questions for each participant")
    shuffle_lists = BooleanField("Shuffle the lists within a question for each participant")
    practice = BooleanField("Begin with a practice question")
    rank_first = BooleanField("Ask for one's own ordering before the methods are shown")
    positions_strip = BooleanField("Show where the positions fall, as a small picture")

    personal_until = StringField("Delete what identifies people after")
    personal_fields = FieldList(FormField(PersonalFieldForm), max_entries=MOST_ROWS)

    def __init__(self, *args: Any, own_lists: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.language.choices = language_choices()
        self.measure_groups = [
            (heading, [SelectChoice(name, f"{name}: {label}") for name, label in group])
            for heading, group in plans.measure_groups()
        ]
        self.generator.choices = [
            SelectChoice("random", "Random: positions drawn uniformly, as in the paper"),
            SelectChoice(
                "discriminative", "Discriminative: random, kept only where the measures disagree"
            ),
            *([SelectChoice("given", "Your own lists, as uploaded")] if own_lists else []),
        ]
        self.design.choices = [
            SelectChoice("all", "Everyone answers all questions"),
            SelectChoice("pool", "A pool: everyone answers some, each question equally often"),
        ]

    def values(self, now: Plan) -> dict[str, Any]:
        """Return what was typed as a plan file would hold it; own lists come from ``now``."""
        typed = {field.name: field.data for field in self if field.name != "csrf_token"}
        others = (typed.pop("other_measures") or "").replace(",", " ").split()
        typed["measures"] = [*dict.fromkeys([*typed["measures"], *others])]
        marks = {kind: (typed.pop(kind) or "").replace(",", " ") for kind in DEALT}
        typed["marks"] = {kind: words for kind, words in marks.items() if words.strip()}
        typed |= {name: number_in(typed[name]) for name in NUMBERS}
        typed["personal_until"] = (typed["personal_until"] or "").strip() or None
        if typed["design"] != "pool":
            typed["per_participant"] = None
        typed["personal_fields"] = [form.values() for form in self._filled_in()]
        if typed["generator"] == "given":
            typed["own_lists"] = now.own_lists
            typed["own_marks"] = [marks.as_json() for marks in now.own_marks]
        return {
            name: "" if value is None and name not in MAY_BE_EMPTY else value
            for name, value in typed.items()
        }

    def show(self, faults: tuple[Fault, ...]) -> None:
        """Put faults beside the fields they are about."""
        rows = self._filled_in()
        for fault in faults:
            form: Any = self
            place = fault.place
            if place[0] == "personal_fields" and len(place) > 2:
                form, place = rows[int(place[1])], place[2:]
            # Own lists have no field here; what is wrong with them follows from the design.
            named = str(place[1]) if place[0] == "marks" and len(place) > 1 else str(place[0])
            field = form[PLACES.get(named, named)]
            if isinstance(field, FieldList):
                field = rows[int(place[1])].label if len(place) > 1 else rows[0].label
            field.errors = [*field.errors, _said_of(field, str(place[0]), fault.text)]

    @property
    def problems(self) -> list[tuple[str, str]]:
        """The errors of all fields, those of "About you" included, in their order."""
        told = [one for one in super().problems if one[0] != "personal_fields"]
        for row in self.personal_fields:
            told += [(field.id, field.errors[0]) for field in row.form if field.errors]
        return told

    def add_row(self) -> None:
        """Offer one more empty field of "About you"."""
        if len(self.personal_fields) < MOST_ROWS:
            self.personal_fields.append_entry({"required": True, "kind": "choice"})

    def _filled_in(self) -> list[PersonalFieldForm]:
        return [row.form for row in self.personal_fields if not row.form.is_empty]


def form_data(plan: Plan) -> dict[str, Any]:
    """Return a plan as the form shows it."""
    content = {
        name: str(value) if name in NUMBERS and value is not None else value
        for name, value in plan.as_json().items()
    }
    listed = {name for _, group in plans.measure_groups() for name, _ in group}
    content["other_measures"] = " ".join(name for name in plan.measures if name not in listed)
    marks = plan.marks.cells(0)
    content |= {kind: marks.get(kind, "") for kind in DEALT}
    content["personal_fields"] = [personal_field_data(one) for one in plan.personal_fields]
    return content


def _said_of(field: Field, name: str, text: str) -> str:
    """Say a fault with the field's label in the place of its name in files."""
    said = f"{field.label.text}{text.removeprefix(name)}" if text.startswith(f"{name} ") else text
    return f"{said[0].upper()}{said[1:]}."


@blueprint.get(f"{STUDY}/plan")
def plan() -> ResponseReturnValue:
    """Show the plan: a form for a draft's owners, a text otherwise."""
    if g.study.status != "draft" or g.role != "owner":
        return page("plan_text", text=write_plan(g.plan))
    form = PlanForm(data=form_data(g.plan), own_lists=bool(g.plan.own_lists))
    return page("plan", form=form)


@blueprint.post(f"{STUDY}/plan")
def save_plan() -> ResponseReturnValue:
    """Store a changed plan, or show the form again with what is wrong."""
    lifecycle.require_draft(g.study)
    form = PlanForm(own_lists=bool(g.plan.own_lists))
    if "add" in request.form:
        form.add_row()
        return page("plan", form=form, opened="about-you")
    if form.validate_on_submit():
        try:
            changed = plans.plan_from(form.values(g.plan))
            lifecycle.change_plan(session(), g.study, changed, g.researcher.name)
        except PlanError as error:
            form.show(error.faults)
        except SurveyError as error:
            form.questions.errors = [str(error)]
        else:
            flash("The plan is saved, and its questions are drawn.")
            return redirect(url_for("researcher.check"), 303)
    return page("plan", form=form, status=400)


@blueprint.get(f"{STUDY}/plan.yaml")
def plan_file() -> ResponseReturnValue:
    """Hand out the plan as a file that makes the same study again."""
    text = write_plan(g.plan, recruitment_of(g.study))
    return Response(
        text,
        mimetype="application/yaml",
        headers={"Content-Disposition": f'attachment; filename="{g.study.slug}.yaml"'},
    )
