"""Reasons and closing questions in a real browser: what was begun survives a reload."""

import pytest
from playwright.sync_api import expect

from survey.db.models import Participant, Presentation, StoredResponse
from tests.browser.test_participant import at, save, start, tick
from tests.web.test_closing import QUESTIONS

pytestmark = pytest.mark.slow


@pytest.fixture
def more(server, request):
    """The link of a study with one question, which asks for a reason and has closing questions."""
    slug = f"more-{request.node.name.partition('[')[0][-40:].strip('_').replace('_', '-')}"
    design = {"questions": 1, "reason_question": "Why?", "closing_questions": QUESTIONS}
    return server.open_study(slug, **design)


def stored(server, model, column):
    with server.app.app_context():
        from survey.app import db

        values = [getattr(row, column) for row in db.session.query(model).order_by(model.id)]
        db.session.remove()
    return values


def test_a_half_written_reason_and_closing_page_survive_a_reload(server, page, more):
    start(page, more)
    page.get_by_label("Why?").fill("B is earlier")
    page.reload()
    expect(page.get_by_label("Why?")).to_have_value("B is earlier")
    expect(page.locator("#kept")).to_be_visible()
    tick(page, 1)
    save(page)
    at(page, "/closing")
    assert "B is earlier" in stored(server, StoredResponse, "reason")
    page.get_by_role("group", name="How easy").or_(
        page.get_by_role("radiogroup", name="How easy")
    ).get_by_label("4").check()
    page.get_by_label("Any remarks?").fill("Fi")
    page.reload()
    expect(page.get_by_label("Any remarks?")).to_have_value("Fi")
    expect(page.locator("[name=ease][value='4']")).to_be_checked()
    expect(page.locator("#kept")).to_be_visible()
    page.get_by_role("link", name="Back", exact=True).click()
    at(page, "/q/1")
    expect(page.get_by_label("Why?")).to_have_value("B is earlier")
    save(page)
    at(page, "/closing")
    save(page)
    at(page, "/review")
    assert {"ease": 4, "remarks": "Fi"} in stored(server, Participant, "closing")
    page.get_by_role("link", name="Change the answers to the closing questions").click()
    expect(page.locator("#kept")).to_be_hidden()
    expect(page.get_by_label("Any remarks?")).to_have_value("Fi")


def test_a_mark_goes_when_a_scale_is_answered(page, more):
    start(page, more)
    tick(page, 1)
    save(page)
    at(page, "/closing")
    save(page)
    expect(page.locator(".problems")).to_contain_text("Please fill in: How easy was it.")
    page.locator("[name=ease][value='2']").check()
    expect(page.locator(".problems")).to_have_count(0)
    expect(page.locator("[aria-invalid]")).to_have_count(0)


def test_closing_questions_that_were_sent_back_survive_back_and_reload(server, page, more):
    start(page, more)
    tick(page, 1)
    save(page)
    at(page, "/closing")
    page.get_by_label("Any remarks?").fill("Fi")
    save(page)
    expect(page.locator(".problems")).to_contain_text("Please fill in: How easy was it.")
    page.locator("[name=ease][value='2']").check()
    for look_again in (page.reload, lambda: (page.goto(f"{more}/my-data"), page.go_back())):
        look_again()
        at(page, "/closing")
        expect(page.get_by_label("Any remarks?")).to_have_value("Fi")
        expect(page.locator("[name=ease][value='2']")).to_be_checked()
        expect(page.locator("#kept")).to_be_visible()
    save(page)
    at(page, "/review")
    page.go_back()
    at(page, "/closing")
    expect(page.locator("[name=ease][value='2']")).to_be_checked()
    assert {"ease": 2, "remarks": "Fi"} in stored(server, Participant, "closing")


def test_an_answer_that_is_sent_back_is_counted_once(server, page, more):
    start(page, more)
    save(page)
    expect(page.locator("#problems")).to_be_visible()
    assert stored(server, Presentation, "refusals")[-1] == 1


@pytest.mark.parametrize("name", ["submit", "action", "kept"])
def test_a_question_may_be_called_like_a_part_of_its_form(server, page, name):
    """In a script, ``form.submit`` is then the field of that name."""
    asked = {"name": name, "label": "Anything else?", "kind": "text"}
    other = {**asked, "name": "other", "required": False}
    link = server.open_study(f"called-{name}", questions=1, closing_questions=[asked, other])
    start(page, link)
    tick(page, 1)
    save(page)
    at(page, "/closing")
    addresses = []
    page.on("request", lambda sent: addresses.append(sent.url) if sent.method == "POST" else None)
    page.locator("[name=other]").fill("No")
    page.reload()
    expect(page.locator("[name=other]")).to_have_value("No")
    expect(page.get_by_text("Not saved yet: what you had begun")).to_be_visible()
    save(page)
    expect(page.locator(".problems")).to_contain_text("Please fill in: Anything else.")
    page.locator(f"[name={name}]").fill("Yes")
    save(page)
    at(page, "/review")
    assert {name: "Yes", "other": "No"} in stored(server, Participant, "closing")
    assert {*addresses} == {f"{link}/closing"}
    assert page.faults == []
