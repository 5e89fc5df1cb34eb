"""The list of studies, and making a new one.

A study's first page: its life as steps, and what can be done to it now.

Looking at a study's questions before anyone else does.
"""

from typing import Any

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField
from wtforms import RadioField, SelectChoice, SelectField, StringField
from wtforms.validators import DataRequired, Length

from survey.errors import SurveyError
from survey.services.accounts import access
from survey.services.participation import presentations, slots
from survey.services.studies import checks, lifecycle, plans
from survey.services.studies.plans import PlanFile, PlanFileError, read_plan
from survey.services.studies.recruitment import Recruitment
from survey.web.auth.guard import require_password
from survey.web.forms import Form, language_choices
from survey.web.requests import session
from survey.web.researcher.pages import STUDY, blueprint, page, pressed, uploaded_text

STARTS = {
    "mnro": "The study of the MNRO paper: ten random questions, five lists each",
    "mnro-discriminative": "The same with questions that can tell the measures apart",
    "runs": "Texts for lists of your own, like runs of a test collection; the lists come next",
    "file": "A plan in a YAML file",
}


class NewStudyForm(Form):
    """Where a new study starts from, and its address."""

    start = RadioField(
        "Start from",
        choices=[SelectChoice(name, text) for name, text in STARTS.items()],
        default="mnro",
    )
    language = SelectField("Language of its texts and pages")
    plan = FileField("Plan file")
    slug = StringField(
        "Address",
        filters=[lambda text: text and text.strip()],
        validators=[DataRequired("Give the study an address."), Length(max=64)],
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.language.choices = language_choices()


@blueprint.get("/")
def home() -> ResponseReturnValue:
    """List one's studies; archived ones apart."""
    known = [
        (study, role, lifecycle.progress(session(), study))
        for study, role in access.studies_of(session(), g.researcher)
    ]
    return page(
        "home",
        current=[one for one in known if one[0].archived_at is None],
        archived=[one for one in known if one[0].archived_at is not None],
    )


@blueprint.get("/new")
def new() -> ResponseReturnValue:
    """Ask where a new study starts from."""
    return page("new", form=NewStudyForm())


@blueprint.post("/new")
def make() -> ResponseReturnValue:
    """Make a draft and go on to its plan."""
    form = NewStudyForm()
    faults: tuple[str, ...] = ()
    if form.validate_on_submit():
        session().rollback()  # nobody's answer waits while a file is read
        try:
            start = _start(form)
            lifecycle.make_study(
                session(), g.researcher, form.slug.data, start.plan, start.recruitment
            )
        except PlanFileError as error:
            form.plan.errors = ["The file holds no plan that can be used; see below."]
            faults = error.faults
        except (SurveyError, ValueError) as error:
            about_file = isinstance(error, ValueError)
            (form.plan if about_file else form.slug).errors = [str(error)]
        else:
            flash("The draft is made. Look through its plan, then check its questions.")
            return redirect(url_for("researcher.plan", slug=form.slug.data), 303)
    return page("new", form=form, faults=faults, status=400)


def _start(form: NewStudyForm) -> PlanFile:
    if form.start.data != "file":
        seed = plans.fresh_seed()
        return PlanFile(
            plans.preset_plan(form.start.data, language=form.language.data, seed=seed),
            Recruitment(),
        )
    found = uploaded_text("plan")
    if found is None:
        raise ValueError("Choose the YAML file with the plan.")
    text, name = found
    return read_plan(text, name)


class CopyForm(Form):
    """The address of a copy."""

    slug = StringField(
        "Address of the copy",
        filters=[lambda text: text and text.strip()],
        validators=[DataRequired("Give the copy an address."), Length(max=64)],
    )


class DeleteForm(Form):
    """The study's address, typed once more."""

    slug = StringField("Type the study's address to delete it")


ACTIONS = {
    "open": (lifecycle.open_to_participants, "The study is open. Invite people."),
    "close": (
        lifecycle.close_to_participants,
        "The study is closed. Its results can be looked at.",
    ),
    "archive": (lifecycle.archive, "The study is in the archive."),
    "bring-back": (lifecycle.bring_back, "The study is back from the archive."),
}


@blueprint.get(STUDY)
def overview() -> ResponseReturnValue:
    """Show where the study stands and what comes next."""
    return _overview_page()


@blueprint.post(f"{STUDY}/<any('open', 'close', 'archive', 'bring-back'):action>")
def act(action: str) -> ResponseReturnValue:
    """Open, close, archive, bring back."""
    if pressed():
        act_on, told = ACTIONS[action]
        act_on(session(), g.study, g.researcher.name)
        flash(told)
    return redirect(url_for("researcher.overview"), 303)


@blueprint.get(f"{STUDY}/open")
def ask_to_open() -> ResponseReturnValue:
    """Say what can no longer change once a draft is open, before it is."""
    access.require_owner(g.role)
    if g.study.status != "draft":
        return redirect(url_for("researcher.overview"))
    findings = [one for one in checks.check_study(g.study) if one.question is None]
    return page("open", findings=findings)


@blueprint.post(f"{STUDY}/copy")
def copy() -> ResponseReturnValue:
    """Make a draft with the same plan under another address."""
    form = CopyForm()
    if form.validate_on_submit():
        try:
            lifecycle.copy_study(session(), g.study, form.slug.data, g.researcher)
        except SurveyError as error:
            form.slug.errors = [str(error)]
        else:
            flash("This is the copy: a draft with the same plan and no participants.")
            return redirect(url_for("researcher.overview", slug=form.slug.data), 303)
    return _overview_page(form, status=400)


@blueprint.get(f"{STUDY}/delete")
@require_password
def ask_to_delete() -> ResponseReturnValue:
    """Say what would be lost, and ask for the study's address."""
    access.require_owner(g.role)
    return _delete_page(DeleteForm())


@blueprint.post(f"{STUDY}/delete")
@require_password
def delete() -> ResponseReturnValue:
    """Delete a study whose address was typed."""
    form = DeleteForm()
    if form.validate_on_submit():
        if (form.slug.data or "").strip() != g.study.slug:
            form.slug.errors = [f"Type {g.study.slug} to delete this study."]
        else:
            lifecycle.delete(session(), g.study, g.researcher.name)
            flash(f"The study {request.form['slug']} is deleted.")
            return redirect(url_for("researcher.home"), 303)
    return _delete_page(form, status=400)


def _delete_page(form: DeleteForm, status: int = 200) -> ResponseReturnValue:
    return page("delete", form=form, status=status, progress=lifecycle.progress(session(), g.study))


def _overview_page(form: CopyForm | None = None, status: int = 200) -> ResponseReturnValue:
    return page(
        "overview",
        form=form or CopyForm(),
        status=status,
        progress=lifecycle.progress(session(), g.study),
        free=slots.free(session(), g.study),
        broken=[one for one in checks.check_study(g.study) if one.failed],
        events=access.events_of(session(), g.study),
        link=url_for("participant.entry", slug=g.study.slug, _external=True),
    )


@blueprint.get(f"{STUDY}/check")
def check() -> ResponseReturnValue:
    """Show each question's values and orders, and what the questions can tell."""
    return page(
        "check",
        findings=checks.check_study(g.study),
        questions=checks.question_checks(g.study),
        chance=checks.chance_advantage(g.study),
        headings=checks.headings(g.study),
        labels=presentations.default_labels(g.study),
    )
