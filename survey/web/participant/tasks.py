"""The pages of each kind of question, found by its name.

What all kinds share of a question's page is in ``questions``. A kind says here which form is
filled in, which templates show it, and how an answer is said in words.
"""

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

from sqlalchemy.orm import Session

from survey.core.studies.plan import Plan
from survey.services.participation.answers import Shown
from survey.web.forms import Form
from survey.web.participant.answer_form import AnswerForm
from survey.web.participant.ordering import OrderingPages


class TaskPages(Protocol):
    """The pages of a kind of question.

    ``work_template``: a part of the entry page that says what taking part is.
    ``question_template``, ``practice_template``: the pages. ``answer_template``: a part of
    other pages that shows an answer, ``shown.stored``. ``first_template``: of a page that may
    come before the question's, see ``first_form``.
    """

    work_template: str
    question_template: str
    practice_template: str
    answer_template: str
    first_template: str

    def form(self, plan: Any) -> type[AnswerForm]:
        """Return the form of a question."""

    def filled_in(self, plan: Any, shown: Shown) -> Hashable:
        """Return what a page shows as filled in before anything is sent: the stored answer."""

    def empty(self, plan: Any) -> Hashable:
        """Return what a page shows on which nothing is filled in."""

    def in_words(self, answer: Any) -> str:
        """Return an answer in words, for the middle of a sentence."""

    def sent_in_words(self, sent: Mapping[str, list[str]]) -> str:
        """Return in words what a form held; "" where it is none of this kind's.

        ``sent`` is unchecked, and nothing is known of the study.
        """

    def example_answer(self) -> Any:
        """Return an answer for the pages of a preview."""

    def first_form(self, plan: Any, shown: Shown) -> type[Form] | None:
        """Return the form of a page that comes before the question's now, None for no page."""

    def preview_first_form(self, plan: Any) -> type[Form] | None:
        """Return the form of the page that a preview shows before a question's."""

    def save_first(
        self, session: Session, plan: Any, participant: Any, position: int, form: Any
    ) -> None:
        """Store what was filled in on the page before the question's, and commit."""


TASK_PAGES: dict[str, TaskPages] = {"ordering": OrderingPages()}


def pages_of(plan: Plan) -> TaskPages:
    """Return the pages of a plan's kind of question."""
    return TASK_PAGES[plan.kind]
