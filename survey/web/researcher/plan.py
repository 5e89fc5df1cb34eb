"""The plan of a study: a form while the study is a draft, a text afterwards.

The form has the fields of a plan file. It is made of what the study's kind declares, and the plan
itself validates what is typed. A study's own lists are uploaded on a page beside it, as CSV or as
TREC judgements and runs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import ClassVar, NamedTuple

from flask import flash, g, make_response, redirect, request, url_for
from flask.typing import ResponseReturnValue
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

from survey.core import kinds
from survey.core.kind import TopicRow
from survey.core.kinds import kind_of
from survey.core.studies.fields import (
    FIELD_TYPES,
    Fault,
    Nested,
    PersonalField,
    PlanError,
    Rule,
    Whole,
    Words,
    rules_of,
)
from survey.core.studies.plan import FIELD_LISTS, Plan, text_rules
from survey.core.text_input import parse_whole
from survey.errors import ChangedMeanwhileError, SurveyError
from survey.services.collections.items import warning_sentences
from survey.services.participation import answers
from survey.services.planning import power
from survey.services.studies import lifecycle, plans
from survey.services.studies.plans import write_plan
from survey.services.studies.recruitment import recruitment_of
from survey.web.forms import Form, field_for, form_page
from survey.web.requests import WITH_OWN_FRAMES, attachment, in_own_process, session
from survey.web.researcher.pages import (
    STUDY_ADDRESS,
    Conflict,
    ReadingFields,
    VersionedForm,
    as_sentence,
    blueprint,
    uploaded_files,
    uploaded_text,
)
from survey.web.uploads import UploadField, UploadsField

FIELD_RULES = rules_of(PersonalField)
# The field beside which to show a fault of something that has no field of its own.
FIELD_OF = {"own_lists": "generator", "own_marks": "generator", "marks": "grades"}
MAX_PERSONAL_FIELDS = 25
USUAL_TYPES = {"personal_fields": "choice", "closing_questions": "text", "ask": "scale"}


class PersonalFieldForm(Subform):  # type: ignore[misc] # WTForms has no type hints
    """A field of "About you", a closing question, or a further one beside each question.

    A row without column name, question and options is empty.
    """

    name = StringField("Column name", description="The column in exported files, like age.")
    label = field_for(FIELD_RULES["label"])
    kind = SelectField(
        FIELD_RULES["kind"].label,
        choices=[SelectChoice(*choice) for choice in FIELD_TYPES.items()],
        validate_choice=False,
    )
    required = field_for(FIELD_RULES["required"])
    options = TextAreaField(
        "Options, one per line",
        description="Only for “one of several options”; for a scale, the words for its ends.",
        render_kw={"rows": 4},
    )
    screen_out = TextAreaField(
        "Options that end the survey for a person, one per line",
        description="Leave empty to let everyone take part.",
        render_kw={"rows": 4},
    )
    lowest = field_for(FIELD_RULES["lowest"])
    highest = field_for(FIELD_RULES["highest"])
    screen_below = field_for(FIELD_RULES["screen_below"])
    quotas = TextAreaField(
        "Quotas, one per line",
        description="How many people of a group can take part: “18-29: 10”, “65+: 10” or "
        "“university: 15”. People who come later read that enough of their group have. Other "
        "groups have no limit.",
        render_kw={"rows": 3},
    )
    help = field_for(FIELD_RULES["help"])

    @property
    def is_empty(self) -> bool:
        """Whether to ignore the row: this is how a field is removed."""
        return not (self["name"].data or self.label.data or self.options.data)

    def values(self) -> dict[str, object]:
        """Return the field as a plan file has it."""
        content = {name: _typed(rule, self[name]) for name, rule in FIELD_RULES.items()}
        content["name"] = (self["name"].data or "").strip()
        if self.kind.data in ("choice", "scale"):
            content |= {name: _lines(self[name].data) for name in ("options", "screen_out")}
        if self.kind.data != "text" and (lines := _lines(self.quotas.data)):
            pairs = (line.rpartition(":") for line in lines)
            content["quotas"] = {
                group.strip() or line: number(most)
                for line, (group, _, most) in zip(lines, pairs, strict=True)
            }
        if self.kind.data not in ("number", "scale"):
            del content["lowest"], content["highest"]
        if self.kind.data != "number":
            del content["screen_below"]
        return content


class Part(NamedTuple):
    """Fields of a step, in their order on the page; ``folded``: shown on demand."""

    heading: str
    fields: tuple[str, ...]
    folded: bool = False
    help: str = ""


class PlanStep(NamedTuple):
    """A step of the plan's form; ``preview``: the participants' page that is shown beside it."""

    title: str
    preview: str
    parts: tuple[Part, ...]

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the step's fields."""
        return tuple(name for part in self.parts for name in part.fields)


