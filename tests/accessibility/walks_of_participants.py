"""What participants come by, from the first page to the questions, in a study's language."""

from collections.abc import Iterator
from typing import Any

import pytest

from survey.services import answers, guests, tokens
from survey.services.recruitment import Recruitment
from tests.accessibility.sights import House, Sight
from tests.builders import KEY, Visitor
from tests.promises.walks import begin_questions, reach_the_scenario
from tests.web.test_unsaved import locked, unreachable

OWN = {f"rank_{letter}": place for letter, place in zip("ABCDE", "21345", strict=True)}
FIELDS = [
    {"name": "age", "label": "Your age", "kind": "number", "lowest": 16, "highest": 120},
    {"name": "field", "label": "Your field", "kind": "choice", "options": ["IR", "Other"]},
    {"name": "remark", "label": "Remarks", "kind": "text", "required": False, "help": "Anything."},
]


def coming(house: House, language: str) -> Iterator[Sight]:
    """The first page, in whatever state a study and a browser are."""
    slug = f"coming-{language}"
    house.study(slug, language=language, contact="ada@example.org")
    visitor = house.visitor(slug, language)
    visitor.open()
    yield house.seen("First page", "first visit", visitor, language)
    visitor.submit("/resume", code="WRONG-WRONG-WRON")
    yield house.seen("First page", "error: no such code", visitor, language)
    visitor.open()
    visitor.submit("/begin")
    visitor.open()
    yield house.seen("First page", "begun on this device", visitor, language)
    visitor.submit("/leave")
    begin_questions(visitor)
    late = house.visitor(slug, language)
    late.open()
    house.close(slug)
    visitor.open()
    yield house.seen("First page", "closed, with answers saved", visitor, language)
    late.submit("/begin")
    yield house.seen("Error", "403 closed", late, language)
    late.open()
    yield house.seen("First page", "closed", late, language)


def coming_late(house: House, language: str) -> Iterator[Sight]:
    """The first page where there is no place."""
    slug = f"late-{language}"
    house.study(slug, language=language, participants=1)
    first, second = house.visitor(slug, language), house.visitor(slug, language)
    second.open()
    form = {tag["name"]: tag.get("value", "") for tag in second.page.select("[type=hidden]")}
    begin_questions(first)
    second.post("/begin", **form)
    yield house.seen("Error", "403 all places taken", second, language)
    second.open()
    yield house.seen("First page", "full", second, language)


def coming_invited(house: House, language: str) -> Iterator[Sight]:
    """The first page of a study for guests, and of one that a platform sends people to."""
    slug = f"invited-{language}"
    study = house.study(slug, Recruitment(access="personal"), language=language)
    guests.invite(house.session, study, ["Ann"])
    link = guests.link_token(KEY, guests.guests_of(house.session, study)[0])
    visitor = house.visitor(slug, language)
    visitor.open()
    yield house.seen("First page", "without the personal link", visitor, language)
    visitor.open("?guest=NOTALINK")
    yield house.seen("First page", "wrong personal link", visitor, language)
    visitor.open(f"?guest={link}")
    yield house.seen("First page", "personal link", visitor, language)
    visitor.submit("/begin")
    yield house.seen("Consent", "by personal link", visitor, language)
    other = house.visitor(slug, language)
    other.open(f"?guest={link}")
    yield house.seen("First page", "personal link used", other, language)
    other.open(f"?test={tokens.test_run_token(KEY, slug)}")
    yield house.seen("First page", "test run", other, language)
    house.study(f"sent-{language}", Recruitment(id_required=True), language=language)
    sent = house.visitor(f"sent-{language}", language)
    sent.open()
    yield house.seen("First page", "without the platform's id", sent, language)


def preparing(house: House, language: str) -> Iterator[Sight]:
    """Consent, About you, scenario."""
    slug = f"preparing-{language}"
    until = {"personal_until": "2099-06-30"}
    house.study(slug, language=language, personal_fields=FIELDS, **until)
    visitor = house.visitor(slug, language)
    visitor.open()
    visitor.submit("/begin")
    yield house.seen("Consent", "empty", visitor, language)
    visitor.submit("/consent")
    yield house.seen("Consent", "error: not agreed", visitor, language)
    visitor.submit("/consent", agree="y", consent_version="another text")
    yield house.seen("Consent", "error: another version", visitor, language)
    visitor.submit("/consent", agree="y")
    yield house.seen("About you", "empty", visitor, language)
    visitor.submit("/about-you", age="seven")
    yield house.seen("About you", "error: two fields", visitor, language)
    visitor.submit("/about-you", age="23", field="IR")
    yield house.seen("Scenario", "not read yet", visitor, language)
    visitor.open("/consent")
    yield house.seen("Consent", "agreed", visitor, language)
    visitor.open("/about-you")
    yield house.seen("About you", "saved", visitor, language)
    house.study(f"nothing-{language}", language=language, personal_fields=[])
    silent = house.visitor(f"nothing-{language}", language)
    reach_silently(silent)
    yield house.seen("About you", "nothing is asked", silent, language)


