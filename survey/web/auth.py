"""Researchers' sign-in, which their pages require, their password, and their account.

Addresses: /research/sign-in, /research/welcome/TOKEN, /research/account.
"""

from functools import wraps
from urllib.parse import urlsplit

import segno
from flask import Blueprint, flash, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Response
from wtforms import HiddenField, PasswordField, StringField
from wtforms.validators import DataRequired, EqualTo, Length, Regexp

from survey import tokens
from survey.services import accounts, second_factor
from survey.services.accounts import (
    LONGEST_PASSWORD,
    SHORTEST_PASSWORD,
    LinkError,
    TooManyAttemptsError,
    WrongPasswordError,
)
from survey.services.operations.database import begin_reading, snapshot
from survey.web.forms import Form, errors_beside, form_page
from survey.web.requests import (
    View,
    current_address,
    external_address,
    read_form,
    researcher_address,
    secret_key,
    session,
)

KNOWN = "known-browser"  # begins the name of a researcher's cookie in a browser, see _known_cookie
KNOWN_FOR = 400 * 24 * 3600  # seconds, the longest that browsers store a cookie
CODE_INPUT = {"autocomplete": "one-time-code", "autocapitalize": "off", "spellcheck": "false"}
LARGEST_UPLOAD = 100 * 1024 * 1024  # bytes, for runs and bundles of signed-in researchers

sign_in_blueprint = Blueprint("auth", __name__, url_prefix="/research")
account_blueprint = Blueprint("account", __name__, url_prefix="/research/account")
BLUEPRINTS = (sign_in_blueprint, account_blueprint)


class ConfirmForm(Form):
    """The password of someone who is signed in."""

    password = PasswordField(
        "Password",
        validators=[DataRequired("Type your password."), Length(max=1000)],
        render_kw={"autocomplete": "current-password"},
    )
    next = HiddenField()


def session_token() -> str:
    """Return the session token in the researcher's cookie, empty without one."""
    return request.cookies.get(_session_cookie(), "")


def set_session_cookie(response: Response, token: str) -> Response:
    """Put a session token into a cookie that the browser sends to researchers' pages only."""
    return _set_cookie(response, _session_cookie(), token)


def _session_cookie() -> str:
    return tokens.cookie_name(secret_key(), "researcher")


def _set_cookie(response: Response, name: str, value: str, max_age: int | None = None) -> Response:
    response.set_cookie(
        name,
        value,
        max_age=max_age,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
        path=_cookie_path(),
    )
    return response


def delete_session_cookie(response: Response) -> Response:
    """Have the browser delete the session token."""
    response.delete_cookie(_session_cookie(), path=_cookie_path())
    return response


def _cookie_path() -> str:
    # Participants' pages never get the cookie.
    return f"{request.script_root}/research"


@account_blueprint.before_request
def require_sign_in() -> ResponseReturnValue | None:
    """Put the researcher into ``g``, or redirect to the sign-in page; runs before each request.

    First a posted form is read, and a session that is due is extended. The session may end
    meanwhile, so it is looked up again after each.
    """
    reads = request.method in ("GET", "HEAD")
    # A page has no fault where its study is deleted between two of its queries.
    begin = snapshot if reads else begin_reading
    begin(session())
    g.sign_in = accounts.find_sign_in(session(), session_token())
    if g.sign_in is None:
        return _ask_to_sign_in()
    if not reads:
        _read_body()
        g.sign_in = accounts.find_sign_in(session(), session_token())
    if g.sign_in and accounts.needs_refresh(g.sign_in) and not request.endpoint.endswith("live"):  # type: ignore[union-attr] # it was routed
        session().rollback()
        accounts.refresh(session(), session_token())
        if reads:
            begin(session())
        g.sign_in = accounts.find_sign_in(session(), session_token())
    if g.sign_in is None:  # signed out meanwhile, in another window
        return _ask_to_sign_in()
    g.researcher = g.sign_in.researcher
    return None


def _ask_to_sign_in() -> ResponseReturnValue:
    """Redirect to the sign-in page; show a form that was posted, so that it can be sent again.

    Its files are to be chosen again: no page can fill in a field of files.
    """
    template = "researcher/signed_out.html"
    try:
        is_ours = request.method not in ("GET", "HEAD") and Form().validate_on_submit()
    except RequestEntityTooLarge:  # by the limit of people who are not signed in
        return render_template(template, form=Form(formdata=None), too_large=True), 413
    if not is_ours:
        return redirect(url_for("auth.sign_in", next=current_address()), 303)
    files = {
        name: names
        for name, sent in request.files.lists()
        if (names := [file.filename for file in sent if file.filename])
    }
    page = render_template(
        template,
        form=Form(formdata=None),
        fields=_posted_fields(),
        files=files,
        address=current_address(),
    )
    return page, 401


