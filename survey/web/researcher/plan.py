"""The plan of a study: its form while it is a draft, its text afterwards."""

from flask import Response, flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue

from survey.core.stimuli.faults import PlanError
from survey.services import life, studies
from survey.services.errors import SurveyError
from survey.services.plan_files import write_plan
from survey.services.recruitment import recruitment_of
from survey.web.database import session
from survey.web.researcher.pages import STUDY, blueprint, page
from survey.web.researcher.plan_form import PlanForm, form_data


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
    life.require_draft(g.study)
    form = PlanForm(own_lists=bool(g.plan.own_lists))
    if "add" in request.form:
        form.add_row()
        return page("plan", form=form, opened="about-you")
    if form.validate_on_submit():
        try:
            changed = studies.plan_from(form.values(g.plan))
            life.change_plan(session(), g.study, changed, g.researcher.name)
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
