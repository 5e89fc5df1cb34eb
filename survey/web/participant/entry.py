"""Coming: what the survey is, begin, come back, hand the computer to someone else."""

from flask import g, redirect, render_template, request, url_for
from flask import session as cookie
from flask.typing import ResponseReturnValue

from survey.services import participants, tokens
from survey.services.errors import NotFoundError
from survey.services.participants import Arrival
from survey.services.whereabouts import whereabouts
from survey.web.database import session
from survey.web.language import gettext
from survey.web.participant.forms import Form, ResumeForm
from survey.web.participant.pages import address_of, blueprint, browser_token, go_on, secret_key


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
    is_test = tokens.is_test_run_token(secret_key(), g.slug, request.args.get("test", ""))
    g.participant = participants.begin(
        session(), g.study, browser_token(), secret_key(), Arrival(is_test=is_test)
    )
    return go_on(session())


@blueprint.post("/resume")
def resume() -> ResponseReturnValue:
    """Go on with a code from another device."""
    form = ResumeForm()
    if not form.validate_on_submit():
        return _entry_page(form, form.problems), 400
    try:
        g.participant = participants.resume(session(), g.study, form.code.data, browser_token())
    except NotFoundError as error:
        return _entry_page(form, [("code", gettext(str(error)))]), 404
    return go_on(session())


@blueprint.post("/leave")
def leave() -> ResponseReturnValue:
    """Forget who used this browser, so that the next person can begin."""
    if Form().validate_on_submit():
        participants.leave(session(), g.study, browser_token())
        cookie.clear()
    return redirect(url_for("participant.entry"), 303)


def _entry_page(form: ResumeForm, problems: list[tuple[str, str]]) -> str:
    place = g.participant and whereabouts(session(), g.participant)
    return render_template(
        "participant/entry.html",
        form=form,
        problems=problems,
        place=place,
        address=place and address_of(place),
        test=request.args.get("test"),
    )
