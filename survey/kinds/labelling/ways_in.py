"""How a labelling study begins: its card of “New study”, and its topics."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from survey.core.collections.items import Topic
from survey.core.kind import TopicRow
from survey.core.ways_in import COLLECTION, ITEMS, TOPICS, Sources, WayIn
from survey.kinds.labelling.plan import LabellingPlan

LATER = "topic-1"  # until there are topics
WAYS_IN = (
    WayIn(
        "labels",
        COLLECTION,
        "Which documents are relevant?",
        "People mark what matches each topic: judgements for a test collection, and how far people "
        "agree. Labelling takes the topics that there are.",
        takes=(ITEMS, TOPICS),
        examples=("items.csv", "topics.csv"),
    ),
)


def begin(sources: Sources) -> dict[str, Any]:
    """Return the topics: those chosen, else all of topics.csv."""
    later = (LATER,) if sources.may_follow else ()
    return {"topics": sources.topics or sources.known_topics or later}


def topic_rows(plan: LabellingPlan, topics: Sequence[Topic]) -> list[TopicRow]:
    """Return the plan's topics in their order, then all others that there are."""
    known = {each.topic: each for each in topics}
    names = dict.fromkeys([*plan.topics, *known])
    return [TopicRow(name, name, text_of(known.get(name))) for name in names]


def text_of(topic: Topic | None) -> str:
    """Return what to show of a topic in a table."""
    if topic is None:
        return "not in topics.csv"
    return topic.text or f"the picture {topic.image}"


def with_topics(plan: LabellingPlan, topics: Sequence[str]) -> LabellingPlan:
    """Return the plan with all topics that there are, where it has only the one for later."""
    if not topics or plan.topics != (LATER,):
        return plan
    return replace(plan, topics=tuple(topics), questions=len(topics))
