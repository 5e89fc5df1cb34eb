"""What participants come by before the questions, in a study's language."""

from collections.abc import Iterator

from survey import tokens
from survey.services.studies import recruitment
from survey.services.studies.recruitment import Recruitment
from tests.accessibility.sights import House, Sight
from tests.builders import KEY, Visitor

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
    visitor.prepare()
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
    first.prepare()
    second.post("/begin", **form)
    yield house.seen("Error", "403 all places taken", second, language)
    second.open()
    yield house.seen("First page", "full", second, language)


def coming_invited(house: House, language: str) -> Iterator[Sight]:
    """The first page of a study for guests, and of one that a platform sends people to."""
    slug = f"invited-{language}"
    study = house.study(slug, Recruitment(access="personal"), language=language)
    recruitment.add_guests(house.session, study, ["Ann"])
    link = recruitment.link_token(KEY, recruitment.guests_of(house.session, study)[0])
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
    sent.open("?PROLIFIC_PID={{%25PROLIFIC_PID%25}}")
    yield house.seen("First page", "a placeholder in place of the id", sent, language)
    sent.go("/about-you", query="?PROLIFIC_PID=p1")
    again = house.visitor(f"sent-{language}", language)
    again.open("?PROLIFIC_PID=p1")
    yield house.seen("First page", "the platform's id taken", again, language)


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
