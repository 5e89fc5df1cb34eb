"""Attention checks among the documents of a query: of another topic, the query's own, one again.

A check is a tile of its own: in the steps it is a document's id behind OTHER, OWN or AGAIN.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from survey.core.collections.items import FindItems, Item, Topic
from survey.core.collections.likeness import Pool
from survey.core.studies.fields import Finding
from survey.core.studies.generators import Positions
from survey.core.studies.plan import OTHER_TOPIC, Check

AGAIN, OTHER, OWN = "check:again:", "check:other:", "check:own:"
SHOWN_AGAIN, GOLD, OWN_PICTURE = "shown-again", "gold", "own-picture"
TILES = {AGAIN: SHOWN_AGAIN, OTHER: OTHER_TOPIC, OWN: OWN_PICTURE}
CHECK_STREAM = 0x6368_6563  # "chec" in ASCII: random numbers unrelated to those of other draws


def checks_of(plan: Any) -> tuple[Check, ...]:
    """Return a plan's checks; random answers give each grade equally often."""
    grades = plan.highest + 1
    other = Check(
        *(OTHER_TOPIC, "a document of another topic in each query", "it is not marked"),
        by_chance=1 / grades,
        is_question=False,
    )
    own = Check(
        *(OWN_PICTURE, "the query's own picture among its documents", "it is marked"),
        by_chance=1 - 1 / grades,
        is_question=False,
    )
    again = Check(
        *(SHOWN_AGAIN, "a document of each query's first batch, again in the second"),
        "it is marked both times, or neither time",
        by_chance=(1 + plan.highest**2) / grades**2,
        is_question=False,
    )
    known = Check(
        *(GOLD, "documents with known answers", "relevant or not, as it is known"),
        by_chance=1 / 2 if plan.highest == 1 else None,
        is_question=False,
    )
    asked = (plan.other_topic, plan.own_picture, plan.shown_again, plan.gold)
    pairs = zip((other, own, again, known), asked, strict=True)
    return tuple(check for check, is_asked in pairs if is_asked)


def original(document: str) -> str:
    """Return the document that a tile shows, of a check too."""
    for prefix in TILES:
        document = document.removeprefix(prefix)
    return document


def is_check(document: str) -> bool:
    """Return whether a tile is a check."""
    return document.startswith((*TILES,))


def check_in(document: str) -> str | None:
    """Return the name of the check that a tile is, None for a document that counts."""
    return next((name for prefix, name in TILES.items() if document.startswith(prefix)), None)


def are_right(plan: Any, check: Check, topic: str, grades: Mapping[str, int]) -> Iterator[bool]:
    """Yield of each tile of a query that is a check whether its grade is right."""
    if check.name == GOLD:
        level, known = plan.relevant_from, plan.gold_of(topic)
        for document in grades.keys() & known.keys():
            yield known[document].is_right(grades[document], level)
        return
    for document, grade in grades.items():
        if check_in(document) != check.name:
            continue
        if check.name == OTHER_TOPIC:
            yield not grade
        elif check.name == OWN_PICTURE:
            yield bool(grade)
        elif (first := grades.get(original(document))) is not None:
            yield bool(grade) == bool(first)


def with_check(
    plan: Any, question: Any, state: Any, find: FindItems, documents: Sequence[str]
) -> list[str]:
    """Return a new batch with the checks that come in it, if any, at random places.

    The practice, question 0, has none.
    """
    if not question.number:
        return [*documents]
    numbers = Positions(state.order_seed, len(state.batches), CHECK_STREAM)
    checks = [
        of_check[numbers.below(len(of_check))]
        for of_check in _candidates(plan, question, state, find)
        if of_check
    ]
    # A document that leaves the batch for a check, or is shown by it, is in a later batch.
    shown = {*map(original, checks)}
    batch = [document for document in documents if document not in shown]
    batch = batch[: plan.batch - len(checks)]
    if not checks:
        return [*documents]
    for check in checks:
        batch.insert(numbers.below(len(batch) + 1), check)
    return batch


def _candidates(plan: Any, question: Any, state: Any, find: FindItems) -> Iterator[list[str]]:
    """Yield of each check that comes in a new batch the tiles of which one is drawn."""
    if plan.other_topic and not state.batches:
        yield [OTHER + each for each in of_other_topics(plan, question.topic, find)]
    if plan.own_picture and not state.batches:
        yield [OWN + each for each in own_pictures(find, question.topic)]
    if plan.shown_again and len(state.batches) == 1:
        looked_at = (each for each in state.batches[0] if each in state.exposure)
        yield [AGAIN + each for each in looked_at if not is_check(each)]


def own_pictures(find: FindItems, name: str) -> list[str]:
    """Return the documents that are a topic's own picture, sorted."""
    return sorted(own_documents(find.pool(), find.topic(name) or Topic(name)))


def own_documents(pool: Pool, topic: Topic) -> set[str]:
    """Return the documents that are a topic's own picture."""
    image = {topic.image} if topic.image in pool.index else set()
    return {*pool.same_picture(topic.sha256), *image}


def of_other_topics(plan: Any, topic: str, find: FindItems) -> list[str]:
    """Return the documents of other topics that are none of this one, sorted."""
    pool = find.pool()
    topics = {name: find.topic(name) or Topic(name) for name in {*plan.topics, topic}}
    of_topic = {name: documents_of(plan, pool, found) for name, found in topics.items()}
    others = {*chain.from_iterable(of_topic.values())} - of_topic[topic]
    return sorted(others & pool.index.keys())


def documents_of(plan: Any, pool: Pool, topic: Topic) -> set[str]:
    """Return a topic's documents: its pool where the plan has such, else its own picture."""
    if plan.pool is not None:
        return {*plan.pool.of_topic(topic.topic)}
    return own_documents(pool, topic)


def findings(
    plan: Any, pool: Pool, items: Iterable[Item], topics: Mapping[str, Topic]
) -> Iterator[Finding]:
    """Yield why a check cannot be made of a study's documents."""
    if plan.other_topic:
        by_topic = {
            name: documents_of(plan, pool, topics.get(name, Topic(name))) for name in plan.topics
        }
        every = {*chain.from_iterable(by_topic.values())}
        if count := sum(not every - own for own in by_topic.values()):
            text = f"{count} of {len(by_topic)} queries get no document of another topic"
            why = "no other topic has a picture that is a document of the collection"
            yield Finding(None, f"{text}: {why}", mend="other_topic")
    if plan.own_picture:
        own = (own_documents(pool, topics.get(name, Topic(name))) for name in plan.topics)
        if count := sum(not documents for documents in own):
            text = f"{count} of {len(plan.topics)} queries get no picture of their own"
            why = "they have none among the documents of the collection"
            yield Finding(None, f"{text}: {why}", mend="own_picture")
    taken = next((item.document for item in items if is_check(item.document)), None)
    if plan.checks and taken is not None:
        prefixes = " or ".join(TILES)
        text = f"document {taken}: with attention checks no id may begin with {prefixes}"
        yield Finding(None, text, mend="items", stops=True, code="check-ids")
