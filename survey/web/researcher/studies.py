"""The list of studies, and making a new one."""

from typing import Any

from flask import flash, g, redirect, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.file import FileField
from wtforms import RadioField, SelectChoice, SelectField, StringField
from wtforms.validators import DataRequired, Length

from survey.services import access, life, studies
from survey.services.errors import SurveyError
from survey.services.plan_files import PlanFile, PlanFileError, read_plan
from survey.services.recruitment import Recruitment
from survey.web.database import session
from survey.web.forms import Form, language_choices
from survey.web.researcher.pages import blueprint, page, uploaded_text

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
        (study, role, studies.progress(session(), study))
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
            life.make_study(session(), g.researcher, form.slug.data, start.plan, start.recruitment)
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
        seed = studies.fresh_seed()
        return PlanFile(
            studies.preset_plan(form.start.data, language=form.language.data, seed=seed),
            Recruitment(),
        )
    found = uploaded_text("plan")
    if found is None:
        raise ValueError("Choose the YAML file with the plan.")
    text, name = found
    return read_plan(text, name)
