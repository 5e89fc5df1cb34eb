"""Who is signed in: the cookie, and the guards that pages call before anything else."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Response, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, PasswordField
from wtforms.validators import DataRequired, Length

from survey.services.accounts import sign_in
from survey.services.accounts.sign_in import TooManyAttemptsError, WrongPasswordError
from survey.services.operations.database import only_reading
from survey.web.forms import Form
from survey.web.requests import here_in_full, prefix, session, take_form

COOKIE = "researcher"
LARGEST_UPLOAD = 100 * 1024 * 1024  # runs and bundles; anybody else may send a form's worth
View = Callable[..., ResponseReturnValue]


class ConfirmForm(Form):
    """The password once more."""

    password = PasswordField(
        "Password",
        validators=[DataRequired("Type your password."), Length(max=1000)],
        render_kw={"autocomplete": "current-password"},
    )
    next = HiddenField()


def token_of_request() -> str:
    """Return the session token in the researcher's cookie."""
    return request.cookies.get(COOKIE, "")


def signed_in_only() -> ResponseReturnValue | None:
    """Find out who is signed in, or show how to; to be called before every request."""
    reads = request.method in ("GET", "HEAD")
    only_reading(session())
    g.sign_in = sign_in.find_sign_in(session(), token_of_request())
    if g.sign_in is None:
        return _ask_to_sign_in()
    if not reads:
        _take_body()
        g.sign_in = sign_in.find_sign_in(session(), token_of_request())
    if sign_in.is_worth_noting(g.sign_in) and not request.endpoint.endswith("live"):  # type: ignore[union-attr] # it was routed
        session().rollback()
        sign_in.note_seen(session(), token_of_request())
        if reads:
            only_reading(session())
        g.sign_in = sign_in.find_sign_in(session(), token_of_request())
    g.researcher = g.sign_in.researcher
    return None


def confirmed_only(view: View) -> View:
    """Let a view be used only shortly after the password was typed; else ask for it.

    A form that was sent waits on the page that asks, and goes on with the password.
    """

    @wraps(view)
    def guarded(**values: Any) -> ResponseReturnValue:
        if sign_in.is_confirmed(g.sign_in) or (request.method == "POST" and _confirms_now()):
            return view(**values)
        # A form that is not ours is not kept: on our page it would get a good token.
        if request.method == "GET" or not Form().validate_on_submit():
            return redirect(url_for("account.ask", next=here_in_full()), 303)
        form = ConfirmForm(formdata=None)
        form.password.errors = [g.told] if "told" in g else []
        return render_template(
            "researcher/confirm.html",
            form=form,
            problems=form.problems,
            kept=_sent(),
            address=here_in_full(),
        ), 403 if "told" in g else 200

    return guarded


def _confirms_now() -> bool:
    """Whether the form that was sent carries the right password; why not is kept for the page."""
    if "confirm_password" not in request.form or not Form().validate_on_submit():
        return False
    try:
        sign_in.confirm(session(), token_of_request(), request.form["confirm_password"])
    except (WrongPasswordError, TooManyAttemptsError) as error:
        g.told = str(error)
        return False
    return True


def _sent() -> list[tuple[str, str]]:
    """Return the fields of a form that was sent, to be sent again; passwords are not kept."""
    return [
        (name, value)
        for name, value in request.form.items(multi=True)
        if name != "csrf_token" and "password" not in name
    ]


def _ask_to_sign_in() -> ResponseReturnValue:
    """Lead to the sign-in; a form that was sent meanwhile stays, to be sent again."""
    if request.method in ("GET", "HEAD") or not Form().validate_on_submit():
        return redirect(url_for("auth.sign_in_page", next=here_in_full()), 303)
    form = Form(formdata=None)
    page = render_template(
        "researcher/signed_out.html", form=form, kept=_sent(), address=here_in_full()
    )
    return page, 401


def _take_body() -> None:
    """Read what was sent before the database is asked to write: a slow sender holds no lock."""
    session().rollback()
    request.max_content_length = LARGEST_UPLOAD
    take_form()


def remember(response: Any, token: str) -> Response:
    """Give the browser its session token, for the researcher's pages only."""
    response.set_cookie(
        COOKIE,
        token,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
        path=_cookie_path(),
    )
    return response  # type: ignore[no-any-return] # Werkzeug's redirect


def forget(response: Any) -> Response:
    """Take the session token back."""
    response.delete_cookie(COOKIE, path=_cookie_path())
    return response  # type: ignore[no-any-return] # Werkzeug's redirect


def _cookie_path() -> str:
    """Keep the cookie from the participants' pages."""
    return f"{prefix()}/research"
