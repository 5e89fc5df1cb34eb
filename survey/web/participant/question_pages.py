"""The page of a question: from what is stored, or again as it was filled in."""

from secrets import token_hex
from typing import Any

from flask import g, render_template, request
from flask_wtf.csrf import generate_csrf
from markupsafe import escape

from survey.core.stimuli.blinding import BlindedQuestion
from survey.core.stimuli.words import marked
from survey.services import presentations, tokens
from survey.services.presentations import Shown
from survey.services.whereabouts import PRACTICE
from survey.web.addresses import here
from survey.web.database import session
from survey.web.language import gettext
from survey.web.participant.filled_in import FilledIn
from survey.web.participant.pages import has_personal_link, secret_key
from survey.web.participant.question_form import (
    QuestionForm,
    RankingForm,
    question_form,
    ranking_form,
)
from survey.web.parts import part
from survey.web.wording import answer_in_words

STALE = marked(
    "This question was answered in another window after this page was opened. Saved there is: "
    "%(stored)s. What you see below is not saved; to use it instead, save again."
)
UNKNOWN_KEY = marked("Please check what is ticked and save once more.")
UNSAVED = marked(
    "The survey could not store it just now. It is kept on this page; send it again in a moment. "
    "However often it is sent, it is stored once."
)


def show(position: int) -> str:
    """Render a question from what is stored."""
    shown = presentations.find_presentation(session(), g.participant, position)
    if ranks_first(shown):
        return ranking_page(position, ranking_form(g.plan.letters)(formdata=None), shown.blinded)
    letters = g.plan.letters
    filled_in = (
        FilledIn.answer(shown.stored, letters)
        if shown.stored
        else FilledIn.ranking(shown.ranked_first, letters)
    )
    return _question_page(position, shown, filled_in, _next_key(shown))


def show_again(position: int, form: QuestionForm, *, stale: bool = False) -> str:
    """Show a form again as it was filled in, ready to be sent again."""
    shown = presentations.find_presentation(session(), g.participant, position)
    if stale:
        stored = shown.stored
        told = stored and gettext(STALE, stored=answer_in_words(stored.clicked, stored.own))
        form.choice.errors = [told or gettext(UNKNOWN_KEY)]
        form.submission_key.data = _next_key(shown)
    return _again(position, shown, form)


def show_unsaved(position: int, sentence: str = UNSAVED) -> str:
    """Show a form that could not be stored as it was filled in; a script sends it again."""
    shown = presentations.find_presentation(session(), g.participant, position)
    if ranks_first(shown):
        form = ranking_form(g.plan.letters)()
        return ranking_page(position, form, shown.blinded, sentence)
    return _again(position, shown, voting_form()(), sentence)


def _next_key(shown: Shown) -> str:
    return presentations.next_key(secret_key(), shown)


def voting_form() -> type[QuestionForm]:
    """Return the form of this study's questions: a label for each measure, and its letters."""
    return question_form(len(g.plan.measures), g.plan.letters)


def ranking_page(
    position: int, form: RankingForm, blinded: BlindedQuestion, unsaved: str = ""
) -> str:
    """Render the page that asks for one's own ranking before the methods are shown."""
    return render_template(
        "participant/ranking.html",
        position=position,
        form=form,
        question=blinded,
        problems=_problems(form, unsaved),
        unsaved=unsaved,
        **_counts(),
    )


def _again(position: int, shown: Shown, form: QuestionForm, unsaved: str = "") -> str:
    return _question_page(
        position,
        shown,
        form.filled_in,
        form.submission_key.data or "",
        active_seconds=form.seconds,
        problems=_problems(form, unsaved),
        unsaved=unsaved,
    )


def _question_page(
    position: int, shown: Shown, filled_in: FilledIn, submission_key: str, **sent: Any
) -> str:
    """Render a question; ``sent``: what there is to say of a form that was sent.

    Where nothing is to be said, the page is kept for all who see it alike, with marks in
    place of what is one participant's own.
    """
    own = {
        "token": generate_csrf(),
        "submission_key": submission_key,
        "resume_code": tokens.resume_code(secret_key(), g.participant.public_id),
    }
    if position == PRACTICE or sent:
        return _rendered(position, shown, filled_in, **own, **sent)
    page = part(
        "question",
        g.plan,
        position,
        shown.blinded,
        filled_in,
        shown.stored is None,
        *_counts().values(),
        has_personal_link(),
        here(),
        caller=lambda: _rendered(position, shown, filled_in, **MARKS),
    )
    for name, mark in MARKS.items():
        page = page.replace(mark, escape(own[name]))
    return page


# Nobody knows them, so nothing on a page can be taken for one.
MARKS = {name: token_hex() for name in ("token", "submission_key", "resume_code")}


def _rendered(position: int, shown: Shown, filled_in: FilledIn, **content: Any) -> str:
    is_practice = position == PRACTICE
    return render_template(
        "participant/practice.html" if is_practice else "participant/question.html",
        position=position,
        question=shown.blinded,
        stored=shown.stored,
        confirmed=is_practice and shown.stored is not None and request.method == "GET",
        filled_in=filled_in,
        **_counts(),
        **content,
    )


def _problems(form: QuestionForm | RankingForm, unsaved: str) -> list[tuple[str, str]]:
    return [("", gettext(unsaved))] if unsaved else form.problems


def _counts() -> dict[str, int]:
    answered = g.place.questions.values()
    return {"saved": sum(answered), "total": len(answered)}


def ranks_first(shown: Shown) -> bool:
    """Whether one's own ranking is still to be given before the columns may be seen."""
    return g.plan.rank_first and shown.ranked_at is None
