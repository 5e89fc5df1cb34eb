"""The plan of a study: a form while the study is a draft, a text afterwards.

The form has the fields of a plan file. The plan itself validates what is typed. A study's own
lists are uploaded on a page beside it, as CSV or as TREC judgements and runs.
"""

from collections.abc import Callable, Mapping
from typing import Any

from flask import Response, flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField, MultipleFileField
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
from survey.core.studies.participant_fields import PersonalField
from survey.core.studies.plan import Plan
from survey.core.tasks.ordering_plan import OrderingPlan, ordering_plan
from survey.core.text_input import parse_whole
from survey.errors import SurveyError
from survey.services.studies import lifecycle, plans
from survey.services.studies.plans import write_plan
from survey.services.studies.recruitment import recruitment_of
from survey.web.forms import Form, language_choices
from survey.web.requests import session
from survey.web.researcher.pages import STUDY, blueprint, decoded, page, uploaded_text

NUMBERS = (
    *("minutes", "questions", "lists", "relevant", "collection_size", "seed"),
    *("gmt", "per_participant", "participants"),
)
OPTIONAL = ("gmt", "per_participant", "personal_until")
MARK_KINDS = ("grades", "weights", "clusters")  # one text for each, dealt to drawn lists
# The field beside which to show a fault of something that has no field of its own.
FIELD_OF = {"own_lists": "generator", "own_marks": "generator", "marks": "grades"}
MAX_PERSONAL_FIELDS = 25


class PersonalFieldForm(Subform):  # type: ignore[misc] # WTForms has no type hints
    """One field of the page "About you"; empty without column name, question and options."""

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
    screen_out = TextAreaField("Options that end the survey for a person, one per line")
    lowest = StringField("Lowest")
    highest = StringField("Highest")
    help = StringField("Help text")

    @property
    def is_empty(self) -> bool:
        """Whether to ignore the row: this is how a field is removed."""
        return not (self["name"].data or self.label.data or self.options.data)

    def values(self) -> dict[str, Any]:
        """Return the field as a plan file has it."""
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
                _number, (self.lowest.data, self.highest.data)
            )
        return content


