"""The entry page: begin, resume with a code, and release the browser for another person."""

from flask import g, redirect, render_template, request, url_for
from flask import session as cookie
from flask.typing import ResponseReturnValue

from survey import tokens
from survey.errors import NotAllowedError, NotFoundError
from survey.services.participation import arrivals
from survey.services.participation.arrivals import Arrival
from survey.services.participation.participants import progress_of
from survey.services.studies.recruitment import recruitment_of
from survey.web.forms import Form
from survey.web.language import gettext
from survey.web.participant.preparation import ResumeForm
from survey.web.participant.tasks import pages_of
from survey.web.participant.visit import address_of, blueprint, browser_token, go_on, secret_key
from survey.web.requests import session


@blueprint.get("")
def entry() -> ResponseReturnValue:
    """Show what the survey is about, with buttons to begin or to continue."""
    return _entry_page(ResumeForm(), [])


@blueprint.post("/begin")
def begin() -> ResponseReturnValue:
    """Create a participant and lead to their first page."""
    form = Form()
    if not form.validate_on_submit():
        return _entry_page(ResumeForm(formdata=None), form.problems), 400
    arrivals.begin(session(), g.study, browser_token(), secret_key(), _arrival())
    return go_on()


@blueprint.post("/resume")
def resume() -> ResponseReturnValue:
    """Continue on this device with a resume code."""
    form = ResumeForm()
    if not form.validate_on_submit():
        return _entry_page(form, form.problems), 400
    try:
        arrivals.resume(session(), g.study, form.code.data, browser_token())
    except NotFoundError as error:
        return _entry_page(form, [("code", gettext(str(error)))]), 404
    return go_on()


@blueprint.post("/leave")
def leave() -> ResponseReturnValue:
    """Release the browser from its participant, so that another person can begin."""
    if Form().validate_on_submit():
        arrivals.leave(session(), g.study, browser_token())
        cookie.clear()
    return redirect(url_for("participant.entry"), 303)


def _arrival() -> Arrival:
    """Read how the visitor came from the query, or from the form that repeats it."""
    values = request.values
    return Arrival(
        guest=values.get("guest", "")[:40],
        parameters=recruitment_of(g.study).stored_parameters(values),
        is_test=tokens.is_test_run_token(secret_key(), g.slug, values.get("test", "")),
    )


def _entry_page(form: ResumeForm, problems: list[tuple[str, str]]) -> str:
    arrival = _arrival()
    of_browser = g.participant
    returning = arrivals.returning_participant(
        session(), g.study, browser_token(), secret_key(), arrival
    )
    # A personal link of another person: show the page without this browser's participant.
    if of_browser is None or returning is None or returning.id != of_browser.id:
        g.participant = None
    progress = g.participant and progress_of(session(), g.participant)
    carried = {"guest": arrival.guest, **arrival.parameters}
    return render_template(
        "participant/entry.html",
        pages=pages_of(g.plan),
        form=form,
        problems=problems,
        progress=progress,
        address=progress and address_of(progress),
        returning=returning is not None,
        unwelcome=None if returning is not None else _refusal(arrival),
        carried={name: value for name, value in carried.items() if value},
        test=request.args.get("test"),
    )


def _refusal(arrival: Arrival) -> str | None:
    """Return why a new visitor cannot begin this way, in the study's language."""
    try:
        arrivals.require_can_begin(session(), g.study, arrival)
    except NotAllowedError as error:
        return gettext(str(error))
    return None