OWN = ""  # in place of what a kind's rules add to a step
FURTHER = "Further questions, beside each question"
CHECKS = (
    *("other_topic", "own_picture", "asked_again", "shown_again"),
    *("shown_twice", "known_pairs"),
)
FLAG_RULES = ("least_seconds", "flag_equal_answers", "ask_program", "machine_line")
FLAGS_HEADING = "Flags for pace and programs"
FLAGS_HELP = (
    "Each is a reason to look, and excludes no participant. No payment may depend on it: programs "
    "that act like people are not detected."
)
RUNS_HEADING = "Pictures and texts of the runs"  # shown only where the lists come from runs

# The steps of a plan's form, if its kind has no others.
PLAN_STEPS = {
    "what": PlanStep(
        "What to ask",
        "question",
        (Part("", (OWN, "questions")), Part("Seed", ("seed",), folded=True)),
    ),
    "how": PlanStep(
        "How to ask",
        "question",
        (
            Part("", (OWN, "practice", "exclude_failed_check", "reason_question")),
            Part(FURTHER, ("ask",)),
            Part("", ("shuffle_questions",)),
            Part("Attention checks", CHECKS, folded=True),
            Part(FLAGS_HEADING, FLAG_RULES, True, FLAGS_HELP),
        ),
    ),
    "who": PlanStep(
        "Who takes part",
        "about_you",
        (
            Part("", ("participants", "design", "per_participant", OWN)),
            Part(
                "Primary pair, equality, and looks before the end",
                ("primary", "smallest_difference", "smallest_lead", "looks"),
                True,
            ),
            Part("Machines beside people", ("expertise",), folded=True),
            Part("About you", ("personal_until", "personal_fields")),
            Part("Closing questions", ("closing_questions",)),
        ),
    ),
    "texts": PlanStep(
        "Texts",
        "entry",
        (
            Part("", ("asked_by", "contact", "title", "language", "minutes")),
            Part("Before the questions", ("purpose", "consent", "scenario", "criterion")),
            Part("Beside each question", ("question_text", "list_noun", OWN, "reminder")),
            Part("At the end", ("debriefing",)),
        ),
    ),
}


def _form_class(kind: type[Plan]) -> "type[PlanForm]":
    form: type[PlanForm] = kinds.KINDS[kind.kind].plan_form() or PlanForm
    return form


@cache
def form_steps(kind: type[Plan]) -> dict[str, PlanStep]:
    """Return the steps of the form of a kind's plans, with the fields that the kind has."""
    rules = rules_of(kind)
    form = _form_class(kind)
    steps = form.steps
    asked = {name for name, rule in rules.items() if rule.only_with[0] in ("", *rules)}
    asked |= {*form.controls}
    if not kind.has_check:
        asked.discard("exclude_failed_check")
    placed = {name for step in steps.values() for name in step.fields}
    own = [name for name in rules if name not in placed]

    def parts(step: str) -> Iterator[Part]:
        of_step = [name for name in own if rules[name].step == step]
        for part in steps[step].parts:
            names = [each for name in part.fields for each in (of_step if name == OWN else [name])]
            if names := [name for name in names if name in asked]:
                yield part._replace(fields=tuple(names))

    return {name: step._replace(parts=tuple(parts(name))) for name, step in steps.items()}


def _kind() -> type[Plan]:
    kind: type[Plan] = type(g.plan)
    return kind


def step_of(field: str) -> str | None:
    """Return the step of the plan's form that has a field; None for a field of no step."""
    steps = form_steps(_kind()).items()
    return next((name for name, step in steps if field in step.fields), None)


def _rows() -> Field:
    return FieldList(FormField(PersonalFieldForm), max_entries=MAX_PERSONAL_FIELDS)


