"""How a machine groups: all documents of a topic at once, by their numbers."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from survey.core.agreement.machines import CLUSTERS
from survey.core.collections.items import FindItems
from survey.core.text_input import Json
from survey.errors import SurveyError
from survey.kinds.grouping.answer import GroupingShown
from survey.kinds.grouping.bot import BotAssessor
from survey.kinds.grouping.plan import GroupingPlan, GroupingQuestion, is_again
from survey.services.machines.kind_judge import reply_object
from survey.services.machines.requests import Asked, seen_item

MOST_AT_ONCE = 60  # documents of a topic, in one request
NUMBERS: Json = {"type": "array", "items": {"type": "integer"}}


class GroupingMachine:
    """The answers of machines to grouping questions, see ``KindJudge``."""

    similarity = CLUSTERS

    def machine_sees(
        self,
        plan: GroupingPlan,
        asked: Asked,
        find: FindItems,
    ) -> Mapping[str, Any]:
        """Return topic and documents in the order in which a participant meets them.

        Raises SurveyError for a topic with more documents than one request takes.
        """
        order = _order(asked)
        if len(order) > MOST_AT_ONCE:
            raise SurveyError(
                f"Topic {asked.question.topic} has {len(order)} documents; a machine can group "
                f"{MOST_AT_ONCE} at most in one request."
            )
        items, topic = find(order, asked.question.topic)
        known = find.topic(asked.question.topic)
        sees: dict[str, Any] = {"topic": seen_item(topic)}
        if known and known.cluster_type:
            sees["group by"] = known.cluster_type
        sees["documents"] = {
            str(number): {"document": seen_item(items.get(name))}
            for number, name in enumerate(order, 1)
        }
        return sees

    def reply_schema(self, plan: GroupingPlan) -> Json:
        """Return the schema of groups with names and numbers of documents."""
        group = reply_object({"name": {"type": "string"}, "documents": NUMBERS})
        return reply_object({"groups": {"type": "array", "items": group}, "unknown": NUMBERS})

    def machine_answer(
        self,
        plan: GroupingPlan,
        asked: Asked,
        reply: Mapping[str, Any],
    ) -> str:
        """Return the groups of each document; raises ValueError where one is in none."""
        order = _order(asked)
        clusters: dict[str, set[str]] = {name: set() for name in order}
        placed: set[int] = set()
        named = [(group["name"], group["documents"]) for group in reply["groups"]]
        for place, (name, numbers) in enumerate([*named, ("", reply.get("unknown") or [])]):
            for number in numbers:
                if type(number) is not int or not 1 <= number <= len(order):
                    raise ValueError(f"{number!r} is not the number of a document")
                placed.add(number)
                if place < len(named):
                    clusters[order[number - 1]].add(str(name))
        if missing := sorted({*range(1, len(order) + 1)} - placed):
            raise ValueError(f"document {missing[0]} is in no group, nor unknown")
        return _text(clusters)

    def read_machine_answer(
        self, plan: GroupingPlan, question: GroupingQuestion, document: str, text: str
    ) -> str:
        """See ``KindJudge``: JSON with the groups of each document, [] for unknown."""
        form = 'the groups of each document are needed as JSON, like {"d1": ["red"], "d2": []}'
        try:
            clusters = json.loads(text)
            documents = {name for name in question.documents if not is_again(name)}
            if document or clusters.keys() != documents:
                raise ValueError(f"{form}, of the topic's {len(documents)} documents")
            return _text({name: {*map(str, groups)} for name, groups in clusters.items()})
        except (AttributeError, TypeError, json.JSONDecodeError):
            raise ValueError(form) from None

    def answer_texts(
        self, plan: GroupingPlan, question: GroupingQuestion, drawn: Any, answer: object
    ) -> dict[tuple[int, str], str]:
        """Return the groups of each document as JSON."""
        return {(question.number, ""): _text(drawn.clusters)}

    def simulated_reply(
        self,
        plan: GroupingPlan,
        asked: Asked,
        preference: BotAssessor,
        chance: np.random.Generator,
    ) -> dict[str, Any]:
        """Return the true groups, with errors."""
        truth = preference.groups_of(asked.question.topic)
        names = sorted({"", *truth.values()})
        groups: dict[str, list[int]] = {}
        for number, name in enumerate(_order(asked), 1):
            group = truth.get(name, "")
            if chance.random() < preference.error:
                group = str(chance.choice(names))
            groups.setdefault(group, []).append(number)
        unknown = groups.pop("", [])
        named = [{"name": name, "documents": numbers} for name, numbers in groups.items()]
        return {"groups": named, "unknown": unknown}


def _order(asked: Asked) -> list[str]:
    """Return the documents as a participant meets them, without attention checks."""
    order = GroupingShown(asked.question, asked.drawn).order
    return [document for document in order if not is_again(document)]


def _text(clusters: Mapping[str, Any]) -> str:
    """Return groups by document as JSON; one without a group is unknown."""
    return json.dumps(
        {
            document: sorted(groups)
            for document, groups in sorted(clusters.items())
            if not is_again(document)
        },
        ensure_ascii=False,
    )
