"""What judges come by: batches of pictures, groups and a third's queue, two lists side by side."""

from collections.abc import Iterator

from tests.accessibility.sights import House, Sight
from tests.builders import Visitor
from tests.grouped import (
    FIRST_TOPIC,
    SECOND_TOPIC,
    Assessor,
    a_grouping_study,
    by_colour,
    warm_and_cold,
)
from tests.labelled import a_labelling_study, ticks
from tests.preferred import a_preference_study

GREEK = {
    "title": "Ποιες εικόνες ταιριάζουν;",
    "asked_by": "Άντα",
    "purpose": "Για να μάθουμε ποιες εικόνες ταιριάζουν.",
    "consent": "Συμφωνώ.",
    "scenario": "Θα δείτε εικόνες.",
    "question_text": "Βρείτε τις εικόνες που ταιριάζουν.",
}


def texts(language: str) -> dict[str, str]:
    """The texts of a plan in this language, where they are not English."""
    return {"language": language, **(GREEK if language == "el" else {})}


def judging(house: House, language: str) -> Iterator[Sight]:
    """The pages of labelling, then those of grouping, then those of preference."""
    yield from _labelling(house, f"labelled-{language}", language)
    yield from _grouping(house, f"grouped-{language}", language)
    yield from _preference(house, f"preferred-{language}", language)


def _labelling(house: House, slug: str, language: str) -> Iterator[Sight]:
    words = {"graded": True, "meadow": "ένα λιβάδι από μακριά"} if language == "el" else {}
    a_labelling_study(house.session, slug, practice=True, **words, **texts(language))
    visitor = house.visitor(slug, language)
    visitor.go("/practice")
    yield house.seen("Batch", "practice", visitor, language)
    visitor.submit("/practice", go="next", **ticks(1))
    yield house.seen("Batch", "the end of practice", visitor, language)
    visitor.submit("/practice", go="done", **ticks(1))
    yield house.seen("Batch", "empty", visitor, language)
    visitor.submit("/q/1", go="next", seen="1", **ticks(1, 2))
    yield house.seen("Batch", "asked about what was not seen", visitor, language)
    visitor.submit("/q/1", go="refine", **ticks(1, 2))
    yield house.seen("Batch", "the second, refined", visitor, language)
    for position in (1, 2):
        visitor.open(f"/q/{position}")
        visitor.insist(f"/q/{position}", go="done", **ticks(1))
    yield house.seen("Review", "of queries", visitor, language)


def _grouping(house: House, slug: str, language: str) -> Iterator[Sight]:
    a_grouping_study(house.session, slug, practice=True, **texts(language))
    people = [_assessor(house, slug, language) for _ in range(3)]
    first, second, third = people
    for each in people[:2]:
        each.go("/practice")
        yield from [house.seen("Practice", "groups", each, language)] * (each is first)
        each.submit("/practice", go="done")
    yield house.seen("Groups", "empty", first, language)
    third.go("/waiting")
    yield house.seen("Nothing to do yet", "others are at work", third, language)
    first.submit("/q/1", go="new", group="")
    yield house.seen("Groups", "error: nothing selected", first, language)
    first.sort("/q/1", by_colour(FIRST_TOPIC))
    yield house.seen("Groups", "all placed", first, language)
    first.submit("/q/1", go="done")
    second.sort("/q/1", {"warm": ["red-0"]})
    second.submit("/q/1", go="done")
    yield house.seen("Groups", "asked back: not all is placed", second, language)
    second.finish("/q/1", warm_and_cold(FIRST_TOPIC))
    third.open("/waiting")
    third.finish("/q/1", by_colour(FIRST_TOPIC))
    yield house.seen("Groups", "with both earlier groupings", third, language)
    first.finish("/q/2", by_colour(SECOND_TOPIC))
    yield house.seen("Review", "of topics", first, language)


def _preference(house: House, slug: str, language: str) -> Iterator[Sight]:
    asked = {"ask_strength": True, "ask_satisfaction": True, "mark_relevant": True}
    shown = {"show_items": True, "practice": True}
    a_preference_study(house.session, slug, **shown, **asked, **texts(language))
    visitor = house.visitor(slug, language)
    visitor.go("/practice")
    yield house.seen("Practice", "of two lists", visitor, language)
    visitor.submit("/practice")
    yield house.seen("Two lists", "empty", visitor, language)
    visitor.submit("/q/1", preferred="left")
    yield house.seen("Two lists", "error: not all is answered", visitor, language)
    satisfied = {"satisfaction_left": "4", "satisfaction_right": "2"}
    visitor.submit("/q/1", preferred="right", strength="1", **satisfied)
    yield house.seen("Two lists", "asks back: the other satisfies more", visitor, language)
    for position in range(1, 6):
        visitor.submit(f"/q/{position}", preferred="left", strength="1", **satisfied)
    yield house.seen("Review", "of preferences", visitor, language)


def _assessor(house: House, slug: str, language: str) -> Visitor:
    assessor = Assessor(house.app, house.session, slug)
    assessor.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = language
    return assessor
