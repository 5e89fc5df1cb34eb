"""What participants come by after the questions, or instead of them."""

from collections.abc import Iterator

from survey.services.studies.recruitment import Recruitment
from tests.accessibility.sights import House, Sight
from tests.accessibility.walks_through_questions import OWN
from tests.builders import Visitor
from tests.web.test_closing import QUESTIONS
from tests.web.test_unsaved import unreachable


def finishing(house: House, language: str) -> Iterator[Sight]:
    """The review and the last pages."""
    slug = f"finishing-{language}"
    house.study(slug, language=language, questions=2, contact="ada@example.org")
    visitor = house.visitor(slug, language)
    visitor.start()
    visitor.submit("/q/1", choice=["1", "2"], settle="several")
    visitor.insist("/q/2", choice="own", **OWN)
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


IN_GREEK = {
    "ease": {"label": "Πόσο εύκολο ήταν;", "options": ["πολύ δύσκολο", "πολύ εύκολο"]},
    "sure": {"label": "Πόσο σίγουροι ήσασταν;"},
    "remarks": {"label": "Άλλα σχόλια;"},
}


def telling_more(house: House, language: str) -> Iterator[Sight]:
    """Reasons and closing questions, of a study that asks for both."""
    slug, why, asked = f"more-{language}", "Why?", QUESTIONS
    if language == "el":
        why, asked = "Γιατί;", [{**each, **IN_GREEK[each["name"]]} for each in QUESTIONS]
    design = {"questions": 1, "reason_question": why, "closing_questions": asked}
    house.study(slug, language=language, **design)
    visitor = house.visitor(slug, language)
    visitor.start()
    yield house.seen("Question", "with a reason", visitor, language)
    visitor.submit("/q/1", choice="1", reason="x" * 2001)
    yield house.seen("Question", "error: too long a reason", visitor, language)
    visitor.submit("/q/1", choice="1", reason="B is earlier.")
    yield house.seen("Closing questions", "empty", visitor, language)
    visitor.submit("/closing", remarks="x" * 2001)
    yield house.seen("Closing questions", "error: two fields", visitor, language)
    visitor.submit("/closing", ease="4", remarks="Fine.")
    yield house.seen("Review", "with a reason and closing questions", visitor, language)
    visitor.open("/closing")
    yield house.seen("Closing questions", "answered", visitor, language)
    visitor.open("/my-data")
    yield house.seen("My data", "with a reason and closing questions", visitor, language)


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
    visitor.submit("/stop", csrf_token="old")
    yield house.seen("My data", "error: a button of an old page", visitor, language)
    visitor.submit("/stop")
    yield house.seen("Stopped", "by oneself", visitor, language)
    visitor.open()
    yield house.seen("First page", "stopped", visitor, language)
    visitor.open("?PROLIFIC_PID=p4&SESSION_ID=again")
    yield house.seen("First page", "sent again by a platform", visitor, language)


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
