"""My data: participants see, download and delete what is stored, or stop taking part."""

import json

from flask import current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField
from wtforms.validators import DataRequired

from survey.errors import NotFoundError
from survey.services.participation import own_data as services
from survey.services.participation import participants
from survey.services.participation.participants import ParticipantStep, progress_of
from survey.services.studies import publications
from survey.web.forms import Form, errors_beside, form_page
from survey.web.language import gettext, lazy_gettext
from survey.web.participant.asked_fields import closing_fields
from survey.web.participant.entry import ResumeForm
from survey.web.participant.questions import asked_questions
from survey.web.participant.visit import (
    blueprint,
    browser_token,
    go_on,
    last_page,
    not_pressed,
    pages_of,
)
from survey.web.requests import attachment, session


class EraseForm(Form):
    """The confirmation of the erasure."""

    sure = BooleanField(
        lazy_gettext("Yes, delete everything that is stored about me in this survey."),
        validators=[DataRequired(lazy_gettext("To delete everything, tick that you are sure."))],
    )


@blueprint.route("/my-data", methods=["GET", "POST"])
def own_data() -> ResponseReturnValue:
    """Show what is stored; bind this browser to the participant with a resume code first.

    This also works after the end.
    """
    if request.method != "POST" and g.participant is not None:
        return _own_page(EraseForm(formdata=None))
    form, status = ResumeForm(), None
    if form.validate_on_submit():
        with errors_beside(form.code, (NotFoundError,)):
            participants.resume(session(), g.study, form.code.data, browser_token())
            return redirect(url_for("participant.own_data"), 303)
        status = 404
    return form_page("participant/whose_data.html", form, status)


@blueprint.get("/my-data.json")
def download() -> ResponseReturnValue:
    """Send what is stored as a JSON file."""
    if g.participant is None:
        return redirect(url_for("participant.own_data"))
    content = services.own_data(session(), g.study, g.participant)
    text = json.dumps(content, ensure_ascii=False, indent=2)
    return attachment(text, "application/json", f"my-data-{g.slug}.json")


@blueprint.post("/stop")
def stop() -> ResponseReturnValue:
    """Store that the participant stops; saved answers stay."""
    if g.participant is None:
        return redirect(url_for("participant.own_data"), 303)
    if again := not_pressed(gettext("Stop taking part")):
        return again
    services.stop(session(), g.participant)
    return go_on()


@blueprint.get("/stopped")
def stopped() -> ResponseReturnValue:
    """Confirm that the participant has stopped, with the code for a platform."""
    return last_page(ParticipantStep.STOPPED, "participant/stopped.html")


@blueprint.post("/erase")
def erase() -> ResponseReturnValue:
    """Erase the participant, once the confirmation is ticked."""
    if g.participant is None:
        return redirect(url_for("participant.own_data"), 303)
    form = EraseForm()
    if not form.validate_on_submit():
        return _own_page(form)
    services.erase(session(), g.study, g.participant, current_app.config["INSTANCE"])
    g.participant = None
    return redirect(url_for("participant.erased"), 303)


@blueprint.get("/erased")
def erased() -> ResponseReturnValue:
    """Confirm the erasure, once the database's log holds no copy any more."""
    if g.participant is not None:  # who began again, or came here without erasing anything
        return redirect(url_for("participant.own_data"))
    finished = not services.deletions_in_log(session())
    return render_template("participant/erased.html", finished=finished)


def _own_page(form: EraseForm) -> ResponseReturnValue:
    return form_page(
        "participant/own_data.html",
        form,
        data=services.own_data(session(), g.study, g.participant),
        answers=asked_questions(),
        pages=pages_of(g.plan),
        labels={
            field.name: field.label for field in (*g.plan.personal_fields, *closing_fields(g.plan))
        },
        progress=progress_of(session(), g.plan, g.participant),
        is_public=publications.is_published(session(), g.study),
    )
