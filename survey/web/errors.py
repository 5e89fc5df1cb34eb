"""Turn exceptions into error pages; no other module maps exceptions to HTTP statuses."""

from typing import TYPE_CHECKING

from flask import Flask, current_app, g, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import exc
from sqlalchemy.orm.exc import ObjectDeletedError, StaleDataError
from werkzeug.exceptions import HTTPException, SecurityError

from survey.core.studies.fields import UnreadablePlanError
from survey.errors import (
    NotAllowedError,
    NotFoundError,
    NotPublicNowError,
    ResultsHiddenError,
    StudyClosedError,
    StudyFullError,
    SurveyError,
    TakenBackError,
    marked,
)
from survey.services.studies.languages import ENGLISH
from survey.web import forms
from survey.web.language import gettext, ngettext, set_browser_language, set_language
from survey.web.requests import TOO_MUCH_WORK, session

if TYPE_CHECKING:
    from _typeshed import OptExcInfo

# (title, text) by status, instead of Werkzeug's descriptions, which are for programmers.
ERROR_TEXTS = {
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
        marked("Please check the link you were given: it must be complete."),
    ),
    405: (
        marked("This page cannot be used that way"),
        marked("Go back and use the buttons of the survey."),
    ),
    410: (marked("This page was taken back"), marked("It is not there any more.")),
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
            "it is stored once, even if you send it several times."
        ),
    ),
}

FOR_PROGRAMS = "/api/"  # begins addresses whose errors are JSON

FOREIGN_HOST = marked("The survey is not at this address. Please use the link you were given.")

NOT_OPEN: dict[type[SurveyError], str] = {
    StudyClosedError: marked("This study has closed"),
    StudyFullError: marked("All places are taken"),
}

NOT_SAVED = marked("What you sent just now is not saved.")
DELETED = marked("What this page is about was deleted in the meantime, so nothing more is stored.")
FILE_FAULT = marked(
    "The server could not write a file, so nothing was changed. Please try again later; if it "
    "happens again, tell the researchers."
)

# The database is locked, full, unreachable or restarting; it may work again soon.
DATABASE_FAULTS = (exc.OperationalError, exc.InterfaceError, exc.TimeoutError)
RETRY_AFTER = "5"  # seconds
RELOAD = marked("Reload this page in a moment. What you had saved is safe.")


def init_app(app: Flask) -> None:
    """Register a handler for each exception that a page may raise."""
    app.log_exception = _log_exception  # type: ignore[method-assign] # Flask's own logs the path
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(SecurityError, lambda _: error_page(400, FOREIGN_HOST))
    app.register_error_handler(
        NotFoundError, lambda error: error_page(404, str(error), ERROR_TEXTS[404][1])
    )
    app.register_error_handler(NotPublicNowError, lambda error: error_page(404, str(error)))
    app.register_error_handler(TakenBackError, lambda error: error_page(410, str(error)))
    app.register_error_handler(NotAllowedError, lambda error: error_page(403, str(error)))
    app.register_error_handler(SurveyError, lambda error: error_page(400, str(error)))
    app.register_error_handler(ResultsHiddenError, _results_hidden)
    app.register_error_handler(UnreadablePlanError, _unknown_kind)
    app.register_error_handler(exc.DataError, _not_storable)
    app.register_error_handler(exc.NoResultFound, _deleted)
    app.register_error_handler(StaleDataError, _deleted)
    app.register_error_handler(ObjectDeletedError, _deleted)
    app.register_error_handler(OSError, _file_fault)
    app.register_error_handler(MemoryError, lambda _: error_page(403, TOO_MUCH_WORK))
    for error_type in NOT_OPEN:
        app.register_error_handler(error_type, _not_open)
    for fault in DATABASE_FAULTS:
        app.register_error_handler(fault, database_busy)


def _log_exception(exc_info: "OptExcInfo") -> None:
    """Log an error without the path, which may hold a code or a token."""
    current_app.logger.error("A page failed at %s", request.endpoint, exc_info=exc_info)


