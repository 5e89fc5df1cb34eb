"""Signing in and out, and the link that sets a first password."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from survey.services import researchers, sign_in
from survey.services.database import only_reading
from survey.services.errors import SurveyError
from survey.services.researchers import LinkError
from survey.services.sign_in import TooManyAttemptsError, WrongPasswordError
from survey.web.addresses import own_address
from survey.web.auth.forms import PasswordForm, SignInForm
from survey.web.auth.guard import forget, remember, token_of_request
from survey.web.database import session
from survey.web.forms import Form

blueprint = Blueprint("auth", __name__, url_prefix="/research")


@blueprint.get("/sign-in")
def sign_in_page() -> ResponseReturnValue:
    """Ask for name and password."""
    only_reading(session())
    return _sign_in_page(SignInForm(next=request.args.get("next", "")))


@blueprint.post("/sign-in")
def check() -> ResponseReturnValue:
    """Sign in, or say why not."""
    form = SignInForm()
    if not form.validate_on_submit():
        return _sign_in_page(form), 400
    try:
        token = sign_in.sign_in(session(), form.name.data, form.password.data)
    except WrongPasswordError as error:
        form.password.errors = [str(error)]
        return _sign_in_page(form), 403
    except TooManyAttemptsError as error:
        form.password.errors = [str(error)]
        return _sign_in_page(form), 429, {"Retry-After": str(error.seconds)}
    return remember(redirect(own_address(form.next.data), 303), token)


@blueprint.get("/welcome/<token>")
def welcome(token: str) -> ResponseReturnValue:
    """Show a link's form; looking at it does not use it up."""
    only_reading(session())
    return _welcome_page(token, PasswordForm())


@blueprint.post("/welcome/<token>")
def set_password(token: str) -> ResponseReturnValue:
    """Use a link: set the password, and sign in with it."""
    form = PasswordForm()
    if not form.validate_on_submit():
        return _welcome_page(token, form, 400)
    try:
        researcher = researchers.set_password(session(), token, form.password.data)
    except LinkError:
        return _welcome_page(token, form)
    except SurveyError as error:
        form.password.errors = [str(error)]
        return _welcome_page(token, form, 400)
    sign_in.forget_failures(session(), researcher.name)
    made = sign_in.new_session(session(), researcher)
    flash("Your password is set, and you are signed in.")
    return remember(redirect(url_for("researcher.home"), 303), made)


@blueprint.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End this session."""
    if Form().validate_on_submit():
        sign_in.sign_out(session(), token_of_request())
    return forget(redirect(url_for("auth.sign_in_page"), 303))


def _sign_in_page(form: SignInForm) -> str:
    return render_template("researcher/sign_in.html", form=form, problems=form.problems)


def _welcome_page(token: str, form: PasswordForm, status: int = 200) -> ResponseReturnValue:
    try:
        researcher = researchers.researcher_of_link(session(), token)
    except LinkError as error:
        return render_template("researcher/no_link.html", text=str(error)), 404
    shown = render_template(
        "researcher/welcome.html",
        form=form,
        problems=form.problems,
        researcher=researcher,
        token=token,
    )
    return shown, status