class TopicsField(SelectMultipleField):  # type: ignore[misc] # WTForms has no type hints
    """The topics that are ticked; the page has a row for each topic that there is."""

    @classmethod
    def made(cls) -> Field:
        """Return the control of a plan's form."""
        return cls("Topics", choices=[], validate_choice=False)

    def rows(self, topics: Sequence[TopicRow]) -> list[TopicRow]:
        """Return a row for each topic, also for those that were sent and are not known."""
        known = {row.value for row in topics}
        others = [value for value in self.data or [] if value not in known]
        return [
            *topics,
            *(TopicRow(value, value.split()[0], "") for value in others if value.split()),
        ]


class PlanForm(VersionedForm):
    """The fields of a plan that its kind has rules for; ``form_of`` adds them.

    ``step``: the step that the page showed; ``go``: the step to show once the plan is saved.
    ``steps``: of the page, with the names of their fields. ``controls``: makers of the controls of
    fields that have no rule. A kind may have a subclass with others.
    """

    steps: ClassVar[Mapping[str, PlanStep]] = PLAN_STEPS
    controls: ClassVar[dict[str, Callable[[], Field]]] = dict.fromkeys(FIELD_LISTS, _rows)
    step = HiddenField()

    @classmethod
    def data_of(cls, plan: Plan) -> dict[str, object]:
        """Return what the form's controls show of a plan."""
        # A plan as JSON lacks fields at their default that are newer than the study may be.
        content = {item.name: getattr(plan, item.name) for item in fields(plan)} | plan.as_json()
        for name, rule in rules_of(type(plan)).items():
            if isinstance(rule, Words):
                content[name] = ("\n" if rule.rows else " ").join(content[name])
            elif isinstance(rule, Nested):
                content[name] = plans.write_nested(content[name])
        for name in FIELD_LISTS:
            content[name] = [
                {
                    **vars(field),
                    "options": "\n".join(field.options),
                    "screen_out": "\n".join(field.screen_out),
                    "quotas": "\n".join(f"{group}: {most}" for group, most in field.quotas),
                }
                for field in getattr(plan, name)
            ]
        return content

    def values(self, current: Plan) -> dict[str, object]:
        """Return the typed plan as a plan file has it.

        Fields that the page lacks come from the current plan. Raises PlanError for what is no YAML.
        """
        rules = rules_of(type(current))
        typed = {name: _typed(rule, self[name]) for name, rule in rules.items() if name in self}
        for item in fields(current):
            choice, *values = rules[item.name].only_with if item.name in typed else ("", "")
            if choice and typed[choice] not in values:
                typed[item.name] = item.default
        for name in FIELD_LISTS:
            typed[name] = [form.values() for form in self._used_rows(name)]
        return {**current.as_json(), **typed}

    def add_faults(self, faults: tuple[Fault, ...]) -> None:
        """Add faults to the errors of the fields that they are about."""
        for fault in faults:
            form: Form = self
            path = fault.place
            rows = self._used_rows(str(path[0])) if path[0] in FIELD_LISTS else []
            if rows and len(path) > 2:
                form, path = rows[int(path[1])], path[2:]
            # Own lists have no field on this page; their faults follow from the design.
            name = str(path[1]) if path[0] == "marks" and len(path) > 1 else str(path[0])
            name = FIELD_OF.get(name, name)
            field = form[name if name in form else "questions"]
            if isinstance(field, FieldList):
                field = rows[int(path[1])].label if len(path) > 1 else rows[0].label
            text = fault.text
            if text.startswith(f"{path[0]} "):
                text = f"{field.label.text}{text.removeprefix(str(path[0]))}"
            field.errors = [*field.errors, as_sentence(text, self)]

    @property
    def problems(self) -> list[tuple[str, str]]:
        """(id of the control, sentence) for the first error of each field, rows' fields too."""
        problems = [problem for problem in super().problems if problem[0] not in FIELD_LISTS]
        for row in (row for name in FIELD_LISTS for row in self[name]):
            problems += [(field.id, field.errors[0]) for field in row.form if field.errors]
        return problems

    def add_row(self, name: str) -> None:
        """Add an empty row to a list of fields, unless there are too many."""
        rows = self[name]
        if len(rows) < MAX_PERSONAL_FIELDS:
            is_required = name != "closing_questions"
            rows.append_entry({"required": is_required, "kind": USUAL_TYPES[name]})

    def _used_rows(self, name: str) -> list[PersonalFieldForm]:
        return [row.form for row in self[name] if not row.form.is_empty]


