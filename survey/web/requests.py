"""The request's database session and engine, for views that pass them to services.

Where a page stands: below the path prefix that a reverse proxy may have taken off.

What was sent is taken whole, and at once, or not at all.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit

from flask import Flask, abort, current_app, request, url_for
from sqlalchemy import Engine
from sqlalchemy.orm import Session

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def session() -> Session:
    """Return the session of this request."""
    return cast(Session, current_app.extensions["sqlalchemy"].session)


def engine() -> Engine:
    """Return the application's engine."""
    return cast(Engine, current_app.extensions["sqlalchemy"].engine)


def add_page_address(app: Flask) -> None:
    """Make the address of the page available to templates."""
    app.add_template_global(here)


def prefix() -> str:
    """Return the path under which the whole survey is served; empty at the top of its host."""
    return request.script_root


def here() -> str:
    """Return the path of the address that was asked for, as a browser has to ask for it."""
    return f"{prefix()}{request.path}"


def here_in_full() -> str:
    """Return what ``here`` does, with the query."""
    return f"{prefix()}{request.full_path}".rstrip("?")


def own_address(address: str | None) -> str:
    """Return an address within the researcher's pages, whatever was asked for."""
    try:
        parts = urlsplit(address or "")
    except ValueError:  # no address at all, like //[
        return url_for("researcher.home")
    if parts.scheme or parts.netloc or not _is_for_researchers(parts.path):
        return url_for("researcher.home")
    return parts.geturl()


def _is_for_researchers(path: str) -> bool:
    # A browser walks up at "..", out of the prefix to whatever else the host serves.
    walks = ".." in unquote(path) or "\\" in path
    return not walks and f"{path}/".startswith(f"{prefix()}/research/")


def count_bodies(app: Flask) -> None:
    """Let what breaks off on its way be refused, before anything is read from it."""
    app.wsgi_app = _counted(app.wsgi_app)  # type: ignore[method-assign,assignment] # Flask's way


def take_form() -> None:
    """Read the form before the database is asked to write: a slow sender holds no lock.

    A body in chunks, as no browser sends a form, announces no length, so nobody could tell
    whether it came whole; it is answered 411.
    """
    if request.headers.get("Transfer-Encoding"):
        abort(411)
    request.form  # noqa: B018 - reading it is the point


def _counted(application: "WSGIApplication") -> "WSGIApplication":
    """Have Werkzeug count what comes against what was announced.

    The server says that its stream ends where the body does; but it also ends where a
    connection does, and half a form can be another answer than the whole.
    """

    def counting(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        environ.pop("wsgi.input_terminated", None)
        return application(environ, start_response)

    return counting
