"""Pages of the questions, the closing questions, the review, and the end.

A question is shown with its stored answer, or with the values of a form that was sent. Forms and
templates are those of the kind of question (``tasks``).

A form that the database could not store, on these or other pages of participants, is shown on a
page that sends it again with the same submission key: static/saving.js does, or a button.
"""

from collections.abc import Hashable, Sequence
from functools import cache
from secrets import token_hex
from typing import Any

from flask import g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import generate_csrf
from markupsafe import escape
from werkzeug.exceptions import NotFound
from wtforms import Field

from survey import tokens
from survey.core.kinds import KINDS
from survey.core.studies.fields import AskedField, ClosingQuestion
from survey.errors import NotFoundError, marked
from survey.services.collections import items
from survey.services.operations.database import begin_reading, begin_writing
from survey.services.participation import answers, participants
from survey.services.participation.answers import Outcome, ShownQuestion, TooManyAnswersError
from survey.services.participation.participants import PRACTICE, ParticipantStep, progress_of
from survey.web.errors import DATABASE_FAULTS, RETRY_AFTER, database_busy, roll_back
from survey.web.forms import BESIDE_PREFIX, AnswerForm, Form, form_page
from survey.web.language import gettext, set_browser_language
from survey.web.participant.asked_fields import (
    closing_fields,
    filled_in,
    personal_form,
    with_further,
)
from survey.web.participant.kind_pages import Doubt
from survey.web.participant.visit import (
    AFTER,
    address_of,
    blueprint,
    find_study_and_participant,
    go_on,
    has_personal_link,
    last_page,
    pages_of,
    picture_response,
    requires,
    whole_text_page,
)
from survey.web.requests import current_address, current_path, part, secret_key, session

STALE = marked(
    "This question was answered in another window after this page was opened. Saved there is: "
    "%(stored)s. What you see below is not saved; to use it instead, save again."
)
CHANGED_ELSEWHERE = marked(
    "This question was changed in another window after this page was opened. You see what is "
    "stored now; your last change is not."
)
UNKNOWN_KEY = marked("Please check what is ticked and save once more.")
UNSAVED = marked(
    "The survey could not store it just now. It is kept on this page; send it again in a moment. "
    "It is stored once, even if it is sent several times."
)

ANSWERING = ("participant.answer_question",)

# Random, so that no text of a study can equal a mark.
MARK_TOKENS = {name: token_hex() for name in ("token", "submission_key", "resume_code", "reason")}


@blueprint.get("/q/<int(max=999):position>")
@requires(ParticipantStep.PRACTICE)
def question(position: int) -> ResponseReturnValue:
    """Show a question with its stored answer; lead back from one that is not yet reached."""
    if position < 1 or _is_ahead(position):
        return go_on()
    _use_plan_of(position)
    return show(position)


@blueprint.post("/q/<int(max=999):position>")
@requires(ParticipantStep.PRACTICE)
def answer_question(position: int) -> ResponseReturnValue:
    """Store an answer and lead to the next page; see ``answer``."""
    if position < 1 or _is_ahead(position):
        return go_on()
    _use_plan_of(position)
    return answer(position)


@blueprint.get("/pictures/<size>/<name>.webp")
def picture(size: str, name: str) -> ResponseReturnValue:
    """Return a picture of the study to those who have agreed to take part.

    Everyone who has the study's link may see the few small ones of the entry page.
    """
    has_agreed = g.participant is not None and g.participant.consented_at is not None
    if not has_agreed and (size != "small" or name not in _entry_pictures()):
        raise NotFound
    return picture_response(size, name)


def _entry_pictures() -> list[str]:
    return items.entry_pictures(session(), g.study) if g.plan.has_items else []


@blueprint.get("/texts/<name>.html")
def whole_text(name: str) -> ResponseReturnValue:
    """Show a document's whole text to those who have agreed to take part."""
    if g.participant is None or g.participant.consented_at is None:
        raise NotFound
    return whole_text_page(name)


