"""“About you”: what may be left unsaid, and the least age, which the consent names."""

import pytest

from survey.db.models import Participant
from tests.builders import Visitor, an_open_study
from tests.databases import ON_SQLITE

pytestmark = ON_SQLITE

FIELDS = [
    {"name": "age", "label": "Your age", "kind": "number", "lowest": 10, "highest": 110},
    {"name": "sort", "label": "Your sort", "kind": "choice", "options": ["One", "Another"]},
    {"name": "job", "label": "Your job", "kind": "text"},
    {"name": "sure", "label": "How sure are you?", "kind": "scale"},
]


def an_asking_study(session, *, required=True, **changes):
    fields = [{**field, "required": required} for field in FIELDS]
    fields[0] |= changes
    return an_open_study(session, personal_fields=fields)


@pytest.fixture
def visitor(client):
    return Visitor(client)


@pytest.mark.parametrize(
    ("language", "unsaid"), [("en", "Prefer not to say"), ("el", "Προτιμώ να μην απαντήσω")]
)
def test_what_may_stay_unsaid_is_unsaid_at_first(visitor, session, language, unsaid):
    fields = [{**field, "required": False} for field in FIELDS]
    an_open_study(session, personal_fields=fields, language=language)
    visitor.go("/about-you")
    page = visitor.page
    assert page.select_one("#sort [selected]").text == unsaid
    assert page.select_one("#sort option").text == unsaid
    assert unsaid in page.select_one("#sure label:has([checked])").text
    for name in ("age", "job"):
        field = page.select_one(f"#{name}")
        assert (field.get("value", ""), field["placeholder"]) == ("", unsaid)
    assert len(unsaid) <= int(page.select_one("#age")["size"])
    visitor.submit("/about-you", age="", sort="", job="", sure="")
    assert visitor.path == "/scenario"
    assert session.query(Participant).one().personal == {}


def test_what_was_said_is_shown_again_in_place_of_unsaid(visitor, session):
    an_asking_study(session, required=False)
    visitor.go("/scenario", age="23", sort="Another", job="cook", sure="4")
    visitor.open("/about-you")
    assert visitor.page.select_one("#age")["value"] == "23"
    assert visitor.page.select_one("#sort [selected]").text == "Another"
    assert [each["value"] for each in visitor.page.select("[name=sure][checked]")] == ["4"]


def test_what_must_be_answered_offers_no_way_around_it(visitor, session):
    an_asking_study(session)
    visitor.go("/about-you")
    assert "Prefer not to say" not in str(visitor.page)
    visitor.submit("/about-you", age="", sort="", job="", sure="")
    assert len(visitor.page.select(".problems li")) == 4


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "You must be at least 18 to take part."),
        ("el", "Για να συμμετάσχετε πρέπει να είστε τουλάχιστον 18 ετών."),
    ],
)
def test_the_consent_names_the_least_age(visitor, session, language, sentence):
    fields = [{**FIELDS[0], "screen_below": 18}]
    an_open_study(session, personal_fields=fields, language=language)
    visitor.go("/consent")
    assert sentence in visitor.text


def test_the_consent_names_the_least_of_another_number(visitor, session):
    an_asking_study(session, name="years", label="Years of search", screen_below=2, lowest=0)
    visitor.go("/consent")
    assert "To take part, your answer to “Years of search” must be at least 2." in visitor.text


def test_a_consent_without_a_least_age_names_none(visitor, session):
    an_asking_study(session)
    visitor.go("/consent")
    assert "at least" not in visitor.text


@pytest.mark.parametrize("age", ["17", "10"])
def test_a_lower_age_ends_the_survey_and_nothing_of_it_is_stored(visitor, session, age):
    an_asking_study(session, screen_below=18)
    visitor.go("/about-you")
    visitor.submit("/about-you", age=age, sort="One", job="cook", sure="4")
    assert visitor.path == "/screened-out"
    person = session.query(Participant).one()
    assert (person.status, person.personal) == ("screened_out", {})
    visitor.open("/about-you")
    assert visitor.path == "/screened-out"
    assert age not in visitor.client.get(f"{visitor.home}/my-data.json").json["about_you"].values()


@pytest.mark.parametrize(("age", "problem"), [("", "Please fill in"), ("5", "from 10 to 110")])
def test_a_least_age_needs_an_age_that_can_be(visitor, session, age, problem):
    an_asking_study(session, screen_below=18)
    visitor.go("/about-you")
    visitor.submit("/about-you", age=age, sort="One", job="cook", sure="4")
    assert visitor.status == 400
    assert problem in visitor.text


def test_the_least_age_takes_part(visitor, session):
    an_asking_study(session, screen_below=18)
    visitor.go("/about-you")
    visitor.submit("/about-you", age="18", sort="One", job="cook", sure="4")
    assert visitor.path == "/scenario"