@cache
def form_of(kind: type[Plan]) -> type[PlanForm]:
    """Return the form of a kind's plans; its fields, and so its errors, are in its steps' order."""
    rules = rules_of(kind)
    base = _form_class(kind)
    asked = [name for step in form_steps(kind).values() for name in step.fields]
    controls = {
        name: base.controls[name]() if name in base.controls else field_for(rules[name])
        for name in asked
    }
    return type(base.__name__, (base,), controls)


@blueprint.get(f"{STUDY_ADDRESS}/plan")
def plan() -> ResponseReturnValue:
    """Show the plan: a form for the owners of a draft, at a step, else a text."""
    if g.study.status != "draft" or g.role != "owner":
        return form_page("researcher/plan_text.html", text=write_plan(g.plan))
    form_class = form_of(_kind())
    return _plan_page(
        _form(data=form_class.data_of(g.plan), version=_version()), request.args.get("step")
    )


@blueprint.post(f"{STUDY_ADDRESS}/plan")
@in_own_process
def save_plan() -> ResponseReturnValue:
    """Store the changed plan and go on to a step, or to the check where the form names none.

    Or show the form again: with its errors, with another row, or beside what another window has
    saved meanwhile.
    """
    lifecycle.require_draft(g.study)
    form = _form()
    added = request.form.get("add", "")
    if added in FIELD_LISTS:
        form.add_row(added)
        return _plan_page(form, step_of(added), added=added)
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
            saved, typed = g.plan.as_json(), changed.as_json()
            conflict = Conflict.between(form, saved, typed, "plan changed")
            return _plan_page(form, form.step.data, 409, conflict=conflict)
        except SurveyError as error:
            form.questions.errors = [str(error)]
        else:
            return _go_on_after_saving()
    return _plan_page(form, form.step.data)


def _form(**content: object) -> PlanForm:
    """Return the form of the study's plan."""
    has_own_lists = bool(getattr(g.plan, "own_lists", ()))
    return form_of(_kind())(has_own_lists=has_own_lists, **content)


def _go_on_after_saving() -> ResponseReturnValue:
    """Redirect to the step whose button was pressed; without one to the check."""
    step = request.form.get("go")
    if step in PLAN_STEPS:
        return redirect(url_for("researcher.plan", step=step), 303)
    flash("The plan is saved, and its questions are drawn.")
    return redirect(url_for("researcher.check"), 303)


def _plan_page(
    form: PlanForm, step: str | None, status: int | None = None, **content: object
) -> ResponseReturnValue:
    """Show the form at a step, by default the first; instead at all steps that have faults.

    The page has a frame with the preview.
    """
    steps = form_steps(_kind())
    faulty = {step_of(control.partition("-")[0]) for control, _ in form.problems}
    open_steps = [name for name in steps if name in faulty]
    open_steps = open_steps or [step if step in steps else next(iter(steps))]
    form.step.data = open_steps[0]
    rules = rules_of(_kind()).items()
    response = make_response(
        form_page(
            "researcher/plan.html",
            form,
            status,
            steps=steps,
            open_steps=open_steps,
            of_runs=RUNS_HEADING,
            has_power=kind_of(g.plan).has_power,
            texts=text_rules(_kind()),
            # Fields whose controls stand side by side.
            short={name for name, rule in rules if isinstance(rule, Whole) and len(rule.help) < 70},
            previewed=_previewed_pages(g.plan),
            topics=lifecycle.topic_rows(session(), g.study),
            warnings=warning_sentences(lifecycle.warnings_of(session(), g.study, so_far=True)),
            takes=lifecycle.takes_about(session(), g.study),
            **content,
        )
    )
    response.headers["Content-Security-Policy"] = WITH_OWN_FRAMES
    return response


