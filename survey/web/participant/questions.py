"""Practice, the questions, the review of all answers, and the end."""

from flask import g, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from survey.core.studies.blinding import BlindedQuestion
from survey.services.operations.database import begin_writing
from survey.services.participation import participants, presentations, responses, slots
from survey.services.participation.participants import PRACTICE, Step, whereabouts
from survey.services.participation.presentations import Answer
from survey.services.participation.responses import Outcome, TooManyAnswersError
from survey.web.errors import RETRY_AFTER
from survey.web.forms import Form
from survey.web.participant.ordering import (
    QuestionForm,
    ranking_form,
    ranking_page,
    ranks_first,
    show,
    show_again,
    show_unsaved,
    voting_form,
)
from survey.web.participant.visit import address_of, blueprint, credit, go_on, reached, secret_key
from survey.web.requests import current_path, session


@blueprint.get("/practice")
@reached(Step.PRACTICE)
def practice() -> ResponseReturnValue:
    """Show the practice question with its explanation, or what was ticked there."""
    return show(PRACTICE)


@blueprint.post("/practice")
@reached(Step.PRACTICE)
def answer_practice() -> ResponseReturnValue:
    """Take the practice answer like any other; no analysis reads it."""
    return answer(PRACTICE)


@blueprint.post("/start")
@reached(Step.PRACTICE)
def start() -> ResponseReturnValue:
    """Leave practice for the first question."""
    if Form().validate_on_submit():
        participants.start_questions(session(), g.participant)
    return redirect(url_for("participant.question", position=1), 303)


@blueprint.get("/q/<int(max=99):position>")
@reached(Step.PRACTICE)
def question(position: int) -> ResponseReturnValue:
    """Show a question as this participant sees it, with the stored answer if there is one."""
    if position < 1 or _is_ahead(position):
        return go_on()
    return show(position)


@blueprint.post("/q/<int(max=99):position>")
@reached(Step.PRACTICE)
def answer_question(position: int) -> ResponseReturnValue:
    """Store an answer and go on; with a mistake, show the page again as it was filled in."""
    if position < 1 or _is_ahead(position):
        return go_on()
    return answer(position)


@blueprint.get("/review")
@reached(Step.REVIEW)
def review() -> ResponseReturnValue:
    """List all answers, to be checked and changed."""
    return _review_page(Form())


@blueprint.post("/review")
@reached(Step.REVIEW)
def hand_in() -> ResponseReturnValue:
    """Hand the answers in."""
    form = Form()
    if not form.validate_on_submit():
        return _review_page(form), 400
    participants.finish(session(), g.participant)
    return go_on()


@blueprint.get("/done")
def done() -> ResponseReturnValue:
    """Say that it is over, with the receipt; again whenever the page is revisited."""
    if g.participant is None:
        return redirect(url_for("participant.entry"))
    place = whereabouts(session(), g.participant)
    if place.step != Step.DONE:
        return redirect(address_of(place))
    return render_template("participant/done.html", form=Form(), credit=credit())


def _review_page(form: Form) -> str:
    listed = presentations.all_answers(session(), g.participant)
    return render_template(
        "participant/review.html", answers=listed, form=form, problems=form.problems
    )


def answer(position: int) -> ResponseReturnValue:
    """Check, store, go on."""
    if g.plan.rank_first:
        shown = presentations.find_presentation(session(), g.participant, position)
        if ranks_first(shown):
            return _rank(position, shown.blinded)
    form = voting_form()()
    back = form.go.data == "back" and position > PRACTICE
    if back and form.is_empty:
        return redirect(_address_before(position), 303)
    if not form.validate_on_submit():
        return show_again(position, form), 400
    try:
        outcome = _save(position, form, onward=not back and position > PRACTICE)
    except TooManyAnswersError as error:
        return show_unsaved(position, str(error)), 429, {"Retry-After": RETRY_AFTER}
    if outcome == Outcome.STALE:
        return show_again(position, form, stale=True), 409
    if back:
        return redirect(_address_before(position), 303)
    if position == PRACTICE:
        return redirect(url_for("participant.practice"), 303)
    return redirect(address_of(g.place.with_answer(position)), 303)


def _begin_to_write() -> None:
    """Wait for one's turn; a place that was left may go to someone else meanwhile."""
    begin_writing(session())
    slots.require_still_held(session(), g.study, g.participant)


def _save(position: int, form: QuestionForm, *, onward: bool) -> Outcome:
    _begin_to_write()
    return responses.save_answer(
        session(),
        secret_key(),
        g.participant,
        position,
        Answer(form.clicked, form.own),
        form.submission_key.data or "",
        form.seconds,
        position + 1 if onward else None,
    )


def _rank(position: int, blinded: BlindedQuestion) -> ResponseReturnValue:
    """Store one's own ranking; the methods come on the next page."""
    form = ranking_form(g.plan.letters)()
    if form.go.data == "back" and position > PRACTICE:
        return redirect(_address_before(position), 303)
    if not form.validate_on_submit() or form.ordering is None:
        return ranking_page(position, form, blinded), 400
    _begin_to_write()
    responses.save_first_ranking(session(), g.participant, position, form.ordering)
    return redirect(current_path(), 303)


def _is_ahead(position: int) -> bool:
    """Whether a question before this one is still open."""
    return not all(done for earlier, done in g.place.questions.items() if earlier < position)


def _address_before(position: int) -> str:
    if position == 1:
        return url_for("participant.practice" if g.plan.practice else "participant.scenario")
    return url_for("participant.question", position=position - 1)
