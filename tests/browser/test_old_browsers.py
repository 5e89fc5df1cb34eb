"""A browser of 2021: what is younger is taken away, and answers of each kind are stored."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_grouping import SAVED, in_menu
from tests.browser.test_grouping import a_study as a_grouping_link
from tests.browser.test_labelling import a_study as a_labelling_link
from tests.browser.test_labelling import go_on, stored_steps
from tests.browser.test_participant import answers_of, at, press, start, tap, tick
from tests.browser.test_preference import a_study as a_preference_link
from tests.browser.test_preference import stored as stored_preferences

pytestmark = pytest.mark.slow

TAKEN_AWAY = """
for (const kind of [Array, String, Int8Array.__proto__]) delete kind.prototype.at;
for (const name of ["findLast", "toSorted", "toReversed"]) delete Array.prototype[name];
for (const name of ["timeout", "any"]) delete AbortSignal[name];
for (const name of ["hasOwn", "groupBy"]) delete Object[name];
for (const name of ["ariaSort", "checkVisibility", "setHTML"]) delete Element.prototype[name];
delete window.structuredClone;
delete window.reportError;
delete SubmitEvent.prototype.submitter;
delete HTMLFormElement.prototype.requestSubmit;
delete HTMLDialogElement.prototype.showModal;
"""


@pytest.fixture
def page(page):
    page.add_init_script(TAKEN_AWAY)
    return page


def test_orderings_are_stored(server, page, link):
    start(page, link)
    tick(page, 3)
    press(page)
    at(page, "/q/2")
    page.get_by_role("button", name="Back").click()
    at(page, "/q/1")
    press(page)
    at(page, "/q/2")
    press(page)
    expect(page.locator("#problems")).to_be_focused()
    tap(page, *"DAC=B")
    expect(page.locator("#echo")).to_have_text(re.compile("^Your order: D first"))
    press(page)
    page.get_by_role("button", name="Keep my order").click()  # a better list is below a worse one
    at(page, "/q/3")
    assert [len(clicked) for clicked, _ in answers_of(server, link)] == [1, 0]
    assert page.faults == []


def test_labels_are_stored(server, page):
    start(page, a_labelling_link(server, "old-labels"))
    before = len(stored_steps(server))
    for number in (0, 2):
        page.locator(".tiles label").nth(number).click()
    expect(page.locator("#saved")).to_have_text("saved")
    go_on(page, "next")
    expect(page.locator("button[value=previous]")).to_be_visible()
    expect(page.get_by_text("2 marked")).to_be_visible()
    marks = [grade for action, grade in stored_steps(server)[before:] if action == "mark"]
    assert marks == [1, 1]
    assert page.faults == []


def test_a_button_pressed_while_marks_are_saved_waits_for_them(server, page):
    start(page, a_labelling_link(server, "old-waits"))
    held = []
    page.route("**/q/1", lambda route: held.append(route), times=1)
    page.locator(".tiles label").first.click()
    page.locator(".way [value=next]").click()
    held[0].continue_()
    # The page asks first where not all tiles were in view yet.
    expect(page.locator(".asks, [value=previous]")).to_be_visible()
    expect(page.get_by_text("1 marked")).to_be_visible()
    assert page.faults == []


def test_groups_are_stored(server, page):
    start(page, a_grouping_link(server, "old-groups"))
    page.locator(".tile label").first.click()
    page.locator("#new").click()
    page.locator("#group").fill("warm")
    page.locator("#group").press("Enter")
    page.wait_for_function(SAVED)
    in_menu(page, "[value=rest]")
    page.wait_for_function(SAVED)
    page.locator("button[value=done]:not(.hidden)").click()
    at(page, "/q/2")
    assert page.faults == []


def test_preferences_are_stored(server, page):
    start(page, a_preference_link(server, "old-preferences"))
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    at(page, "/q/2")
    assert len(stored_preferences(server, 1)) == 1
    assert page.faults == []


def test_a_picture_opens_in_another_tab(server, page):
    start(page, a_labelling_link(server, "old-pictures"))
    page.locator(".tile").first.hover()
    with page.context.expect_page() as opened:
        page.locator(".zoom").first.click()
    assert opened.value.url.endswith(page.locator(".zoom").first.get_attribute("href"))
    expect(page.locator("#larger")).to_be_hidden()
    assert page.faults == []