def _read_body() -> None:
    """Read the form before the database is locked for writing, since a sender may be slow."""
    session().rollback()
    request.max_content_length = LARGEST_UPLOAD
    read_form()


def require_password(view: View) -> View:
    """Decorate a view so that it asks for the password unless it was typed minutes ago.

    The fields of a posted form are put into the page that asks, and posted with the password.
    """

    @wraps(view)
    def guarded(**values: object) -> ResponseReturnValue:
        form = ConfirmForm(formdata=None)
        if accounts.is_confirmed(g.sign_in) or (request.method == "POST" and _confirms(form)):
            return view(**values)
        # Without its token a form may come from another site; our page would add a valid one.
        if request.method == "GET" or not Form().validate_on_submit():
            return redirect(url_for("account.confirm", next=current_address()), 303)
        return form_page(
            "researcher/confirm.html",
            form,
            403 if form.password.errors else 200,
            fields=_posted_fields(),
            address=current_address(),
        )

    return guarded


def _confirms(form: ConfirmForm) -> bool:
    """Whether the request has the right password; if it has a wrong one, the form says so."""
    if "confirm_password" in request.form and Form().validate_on_submit():
        with errors_beside(form.password):
            accounts.confirm(session(), session_token(), request.form["confirm_password"])
            return True
    return False


def _posted_fields() -> list[tuple[str, str]]:
    """Return names and values of the posted fields, without files, token and passwords."""
    return [
        (name, value)
        for name, value in request.form.items(multi=True)
        if name not in ("csrf_token", "again") and "password" not in name
    ]


class SignInForm(Form):
    """A researcher's name, password and code, and the address to go on to."""

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
    code = StringField(
        "Code",
        description="Only with a second factor: the code that your app shows, or a recovery code.",
        validators=[Length(max=64)],
        render_kw=CODE_INPUT,
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
        render_kw={"autocomplete": "new-password"},
    )
    again = PasswordField(
        "The same again",
        validators=[EqualTo("password", "The two passwords differ.")],
        render_kw={"autocomplete": "new-password"},
    )


class SecondFactorForm(Form):
    """The code that an app shows; ``seed``: that of the secret which was shown to the app."""

    code = StringField(
        "Code that the app shows",
        validators=[DataRequired("Type the code that the app shows."), Length(max=64)],
        render_kw=CODE_INPUT,
    )
    seed = HiddenField(validators=[Regexp(r"[0-9A-Z]{32}\Z")])


@sign_in_blueprint.route("/sign-in", methods=["GET", "POST"])
def sign_in() -> ResponseReturnValue:
    """Ask for name, password and code; sign in, or show the form again with the reason why not."""
    form = SignInForm(next=request.args.get("next", ""))
    if not form.validate_on_submit():
        return form_page("researcher/sign_in.html", form)
    name = form.name.data
    known = request.cookies.get(_known_cookie(name), "")
    if not tokens.is_known_browser(secret_key(), name, known):
        known = ""
    try:
        token = accounts.sign_in(
            session(), name, form.password.data, known, form.code.data or "", secret_key()
        )
    except WrongPasswordError as error:
        form.password.errors = [str(error)]
        return form_page("researcher/sign_in.html", form, 403)
    except TooManyAttemptsError as error:
        form.password.errors = [str(error)]
        return *form_page("researcher/sign_in.html", form, 429), {"Retry-After": str(error.seconds)}
    response = set_session_cookie(redirect(researcher_address(form.next.data), 303), token)
    return _set_known(response, name, known)


def _known_cookie(name: str) -> str:
    """Return the name of the cookie of a browser in which the researcher of this name signed in.

    Several researchers may share a browser: with one cookie, each would make it unknown to others.
    """
    of_name = tokens.hash_token(" ".join(name.split()).casefold())[:16]
    return tokens.cookie_name(secret_key(), f"{KNOWN}-{of_name}")


def _set_known(response: Response, name: str, known: str = "") -> Response:
    """Have the browser store that the researcher of this name has signed in; ``known``: again."""
    known = known or tokens.known_browser(secret_key(), name, tokens.random_code(20))
    return _set_cookie(response, _known_cookie(name), known, max_age=KNOWN_FOR)


