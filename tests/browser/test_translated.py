"""A browser that translates the page: right values are stored, and letters and codes stay."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_grouping import a_study as a_grouping_link
from tests.browser.test_grouping import steps_in
from tests.browser.test_labelling import a_study as a_labelling_link
from tests.browser.test_labelling import go_on, stored_steps
from tests.browser.test_participant import answers_of, at, press, start, tap, tick
from tests.browser.test_preference import a_study as a_preference_link
from tests.browser.test_preference import stored as stored_preferences

pytestmark = pytest.mark.slow

# As Google Translate in Chrome does: each text is replaced by another one in two elements, also a
# text that a script writes later.
TRANSLATED = """
const isForeign = (text) => {
  const around = text.parentElement;
  const kept = around.closest("script, style, textarea, font") || !text.data.trim();
  return !kept && around.closest("[translate]")?.getAttribute("translate") !== "no";
};
function translate() {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (isForeign(walker.currentNode)) texts.push(walker.currentNode);
  for (const text of texts) {
    const [outer, inner] = [document.createElement("font"), document.createElement("font")];
    inner.textContent = "ξένα";
    outer.append(inner);
    text.replaceWith(outer);
  }
}
new MutationObserver(() => document.body && translate()).observe(document, {
  ...{ childList: true, subtree: true, characterData: true },
});
"""


@pytest.fixture
def page(page):
    page.add_init_script(TRANSLATED)
    return page


def is_translated(page):
    expect(page.locator("h1")).to_have_text("ξένα")


def test_ticks_and_letters_of_an_ordering(server, page, link):
    start(page, link)
    is_translated(page)
    expect(page.locator(".keys [data-letter]")).to_have_text([*"ABCDE"])
    expect(page.locator("tbody .letter").first).to_have_text("A")
    for text in page.locator(".method .order, .rank, .sheet td b").all_inner_texts():
        assert text.isascii()
    press(page)
    expect(page.locator("#problems")).to_be_focused()
    is_translated(page)
    tap(page, *"DAC=E")
    expect(page.locator(".keys [aria-pressed=true]")).to_have_count(5)
    page.locator("#undo").click()
    tap(page, "B")
    press(page)
    at(page, "/q/2")
    tick(page, 3)
    press(page)
    at(page, "/q/3")
    assert [clicked for clicked, _ in answers_of(server, link)] == [set(), {3}]
    assert page.faults == []


def test_labels(server, page):
    start(page, a_labelling_link(server, "foreign-labels"))
    is_translated(page)
    before = len(stored_steps(server))
    for number in (0, 2):
        page.locator(".tile input").nth(number).check()
    go_on(page, "next")
    expect(page.locator("button[value=previous]")).to_be_visible()
    marks = [grade for action, grade in stored_steps(server)[before:] if action == "mark"]
    assert marks == [1, 1]
    assert page.faults == []


def test_groups(server, page):
    start(page, a_grouping_link(server, "foreign-groups"))
    is_translated(page)
    before = len(steps_in(server))
    page.locator(".tile input").first.check()
    page.locator("#new").click()
    page.locator("#group").fill("warm")
    page.locator("button[value=new]").click()
    expect(page.locator("#groups .tag")).to_have_text(["1", "?"])
    page.locator(".tile input").nth(1).check()
    page.locator("button[value=put-1]").click()
    expect(page.locator(".tile .tag")).to_have_count(2)
    assert [step.action for step in steps_in(server)[before:]] == ["put", "put"]
    assert page.faults == []


def test_preferences(server, page):
    start(page, a_preference_link(server, "foreign-preferences"))
    is_translated(page)
    page.locator("[name=preferred][value=right]").check()
    press(page)
    at(page, "/q/2")
    assert "right" in map(str, stored_preferences(server, 1)[0])
    assert page.faults == []


def test_the_code_to_come_back_with_stays(page, link):
    start(page, link)
    page.locator("main summary:has(+ p .code)").first.click()
    expect(page.locator("main .code")).to_have_text(re.compile(r"^[A-Z0-9-]+$"))
    expect(page.locator("main summary:has(+ p .code)").first).to_have_text("ξένα")
