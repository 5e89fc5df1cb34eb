"""Two lists in a real browser: by keys, at every width, in both themes, and without scripts."""

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from survey.app import db
from survey.core.kinds import KINDS
from tests.accessibility.looking import ask, axe, prepared
from tests.browser.test_labelling import CHECKS, begin
from tests.browser.test_participant import at, start
from tests.preferred import a_preference_study

pytestmark = pytest.mark.slow

PICTURES = {"show_items": True, "show_positions": False, "mark_relevant": True}
ASKING = {"ask_strength": True, "ask_satisfaction": True, "reason_question": "Why?"}


def a_study(server, slug, **changes):
    with server.app.app_context():
        a_preference_study(db.session, slug, **changes)
        db.session.remove()
    return f"{server.address}/s/{slug}"


def stored(server, count):
    """The answers that were stored last."""
    table = KINDS["preference"].tables.response
    with server.app.app_context():
        rows = db.session.execute(select(table).order_by(table.c.response_id)).all()
        db.session.remove()
    return [row[1:] for row in rows][-count:]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_a_question_fits_and_can_be_read(browser, server, width, theme):
    addresses = (
        a_study(server, f"pictures-{width}-{theme}", **PICTURES, **ASKING),
        a_study(server, f"numbers-{width}-{theme}"),
    )
    for address in addresses:
        context = prepared(browser)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        start(page, address)
        page.wait_for_load_state("networkidle")
        left, right = (page.locator(".side").nth(nth).bounding_box() for nth in (0, 1))
        is_below = right["y"] >= left["y"] + left["height"]
        assert is_below == (width == 360)
        assert page.locator(".switch").is_visible() == (width == 360)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        where = f"{width} px, {theme}"
        assert [
            *axe(page, where),
            *(each for name in CHECKS for each in ask(page, name, where)),
        ] == []
        context.close()


def test_keys_choose_and_enter_saves(browser, server):
    context = prepared(browser)
    page = context.new_page()
    begin(page, a_study(server, "by-keys", reason_question="Why?"))
    for position, key in enumerate("2134", 1):
        page.wait_for_url(f"**/q/{position}")
        page.keyboard.press(key)
        page.keyboard.press("Enter")
    page.wait_for_url("**/q/5")
    page.locator("#reason").fill("1 is nearer")  # a key that is typed chooses nothing
    assert page.locator("[name=preferred]:checked").count() == 0
    assert [row[0] for row in stored(server, 4)] == ["right", "left", "equal", "neither"]
    context.close()


def test_a_phone_switches_between_the_lists_and_works_without_scripts(browser, server):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 360, "height": 740})
    page = context.new_page()
    begin(page, a_study(server, "no-scripts", **PICTURES, **ASKING))
    for number in (2, 1, 2):
        page.locator(f".switch a[href='#list-{number}']").click()
        box = page.locator(f"#name-{number}").bounding_box()
        bar = page.locator(".switch").bounding_box()
        assert bar["y"] + bar["height"] <= box["y"] <= 740 / 2  # not below the bar
    page.locator(".switch a[href='#preferred']").click()
    page.get_by_label("List 2 is better").check()
    page.locator("[name=strength][value='2']").check()
    for side in ("left", "right"):
        page.locator(f"[name=satisfaction_{side}][value='4']").check()
    page.locator("button.go").click()
    page.wait_for_url("**/q/2")
    assert stored(server, 1) == [("right", 2, 4, 4)]
    context.close()


def test_how_much_better_is_asked_only_where_one_list_is_better(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "how-much", **ASKING))
    strength = page.locator("#strength")
    for value, is_asked in (("left", True), ("equal", False), ("right", True), ("neither", False)):
        page.locator(f"[name=preferred][value={value}]").check()
        assert strength.is_visible() == is_asked
    context.close()


def test_an_answer_that_was_sent_back_survives_back_and_reload(browser, server):
    address = a_study(server, "prefer-sent-back", **ASKING)
    context = prepared(browser)
    page = context.new_page()
    start(page, address)
    page.get_by_label("Why?").fill("B is earlier")
    with page.expect_navigation():
        page.locator("button.go").click()
    expect(page.locator("#problems")).to_be_visible()
    page.locator("[name=preferred]").first.check()
    for look_again in (page.reload, lambda: (page.goto(f"{address}/my-data"), page.go_back())):
        look_again()
        at(page, "/q/1")
        expect(page.get_by_label("Why?")).to_have_value("B is earlier")
        expect(page.locator("[name=preferred]").first).to_be_checked()
    context.close()
