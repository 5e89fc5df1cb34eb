"""A question's page for someone who takes no part: its form is checked, and nothing is stored."""

from collections.abc import Hashable, Sequence
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any, NamedTuple

from flask import g, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import generate_csrf
from itsdangerous import BadSignature, URLSafeSerializer

from survey.services.participation import answers
from survey.web.forms import AnswerForm, Form, form_page
from survey.web.participant.kind_pages import Doubt
from survey.web.participant.questions import question_form
from survey.web.participant.visit import pages_of
from survey.web.requests import secret_key, session

MOST_TRIAL_STEPS = 200  # of a question that is tried; the form carries them
LONGEST_STEPS = 30_000  # characters


def answer_or_page(
    question: object, position: int, template: str, saved: int
) -> AnswerForm | ResponseReturnValue:
    """Return the valid form of a question, or the page that is shown until there is one.

    As on the real page, another may precede it, and an answer that may not mean what it says is
    asked back about. ``saved``: how many answers the page says are saved.
    """
    pages = pages_of(g.plan)
    filled_in, doubt = pages.empty(g.plan), None
    first = None if "submission_key" in request.form else pages.preview_first_form(g.plan)
    answer = question_form(position, formdata=None) if first else question_form(position)
    if first is not None:
        form = first()
        if not form.validate_on_submit():
            return form_page(
                pages.first_template,
                form,
                filled_in=form.filled_in,
                token=generate_csrf(),
                **trial_content(question, position, saved),
            )
        filled_in = pages.filled_in_after(form)
    elif answer.validate_on_submit():
        doubt = doubt_about(question, position, answer)
        if doubt is None:
            return answer
    if first is None and request.method == "POST":
        filled_in = answer.filled_in
    return question_page(
        template, answer, filled_in, doubt=doubt, **trial_content(question, position, saved)
    )


def doubt_about(question: object, position: int, form: AnswerForm) -> Any:
    """Return what the page asks back about a valid form, None for nothing or once it has asked."""
    shown: Any = SimpleNamespace(
        view=question, stored=None, asked_before=None, drawn=None, number=position
    )
    doubt = pages_of(g.plan).doubt_of(g.plan, form, lambda: shown)
    return None if doubt is None or form.is_settled(doubt.kind) else doubt


class TriedSteps(NamedTuple):
    """The steps of a visitor who says that a question is done, and the form that said it."""

    steps: Sequence[object]
    form: AnswerForm


def steps_or_page(number: int, variant: str, template: str) -> TriedSteps | ResponseReturnValue:
    """Return the steps of a question that is done, or its page until it is; 0 is the practice.

    The form carries the steps, so nothing is stored.
    """
    form = question_form(number)
    steps: Sequence[object] = _read_steps(form)
    doubt: Any = None
    if form.validate_on_submit():
        steps = answers.steps_after(session(), g.study, number, variant, steps, form.steps_for)
        form.stored_steps = len(steps)
        has_too_many = len(steps) > MOST_TRIAL_STEPS or len(_signed(steps)) > LONGEST_STEPS
        is_done = has_too_many or (form.is_done and not form.errors)
        if form.asks_first and not is_done:
            form.asked.data = form.asks_first
            doubt = Doubt(form.asks_first)
        if is_done and not has_too_many:
            question = answers.preview(session(), g.study, number, variant, steps)
            doubt = doubt_about(question, number, form)
        if is_done and doubt is None:
            return TriedSteps(steps, form)
    question = answers.preview(session(), g.study, number, variant, steps)
    pages = pages_of(g.plan)
    return question_page(
        *(template, form, form.filled_in if form.errors else pages.empty(g.plan)),
        step_key=_signed(steps),
        doubt=doubt,
        **trial_content(question, number, 0),
    )


def _signer() -> URLSafeSerializer:
    return URLSafeSerializer(secret_key(), salt=f"steps of a trial of {g.study.digest}")


def _signed(steps: Sequence[Any]) -> str:
    """Return steps as a signed text for the form, so that visitors cannot send steps of their own.

    "" without steps.
    """
    if not steps:
        return ""
    return str(_signer().dumps([{**asdict(step), "saved_at": None} for step in steps]))


def _read_steps(form: Form) -> tuple[object, ...]:
    """Return the steps that a form carries, () if they were not signed here."""
    try:
        stored = _signer().loads(form.step_key.data or "")
    except BadSignature:
        return ()
    return tuple(answers.step_type(g.plan)(**fields) for fields in stored)


def question_page(
    template: str, form: AnswerForm, filled_in: Hashable, **content: Any
) -> tuple[str, int]:
    """Render a question's page, whose form names no stored answer."""
    return form_page(
        template,
        form,
        filled_in=filled_in,
        token=generate_csrf(),
        submission_key="",
        reason=form.reason_text or "",
        further=form.further,
        asked=form.was_asked,
        **content,
    )


def trial_content(question: object, position: int, saved: int) -> dict[str, Any]:
    """Return what the templates of a question need beside its form."""
    return {
        "position": position,
        "question": question,
        "pages": pages_of(g.plan),
        "saved": saved,
        "total": g.study.plan.last_number,
    }