def error_page(status: int, *sentences: str) -> tuple[str | dict[str, str], int]:
    """Return the error page of a status, with these sentences or the usual ones of ``TEXTS``.

    Programs get the first sentence as JSON.

    Signed-in researchers see the menu, as a way back, except from status 500 on: the menu needs the
    database, which may be what failed.
    """
    if request.path.startswith(FOR_PROGRAMS):
        return {
            "error": sentences[0] if sentences else ERROR_TEXTS.get(status, ERROR_TEXTS[400])[0]
        }, status
    g.participant = None  # an error page shows nothing personal
    for_researcher = status < 500 and g.get("researcher") is not None
    if for_researcher:
        set_language(ENGLISH)  # a preview is in its study's language
    set_browser_language()
    title, usual_text = ERROR_TEXTS.get(status, ERROR_TEXTS[400])
    text = " ".join(map(gettext, sentences or (usual_text,)))
    # Where the study's plan is known, participants read whom they can contact.
    in_study = "plan" in g and request.path.startswith("/s/")
    template = "participant/error.html" if in_study else "error.html"
    if for_researcher:
        template = "researcher/error.html"
    return render_template(template, title=gettext(title), text=text, leads_back=True), status


def database_busy(error: Exception) -> ResponseReturnValue:
    """Return the page that says the database is busy; its header says when to try again."""
    roll_back(error)
    body, status = error_page(503, *([RELOAD] if request.method in ("GET", "HEAD") else []))
    return body, status, {"Retry-After": RETRY_AFTER}


def roll_back(error: Exception) -> None:
    """Roll the failed transaction back, and log why it failed."""
    session().rollback()
    current_app.logger.warning(
        "The database could not be used at %s: %s", request.endpoint, getattr(error, "orig", error)
    )


def _http_error(error: HTTPException) -> ResponseReturnValue:
    if error.code is None or error.code < 400:
        return error
    if error.code >= 500:
        session().rollback()
    return error_page(error.code)


def _not_open(error: StudyClosedError | StudyFullError) -> ResponseReturnValue:
    title, text = gettext(NOT_OPEN[type(error)]), gettext(str(error))
    if isinstance(error, StudyClosedError):
        text = _what_is_kept() or text
        if request.method == "POST":
            text = f"{text} {gettext(NOT_SAVED)}"
    return render_template("participant/error.html", title=title, text=text), 403


def _what_is_kept() -> str:
    """Return how many answers a participant has saved; "" for a visitor without any."""
    saved = sum(g.progress.questions.values()) if "progress" in g else 0
    kept = ngettext(
        "Your saved answer is kept.", "Your %(count)s saved answers are kept.", saved, count=saved
    )
    return kept if saved else ""


def _results_hidden(_: ResultsHiddenError) -> ResponseReturnValue:
    return forms.form_page("researcher/hidden.html", status=403, of_bundle=True)


def _unknown_kind(error: UnreadablePlanError) -> ResponseReturnValue:
    """Return the page of a study whose plan cannot be read; only researchers read why."""
    session().rollback()
    g.pop("study", None)  # the page would read its plan
    current_app.logger.error("The page %s cannot be shown: %s", request.endpoint, error)
    return error_page(500) if g.get("researcher") is None else error_page(403, str(error))


def _deleted(_: Exception) -> ResponseReturnValue:
    """Return the page for a request that waited for the one that deleted its rows."""
    session().rollback()
    g.pop("study", None)  # the page would read a study again that may be deleted
    g.pop("plan", None)
    return error_page(404, DELETED)


def _file_fault(error: OSError) -> ResponseReturnValue:
    """Return the page for a full disk or a folder that is read-only; log which file it was."""
    session().rollback()
    current_app.logger.error("A file could not be written at %s: %s", request.endpoint, error)
    return error_page(503, FILE_FAULT)


def _not_storable(_: Exception) -> ResponseReturnValue:
    session().rollback()
    return error_page(400)
