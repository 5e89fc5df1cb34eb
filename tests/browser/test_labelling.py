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
    """Go to the first search."""
    page.goto(link)
    while "/q/1" not in page.url:
        if page.locator("[name=agree]").count():
            page.check("[name=agree]")
        leave(page, "main button.go:not(.hidden)")


def leave(page, button):
    """Press a button, and wait for the page that follows, also where it has the same address."""
    page.evaluate("document.documentElement.dataset.left = ''")
    page.locator(button).click()
    expect(page.locator("html")).not_to_have_attribute("data-left", "")
    page.wait_for_load_state("load")


def go_on(page, to):
    """Press a button of the answer bar, and insist where the page asks back."""
    leave(page, f".way [value={to}]")
    if page.locator(".asks").count():
        leave(page, f".asks [value={to}]")


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
        page.locator(".way [value=done]").click()
        with page.expect_navigation():
            page.locator(".asks [value=done]").click()  # not all of the sixty were in view
        actions += 2
        assert actions == 8
        page.wait_for_url("**/review")
        assert "6 marked" in page.locator(".review").inner_text()
        context.close()


def test_what_is_searched_for_and_the_question_stay_in_view_and_cover_no_tile_in_focus(
    browser, server
):
    link = a_study(server, "phone", batch=60)
    page = prepared(browser).new_page()
    page.set_viewport_size({"width": 360, "height": 740})
    begin(page, link)
    picture, searched = page.locator(".find img"), page.locator(".find")
    bar = page.locator(".bar")
    tiles = page.locator(".tiles input")
    for number in (59, 4, 40):  # down to the last, up again, and into the middle
        tiles.nth(number).focus()
        assert searched.bounding_box()["y"] == pytest.approx(0, abs=1)
        assert "Mark every picture" in page.locator("h1").inner_text()
        box = page.locator(".tile").nth(number).bounding_box()
        assert box["y"] >= searched.bounding_box()["height"]
        assert box["y"] + box["height"] <= bar.bounding_box()["y"]
    picture.click()
    expect(page.locator("dialog[open] img")).to_have_attribute("alt", "the picture to compare with")
    page.keyboard.press("Escape")
    expect(page.locator(".find a:focus img")).to_be_visible()


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
    page.wait_for_function("() => !sending")  # the page says "saved" before the first mark too
    expect(page.locator("#saved")).to_have_text("saved")
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
    expect(page.locator("#marked")).to_have_text("0 marked")
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
    page.locator(".way [value=done]").click()
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
    expect(page.locator("#saved")).to_have_text("saved")
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
    page.locator(".typed strong").evaluate("topic => topic.textContent = 'a'.repeat(180)")
    assert all(is_as_wide_as_its_window(page, width) for width in (360, 768, 1280))
    context.close()


def test_a_mark_from_an_older_window_is_said_to_be_lost(browser, server):
    context = prepared(browser)
    first = context.new_page()
    start(first, a_study(server, "two-windows", topics=["word"]))
    second = context.new_page()
    second.goto(first.url)
    with first.expect_response("**/q/1"):  # the page says "saved" before the first mark too
        first.locator(".tiles label").nth(0).click()
    expect(first.locator("#saved")).to_have_text("saved")
    dialogs = stay_in_every_dialog(second)
    mark_two_before_an_answer(second)
    expect(second.get_by_text("your last change is not")).to_be_visible()
    assert second.locator(".tiles :checked").count() == 1
    assert dialogs == []
    second.reload()
    expect(second.locator("#elsewhere")).to_be_hidden()
    context.close()


def test_a_page_of_a_study_that_was_closed_says_so_at_once(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "label-closed", topics=["word"]))
    with page.expect_response("**/q/1"):
        page.locator(".tiles label").nth(0).click()
    expect(page.locator("#saved")).to_have_text("saved")
    close(server, "label-closed")
    dialogs = stay_in_every_dialog(page)
    mark_two_before_an_answer(page)
    expect(page.get_by_text("study has closed")).to_be_visible()
    assert dialogs == []
    context.close()


def test_a_reason_stays_from_page_to_page(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "with-reason", topics=["word"], reason_question="Why?"))
    page.locator("#reason").fill("all of them green")
    go_on(page, "next")
    expect(page.locator("#page")).to_have_text("Page 2.")
    expect(page.locator("#reason")).to_have_value("all of them green")
    go_on(page, "done")
    page.wait_for_url("**/review")
    expect(page.get_by_text("all of them green")).to_be_visible()
    context.close()


def seen_tiles(page):
    return page.locator("[name=seen]").input_value().split()


def see_all(page):
    """Scroll through the page, looking at each part for as long as it takes to be seen."""
    for tile in page.locator(".tile").all():
        tile.scroll_into_view_if_needed()
        number = tile.get_attribute("id").removeprefix("tile-")
        expect(page.locator("[name=seen]")).to_have_value(re.compile(rf"(^| ){number}( |$)"))


def places(buttons):
    """Where buttons are, in whole pixels."""
    return [[round(side) for side in each.bounding_box().values()] for each in buttons.all()]


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
    page.locator(".find > a").click()
    expect(page.locator("dialog[open]")).to_be_visible()
    before = seen_tiles(page)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    page.wait_for_timeout(1_000)
    assert seen_tiles(page) == before
    page.keyboard.press("Escape")
    expect(page.locator("[name=seen]")).to_have_value(re.compile(r" 60$"))


def test_what_was_asked_goes_once_the_answer_changes(server, page):
    start(page, a_study(server, "asked-once", topics=["word"]))
    page.locator(".way [value=done]").click()
    asks = page.locator(".asks")
    expect(asks).to_contain_text("have not been on your screen")
    page.locator(".tiles label").first.click()
    expect(asks).to_have_count(0)
    page.locator(".way [value=done]").click()
    at(page, "/review")


