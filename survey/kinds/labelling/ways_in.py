"""How a labelling study begins: its cards of “New study”, and its topics."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from survey.core.collections.items import Topic
from survey.core.kind import TopicRow
from survey.core.ways_in import (
    COLLECTION,
    GOLD,
    ITEMS,
    JUDGED,
    POOL,
    POOL_FILE,
    TOPICS,
    Sources,
    WayIn,
)
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
    WayIn(
        "pool",
        COLLECTION,
        "A pool of runs",
        "People judge the first documents of each run for each topic, or those of a file, and no "
        "others: judgements to compare runs by.",
        takes=(POOL, POOL_FILE, ITEMS, TOPICS, JUDGED, GOLD),
        needs=(POOL,),
        asks=("pool_depth", "sample_documents"),
        examples=(
            *("alpha.txt", "beta.txt", "gamma.txt", "pool.csv", "items.csv", "topics.csv"),
            *("judged.txt", "gold.csv"),
        ),
    ),
)


def begin(sources: Sources, changes: Mapping[str, object]) -> dict[str, Any]:
    """Return the topics: those chosen, else those that are pooled, else all of topics.csv."""
    pooled = changes.get("topics") if changes.get("pool") else ()
    later = (LATER,) if sources.may_follow else ()
    return {"topics": sources.topics or pooled or sources.known_topics or later}


def topic_rows(plan: LabellingPlan, topics: Sequence[Topic]) -> list[TopicRow]:
    """Return the plan's topics in their order, then all others that there are.

    Of a pool, those that have one.
    """
    known = {topic.topic: topic for topic in topics}
    if pool := plan.pool:
        return [
            TopicRow(name, name, text_of(known.get(name)), documents=len(pool.of_topic(name)))
            for name in pool.topics
        ]
    names = dict.fromkeys([*plan.topics, *known])
    return [TopicRow(name, name, text_of(known.get(name))) for name in names]


def text_of(topic: Topic | None) -> str:
    """Return what to show of a topic in a table."""
    if topic is None:
        return "not in topics.csv"
    return topic.text or f"the picture {topic.image}"


def with_topics(plan: LabellingPlan, topics: Sequence[str]) -> LabellingPlan:
    """Return the plan with all topics that there are, where it has only the one for later."""
    if plan.pool or not topics or plan.topics != (LATER,):
        return plan
    return replace(plan, topics=tuple(topics), questions=len(topics))
