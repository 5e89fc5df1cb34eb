"""What the table of a question shows as filled in, whether it was stored or comes from a form.

What a question is answered with: the columns that were ticked, and places of one's own.

The form of a question: votes for columns, or places of one's own.

The page of a question: from what is stored, or again as it was filled in.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from secrets import token_hex
from typing import Any

from flask import g, render_template, request
from flask_wtf.csrf import generate_csrf
from markupsafe import escape
from wtforms import Field, HiddenField, SelectChoice, SelectMultipleField
from wtforms.validators import ValidationError

from survey import tokens
from survey.core.studies.blinding import BlindedQuestion
from survey.core.studies.rankings import Ranking
from survey.core.studies.texts import marked
from survey.services.participation import presentations
from survey.services.participation.participants import PRACTICE
from survey.services.participation.presentations import Shown
from survey.web.forms import Form
from survey.web.language import gettext, ngettext
from survey.web.participant.visit import has_personal_link, secret_key
from survey.web.parts import part
from survey.web.requests import current_path, session
from survey.web.wording import and_join, answer_in_words

OWN = "own"


@dataclass(frozen=True)
class FilledIn:
    """Ticks and places; a table with the same of both looks the same.

    ``ticked``: labels "1", "2", …, or "own"; ``chosen``: each letter with its place, None for
    none as yet; ``unplaced``: the letters that are marked because they still need one.
    """

    ticked: tuple[str, ...]
    chosen: tuple[tuple[str, int | None], ...]
    unplaced: tuple[str, ...] = ()

    @classmethod
    def answer(cls, stored: Any, letters: Iterable[str]) -> "FilledIn":
        """Show an answer as it is stored; None where there is none yet."""
        if stored is None or stored.own is not None:
            return cls.ranking(stored and stored.own, letters, (OWN,) if stored else ())
        return cls.ranking(None, letters, tuple(str(label) for label in sorted(stored.clicked)))

    @classmethod
    def ranking(
        cls, own: Ranking | None, letters: Iterable[str], ticked: tuple[str, ...] = ()
    ) -> "FilledIn":
        """Show places of one's own, or none."""
        places: Mapping[str, int] = own.places if own else {}
        return cls(ticked, tuple((letter, places.get(letter)) for letter in sorted(letters)))

    @property
    def places(self) -> dict[str, int | None]:
        """The places by letter."""
        return dict(self.chosen)

    @property
    def ordering(self) -> Ranking | None:
        """The own ranking as far as it can be written out: once every list has a place."""
        complete = None not in self.places.values()
        return Ranking.by_key(self.places) if complete else None  # type: ignore[arg-type] # no None


class ChoiceField(SelectMultipleField):  # type: ignore[misc] # WTForms has no type hints
    """The ticked columns; a value that no checkbox has gets a sentence without it."""

    data: list[str]

    def pre_validate(self, form: Form) -> None:  # noqa: ARG002 - WTForms' signature
        """Refuse what the page did not offer."""
        offered = {choice.value for choice in self.choices}
        given = self.data or []
        if set(given) - offered or len(given) > len(offered):
            self.data = [value for value in given if value in offered]
            raise ValidationError(gettext("Something was ticked that this page does not offer."))


class PlacesField(Field):  # type: ignore[misc] # WTForms has no type hints
    """Places of one's own, sent as rank-A, rank-B, …; each may be empty until all is checked.

    ``misplaced``: the letters for which something was sent that is no place.
    """

    data: dict[str, int | None]

    def __init__(self, letters: Sequence[str], **kwargs: Any):
        super().__init__(**kwargs)
        self.letters, self.misplaced = letters, list[str]()
        self.offered = {str(number): number for number in range(1, len(letters) + 1)} | {"": None}

    def process(self, formdata: Any, data: Any = None, extra_filters: Any = None) -> None:  # noqa: ARG002 - WTForms' signature
        """Read the places; anything that was not offered counts as none, with an error."""
        sent = {
            letter: (formdata or {}).get(f"rank-{letter}", "").strip() for letter in self.letters
        }
        self.data = {letter: self.offered.get(place) for letter, place in sent.items()}
        self.misplaced = [letter for letter, place in sent.items() if place not in self.offered]
        self.process_errors = [
            gettext(
                "Your place for %(letter)s: a place from 1 to %(last)s, please.",
                letter=letter,
                last=len(self.letters),
            )
            for letter in self.misplaced
        ]


LONGEST_BREAK = 24 * 3600.0


