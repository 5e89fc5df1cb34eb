"""How a machine says which of two lists is better, asked once with the sides swapped."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from survey.core.agreement.machines import ONE_LIST
from survey.core.collections.items import FindItems
from survey.core.measures import MEASURES
from survey.core.studies.questions import Question
from survey.kinds.preference.answer import PreferenceAnswer, PreferencePresentation, Side
from survey.kinds.preference.bot import Leaning
from survey.kinds.preference.estimates import PreferenceEstimates
from survey.kinds.preference.plan import EQUAL, LEFT, NEITHER, RIGHT, PreferencePlan
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.machines.estimates import Estimates
from survey.services.machines.records import MachineRecord
from survey.services.machines.requests import Asked, seen_item


class PreferenceMachine:
    """The answers of machines to preference questions, see ``KindJudge``."""

    similarity = ONE_LIST
    has_sides = True

    def machine_sees(
        self,
        plan: PreferencePlan,
        asked: Asked,
        find: FindItems,
    ) -> Mapping[str, Any]:
        """Return the query, and both lists as their page shows them."""
        kind: Any = self
        view = kind.with_items(plan, asked.question, kind.show(asked.question, asked.drawn), find)
        left, right = (_seen_side(plan, side) for side in view.sides)
        query = {"query": seen} if (seen := seen_item(view.topic)) else {}
        return {**query, "left": left, "right": right}

    def side_of(self, drawn: PreferencePresentation, answer: str) -> str:
        """See ``KindJudge``."""
        sides = dict(zip(drawn.sides, (LEFT, RIGHT), strict=True))
        return sides.get(answer, "")

    def answer_text(
        self,
        plan: PreferencePlan,
        question: Question,
        drawn: PreferencePresentation,
        answer: PreferenceAnswer,
    ) -> str:
        """Return the letter of the preferred list, "equal" or "neither"."""
        sides = dict(zip((LEFT, RIGHT), drawn.sides, strict=True))
        return sides.get(answer.preferred, answer.preferred)

    def read_machine_answer(
        self, plan: PreferencePlan, question: Question, document: str, text: str
    ) -> str:
        """See ``KindJudge``: a letter, the name of a run, "equal" or "neither"."""
        runs = question.source.runs if question.source else {}
        names = {name: letter for letter, name in runs.items()}
        known = {**{letter: letter for letter in plan.letters}, EQUAL: EQUAL, NEITHER: NEITHER}
        answer = {**known, **names}.get(text)
        if answer is None or document:
            raise ValueError(f"{text!r} found; allowed are {', '.join([*names, *known])}")
        return answer

    def machine_estimates(
        self, content: Any, machine: MachineRecord, options: AnalysisOptions
    ) -> Estimates | None:
        """Return what the answers to a sample of the pairs and the machine's say of all pairs."""
        if not content.plan.sample:
            return None
        kind: Any = self
        people = {
            name: {number: answer for (number, _), answer in answers.items()}
            for name, answers in kind.people_answers(content, options).items()
        }
        asked = frozenset(number for number, _ in machine.by_unit)
        verdicts = {number: answer for (number, _), answer in machine.verdicts(EQUAL).items()}
        of_study = content.plan, content.questions, people
        return PreferenceEstimates(*of_study, asked, verdicts).estimates()

    def simulated_reply(
        self,
        plan: PreferencePlan,
        asked: Asked,
        preference: Leaning,
        chance: np.random.Generator,
    ) -> dict[str, Any]:
        """Return the list that the measure puts first, with noise."""
        columns = asked.question.columns[preference.measure]
        values = dict(zip(plan.letters, columns.values, strict=True))
        left, right = (values[letter] for letter in asked.drawn.sides)
        sign = 1 if MEASURES[preference.measure].better == "higher" else -1
        felt = (left - right) * sign + chance.normal(0, preference.noise)
        preferred = LEFT if felt > 0 else RIGHT if felt < 0 else EQUAL
        reply: dict[str, Any] = {"preferred": preferred}
        if plan.ask_strength:
            reply["strength"] = None if preferred == EQUAL else 1
        if plan.ask_satisfaction:
            reply |= {"satisfaction_left": 3, "satisfaction_right": 3}
        return reply


def _seen_side(plan: PreferencePlan, side: Side) -> dict[str, Any]:
    seen: dict[str, Any] = {}
    if plan.show_positions or not plan.show_items:
        seen["positions of matches"] = [*side.positions]
    if plan.show_items:
        seen["results"] = [
            {"position": result.rank, **seen_item(result.item)}
            | ({} if result.is_relevant is None else {"is a match": result.is_relevant})
            for result in side.results
        ]
    return seen
