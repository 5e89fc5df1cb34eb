"""How a machine orders lists: it ticks methods whose order is its own, or gives an own order."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from survey.core.agreement.concordance import combined_order
from survey.core.agreement.credits import OTHER
from survey.core.agreement.machines import ORDER
from survey.core.collections.items import FindItems
from survey.core.studies.questions import Question
from survey.core.studies.rankings import Ranking
from survey.core.text_input import Json
from survey.kinds.ordering.answer import OrderingAnswer, OrderingPresentation
from survey.kinds.ordering.bot import Preference, own_order
from survey.kinds.ordering.plan import BEFORE, OrderingPlan
from survey.services.analysis.study_results import AnalysisOptions
from survey.services.machines.kind_judge import reply_object
from survey.services.machines.requests import Asked, seen_item

ORDERS = {"description": "Ties with =, like B>A=C; null where methods are ticked."}


class OrderingMachine:
    """The answers of machines to ordering questions, see ``KindJudge``."""

    similarity = ORDER

    def machine_sees(
        self,
        plan: OrderingPlan,
        asked: Asked,
        find: FindItems,
    ) -> Mapping[str, Any]:
        """Return the query, the lists by their letters, and the methods where they are shown.

        Methods that people see only after an order of their own are not shown.
        """
        kind: Any = self
        view = kind.with_items(plan, asked.question, kind.show(asked.question, asked.drawn), find)
        lists: dict[str, Any] = {}
        for index, (letter, ranks) in enumerate(view.rows):
            seen: dict[str, Any] = {}
            if plan.show_positions or not view.results:
                seen["positions of matches"] = [
                    f"{rank} {mark}" if mark else rank for rank, mark in ranks
                ]
            if view.results:
                seen["results"] = [
                    {"position": result.rank, **seen_item(result.item)}
                    | ({} if result.is_relevant is None else {"is a match": result.is_relevant})
                    for result in view.results[index]
                ]
            lists[letter] = seen
        methods = {
            f"Method {column.label}": {"order": str(column.ranking)}
            | ({"values": dict(column.shown)} if plan.show_values else {})
            for column in view.columns
            if plan.columns == BEFORE
        }
        query = {"query": seen} if (seen := seen_item(view.topic)) else {}
        return {**query, "lists": lists, **({"methods": methods} if methods else {})}

    def reply_schema(self, plan: OrderingPlan) -> Json:
        """Return the schema of ticked methods, or an order in notation."""
        if plan.columns != BEFORE:
            return reply_object({"own": {"type": "string", **ORDERS}})
        labels: Json = {"type": "integer", "minimum": 1, "maximum": len(plan.measures)}
        ticks: dict[str, Json] = {
            "type": ["array", "null"],
            "items": labels,
            "description": "the methods whose order is yours; null for an order of your own",
        }
        return reply_object({"ticks": ticks, "own": {"type": ["string", "null"], **ORDERS}})

    def machine_answer(
        self,
        plan: OrderingPlan,
        asked: Asked,
        reply: Mapping[str, Any],
    ) -> str:
        """Return the order; raises ValueError for ticks and an order, or neither."""
        ticks, own = reply.get("ticks") or [], reply.get("own")
        if plan.columns != BEFORE and ticks:
            raise ValueError("methods are ticked that were not shown")
        labels = range(1, len(plan.measures) + 1)
        if not all(type(label) is int and label in labels for label in ticks):
            raise ValueError(f"{ticks!r} are not methods")
        ranking = Ranking.parse(own, asked.question.lists) if own else None
        answer = OrderingAnswer(frozenset(ticks), ranking)
        return self.answer_text(plan, asked.question, asked.drawn, answer)

    def answer_text(
        self,
        plan: OrderingPlan,
        question: Question,
        drawn: OrderingPresentation,
        answer: OrderingAnswer,
    ) -> str:
        """Return the order in notation; of several ticked ones, by their mean ranks."""
        return _mean_order(answer.orderings(question.rankings, drawn))

    def people_answers(
        self, content: Any, options: AnalysisOptions
    ) -> dict[str, dict[tuple[int, str], str]]:
        """See ``KindJudge``; the answers of this kind are read in columns of their own."""
        people = {person.public_id for person in content.counted(options)}
        rankings = {question.number: question.rankings for question in content.questions}
        answers: dict[str, dict[tuple[int, str], str]] = {}
        for row in content.answers.rows():
            if row.participant in people and row.question <= content.plan.questions:
                orders = rankings[row.question]
                own = (
                    [row.own] if row.own else [orders[row.label_order[i - 1]] for i in row.clicked]
                )
                text = _mean_order(own)
                answers.setdefault(row.participant, {})[row.question, ""] = text
        return answers

    def read_machine_answer(
        self, plan: OrderingPlan, question: Question, document: str, text: str
    ) -> str:
        """See ``KindJudge``: an order in notation."""
        if document:
            raise ValueError("an order is of a question, not of a document")
        return str(Ranking.parse(text, question.lists))

    def simulated_reply(
        self,
        plan: OrderingPlan,
        asked: Asked,
        preference: Preference,
        chance: np.random.Generator,
    ) -> dict[str, Any]:
        """Return the method of a measure that is drawn by the planted shares, or an own order."""
        preferred = preference.draw(chance)
        if preferred == OTHER:
            orders = {*asked.question.rankings.values()}
            own = own_order(tuple(asked.question.lists), orders, chance)
        elif plan.columns == BEFORE:
            return {"ticks": [[*asked.drawn.label_order].index(preferred) + 1], "own": None}
        else:
            own = asked.question.rankings[preferred]
        ticks = {"ticks": None} if plan.columns == BEFORE else {}
        return {**ticks, "own": str(own)}


def _mean_order(orders: Iterable[Ranking]) -> str:
    """Return the order by the mean ranks of distinct orders, in notation."""
    distinct = sorted({*orders}, key=str)
    means = combined_order(distinct).tolist()
    return str(Ranking.by_key(dict(zip(distinct[0].midranks, means, strict=True))))