class PlanForm(Form):
    """All fields of a plan except own lists, which have a page of their own."""

    title = StringField("Title")
    asked_by = StringField("Who asks")
    contact = StringField("Where participants can ask")
    language = SelectField("Language of the pages", validate_choice=False)
    minutes = StringField("Minutes")
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
    literal_eq15 = BooleanField("Use MNRO's Eq. 15 as printed")
    other_measures = StringField("Other measures")
    grades = StringField("Grades of a list's relevant items")
    weights = StringField("Weights of a list's relevant items")
    clusters = StringField("Clusters of a list's relevant items")

    design = RadioField("Who answers what", validate_choice=False)
    per_participant = StringField("Questions per participant")
    participants = StringField("Participants wanted")
    shuffle_questions = BooleanField("Shuffle the questions for each participant")
    shuffle_lists = BooleanField("Shuffle the lists within a question for each participant")
    practice = BooleanField("Begin with a practice question")
    rank_first = BooleanField("Ask for people's own orderings before showing the methods")
    positions_strip = BooleanField("Show the positions on a line")

    personal_until = StringField("Delete personal data after")
    personal_fields = FieldList(FormField(PersonalFieldForm), max_entries=MAX_PERSONAL_FIELDS)

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

    def values(self, current: Plan) -> dict[str, Any]:
        """Return the typed plan as a plan file has it, with the own lists of the current plan."""
        typed = {field.name: field.data for field in self if field.name != "csrf_token"}
        others = (typed.pop("other_measures") or "").replace(",", " ").split()
        typed["measures"] = [*dict.fromkeys([*typed["measures"], *others])]
        marks = {kind: (typed.pop(kind) or "").replace(",", " ") for kind in MARK_KINDS}
        typed["marks"] = {kind: words for kind, words in marks.items() if words.strip()}
        typed |= {name: _number(typed[name]) for name in NUMBERS}
        typed["personal_until"] = (typed["personal_until"] or "").strip() or None
        if typed["design"] != "pool":
            typed["per_participant"] = None
        typed["personal_fields"] = [form.values() for form in self._used_rows()]
        if typed["generator"] == "given":
            typed["own_lists"] = ordering_plan(current).own_lists
            typed["own_marks"] = [marks.as_json() for marks in ordering_plan(current).own_marks]
        return {
            name: "" if value is None and name not in OPTIONAL else value
            for name, value in typed.items()
        }

    def show(self, faults: tuple[Fault, ...]) -> None:
        """Add faults to the errors of the fields that they are about."""
        rows = self._used_rows()
        for fault in faults:
            form: Any = self
            path = fault.place
            if path[0] == "personal_fields" and len(path) > 2:
                form, path = rows[int(path[1])], path[2:]
            # Own lists have no field on this page; their faults follow from the design.
            name = str(path[1]) if path[0] == "marks" and len(path) > 1 else str(path[0])
            field = form[FIELD_OF.get(name, name)]
            if isinstance(field, FieldList):
                field = rows[int(path[1])].label if len(path) > 1 else rows[0].label
            field.errors = [*field.errors, _with_label(fault.text, str(path[0]), field)]

    @property
    def problems(self) -> list[tuple[str, str]]:
        """(id of the control, sentence) for the first error of each field, "About you" included."""
        problems = [problem for problem in super().problems if problem[0] != "personal_fields"]
        for row in self.personal_fields:
            problems += [(field.id, field.errors[0]) for field in row.form if field.errors]
        return problems

    def add_row(self) -> None:
        """Add an empty field of "About you", unless there are too many."""
        if len(self.personal_fields) < MAX_PERSONAL_FIELDS:
            self.personal_fields.append_entry({"required": True, "kind": "choice"})

    def _used_rows(self) -> list[PersonalFieldForm]:
        return [row.form for row in self.personal_fields if not row.form.is_empty]


@blueprint.get(f"{STUDY}/plan")
def plan() -> ResponseReturnValue:
    """Show the plan: a form for the owners of a draft, else a text."""
    has_form = isinstance(g.plan, OrderingPlan)  # a plan of another kind is written as a file
    if g.study.status != "draft" or g.role != "owner" or not has_form:
        return page("plan_text", text=write_plan(g.plan))
    form = PlanForm(data=_form_data(g.plan), own_lists=bool(g.plan.own_lists))
    return page("plan", form=form)


@blueprint.post(f"{STUDY}/plan")
def save_plan() -> ResponseReturnValue:
    """Store the changed plan, or show the form again with its errors."""
    lifecycle.require_draft(g.study)
    form = PlanForm(own_lists=bool(g.plan.own_lists))
    if "add" in request.form:
        form.add_row()
        return page("plan", form=form)
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
    """Return the plan as a YAML file from which the same study can be created again."""
    text = write_plan(g.plan, recruitment_of(g.study))
    return Response(
        text,
        mimetype="application/yaml",
        headers={"Content-Disposition": f'attachment; filename="{g.study.slug}.yaml"'},
    )


def _form_data(plan: Plan) -> dict[str, Any]:
    content = {
        name: str(value) if name in NUMBERS and value is not None else value
        for name, value in plan.as_json().items()
    }
    listed = {name for _, group in plans.measure_groups() for name, _ in group}
    content["other_measures"] = " ".join(
        name for name in ordering_plan(plan).measures if name not in listed
    )
    marks = ordering_plan(plan).marks.cells(0)
    content |= {kind: marks.get(kind, "") for kind in MARK_KINDS}
    content["personal_fields"] = [_personal_field_data(field) for field in plan.personal_fields]
    return content


def _personal_field_data(field: PersonalField) -> Mapping[str, Any]:
    return {
        **vars(field),
        "options": "\n".join(field.options),
        "screen_out": "\n".join(field.screen_out),
        "lowest": "" if field.lowest is None else str(field.lowest),
        "highest": "" if field.highest is None else str(field.highest),
    }


