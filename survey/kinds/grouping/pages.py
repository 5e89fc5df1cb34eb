"""The form of grouping: selected pictures, names of groups, and a button."""

import re
from collections.abc import Sequence

from flask import request
from wtforms import Field, HiddenField

from survey.core.collections.items import FindItems
from survey.core.studies.fields import is_storable
from survey.kinds.grouping.answer import (
    ASKED,
    DONE,
    LONGEST_GROUP_NAME,
    LOOK,
    MERGE,
    NAME_OF_UNKNOWN,
    NEW,
    PUT,
    RENAME,
    REST_DONE,
    TAKE,
    GroupingShown,
    GroupingStep,
    Sent,
    steps_from_form,
)
from survey.kinds.grouping.plan import GroupingPlan
from survey.kinds.steps import Done
from survey.web.forms import AnswerForm
from survey.web.language import gettext, ngettext

TILE = re.compile(r"[1-9][0-9]{0,2}")
BUTTON = re.compile(r"(put|take|rename|merge|adopt)-([0-9]{1,3})")


def meant() -> str:
    """Return the button that Enter pressed, where the form that was sent says "next"."""
    has_both = request.form.getlist("document") and request.form.get("group", "").strip()
    return NEW if has_both else DONE


def ends(go: str) -> bool:
    """Return whether a form was sent that says that its topic is done."""
    return go == DONE or (request.method == "POST" and go in ("next", "") and meant() == DONE)


class GroupingForm(AnswerForm):
    """Selected tiles, names of groups, and the button that was pressed.

    ``document``: the number of a tile, repeated. ``go``: "new" or "" (into the group that
    ``group`` names), "put-3" (into group 3), "take-3", "rename-3", "merge-3", "adopt-0", "undo",
    "rest" (what is left is unknown), "done", "rest-done" (both), "back", or "next", which Enter
    presses: "new" where tiles are selected and ``group`` has a name, else "done". ``name-3`` is
    the name of a group that is renamed, ``into-3`` the number of the group that it is merged into.
    ``left``: how many tiles are in no group yet, of a topic that is to be done.
    """

    asks = confirms = ASKED
    takes_steps = True
    plan: GroupingPlan

    step_key = HiddenField()
    group = HiddenField()
    stays = False
    left = 0

    def validate(self, extra_validators: object = None) -> bool:
        """Check that a button of this page was pressed, with what it needs."""
        if self.go.data == "next":
            self.go.data = meant()
        is_valid = super().validate(extra_validators)
        if problem := self._problem() if is_valid else "":
            self.group.errors = [problem]
        return not self.errors

    def _problem(self) -> str:
        sent = self._sent
        if sent.action in (PUT, TAKE, NEW) and not sent.tiles:
            return gettext("Nothing is selected yet. Select first, then choose the group.")
        if sent.action in (NEW, RENAME) and not (sent.name and is_storable(sent.name)):
            return gettext("Please type a name for the group.")
        if len(sent.name) > LONGEST_GROUP_NAME:
            return gettext(
                "A group's name has %(most)s characters at most.", most=LONGEST_GROUP_NAME
            )
        return ""

    @property
    def _sent(self) -> Sent:
        button = BUTTON.fullmatch(self.go.data or "")
        action = button[1] if button else self.go.data or NEW
        number = int(button[2]) if button else 0
        tiles = request.form.getlist("document")
        name = request.form.get(f"name-{number}" if action == RENAME else "group", "")
        name = " ".join(name.split())
        if name.casefold() == gettext("cannot be placed").casefold():
            name = NAME_OF_UNKNOWN  # as the page calls it
        into = request.form.get(f"into-{number}", "") if action == MERGE else str(number)
        return Sent(
            action,
            number if button and action != "adopt" else 0,
            frozenset(int(tile) for tile in tiles if TILE.fullmatch(tile)),
            name,
            int(into) if re.fullmatch("[0-9]{1,3}", into) else -1,
        )

    def steps_for(self, shown: GroupingShown, find: FindItems) -> Sequence[GroupingStep]:
        """Return the step that the button asks for; a topic that is not placed is not done.

        Nor does a topic that was done become undone: no step leaves a document in no group.
        """
        steps = steps_from_form(self.plan, shown, find, self._sent)
        if self.was_done and shown.after(steps).unplaced:
            self.group.errors = [
                gettext(
                    "This topic is done, so nothing can be left without a group. Put it into "
                    "another group instead."
                )
            ]
            return ()
        self.left = len(shown.unplaced) if self.go.data == DONE else 0
        self.stays = bool(self.left) or any(step.action == LOOK for step in steps)
        if self.left:
            self.group.errors = [
                ngettext(
                    "%(count)s is in no group yet",
                    "%(count)s are in no group yet",
                    self.left,
                    count=self.left,
                )
            ]
        return steps

    @property
    def is_done(self) -> bool:
        """Whether all is placed, and the earlier groupings were shown where they are."""
        return self.go.data in (DONE, REST_DONE) and not self.stays

    @property
    def answer(self) -> Done:
        """The answer of a form whose steps are stored."""
        return Done(max(1, self.stored_steps))

    @property
    def filled_in(self) -> tuple[frozenset[int], str, int]:
        """The selected tiles, the typed name and ``left``, of a form with an error."""
        sent = self._sent
        return (sent.tiles, sent.name, self.left) if self.errors else (frozenset(), "", 0)

    def add_error(self, sentence: str) -> None:
        """Add an error of the whole form."""
        self.group.errors = [sentence]

    def control_id(self, field: Field) -> str:
        """Return the id of the first tile that is in no group yet."""
        return "tile" if field is self.group else str(field.name)