@blueprint.get("/waiting")
@requires(ParticipantStep.WAITING)
def waiting() -> ResponseReturnValue:
    """Ask what is due by now; else say that others are still at work."""
    begin_writing(session())
    if g.progress.step != ParticipantStep.WAITING or participants.take_due_questions(
        session(), g.participant
    ):
        return go_on()
    return render_template("participant/waiting.html", **_counts())


@blueprint.route("/closing", methods=["GET", "POST"])
@requires(ParticipantStep.CLOSING)
def closing() -> ResponseReturnValue:
    """Ask the closing questions, where the plan has any, and store the answers."""
    fields = asked_at_end()
    if not fields:
        return go_on()
    form = personal_form(fields, g.participant.closing)
    if not form.validate_on_submit():
        key = tokens.submission_key(secret_key(), f"{g.participant.public_id}:closing", 0)
        return form_page("participant/closing.html", form, kept_under=key, total=_counts()["total"])
    participants.store_closing_answers(session(), g.participant, filled_in(form, fields))
    return go_on()


@blueprint.route("/review", methods=["GET", "POST"])
@requires(ParticipantStep.REVIEW)
def review() -> ResponseReturnValue:
    """Show all answers, to be checked and changed; store that the participant is complete."""
    form = Form()
    if form.validate_on_submit():
        participants.finish(session(), g.participant)
        return go_on()
    return form_page(
        "participant/review.html", form, answers=asked_questions(), pages=pages_of(g.plan)
    )


@blueprint.app_template_global()
def asked_at_end() -> list[ClosingQuestion]:
    """Return the closing questions of this page's plan, in its language."""
    return closing_fields(g.plan)


@blueprint.get("/done")
def done() -> ResponseReturnValue:
    """Show the receipt, also when the page is visited again."""
    return last_page(ParticipantStep.DONE, "participant/done.html")


def _use_plan_of(position: int) -> None:
    """Let the page of a control question have the plan as it is there."""
    if g.plan.controls:  # spare other plans the query
        g.plan = g.plan.for_question(_shown(position).number)


def asked_questions() -> list[ShownQuestion]:
    """Return this participant's questions in order, without practice, with their answers."""
    presentations = answers.all_presentations(session(), g.plan, g.participant)
    return [shown for shown in presentations if shown.position > PRACTICE]


def answer(position: int) -> ResponseReturnValue:
    """Store a valid answer and redirect to the next page; show an invalid form again."""
    _note_machine_line()
    pages = pages_of(g.plan)
    if pages.preview_first_form(g.plan) is not None:  # spare other plans the query
        shown = _shown(position)
        first = pages.first_form(g.plan, shown)
        if first is not None:
            return _answer_first(position, shown, first())
    form = question_form(position)
    try:
        response = _save_steps(position, form) if form.takes_steps else None
        form.holds_answer = True
        return response or _answer(position, form)
    except TooManyAnswersError as error:
        return show_unsaved(position, str(error)), 429, {"Retry-After": RETRY_AFTER}


def _note_machine_line() -> None:
    """Store that the field for programs was filled in; a form without our token is not ours."""
    was_filled = g.plan.machine_line and request.form.get("machine_line", "").strip()
    if was_filled and Form().validate_on_submit():
        participants.note_machine_line(session(), g.participant)


def _answer(position: int, form: AnswerForm) -> ResponseReturnValue:
    back = form.go.data == "back"
    is_valid = form.validate_on_submit()
    doubt = _doubt_about(position, form) if is_valid else None
    if back and (doubt is not None or not is_valid):
        # Half an answer is not stored, and is no reason to stay; the browser keeps it.
        return redirect(_address_before(position), 303)
    if not is_valid:
        _note_refusal(position, form)
        return show_again(position, form), 400
    if doubt is not None:
        if doubt.kind in form.confirms:
            answers.note_asked(session(), g.participant, position, doubt.kind)
        return show_again(position, form, doubt=doubt)
    onward = g.progress.with_answer(position)
    outcome = _save(position, form, None if back else onward.position)
    told = position if form.says_more else None
    if back:
        return redirect(_address_before(position, told), 303)
    if outcome == Outcome.STALE:
        _note_refusal(position, form, answers.OUTDATED)
        return show_again(position, form, stale=True), 409
    return redirect(address_of(onward, told), 303)


