"""Simulated annotators: they take the first tiles of a query to be relevant, and err at times."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from bs4 import Tag

from survey.core.tasks.labelling import LabellingPlan
from survey.errors import SurveyError


class Annotator(NamedTuple):
    """What a bot takes to be relevant: the first tiles of the first batch; ``error``: how often
    it marks a tile the other way, in [0, 1].
    """

    relevant: int
    error: float

    def as_json(self) -> dict[str, float]:
        """Return both as plain values."""
        return self._asdict()


class LabellingBot:
    """The bots of the kind of question "labelling", as the registry of bots holds them."""

    def preference(
        self,
        plan: LabellingPlan,  # noqa: ARG002 - see TaskBot
        text: str | None,
        pictures: Mapping[str, str],  # noqa: ARG002 - see TaskBot
    ) -> Annotator:
        """Read "5:0.1": five relevant tiles, an error in ten; by default that one."""
        match = re.fullmatch(r"([0-9]{1,2}):(0(?:\.[0-9]{1,3})?|1)", text or "5:0.1")
        if match is None:
            raise SurveyError(
                f"{text!r} is no preference; write how many of the first tiles are relevant and "
                "the share of errors, like 5:0.1."
            )
        return Annotator(int(match[1]), float(match[2]))

    def answer(
        self, form: Tag, plan: LabellingPlan, preference: Annotator, chance: np.random.Generator
    ) -> dict[str, Any] | None:
        """Mark the first batch and refine; mark the second and end the query."""
        if form.select_one("[name=step_key]") is None:
            return None
        tiles = [str(each["value"]) for each in form.select("[name=document]")]
        is_first = str(form.select("[name=batch]")[0]["value"]) == "1"
        marked = []
        for number, tile in enumerate(tiles):
            is_relevant = is_first and number < preference.relevant
            if is_relevant != (chance.random() < preference.error):
                marked.append(tile)
        refines = is_first and form.select_one("button[value=refine]") is not None
        go = "refine" if refines else "done"
        return {"document": marked, "grade": str(plan.highest), "go": go}