def test_the_page_asks_first_about_pictures_that_were_not_in_view_and_shows_them(server, page):
    page.set_viewport_size({"width": 360, "height": 740})
    start(page, a_study(server, "unseen-first", batch=60, topics=["word"]))
    page.locator(".tiles label").nth(1).click()
    leave(page, ".way [value=next]")
    asks = page.locator(".asks")
    expect(asks).to_contain_text("have not been on your screen")
    expect(page.locator(".way")).to_be_hidden()
    expect(page.locator(".tiles :checked")).to_have_count(1)
    asks.locator("a").click()
    expect(asks).to_have_count(0)
    expect(page.locator(".way")).to_be_visible()
    first = int(re.search(r"#tile-(\d+)", page.url)[1])
    tile, bar = (page.locator(each).bounding_box() for each in (f"#tile-{first}", ".bar"))
    assert page.locator(".find").bounding_box()["height"] <= tile["y"]
    assert tile["y"] + tile["height"] <= bar["y"]
    leave(page, ".way [value=next]")  # asked about once
    expect(page.locator("#page")).to_have_text("Page 2.")


@pytest.mark.parametrize("width", [360, 1280])
def test_the_buttons_stay_where_they_are_while_the_coloured_one_changes(server, page, width):
    page.set_viewport_size({"width": width, "height": 740})
    start(page, a_study(server, f"coloured-{width}", topics=["like-red"]))
    page.locator(".tiles label").nth(2).click()
    go_on(page, "next")
    expect(page.locator("#page")).to_have_text("Page 2, best guesses first.")
    buttons = page.locator(".way button")
    before = places(buttons)
    coloured = page.locator(".way .go")
    expect(coloured).to_have_attribute("value", "next")
    see_all(page)
    expect(coloured).to_have_attribute("value", "done")  # all were seen, and none is marked
    assert page.locator("form button").first.get_attribute("value") == "done"
    page.locator(".tiles label").last.click()
    expect(coloured).to_have_attribute("value", "next")
    assert places(buttons) == before


def test_similar_ones_are_offered_once_there_is_a_mark(server, page):
    start(page, a_study(server, "similar", topics=["word"]))
    similar = page.get_by_role("button", name="Show similar ones first")
    expect(similar).to_be_hidden()
    tile = page.locator(".tiles label").first
    tile.click()
    expect(similar).to_be_visible()
    tile.click()
    expect(similar).to_be_hidden()
    tile.click()
    leave(page, "[value=refine]")
    expect(page.locator("#page")).to_have_text("Page 2, most similar to your marks first.")
    expect(similar).to_be_visible()  # for the mark of the page before


def test_keys_are_named_where_a_pointer_hovers_only(browser, server):
    link = a_study(server, "named-keys", topics=["word"])
    for is_touched in (False, True):
        context = browser.new_context(has_touch=is_touched, is_mobile=is_touched)
        page = context.new_page()
        start(page, link)
        page.get_by_text("How to answer").click()
        keys = page.get_by_text("Keys: arrows, space, + for a larger picture")
        expect(keys).to_be_visible(visible=not is_touched)
        context.close()


def test_nothing_is_sticky_or_wider_than_a_low_or_narrow_window(server, page):
    page.set_viewport_size({"width": 640, "height": 360})
    start(page, a_study(server, "low", topics=["like-red"]))
    page.evaluate("scrollTo(0, 400)")
    for part in (".find", ".bar"):
        assert page.locator(part).evaluate("it => getComputedStyle(it).position") != "sticky"
    page.wait_for_timeout(800)
    seen = seen_tiles(page)
    assert 0 < len(seen) < 24  # not those below the window
    page.set_viewport_size({"width": 320, "height": 640})
    assert page.evaluate("document.documentElement.scrollWidth") == 320


@pytest.mark.parametrize("width", [320, 360])
def test_a_tap_in_the_middle_of_a_small_tile_marks_it(browser, server, width):
    link = a_study(server, f"small-tiles-{width}", topics=["like-red"])
    context = browser.new_context(
        viewport={"width": width, "height": 640}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    start(page, link)
    # As if none of the pictures had a text, for which tiles are wider.
    page.locator(".words").evaluate_all("all => all.forEach(it => it.remove())")
    page.locator(".tile").evaluate_all("all => all.forEach(it => it.className = 'tile')")
    for number in range(3):
        tile = page.locator(".tile").nth(number)
        tile.locator("label").tap()
        expect(tile.locator("input")).to_be_checked()
    context.close()


def test_practice_is_the_real_page_and_stores_nothing(browser, server):
    link = a_study(server, "practised", topics=["word"], practice=True)
    before = len(stored_steps(server))
    context = prepared(browser)
    page = watched(context.new_page())
    page.goto(link)
    while not page.url.endswith("/practice"):
        if page.locator("[name=agree]").count():
            page.check("[name=agree]")
        leave(page, "main button.go:not(.hidden)")
    page.locator(".tiles label").first.click()
    expect(page.locator("#marked")).to_have_text("1 marked")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    leave(page, ".way [value=next]")  # whatever was in view
    expect(page.locator(".task")).to_contain_text("Start")
    expect(page.locator(".task")).to_be_in_viewport()
    expect(page.locator("#marked")).to_have_text("1 marked")
    leave(page, ".way [value=previous]")
    expect(page.locator(".tiles :checked")).to_have_count(1)
    leave(page, ".way [value=next]")
    leave(page, ".way [value=done]")
    at(page, "/q/1")
    expect(page.locator("#marked")).to_have_text("0 marked")
    assert len(stored_steps(server)) == before
    assert page.faults == []
    context.close()
