"""The pages before the questions: entry, consent, about you, the scenario."""

import hmac
from collections.abc import Mapping
from urllib.parse import urlsplit

from flask import g, redirect, render_template, request, url_for
from flask import session as cookie
from flask.typing import ResponseReturnValue
from wtforms import (
    BooleanField,
    HiddenField,
    StringField,
)
from wtforms.validators import (
    DataRequired,
    Length,
)

from survey import tokens
from survey.errors import IdTakenError, NotAllowedError, NotFoundError
from survey.services.collections import items
from survey.services.participation import participants
from survey.services.participation.participants import Arrival, ParticipantStep, progress_of
from survey.services.studies.recruitment import recruitment_of
from survey.web.forms import Form, form_page
from survey.web.language import gettext, lazy_gettext
from survey.web.links import sent_values
from survey.web.participant.asked_fields import filled_in, personal_form
from survey.web.participant.visit import (
    address_of,
    blueprint,
    browser_token,
    go_on,
    last_page,
    not_pressed,
    pages_of,
    requires,
)
from survey.web.requests import external_address, secret_key, session

SIGNED_IN = "prolific_token"  # the parameter of a platform's signature
LONGEST_TOKEN = 8_000  # characters


class ResumeForm(Form):
    """The resume code, with which a participant continues on another device."""

    code = StringField(
        validators=[
            DataRequired(lazy_gettext("Type the code you were given.")),
            Length(max=64, message=lazy_gettext("A code has 14 letters and digits.")),
        ]
    )


class ConsentForm(Form):
    """Agreement to one version of the consent text."""

    agree = BooleanField(
        lazy_gettext("I have read this and agree to take part."),
        validators=[DataRequired(lazy_gettext("To take part, tick that you agree."))],
    )
    consent_version = HiddenField()


@blueprint.get("")
def entry() -> ResponseReturnValue:
    """Show what the survey is about, with buttons to begin or to continue."""
    return _entry_page(ResumeForm(), [])


@blueprint.post("/begin")
def begin() -> ResponseReturnValue:
    """Create a participant, or find the one who began before; redirect to their next page."""
    form = Form()
    if not form.validate_on_submit():
        return _entry_page(ResumeForm(formdata=None), form.problems), 400
    try:
        participants.begin(session(), g.study, browser_token(), secret_key(), _arrival())
    except IdTakenError:  # the page says so, and asks for the code
        return _entry_page(ResumeForm(formdata=None), []), 403
    return go_on()


@blueprint.post("/resume")
def resume() -> ResponseReturnValue:
    """Bind this browser to the participant who has a resume code; redirect to their next page."""
    form = ResumeForm()
    if not form.validate_on_submit():
        return _entry_page(form, form.problems), 400
    try:
        participants.resume(session(), g.study, form.code.data, browser_token(), _arrival())
    except NotFoundError as error:
        form.code.errors = [gettext(str(error))]
        return _entry_page(form, form.problems), 404
    return go_on()


@blueprint.post("/leave")
def leave() -> ResponseReturnValue:
    """Unbind the browser from its participant, so that another person can begin."""
    if again := not_pressed(gettext("Let the next person begin")):
        return again
    participants.leave(session(), g.study, browser_token())
    cookie.clear()
    return redirect(url_for("participant.entry"), 303)


def _arrival() -> Arrival:
    """Return how the visitor came, by the query or the form; check a platform's signature."""
    settings = recruitment_of(g.study)
    names = (*settings.parameters, "guest", "test", "arrival", SIGNED_IN)
    query = request.query_string.decode(errors="replace")
    values = sent_values(query, request.form.items(multi=True), names)
    parameters, is_signed = settings.select_parameters(values), False
    if settings.signing_keys:
        host = urlsplit(external_address("participant.entry")).hostname or ""
        verified = settings.verify_parameters(values.get(SIGNED_IN, "")[:LONGEST_TOKEN], host)
        parameters = verified or parameters
        token = _make_arrival_token(parameters).encode()
        is_signed = bool(verified) or hmac.compare_digest(token, values.get("arrival", "").encode())
    return Arrival(
        guest=values.get("guest", "")[:LONGEST_TOKEN],
        parameters=parameters,
        is_signed=is_signed,
        is_test=tokens.is_test_run_token(secret_key(), g.slug, values.get("test", "")),
    )


