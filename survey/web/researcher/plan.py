"""The plan of a study: a form while the study is a draft, a text afterwards.

The form has the fields of a plan file. The plan itself validates what is typed. A study's own
lists are uploaded on a page beside it, as CSV or as TREC judgements and runs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from flask import flash, g, make_response, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField, MultipleFileField
from werkzeug.exceptions import NotFound
from wtforms import (
    BooleanField,
    Field,
    FieldList,
    FormField,
    HiddenField,
    SelectChoice,
    SelectField,
    SelectMultipleField,
    StringField,
    TextAreaField,
)
from wtforms import Form as Subform

from survey.core.studies.fields import (
    KINDS,
    Day,
    Fault,
    PersonalField,
    PlanError,
    Rule,
    Whole,
    rules_of,
)
from survey.core.studies.plan import ASKED_OF_PERSONS, Plan, texts_of
from survey.core.tasks.ordering_plan import (
    BEFORE,
    COLUMNS,
    OF_RUNS,
    OWN_LISTS,
    OrderingPlan,
    ordering_plan,
)
from survey.core.text_input import parse_whole
from survey.errors import ChangedMeanwhileError, SurveyError
from survey.services.participation import answers
from survey.services.planning import power
from survey.services.studies import lifecycle, plans
from survey.services.studies.plans import write_plan
from survey.services.studies.recruitment import recruitment_of
from survey.web.forms import Form, field_for, page
from survey.web.requests import WITH_OWN_FRAMES, attachment, in_own_process, session
from survey.web.researcher.pages import (
    STUDY,
    Conflict,
    VersionedForm,
    blueprint,
    uploaded_files,
    uploaded_text,
)

RULES = rules_of(OrderingPlan)
FIELD_RULES = rules_of(PersonalField)
MARK_KINDS = ("grades", "weights", "clusters")  # one text for each, dealt to drawn lists
# The field beside which to show a fault of something that has no field of its own.
FIELD_OF = {"own_lists": "generator", "own_marks": "generator", "marks": "grades"}
MAX_PERSONAL_FIELDS = 25


class PersonalFieldForm(Subform):  # type: ignore[misc] # WTForms has no type hints
    """A field of "About you", or a closing question.

    A row without column name, question and options is empty.
    """

    name = StringField("Column name", description="The column in exported files, like age.")
    label = field_for(FIELD_RULES["label"])
    kind = SelectField(
        FIELD_RULES["kind"].label,
        choices=[SelectChoice(*choice) for choice in KINDS.items()],
        validate_choice=False,
    )
    required = field_for(FIELD_RULES["required"])
    options = TextAreaField(
        "Options, one per line",
        description="Only for “one of several options”; for a scale, the words for 1 and for 5.",
        render_kw={"rows": 4},
    )
    screen_out = TextAreaField(
        "Options that end the survey for a person, one per line",
        description="Leave empty to let everyone take part.",
        render_kw={"rows": 4},
    )
    lowest = field_for(FIELD_RULES["lowest"])
    highest = field_for(FIELD_RULES["highest"])
    help = field_for(FIELD_RULES["help"])

    @property
    def is_empty(self) -> bool:
        """Whether to ignore the row: this is how a field is removed."""
        return not (self["name"].data or self.label.data or self.options.data)

    def values(self) -> dict[str, Any]:
        """Return the field as a plan file has it."""
        content = {name: _typed(rule, self[name].data) for name, rule in FIELD_RULES.items()}
        content["name"] = (self["name"].data or "").strip()
        if self.kind.data in ("choice", "scale"):
            content |= {name: _lines(self[name].data) for name in ("options", "screen_out")}
        if self.kind.data != "number":
            del content["lowest"], content["highest"]
        return content


class Part(NamedTuple):
    """Fields of a step, in their order on the page; ``folded``: shown on demand."""

    heading: str
    fields: tuple[str, ...]
    folded: bool = False
    help: str = ""


class Step(NamedTuple):
    """A step of the plan's form; ``preview``: the participants' page that is shown beside it."""

    title: str
    preview: str
    parts: tuple[Part, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the step's fields."""
        return tuple(name for part in self.parts for name in part.fields)


