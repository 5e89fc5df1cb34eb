"""What goes wrong, as a page: the only place where exceptions meet HTTP."""

from flask import Flask, current_app, g, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import exc
from werkzeug.exceptions import HTTPException

from survey.core.studies.texts import marked
from survey.errors import (
    NotAllowedError,
    NotFoundError,
    ResultsHiddenError,
    StudyClosedError,
    StudyFullError,
    SurveyError,
)
from survey.services.studies.languages import ENGLISH
from survey.web.forms import Form
from survey.web.language import gettext, speak, speak_as_asked
from survey.web.requests import session

# Shown instead of Werkzeug's descriptions, which speak to programmers.
TEXTS = {
    400: (
        marked("This request could not be read"),
        marked("Go back, reload the page and try again."),
    ),
    403: (
        marked("This is not possible now"),
        marked("Go back to the survey's first page to see why."),
    ),
    404: (
        marked("There is no such page"),
        marked(
            "Please check the link you were given: it must be complete, "
            "and upper and lower case letters count."
        ),
    ),
    405: (
        marked("This page cannot be used that way"),
        marked("Go back and use the buttons of the survey."),
    ),
    413: (marked("That is too much text"), marked("Go back and shorten what you typed.")),
    500: (
        marked("Something went wrong on our side"),
        marked(
            "What you had saved is safe. Go back, reload the page and try again; "
            "if it happens again, tell the researchers."
        ),
    ),
    503: (
        marked("The survey is busy"),
        marked(
            "This answer may not have been saved yet. Go back and send it again in a moment: "
            "it is stored once, however often you send it."
        ),
    ),
}

# A database that is locked, full, lost or restarting: soon it may do again.
DATABASE_FAULTS = (exc.OperationalError, exc.InterfaceError, exc.TimeoutError)
RETRY_AFTER = "5"
LOOK_AGAIN = marked("Reload this page in a moment. What you had saved is safe.")


def init_app(app: Flask) -> None:
    """Register the handlers."""
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(NotFoundError, _not_found)
    app.register_error_handler(NotAllowedError, _not_allowed)
    app.register_error_handler(StudyClosedError, _closed)
    app.register_error_handler(StudyFullError, _full)
    app.register_error_handler(ResultsHiddenError, _hidden)
    app.register_error_handler(SurveyError, _cannot)
    app.register_error_handler(exc.DataError, _not_storable)
    for fault in DATABASE_FAULTS:
        app.register_error_handler(fault, database_busy)


def page(status: int, *sentences: str) -> tuple[str, int]:
    """Render the error page of a status, with sentences of its own if there are any.

    Who is signed in keeps the menu, to get away from the page; not when the database is in
    trouble, which the menu would have to ask for names.
    """
    g.participant = None  # an error's page says nothing of whoever meets it
    at_desk = status < 500 and g.get("researcher") is not None
    if at_desk:
        speak(ENGLISH)  # a preview speaks its study's language
    speak_as_asked()
    title, usual = TEXTS.get(status, TEXTS[400])
    text = " ".join(map(gettext, sentences or (usual,)))
    template = "researcher/error.html" if at_desk else "error.html"
    return render_template(template, title=gettext(title), text=text), status


def _http(error: HTTPException) -> ResponseReturnValue:
    if error.code is None or error.code < 400:
        return error
    if error.code >= 500:
        session().rollback()
    return page(error.code)


def _not_found(error: NotFoundError) -> ResponseReturnValue:
    return page(404, str(error), TEXTS[404][1])


def _closed(error: StudyClosedError) -> ResponseReturnValue:
    title, text = gettext("This survey is closed"), gettext(str(error))
    return render_template("error.html", title=title, text=text), 403


def _full(error: StudyFullError) -> ResponseReturnValue:
    title, text = gettext("All places are taken"), gettext(str(error))
    return render_template("error.html", title=title, text=text), 403


def _hidden(_: ResultsHiddenError) -> ResponseReturnValue:
    no_form = Form(formdata=None)
    return render_template("researcher/hidden.html", form=no_form, of_bundle=True), 403


def _not_allowed(error: NotAllowedError) -> ResponseReturnValue:
    return page(403, str(error))


def _cannot(error: SurveyError) -> ResponseReturnValue:
    return page(400, str(error))


def _not_storable(_: Exception) -> ResponseReturnValue:
    session().rollback()
    return page(400)


def database_busy(error: Exception) -> ResponseReturnValue:
    """Answer that the database cannot be used now; what was sent can be sent again."""
    give_up(error)
    body, status = page(503, *([LOOK_AGAIN] if request.method in ("GET", "HEAD") else []))
    return body, status, {"Retry-After": RETRY_AFTER}


def give_up(error: Exception) -> None:
    """End a transaction that failed half-way, and tell whoever runs the server why."""
    session().rollback()
    current_app.logger.warning(
        "The database could not be used at %s: %s", request.endpoint, getattr(error, "orig", error)
    )