def _doubt_about(position: int, form: AnswerForm) -> Any:
    """Return what the page asks back before a valid form is saved, None for nothing.

    It asks once. Some doubts are settled by a choice instead, see
    ``AnswerForm``.
    """
    shown = cache(lambda: _shown(position))
    doubt = pages_of(g.plan).doubt_of(g.plan, form, shown)
    return None if doubt is None or form.is_settled(doubt.kind, shown().asked_before) else doubt


def question_form(position: int, **values: object) -> AnswerForm:
    """Return the form of a question, with the reason and more only where the plan asks for it."""
    ask = () if position == PRACTICE else g.plan.ask
    form = with_further(pages_of(g.plan).form(g.plan), ask)(**values)
    if position == PRACTICE or not g.plan.reason_question:
        del form.reason
    return form


def _begin_to_write() -> None:
    """Take the write lock; raise StudyFullError if the participant's slot was taken."""
    begin_writing(session())
    participants.require_slot(session(), g.study, g.participant)


def _save(position: int, form: AnswerForm, onward_to: int | None) -> Outcome:
    _begin_to_write()
    return answers.save_answer(
        session(),
        secret_key(),
        g.plan,
        g.participant,
        position,
        form.answer,
        form.submission_key.data or "",
        form.seconds,
        onward_to,
        form.reason_text,
        form.was_asked,
        form.beside,
    )


def _save_steps(position: int, form: AnswerForm) -> ResponseReturnValue | None:
    """Store the steps of a form; return where it leads, None where it holds the answer as well.

    A script that stores a single step gets the key of the next one.
    """
    if not form.validate_on_submit():
        _note_refusal(position, form)
        return show_again(position, form), 400
    form.was_done = g.progress.answered.get(position, False)
    _begin_to_write()
    saved = answers.save_steps(
        *(session(), secret_key(), g.plan, g.participant, position),
        *(form.steps_for, form.step_key.data or ""),
    )
    form.step_key.data, form.stored_steps = saved.key, len(saved.drawn.steps)
    if saved.outcome == Outcome.STALE:
        _note_refusal(position, form, answers.OUTDATED)
        form.add_error(gettext(CHANGED_ELSEWHERE))
        return _sent_page(position, _shown(position), form), 409
    if form.errors:
        _note_refusal(position, form)
        return _sent_page(position, _shown(position), form), 400
    if form.is_done:
        return None
    if form.asks_first:
        answers.note_asked(session(), g.participant, position, form.asks_first)
        form.asked.data = form.asks_first
        return show_again(position, form, doubt=Doubt(form.asks_first))
    if form.go.data == "back":
        return redirect(_address_before(position), 303)
    if request.accept_mimetypes.best == "application/json":
        return {"key": saved.key}
    if "reason" in form or form.ask:
        shown = _shown(position)
        stored = (shown.stored.reason, shown.stored.beside) if shown.stored else (None, None)
        if (form.reason_text, form.beside or None) != stored:
            # They are stored with the answer; a redirect would lose them where no script keeps it.
            return _sent_page(position, shown, form)
    return redirect(_address_of_question(position), 303)


def _answer_first(position: int, shown: ShownQuestion, form: AnswerForm) -> ResponseReturnValue:
    """Store the page that precedes the question, and redirect to the question."""
    if request.form.get("go") == "back":
        return redirect(_address_before(position), 303)
    if not form.validate_on_submit():
        _note_refusal(position, form)
        return _first_page(position, shown, form), 400
    pages = pages_of(g.plan)
    doubt = pages.first_doubt_of(g.plan, form, shown)
    if doubt is not None and not form.is_settled(doubt.kind):
        return _first_page(position, shown, form, doubt=doubt)
    _begin_to_write()
    pages.save_first(session(), g.plan, g.participant, position, form)
    return redirect(_address_of_question(position), 303)


