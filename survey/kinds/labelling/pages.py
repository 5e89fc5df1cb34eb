"""The form of labelling: a batch, its marks, and what was in view."""

import re
from collections.abc import Sequence
from dataclasses import replace

from flask import request
from wtforms import Field, HiddenField

from survey.core.collections.items import FindItems
from survey.kinds.labelling.answer import (
    ASKED,
    BACK,
    CANNOT_JUDGE,
    DONE,
    LEAVE,
    NEXT,
    REFINE,
    TURN,
    UNSEEN,
    LabellingShown,
    LabellingStep,
    steps_from_form,
)
from survey.kinds.labelling.plan import LabellingPlan
from survey.kinds.steps import Done
from survey.web.forms import AnswerForm
from survey.web.language import gettext

TILE = re.compile(r"[1-9][0-9]?")
GRADE_FIELD = "grade-"  # with the number of a tile
CANNOT_VALUE = "x"  # of a grade: the document cannot be judged
BUTTON_ACTIONS = {"next": NEXT, "refine": REFINE, "previous": BACK, "done": DONE, "back": LEAVE}


class LabellingForm(AnswerForm):
    """A batch, which participants call a page: tiles and their grades.

    ``document``: the number of a tile, ``grade``: its grade; both repeated, or one grade for all.
    With ``whole`` the grade of every other tile of the batch is 0, else it stays. ``seen``: the
    numbers of the tiles that were in view, from a page whose script knows; repeated, or with
    spaces between. ``go``: "next" (batch; "done" where none follows), "refine", "previous" (batch),
    "done", "back", or "" for marks alone. "next" asks first about tiles that were not in view.

    With named grades, ``grade-1``, ``grade-2`` … are those of the tiles; tiles without one stay,
    and "x" says that the document cannot be judged.
    """

    asks = confirms = ASKED
    takes_steps = True
    is_last = False
    plan: LabellingPlan

    step_key = HiddenField()
    batch = HiddenField()
    whole = HiddenField()

    def validate(self, extra_validators: object = None) -> bool:
        """Check that batch, tiles and grades are whole numbers that the page can send."""
        super().validate(extra_validators)
        is_batch = re.fullmatch("[1-9][0-9]{0,4}", self.batch.data or "")
        tiles, grades = request.form.getlist("document"), request.form.getlist("grade")
        numbers = [*tiles, *self._graded, *(self._seen or ())]
        offered = {"0", "1", "2", "3"}
        if self.plan.grades:
            offered = {str(each.value) for each in self.plan.grades}
            offered |= {CANNOT_VALUE} if self.plan.cannot_judge else set()
        sent = {*grades, *(self._graded.values())}
        fits = all(map(TILE.fullmatch, numbers)) and sent <= offered
        if not is_batch or not fits or (len(grades) != len(tiles) > 0 and len(grades) != 1):
            self.batch.errors = [gettext("Something was ticked that this page does not offer.")]
        return not self.errors

    @property
    def grades(self) -> dict[int, int]:
        """The grades by the number of their tile."""
        tiles, grades = request.form.getlist("document"), request.form.getlist("grade")
        pairs = zip(tiles, grades * len(tiles) if len(grades) == 1 else grades, strict=False)
        sent = {**dict(pairs), **self._graded}
        return {
            int(tile): CANNOT_JUDGE if grade == CANNOT_VALUE else int(grade)
            for tile, grade in sent.items()
        }

    @property
    def _graded(self) -> dict[str, str]:
        """The named grades by the number of their tile, as they were sent."""
        return {
            name.removeprefix(GRADE_FIELD): value
            for name, value in request.form.items()
            if name.startswith(GRADE_FIELD) and self.plan.grades
        }

    @property
    def _seen(self) -> list[str] | None:
        if "seen" not in request.form:
            return None
        return " ".join(request.form.getlist("seen")).split()

    def steps_for(self, shown: LabellingShown, find: FindItems) -> Sequence[LabellingStep]:
        """Return the marks that the form changes, what was in view, and what its button does."""
        action = BUTTON_ACTIONS.get(self.go.data or "", "")
        if action == NEXT and (self.knows_view or self.plan.grades) and not self.was_asked:
            steps = self._steps(shown, find, "")
            if self._leaves_unseen(shown, steps):
                self.asks_first = UNSEEN
                return steps
        steps = self._steps(shown, find, action)
        self.is_last = action == NEXT and (not steps or steps[-1].action not in (NEXT, TURN))
        return steps

    def _steps(
        self, shown: LabellingShown, find: FindItems, action: str
    ) -> Sequence[LabellingStep]:
        seen = self._seen
        return steps_from_form(
            *(self.plan, shown, find, int(self.batch.data), self.grades, action),
            is_whole=bool(self.whole.data),
            seen=None if seen is None else [*map(int, seen)],
        )

    def _leaves_unseen(self, shown: LabellingShown, steps: Sequence[LabellingStep]) -> bool:
        state = shown.presentation
        state = replace(state, steps=[*state.steps, *steps])
        return not state.exposure.keys() >= {*state.batches[int(self.batch.data) - 1]}

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

    def control_id(self, field: Field) -> str:
        """Return the id of the element that an error leads to."""
        return "tiles" if field is self.batch else str(field.name)
