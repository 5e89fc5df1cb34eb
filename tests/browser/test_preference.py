"""Two lists in a real browser: by keys, at every width, in both themes, and without scripts."""

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from survey.app import db
from survey.core.kinds import KINDS
from tests.accessibility.looking import ask, axe, prepared
from tests.browser.test_labelling import CHECKS, begin
from tests.browser.test_participant import at, start
from tests.preferred import DOCUMENTS, a_preference_study

pytestmark = pytest.mark.slow

PICTURES = {"show_items": True, "show_positions": False, "mark_relevant": True}
TEXTS = {
    **{"show_items": True, "show_positions": False, "depth": 8, "mark_query_words": True},
    "texts": {each: f"{each}, something that is told in two lines or three" for each in DOCUMENTS},
}
ASKING = {"ask_strength": True, "ask_satisfaction": True, "reason_question": "Why?"}
SCREENS = {360: 740, 768: 1024, 1280: 800}


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
    addresses = {
        "pictures": a_study(server, f"pictures-{width}-{theme}", **PICTURES, **ASKING),
        "numbers": a_study(server, f"numbers-{width}-{theme}"),
        "texts": a_study(server, f"texts-{width}-{theme}", **TEXTS),
    }
    for name, address in addresses.items():
        context = prepared(browser)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": SCREENS[width]})
        page.emulate_media(color_scheme=theme)
        start(page, address)
        page.wait_for_load_state("networkidle")
        left, right = (page.locator(".side").nth(nth).bounding_box() for nth in (0, 1))
        is_below = right["y"] >= left["y"] + left["height"]
        assert is_below == (width == 360)
        assert page.locator(".switch").is_visible() == (width == 360 and name == "texts")
        # All that is asked about a list is at the list, so that the bar leaves room for both.
        assert page.locator(".bar").bounding_box()["height"] < SCREENS[width] * 0.3
        assert page.evaluate("document.documentElement.scrollWidth") == width
        where = f"{width} px, {theme}"
        assert [
            *axe(page, where),
            *(each for check in CHECKS for each in ask(page, check, where)),
        ] == []
        context.close()


def test_in_a_low_window_the_bar_is_behind_the_lists_and_covers_nothing(browser, server):
    context = prepared(browser)
    page = context.new_page()
    page.set_viewport_size({"width": 640, "height": 360})
    start(page, a_study(server, "low", **TEXTS))
    page.wait_for_load_state("networkidle")
    assert page.locator(".bar").bounding_box()["y"] > 360
    assert [*ask(page, "unseen", "640 × 360 px"), *ask(page, "sideways", "640 × 360 px")] == []
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
    phone = {"viewport": {"width": 360, "height": 740}, "reduced_motion": "reduce"}
    context = browser.new_context(java_script_enabled=False, **phone)
    page = context.new_page()
    begin(page, a_study(server, "no-scripts", **TEXTS, **ASKING))
    for number in (2, 1, 2):
        page.locator(f".switch a[href='#list-{number}']").click()
        box = page.locator(f"#name-{number}").bounding_box()
        bar = page.locator(".switch").bounding_box()
        assert bar["y"] + bar["height"] <= box["y"] <= 740 / 2  # not below the bar
    page.get_by_label("List 2", exact=True).check()
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
        assert all(each.is_enabled() == is_asked for each in strength.get_by_role("radio").all())
    context.close()


def test_the_bar_says_what_will_be_saved_while_it_is_chosen(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "says", **PICTURES, **ASKING))
    line = page.get_by_role("status").and_(page.locator("#echo"))
    expect(line).to_have_text("Choose one. There is no right or wrong.")
    place = page.locator("button.go").bounding_box()
    page.keyboard.press("2")
    expect(line).to_have_text("You prefer list 2.")
    page.locator("[name=strength][value='1']").check()
    page.locator("[name=satisfaction_left]").first.focus()
    page.keyboard.press("3")  # on these numbers a key is one of them
    sentence = "You prefer list 2, slightly. Satisfied with list 1: 3 of 5."
    expect(line).to_have_text(sentence)
    assert page.locator("button.go").bounding_box() == place
    page.reload()
    expect(line).to_have_text(sentence)
    page.keyboard.press("3")
    expect(line).to_have_text("Both are equally good. Satisfied with list 1: 3 of 5.")
    context.close()


def test_what_is_asked_back_takes_the_place_of_the_buttons_until_the_answer_changes(
    browser, server
):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "asks-back", ask_satisfaction=True))
    page.keyboard.press("1")
    page.locator("[name=satisfaction_left][value='1']").check()
    page.locator("[name=satisfaction_right][value='5']").check()
    page.locator("button.go").click()
    expect(page.locator(".bar .asks")).to_be_focused()
    expect(page.locator("button.go")).to_be_hidden()
    page.locator("[name=satisfaction_left][value='5']").check()
    expect(page.locator(".asks")).to_have_count(0)
    page.locator("button.go").click()
    page.wait_for_url("**/q/2")
    assert stored(server, 1) == [("left", None, 5, 5)]
    context.close()


def test_the_switch_of_a_phone_names_the_list_in_view(browser, server):
    context = prepared(browser)
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(reduced_motion="reduce")
    start(page, a_study(server, "in-view", **TEXTS))
    first, second = (page.locator(f".switch a[href='#list-{number}']") for number in (1, 2))
    expect(first).to_have_attribute("aria-current", "true")
    second.click()
    expect(second).to_have_attribute("aria-current", "true")
    expect(first).not_to_have_attribute("aria-current", "true")
    page.mouse.wheel(0, -5000)
    expect(first).to_have_attribute("aria-current", "true")
    context.close()


@pytest.mark.parametrize("scripts", [True, False])
def test_practice_is_done_with_and_without_scripts_and_stores_nothing(browser, server, scripts):
    before = stored(server, 100)
    context = browser.new_context(java_script_enabled=scripts)
    page = context.new_page()
    page.goto(a_study(server, f"tries-{scripts}".lower(), practice=True, **PICTURES))
    while "/practice" not in page.url:
        for box in page.locator("[name=agree]").all():
            box.check()
        with page.expect_navigation():
            page.locator("button.go, main a.go").first.click()
    page.get_by_label("Equally good").check()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/q/1")
    assert page.locator("[name=preferred]:checked").count() == 0
    assert stored(server, 100) == before
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
