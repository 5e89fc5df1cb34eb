"""Who may see a study.

Watching a study: who is where; excluding a participant, and including them again.
"""

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import RadioField, SelectChoice, StringField
from wtforms.validators import DataRequired, Length

from survey.core.studies.faults import is_storable
from survey.errors import SurveyError
from survey.services.accounts import access
from survey.services.participation.watching import Watch, find_participant, watch
from survey.services.studies import lifecycle
from survey.web.forms import Form
from survey.web.requests import session
from survey.web.researcher.pages import STUDY, blueprint, page, pressed


class ShareForm(Form):
    """A researcher's name and the role they get."""

    name = StringField("Name", validators=[DataRequired("Type a name."), Length(max=64)])
    role = RadioField(
        "Role",
        choices=[
            SelectChoice("viewer", "Viewer: sees everything, changes nothing"),
            SelectChoice("owner", "Owner: does all that you can do"),
        ],
        default="viewer",
    )


@blueprint.get(f"{STUDY}/people")
def people() -> ResponseReturnValue:
    """Show who owns the study and who views it."""
    return _people_page(ShareForm())


@blueprint.post(f"{STUDY}/people")
def share() -> ResponseReturnValue:
    """Give someone a role."""
    form = ShareForm()
    if form.validate_on_submit():
        try:
            researcher = access.researcher_named(session(), form.name.data)
            access.share(session(), g.study, researcher, form.role.data)
        except SurveyError as error:
            form.name.errors = [str(error)]
        else:
            told = f"{researcher.name}: {form.role.data}"
            access.log(session(), g.study, g.researcher.name, "shared", told)
            session().commit()
            flash(f"{researcher.name} is now {form.role.data} of this study.")
            return redirect(url_for("researcher.people"), 303)
    return _people_page(form, status=400)


@blueprint.post(f"{STUDY}/people/<int:researcher_id>/remove")
def unshare(researcher_id: int) -> ResponseReturnValue:
    """Take someone's role away."""
    leaving = access.member_of(session(), g.study, researcher_id)
    if pressed():
        access.unshare(session(), g.study, leaving)
        access.log(session(), g.study, g.researcher.name, "no longer shared", leaving.name)
        session().commit()
        flash(f"{leaving.name} no longer sees this study.")
    return redirect(url_for("researcher.people"), 303)


def _people_page(form: ShareForm, status: int = 200) -> ResponseReturnValue:
    return page("people", form=form, status=status, members=access.members_of(session(), g.study))


@blueprint.get(f"{STUDY}/progress")
def progress() -> ResponseReturnValue:
    """Show who has started, where they are, and how many are done."""
    return page("progress", watch=_looked_at())


@blueprint.get(f"{STUDY}/progress/live")
def live() -> ResponseReturnValue:
    """Show the part of the page that changes by itself."""
    return page("_live", watch=_looked_at())


@blueprint.post(f"{STUDY}/participants/<public_id>/exclude")
def exclude(public_id: str) -> ResponseReturnValue:
    """Exclude a participant from every count, with a reason."""
    participant = find_participant(session(), g.study, public_id)
    if pressed():
        try:
            reason = request.form.get("reason", "")[:500]
            lifecycle.exclude(session(), g.study, participant, g.researcher.name, reason)
        except SurveyError as error:
            return page("progress", watch=_looked_at(), told=str(error), status=400)
        flash(f"{public_id} is excluded. The answers stay stored, and you can include them again.")
    return redirect(url_for("researcher.progress"), 303)


@blueprint.post(f"{STUDY}/participants/<public_id>/restore")
def restore(public_id: str) -> ResponseReturnValue:
    """Include a participant again."""
    participant = find_participant(session(), g.study, public_id)
    if pressed():
        lifecycle.restore(session(), g.study, participant, g.researcher.name)
        flash(f"{public_id} is no longer excluded.")
    return redirect(url_for("researcher.progress"), 303)


def _looked_at() -> Watch:
    """Look at the participants, or at those whose id begins as was typed."""
    beginning = request.args.get("id", "").strip().upper()[:16]
    return watch(session(), g.study, beginning if is_storable(beginning) else "?")
