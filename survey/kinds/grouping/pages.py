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
    MERGE,
    NAME_OF_UNKNOWN,
    NEW,
    PUT,
    RENAME,
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


class GroupingForm(AnswerForm):
    """Selected tiles, names of groups, and the button that was pressed.

    ``document``: the number of a tile, repeated. ``go``: "new" or "" (into the group that
    ``group`` names), "put-3" (into group 3), "take-3", "rename-3", "merge-3", "adopt-0", "undo",
    "rest" (what is left is unknown), "done", "back", or "next", which Enter presses: "new" where
    tiles are selected and ``group`` has a name, else "done". ``name-3`` is the name of a group
    that is renamed, ``into-3`` the number of the group that it is merged into.
    """

    asks = confirms = ASKED
    takes_steps = True
    plan: GroupingPlan

    step_key = HiddenField()
    group = HiddenField()
    stays = False

    def validate(self, extra_validators: object = None) -> bool:
        """Check that a button of this page was pressed, with what it needs."""
        if self.go.data == "next":
            selected = request.form.getlist("document") and request.form.get("group", "").strip()
            self.go.data = NEW if selected else DONE
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
        left = len(shown.unplaced) if self.go.data == DONE else 0
        self.stays = bool(left or steps)
        if left:
            self.group.errors = [
                ngettext(
                    "%(count)s is in no group yet. Place it, or press “The others cannot be "
                    "placed”.",
                    "%(count)s are in no group yet. Place them, or press “The others cannot be "
                    "placed”.",
                    left,
                    count=left,
                )
            ]
        return steps

    @property
    def is_done(self) -> bool:
        """Whether all is placed, and the earlier groupings were shown where they are."""
        return super().is_done and not self.stays

    @property
    def answer(self) -> Done:
        """The answer of a form whose steps are stored."""
        return Done(max(1, self.stored_steps))

    @property
    def filled_in(self) -> tuple[frozenset[int], str]:
        """The selected tiles and the typed name, of a form with an error."""
        sent = self._sent
        return (sent.tiles, sent.name) if self.errors else (frozenset(), "")

    def add_error(self, sentence: str) -> None:
        """Add an error of the whole form."""
        self.group.errors = [sentence]

    def control_id(self, field: Field) -> str:
        """Return the id of the first tile."""
        return "tile" if field is self.group else str(field.name)
