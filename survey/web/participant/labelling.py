"""The pages of labelling: a form of a batch, and an answer in words."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flask import request
from wtforms import HiddenField

from survey.core.tasks.labelling import (
    ASKED,
    BACK,
    DONE,
    LEAVE,
    NEXT,
    REFINE,
    TURN,
    UNFINISHED,
    UNMARKED,
    UNSEEN,
    LabellingPlan,
    LabellingShown,
    LabellingStep,
    LabellingView,
    steps_from_form,
)
from survey.core.tasks.steps import Done
from survey.services.participation.answers import ShownQuestion
from survey.web.forms import AnswerForm
from survey.web.language import gettext
from survey.web.participant.single_page import Doubt, SinglePage

TILE = re.compile(r"[1-9][0-9]?")
ACTIONS = {"next": NEXT, "refine": REFINE, "previous": BACK, "done": DONE, "back": LEAVE}


class LabellingForm(AnswerForm):
    """A batch: tiles and their grades.

    ``document``: the number of a tile, ``grade``: its grade; both repeated, or one grade for all.
    With ``whole`` the grade of every other tile of the batch is 0, else it stays. ``seen``: the
    numbers of the tiles that were in view, from a page whose script knows; repeated, or with
    spaces between. ``go``: "next" (batch; "done" where none follows), "refine", "previous" (batch),
    "done", "back", or "" for marks alone.
    """

    asks = confirms = ASKED
    takes_steps = True
    is_last = False
    plan: LabellingPlan

    step_key = HiddenField()
    batch = HiddenField()
    whole = HiddenField()

    def validate(self, extra_validators: Any = None) -> bool:
        """Check that batch, tiles and grades are whole numbers that the page can send."""
        super().validate(extra_validators)
        is_batch = re.fullmatch("[1-9][0-9]{0,4}", self.batch.data or "")
        tiles, grades = request.form.getlist("document"), request.form.getlist("grade")
        numbers = [*tiles, *(self._seen or ())]
        fits = all(map(TILE.fullmatch, numbers)) and all(re.fullmatch("[0-3]", g) for g in grades)
        if not is_batch or not fits or (len(grades) != len(tiles) > 0 and len(grades) != 1):
            self.batch.errors = [gettext("Something was ticked that this page does not offer.")]
        return not self.errors

    @property
    def grades(self) -> dict[int, int]:
        """The grades by the number of their tile."""
        tiles, grades = request.form.getlist("document"), request.form.getlist("grade")
        pairs = zip(tiles, grades * len(tiles) if len(grades) == 1 else grades, strict=False)
        return {int(tile): int(grade) for tile, grade in pairs}

    @property
    def _seen(self) -> list[str] | None:
        if "seen" not in request.form:
            return None
        return " ".join(request.form.getlist("seen")).split()

    def steps_for(self, shown: LabellingShown, find: Any) -> Sequence[LabellingStep]:
        """Return the marks that the form changes, what was in view, and what its button does."""
        action = ACTIONS.get(self.go.data or "", "")
        seen = self._seen
        steps = steps_from_form(
            *(self.plan, shown, find, int(self.batch.data), self.grades, action),
            is_whole=bool(self.whole.data),
            seen=None if seen is None else [*map(int, seen)],
        )
        self.is_last = action == NEXT and (not steps or steps[-1].action not in (NEXT, TURN))
        return steps

    @property
    def is_done(self) -> bool:
        """Whether the query is done: also where the next batch is wanted, and none follows."""
        return super().is_done or self.is_last

    @property
    def knows_view(self) -> bool:
        """Whether the page had a script that knows which tiles were in view."""
        return self._seen is not None

    @property
    def answer(self) -> Done:
        """The answer of a form whose steps are stored."""
        return Done(self.stored_steps)

    @property
    def filled_in(self) -> tuple[str, frozenset[tuple[int, int]]]:
        """The number of the batch, and the grades of its tiles."""
        is_valid = not self.batch.errors
        return self.batch.data or "", frozenset(self.grades.items()) if is_valid else frozenset()

    def add_error(self, sentence: str) -> None:
        """Add an error of the whole form; the page then shows the stored marks."""
        self.batch.data, self.batch.errors = "", [sentence]

    def control_id(self, field: Any) -> str:
        """Return the id of the element that an error leads to."""
        return "tiles" if field is self.batch else str(field.name)


class LabellingPages(SinglePage):
    """The pages of the kind of question "labelling", as the registry of pages holds them."""

    answer_form = LabellingForm
    variant_words = ("Seed", "A whole number, from which random orders follow.")
    work_template = "participant/labelling/_work.html"
    question_template = practice_template = "participant/labelling/question.html"
    answer_template = "participant/labelling/_answer.html"

    def doubt_of(
        self, plan: LabellingPlan, form: LabellingForm, shown: Callable[[], ShownQuestion]
    ) -> Doubt | None:
        """Return the first doubt about a query that is done; a query is asked about once."""
        question = shown()
        asked = form.was_asked or question.asked_before
        if asked:
            form.asked.data = asked
            return None
        view: LabellingView = question.view
        if form.knows_view and not all(tile.is_looked_at for tile in view.tiles):
            return Doubt(UNSEEN)
        if not view.relevant:
            return Doubt(UNMARKED)
        if view.has_next and any(tile.grade for tile in view.tiles):
            return Doubt(UNFINISHED)
        return None

    def in_words(self, answer: Done) -> str:
        """Return that the query is done."""
        return gettext("done")

    def sent_in_words(self, sent: Mapping[str, list[str]]) -> str:
        """Return in words how many tiles of a form are marked."""
        if "step_key" not in sent or "batch" not in sent:
            return ""
        tiles, grades = sent.get("document", []), sent.get("grade", [])
        marked = [each for each in grades if each in ("1", "2", "3")]
        return gettext(
            "%(count)s marked", count=len(tiles) if len(grades) == 1 and marked else len(marked)
        )

    def example_answer(self) -> Done:
        """Return an answer for a preview of pages."""
        return Done(1)
