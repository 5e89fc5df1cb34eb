"""Results: Tables 3 and 4 and the shares, once nobody votes any more."""

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue

from survey.services import life
from survey.services.analysis import Choices
from survey.services.errors import SurveyError
from survey.services.study_analysis import analyse_study
from survey.web.auth.guard import confirmed_only
from survey.web.database import session
from survey.web.researcher.pages import STUDY, blueprint, page, pressed


@blueprint.get(f"{STUDY}/results")
def results() -> ResponseReturnValue:
    """Show the tables, or say that they are hidden and why."""
    if not life.shows_results(g.study):
        return page("hidden")
    include_test = "test" in request.args
    analysis = analyse_study(session(), g.study, Choices(include_test=include_test))
    return page("results", analysis=analysis, include_test=include_test)


@blueprint.post(f"{STUDY}/unblind")
@confirmed_only
def unblind() -> ResponseReturnValue:
    """Show results before the end; who did so, and why, is logged."""
    if pressed():
        try:
            reason = request.form.get("reason", "")[:500]
            life.unblind(session(), g.study, g.researcher.name, reason)
        except SurveyError as error:
            return page("hidden", told=str(error), status=400)
        flash("Results are shown from now on. This is in the study's log.")
    return redirect(url_for("researcher.results"), 303)
