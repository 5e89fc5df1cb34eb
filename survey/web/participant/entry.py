"""Coming: what the survey is, begin, come back, hand the computer to someone else."""

from flask import g, redirect, render_template, request, url_for
from flask import session as cookie
from flask.typing import ResponseReturnValue

from survey import tokens
from survey.errors import NotAllowedError, NotFoundError
from survey.services.participation import arrivals
from survey.services.participation.arrivals import Arrival
from survey.services.participation.participants import whereabouts
from survey.services.studies.recruitment import recruitment_of
from survey.web.forms import Form
from survey.web.language import gettext
from survey.web.participant.preparation import ResumeForm
from survey.web.participant.tasks import pages_of
from survey.web.participant.visit import address_of, blueprint, browser_token, go_on, secret_key
from survey.web.requests import session


@blueprint.get("")
def entry() -> ResponseReturnValue:
    """Say what it is, how long it takes and who asks; offer to go on where one was."""
    return _entry_page(ResumeForm(), [])


@blueprint.post("/begin")
def begin() -> ResponseReturnValue:
    """Start a participant for this browser."""
    form = Form()
    if not form.validate_on_submit():
        return _entry_page(ResumeForm(formdata=None), form.problems), 400
    arrivals.begin(session(), g.study, browser_token(), secret_key(), _arrival())
    return go_on()


@blueprint.post("/resume")
def resume() -> ResponseReturnValue:
    """Go on with a code from another device."""
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
    """Forget who used this browser, so that the next person can begin."""
    if Form().validate_on_submit():
        arrivals.leave(session(), g.study, browser_token())
        cookie.clear()
    return redirect(url_for("participant.entry"), 303)


def _arrival() -> Arrival:
    """Read from the address, or from the form that carries it on, how someone came."""
    given = request.values
    return Arrival(
        guest=given.get("guest", "")[:40],
        parameters=recruitment_of(g.study).stored_parameters(given),
        is_test=tokens.is_test_run_token(secret_key(), g.slug, given.get("test", "")),
    )


def _entry_page(form: ResumeForm, problems: list[tuple[str, str]]) -> str:
    arrival = _arrival()
    here = g.participant
    known = arrivals.expected(session(), g.study, browser_token(), secret_key(), arrival)
    g.participant = here if known is not None and here is not None and known.id == here.id else None
    place = g.participant and whereabouts(session(), g.participant)
    carried = {"guest": arrival.guest, **arrival.parameters}
    return render_template(
        "participant/entry.html",
        pages=pages_of(g.plan),
        form=form,
        problems=problems,
        place=place,
        address=place and address_of(place),
        returning=known is not None,
        unwelcome=None if known is not None else _why_unwelcome(arrival),
        carried={name: value for name, value in carried.items() if value},
        test=request.args.get("test"),
    )


def _why_unwelcome(arrival: Arrival) -> str | None:
    """Return why nobody new may begin this way, in the study's language."""
    try:
        arrivals.require_welcome(session(), g.study, arrival)
    except NotAllowedError as error:
        return gettext(str(error))
    return None
