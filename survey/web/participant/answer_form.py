"""The form of a question, as far as all kinds of question share it."""

from collections.abc import Hashable
from typing import Any

from wtforms import HiddenField

from survey.web.forms import Form

LONGEST_BREAK = 24 * 3600.0


class AnswerForm(Form):
    """A question's form. A kind adds its fields, and says what they make together.

    ``submission_key`` tells on which state of the answer it was filled in.
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
        """What the page shows as filled in."""
        raise TypeError(f"{type(self).__name__} shows nothing")

    @property
    def is_empty(self) -> bool:
        """Whether nothing was filled in, so that going back loses nothing."""
        raise TypeError(f"{type(self).__name__} does not say whether it is empty")

    def refuse(self, sentence: str) -> None:  # noqa: ARG002 - for subclasses
        """Put an error beside what was filled in."""
        raise TypeError(f"{type(self).__name__} has no place for an error")

    @property
    def seconds(self) -> float | None:
        """How long the page was in view, as the browser says; None when it says nothing usable."""
        try:
            seconds = float(self.active_seconds.data or "nan")
        except ValueError:
            return None
        return round(seconds, 1) if 0 <= seconds <= LONGEST_BREAK else None