def _make_arrival_token(parameters: Mapping[str, str]) -> str:
    """Return the token of a hidden field, which proves later that these parameters were signed."""
    return tokens.arrival_token(secret_key(), g.slug, browser_token(), parameters)


def _entry_page(form: ResumeForm, problems: list[tuple[str, str]]) -> str:
    """Render the entry page; forget the browser's participant where the link is another's."""
    arrival = _arrival()
    of_browser, returning, refusal = g.participant, None, None
    try:
        returning = participants.returning_participant(
            session(), g.study, browser_token(), secret_key(), arrival
        )
        if returning is None:
            participants.require_can_begin(session(), g.study, arrival)
    except NotAllowedError as error:
        refusal = error
    # Otherwise another person's personal link would lead on with this browser's participant.
    if of_browser is None or returning is None or returning.id != of_browser.id:
        g.participant = None
    progress = g.participant and progress_of(session(), g.plan, g.participant)
    carried = {"guest": arrival.guest, **arrival.parameters}
    if arrival.is_signed:
        carried["arrival"] = _make_arrival_token(arrival.parameters)
    return render_template(
        "participant/entry.html",
        pages=pages_of(g.plan),
        form=form,
        problems=problems,
        progress=progress,
        address=progress and address_of(progress),
        returning=returning is not None,
        unwelcome=refusal and gettext(str(refusal)),
        is_taken=isinstance(refusal, IdTakenError),
        carried={name: value for name, value in carried.items() if value},
        anew=progress and participants.comes_anew(session(), g.participant, arrival),
        mosaic=items.entry_pictures(session(), g.study) if g.plan.has_items else [],
        saved=sum(progress.questions.values()) if progress else 0,
        test=tokens.test_run_token(secret_key(), g.slug) if arrival.is_test else None,
    )


@blueprint.route("/consent", methods=["GET", "POST"])
@requires(ParticipantStep.CONSENT)
def consent() -> ResponseReturnValue:
    """Show the latest consent text; store the agreement unless the text has changed since."""
    form, status = ConsentForm(), None
    if form.validate_on_submit():
        if participants.agree(session(), g.participant, form.consent_version.data or ""):
            return go_on()
        changed = gettext("The text has changed since you opened it. Please read it again.")
        form.agree.errors, status = [changed], 409
    text = participants.consent_text(session(), g.study)
    if form.consent_version.data != text.digest:
        form.agree.data = False  # the tick agreed to another text
    return form_page("participant/consent.html", form, status, consent=text)


@blueprint.post("/decline")
@requires(ParticipantStep.CONSENT)
def decline() -> ResponseReturnValue:
    """Store that the participant does not want to take part."""
    if again := not_pressed(gettext("No, thank you")):
        return again
    participants.decline(session(), g.participant)
    return go_on()


@blueprint.get("/declined")
def declined() -> ResponseReturnValue:
    """Confirm that the participant has declined; they may still agree while the study is open."""
    return last_page(ParticipantStep.DECLINED, "participant/declined.html")


@blueprint.get("/screened-out")
def screened_out() -> ResponseReturnValue:
    """Explain that the study looks for other people."""
    return last_page(ParticipantStep.SCREENED_OUT, "participant/screened_out.html")


@blueprint.route("/about-you", methods=["GET", "POST"])
@requires(ParticipantStep.ABOUT_YOU)
def about_you() -> ResponseReturnValue:
    """Ask for the study's personal fields, and store the answers."""
    fields = g.plan.personal_fields
    form = personal_form(fields, g.participant.personal)
    if not form.validate_on_submit():
        return form_page("participant/about_you.html", form)
    participants.store_personal_answers(session(), g.study, g.participant, filled_in(form, fields))
    return go_on()


@blueprint.route("/scenario", methods=["GET", "POST"])
@requires(ParticipantStep.SCENARIO)
def scenario() -> ResponseReturnValue:
    """Show the story behind the lists; store that it was read, and draw the questions."""
    form = Form()
    if not form.validate_on_submit():
        return form_page("participant/scenario.html", form)
    participants.confirm_scenario(session(), g.participant)
    return go_on()
