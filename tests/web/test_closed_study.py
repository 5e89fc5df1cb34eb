"""Once a study is closed, no page is a dead end: each has the contact and the way to one's data."""

import pytest

from survey.services.studies import lifecycle
from tests.builders import SLUG, Visitor, a_plan, an_open_study
from tests.databases import ON_SQLITE
from tests.routes import address_of

pytestmark = ON_SQLITE

CONTACT = "Ada, ada@example.org"
CLOSING = [{"name": "ease", "label": "How easy was it?", "kind": "scale"}]
REACHED = {
    "nobody": (),
    "consent": ("/consent",),
    "about you": ("/about-you",),
    "scenario": ("/scenario",),
    "practice": ("/practice",),
    "question": ("/q/1",),
    "closing": ("/closing",),
    "review": ("/review",),
    "done": ("/done",),
}
NOT_HTML = ("participant.picture", "participant.download")


@pytest.fixture
def study(session):
    return an_open_study(session, questions=2, contact=CONTACT, closing_questions=CLOSING)


def addresses(app):
    """Each address of participants' pages, with the methods that it takes."""
    for rule in app.url_map.iter_rules():
        if rule.endpoint.startswith("participant.") and rule.endpoint not in NOT_HTML:
            yield address_of(rule, position=2), rule.methods & {"GET", "POST"}
    yield f"/s/{SLUG}/no-such-page", {"GET", "POST"}
    yield f"/s/{SLUG}/q/999", {"GET", "POST"}


def look(visitor, address, method):
    path = address.removeprefix(visitor.home)
    visitor.open(path) if method == "GET" else visitor.post(path)
    assert visitor.status < 500, (address, method)
    assert f"Questions? {CONTACT}" in visitor.text, (address, method)


def leads_to_own_data(visitor):
    links = {link["href"] for link in visitor.page.select("a[href]")}
    return visitor.path in ("/my-data", "/stop", "/erase") or f"/s/{SLUG}/my-data" in links


@pytest.mark.parametrize("reached", REACHED)
def test_every_page_of_a_closed_study_has_the_contact_and_leads_to_ones_data(
    app, client, session, study, reached
):
    visitor = Visitor(client)
    if REACHED[reached]:
        visitor.go(*REACHED[reached])
    lifecycle.close_study(session, study)
    for address, methods in addresses(app):
        for method in methods:
            look(visitor, address, method)
            # Whoever erased their data has none.
            if visitor.path != "/erased":
                assert leads_to_own_data(visitor), (address, method)


@pytest.mark.parametrize("language", ["en", "el"])
def test_newcomers_read_that_a_study_takes_no_new_participants(client, session, language):
    study = an_open_study(session, "ending", questions=2, language=language)
    begun, late = Visitor(client, "ending"), Visitor(client.application.test_client(), "ending")
    begun.go("/q/1")
    code = begun.page.select_one(".code, code").text
    late.open()
    token = late.page.select_one("[name=csrf_token]")["value"]
    lifecycle.end_admission(session, study)
    late.open()
    sentences = {
        "en": "This survey takes no new participants. Those who have already begun can finish.",
        "el": "Αυτή η έρευνα δεν δέχεται νέες συμμετοχές.",
    }
    assert sentences[language] in late.text
    assert not late.page.select("form[action$='/begin']")
    late.post("/begin", csrf_token=token)
    assert late.status == 403
    assert sentences[language] in late.text
    begun.go("/done", query="/q/1")
    late.open()
    late.submit("/resume", code=code)
    assert late.path == "/done"


def test_an_answer_to_a_study_that_closed_meanwhile_is_told_where_ones_data_are(
    client, session, study
):
    visitor = Visitor(client)
    visitor.start()
    lifecycle.close_study(session, study)
    visitor.submit("/q/1", choice="1")
    assert visitor.status == 403
    assert "What you sent just now is not saved." in visitor.text
    assert CONTACT in visitor.text
    again = Visitor(client)
    again.open("/q/1")
    assert "It takes no more answers." in again.text
    assert "What you sent just now" not in again.text, "nothing was sent"
    visitor.open(visitor.page.select_one("a[href$='/my-data']")["href"].removeprefix(visitor.home))
    assert "Download my data (JSON)" in visitor.text


def test_after_an_erasure_the_contact_stays(client, session, study):
    visitor = Visitor(client)
    visitor.start()
    lifecycle.close_study(session, study)
    visitor.open("/my-data")
    visitor.submit("/erase", sure="y")
    assert visitor.path == "/erased"
    assert CONTACT in visitor.text


def test_whoever_finds_no_place_reads_whom_to_ask(app, session):
    an_open_study(session, participants=1, contact=CONTACT)
    first, late = Visitor(app.test_client()), Visitor(app.test_client())
    late.go("/consent")
    first.start()
    late.submit("/consent", agree="y")
    assert late.status == 403
    assert CONTACT in late.text
    assert leads_to_own_data(late)


def test_a_draft_says_neither_its_title_nor_its_contact(client, session):
    lifecycle.create_study(session, "draft", a_plan(contact=CONTACT))
    for address in ("/s/draft", "/s/draft/no-such-page"):
        page = client.get(address).text
        assert CONTACT not in page
        assert "Ordering search results" not in page
