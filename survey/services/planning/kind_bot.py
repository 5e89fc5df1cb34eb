"""How a simulated participant answers a kind of question that says nothing of bots: by chance."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from selectolax.lexbor import LexborNode

from survey.core.collections.items import Shown
from survey.core.kind import AnswerT, Declaration, PlanT, PresentationT, QuestionT
from survey.core.studies.fields import Whole, value_fields
from survey.core.text_input import Json
from survey.errors import SurveyError


class ByChance:
    """What a bot prefers whose answers are by chance: nothing."""

    def as_json(self) -> dict[str, Json]:
        """Return it as plain values."""
        return {"answers": "by chance"}


class KindBot(Declaration[PlanT, QuestionT, PresentationT, AnswerT]):
    """The simulated answers of a kind."""

    def careless(self, plan: PlanT) -> str | None:
        """Return the preference of a bot that answers at random; None for the usual one."""
        return None

    def preference(self, plan: PlanT, text: str | None, shown: Shown) -> Any:
        """Read what a bot prefers, which has ``as_json``; raises SurveyError.

        Answers are by chance, unless a kind has preferences.
        """
        if text is not None:
            raise SurveyError(f"{text!r} is no preference: bots answer {self.noun} by chance.")
        return ByChance()

    def respond(
        self, form: LexborNode, plan: PlanT, preference: Any, chance: np.random.Generator
    ) -> Mapping[str, object] | None:
        """Return the fields of a question's form, None where the form is no question's.

        Raises ValueError for a page on which a bot cannot answer.
        """
        sent = {}
        for field in value_fields(self.answer):
            controls = form.css(f"[name={field.name}]")
            values = [str(each.attributes.get("value") or "") for each in controls]
            if len(values) > 1:
                sent[field.name] = str(chance.choice(values))
            elif values and isinstance(field.rule, Whole):
                lowest, highest = field.rule.lowest, field.rule.highest
                sent[field.name] = str(chance.integers(lowest, highest, endpoint=True))
        return sent or None
