"""My data: what is stored about a participant, taken along, stopped, deleted."""

import json

from flask import Response, current_app, g, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField
from wtforms.validators import DataRequired

from survey.errors import NotFoundError
from survey.services.participation import arrivals
from survey.services.participation import own_data as services
from survey.services.participation.participants import Step, whereabouts
from survey.web.forms import Form
from survey.web.language import gettext, lazy_gettext
from survey.web.participant.preparation import ResumeForm
from survey.web.participant.questions import asked_questions
from survey.web.participant.tasks import pages_of
from survey.web.participant.visit import address_of, blueprint, browser_token, credit, go_on
from survey.web.requests import session


class EraseForm(Form):
    """Being sure."""

    sure = BooleanField(
        lazy_gettext("Yes, delete everything that is stored about me in this survey."),
        validators=[DataRequired(lazy_gettext("To delete everything, tick that you are sure."))],
    )


@blueprint.get("/my-data")
def own_data() -> ResponseReturnValue:
    """Show what is stored, or ask for the code that says about whom."""
    if g.participant is None:
        return _code_page(ResumeForm(formdata=None))
    return _own_page(EraseForm(formdata=None))


@blueprint.post("/my-data")
def find_own_data() -> ResponseReturnValue:
    """Find a participant by their code, on any device, also after the end."""
    form = ResumeForm()
    if not form.validate_on_submit():
        return _code_page(form), 400
    try:
        arrivals.resume(session(), g.study, form.code.data, browser_token())
    except NotFoundError as error:
        form.code.errors = [gettext(str(error))]
        return _code_page(form), 404
    return redirect(url_for("participant.own_data"), 303)


@blueprint.get("/my-data.json")
def take_along() -> ResponseReturnValue:
    """Hand out all of it as a file."""
    if g.participant is None:
        return redirect(url_for("participant.own_data"))
    content = services.own_data(session(), g.study, g.participant)
    return Response(
        json.dumps(content, ensure_ascii=False, indent=2),
        mimetype="application/json",
        headers={"Content-Disposition": f'attachment; filename="my-data-{g.slug}.json"'},
    )


@blueprint.post("/stop")
def stop() -> ResponseReturnValue:
    """Stop taking part; what was saved stays."""
    if g.participant is None or not Form().validate_on_submit():
        return redirect(url_for("participant.own_data"), 303)
    services.stop(session(), g.participant)
    return go_on()


@blueprint.get("/stopped")
def stopped() -> ResponseReturnValue:
    """Say that this is fine, and what becomes of the answers."""
    if g.participant is None:
        return redirect(url_for("participant.entry"))
    place = whereabouts(session(), g.participant)
    if place.step != Step.STOPPED:
        return redirect(address_of(place))
    return render_template("participant/stopped.html", form=Form(), credit=credit())


@blueprint.post("/erase")
def erase() -> ResponseReturnValue:
    """Delete everything about this participant, for good."""
    if g.participant is None:
        return redirect(url_for("participant.own_data"), 303)
    form = EraseForm()
    if not form.validate_on_submit():
        return _own_page(form), 400
    services.erase(session(), g.study, g.participant, current_app.config["INSTANCE"])
    g.participant = None
    return redirect(url_for("participant.erased"), 303)


@blueprint.get("/erased")
def erased() -> ResponseReturnValue:
    """Say that nothing is left."""
    return render_template("participant/erased.html")


def _code_page(form: ResumeForm) -> str:
    return render_template("participant/whose_data.html", form=form, problems=form.problems)


def _own_page(form: EraseForm) -> str:
    return render_template(
        "participant/own_data.html",
        form=form,
        problems=form.problems,
        data=services.own_data(session(), g.study, g.participant),
        answers=asked_questions(),
        pages=pages_of(g.plan),
        labels={field.name: field.label for field in g.plan.personal_fields},
        place=whereabouts(session(), g.participant),
    )
