"""The page of a question: from what is stored, or again as it was filled in."""

from typing import Any

from flask import g, render_template, request

from survey.core.stimuli.blinding import BlindedQuestion
from survey.core.stimuli.rankings import Ranking
from survey.core.stimuli.words import marked
from survey.services import answers
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
    presentation = answers.find_presentation(session(), g.participant, position)
    blinded = answers.blinded_question(presentation)
    if ranks_first(presentation):
        return ranking_page(position, ranking_form(letters_of(blinded))(formdata=None), blinded)
    stored = answers.stored_answer(session(), g.participant, presentation)
    form = question_form(blinded.labels, letters_of(blinded))(
        formdata=None,
        submission_key=answers.next_key(secret_key(), presentation, stored),
        data=_as_form_data(stored.clicked, stored.own)
        if stored
        else _places_of(presentation.ranked_first),
    )
    return _question_page(position, form, blinded, stored)


def show_again(
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


def show_unsaved(position: int, sentence: str = UNSAVED) -> str:
    """Show a form that could not be stored as it was filled in; a script sends it again."""
    presentation = answers.find_presentation(session(), g.participant, position)
    blinded = answers.blinded_question(presentation)
    if ranks_first(presentation):
        return ranking_page(position, ranking_form(letters_of(blinded))(), blinded, sentence)
    form = question_form(blinded.labels, letters_of(blinded))()
    stored = answers.stored_answer(session(), g.participant, presentation)
    return _question_page(position, form, blinded, stored, sentence)


def ranking_page(
    position: int, form: RankingForm, blinded: BlindedQuestion, unsaved: str = ""
) -> str:
    """Render the page that asks for one's own ranking before the methods are shown."""
    return render_template(
        "participant/ranking.html", question=blinded, **_common(position, form, unsaved)
    )


def _question_page(
    position: int, form: QuestionForm, blinded: BlindedQuestion, stored: Any, unsaved: str = ""
) -> str:
    return render_template(
        "participant/practice.html" if position == PRACTICE else "participant/question.html",
        question=blinded,
        stored=stored,
        confirmed=position == PRACTICE and stored is not None and request.method == "GET",
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


def ranks_first(presentation: Any) -> bool:
    """Whether one's own ranking is still to be given before the columns may be seen."""
    return g.plan.rank_first and presentation.ranked_at is None


def letters_of(question: BlindedQuestion) -> tuple[str, ...]:
    """Return a question's letters in the order of the alphabet."""
    return tuple(sorted(question.letters))


def _as_form_data(clicked: frozenset[int], own: Ranking | None) -> dict[str, Any]:
    """Return a stored answer as the form shows it."""
    ticked = [OWN] if own else [str(label) for label in sorted(clicked)]
    return {"choice": ticked} | _places_of(own)


def _places_of(own: Ranking | None) -> dict[str, Any]:
    """Return an own ranking as the form shows it."""
    return {f"rank-{letter}": str(n) for letter, n in own.places.items()} if own else {}
