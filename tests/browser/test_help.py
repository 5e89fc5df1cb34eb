"""Words of the glossary in a real browser: their meaning on hover, on focus, and by touch."""

import pytest
from playwright.sync_api import Browser, Page, expect

from survey.app import db
from survey.services import accounts
from tests.browser.test_researcher import set_password
from tests.builders import an_open_study
from tests.serving import Server

pytestmark = pytest.mark.slow


def overview_of(page: Page, server: Server, slug: str) -> str:
    """Sign in as the owner of a new open study; return the address of its overview."""
    with server.app.app_context():
        study = an_open_study(db.session, slug)
        researcher, token = accounts.add_researcher(db.session, f"Ada of {slug}")
        accounts.share(db.session, study, researcher, "owner")
        db.session.commit()
        db.session.remove()
    set_password(page, server, token)
    page.goto(f"{server.address}/research/studies/{slug}")
    return page.url


def test_a_meaning_comes_with_the_pointer_or_the_focus_and_escape_hides_it(
    page: Page, server: Server
) -> None:
    overview_of(page, server, "hovered")
    word = page.get_by_role("button", name="bundle")
    meaning = page.locator("#term-bundle")
    expect(meaning).to_be_hidden()
    word.hover()
    expect(meaning).to_be_visible()
    meaning.hover()  # the pointer may go there to read
    expect(meaning).to_be_visible()
    page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()
    page.mouse.move(0, 0)
    word.focus()
    expect(meaning).to_be_visible()
    page.keyboard.press("Escape")
    expect(meaning).to_be_hidden()
    expect(word).to_be_focused()
    expect(word).to_have_accessible_description(meaning.text_content() or "?")


@pytest.mark.parametrize("width", [360, 768, 1280])
def test_a_meaning_leaves_no_part_of_itself_outside_the_page(
    page: Page, server: Server, width: int
) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    overview_of(page, server, f"of-width-{width}")
    for button in page.locator(".term > button").all():
        button.focus()
        box = button.locator("xpath=following-sibling::*").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_meaning_comes_by_touch_and_without_scripts(
    page: Page, server: Server, browser: Browser
) -> None:
    address = overview_of(page, server, "touched")
    state = page.context.storage_state()
    context = browser.new_context(
        has_touch=True,
        is_mobile=True,
        java_script_enabled=False,
        storage_state=state,
        viewport={"width": 360, "height": 740},
    )
    phone = context.new_page()
    phone.goto(address)
    phone.get_by_role("button", name="bundle").tap()
    expect(phone.locator("#term-bundle")).to_be_visible()
    context.close()
