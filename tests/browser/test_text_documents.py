"""Documents that are texts in a real browser: cut by lines, read whole, at every width."""

import pytest
from playwright.sync_api import expect

from survey.app import db
from tests.accessibility.looking import ask, axe, prepared
from tests.browser.test_labelling import CHECKS
from tests.browser.test_participant import start
from tests.written import PAGES, a_written_study

pytestmark = pytest.mark.slow

LINES = {"ordering": 2, "preference": 6, "labelling": 8, "grouping": 8}
VIEWS = [*((kind, None) for kind in LINES), ("ordering", "list"), ("ordering", "grid")]


def a_study(server, kind, slug, **changes):
    changes |= {"personal_fields": ()} if kind == "ordering" else {}
    with server.app.app_context():
        a_written_study(db.session, kind, slug, **changes)
        db.session.remove()
    return f"{server.address}/s/{slug}"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("kind", "layout"), VIEWS)
def test_cards_fit_are_cut_by_lines_and_can_be_read(browser, server, kind, layout, theme):
    changes = {"mark_query_words": True, **({"layout": layout} if layout else {})}
    address = a_study(server, kind, f"fit-{kind}-{layout}-{theme}".lower(), **changes)
    context = prepared(browser)
    page = context.new_page()
    page.emulate_media(color_scheme=theme)
    start(page, address)
    for width in (360, 768, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        for part, most in ((".doc > b", 2), (".doc > .body", LINES[kind])):
            lines = page.locator(part).evaluate_all(
                """(found) => found.map((each) =>
                    each.clientHeight / parseFloat(getComputedStyle(each).lineHeight))"""
            )
            assert max(lines) <= most + 0.1
        without_link = page.locator(".doc > :is(b, .body)").evaluate_all(
            """(found) => found.filter((each) => each.scrollHeight > each.clientHeight + 2
                && !each.closest(".text, .tile").querySelector("a.more")).length"""
        )
        assert without_link == 0
        urls = page.locator(".doc > .url").evaluate_all(
            "(found) => found.map((url) => [getComputedStyle(url).direction, url.clientHeight])"
        )
        assert {direction for direction, _ in urls} == {"ltr"}
        assert max(height for _, height in urls) < 30
        arabic = page.locator("[lang=ar] > .body").first
        assert arabic.evaluate("(body) => getComputedStyle(body).direction") == "rtl"
        where = f"{width} px, {theme}"
        # The lists of an ordering scroll by themselves, but where results are one below the other.
        is_strip = kind == "ordering" and layout != "list"
        checks = [name for name in CHECKS if not is_strip or name != "sideways"]
        faults = [each for name in checks for each in ask(page, name, where)]
        assert [*axe(page, where), *faults] == []
    context.close()


@pytest.mark.parametrize("kind", LINES)
def test_a_whole_text_opens_above_the_page_and_the_focus_comes_back(browser, server, kind):
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    start(page, a_study(server, kind, f"whole-{kind}"))
    card = page.locator(".text, .tile", has_text=PAGES[0]["title"]).first
    link = card.locator("a.more")
    if kind in ("labelling", "grouping"):  # by the key of the tile
        card.locator("input[name=document]").focus()
        page.keyboard.press("+")
    else:
        link.click()
    dialog = page.get_by_role("dialog", name="Whole text")
    expect(dialog.locator("article h1")).to_have_text(PAGES[0]["title"])
    assert dialog.locator("article").inner_text().count("It runs along the coast") == 40
    view = dialog.locator("figure")
    view.focus()
    page.keyboard.press("End")
    expect(view).to_have_js_property("tabIndex", 0)
    page.wait_for_timeout(300)
    assert view.evaluate("(view) => view.scrollTop") > 100
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    focused = "input[name=document]" if kind in ("labelling", "grouping") else "a.more"
    expect(card.locator(focused)).to_be_focused()
    if kind in ("ordering", "preference"):
        link.click()
        expect(dialog.locator("article h1")).to_have_text(PAGES[0]["title"])
        dialog.get_by_role("button", name="Next").click()
        expect(dialog.locator("article h1")).not_to_have_text(PAGES[0]["title"])
    page.close()


def test_a_text_that_cannot_be_loaded_is_said_to_be_so(browser, server):
    page = browser.new_page()
    start(page, a_study(server, "preference", "lost-text"))
    page.route("**/texts/*", lambda route: route.abort())
    page.locator("a.more").first.click()
    dialog = page.get_by_role("dialog", name="Whole text")
    expect(dialog).to_contain_text("The text could not be loaded. Please try again.")
    page.close()


def test_without_scripts_a_whole_text_opens_in_a_tab_of_its_own(browser, server):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    start(page, a_study(server, "labelling", "bare"))
    with context.expect_page() as opened:
        page.locator("a.more").first.click()
    whole = opened.value
    expect(whole.locator("article.whole h1")).to_be_attached()
    assert whole.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "/texts/" in whole.url
    context.close()
