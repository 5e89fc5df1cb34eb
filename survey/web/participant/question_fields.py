"""What a question is answered with: the columns that were ticked, and places of one's own."""

from collections.abc import Sequence
from typing import Any

from wtforms import Field, SelectMultipleField
from wtforms.validators import ValidationError

from survey.web.forms import Form
from survey.web.language import gettext


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
