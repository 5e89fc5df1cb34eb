"""Who may see a study."""

from flask import flash, g, redirect, url_for
from flask.typing import ResponseReturnValue
from wtforms import RadioField, SelectChoice, StringField
from wtforms.validators import DataRequired, Length

from survey.services import access
from survey.services.errors import SurveyError
from survey.web.database import session
from survey.web.forms import Form
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
