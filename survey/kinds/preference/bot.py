"""Simulated participants who prefer the list that a measure puts first, with noise."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from selectolax.lexbor import LexborNode

from survey.core.collections.items import Shown
from survey.core.measures import MEASURES
from survey.core.studies.questions import Question
from survey.errors import SurveyError
from survey.kinds.preference.answer import STRENGTHS
from survey.kinds.preference.plan import EQUAL, LEFT, NEITHER, RIGHT, PreferencePlan
from survey.services.planning.bot_sight import Sight

BY_DEFAULT = 0.2  # noise
UNDECIDED = 0.1  # of the noise: below it, lists seem equal
NEITHER_IN = 0.03  # how often neither is good

Pair = tuple[tuple[str, ...], tuple[str, ...]]
"""What identifies a pair on a page: of each side its documents, else its positions."""


class Leaning(NamedTuple):
    """A measure, the standard deviation of the noise, and how the lists of each pair differ.

    ``differences``: what a page shows of a pair → how much better, in the measure, the first of
    its two lists is.
    """

    measure: str
    noise: float
    differences: Mapping[Pair, float]
    documents: Sight

    def as_json(self) -> dict[str, Any]:
        """Return measure and noise as plain values."""
        return {"measure": self.measure, "noise": self.noise}


class PreferenceBot:
    """The simulated answers to preference questions, see ``KindBot``."""

    def careless(self, plan: PreferencePlan) -> str:
        """Return noise beside which no difference counts."""
        return f"{plan.measures[0]}:1000000000"

    def preference(self, plan: PreferencePlan, text: str | None, shown: Shown) -> Leaning:
        """Read "AP:0.2": a measure of the plan, and noise; by default the plan's first measure.

        A bot prefers the list whose value, plus noise of that standard deviation, is better.
        """
        match = re.fullmatch(r"([^:]+)(?::([0-9]*\.?[0-9]+))?", text or plan.measures[0])
        names = {name.lower(): name for name in plan.measures}
        if match is None or match[1].lower() not in names:
            raise SurveyError(
                f"{text!r} is no preference; write one of {', '.join(plan.measures)} and the noise "
                f"of its difference, like {plan.measures[0]}:0.2."
            )
        measure = names[match[1].lower()]
        noise = float(match[2]) if match[2] else BY_DEFAULT
        documents = Sight(shown.documents)
        # Documents that are shown alike are one to a bot.
        seen = {each: documents.find(*both) for each, both in shown.documents.items()}
        differences: dict[Pair, float] = {}
        for question in plan.draw_questions():
            difference, pair = _difference(question, measure), _pair(plan, question, seen)
            differences[pair] = difference
            differences[pair[::-1]] = -difference
        return Leaning(measure, noise, differences, documents)

    def respond(
        self,
        form: LexborNode,
        plan: PreferencePlan,
        preference: Leaning,
        chance: np.random.Generator,
    ) -> dict[str, Any] | None:
        """Choose a list, and answer what else the page asks; None where it asks for no preference.

        The chosen list gets the higher satisfaction. Raises ValueError for lists that the plan
        does not have.
        """
        if form.css_first("[name=preferred]") is None:
            return None
        left, right = (_read(side, plan, preference.documents) for side in form.css(".side"))
        difference = preference.differences.get((left, right))
        if difference is None:
            raise ValueError("there are two lists that the plan does not have")
        felt = difference + chance.normal(0, preference.noise)
        lean = 0 if abs(felt) <= UNDECIDED * preference.noise else 1 if felt > 0 else -1
        choice = NEITHER if chance.random() < NEITHER_IN else (EQUAL, LEFT, RIGHT)[lean]
        sent: dict[str, Any] = {"preferred": choice}
        if plan.ask_strength:
            size = abs(felt) / max(preference.noise, 1e-9)
            sent["strength"] = str(min(int(size) + 1, len(STRENGTHS)))
        if plan.ask_satisfaction:
            mood = 2 if choice == NEITHER else 3
            side = {LEFT: 1, RIGHT: -1}.get(choice, 0)
            sent |= {"satisfaction_left": mood + side, "satisfaction_right": mood - side}
        return sent


def _difference(question: Question, measure: str) -> float:
    """Return how much better list A is than list B, in the measure's own units."""
    first, second = question.columns[measure].values
    return (first - second) * (1 if MEASURES[measure].better == "higher" else -1)


def _pair(plan: PreferencePlan, question: Question, seen: Mapping[str, str]) -> Pair:
    """Return what identifies a question's lists on its page, list A first."""
    lists: Mapping[str, Sequence[object]] = question.lists
    if plan.show_items and question.source is not None:
        documents = question.source.documents
        lists = {letter: [seen.get(each, "") for each in documents[letter]] for letter in documents}
    first, second = (tuple(map(str, lists[letter])) for letter in plan.letters)
    return first, second


def _read(side: LexborNode, plan: PreferencePlan, documents: Sight) -> tuple[str, ...]:
    """Return the documents of a list on a page, or its positions where it shows no items."""
    if not plan.show_items:
        cells = (str(rank.attributes.get("value") or rank.text()) for rank in side.css(".rank"))
        return tuple(word for cell in cells for word in cell.split())
    return tuple(documents.find_in(result) for result in side.css("li"))