def reach_silently(visitor: Visitor) -> None:
    """Go from the entry to "About you"."""
    visitor.open()
    visitor.submit("/begin")
    visitor.submit("/consent", agree="y")


def practising(house: House, language: str) -> Iterator[Sight]:
    """The practice question, in its states."""
    slug = f"practising-{language}"
    house.study(slug, language=language)
    visitor = house.visitor(slug, language)
    reach_the_scenario(visitor)
    with unreachable(house.session.get_bind()):
        visitor.submit("/scenario")
    yield house.seen("Not saved yet", "503, a form", visitor, language)
    visitor.submit("/scenario")
    yield house.seen("Practice", "empty", visitor, language)
    visitor.submit("/practice", choice="own", rank_A="1")
    yield house.seen("Practice", "error: places missing", visitor, language)
    visitor.submit("/practice", choice="1")
    yield house.seen("Practice", "saved", visitor, language)


def answering(house: House, language: str) -> Iterator[Sight]:
    """A question, in its states."""
    slug = f"answering-{language}"
    house.study(slug, language=language)
    visitor = house.visitor(slug, language)
    begin_questions(visitor)
    visitor.submit("/practice", choice="1")
    visitor.submit("/start")
    yield house.seen("Question", "empty", visitor, language)
    visitor.submit("/q/1")
    yield house.seen("Question", "error: nothing ticked", visitor, language)
    visitor.submit("/q/1", choice=["1", "own"])
    yield house.seen("Question", "error: method and own", visitor, language)
    visitor.submit("/q/1", choice="own", rank_A="1", rank_C="2")
    yield house.seen("Question", "error: own ranking incomplete", visitor, language)
    yield from _troubles(house, visitor, language)
    sent = {tag["name"]: tag.get("value", "") for tag in visitor.page.select("#vote [type=hidden]")}
    visitor.submit("/q/1", choice=["1", "3"])
    visitor.open("/q/1")
    yield house.seen("Question", "saved", visitor, language)
    visitor.post("/q/1", **{**sent, "choice": "2"})
    yield house.seen("Question", "error: changed in another window", visitor, language)
    visitor.open("/q/2")
    visitor.submit("/q/2", choice="own", **OWN)
    visitor.open("/q/2")
    yield house.seen("Question", "own ranking saved", visitor, language)
    visitor.open("/review")
    yield house.seen("Question", "sent back by an answer that lacks", visitor, language)


def _troubles(house: House, visitor: Visitor, language: str) -> Iterator[Sight]:
    engine = house.session.get_bind()
    with locked(engine):
        visitor.submit("/q/1", choice=["1", "3"], rank_B="2")
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
        begin_questions(visitor)
        yield house.seen("Question", state, visitor, language)
    slug = f"first-{language}"
    house.study(slug, language=language, rank_first=True)
    visitor = house.visitor(slug, language)
    begin_questions(visitor)
    yield house.seen("Own ranking first", "practice", visitor, language)
    visitor.submit("/practice", **OWN)
    visitor.submit("/practice", choice="1")
    visitor.submit("/start")
    yield house.seen("Own ranking first", "empty", visitor, language)
    visitor.submit("/q/1", rank_A="1")
    yield house.seen("Own ranking first", "error: places missing", visitor, language)
    visitor.submit("/q/1", **OWN)
    yield house.seen("Own ranking first", "compared with the methods", visitor, language)


