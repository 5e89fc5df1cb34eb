"""The form of a plan: the same fields as a plan file, judged by the plan itself."""

from typing import Any

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

from survey.core.stimuli.faults import Fault
from survey.core.stimuli.plan import Plan
from survey.services import studies
from survey.web.forms import Form, language_choices
from survey.web.researcher.personal_field_form import (
    PersonalFieldForm,
    number_in,
    personal_field_data,
)

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
            for heading, group in studies.measure_groups()
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
    listed = {name for _, group in studies.measure_groups() for name, _ in group}
    content["other_measures"] = " ".join(name for name in plan.measures if name not in listed)
    marks = plan.marks.cells(0)
    content |= {kind: marks.get(kind, "") for kind in DEALT}
    content["personal_fields"] = [personal_field_data(one) for one in plan.personal_fields]
    return content


def _said_of(field: Field, name: str, text: str) -> str:
    """Say a fault with the field's label in the place of its name in files."""
    said = f"{field.label.text}{text.removeprefix(name)}" if text.startswith(f"{name} ") else text
    return f"{said[0].upper()}{said[1:]}."