RUNS = "Pictures and texts of the runs"  # shown only where the lists come from runs
MARKS_HELP = (
    "For random lists: one word for each relevant item of a list, assigned to its positions at "
    "random. Participants see them in brackets. Your own lists have theirs in their files."
)

# Which field appears with which choice is in static/plan.css.
STEPS = {
    "what": Step(
        "What to ask",
        "question",
        (
            Part("", ("measures", "other_measures")),
            Part("", ("generator", "questions", "lists", "relevant", "collection_size")),
            Part("Grades or clusters beside the positions", MARK_KINDS, True, MARKS_HELP),
            Part("Seed, and variants of the measures", ("seed", "gmt", "literal_eq15"), True),
        ),
    ),
    "how": Step(
        "How to ask",
        "question",
        (
            Part("Methods", ("columns", "show_values", "rescale_values", "shuffle_columns")),
            Part("Compare two or three ways to show the methods", ("arms",), folded=True),
            Part(
                RUNS, ("show_items", "mark_relevant", "show_positions", "depth", "shuffle_letters")
            ),
            Part("Practice and reasons", ("practice", "exclude_failed_check", "reason_question")),
            Part(
                "Order, positions on a line, control questions",
                ("shuffle_questions", "shuffle_lists", "positions_strip", "repeated", "obvious"),
                folded=True,
            ),
        ),
    ),
    "who": Step(
        "Who takes part",
        "about_you",
        (
            Part("", ("participants", "design", "per_participant")),
            Part("Equality, and looks before the end", ("smallest_difference", "looks"), True),
            Part("About you", ("personal_until", "personal_fields")),
            Part("Closing questions", ("closing_questions",)),
        ),
    ),
    "texts": Step(
        "Texts",
        "entry",
        (
            Part("", ("asked_by", "contact", "title", "language", "minutes")),
            Part("Before the questions", ("purpose", "consent", "scenario")),
            Part("Beside each question", ("question_text", "list_noun", "reminder")),
            Part("At the end", ("debriefing",)),
        ),
    ),
}
STEP_OF = {name: step for step, content in STEPS.items() for name in content.fields}
# Fields whose controls stand side by side.
SHORT = {name for name, rule in RULES.items() if isinstance(rule, Whole) and len(rule.help) < 70}