def finishing(house: House, language: str) -> Iterator[Sight]:
    """The review and the last pages."""
    slug = f"finishing-{language}"
    house.study(slug, language=language, questions=2, contact="ada@example.org")
    visitor = house.visitor(slug, language)
    begin_questions(visitor)
    visitor.submit("/practice", choice="1")
    visitor.submit("/start")
    visitor.submit("/q/1", choice=["1", "2"])
    visitor.submit("/q/2", choice="own", **OWN)
    yield house.seen("Review", "everything answered", visitor, language)
    visitor.open("/my-data")
    yield house.seen("My data", "under way", visitor, language)
    visitor.open("/review")
    visitor.submit("/review")
    yield house.seen("Finished", "receipt", visitor, language)
    visitor.open()
    yield house.seen("First page", "finished on this device", visitor, language)
    visitor.open("/my-data")
    yield house.seen("My data", "handed in", visitor, language)
    visitor.submit("/erase")
    yield house.seen("My data", "error: not sure", visitor, language)
    other = house.visitor(slug, language)
    other.open("/my-data")
    yield house.seen("My data", "whose?", other, language)
    other.submit("/my-data", code="WRONG-WRONG-WRON")
    yield house.seen("My data", "error: no such code", other, language)
    visitor.submit("/erase", sure="y")
    yield house.seen("Erased", "everything deleted", visitor, language)


def ending(house: House, language: str) -> Iterator[Sight]:
    """Ends other than the review, with the codes of a platform."""
    slug = f"ending-{language}"
    codes = {"code_complete": "DONE-1", "code_declined": "NO-2", "code_screened_out": "OUT-3"}
    settings = Recruitment(**codes, return_url="https://platform.example/?cc={code}")
    known = {"name": "known", "label": "Have you built a search engine?", "kind": "choice"}
    fields = [{**known, "options": ["No", "Yes"], "screen_out": ["Yes"]}]
    design = {"questions": 1, "practice": False, "personal_fields": fields}
    house.study(slug, settings, language=language, **design)
    visitor = _sent(house, slug, 1, language)
    visitor.submit("/decline")
    yield house.seen("Declined", "with a code", visitor, language)
    visitor.open()
    yield house.seen("First page", "declined", visitor, language)
    visitor = _sent(house, slug, 2, language)
    visitor.submit("/consent", agree="y")
    visitor.submit("/about-you", known="Yes")
    yield house.seen("Screened out", "with a code", visitor, language)
    visitor.open()
    yield house.seen("First page", "screened out", visitor, language)
    visitor = _sent(house, slug, 3, language)
    visitor.submit("/consent", agree="y")
    visitor.submit("/about-you", known="No")
    visitor.submit("/scenario")
    yield house.seen("Question", "the only one", visitor, language)
    visitor.submit("/q/1", choice="1")
    visitor.submit("/review")
    yield house.seen("Finished", "code and way back", visitor, language)
    visitor = _sent(house, slug, 4, language)
    visitor.open("/my-data")
    visitor.submit("/stop")
    yield house.seen("Stopped", "by oneself", visitor, language)
    visitor.open()
    yield house.seen("First page", "stopped", visitor, language)


def _sent(house: House, slug: str, number: int, language: str) -> Visitor:
    visitor = house.visitor(slug, language)
    visitor.open(f"?PROLIFIC_PID=p{number}")
    visitor.submit("/begin")
    return visitor


def failing(house: House, language: str) -> Iterator[Sight]:
    """Pages of errors, in the language of a study or of the reader."""
    slug = f"failing-{language}"
    house.study(slug, language=language)
    visitor = house.visitor(slug, language)
    visitor.post("/begin", csrf_token="old")
    yield house.seen("First page", "error: an old form", visitor, language)
    visitor.open("/q/1x")
    assert visitor.status == 404
    yield house.seen("Error", "404 no such page", visitor, language)
    visitor.open("/begin")
    yield house.seen("Error", "405 method", visitor, language)
    visitor.post("/begin", code="x" * 70_000)
    yield house.seen("Error", "413 too much text", visitor, language)
    with unreachable(house.session.get_bind()):
        visitor.open()
    yield house.seen("Error", "503 busy", visitor, language)
    views = house.app.view_functions
    kept = views["participant.entry"]
    views["participant.entry"] = lambda **_: 1 / 0
    visitor.open()
    views["participant.entry"] = kept
    yield house.seen("Error", "500 our fault", visitor, language)
    no_study = house.visitor(f"no-study-{language}", language)
    no_study.open()
    yield house.seen("Error", "404 no such study", no_study, language)


WALKS = (
    *(coming, coming_late, coming_invited, preparing, practising, answering),
    *(answering_otherwise, finishing, ending, failing),
)