def _note_refusal(position: int, form: AnswerForm, refusal: str = "") -> None:
    """Count a refused form, so that researchers learn who is stuck.

    A form without a valid token may be another site's, so it stores nothing. The page with the
    errors comes in any case, also where the count cannot be stored.
    """
    if "csrf_token" in form.errors:
        return
    try:
        answers.note_refusal(session(), g.participant, position, refusal or form.refusal)
    except DATABASE_FAULTS:
        session().rollback()
        begin_reading(session())


def show(position: int) -> str:
    """Render a question with its stored answer."""
    pages = pages_of(g.plan)
    shown = _shown(position)
    first = pages.first_form(g.plan, shown)
    if first is not None:
        return _first_page(position, shown, first(formdata=None))
    reason, beside = (shown.stored.reason, shown.stored.beside) if shown.stored else (None, None)
    further: Sequence[tuple[AskedField, Field]] = ()
    if g.plan.ask:  # spare other plans the form
        values = {f"{BESIDE_PREFIX}{name}": value for name, value in (beside or {}).items()}
        further = question_form(position, formdata=None, data=values).further
    filled_in = pages.filled_in(g.plan, shown)
    return _question_page(position, shown, filled_in, _next_key(shown), reason, further)


def show_again(
    position: int, form: AnswerForm, *, stale: bool = False, doubt: object = None
) -> str:
    """Render a question with the values of a form that is not saved.

    It has an error, or is stale, or leaves a doubt that the page asks back.
    """
    shown = _shown(position)
    if stale:
        stored = shown.stored
        words = stored and pages_of(g.plan).in_words(stored.answer)
        if stored and stored.reason:
            words = f"{words} – “{stored.reason}”"
        refused = words and gettext(STALE, stored=words)
        form.add_error(refused or gettext(UNKNOWN_KEY))
        form.submission_key.data = _next_key(shown)
    return _sent_page(position, shown, form, doubt=doubt)


def show_unsaved(position: int, sentence: str = UNSAVED) -> str:
    """Render a form that could not be stored; a script sends it again."""
    pages = pages_of(g.plan)
    shown = _shown(position)
    first = pages.first_form(g.plan, shown)
    if first is not None:
        return _first_page(position, shown, first(), sentence)
    return _sent_page(position, shown, question_form(position), sentence)


def _shown(position: int) -> ShownQuestion:
    return answers.find_presentation(session(), g.plan, g.participant, position)


def _next_key(shown: ShownQuestion) -> str:
    return answers.next_key(secret_key(), shown)


def _first_page(
    position: int, shown: ShownQuestion, form: AnswerForm, unsaved: str = "", doubt: object = None
) -> str:
    return render_template(
        pages_of(g.plan).first_template,
        position=position,
        form=form,
        filled_in=form.filled_in,
        token=generate_csrf(),
        doubt=doubt,
        asked=form.was_asked,
        question=shown.view,
        pages=pages_of(g.plan),
        problems=_problems(form, unsaved),
        unsaved=unsaved,
        **_counts(),
    )


def _sent_page(
    position: int,
    shown: ShownQuestion,
    form: AnswerForm,
    unsaved: str = "",
    doubt: object = None,
) -> str:
    return _question_page(
        position,
        shown,
        pages_of(g.plan).filled_in_again(g.plan, shown, form),
        form.submission_key.data or "",
        form.reason_text,
        form.further,
        asked=form.was_asked,
        **({"step_key": form.step_key.data} if form.takes_steps else {}),
        active_seconds=form.seconds,
        problems=_problems(form, unsaved),
        unsaved=unsaved,
        doubt=doubt,
    )