@sign_in_blueprint.route("/welcome/<token>", methods=["GET", "POST"])
def welcome(token: str) -> ResponseReturnValue:
    """Show the password form of a link; set its researcher's password, use it up, and sign in.

    A researcher with a second factor has to sign in as usual: the link replaces the password only.
    """
    form = PasswordForm()
    if request.method != "POST":
        begin_reading(session())
    if form.validate_on_submit():
        with errors_beside(form.password):
            researcher = accounts.set_password(session(), token, form.password.data)
            accounts.reset_failures(session(), researcher.name)
            if researcher.second_factor:
                session().commit()
                flash("Your password is set. Please sign in with it and a code.")
                return redirect(url_for("auth.sign_in"), 303)
            name = researcher.name
            new_token = accounts.new_session(session(), researcher)
            flash("Your password is set, and you are signed in.")
            response = set_session_cookie(redirect(url_for("researcher.home"), 303), new_token)
            return _set_known(response, name)
    try:
        researcher = accounts.researcher_of_link(session(), token)
    except LinkError as error:
        return render_template("researcher/no_link.html", text=str(error)), 404
    return form_page("researcher/welcome.html", form, researcher=researcher, token=token)


@sign_in_blueprint.post("/sign-out")
def sign_out() -> ResponseReturnValue:
    """End this session, whatever the form's token.

    A form of another site brings no cookie, and then nothing is done.
    """
    response = redirect(url_for("auth.sign_in"), 303)
    if not session_token():
        return response
    accounts.sign_out(session(), session_token())
    flash("You are signed out.")
    return delete_session_cookie(response)


@account_blueprint.get("")
def account() -> ResponseReturnValue:
    """Show a researcher's sessions and the form for a new password."""
    return _account_page(PasswordForm())


@account_blueprint.post("/password")
@require_password
def change_password() -> ResponseReturnValue:
    """Change the password, end all sessions, and begin a new one."""
    form = PasswordForm()
    if form.validate_on_submit():
        with errors_beside(form.password):
            accounts.store_password(session(), g.researcher, form.password.data)
            session().commit()
            new_token = accounts.new_session(session(), g.researcher)
            flash("Your password is changed. All other sessions have ended.")
            return set_session_cookie(redirect(url_for("account.account"), 303), new_token)
    return _account_page(form)


def _account_page(form: PasswordForm) -> ResponseReturnValue:
    sign_ins = accounts.live_sign_ins(session(), g.researcher)
    return form_page("researcher/account.html", form, sign_ins=sign_ins)


@account_blueprint.route("/second-factor", methods=["GET", "POST"])
@require_password
def set_up_second_factor() -> ResponseReturnValue:
    """Show a QR code for an app; store the second factor once the app's code comes back.

    The form holds the secret's seed, so nothing is stored before.
    """
    form = SecondFactorForm()
    seed = (request.method == "POST" and form.seed.data) or tokens.random_code(32)
    if form.validate_on_submit():
        with errors_beside(form.code):
            codes = second_factor.set_up(
                session(), secret_key(), g.researcher, seed, form.code.data
            )
            session().commit()
            return form_page("researcher/recovery_codes.html", codes=codes)
    form.seed.data = seed
    secret = second_factor.secret_of(secret_key(), seed)
    server = urlsplit(external_address("auth.sign_in")).netloc
    address = second_factor.app_address(secret, g.researcher.name, server)
    return form_page(
        "researcher/second_factor.html",
        form,
        image=segno.make(address, micro=False).svg_inline(scale=4, border=4, light="#fff"),
        secret=second_factor.as_text(secret),
    )


@account_blueprint.post("/second-factor/remove")
@require_password
def remove_second_factor() -> ResponseReturnValue:
    """Remove a researcher's own second factor."""
    if Form().validate_on_submit():
        second_factor.remove(g.researcher)
        session().commit()
        flash("You sign in with your password alone.")
    return redirect(url_for("account.account"), 303)


@account_blueprint.post("/sign-out-everywhere")
def sign_out_everywhere() -> ResponseReturnValue:
    """End all of a researcher's sessions, this one included."""
    if not Form().validate_on_submit():
        return redirect(url_for("account.account"), 303)
    accounts.sign_out_everywhere(session(), g.researcher)
    flash("You are signed out everywhere.")
    return delete_session_cookie(redirect(url_for("auth.sign_in"), 303))


@account_blueprint.route("/confirm", methods=["GET", "POST"])
def confirm() -> ResponseReturnValue:
    """Ask for the password of someone who is signed in; redirect to the page that needed it."""
    form = ConfirmForm(next=request.args.get("next", ""))
    status = None
    if form.validate_on_submit():
        with errors_beside(form.password):
            accounts.confirm(session(), session_token(), form.password.data)
            return redirect(researcher_address(form.next.data), 303)
        status = 403
    return form_page("researcher/confirm.html", form, status)
