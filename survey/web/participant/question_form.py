"""The form of a question: votes for columns, or places of one's own."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from wtforms import Field, HiddenField, SelectChoice, SelectField, SelectMultipleField
from wtforms.validators import ValidationError

from survey.core.stimuli.rankings import Ranking
from survey.web.forms import Form
from survey.web.language import gettext, ngettext
from survey.web.participant.filled_in import OWN, FilledIn
from survey.web.wording import and_join

LONGEST_BREAK = 24 * 3600.0


class PlacesForm(Form):
    """Places of one's own for the lists of a question; subclasses know its letters."""

    letters: Sequence[str] = ()
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
        chosen = {letter: self[f"rank-{letter}"].data for letter in self.letters}
        return {letter: int(place) if place else None for letter, place in chosen.items()}

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
            self[f"rank-{self.missing[0]}"].errors = [_incomplete(self.missing)]
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
            return str(field.name)
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
    return type("RankingForm", (RankingForm,), _places(letters))


@cache
def question_form(labels: int, letters: tuple[str, ...]) -> type[QuestionForm]:
    """Make the form for a question with so many labels, 1, 2, …, and these lists."""
    choice = ChoiceField(choices=[SelectChoice(str(one)) for one in (*range(1, labels + 1), OWN)])
    return type("QuestionForm", (QuestionForm,), {"choice": choice, **_places(letters)})


def _places(letters: Sequence[str]) -> dict[str, Any]:
    places = [SelectChoice("", "–"), *(SelectChoice(str(n + 1)) for n in range(len(letters)))]
    made: dict[str, Any] = {"letters": tuple(sorted(letters))}
    for letter in sorted(letters):
        made[f"rank-{letter}"] = PlaceField(letter, choices=places, default="")
    return made


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


class PlaceField(SelectField):  # type: ignore[misc] # WTForms has no type hints
    """The place of the list it is labelled with; empty is allowed until the answer is checked."""

    data: str

    def process_formdata(self, valuelist: list[str]) -> None:
        """Keep an offered place; anything else counts as none, with an error."""
        self.data = valuelist[0].strip() if valuelist else ""
        if self.data not in {choice.value for choice in self.choices}:
            self.data = ""
            raise ValueError(
                gettext(
                    "Your place for %(letter)s: a place from 1 to %(last)s, please.",
                    letter=self.label.text,
                    last=self.choices[-1].value,
                )
            )

    def pre_validate(self, form: Form) -> None:
        """Say nothing more than process_formdata did."""
