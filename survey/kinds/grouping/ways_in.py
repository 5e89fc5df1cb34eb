"""How a grouping study begins: its card of “New study”, and topics of judgements."""

from collections.abc import Sequence
from typing import Any

from survey.core.collections.items import Topic
from survey.core.collections.labels import sorted_topics
from survey.core.collections.runs import read_judgements
from survey.core.kind import TopicRow
from survey.core.text_input import FileFaults, lines_of
from survey.core.ways_in import COLLECTION, ITEMS, JUDGEMENTS, TOPICS, Sources, WayIn
from survey.kinds.grouping.plan import GroupingPlan

WAYS_IN = (
    WayIn(
        "groups",
        COLLECTION,
        "Which documents belong together?",
        "People sort what is relevant to a topic into groups: sub-topics for measures of "
        "diversity. Each topic with two relevant documents or more is sorted.",
        takes=(JUDGEMENTS, ITEMS, TOPICS),
        needs=(JUDGEMENTS,),
        examples=("qrels.txt", "items.csv", "topics.csv"),
    ),
)


def topic_rows(plan: GroupingPlan, topics: Sequence[Topic]) -> list[TopicRow]:
    """Return the plan's topics, each with its documents in the value."""
    known = {topic.topic: topic for topic in topics}
    rows = []
    for name, documents in plan.topics:
        topic = known.get(name, Topic(name))
        text, kind = topic.text or "", topic.cluster_type or ""
        rows.append(TopicRow(" ".join([name, *documents]), name, text, kind, len(documents)))
    return rows


def begin(sources: Sources) -> dict[str, Any]:
    """Return each topic with its relevant documents; all topics with two or more by default.

    Raises FaultyFilesError for faults of the file, and for topics without relevant documents.
    """
    qrels = sources.judgements
    if qrels is None:
        return {}
    faults = FileFaults()
    judged = read_judgements(qrels.name, lines_of(qrels.text), faults)
    relevant = {
        topic: tuple(sorted(document for document, grade in grades.items() if grade > 0))
        for topic, grades in judged.items()
    }
    for topic in sources.topics:
        if not relevant.get(topic):
            faults.add(f"{qrels.name}: topic {topic!r} has no relevant document")
    enough = [topic for topic in sorted_topics(relevant) if len(relevant[topic]) > 1]
    chosen = sources.topics or enough
    if not chosen:
        faults.add(f"{qrels.name} has no topic with two relevant documents or more")
    faults.raise_any()
    return {"topics": [(topic, relevant[topic]) for topic in chosen]}
