"""The whole study, and a study made, opened and closed, by keyboard alone."""

import re

import pytest
from playwright.sync_api import expect

from survey.app import db
from survey.services import accounts
from tests.accessibility.looking import CHECKS

pytestmark = pytest.mark.slow

LAPTOP = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 640}
MOST_STOPS = 150


@pytest.fixture(params=[LAPTOP, PHONE], ids=["laptop", "phone"])
def page(browser, request):
    """A tab of somebody who has no pointer: a click in it would fail the test."""
    context = browser.new_context(viewport=request.param)
    context.add_init_script(CHECKS)
    context.add_init_script(
        "addEventListener('pointerdown', () => { throw new Error('a pointer was used') }, true)"
    )
    page = context.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    yield page
    assert faults == []
    context.close()


def go_to(page, wanted, key="Tab"):
    """Press a key until what has focus is wanted; focus can be seen at every stop."""
    for _ in range(MOST_STOPS):
        page.keyboard.press(key)
        assert page.evaluate("checks.unseenFocus(document.activeElement)") == []
        if page.evaluate(f"(one => {wanted})(document.activeElement)"):
            return
    raise AssertionError(f"{wanted} is not reached on {page.url}")


def field(name, value=None):
    """What is wanted: a field by its name."""
    return f"one.name === '{name}'" + (f" && one.value === '{value}'" if value else "")


def button(form):
    """What is wanted: the button that sends a form on, not the one that goes back."""
    sends = f"one.form?.getAttribute('action')?.includes('{form}')"
    return f"one.matches('button:not([name=go], [type=button])') && {sends}"


def link(end):
    """What is wanted: a link by where it leads."""
    return f"one.matches('a[href$=\"{end}\"]')"


def press(page, wanted, leads_to):
    """Go to a button or a link and use it."""
    go_to(page, wanted)
    enter(page, leads_to)


def enter(page, leads_to):
    """Press Enter and wait for the page that it leads to, which may have the same address."""
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(leads_to))


def test_the_whole_study_by_keyboard(page, link):
    page.goto(link)
    press(page, button("/begin"), "/consent$")
    go_to(page, field("agree"))
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    go_to(page, field("agree"), "Shift+Tab")
    press(page, button("/consent"), "/about-you$")
    go_to(page, field("age"))
    page.keyboard.type("23")
    go_to(page, field("education"))
    page.keyboard.press("ArrowDown")
    press(page, button("/about-you"), "/scenario$")
    press(page, button("/scenario"), "/practice$")
    press(page, f"{button('/practice/check')} && one.value === '1'", "step=2&right=1$")
    for leads_to in ("step=3$", "step=4$", "/q/1$"):
        press(page, "one.matches('.bar .go')", leads_to)
    answer_by_a_method(page)
    answer_by_oneself(page)
    go_to(page, field("choice", "1"))
    page.keyboard.press("Space")
    press(page, button("/q/3"), "/review$")
    press(page, button("/review"), "/done$")


def answer_by_a_method(page):
    """Send nothing first; the error takes the focus, and its link leads to the answers."""
    press(page, button("/q/1"), "/q/1$")
    follow_the_first_error(page)
    if not page.evaluate("document.activeElement.matches('[name=choice]')"):
        go_to(page, "one.name === 'choice'")
    page.keyboard.press("Space")
    press(page, button("/q/1"), "/q/2$")


def follow_the_first_error(page):
    """Use the first link of the summary, which has the focus; it leads into the form."""
    assert page.title().startswith("Error: ")
    go_to(page, "one.matches('main a[href^=\"#\"]') && one.closest('.problems')")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.matches('form *')")


def answer_by_oneself(page):
    """Tap the letters with the keyboard, two of them equal, and hear the ordering."""
    for key, direction in (("B", "Tab"), ("A", "Shift+Tab"), ("=", "Tab"), ("C", "Shift+Tab")):
        go_to(page, f"one.innerText?.startsWith('{key}') && one.closest('.keys')", direction)
        page.keyboard.press("Space")
    go_to(page, "one.innerText?.startsWith('D') && one.closest('.keys')")
    page.keyboard.press("Space")
    expect(page.locator("[role=status]", has_text="B first; A and C tie")).to_be_visible()
    press(page, button("/q/2"), "/q/2$")  # which asks whether the order is meant
    press(page, "one.matches('.asks button')", "/q/3$")


def test_a_study_made_opened_and_closed_by_keyboard(page, server):
    wide = page.viewport_size["width"]
    slug = f"keys-{wide}"
    sign_in_by_keys(page, server, f"Keys {wide}")
    press(page, link("/research/new"), "/research/new$")
    go_to(page, field("slug"))
    page.keyboard.type(slug)
    go_to(page, field("asked_by"))
    page.keyboard.type("we")
    enter(page, "/plan$")
    go_to(page, field("questions"))
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("51")
    press(page, "one.name === 'go' && one.value === 'texts'", "/plan$")
    assert page.title().startswith("Error: ")
    # A browser gives a field that asks for it the focus some time after the page has loaded.
    page.wait_for_function("document.activeElement.name === 'questions'")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("2")
    enter(page, "step=what$")
    press(page, "one.name === 'go' && one.value === 'texts'", "step=texts$")
    go_to(page, field("contact"))
    page.keyboard.type("a@b.org")
    press(page, button("/plan"), "/check$")
    press(page, link(f"/studies/{slug}"), f"/{slug}$")
    press(page, link("/open"), "/open$")
    press(page, button("/open"), f"/{slug}$")
    press(page, link("/close"), "/close$")
    press(page, button("/close"), f"/{slug}$")
    expect(page.locator("main")).to_contain_text(re.compile("closed", re.IGNORECASE))


def sign_in_by_keys(page, server, name):
    """Set a password; what a password manager pastes is taken (3.3.8)."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    with server.app.app_context():
        _, token = accounts.add_researcher(db.session, name)
        db.session.remove()
    page.goto(f"{server.address}/research/welcome/{token}")
    page.evaluate("navigator.clipboard.writeText('a row of four words')")
    for wanted in ("password", "again"):
        go_to(page, field(wanted))
        page.keyboard.press("ControlOrMeta+v")
        assert page.evaluate("document.activeElement.value") == "a row of four words"
    press(page, button("/welcome"), "/research/$")
