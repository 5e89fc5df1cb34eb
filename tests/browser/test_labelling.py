"""A query in a real browser: how a batch fits, how few actions it takes, and lost connections."""

import re

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from survey.app import db
from survey.core.collections.items import Item
from survey.core.kinds import KINDS
from survey.services.studies import lifecycle
from tests.accessibility.looking import ask, axe, prepared
from tests.browser.test_participant import at, start
from tests.browsing import watched
from tests.labelled import a_labelling_study

pytestmark = pytest.mark.slow

CHECKS = ("misnamed", "small", "smallAnswers", "faint", "unseen", "sideways", "cutOff")


def begin(page, link):
    """Go to the first query."""
    page.goto(link)
    while "/q/1" not in page.url:
        if page.locator("[name=agree]").count():
            page.check("[name=agree]")
        with page.expect_navigation():
            page.click("button.go")


def a_study(server, slug, **changes):
    with server.app.app_context():
        a_labelling_study(db.session, slug, shuffle_questions=False, **changes)
        db.session.remove()
    return f"{server.address}/s/{slug}"


def is_as_wide_as_its_window(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    return page.evaluate("document.documentElement.scrollWidth") == width


def close(server, slug):
    with server.app.app_context():
        lifecycle.close_study(db.session, lifecycle.find_study(db.session, slug))
        db.session.remove()


def stay_in_every_dialog(page):
    """Stay on the page whenever it asks whether to leave; return the list of what it asked."""
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.type), dialog.dismiss()))
    return dialogs


def mark_two_before_an_answer(page):
    held = []
    page.route("**/q/1", lambda route: held.append(route), times=1)
    for number in (5, 6):
        page.locator(".tiles label").nth(number).click()
    held[0].continue_()


def stored_steps(server):
    """What is stored of the study's one annotator: (action, grade)."""
    table = KINDS["labelling"].tables.step
    with server.app.app_context():
        order = table.c.presentation_id, table.c.number
        query = select(table.c.action, table.c.grade).order_by(*order)
        rows = [tuple(row) for row in db.session.execute(query)]
        db.session.remove()
    return rows


@pytest.mark.parametrize("graded", [False, True])
def test_a_batch_fits_every_width_and_theme(browser, server, graded):
    link = a_study(server, f"fits-{graded}".lower(), graded=graded)
    for width, theme in ((1280, "light"), (768, "dark"), (360, "light"), (360, "dark")):
        context = prepared(browser)
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        start(page, link)
        page.locator(".tiles :is(input, select)").nth(2).press("1")
        where = f"{width} px, {theme}"
        faults = [*axe(page, where), *(each for name in CHECKS for each in ask(page, name, where))]
        assert faults == []
        context.close()


def test_sixty_pictures_with_six_relevant_take_eight_actions_by_hand_or_by_keys(browser, server):
    link = a_study(server, "hand", batch=60, topics=["word"])
    for by_keys in (False, True):
        context = prepared(browser)
        page = context.new_page()
        begin(page, link)
        actions = 0
        tiles = page.locator(".tiles label")
        assert tiles.count() == 60
        if by_keys:
            page.locator(".tiles input").first.focus()
        for number in range(6):
            if by_keys:
                page.keyboard.press("Space")
                page.keyboard.press("ArrowRight")  # moving on is no choice
            else:
                tiles.nth(number).click()
            actions += 1
        page.locator("button[value=done]:not(.hidden)").click()
        with page.expect_navigation():
            page.locator(".asks [value=done]").click()  # not all of the sixty were in view
        actions += 2
        assert actions == 8
        page.wait_for_url("**/review")
        assert "6 marked" in page.locator(".review").inner_text()
        context.close()