class PlanForm(VersionedForm):
    """All fields of a plan except own lists, which have a page of their own.

    They are in the order of ``STEPS``, which is also that of its errors. ``step``: the step that
    the page showed; ``go``: the step to show once the plan is saved.
    """

    step = HiddenField()

    measures = SelectMultipleField("Measures", validate_choice=False)
    other_measures = StringField(
        "Other measures",
        description="With other cut-offs, separated by spaces: P@7 nDCG@3 F2@20.",
    )
    generator = field_for(RULES["generator"])
    questions = field_for(RULES["questions"])
    lists = field_for(RULES["lists"])
    relevant = field_for(RULES["relevant"])
    collection_size = field_for(RULES["collection_size"])
    grades = StringField(
        "Grades of a list's relevant items",
        description="Like 3 2 2 1 1. Higher is more relevant.",
    )
    weights = StringField(
        "Weights of a list's relevant items",
        description="The share of annotators who chose the item, like 1 .8571 .8571 .4286 .1429.",
    )
    clusters = StringField(
        "Clusters of a list's relevant items",
        description="Like dolphin dolphin turtle pelican pelican.",
    )
    seed = field_for(RULES["seed"])
    gmt = field_for(RULES["gmt"])
    literal_eq15 = field_for(RULES["literal_eq15"])

    columns = field_for(RULES["columns"])
    show_values = field_for(RULES["show_values"])
    rescale_values = field_for(RULES["rescale_values"])
    shuffle_columns = field_for(RULES["shuffle_columns"])
    arms = SelectMultipleField(
        "Or compare: participants are drawn at random and evenly among",
        choices=[SelectChoice(*choice) for choice in COLUMNS.items()],
        description="Tick two or three; then the choice above does not count.",
        validate_choice=False,
    )
    show_items = field_for(RULES["show_items"])
    mark_relevant = field_for(RULES["mark_relevant"])
    show_positions = field_for(RULES["show_positions"])
    depth = field_for(RULES["depth"])
    shuffle_letters = field_for(RULES["shuffle_letters"])
    practice = field_for(RULES["practice"])
    exclude_failed_check = field_for(RULES["exclude_failed_check"])
    reason_question = field_for(RULES["reason_question"])
    shuffle_questions = field_for(RULES["shuffle_questions"])
    shuffle_lists = field_for(RULES["shuffle_lists"])
    positions_strip = field_for(RULES["positions_strip"])
    repeated = field_for(RULES["repeated"])
    obvious = field_for(RULES["obvious"])

    participants = field_for(RULES["participants"])
    design = field_for(RULES["design"])
    per_participant = field_for(RULES["per_participant"])
    smallest_difference = field_for(RULES["smallest_difference"])
    looks = StringField(
        "Looks at results before the end",
        description="Optional: after how many finished participants, like 10 20. Planned looks "
        "share the 5 %, by the spending function of Lan and DeMets.",
    )
    personal_until = field_for(RULES["personal_until"])
    personal_fields = FieldList(FormField(PersonalFieldForm), max_entries=MAX_PERSONAL_FIELDS)
    closing_questions = FieldList(FormField(PersonalFieldForm), max_entries=MAX_PERSONAL_FIELDS)

    asked_by = field_for(RULES["asked_by"])
    contact = field_for(RULES["contact"])
    title = field_for(RULES["title"])
    language = field_for(RULES["language"])
    minutes = field_for(RULES["minutes"])
    purpose = field_for(RULES["purpose"])
    consent = field_for(RULES["consent"])
    scenario = field_for(RULES["scenario"])
    question_text = field_for(RULES["question_text"])
    list_noun = field_for(RULES["list_noun"])
    reminder = field_for(RULES["reminder"])
    debriefing = field_for(RULES["debriefing"])

    def __init__(self, *args: Any, has_own_lists: bool = False, **kwargs: Any) -> None:
        """``has_own_lists``: whether the study has some, so that they can be chosen."""
        super().__init__(*args, **kwargs)
        self.measure_groups = [
            (heading, [SelectChoice(name, f"{name}: {label}") for name, label in group])
            for heading, group in plans.measure_groups()
        ]
        if not has_own_lists:
            drawn = [choice for choice in self.generator.choices if choice.value != OWN_LISTS]
            self.generator.choices = drawn

    def values(self, current: Plan) -> dict[str, Any]:
        """Return the typed plan as a plan file has it.

        Own lists, where they are chosen, and fields that the page lacks come from the current plan.
        """
        typed = {name: _typed(rule, self[name].data) for name, rule in RULES.items()}
        typed["measures"] = [
            *dict.fromkeys(
                [*self.measures.data, *_commas_as_spaces(self.other_measures.data).split()]
            )
        ]
        marks = {kind: _commas_as_spaces(self[kind].data) for kind in MARK_KINDS}
        typed["looks"] = [_number(word) for word in _commas_as_spaces(self.looks.data).split()]
        typed["arms"] = self.arms.data
        if typed["arms"]:
            typed["columns"] = BEFORE
        typed["marks"] = {kind: words for kind, words in marks.items() if words.strip()}
        if typed["design"] != "pool":
            typed["per_participant"] = None
        for name in ASKED_OF_PERSONS:
            typed[name] = [form.values() for form in self._used_rows(name)]
        if typed["generator"] == OWN_LISTS:
            typed["own_lists"] = ordering_plan(current).own_lists
            typed["own_marks"] = [marks.as_json() for marks in ordering_plan(current).own_marks]
            typed["provenance"] = current.as_json().get("provenance")
        if not typed.get("provenance"):  # these fields are not on the page
            typed |= {name: getattr(current, name) for name in OF_RUNS}
        return typed

    def add_faults(self, faults: tuple[Fault, ...]) -> None:
        """Add faults to the errors of the fields that they are about."""
        for fault in faults:
            form: Any = self
            path = fault.place
            rows = self._used_rows(str(path[0])) if path[0] in ASKED_OF_PERSONS else []
            if rows and len(path) > 2:
                form, path = rows[int(path[1])], path[2:]
            # Own lists have no field on this page; their faults follow from the design.
            name = str(path[1]) if path[0] == "marks" and len(path) > 1 else str(path[0])
            field = form[FIELD_OF.get(name, name)]
            if isinstance(field, FieldList):
                field = rows[int(path[1])].label if len(path) > 1 else rows[0].label
            field.errors = [*field.errors, _as_sentence(fault.text, str(path[0]), field)]

    @property
    def problems(self) -> list[tuple[str, str]]:
        """(id of the control, sentence) for the first error of each field, rows' fields too."""
        problems = [problem for problem in super().problems if problem[0] not in ASKED_OF_PERSONS]
        for row in (row for name in ASKED_OF_PERSONS for row in self[name]):
            problems += [(field.id, field.errors[0]) for field in row.form if field.errors]
        return problems

    def add_row(self, name: str) -> None:
        """Add an empty field of "About you", or closing question, unless there are too many."""
        rows, is_personal = self[name], name == "personal_fields"
        if len(rows) < MAX_PERSONAL_FIELDS:
            kind = "choice" if is_personal else "text"
            rows.append_entry({"required": is_personal, "kind": kind})

    def _used_rows(self, name: str) -> list[PersonalFieldForm]:
        return [row.form for row in self[name] if not row.form.is_empty]


