"""What views need of the current request: its database session, addresses and form.

``init_app`` also has incomplete request bodies rejected.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit

from flask import Flask, abort, current_app, request, url_for
from sqlalchemy import Engine
from sqlalchemy.orm import Session

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def init_app(app: Flask) -> None:
    """Make ``current_path`` available to templates, and reject incomplete request bodies."""
    app.add_template_global(current_path)
    app.wsgi_app = _check_body_length(app.wsgi_app)  # type: ignore[method-assign,assignment] # Flask's way


def session() -> Session:
    """Return the database session of this request."""
    return cast(Session, current_app.extensions["sqlalchemy"].session)


def engine() -> Engine:
    """Return the application's database engine."""
    return cast(Engine, current_app.extensions["sqlalchemy"].engine)


def prefix() -> str:
    """Return the path below which a reverse proxy serves the survey, empty without one."""
    return request.script_root


def current_path() -> str:
    """Return the path of this request as the browser has to ask for it, prefix included."""
    return f"{prefix()}{request.path}"


def current_address() -> str:
    """Return the path of this request with its query."""
    return f"{prefix()}{request.full_path}".rstrip("?")


def researcher_address(address: str | None) -> str:
    """Return an address if it is one of the researcher's pages, else that of their studies.

    So a forged link to the sign-in page cannot lead to another site.
    """
    try:
        parts = urlsplit(address or "")
    except ValueError:  # not an address, like //[
        return url_for("researcher.home")
    if parts.scheme or parts.netloc or not _is_for_researchers(parts.path):
        return url_for("researcher.home")
    return parts.geturl()


def _is_for_researchers(path: str) -> bool:
    # A browser resolves "..", which would lead out of the prefix to other pages of the host.
    resolves = ".." in unquote(path) or "\\" in path
    return not resolves and f"{path}/".startswith(f"{prefix()}/research/")


def read_form() -> None:
    """Read the whole form, so that a slow sender does not hold the database's write lock.

    A chunked body, which no browser sends for a form, has no announced length, so it could
    be incomplete without a sign of it; it is answered with 411.
    """
    if request.headers.get("Transfer-Encoding"):
        abort(411)
    request.form  # noqa: B018 - reading it is the point


def _check_body_length(application: "WSGIApplication") -> "WSGIApplication":
    """Have Werkzeug compare a body's length with the announced one.

    The server says that its stream ends with the body. But it also ends when a connection
    breaks, and half a form can be a different answer.
    """

    def checked(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        environ.pop("wsgi.input_terminated", None)
        return application(environ, start_response)

    return checked
