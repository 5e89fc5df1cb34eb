"""One press sends a form once, also one that is refused or asked about: the answer is shown."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_grouping import a_study as a_grouping_link
from tests.browser.test_grouping import in_menu, name_group
from tests.browser.test_labelling import a_study as a_labelling_link
from tests.browser.test_participant import agree, at, press, start, tick
from tests.browser.test_preference import a_study as a_preference_link

pytestmark = pytest.mark.slow


def posts_of(page):
    """The bodies of the forms that the page sends from now on."""
    bodies = []
    page.on("request", lambda sent: sent.method == "POST" and bodies.append(sent.post_data or ""))
    return bodies


def is_refused(page, bodies):
    expect(page.locator("#problems")).to_be_focused()
    page.wait_for_load_state("networkidle")
    assert len(bodies) == 1


def leads_on(page, bodies, path):
    at(page, path)
    assert len(bodies) == 2
    assert page.faults == []


def test_an_ordering_without_an_answer_is_sent_once(page, link):
    start(page, link)
    page.locator("#rank-A").focus()
    bodies = posts_of(page)
    press(page)
    is_refused(page, bodies)
    tick(page, 3)
    expect(page.locator("#problems")).to_have_count(0)
    press(page)
    leads_on(page, bodies, "/q/2")
    page.go_back()
    at(page, "/q/1")
    expect(page.locator("input[name=choice][value='3']")).to_be_checked()
    page.go_forward()
    at(page, "/q/2")


def test_the_page_of_a_refused_ordering_holds_what_was_begun_and_its_keys_work(page, link):
    start(page, link)
    for letter in "DA":
        page.locator(f"[data-letter={letter}]").click()
    bodies = posts_of(page)
    press(page)
    is_refused(page, bodies)
    assert [page.locator(f"[name=rank-{letter}]").input_value() for letter in "DAC"] == [
        "1",
        "2",
        "",
    ]
    page.locator("#undo").click()
    for letter in "AC=B":
        page.locator("#equal" if letter == "=" else f"[data-letter={letter}]").click()
    press(page)
    leads_on(page, bodies, "/q/2")


def test_a_grouping_without_groups_is_sent_once_and_its_page_stores_steps(server, page):
    start(page, a_grouping_link(server, "once-grouped"))
    bodies = posts_of(page)
    page.locator("button[value=done]:not(.hidden)").click()
    is_refused(page, bodies)
    page.locator(".tile input").first.check()
    name_group(page, "a group")
    expect(page.locator("#groups")).to_contain_text("a group")
    in_menu(page, "[value=rest]")
    expect(page.locator("button[value=rest]")).to_have_count(0)
    expect(page.locator("#saved")).to_have_text("✓ saved")
    page.locator("button[value=done]:not(.hidden)").click()
    at(page, "/q/2")
    assert len(bodies) == 4
    assert page.faults == []


def test_a_labelling_that_is_asked_about_is_sent_once_and_its_page_saves_marks(server, page):
    start(page, a_labelling_link(server, "once-labelled"))
    bodies = posts_of(page)
    page.locator(".way [value=done]").click()
    is_refused(page, bodies)
    page.locator(".tiles input").first.check()
    expect(page.locator("#saved")).to_have_text("saved")
    assert len(bodies) == 2
    assert page.faults == []


def test_a_preference_without_an_answer_is_sent_once(server, page):
    start(page, a_preference_link(server, "once-preferred"))
    bodies = posts_of(page)
    press(page)
    is_refused(page, bodies)
    page.keyboard.press("1")
    press(page)
    leads_on(page, bodies, "/q/2")


def test_a_page_about_you_with_a_fault_is_sent_once(page, link):
    agree(page, link)
    page.get_by_label("Your education").select_option("Bachelor's degree")
    bodies = posts_of(page)
    press(page)
    is_refused(page, bodies)
    expect(page.get_by_label("Your education")).to_have_value("Bachelor's degree")
    page.get_by_label("Your age in years").fill("23")
    press(page)
    leads_on(page, bodies, "/scenario")
    page.go_back()
    at(page, "/about-you")


A_FAULT = "() => { window.FormData = class { constructor() { throw new Error('a fault'); } }; }"


def test_a_form_is_sent_by_the_browser_where_a_script_has_a_fault(page, link):
    start(page, link)
    page.evaluate(A_FAULT)
    tick(page, 1)
    press(page)
    at(page, "/q/2")
    assert page.faults == ["a fault"]


def test_marks_are_sent_by_the_browser_where_a_script_has_a_fault(server, page):
    start(page, a_labelling_link(server, "with-a-fault"))
    page.evaluate(A_FAULT)
    page.locator(".tiles input").nth(2).check()
    expect(page.locator("#saved")).to_have_text("")
    with page.expect_navigation():
        page.locator(".way [value=next]").click()
    assert page.faults == ["a fault", "a fault"]
    if page.locator(".asks").count():  # not all tiles were in view
        with page.expect_navigation():
            page.locator(".asks [value=next]").click()
    page.locator("button[value=previous]").click()
    expect(page.locator(".tiles input").nth(2)).to_be_checked()
