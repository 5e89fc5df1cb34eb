"""The page of a plan in a real browser: saved as one goes, with preview and power beside it."""

import pytest
from playwright.sync_api import expect

from survey.app import db
from survey.services import accounts
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.browser.test_researcher import sign_in
from tests.grouped import a_grouping_plan

pytestmark = pytest.mark.slow
SAVED = "Everything on this page is saved."


def a_draft(page, server, slug):
    sign_in(page, server, f"Owner of {slug}")
    page.goto(f"{server.address}/research/new")
    page.get_by_label("Address").fill(slug)
    page.get_by_role("button", name="Create the draft").click()
    page.wait_for_url("**/plan")
    return f"{server.address}/research/studies/{slug}/plan"


def plan_of(server, slug):
    with server.app.app_context():
        plan = lifecycle.find_study(db.session, slug).plan
        db.session.remove()
    return plan


def test_a_change_is_saved_at_once_and_changes_preview_and_power(page, server):
    a_draft(page, server, "at-once")
    preview, power = page.frame_locator("iframe"), page.locator(".power:visible")
    expect(preview.get_by_text("Question 1 of 10")).to_be_visible()
    expect(power).to_contain_text("With 30 participants answering all of 10 questions")
    page.get_by_label("Questions", exact=True).fill("4")
    page.keyboard.press("Tab")
    expect(preview.get_by_text("Question 1 of 4")).to_be_visible()
    expect(power).to_contain_text("all of 4 questions")
    expect(page.locator(".saved")).to_have_text(SAVED)
    assert plan_of(server, "at-once").questions == 4

    # A fault is said at once, and what is mended is saved.
    page.get_by_label("Lists per question").fill("11")
    page.keyboard.press("Tab")
    expect(page.locator(".saved")).to_contain_text("Not saved yet: Lists per question is 11")
    page.get_by_label("Lists per question").fill("3")
    page.get_by_role("button", name="Who takes part").click()  # while it is being saved
    page.wait_for_url("**/plan?step=who")
    assert (plan_of(server, "at-once").lists, page.faults) == (3, [])

    # A page that is chosen in the preview stays there.
    page.get_by_role("link", name="Consent").click()
    expect(preview.get_by_text("Taking part is voluntary")).to_be_visible()
    page.get_by_role("button", name="4 Texts").click()
    page.get_by_role("link", name="Consent").click()
    page.get_by_label("Consent text").fill("You may stop whenever you like.")
    page.get_by_label("Purpose").click()
    expect(preview.get_by_text("You may stop whenever you like.")).to_be_visible()
    assert page.faults == []


def test_two_tabs_that_change_the_same_show_both_versions(page, server):
    address = a_draft(page, server, "two-tabs")
    page.goto(f"{address}?step=texts")
    other = page.context.new_page()
    other.goto(f"{address}?step=texts")
    for tab, title in ((page, "Said first"), (other, "Said second")):
        tab.get_by_label("Title").fill(title)
        tab.keyboard.press("Tab")
        expected = SAVED if tab is page else "Not saved: someone else saved another version"
        expect(tab.locator(".saved")).to_contain_text(expected)
    other.get_by_role("button", name="Save and draw").click()
    expect(other.locator("#conflict")).to_contain_text("Said first")
    expect(other.locator("#conflict")).to_contain_text("Said second")
    assert plan_of(server, "two-tabs").title == "Said first"
    other.get_by_label("Minutes").fill("7")  # beside both versions nothing is saved by itself
    other.get_by_role("button", name="Save and draw").click()
    other.wait_for_url("**/check")
    assert plan_of(server, "two-tabs").title == "Said second"


def test_who_can_no_longer_change_a_plan_is_told_before_anything_is_lost(page, server):
    a_draft(page, server, "withdrawn")
    with server.app.app_context():
        lifecycle.delete(db.session, lifecycle.find_study(db.session, "withdrawn"), "another")
        db.session.remove()
    page.get_by_label("Questions", exact=True).fill("4")
    page.keyboard.press("Tab")
    expect(page.locator(".saved")).to_contain_text("Not saved: you can no longer change this plan")
    assert page.get_by_label("Questions", exact=True).input_value() == "4"


def test_a_field_appears_with_its_choice_and_loses_nothing_without_scripts(
    browser, page, server, context
):
    address = a_draft(page, server, "by-choice")
    plain = browser.new_context(java_script_enabled=False)
    plain.add_cookies(context.cookies())
    tab = plain.new_page()
    tab.goto(f"{address}?step=who")
    each = tab.get_by_label("Questions per participant")
    expect(each).to_be_hidden()
    tab.get_by_label("A pool").check()
    each.fill("6")
    tab.get_by_label("Everyone answers all").check()
    expect(each).to_be_hidden()
    tab.get_by_label("A pool").check()
    expect(each).to_have_value("6")
    tab.get_by_role("button", name="4 Texts").click()
    expect(tab.get_by_label("Title")).to_be_visible()
    assert plan_of(server, "by-choice").per_participant == 6
    tab.goto(f"{address}#reason_question")  # a link that names no step
    expect(tab.get_by_label("Ask for a reason")).to_be_in_viewport()

    tab.goto(f"{server.address}/research/new")
    expect(tab.get_by_label("Judgements (TREC qrels)")).to_be_hidden()
    tab.get_by_role("link", name="Which system do people prefer?").click()
    expect(tab.get_by_label("Judgements (TREC qrels)")).to_be_visible()
    plain.close()


def test_on_a_phone_the_preview_is_behind_a_button(page, server):
    page.set_viewport_size({"width": 360, "height": 740})
    a_draft(page, server, "on-a-phone")
    expect(page.locator("iframe")).to_be_hidden()
    page.get_by_role("link", name="Preview", exact=True).click()
    expect(page.frame_locator("iframe").get_by_text("Question 1 of 10")).to_be_in_viewport()


def test_the_plan_of_another_kind_fits_a_phone_and_is_saved_at_once(page, server):
    page.set_viewport_size({"width": 360, "height": 740})
    sign_in(page, server, "Owner of groups")
    with server.app.app_context():
        owner = accounts.find_researcher(db.session, "Owner of groups")
        named = [f"a-document-with-a-long-name-{number}" for number in range(40)]
        plan = a_grouping_plan(topics={"near": named, "far": named[:2]})
        lifecycle.create_owned_study(db.session, owner, "groups", plan, Recruitment())
        db.session.remove()
    address = f"{server.address}/research/studies/groups/plan"
    for step in ("what", "how", "who", "texts"):
        page.goto(f"{address}?step={step}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360

    page.goto(address)
    expect(page.locator("#questions")).to_be_hidden()  # as many as are ticked
    table = page.get_by_role("region", name="Topics")
    table.get_by_role("checkbox").last.uncheck()
    expect(page.locator(".saved")).to_have_text(SAVED)
    [(topic, documents)] = plan_of(server, "groups").topics
    assert topic in ("near", "far")
    assert {*documents} <= {*named}
    page.get_by_role("link", name="Preview", exact=True).click()
    expect(page.frame_locator("iframe").get_by_text("Topic 1 of 1")).to_be_in_viewport()
    assert page.faults == []
