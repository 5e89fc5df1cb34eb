"""What was sent is taken whole, and at once, or not at all."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from flask import Flask, abort, request

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


def init_app(app: Flask) -> None:
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