def test_on_a_phone_the_querys_picture_stays_in_view_and_covers_no_tile_in_focus(browser, server):
    link = a_study(server, "phone", batch=60)
    page = prepared(browser).new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    begin(page, link)
    picture = page.locator(".query aside img")
    tiles = page.locator(".tiles input")
    tiles.last.focus()
    assert 0 <= picture.bounding_box()["y"] < 20
    tiles.nth(4).focus()  # at the left, and above what is in view
    box, covering = page.locator(".tile").nth(4).bounding_box(), picture.bounding_box()
    assert box["y"] >= covering["y"] + covering["height"]
    picture.click()
    expect(page.locator("dialog[open] img")).to_have_attribute("alt", "the picture to compare with")
    page.keyboard.press("Escape")
    expect(page.locator("aside a:focus img")).to_be_visible()


def test_arrows_move_by_rows_and_digits_give_grades(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "keys", graded=True))
    grades = page.locator(".tiles select")
    grades.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("3")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("2")
    page.locator(".tiles img").nth(0).click()
    expect(page.locator("#saved")).to_have_text("all saved")
    values = [grades.nth(number).input_value() for number in range(grades.count())]
    assert values[:2] == ["1", "3"]
    assert sorted(values)[-3:] == ["1", "2", "3"]
    page.reload()
    assert [grades.nth(number).input_value() for number in range(grades.count())] == values
    context.close()


@pytest.mark.parametrize("graded", [False, True])
def test_a_picture_is_shown_larger_by_hand_and_by_key_and_arrows_go_on(browser, server, graded):
    link = a_study(server, f"larger-{graded}".lower(), graded=graded)
    page = watched(prepared(browser).new_page())
    begin(page, link)
    dialog = page.locator("dialog#larger")
    tile = page.locator(".tile").nth(3)
    tile.hover()
    tile.locator(".zoom").click()
    expect(dialog).to_be_visible()
    shown = dialog.locator("img").get_attribute("src")
    assert shown.endswith(tile.locator(".zoom").get_attribute("href"))
    page.keyboard.press("Escape")
    expect(tile.locator("input[type=checkbox], select")).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    expect(dialog).to_be_visible()
    shown = dialog.locator("img").get_attribute("src")
    assert shown.endswith(page.locator(".tile .zoom").nth(4).get_attribute("href"))
    page.keyboard.press("Escape")
    assert "0 marked" in page.locator(".done p").first.text_content()
    assert page.faults == []


def test_marks_wait_for_a_lost_connection_and_are_stored_once(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "lost", topics=["word"]))
    before = len(stored_steps(server))
    lost = []

    def lose(route):
        if len(lost) < 2:  # the first is stored, and its answer lost; the second does not arrive
            if not lost:
                route.fetch()
            lost.append(route.request)
            route.abort()
        else:
            route.continue_()

    page.route("**/q/1", lose)
    tiles = page.locator(".tiles label")
    tiles.nth(0).click()
    expect(page.locator("#saved")).to_contain_text("not saved yet")
    tiles.nth(1).click()
    page.locator("button[value=done]:not(.hidden)").click()
    page.locator(".asks [value=done]").click()
    page.wait_for_url("**/review")
    assert len(lost) == 2
    steps = [each for each in stored_steps(server)[before:] if each[0] != "seen"]
    assert steps == [("next", None), ("mark", 1), ("mark", 1)]
    context.close()


def test_a_mark_that_meets_an_error_of_the_server_is_sent_again(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "error", topics=["word"]))
    before = len(stored_steps(server))
    page.route("**/q/1", lambda route: route.fulfill(status=500, body="<h1>Wrong</h1>"), times=1)
    page.locator(".tiles label").first.click()
    expect(page.locator("#saved")).to_contain_text("not saved yet")
    expect(page.locator("#saved")).to_have_text("all saved")
    assert stored_steps(server)[before:] == [("next", None), ("mark", 1)]
    context.close()


def test_texts_alone_are_labelled_too(browser, server):
    texts = [Item(f"text-{n}", text=f"A snippet of words number {n}") for n in range(30)]
    link = a_study(server, "texts", texts=texts, topics=["word"])
    context = prepared(browser)
    page = context.new_page()
    page.set_viewport_size({"width": 360, "height": 800})
    start(page, link)
    assert page.locator(".tiles .words").count() > 0
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    context.close()