class PlanTextForm(VersionedForm):
    """A plan of a kind without a form of its own, as in a plan file."""

    text = TextAreaField("The plan as YAML", render_kw={"rows": 30, "spellcheck": "false"})


@blueprint.get(f"{STUDY}/plan")
def plan() -> ResponseReturnValue:
    """Show the plan: a form for the owners of a draft, at a step, else a text."""
    if g.study.status != "draft" or g.role != "owner":
        return page("researcher/plan_text.html", text=write_plan(g.plan))
    if not isinstance(g.plan, OrderingPlan):
        text_form = PlanTextForm(formdata=None, text=write_plan(g.plan), version=_version())
        return page("researcher/plan_text.html", text_form)
    form = PlanForm(
        data=_form_data(g.plan), has_own_lists=bool(g.plan.own_lists), version=_version()
    )
    return _plan_page(form, request.args.get("step"))


@blueprint.post(f"{STUDY}/plan")
@in_own_process
def save_plan() -> ResponseReturnValue:
    """Store the changed plan and go on to a step, or to the check where the form names none.

    Or show the form again: with its errors, with another row, or beside what another window has
    saved meanwhile.
    """
    lifecycle.require_draft(g.study)
    if not isinstance(g.plan, OrderingPlan):
        return _save_plan_text(PlanTextForm())
    form = PlanForm(has_own_lists=bool(g.plan.own_lists))
    added = request.form.get("add", "")
    if added in ASKED_OF_PERSONS:
        form.add_row(added)
        return _plan_page(form, STEP_OF[added], added=added)
    if form.validate_on_submit():
        try:
            changed = plans.parse_plan(form.values(g.plan))
            lifecycle.change_plan(
                session(), g.study, changed, g.researcher.name, form.version.data or ""
            )
        except PlanError as error:
            form.add_faults(error.faults)
        except ChangedMeanwhileError:
            g.plan, form.version.data = g.study.plan, _version()
            saved, typed = plans.plan_values(g.plan), plans.plan_values(changed)
            conflict = Conflict.between(form, saved, typed, "plan changed")
            return _plan_page(form, form.step.data, 409, conflict=conflict)
        except SurveyError as error:
            form.questions.errors = [str(error)]
        else:
            return _go_on_after_saving()
    return _plan_page(form, form.step.data)


def _go_on_after_saving() -> ResponseReturnValue:
    """Redirect to the step whose button was pressed; without one to the check."""
    step = request.form.get("go")
    if step in STEPS:
        return redirect(url_for("researcher.plan", step=step), 303)
    flash("The plan is saved, and its questions are drawn.")
    return redirect(url_for("researcher.check"), 303)


