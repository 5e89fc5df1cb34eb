"""Require a sign-in or the password for researchers' pages, and handle the session cookie."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from flask import Response, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import HiddenField, PasswordField
from wtforms.validators import DataRequired, Length

from survey.services.accounts import researchers
from survey.services.accounts.researchers import TooManyAttemptsError, WrongPasswordError
from survey.services.operations.database import begin_reading
from survey.web.forms import Form
from survey.web.requests import current_address, prefix, read_form, session

COOKIE = "researcher"
LARGEST_UPLOAD = 100 * 1024 * 1024  # bytes, for runs and bundles of signed-in researchers
View = Callable[..., ResponseReturnValue]


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
    return request.cookies.get(COOKIE, "")


def set_session_cookie(response: Any, token: str) -> Response:
    """Put a session token into a cookie that the browser sends to researchers' pages only."""
    response.set_cookie(
        COOKIE,
        token,
        httponly=True,
        samesite="Lax",
        secure=request.is_secure,
        path=_cookie_path(),
    )
    return response  # type: ignore[no-any-return] # Werkzeug's redirect


def delete_session_cookie(response: Any) -> Response:
    """Have the browser delete the session token."""
    response.delete_cookie(COOKIE, path=_cookie_path())
    return response  # type: ignore[no-any-return] # Werkzeug's redirect


def _cookie_path() -> str:
    # Participants' pages never get the cookie.
    return f"{prefix()}/research"


def require_sign_in() -> ResponseReturnValue | None:
    """Put the researcher into ``g``, or redirect to the sign-in page; runs before each request."""
    reads = request.method in ("GET", "HEAD")
    begin_reading(session())
    g.sign_in = researchers.find_sign_in(session(), session_token())
    if g.sign_in is None:
        return _ask_to_sign_in()
    if not reads:
        _read_body()
        g.sign_in = researchers.find_sign_in(session(), session_token())
    if researchers.needs_refresh(g.sign_in) and not request.endpoint.endswith("live"):  # type: ignore[union-attr] # it was routed
        session().rollback()
        researchers.refresh(session(), session_token())
        if reads:
            begin_reading(session())
        g.sign_in = researchers.find_sign_in(session(), session_token())
    g.researcher = g.sign_in.researcher
    return None


def _ask_to_sign_in() -> ResponseReturnValue:
    """Redirect to the sign-in page; show a form that was posted, so that it can be sent again."""
    if request.method in ("GET", "HEAD") or not Form().validate_on_submit():
        return redirect(url_for("auth.sign_in_page", next=current_address()), 303)
    form = Form(formdata=None)
    page = render_template(
        "researcher/signed_out.html", form=form, fields=_posted_fields(), address=current_address()
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
    def guarded(**values: Any) -> ResponseReturnValue:
        if researchers.is_confirmed(g.sign_in) or (request.method == "POST" and _confirms_now()):
            return view(**values)
        # Without its token a form may come from another site; our page would add a valid one.
        if request.method == "GET" or not Form().validate_on_submit():
            return redirect(url_for("account.ask", next=current_address()), 303)
        error = g.get("password_error")
        form = ConfirmForm(formdata=None)
        form.password.errors = [error] if error else []
        return render_template(
            "researcher/confirm.html",
            form=form,
            problems=form.problems,
            fields=_posted_fields(),
            address=current_address(),
        ), 403 if error else 200

    return guarded


def _confirms_now() -> bool:
    """Whether the posted form holds the right password; if not, store the error for the page."""
    if "confirm_password" not in request.form or not Form().validate_on_submit():
        return False
    try:
        researchers.confirm(session(), session_token(), request.form["confirm_password"])
    except (WrongPasswordError, TooManyAttemptsError) as error:
        g.password_error = str(error)
        return False
    return True


def _posted_fields() -> list[tuple[str, str]]:
    """Return names and values of the posted fields, without token and passwords."""
    return [
        (name, value)
        for name, value in request.form.items(multi=True)
        if name != "csrf_token" and "password" not in name
    ]
