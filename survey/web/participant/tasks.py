"""The registry of the pages of each kind of question, by its name.

A kind has its forms, its templates, and its answers in words. The views that all kinds share are
in ``questions``.
"""

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

from sqlalchemy.orm import Session

from survey.core.studies.plan import Plan
from survey.services.participation.answers import ShownQuestion
from survey.web.forms import AnswerForm, Form
from survey.web.participant.ordering import OrderingPages


class TaskPages(Protocol):
    """The pages of a kind of question.

    ``work_template``: a part of the entry page that describes what taking part is.
    ``question_template``, ``practice_template``: the pages. ``answer_template``: included by
    other pages to show an answer, ``shown.stored``. ``first_template``: a page that may precede
    the question's, see ``first_form``.
    """

    work_template: str
    question_template: str
    practice_template: str
    answer_template: str
    first_template: str

    def form(self, plan: Any) -> type[AnswerForm]:
        """Return the form of a question."""

    def filled_in(self, plan: Any, shown: ShownQuestion) -> Hashable:
        """Return the values that a page shows first: those of the stored answer."""

    def empty(self, plan: Any) -> Hashable:
        """Return the values of an empty page."""

    def in_words(self, answer: Any) -> str:
        """Return an answer in words, for the middle of a sentence."""

    def sent_in_words(self, sent: Mapping[str, list[str]]) -> str:
        """Return the values of a form in words; "" for a form of another kind.

        ``sent`` is unchecked, and the study is unknown.
        """

    def example_answer(self) -> Any:
        """Return an answer for a preview of pages."""

    def first_form(self, plan: Any, shown: ShownQuestion) -> type[Form] | None:
        """Return the form of the page that precedes the question's now; None for no page."""

    def preview_first_form(self, plan: Any) -> type[Form] | None:
        """Return the form of the preceding page for a preview; None for no page."""

    def save_first(
        self, session: Session, plan: Any, participant: Any, position: int, form: Any
    ) -> None:
        """Store a valid form of the preceding page, and commit."""


TASK_PAGES: dict[str, TaskPages] = {"ordering": OrderingPages()}


def pages_of(plan: Plan) -> TaskPages:
    """Return the pages of a plan's kind of question."""
    return TASK_PAGES[plan.kind]
