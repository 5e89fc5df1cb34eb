"""Show a form that the database could not store, on a page that sends it again.

static/saving.js sends it with the same submission key; without scripts, a button does.
"""

from flask import g, render_template, request
from flask.typing import ResponseReturnValue

from survey.services.operations.database import begin_reading
from survey.services.participation.participants import PRACTICE, progress_of
from survey.web.errors import DATABASE_FAULTS, RETRY_AFTER, database_busy, roll_back
from survey.web.forms import Form
from survey.web.language import set_browser_language
from survey.web.participant.questions import show_unsaved
from survey.web.participant.tasks import TASK_PAGES
from survey.web.participant.visit import blueprint, find_study_and_participant
from survey.web.requests import current_address, session

QUESTIONS = ("participant.answer_practice", "participant.answer_question")


def show_form_again(error: Exception) -> ResponseReturnValue:
    """Answer 503 with the form's values, on its own page if the database can be read."""
    # Another site's form would get a valid token on our page.
    if request.method != "POST" or not Form().validate_on_submit():
        return database_busy(error)
    roll_back(error)
    return _question_page() or _page_without_database(), 503, {"Retry-After": RETRY_AFTER}


for fault in DATABASE_FAULTS:
    blueprint.register_error_handler(fault, show_form_again)


def _question_page() -> str | None:
    """Return the question's page; None if the database cannot be read, or for another page."""
    if request.endpoint not in QUESTIONS:
        return None
    try:
        begin_reading(session())
        find_study_and_participant()
        if g.participant is None:
            return None
        g.progress = progress_of(session(), g.participant)
        return show_unsaved((request.view_args or {}).get("position", PRACTICE))
    except DATABASE_FAULTS:
        session().rollback()
        return None


def _page_without_database() -> str:
    g.participant = None
    set_browser_language()
    fields = [pair for pair in request.form.items(multi=True) if pair[0] != "csrf_token"]
    return render_template(
        "participant/unsaved.html",
        form=Form(formdata=None),
        fields=fields,
        address=current_address(),
        answer=_in_words(),
    )


def _in_words() -> str:
    """Return the answer of the form in words; the study cannot be read."""
    sent = request.form.to_dict(flat=False)
    return next(filter(None, (pages.sent_in_words(sent) for pages in TASK_PAGES.values())), "")
