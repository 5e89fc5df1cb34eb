"""Sign in and out, set a first password through a link, and manage one's own account."""

from flask import Blueprint, flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, PasswordField, StringField
from wtforms.validators import DataRequired, EqualTo, Length

from survey.errors import SurveyError
from survey.services.accounts import researchers
from survey.services.accounts.researchers import (
    LONGEST_PASSWORD,
    SHORTEST_PASSWORD,
    LinkError,
    TooManyAttemptsError,
    WrongPasswordError,
)
from survey.services.operations.database import begin_reading
from survey.web.auth.guard import (
    ConfirmForm,
    delete_session_cookie,
    require_password,
    require_sign_in,
    session_token,
    set_session_cookie,
)
from survey.web.forms import Form
from survey.web.requests import researcher_address, session

NEW_PASSWORD = {"autocomplete": "new-password"}

sign_in_blueprint = Blueprint("auth", __name__, url_prefix="/research")
account_blueprint = Blueprint("account", __name__, url_prefix="/research/account")
account_blueprint.before_request(require_sign_in)


class SignInForm(Form):
    """A researcher's name and password, and the address to go on to."""

    name = StringField(
        "Name",
        validators=[DataRequired("Type your name."), Length(max=64)],
        render_kw={"autocomplete": "username"},
    )
    password = PasswordField(
        "Password",
        validators=[DataRequired("Type your password."), Length(max=1000)],
        render_kw={"autocomplete": "current-password"},
    )
    next = HiddenField()


class PasswordForm(Form):
    """A new password, typed twice."""

    password = PasswordField(
        "New password",
        validators=[
            DataRequired("Choose a password."),
            Length(
                SHORTEST_PASSWORD,
                LONGEST_PASSWORD,
                f"Choose a password of {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters.",
            ),
        ],
        render_kw=NEW_PASSWORD,
    )
    again = PasswordField(
        "The same again",
        validators=[EqualTo("password", "The two passwords differ.")],
        render_kw=NEW_PASSWORD,
    )


@sign_in_blueprint.get("/sign-in")
def sign_in_page() -> ResponseReturnValue:
    """Ask for name and password."""
    begin_reading(session())
    return _sign_in_page(SignInForm(next=request.args.get("next", "")))


@sign_in_blueprint.post("/sign-in")
def check() -> ResponseReturnValue:
    """Sign in, or show the form again with the reason why not."""
    form = SignInForm()
    if not form.validate_on_submit():
        return _sign_in_page(form), 400
    try:
        token = researchers.sign_in(session(), form.name.data, form.password.data)
    except WrongPasswordError as error:
        form.password.errors = [str(error)]
        return _sign_in_page(form), 403
    except TooManyAttemptsError as error:
        form.password.errors = [str(error)]
        return _sign_in_page(form), 429, {"Retry-After": str(error.seconds)}
    return set_session_cookie(redirect(researcher_address(form.next.data), 303), token)


@sign_in_blueprint.get("/welcome/<token>")
def welcome(token: str) -> ResponseReturnValue:
    """Show the password form of a link; this does not use the link up."""
    begin_reading(session())
    return _welcome_page(token, PasswordForm())


@sign_in_blueprint.post("/welcome/<token>")
def set_password(token: str) -> ResponseReturnValue:
    """Set the password of a link's researcher, use the link up, and sign in."""
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
    researchers.reset_failures(session(), researcher.name)
    new_token = researchers.new_session(session(), researcher)
    flash("Your password is set, and you are signed in.")
    return set_session_cookie(redirect(url_for("researcher.home"), 303), new_token)


@sign_in_blueprint.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End this session."""
    if Form().validate_on_submit():
        researchers.sign_out(session(), session_token())
    return delete_session_cookie(redirect(url_for("auth.sign_in_page"), 303))


@account_blueprint.get("")
def page() -> ResponseReturnValue:
    """Show a researcher's sessions and the form for a new password."""
    return _account_page(PasswordForm())


@account_blueprint.post("/password")
@require_password
def change_password() -> ResponseReturnValue:
    """Change the password, end all sessions, and begin a new one."""
    form = PasswordForm()
    if not form.validate_on_submit():
        return _account_page(form), 400
    try:
        researchers.store_password(session(), g.researcher, form.password.data)
    except SurveyError as error:
        form.password.errors = [str(error)]
        return _account_page(form), 400
    session().commit()
    new_token = researchers.new_session(session(), g.researcher)
    flash("Your password is changed. All other sessions have ended.")
    return set_session_cookie(redirect(url_for("account.page"), 303), new_token)


@account_blueprint.post("/sign-out-everywhere")
def sign_out_everywhere() -> ResponseReturnValue:
    """End all of a researcher's sessions, this one included."""
    if not Form().validate_on_submit():
        return redirect(url_for("account.page"), 303)
    researchers.sign_out_everywhere(session(), g.researcher)
    flash("You are signed out everywhere.")
    return delete_session_cookie(redirect(url_for("auth.sign_in_page"), 303))


@account_blueprint.get("/confirm")
def ask() -> ResponseReturnValue:
    """Ask for the password of someone who is signed in."""
    return _confirm_page(ConfirmForm(next=request.args.get("next", "")))


@account_blueprint.post("/confirm")
def confirm() -> ResponseReturnValue:
    """Check the password, and redirect to the page that needed it."""
    form = ConfirmForm()
    if not form.validate_on_submit():
        return _confirm_page(form), 400
    try:
        researchers.confirm(session(), session_token(), form.password.data)
    except (WrongPasswordError, TooManyAttemptsError) as error:
        form.password.errors = [str(error)]
        return _confirm_page(form), 403
    return redirect(researcher_address(form.next.data), 303)


def _sign_in_page(form: SignInForm) -> str:
    return render_template("researcher/sign_in.html", form=form, problems=form.problems)


def _welcome_page(token: str, form: PasswordForm, status: int = 200) -> ResponseReturnValue:
    try:
        researcher = researchers.researcher_of_link(session(), token)
    except LinkError as error:
        return render_template("researcher/no_link.html", text=str(error)), 404
    html = render_template(
        "researcher/welcome.html",
        form=form,
        problems=form.problems,
        researcher=researcher,
        token=token,
    )
    return html, status


def _account_page(form: PasswordForm) -> str:
    return render_template(
        "researcher/account.html",
        form=form,
        problems=form.problems,
        sign_ins=researchers.live_sign_ins(session(), g.researcher),
    )


def _confirm_page(form: ConfirmForm) -> str:
    return render_template("researcher/confirm.html", form=form, problems=form.problems)
