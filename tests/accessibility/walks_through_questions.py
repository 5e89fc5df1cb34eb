"""What participants come by at the questions, whatever a question is made of."""

from collections.abc import Iterator
from typing import Any

import pytest

from survey.core.studies.rankings import Ranking
from survey.services.participation import answers
from tests.accessibility.sights import House, Sight
from tests.builders import Visitor
from tests.web.test_unsaved import locked, unreachable

OWN = {f"rank_{letter}": place for letter, place in zip("ABCDE", "21345", strict=True)}


def order_of(visitor: Visitor, label: int) -> dict[str, int]:
    """The places of a method's ordering on the page."""
    box = visitor.page.select_one(f"[name=choice][value='{label}']")
    places = Ranking.parse(box.parent.select_one(".order").text).places
    return {f"rank_{letter}": place for letter, place in places.items()}


def upside_down(visitor: Visitor) -> dict[str, int]:
    """An ordering that puts the list with the latest first match first."""
    rows = visitor.page.select("[data-list]")
    first = {row["data-list"]: int(row.select_one(".rank").text) for row in rows}
    latest = sorted(first, key=lambda letter: -first[letter])
    return {f"rank_{letter}": place for place, letter in enumerate(latest, 1)}


def practising(house: House, language: str) -> Iterator[Sight]:
    """The practice question, in its states."""
    slug = f"practising-{language}"
    house.study(slug, language=language)
    visitor = house.visitor(slug, language)
    visitor.go("/scenario")
    with unreachable(house.session.get_bind()):
        visitor.submit("/scenario")
    yield house.seen("Not saved yet", "503, a form", visitor, language)
    visitor.submit("/scenario")
    yield house.seen("Practice: the numbers", "empty", visitor, language)
    visitor.submit("/practice/check", better="0")
    yield house.seen("Practice: the numbers", "answered wrongly", visitor, language)
    visitor.submit("/practice/check", better="1")
    yield house.seen("Practice", "one's own order", visitor, language)
    visitor.submit("/practice", **upside_down(visitor))
    yield house.seen("Practice", "asked back: a better list below", visitor, language)
    visitor.open("/practice?step=3")
    yield house.seen("Practice", "equally good", visitor, language)
    visitor.submit("/practice")
    yield house.seen("Practice", "the methods", visitor, language)


def answering(house: House, language: str) -> Iterator[Sight]:
    """A question, in its states."""
    slug = f"answering-{language}"
    house.study(slug, language=language)
    visitor = house.visitor(slug, language)
    visitor.start()
    yield house.seen("Question", "empty", visitor, language)
    visitor.submit("/q/1")
    yield house.seen("Question", "error: nothing ticked", visitor, language)
    visitor.submit("/q/1", choice=["1", "own"])
    yield house.seen("Question", "error: method and own", visitor, language)
    visitor.submit("/q/1", choice="own", rank_A="1", rank_C="2")
    yield house.seen("Question", "error: own ranking incomplete", visitor, language)
    yield from _troubles(house, visitor, language)
    sent = {tag["name"]: tag.get("value", "") for tag in visitor.page.select("#vote [type=hidden]")}
    visitor.submit("/q/1", choice=["1", "2", "3"])
    yield house.seen("Question", "asked back: different orderings", visitor, language)
    visitor.submit("/q/1", choice=["1", "2", "3"], settle="own")
    yield house.seen("Question", "asked back: an own ordering instead", visitor, language)
    visitor.submit("/q/1", choice="own", **order_of(visitor, 1))
    yield house.seen("Question", "an order that counts for a method", visitor, language)
    visitor.open("/q/1")
    visitor.submit("/q/1", choice=["1", "2", "3"], settle="several")
    visitor.open("/q/1")
    yield house.seen("Question", "saved", visitor, language)
    visitor.post("/q/1", **{**sent, "choice": "2"})
    yield house.seen("Question", "error: changed in another window", visitor, language)
    visitor.open("/q/2")
    visitor.submit("/q/2", choice="own", **OWN)
    yield house.seen("Question", "asked back: a later list is put first", visitor, language)
    visitor.submit("/q/2", choice="own", **OWN)
    visitor.open("/q/2")
    yield house.seen("Question", "own ranking saved", visitor, language)
    visitor.open("/review")
    yield house.seen("Question", "sent back by an answer that lacks", visitor, language)


def _troubles(house: House, visitor: Visitor, language: str) -> Iterator[Sight]:
    engine = house.session.get_bind()
    with locked(engine):
        visitor.submit("/q/1", choice=["1", "3"], settle="several", rank_B="2")
    yield house.seen("Question", "error: 503, not saved yet", visitor, language)
    with unreachable(engine):
        visitor.submit("/q/1", choice="own", **OWN)
    yield house.seen("Not saved yet", "503, an answer", visitor, language)
    visitor.open("/q/1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "ANSWERS_A_MINUTE", 0)
        visitor.submit("/q/1", choice="1")
    yield house.seen("Question", "error: 429, too many answers", visitor, language)
    visitor.open("/q/1")


def answering_otherwise(house: House, language: str) -> Iterator[Sight]:
    """Questions of other designs: graded, in clusters, long, one's own ranking first."""
    six = ["AP", "NMRR", "MNRO", "P@5", "RR", "Rprec"]
    designs: dict[str, dict[str, Any]] = {
        "graded lists": {
            "marks": {"grades": "3 2 2 1 1"},
            "measures": ["AP", "nDCG@20", "gMNRO"],
        },
        "lists with clusters": {
            "collection_size": 100_000,
            "measures": ["AP", "MNRO", "gMNRO"],
            "marks": {
                "grades": "3 2 2 1 1",
                "clusters": "sea_lion harbour_bridge+opera_house turtle - pelican",
            },
        },
        "ten lists and six methods": {
            "measures": six,
            "lists": 10,
            "relevant": 8,
            "collection_size": 1000,
        },
        "two methods": {"measures": ["AP", "MNRO"], "lists": 3, "relevant": 1},
    }
    for number, (state, design) in enumerate(designs.items()):
        slug = f"design-{number}-{language}"
        house.study(slug, language=language, questions=1, practice=False, **design)
        visitor = house.visitor(slug, language)
        visitor.prepare()
        yield house.seen("Question", state, visitor, language)
    slug = f"first-{language}"
    house.study(slug, language=language, columns="after")
    visitor = house.visitor(slug, language)
    visitor.start()
    yield house.seen("Own ranking first", "empty", visitor, language)
    visitor.submit("/q/1", rank_A="1")
    yield house.seen("Own ranking first", "error: places missing", visitor, language)
    visitor.submit("/q/1", **OWN)
    yield house.seen("Own ranking first", "compared with the methods", visitor, language)
    slug = f"never-{language}"
    house.study(slug, language=language, columns="never", practice=False)
    visitor = house.visitor(slug, language)
    visitor.prepare()
    yield house.seen("Question", "no methods", visitor, language)
    visitor.submit("/q/1", rank_A="1")
    yield house.seen("Question", "error: places missing, no methods", visitor, language)