def _previewed_pages(plan: Plan) -> dict[str, tuple[str, str]]:
    """Return participants' pages that are shown beside the form: page → (title, address)."""
    titles = {
        "entry": "First page",
        "consent": "Consent",
        "about_you": "About you",
        "scenario": "Scenario",
        **({"practice": "Practice"} if plan.practice else {}),
        "question": "Question 1",
        **({"closing": "Closing questions"} if plan.asked_at_end else {}),
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
    return url_for("researcher.plan", step=step_of(field), _anchor=field)


@blueprint.get(f"{STUDY_ADDRESS}/power")
@in_own_process
def show_power() -> ResponseReturnValue:
    """Show which differences the saved plan finds, simulated."""
    if not kind_of(g.plan).has_power:
        raise NotFound
    try:
        pair, powers = power.simulate_plan(g.study.plan, lifecycle.counted_questions(g.study))
    except power.GridError as error:
        return form_page("researcher/power.html", faults=[fault.text for fault in error.faults])
    except SurveyError as error:
        return form_page("researcher/power.html", faults=[str(error)])
    return form_page("researcher/power.html", powers=powers, pair=pair, words=power)


@blueprint.get(f"{STUDY_ADDRESS}/plan.yaml")
def plan_file() -> ResponseReturnValue:
    """Return plan and recruitment as a YAML file from which the same study can be created again."""
    text = write_plan(g.plan, recruitment_of(g.study))
    return attachment(text, "application/yaml", f"{g.study.slug}.yaml")


def _typed(rule: Rule, field: Field) -> object:
    """Return what was typed into a field as a plan file has it."""
    if isinstance(field.data, list | bool):
        return field.data
    return plans.parse_typed(field.name, rule, field.data or "")


def number(text: str) -> int | str:
    """Parse a whole number; return any other text as it is, for the plan to reject."""
    number = parse_whole(text.strip(), signed=True)
    return text.strip() if number is None else number


def _lines(text: str | None) -> list[str]:
    return [line.strip() for line in (text or "").splitlines() if line.strip()]


class ListsForm(VersionedForm):
    """A CSV file of ranked lists."""

    lists = UploadField("CSV file")


class TrecForm(VersionedForm, ReadingFields):
    """Judgements and runs as TREC files, the topics to ask about, and what to show of them."""

    qrels = UploadField("Judgements (qrels)")
    runs = UploadsField("Runs, two to ten")
    topics = StringField("Topics")
    collection_size = StringField("Collection size")
    clusters = UploadField("Clusters")
    graded = BooleanField("Use the judgements' grades")


@blueprint.get(f"{STUDY_ADDRESS}/lists")
def lists() -> ResponseReturnValue:
    """Show the forms for a CSV file and for TREC files."""
    lifecycle.require_draft(g.study)
    return _lists_page()


@blueprint.post(f"{STUDY_ADDRESS}/lists")
@in_own_process
def upload_lists() -> ResponseReturnValue:
    """Replace the draft's lists by those of a CSV file."""
    form = ListsForm()
    return _use_lists(
        form, form.lists, lambda: plans.read_lists_csv(*_required_file("lists")), csv_form=form
    )


@blueprint.post(f"{STUDY_ADDRESS}/lists/trec")
@in_own_process
def upload_trec() -> ResponseReturnValue:
    """Replace the draft's lists by those of TREC runs."""
    form = TrecForm()

    def read() -> plans.OwnLists:
        qrels = uploaded_files("qrels")
        if not qrels:
            raise ValueError("Choose a file first")
        return plans.from_trec(
            qrels[0],
            uploaded_files("runs", several=True),
            topics=(form.topics.data or "").replace(",", " ").split(),
            collection_size=form.collection_size.data or "",
            graded=form.graded.data,
            clusters=next(iter(uploaded_files("clusters")), None),
            reading=form.reading(),
        )

    return _use_lists(form, form.qrels, read, trec_form=form)


def _required_file(name: str) -> tuple[str, str]:
    uploaded = uploaded_text(name)
    if uploaded is None:
        raise ValueError("Choose a file first")
    return uploaded


def _use_lists(
    form: VersionedForm, field: Field, read: Callable[[], plans.OwnLists], **forms: Form
) -> ResponseReturnValue:
    """Store the lists that ``read`` returns, or show all faults in them."""
    lifecycle.require_draft(g.study)
    faults: tuple[str, ...] = ()
    version = form.version.data or _version()
    if form.validate_on_submit():
        session().rollback()  # else participants' answers wait while the files are read
        try:
            lifecycle.replace_lists(session(), g.study, read(), g.researcher.name, version)
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
    return form_page("researcher/lists.html", form, status, faults=faults, **forms)


def _version() -> str:
    return lifecycle.version_of(g.study.plan_json)