def _plan_page(
    form: PlanForm, step: str | None, status: int | None = None, **content: Any
) -> ResponseReturnValue:
    """Show the form at a step, by default the first; instead at all steps that have faults.

    The page has a frame with the preview.
    """
    faulty = {STEP_OF.get(control.partition("-")[0], "") for control, _ in form.problems}
    open_steps = [name for name in STEPS if name in faulty]
    open_steps = open_steps or [step if step in STEPS else next(iter(STEPS))]
    form.step.data = open_steps[0]
    response = make_response(
        page(
            "researcher/plan.html",
            form,
            status,
            steps=STEPS,
            open_steps=open_steps,
            of_runs=RUNS,
            texts=texts_of(OrderingPlan),
            short=SHORT,
            previewed=_previewed_pages(g.plan),
            **content,
        )
    )
    response.headers["Content-Security-Policy"] = WITH_OWN_FRAMES
    return response


def _previewed_pages(plan: OrderingPlan) -> dict[str, tuple[str, str]]:
    """Return participants' pages that are shown beside the form: page → (title, address)."""
    titles = {
        "entry": "First page",
        "consent": "Consent",
        "about_you": "About you",
        "scenario": "Scenario",
        **({"practice": "Practice"} if plan.practice else {}),
        "question": "Question 1",
        **({"closing": "Closing questions"} if plan.closing_questions else {}),
        "done": "Last page",
    }
    labels = answers.usual_variant(plan)
    return {
        name: (
            title,
            url_for(
                "preview.page",
                labels=labels,
                page=name,
                position=1 if name == "question" else None,
            ),
        )
        for name, title in titles.items()
    }


@blueprint.app_template_global()
def plan_address(field: str) -> str:
    """Return the address of a field of the plan's form."""
    return url_for("researcher.plan", step=STEP_OF[field], _anchor=field)


@blueprint.get(f"{STUDY}/power")
@in_own_process
def show_power() -> ResponseReturnValue:
    """Show which differences the saved plan finds, simulated."""
    if not isinstance(g.plan, OrderingPlan):
        raise NotFound
    try:
        powers = power.simulate_plan(g.study.plan, lifecycle.counted_questions(g.study))
    except power.GridError as error:
        return page("researcher/power.html", faults=[fault.text for fault in error.faults])
    return page("researcher/power.html", powers=powers, words=power)


def _save_plan_text(form: PlanTextForm) -> ResponseReturnValue:
    """Store a plan that was changed as a text, or show the text with all its faults."""
    faults: tuple[str, ...] = ()
    if form.validate_on_submit():
        try:
            changed = plans.read_plan(form.text.data or "", "plan").plan
            if changed.kind != g.plan.kind:
                raise SurveyError(f"The kind is {changed.kind}; {g.plan.kind} it stays.")
            version = form.version.data or ""
            lifecycle.change_plan(session(), g.study, changed, g.researcher.name, version)
        except plans.PlanFileError as error:
            faults = error.faults
            form.text.errors = ["The plan cannot be used; see below."]
        except SurveyError as error:
            form.text.errors = [str(error)]
        else:
            flash("The plan is saved.")
            return redirect(url_for("researcher.check"), 303)
    return page("researcher/plan_text.html", form, faults=faults)


@blueprint.get(f"{STUDY}/plan.yaml")
def plan_file() -> ResponseReturnValue:
    """Return plan and recruitment as a YAML file from which the same study can be created again."""
    text = write_plan(g.plan, recruitment_of(g.study))
    return attachment(text, "application/yaml", f"{g.study.slug}.yaml")


def _form_data(plan: OrderingPlan) -> dict[str, Any]:
    listed = {name for _, group in plans.measure_groups() for name, _ in group}
    return {
        **plan.as_json(),
        **plan.marks.cells(0),
        "looks": " ".join(map(str, plan.looks)),
        "other_measures": " ".join(name for name in plan.measures if name not in listed),
        **{
            name: [
                {
                    **vars(field),
                    "options": "\n".join(field.options),
                    "screen_out": "\n".join(field.screen_out),
                }
                for field in getattr(plan, name)
            ]
            for name in ASKED_OF_PERSONS
        },
    }


