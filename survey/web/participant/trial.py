"""A question's page for someone who takes no part: its form is checked, and nothing is stored."""

from collections.abc import Hashable
from types import SimpleNamespace
from typing import Any

from flask import g, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import generate_csrf

from survey.web.forms import AnswerForm, form_page
from survey.web.participant.questions import question_form
from survey.web.participant.visit import pages_of


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


def step_page(
    question: object, form: AnswerForm, step_key: str, doubt: object = None
) -> ResponseReturnValue:
    """Render a question that is answered in steps; ``step_key``: names the steps so far."""
    pages = pages_of(g.plan)
    return question_page(
        *(pages.question_template, form, form.filled_in if form.errors else pages.empty(g.plan)),
        step_key=step_key,
        doubt=doubt,
        **trial_content(question, 1, 0),
    )


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
