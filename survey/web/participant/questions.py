"""Practice, the questions, the review of all answers, and the end."""

from typing import Any

from flask import g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from survey.core.stimuli.blinding import BlindedQuestion
from survey.core.stimuli.rankings import Ranking
from survey.core.stimuli.words import marked
from survey.services import answers, participants
from survey.services.answers import Answer, Outcome
from survey.services.whereabouts import PRACTICE, Step, whereabouts
from survey.web.database import session
from survey.web.forms import Form
from survey.web.language import gettext
from survey.web.participant.pages import (
    address_of,
    blueprint,
    credit,
    go_on,
    reached,
    secret_key,
)
from survey.web.participant.question_form import (
    OWN,
    QuestionForm,
    RankingForm,
    question_form,
    ranking_form,
)
from survey.web.wording import answer_in_words

STALE = marked(
    "This question was answered in another window after this page was opened. Saved there is: "
    "%(stored)s. What you see below is not saved; to use it instead, save again."
)
UNKNOWN_KEY = marked("Please check what is ticked and save once more.")


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
        return go_on(session())
    return show(position)


@blueprint.post("/q/<int(max=99):position>")
@reached(Step.PRACTICE)
def answer_question(position: int) -> ResponseReturnValue:
    """Store an answer and go on; with a mistake, show the page again as it was filled in."""
    if position < 1 or _is_ahead(position):
        return go_on(session())
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
    return go_on(session())


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
    listed = answers.all_answers(session(), g.participant)
    return render_template(
        "participant/review.html", answers=listed, form=form, problems=form.problems
    )


def show(position: int) -> ResponseReturnValue:
    """Render a question from what is stored."""
    presentation = answers.find_presentation(session(), g.participant, position)
    blinded = answers.blinded_question(presentation)
    if _ranks_first(presentation):
        return _ranking_page(position, ranking_form(_letters(blinded))(formdata=None), blinded)
    stored = answers.stored_answer(session(), g.participant, presentation)
    first = presentation.ranked_first
    form = question_form(blinded.labels, _letters(blinded))(
        formdata=None,
        submission_key=answers.next_key(secret_key(), presentation, stored),
        data=as_form_data(stored.clicked, stored.own) if stored else places_of(first),
    )
    return _question_page(position, form, blinded, stored)


def answer(position: int) -> ResponseReturnValue:
    """Check, store, go on."""
    db = session()
    presentation = answers.find_presentation(db, g.participant, position)
    blinded = answers.blinded_question(presentation)
    if _ranks_first(presentation):
        return _rank(position, presentation, blinded)
    form = question_form(blinded.labels, _letters(blinded))()
    back = form.go.data == "back" and position > PRACTICE
    if back and form.is_empty:
        return redirect(_address_before(position), 303)
    if not form.validate_on_submit():
        return _again(position, form, blinded, presentation), 400
    given = Answer(form.clicked, form.own)
    key = form.submission_key.data or ""
    onward_to = None if back or position == PRACTICE else position + 1
    outcome = answers.save_answer(
        db, secret_key(), g.participant, presentation, given, key, form.seconds, onward_to
    )
    if outcome == Outcome.STALE:
        return _again(position, form, blinded, presentation, stale=True), 409
    if back:
        return redirect(_address_before(position), 303)
    return redirect(url_for("participant.practice"), 303) if position == PRACTICE else go_on(db)


def _rank(position: int, presentation: Any, blinded: BlindedQuestion) -> ResponseReturnValue:
    """Store one's own ranking; the methods come on the next page."""
    form = ranking_form(_letters(blinded))()
    if form.go.data == "back" and position > PRACTICE:
        return redirect(_address_before(position), 303)
    if not form.validate_on_submit() or form.ordering is None:
        return _ranking_page(position, form, blinded), 400
    answers.save_first_ranking(session(), g.participant, presentation, form.ordering)
    return redirect(request.path, 303)


def _ranks_first(presentation: Any) -> bool:
    """Whether one's own ranking is still to be given before the columns may be seen."""
    return g.plan.rank_first and presentation.ranked_at is None


def _again(
    position: int,
    form: QuestionForm,
    blinded: BlindedQuestion,
    presentation: Any,
    *,
    stale: bool = False,
) -> str:
    """Show a form again as it was filled in, ready to be sent again."""
    stored = answers.stored_answer(session(), g.participant, presentation)
    if stale:
        told = stored and gettext(STALE, stored=answer_in_words(stored.clicked, stored.own))
        form.choice.errors = [told or gettext(UNKNOWN_KEY)]
        form.submission_key.data = answers.next_key(secret_key(), presentation, stored)
    return _question_page(position, form, blinded, stored)


def _ranking_page(position: int, form: RankingForm, blinded: BlindedQuestion) -> str:
    return render_template(
        "participant/ranking.html",
        position=position,
        form=form,
        problems=form.problems,
        question=blinded,
        saved=sum(g.place.questions.values()),
        total=len(g.place.questions),
    )


def _question_page(position: int, form: QuestionForm, blinded: BlindedQuestion, stored: Any) -> str:
    return render_template(
        "participant/practice.html" if position == PRACTICE else "participant/question.html",
        position=position,
        form=form,
        problems=form.problems,
        question=blinded,
        stored=stored,
        saved=sum(g.place.questions.values()),
        total=len(g.place.questions),
        confirmed=position == PRACTICE and stored is not None and request.method == "GET",
    )


def as_form_data(clicked: frozenset[int], own: Ranking | None) -> dict[str, Any]:
    """Return a stored answer as the form shows it."""
    ticked = [OWN] if own else [str(label) for label in sorted(clicked)]
    return {"choice": ticked} | places_of(own)


def places_of(own: Ranking | None) -> dict[str, Any]:
    """Return an own ranking as the form shows it."""
    return {f"rank-{letter}": str(n) for letter, n in own.places.items()} if own else {}


def _letters(question: BlindedQuestion) -> tuple[str, ...]:
    return tuple(sorted(question.letters))


def _is_ahead(position: int) -> bool:
    """Whether a question before this one is still open."""
    return not all(done for earlier, done in g.place.questions.items() if earlier < position)


def _address_before(position: int) -> str:
    if position == 1:
        return url_for("participant.practice" if g.plan.practice else "participant.scenario")
    return url_for("participant.question", position=position - 1)