@pytest.mark.parametrize("graded", [False, True])
def test_one_long_word_does_not_widen_the_page(browser, server, graded):
    texts = [Item(f"text-{n}", text=f"https://example.org/{'a' * 180}") for n in range(30)]
    link = a_study(server, f"long-{graded}".lower(), texts=texts, graded=graded, topics=["word"])
    context = prepared(browser)
    page = context.new_page()
    start(page, link)
    assert page.locator(".tiles .words").count() > 0
    page.locator(".lead strong").evaluate("topic => topic.textContent = 'a'.repeat(180)")
    assert all(is_as_wide_as_its_window(page, width) for width in (360, 768, 1280))
    context.close()


def test_a_mark_from_an_older_window_is_said_to_be_lost(browser, server):
    context = prepared(browser)
    first = context.new_page()
    start(first, a_study(server, "two-windows", topics=["word"]))
    second = context.new_page()
    second.goto(first.url)
    with first.expect_response("**/q/1"):  # the page says "all saved" before the first mark too
        first.locator(".tiles label").nth(0).click()
    expect(first.locator("#saved")).to_have_text("all saved")
    dialogs = stay_in_every_dialog(second)
    mark_two_before_an_answer(second)
    expect(second.get_by_text("your last change is not")).to_be_visible()
    assert second.locator(".tiles :checked").count() == 1
    assert dialogs == []
    second.reload()
    expect(second.locator("#elsewhere")).to_be_hidden()
    context.close()


def test_a_batch_of_a_study_that_was_closed_says_so_at_once(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "label-closed", topics=["word"]))
    with page.expect_response("**/q/1"):
        page.locator(".tiles label").nth(0).click()
    expect(page.locator("#saved")).to_have_text("all saved")
    close(server, "label-closed")
    dialogs = stay_in_every_dialog(page)
    mark_two_before_an_answer(page)
    expect(page.get_by_text("survey is closed")).to_be_visible()
    assert dialogs == []
    context.close()


def test_a_reason_stays_from_batch_to_batch(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "with-reason", topics=["word"], reason_question="Why?"))
    page.locator("#reason").fill("all of them green")
    page.locator("button[value=next]:not(.hidden)").click()
    expect(page.locator("h1")).to_have_text("Batch 2")
    expect(page.locator("#reason")).to_have_value("all of them green")
    page.locator("button[value=done]:not(.hidden)").click()
    page.locator(".asks [value=done]").click()
    page.wait_for_url("**/review")
    expect(page.get_by_text("all of them green")).to_be_visible()
    context.close()


def seen_tiles(page):
    return page.locator("[name=seen]").input_value().split()


def test_a_picture_that_did_not_come_was_not_seen(server, page):
    page.route("**/pictures/small/**", lambda route: route.abort())
    start(page, a_study(server, "no-pictures"))
    page.wait_for_timeout(1_000)
    assert seen_tiles(page) == []
    page.unroute("**/pictures/small/**")
    page.reload()
    expect(page.locator("[name=seen]")).to_have_value(re.compile(r"^1 2 3"))


def test_nothing_is_seen_behind_a_picture_that_is_shown_larger(server, page):
    start(page, a_study(server, "behind", batch=60))
    page.locator(".query aside > a").click()
    expect(page.locator("dialog[open]")).to_be_visible()
    before = seen_tiles(page)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_timeout(1_000)
    assert seen_tiles(page) == before
    page.keyboard.press("Escape")
    expect(page.locator("[name=seen]")).to_have_value(re.compile(r" 60$"))


def test_what_was_asked_goes_once_the_answer_changes(server, page):
    start(page, a_study(server, "asked-once", topics=["word"]))
    page.locator("button[value=done]:not(.hidden)").click()
    asks = page.locator(".asks")
    expect(asks).to_contain_text("You have not seen all of this batch")
    page.locator(".tiles label").first.click()
    expect(asks).to_have_count(0)
    page.locator("button[value=done]:not(.hidden)").click()
    at(page, "/review")