class PlacesForm(Form):
    """Places of one's own for the lists of a question; subclasses have the field ``placed``."""

    active_seconds = HiddenField()
    go = HiddenField()

    @property
    def missing(self) -> list[str]:
        """The letters that have no place yet."""
        return [letter for letter, place in self.places.items() if place is None]

    @property
    def ordering(self) -> Ranking | None:
        """The own ranking, once every list has a place."""
        return self.filled_in.ordering

    @property
    def filled_in(self) -> FilledIn:
        """What the page shows of it."""
        return FilledIn((), tuple(self.places.items()))

    @property
    def places(self) -> dict[str, int | None]:
        """The places chosen so far, by letter."""
        return self.placed.data  # type: ignore[no-any-return] # WTForms has no type hints

    def target(self, field: Field) -> str:
        """Lead to the first list whose place is none, or is missing."""
        if field is not self.placed:
            return str(field.name)
        return f"rank-{[*self.placed.misplaced, *self.missing][0]}"

    @property
    def seconds(self) -> float | None:
        """How long the page was in view, as the browser says; None when it says nothing usable."""
        try:
            seconds = float(self.active_seconds.data or "nan")
        except ValueError:
            return None
        return round(seconds, 1) if 0 <= seconds <= LONGEST_BREAK else None


class RankingForm(PlacesForm):
    """One's own ranking, asked before the methods are shown; see ranking_form."""

    def validate(self, extra_validators: Any = None) -> bool:
        """Check that every list has a place."""
        super().validate(extra_validators)
        if self.missing and not self.errors:
            self.placed.errors = [_incomplete(self.missing)]
        return not self.errors

    @property
    def unplaced(self) -> list[str]:
        """The letters that still need a place, in a form with errors."""
        return self.missing if self.errors else []


class QuestionForm(PlacesForm):
    """The votes of one question. Subclasses know its labels and letters; see question_form."""

    submission_key = HiddenField()

    def validate(self, extra_validators: Any = None) -> bool:
        """Check the fields, then that they make one answer."""
        super().validate(extra_validators)
        if not self.choice.errors:
            self._check_answer()
        return not self.errors

    def _check_answer(self) -> None:
        chosen, placed = set(self.choice.data or ()), self.places
        missing = self.missing
        if not chosen and len(missing) < len(placed):
            self._refuse(
                gettext(
                    "You gave places of your own. Tick “None of these” to use them, "
                    "or tick the methods whose ordering matches yours."
                )
            )
        elif not chosen:
            self._refuse(
                gettext("Tick every method whose ordering matches yours, or “None of these”.")
            )
        elif OWN in chosen and chosen != {OWN}:
            self._refuse(
                gettext("You ticked “None of these” and a method as well. Please untick one.")
            )
        elif OWN in chosen and missing:
            self._refuse(_incomplete(missing))

    def _refuse(self, sentence: str) -> None:
        self.choice.errors = [*self.choice.errors, sentence]

    def target(self, field: Field) -> str:
        """Lead to the first list without a place, or to the first vote."""
        if field is not self.choice:
            return super().target(field)
        return f"rank-{self.unplaced[0]}" if self.unplaced else "answer"

    @property
    def unplaced(self) -> list[str]:
        """The letters that still need a place, once “None of these” is ticked with errors."""
        wanted = OWN in (self.choice.data or ()) and self.choice.errors
        return [letter for letter, place in self.places.items() if wanted and place is None]

    @property
    def filled_in(self) -> FilledIn:
        """What the table shows of it."""
        ticked, places = tuple(self.choice.data or ()), tuple(self.places.items())
        return FilledIn(ticked, places, tuple(self.unplaced))

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been ticked or placed."""
        return not self.choice.data and not any(self.places.values())

    @property
    def clicked(self) -> frozenset[int]:
        """The label numbers ticked, in a valid form."""
        return frozenset(int(label) for label in self.choice.data if label != OWN)

    @property
    def own(self) -> Ranking | None:
        """The own ranking, in a valid form that has one."""
        return self.ordering if OWN in self.choice.data else None


def _incomplete(missing: Sequence[str]) -> str:
    return ngettext(
        "Your own ordering is not complete: give a place to %(letters)s.",
        "Your own ordering is not complete: give a place to %(letters)s.",
        len(missing),
        letters=and_join(missing),
    )


@cache
def ranking_form(letters: tuple[str, ...]) -> type[RankingForm]:
    """Make the form that asks for one's own ranking of these lists."""
    return type("RankingForm", (RankingForm,), {"placed": PlacesField(sorted(letters))})


@cache
def question_form(labels: int, letters: tuple[str, ...]) -> type[QuestionForm]:
    """Make the form for a question with so many labels, 1, 2, …, and these lists."""
    choice = ChoiceField(choices=[SelectChoice(str(one)) for one in (*range(1, labels + 1), OWN)])
    fields = {"choice": choice, "placed": PlacesField(sorted(letters))}
    return type("QuestionForm", (QuestionForm,), fields)


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
        current_path(),
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
