"""Simulated annotators: they mark documents by known relevance, with a share of errors."""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
from selectolax.lexbor import LexborNode

from survey.core.collections.items import Shown
from survey.core.collections.runs import Judgements, read_judgements
from survey.core.text_input import FileFaults, Json, lines_of
from survey.errors import SurveyError
from survey.kinds.labelling.pages import GRADE_FIELD
from survey.kinds.labelling.plan import LabellingPlan
from survey.services.exchange.input_files import read_text
from survey.services.planning.bot_sight import Sight

BY_DEFAULT = "5:0.1"
MOST_ROUNDS = 3  # new rankings of a query that a bot asks for


class BotAnnotator(NamedTuple):
    """What a bot takes to be relevant, and how often it marks a tile the other way.

    ``text``: the file of judgements, or ``first`` as a text. ``first``: how many of the first
    batch's first tiles are relevant, where ``judgements`` is None. ``documents``, ``topics``: tell
    which document or topic a part of the page shows. ``error``: the share of errors, in [0, 1].
    """

    text: str
    first: int
    judgements: Judgements | None
    documents: Sight
    topics: Sight
    error: float

    def as_json(self) -> dict[str, Json]:
        """Return what is relevant, and the share of errors, as the summary of the bots has it."""
        relevant = self.first if self.judgements is None else self.text
        return {"relevant": relevant, "error": self.error}

    def grade(self, topic: str, number: int, document: str, *, is_first: bool) -> int:
        """Return how relevant a tile is, 0 if not at all; ``number``: in its batch, from 0."""
        if self.judgements is None:
            return int(is_first and number < self.first)
        return max(0, self.judgements.get(topic, {}).get(document, 0))


class LabellingBot:
    """How simulated annotators answer."""

    def careless(self, plan: LabellingPlan) -> str:
        """Return an error in every second tile: marks at random."""
        return "5:0.5"

    def preference(self, plan: LabellingPlan, text: str | None, shown: Shown) -> BotAnnotator:
        """Parse "5:0.1" (five relevant tiles, an error in ten) or "FILE:0.1" with judgements.

        Raises SurveyError for other texts, and for faults of the file.
        """
        match = re.fullmatch(r"(.+):(0(?:\.[0-9]{1,3})?|1)", text or BY_DEFAULT)
        if match is None:
            raise SurveyError(
                f"{text!r} is no preference; write how many of the first tiles are relevant, or a "
                "file of judgements, and the share of errors, like 5:0.1 or qrels.txt:0.1."
            )
        truth, error = match[1], float(match[2])
        sights = Sight(shown.documents), Sight(shown.topics)
        if re.fullmatch("[0-9]{1,2}", truth):
            return BotAnnotator(truth, int(truth), None, *sights, error)
        faults = FileFaults()
        judgements = read_judgements(truth, lines_of(read_text(Path(truth))), faults)
        faults.raise_any()
        return BotAnnotator(truth, 0, judgements, *sights, error)

    def respond(
        self,
        form: LexborNode,
        plan: LabellingPlan,
        preference: BotAnnotator,
        chance: np.random.Generator,
    ) -> dict[str, str | list[str]] | None:
        """Return the form's fields that mark a batch, and refine while it has marks.

        After MOST_ROUNDS, or a batch without marks, the query ends; of a pool each document is
        judged. All tiles are sent as seen. None for a form that does not ask for marks.
        """
        if form.css_first("[name=step_key]") is None:
            return None
        if plan.grades:
            return self._named_grades(form, plan, preference, chance)
        batch = int(form.css("[name=batch]")[0].attributes["value"] or 1)
        is_first = batch == 1
        topic = preference.topics.find_in(form.css_first(".find"))
        documents, grades = [], []
        for number, tile in enumerate(form.css("[name=document]")):
            document = preference.documents.find_in(tile.parent)
            grade = preference.grade(topic, number, document, is_first=is_first)
            if chance.random() < preference.error:
                grade = 0 if grade else plan.highest
            elif preference.judgements is None:
                grade *= plan.highest
            if grade:
                documents.append(str(tile.attributes["value"]))
                grades.append(str(min(grade, plan.highest)))
        refines = documents and batch <= MOST_ROUNDS and form.css_first("button[value=refine]")
        go = _way_on(form) if plan.pool else "refine" if refines else "done"
        seen = [str(number) for number in range(1, len(form.css("[name=document]")) + 1)]
        return {"document": documents, "grade": grades, "seen": seen, "go": go}

    def _named_grades(
        self,
        form: LexborNode,
        plan: LabellingPlan,
        preference: BotAnnotator,
        chance: np.random.Generator,
    ) -> dict[str, str | list[str]]:
        """Return a named grade for each tile: the highest that its relevance reaches, or another.

        Where relevance is not known by judgements, that of a marked tile is the highest.
        """
        values = [grade.value for grade in plan.grades]
        is_first = form.css("[name=batch]")[0].attributes["value"] == "1"
        topic = preference.topics.find_in(form.css_first(".find"))
        fields: dict[str, str | list[str]] = {"go": _way_on(form)}
        for number, tile in enumerate(form.css(".tile")):
            document = preference.documents.find_in(tile)
            grade = preference.grade(topic, number, document, is_first=is_first)
            grade *= 1 if preference.judgements is not None else plan.highest
            grade = max((value for value in values if value <= grade), default=values[0])
            if chance.random() < preference.error:
                grade = int(chance.choice([value for value in values if value != grade]))
            fields[f"{GRADE_FIELD}{number + 1}"] = str(grade)
        return fields


def _way_on(form: LexborNode) -> str:
    return "next" if form.css_first(".way button[value=next]") is not None else "done"