def _number(text: str | None) -> int | str | None:
    """Parse a whole number; return any other text as it is, for the plan to reject."""
    stripped = (text or "").strip()
    if not stripped:
        return None
    number = parse_whole(stripped, signed=True)
    return stripped if number is None else number


def _lines(text: str | None) -> list[str]:
    return [line.strip() for line in (text or "").splitlines() if line.strip()]


def _with_label(text: str, name: str, field: Field) -> str:
    """Replace a field's name in files at the beginning of a fault by its label on the page."""
    if text.startswith(f"{name} "):
        text = f"{field.label.text}{text.removeprefix(name)}"
    return f"{text[0].upper()}{text[1:]}."


class ListsForm(Form):
    """A CSV file of ranked lists."""

    lists = FileField("CSV file")


class TrecForm(Form):
    """Judgements and runs as TREC files, the topics to ask about, and what to show of them."""

    qrels = FileField("Judgements (qrels)")
    runs = MultipleFileField("Runs, two to ten")
    topics = StringField("Topics")
    collection_size = StringField("Collection size")
    clusters = FileField("Clusters")
    graded = BooleanField("Use the judgements' grades")
    missing_last = BooleanField(
        "Put relevant documents that a run did not return at the end of the collection"
    )


@blueprint.get(f"{STUDY}/lists")
def lists() -> ResponseReturnValue:
    """Show the forms for a CSV file and for TREC files."""
    lifecycle.require_draft(g.study)
    return _lists_page()


@blueprint.post(f"{STUDY}/lists")
def upload_lists() -> ResponseReturnValue:
    """Replace the draft's lists by those of a CSV file."""
    form = ListsForm()
    return _use_lists(
        form, form.lists, lambda: plans.from_csv(*_required_file("lists")), csv_form=form
    )


@blueprint.post(f"{STUDY}/lists/trec")
def upload_trec() -> ResponseReturnValue:
    """Replace the draft's lists by those of TREC runs."""
    form = TrecForm()

    def read() -> Any:
        files = [file for file in request.files.getlist("runs") if file.filename]
        runs = [(str(file.filename), decoded(file.read(), str(file.filename))) for file in files]
        text, name = _required_file("qrels")
        clusters = uploaded_text("clusters")
        return plans.from_trec(
            (name, text),
            runs,
            topics=(form.topics.data or "").replace(",", " ").split(),
            collection_size=form.collection_size.data or "",
            missing_last=form.missing_last.data,
            graded=form.graded.data,
            clusters=clusters and clusters[::-1],
        )

    return _use_lists(form, form.qrels, read, trec_form=form)


def _required_file(name: str) -> tuple[str, str]:
    uploaded = uploaded_text(name)
    if uploaded is None:
        raise ValueError("Choose a file first")
    return uploaded


def _use_lists(
    form: Form, field: Any, read: Callable[[], Any], **forms: Form
) -> ResponseReturnValue:
    """Store the lists that ``read`` returns, or show all faults in them."""
    lifecycle.require_draft(g.study)
    faults: tuple[str, ...] = ()
    if form.validate_on_submit():
        session().rollback()  # else participants' answers wait while the files are read
        try:
            plan = plans.with_lists(g.plan, read())
            lifecycle.change_plan(session(), g.study, plan, g.researcher.name)
        except plans.FaultyFilesError as error:
            faults = error.faults
        except PlanError as error:
            faults = tuple(fault.text for fault in error.faults)
        except (SurveyError, ValueError) as error:
            faults = (str(error),)
        else:
            flash("The study now asks about your lists. Check that its texts fit them.")
            return redirect(url_for("researcher.check"), 303)
        field.errors = ["The lists cannot be used; see below."]
    return _lists_page(form=form, faults=faults, status=400, **forms)


def _lists_page(
    form: Form | None = None, faults: tuple[str, ...] = (), status: int = 200, **forms: Form
) -> ResponseReturnValue:
    forms = {"csv_form": ListsForm(formdata=None), "trec_form": TrecForm(formdata=None)} | forms
    return page("lists", form=form, faults=faults, status=status, **forms)