def _question_page(
    position: int,
    shown: ShownQuestion,
    filled_in: Hashable,
    submission_key: str,
    reason: str | None,
    further: Sequence[tuple[AskedField, Field]] = (),
    **sent: object,
) -> str:
    """Render a question; ``sent``: values and errors of a form that was sent.

    Without ``sent``, the page is cached for all participants who see the same, with marks in
    the place of tokens, codes and the reason.
    """
    own = {
        "token": generate_csrf(),
        "submission_key": submission_key,
        "resume_code": tokens.resume_code(secret_key(), g.participant.public_id),
        "reason": reason or "",
    }
    if further:  # it holds a person's own answers
        sent["further"] = further
    if takes_steps := pages_of(g.plan).form(g.plan).takes_steps:  # the page is a person's own
        steps = len(shown.drawn.steps)
        own["step_key"] = answers.step_key(secret_key(), shown.name, steps)
        own["asked"] = shown.asked_before or ""
    if sent or takes_steps or AFTER in request.args:
        return _rendered(position, shown, filled_in, **(own | sent))
    html = part(
        "question",
        g.plan,
        position,
        shown.view,
        filled_in,
        shown.stored is None,
        *_counts().values(),
        has_personal_link(),
        current_path(),
        caller=lambda: _rendered(position, shown, filled_in, **MARK_TOKENS),
    )
    for name, mark in MARK_TOKENS.items():
        html = html.replace(mark, escape(own[name]))
    return html


def _rendered(position: int, shown: ShownQuestion, filled_in: Hashable, **content: object) -> str:
    pages = pages_of(g.plan)
    return render_template(
        pages.question_template,
        position=position,
        question=shown.view,
        stored=shown.stored,
        pages=pages,
        filled_in=filled_in,
        **_counts(),
        **content,
    )


@blueprint.app_template_global()
def remark() -> tuple[int, str] | None:
    """Return the question that was answered before this page, and how its answer counts.

    None where it counts as it was given, as mostly.
    """
    position = request.args.get(AFTER, type=int)
    if not position or g.get("participant") is None:
        return None
    try:
        sentence = pages_of(g.plan).remark(_shown(position))
    except NotFoundError:
        return None
    return (position, sentence) if sentence else None


def _problems(form: Form, unsaved: str) -> list[tuple[str, str]]:
    return [("", gettext(unsaved))] if unsaved else form.problems


def _counts() -> dict[str, int]:
    answered = g.progress.questions.values()
    return {"saved": sum(answered), "total": len(answered)}


def _is_ahead(position: int) -> bool:
    """Whether a question before this one is still open."""
    return not all(done for earlier, done in g.progress.questions.items() if earlier < position)


def _address_of_question(position: int) -> str:
    return url_for("participant.question", position=position)


def _address_before(position: int, after: int | None = None) -> str:
    """Return the address of the page before a question; ``after``: see ``address_of``."""
    told: dict[str, Any] = {} if after is None else {AFTER: after}
    if position == 1:
        page = "participant.practice" if g.plan.practice else "participant.scenario"
        return url_for(page, **told)
    return url_for("participant.question", position=position - 1, **told)


def show_form_again(error: Exception) -> ResponseReturnValue:
    """Answer 503 with the form's values, on its own page if the database can be read."""
    # Another site's form would get a valid token on our page.
    if request.method != "POST" or not Form().validate_on_submit():
        return database_busy(error)
    roll_back(error)
    return _unsaved_question() or _page_without_database(), 503, {"Retry-After": RETRY_AFTER}


for fault in DATABASE_FAULTS:
    blueprint.register_error_handler(fault, show_form_again)


def _unsaved_question() -> str | None:
    """Return the question's page; None if the database cannot be read, or for another page."""
    if request.endpoint not in ANSWERING:
        return None
    try:
        begin_reading(session())
        find_study_and_participant()
        if g.participant is None:
            return None
        g.progress = progress_of(session(), g.plan, g.participant)
        position = (request.view_args or {})["position"]
        _use_plan_of(position)
        return show_unsaved(position)
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
        answer=_sent_in_words(),
    )


def _sent_in_words() -> str:
    """Return the answer of the form in words; the study cannot be read."""
    sent = request.form.to_dict(flat=False)
    return next(filter(None, (pages.sent_in_words(sent) for pages in KINDS.values())), "")
