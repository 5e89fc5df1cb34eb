"""The page of a question: from what is stored, or again as it was filled in."""

from typing import Any

from flask import g, render_template, request

from survey.core.stimuli.blinding import BlindedQuestion
from survey.core.stimuli.rankings import Ranking
from survey.core.stimuli.words import marked
from survey.services import presentations
from survey.services.presentations import Answer, Shown
from survey.services.whereabouts import PRACTICE
from survey.web.database import session
from survey.web.language import gettext
from survey.web.participant.pages import secret_key
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
UNSAVED = marked(
    "The survey could not store it just now. It is kept on this page; send it again in a moment. "
    "However often it is sent, it is stored once."
)


def show(position: int) -> str:
    """Render a question from what is stored."""
    shown = presentations.find_presentation(session(), g.participant, position)
    if ranks_first(shown):
        return ranking_page(position, ranking_form(g.plan.letters)(formdata=None), shown.blinded)
    form = voting_form()(
        formdata=None,
        submission_key=presentations.next_key(secret_key(), shown),
        data=_as_form_data(shown.stored) if shown.stored else _places_of(shown.ranked_first),
    )
    return _question_page(position, form, shown)


def show_again(position: int, form: QuestionForm, *, stale: bool = False) -> str:
    """Show a form again as it was filled in, ready to be sent again."""
    shown = presentations.find_presentation(session(), g.participant, position)
    if stale:
        stored = shown.stored
        told = stored and gettext(STALE, stored=answer_in_words(stored.clicked, stored.own))
        form.choice.errors = [told or gettext(UNKNOWN_KEY)]
        form.submission_key.data = presentations.next_key(secret_key(), shown)
    return _question_page(position, form, shown)


def show_unsaved(position: int, sentence: str = UNSAVED) -> str:
    """Show a form that could not be stored as it was filled in; a script sends it again."""
    shown = presentations.find_presentation(session(), g.participant, position)
    if ranks_first(shown):
        form = ranking_form(g.plan.letters)()
        return ranking_page(position, form, shown.blinded, sentence)
    return _question_page(position, voting_form()(), shown, sentence)


def voting_form() -> type[QuestionForm]:
    """Return the form of this study's questions: a label for each measure, and its letters."""
    return question_form(len(g.plan.measures), g.plan.letters)


def ranking_page(
    position: int, form: RankingForm, blinded: BlindedQuestion, unsaved: str = ""
) -> str:
    """Render the page that asks for one's own ranking before the methods are shown."""
    return render_template(
        "participant/ranking.html", question=blinded, **_common(position, form, unsaved)
    )


def _question_page(position: int, form: QuestionForm, shown: Shown, unsaved: str = "") -> str:
    is_practice = position == PRACTICE
    return render_template(
        "participant/practice.html" if is_practice else "participant/question.html",
        question=shown.blinded,
        stored=shown.stored,
        confirmed=is_practice and shown.stored is not None and request.method == "GET",
        **_common(position, form, unsaved),
    )


def _common(position: int, form: QuestionForm | RankingForm, unsaved: str) -> dict[str, Any]:
    return {
        "position": position,
        "form": form,
        "problems": [("", gettext(unsaved))] if unsaved else form.problems,
        "unsaved": unsaved,
        "saved": sum(g.place.questions.values()),
        "total": len(g.place.questions),
    }


def ranks_first(shown: Shown) -> bool:
    """Whether one's own ranking is still to be given before the columns may be seen."""
    return g.plan.rank_first and shown.ranked_at is None


def _as_form_data(stored: Answer) -> dict[str, Any]:
    """Return a stored answer as the form shows it."""
    ticked = [OWN] if stored.own else [str(label) for label in sorted(stored.clicked)]
    return {"choice": ticked} | _places_of(stored.own)


def _places_of(own: Ranking | None) -> dict[str, Any]:
    """Return an own ranking as the form shows it."""
    return {f"rank-{letter}": str(n) for letter, n in own.places.items()} if own else {}
