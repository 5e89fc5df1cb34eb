"""The practice before the questions: its screens, of which only the check question is stored."""

from collections.abc import Sequence
from typing import Any

from flask import g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import generate_csrf

from survey.services.participation import answers, participants
from survey.services.participation.participants import PRACTICE, ParticipantStep
from survey.web.language import gettext
from survey.web.participant.kind_pages import PracticeScreen
from survey.web.participant.trial import TriedSteps, steps_or_page
from survey.web.participant.visit import blueprint, go_on, not_pressed, pages_of, requires
from survey.web.requests import session


@blueprint.route("/practice", methods=["GET", "POST"])
@requires(ParticipantStep.PRACTICE)
def practice() -> ResponseReturnValue:
    """Show a screen of the practice; after the last one, lead to the first question."""
    if not g.plan.practice:
        return go_on()
    g.study = answers.whole_study(session(), g.study)
    page = screen_or_page()
    if page is not None:
        return page
    if again := not_pressed(gettext("Start")):
        return again
    participants.start_questions(session(), g.participant)
    return redirect(url_for("participant.question", position=1), 303)


@blueprint.post("/practice/check")
@requires(ParticipantStep.PRACTICE)
def check() -> ResponseReturnValue:
    """Store whether the first answer to the check question was right; explain a wrong one."""
    if not g.plan.practice or pages_of(g.plan).check(g.plan) is None:
        return redirect(url_for("participant.practice"), 303)
    if again := not_pressed(gettext("Next")):
        return again
    participants.store_check(session(), g.study, g.participant, is_right=_check_is_right())
    return redirect(url_for("participant.practice", **step_after_check()), 303)


def _check_is_right() -> bool:
    asked = pages_of(g.plan).check(g.plan)
    return asked is not None and request.form.get("better") == str(asked.better)


def step_after_check() -> dict[str, Any]:
    """Return the query of the screen that follows an answer to the check question."""
    return {"step": 2, "right": 1} if _check_is_right() else {"step": 1, "again": 1}


def screen_or_page() -> ResponseReturnValue | None:
    """Return the page of a screen, or a redirect to another; None once the last one was sent.

    Each screen can be left whatever was answered; it may ask back about the answer once.
    """
    pages = pages_of(g.plan)
    screens = pages.practice_screens(g.plan)
    step = min(max(request.args.get("step", 1, type=int), 1), len(screens))
    screen = screens[step - 1]
    go = request.form.get("go")
    if go == "back":
        return redirect(_address_of(step - 1), 303)
    if pages.form(g.plan).takes_steps:
        steps_page = _steps_page(screen)
        if steps_page is not None:
            return steps_page
    else:
        view = answers.practice_view(session(), g.study, g.plan)
        sent = pages.practice_doubt(g.plan, screen.name, view) if request.method == "POST" else None
        form, doubt = sent or (None, None)
        if request.method != "POST" or (form and doubt and not form.is_settled(doubt.kind)):
            return _screen_page(screens, step, view, form, doubt)
    return None if step == len(screens) else redirect(_address_of(step + 1), 303)


def last_screen() -> str:
    """Render the last screen of the practice of a plan whose answers are not given in steps."""
    screens = pages_of(g.plan).practice_screens(g.plan)
    view = answers.practice_view(session(), g.study, g.plan)
    return _screen_page(screens, len(screens), view, None, None)


def _steps_page(screen: PracticeScreen) -> ResponseReturnValue | None:
    """Return the page of a question that is answered in steps; None once it is left."""
    sent = steps_or_page(PRACTICE, answers.usual_variant(g.study.plan), screen.template)
    is_left = isinstance(sent, TriedSteps) or pages_of(g.plan).leaves_practice(
        request.form.get("go", "")
    )
    return None if is_left else sent  # type: ignore[return-value] # no steps


def _screen_page(
    screens: Sequence[PracticeScreen], step: int, view: object, form: Any, doubt: object
) -> str:
    pages = pages_of(g.plan)
    return render_template(
        screens[step - 1].template,
        position=PRACTICE,
        question=view,
        pages=pages,
        screen=screens[step - 1].name,
        screens=[one.name for one in screens],
        step=step,
        is_last=step == len(screens),
        filled_in=form.filled_in if form else pages.empty(g.plan),
        asked=form.was_asked if form else None,
        doubt=doubt,
        check=pages.check(g.plan),
        again="again" in request.args,
        right="right" in request.args,
        token=generate_csrf(),
    )


def _address_of(step: int) -> str:
    """Return the address of a screen; of the scenario before the first."""
    at = g.at if "at" in g else lambda page, **query: url_for(f"participant.{page}", **query)
    return str(at("scenario") if step < 1 else at("practice", step=step))
