"""The form of a question: votes for columns, or places of one's own."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from wtforms import Field, HiddenField, SelectChoice

from survey.core.stimuli.rankings import Ranking
from survey.web.forms import Form
from survey.web.language import gettext, ngettext
from survey.web.participant.filled_in import OWN, FilledIn
from survey.web.participant.question_fields import ChoiceField, PlacesField
from survey.web.wording import and_join

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