def _typed(rule: Rule, data: Any) -> Any:
    """Return what was typed into a field as a plan file has it."""
    if isinstance(rule, Whole):
        return _number(data) if (data or "").strip() else None if rule.optional else ""
    if isinstance(rule, Day):
        return (data or "").strip() or None
    return "" if data is None else data


def _number(text: str) -> int | str:
    """Parse a whole number; return any other text as it is, for the plan to reject."""
    number = parse_whole(text.strip(), signed=True)
    return text.strip() if number is None else number


def _commas_as_spaces(text: str | None) -> str:
    return (text or "").replace(",", " ")


def _lines(text: str | None) -> list[str]:
    return [line.strip() for line in (text or "").splitlines() if line.strip()]


def _as_sentence(text: str, name: str, field: Field) -> str:
    """Replace a field's name in files at the beginning of a fault by its label on the page."""
    if text.startswith(f"{name} "):
        text = f"{field.label.text}{text.removeprefix(name)}"
    return f"{text[0].upper()}{text[1:]}."


class ListsForm(VersionedForm):
    """A CSV file of ranked lists."""

    lists = FileField("CSV file")


class TrecForm(VersionedForm):
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
@in_own_process
def upload_lists() -> ResponseReturnValue:
    """Replace the draft's lists by those of a CSV file."""
    form = ListsForm()
    return _use_lists(
        form, form.lists, lambda: plans.read_lists_csv(*_required_file("lists")), csv_form=form
    )


@blueprint.post(f"{STUDY}/lists/trec")
@in_own_process
def upload_trec() -> ResponseReturnValue:
    """Replace the draft's lists by those of TREC runs."""
    form = TrecForm()

    def read() -> Any:
        qrels = uploaded_files("qrels")
        if not qrels:
            raise ValueError("Choose a file first")
        return plans.from_trec(
            qrels[0],
            uploaded_files("runs"),
            topics=(form.topics.data or "").replace(",", " ").split(),
            collection_size=form.collection_size.data or "",
            missing_last=form.missing_last.data,
            graded=form.graded.data,
            clusters=next(iter(uploaded_files("clusters")), None),
        )

    return _use_lists(form, form.qrels, read, trec_form=form)


def _required_file(name: str) -> tuple[str, str]:
    uploaded = uploaded_text(name)
    if uploaded is None:
        raise ValueError("Choose a file first")
    return uploaded


def _use_lists(
    form: VersionedForm, field: Any, read: Callable[[], Any], **forms: Form
) -> ResponseReturnValue:
    """Store the lists that ``read`` returns, or show all faults in them."""
    lifecycle.require_draft(g.study)
    faults: tuple[str, ...] = ()
    version = form.version.data or _version()
    if form.validate_on_submit():
        session().rollback()  # else participants' answers wait while the files are read
        try:
            plan = plans.with_lists(g.plan, read())
            lifecycle.change_plan(session(), g.study, plan, g.researcher.name, version)
        except plans.FaultyFilesError as error:
            faults = error.faults
        except PlanError as error:
            faults = tuple(fault.text for fault in error.faults)
        except ChangedMeanwhileError as error:
            field.errors, form.version.data = [str(error)], _version()
            return _lists_page(form, 409, **forms)
        except (SurveyError, ValueError) as error:
            faults = (str(error),)
        else:
            flash("The study now asks about your lists. Check that its texts fit them.")
            return redirect(url_for("researcher.check"), 303)
        field.errors = ["The lists cannot be used; see below."]
    return _lists_page(form, faults=faults, **forms)


def _lists_page(
    form: Form | None = None,
    status: int | None = None,
    faults: tuple[str, ...] = (),
    **forms: Form,
) -> ResponseReturnValue:
    empty = {"formdata": None, "version": _version()}
    forms = {"csv_form": ListsForm(**empty), "trec_form": TrecForm(**empty)} | forms
    return page("researcher/lists.html", form, status, faults=faults, **forms)


def _version() -> str:
    return lifecycle.version_of(g.study.plan_json)
