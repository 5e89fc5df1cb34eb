"""The fields and checks that the forms of all kinds of question share."""

from collections.abc import Hashable
from typing import Any

from wtforms import HiddenField

from survey.web.forms import Form

LONGEST_BREAK = 24 * 3600.0


class AnswerForm(Form):
    """The form of a question; each kind adds its fields and the answer that they make.

    ``submission_key``: names the revision of the answer that the form showed.
    """

    submission_key = HiddenField()
    active_seconds = HiddenField()
    go = HiddenField()

    @property
    def answer(self) -> Any:
        """The answer that a valid form holds, of the kind's own type."""
        raise TypeError(f"{type(self).__name__} has no answer")

    @property
    def filled_in(self) -> Hashable:
        """The values that the page shows when the form is shown again."""
        raise TypeError(f"{type(self).__name__} shows nothing")

    @property
    def is_empty(self) -> bool:
        """Whether no field is filled in, so that going back loses nothing."""
        raise TypeError(f"{type(self).__name__} does not say whether it is empty")

    def refuse(self, sentence: str) -> None:  # noqa: ARG002 - for subclasses
        """Add an error beside the answer's fields."""
        raise TypeError(f"{type(self).__name__} has no place for an error")

    @property
    def seconds(self) -> float | None:
        """How long the page was in view by the browser's measure; None for an unusable number."""
        try:
            seconds = float(self.active_seconds.data or "nan")
        except ValueError:
            return None
        return round(seconds, 1) if 0 <= seconds <= LONGEST_BREAK else None
