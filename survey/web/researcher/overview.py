"""A study's first page: its life as steps, and what can be done to it now."""

from flask import flash, g, redirect, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import StringField
from wtforms.validators import DataRequired, Length

from survey.services import access, checks, life, places, studies
from survey.services.errors import SurveyError
from survey.web.auth.guard import confirmed_only
from survey.web.database import session
from survey.web.forms import Form
from survey.web.researcher.pages import STUDY, blueprint, page, pressed


class CopyForm(Form):
    """The address of a copy."""

    slug = StringField(
        "Address of the copy",
        filters=[lambda text: text and text.strip()],
        validators=[DataRequired("Give the copy an address."), Length(max=64)],
    )


class DeleteForm(Form):
    """The study's address, typed once more."""

    slug = StringField("Type the study's address to delete it")


ACTIONS = {
    "open": (life.open_to_participants, "The study is open. Invite people."),
    "close": (life.close_to_participants, "The study is closed. Its results can be looked at."),
    "archive": (life.archive, "The study is in the archive."),
    "bring-back": (life.bring_back, "The study is back from the archive."),
}


@blueprint.get(STUDY)
def overview() -> ResponseReturnValue:
    """Show where the study stands and what comes next."""
    return _overview_page()


@blueprint.post(f"{STUDY}/<any('open', 'close', 'archive', 'bring-back'):action>")
def act(action: str) -> ResponseReturnValue:
    """Open, close, archive, bring back."""
    if pressed():
        act_on, told = ACTIONS[action]
        act_on(session(), g.study, g.researcher.name)
        flash(told)
    return redirect(url_for("researcher.overview"), 303)


@blueprint.get(f"{STUDY}/open")
def ask_to_open() -> ResponseReturnValue:
    """Say what can no longer change once a draft is open, before it is."""
    access.require_owner(g.role)
    if g.study.status != "draft":
        return redirect(url_for("researcher.overview"))
    findings = [one for one in checks.check_study(g.study) if one.question is None]
    return page("open", findings=findings)


@blueprint.post(f"{STUDY}/copy")
def copy() -> ResponseReturnValue:
    """Make a draft with the same plan under another address."""
    form = CopyForm()
    if form.validate_on_submit():
        try:
            life.copy_study(session(), g.study, form.slug.data, g.researcher)
        except SurveyError as error:
            form.slug.errors = [str(error)]
        else:
            flash("This is the copy: a draft with the same plan and no participants.")
            return redirect(url_for("researcher.overview", slug=form.slug.data), 303)
    return _overview_page(form, status=400)


@blueprint.get(f"{STUDY}/delete")
@confirmed_only
def ask_to_delete() -> ResponseReturnValue:
    """Say what would be lost, and ask for the study's address."""
    access.require_owner(g.role)
    return _delete_page(DeleteForm())


@blueprint.post(f"{STUDY}/delete")
@confirmed_only
def delete() -> ResponseReturnValue:
    """Delete a study whose address was typed."""
    form = DeleteForm()
    if form.validate_on_submit():
        if (form.slug.data or "").strip() != g.study.slug:
            form.slug.errors = [f"Type {g.study.slug} to delete this study."]
        else:
            life.delete(session(), g.study, g.researcher.name)
            flash(f"The study {request.form['slug']} is deleted.")
            return redirect(url_for("researcher.home"), 303)
    return _delete_page(form, status=400)


def _delete_page(form: DeleteForm, status: int = 200) -> ResponseReturnValue:
    return page("delete", form=form, status=status, progress=studies.progress(session(), g.study))


def _overview_page(form: CopyForm | None = None, status: int = 200) -> ResponseReturnValue:
    return page(
        "overview",
        form=form or CopyForm(),
        status=status,
        progress=studies.progress(session(), g.study),
        free=places.free(session(), g.study),
        broken=[one for one in checks.check_study(g.study) if one.failed],
        events=access.events_of(session(), g.study),
        link=url_for("participant.entry", slug=g.study.slug, _external=True),
    )
