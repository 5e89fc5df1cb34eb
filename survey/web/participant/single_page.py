"""What the pages of most kinds of question have in common: a question is a single page."""

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

from sqlalchemy.orm import Session

from survey.core.studies.plan import Plan
from survey.services.participation.answers import ShownQuestion
from survey.web.forms import AnswerForm


class Doubt(NamedTuple):
    """What a page asks back about an answer; sending the answer again settles it.

    ``kind``: what may not be meant; stored with the answer that is saved then, changed or not.
    """

    kind: str


class SinglePage:
    """The pages of a kind whose question is a single page: nothing precedes it.

    Subclasses add the rest of ``TaskPages``. ``answer_form``: the form of the page, which gets the
    study's plan as ``plan``.
    """

    answer_form: ClassVar[type[AnswerForm]]
    first_template = ""

    def form(self, plan: Any) -> type[AnswerForm]:
        """Return the kind's form for this plan."""
        return _form_of(self, plan)

    def filled_in(self, plan: Any, shown: ShownQuestion) -> Hashable:
        """Return None: of a kind that is answered in steps, the view has what is stored."""

    def empty(self, plan: Any) -> Hashable:
        """Return None: there is nothing to fill in."""

    def doubt_of(self, plan: Any, form: Any, shown: Callable[[], ShownQuestion]) -> Doubt | None:
        """Return None: an answer means what it says."""
        return None

    def filled_in_again(self, plan: Any, shown: ShownQuestion, form: AnswerForm) -> Hashable:
        """Return the values of the form."""
        return form.filled_in

    def remark(self, shown: ShownQuestion) -> str:
        """Return nothing: an answer counts as it was given."""
        return ""

    def explanations(self, plan: Any) -> tuple[()]:
        """Return no templates: there is no practice."""
        return ()

    def check(self, plan: Any) -> None:
        """Return None: no question checks whether the task is understood."""

    def first_form(self, plan: Any, shown: ShownQuestion) -> None:
        """Return None: nothing precedes a question."""

    def preview_first_form(self, plan: Any) -> None:
        """Return None: nothing precedes a question."""

    def filled_in_after(self, first: Any) -> None:
        """Nothing precedes a question."""

    def first_doubt_of(self, plan: Any, form: Any, shown: ShownQuestion) -> None:
        """Nothing precedes a question."""

    def save_first(
        self, session: Session, plan: Any, participant: Any, position: int, form: Any
    ) -> None:
        """Nothing precedes a question."""


@lru_cache(maxsize=100)
def _form_of(pages: SinglePage, plan: Plan) -> type[AnswerForm]:
    form = pages.answer_form
    return type(form.__name__, (form,), {"plan": plan})
