"""Before the questions: consent, about you, the scenario."""

from flask import g, redirect, render_template
from flask.typing import ResponseReturnValue

from survey.services import participants
from survey.services.whereabouts import Step, whereabouts
from survey.web.database import session
from survey.web.forms import Form
from survey.web.language import gettext
from survey.web.participant.forms import ConsentForm, personal_data, personal_form
from survey.web.participant.pages import address_of, at, blueprint, credit, go_on, reached


@blueprint.get("/consent")
@reached(Step.CONSENT)
def consent() -> ResponseReturnValue:
    """Show the newest consent text."""
    return _consent_page(ConsentForm())


@blueprint.post("/consent")
@reached(Step.CONSENT)
def give_consent() -> ResponseReturnValue:
    """Store the agreement to the version that was read."""
    form = ConsentForm()
    if not form.validate_on_submit():
        return _consent_page(form), 400
    if not participants.agree(session(), g.participant, form.consent_version.data or ""):
        changed = gettext("The text has changed since you opened it. Please read it again.")
        form.agree.errors = [changed]
        return _consent_page(form), 409
    return go_on()


@blueprint.post("/decline")
@reached(Step.CONSENT)
def decline() -> ResponseReturnValue:
    """Store that someone does not want to take part."""
    if Form().validate_on_submit():
        participants.decline(session(), g.participant)
    return go_on()


@blueprint.get("/declined")
@reached(Step.CONSENT)
def declined() -> ResponseReturnValue:
    """Say that this is fine."""
    if g.place.step != Step.DECLINED:
        return redirect(address_of(g.place))
    return render_template("participant/declined.html", credit=credit())


@blueprint.get("/screened-out")
def screened_out() -> ResponseReturnValue:
    """Say that the study looks for others; again whenever the page is revisited."""
    if g.participant is None:
        return redirect(at("entry"))
    place = whereabouts(session(), g.participant)
    if place.step != Step.SCREENED_OUT:
        return redirect(address_of(place))
    return render_template("participant/screened_out.html", form=Form(), credit=credit())


@blueprint.get("/about-you")
@reached(Step.ABOUT_YOU)
def about_you() -> ResponseReturnValue:
    """Ask for the study's personal fields."""
    form = personal_form(g.plan.personal_fields)(
        data={f"personal_{name}": value for name, value in g.participant.personal.items()}
    )
    return _about_you_page(form)


@blueprint.post("/about-you")
@reached(Step.ABOUT_YOU)
def describe() -> ResponseReturnValue:
    """Store what they say about themselves."""
    form = personal_form(g.plan.personal_fields)()
    if not form.validate_on_submit():
        return _about_you_page(form), 400
    participants.describe(
        session(), g.study, g.participant, dict(personal_data(form, g.plan.personal_fields))
    )
    return go_on()


@blueprint.get("/scenario")
@reached(Step.SCENARIO)
def scenario() -> ResponseReturnValue:
    """Tell the story behind the lists."""
    return render_template("participant/scenario.html", form=Form())


@blueprint.post("/scenario")
@reached(Step.SCENARIO)
def scenario_read() -> ResponseReturnValue:
    """Draw how this participant will see the questions, and go to the first."""
    form = Form()
    if not form.validate_on_submit():
        return render_template("participant/scenario.html", form=form, problems=form.problems), 400
    participants.inform(session(), g.participant)
    return go_on()


def _consent_page(form: ConsentForm) -> str:
    text = participants.consent_text(session(), g.study)
    if form.consent_version.data != text.digest:
        form.agree.data = False  # what was ticked was another text
    return render_template(
        "participant/consent.html", form=form, problems=form.problems, consent=text
    )


def _about_you_page(form: Form) -> str:
    return render_template("participant/about_you.html", form=form, problems=form.problems)
