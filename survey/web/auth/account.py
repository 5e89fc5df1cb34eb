"""One's own account: sessions, another password, and the password once more."""

from flask import Blueprint, flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from survey.services import researchers, sign_in
from survey.services.errors import SurveyError
from survey.services.sign_in import TooManyAttemptsError, WrongPasswordError
from survey.web.addresses import own_address
from survey.web.auth.forms import ConfirmForm, PasswordForm
from survey.web.auth.guard import (
    confirmed_only,
    forget,
    remember,
    signed_in_only,
    token_of_request,
)
from survey.web.database import session
from survey.web.forms import Form

blueprint = Blueprint("account", __name__, url_prefix="/research/account")
blueprint.before_request(signed_in_only)


@blueprint.get("")
def page() -> ResponseReturnValue:
    """Show one's sessions and the form for a new password."""
    return _account_page(PasswordForm())


@blueprint.post("/password")
@confirmed_only
def change_password() -> ResponseReturnValue:
    """Set another password; every other session ends."""
    form = PasswordForm()
    if not form.validate_on_submit():
        return _account_page(form), 400
    try:
        researchers.store_password(session(), g.researcher, form.password.data)
    except SurveyError as error:
        form.password.errors = [str(error)]
        return _account_page(form), 400
    session().commit()
    made = sign_in.new_session(session(), g.researcher)
    flash("Your password is changed. All other sessions have ended.")
    return remember(redirect(url_for("account.page"), 303), made)


@blueprint.post("/sign-out-everywhere")
def sign_out_everywhere() -> ResponseReturnValue:
    """End all one's sessions, this one too."""
    if not Form().validate_on_submit():
        return redirect(url_for("account.page"), 303)
    sign_in.sign_out_everywhere(session(), g.researcher)
    flash("You are signed out everywhere.")
    return forget(redirect(url_for("auth.sign_in_page"), 303))


@blueprint.get("/confirm")
def ask() -> ResponseReturnValue:
    """Ask for the password once more."""
    return _confirm_page(ConfirmForm(next=request.args.get("next", "")))


@blueprint.post("/confirm")
def confirm() -> ResponseReturnValue:
    """Check the password once more and go on."""
    form = ConfirmForm()
    if not form.validate_on_submit():
        return _confirm_page(form), 400
    try:
        sign_in.confirm(session(), token_of_request(), form.password.data)
    except (WrongPasswordError, TooManyAttemptsError) as error:
        form.password.errors = [str(error)]
        return _confirm_page(form), 403
    return redirect(own_address(form.next.data), 303)


def _confirm_page(form: ConfirmForm) -> str:
    return render_template("researcher/confirm.html", form=form, problems=form.problems)


def _account_page(form: PasswordForm) -> str:
    return render_template(
        "researcher/account.html",
        form=form,
        problems=form.problems,
        sign_ins=sign_in.live_sign_ins(session(), g.researcher),
    )
