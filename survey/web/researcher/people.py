"""Pages about a study's people: participants and their progress, researchers and their roles."""

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
from survey.web.researcher.pages import STUDY, blueprint, has_valid_token, page


class ShareForm(Form):
    """A researcher's name and the role they get."""

    name = StringField("Name", validators=[DataRequired("Type a name."), Length(max=64)])
    role = RadioField(
        "Role",
        choices=[
            SelectChoice("viewer", "Viewer: can see everything and change nothing"),
            SelectChoice("owner", "Owner: can do everything that you can do"),
        ],
        default="viewer",
    )


@blueprint.get(f"{STUDY}/progress")
def progress() -> ResponseReturnValue:
    """Show how many participants are complete, and at which page the others are."""
    return page("progress", watch=_watch())


@blueprint.get(f"{STUDY}/progress/live")
def live() -> ResponseReturnValue:
    """Return the part of the progress page that its script replaces every few seconds."""
    return page("_live", watch=_watch())


@blueprint.post(f"{STUDY}/participants/<public_id>/exclude")
def exclude(public_id: str) -> ResponseReturnValue:
    """Exclude a participant from every count, with a reason."""
    participant = find_participant(session(), g.study, public_id)
    if has_valid_token():
        try:
            reason = request.form.get("reason", "")[:500]
            lifecycle.exclude(session(), g.study, participant, g.researcher.name, reason)
        except SurveyError as error:
            return page("progress", watch=_watch(), alert=str(error), status=400)
        flash(f"{public_id} is excluded. The answers stay stored, and you can include them again.")
    return redirect(url_for("researcher.progress"), 303)


@blueprint.post(f"{STUDY}/participants/<public_id>/restore")
def restore(public_id: str) -> ResponseReturnValue:
    """Include an excluded participant again."""
    participant = find_participant(session(), g.study, public_id)
    if has_valid_token():
        lifecycle.include(session(), g.study, participant, g.researcher.name)
        flash(f"{public_id} is no longer excluded.")
    return redirect(url_for("researcher.progress"), 303)


def _watch() -> Watch:
    """Return the participants whose id begins with the address's ``id``, all without one."""
    id_prefix = request.args.get("id", "").strip().upper()[:16]
    return watch(session(), g.study, id_prefix if is_storable(id_prefix) else "?")


@blueprint.get(f"{STUDY}/people")
def people() -> ResponseReturnValue:
    """Show the owners and viewers of the study."""
    return _people_page(ShareForm())


@blueprint.post(f"{STUDY}/people")
def share() -> ResponseReturnValue:
    """Make a researcher an owner or a viewer."""
    form = ShareForm()
    if form.validate_on_submit():
        try:
            researcher = access.researcher_named(session(), form.name.data)
            access.share(session(), g.study, researcher, form.role.data)
        except SurveyError as error:
            form.name.errors = [str(error)]
        else:
            detail = f"{researcher.name}: {form.role.data}"
            access.log(session(), g.study, g.researcher.name, "shared", detail)
            session().commit()
            article = "an" if form.role.data == "owner" else "a"
            flash(f"{researcher.name} is now {article} {form.role.data} of this study.")
            return redirect(url_for("researcher.people"), 303)
    return _people_page(form, status=400)


@blueprint.post(f"{STUDY}/people/<int:researcher_id>/remove")
def unshare(researcher_id: int) -> ResponseReturnValue:
    """Remove a researcher from the study's owners and viewers."""
    researcher = access.member_of(session(), g.study, researcher_id)
    if has_valid_token():
        access.unshare(session(), g.study, researcher)
        access.log(session(), g.study, g.researcher.name, "no longer shared", researcher.name)
        session().commit()
        flash(f"{researcher.name} can no longer see this study.")
    return redirect(url_for("researcher.people"), 303)


def _people_page(form: ShareForm, status: int = 200) -> ResponseReturnValue:
    return page("people", form=form, status=status, members=access.members_of(session(), g.study))
