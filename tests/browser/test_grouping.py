"""A topic in a real browser: by keys, by hand, at every width, and with a lost connection."""

from functools import partial

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from survey.app import db
from survey.core.collections.items import Item
from survey.core.kinds import KINDS
from survey.services.accounts import COMMAND_LINE
from survey.services.collections import items
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.accessibility.looking import ask, axe, prepared
from tests.browser.test_labelling import (
    CHECKS,
    begin,
    close,
    is_as_wide_as_its_window,
    stay_in_every_dialog,
)
from tests.browser.test_participant import start
from tests.browsing import watched
from tests.builders import Visitor
from tests.grouped import (
    FIRST_TOPIC,
    SECOND_TOPIC,
    Assessor,
    a_grouping_plan,
    a_grouping_study,
    by_colour,
    warm_and_cold,
)
from tests.labelled import a_shaded_picture

pytestmark = pytest.mark.slow

COLOURS = ("red", "green", "blue", "yellow", "purple", "orange", "pink", "grey")
MANY = [f"{COLOURS[number % 8]}-{number}" for number in range(62)]
SAVED = """() => document.getElementById("saved").textContent.endsWith("saved")
    && !document.querySelector(".pending")"""


IS_FOCUSED = "it => it === document.activeElement"


def a_study(server, slug, **changes):
    with server.app.app_context():
        a_grouping_study(db.session, slug, **changes)
        db.session.remove()
    return f"{server.address}/s/{slug}"


def documents_on(page, server, slug):
    """The document of each tile, in the order of the page."""
    with server.app.app_context():
        shown = items.shown(db.session, lifecycle.find_study(db.session, slug)).documents
        db.session.remove()
    documents = {name: document for document, (name, _) in shown.items()}
    sources = page.locator(".tile img").evaluate_all("all => all.map(each => each.src)")
    return [documents[each.rpartition("/")[2].removesuffix(".webp")] for each in sources]


def name_group(page, name):
    """Put what is selected into a new group."""
    page.locator("#new").click()
    page.locator("#group").fill(name)
    page.get_by_role("button", name="Create").click()


def in_menu(page, selector):
    """Press what is done less often, which opens above the bar."""
    page.locator("#more > summary").click()
    page.locator(f"#more {selector}").click()


def steps_in(server):
    table = KINDS["grouping"].tables.step
    with server.app.app_context():
        query = select(table).order_by(table.c.presentation_id, table.c.number)
        rows = db.session.execute(query).all()
        db.session.remove()
    return rows


def focused(page):
    return page.evaluate(
        """() => [...document.querySelectorAll(".tile")]
            .indexOf(document.activeElement.closest(".tile"))"""
    )


def sort_by_keys(page, names):
    """Sort all pictures, tile by tile; return how many keys and names were typed."""
    actions, keys = 0, {}
    page.locator(".tile input").first.focus()
    for _ in names:
        name = names[focused(page)]
        if name in keys:
            page.keyboard.press(keys[name])
            actions += 1
        else:
            page.keyboard.press("n")
            page.keyboard.type(name)
            page.keyboard.press("Enter")
            actions += 3
            page.wait_for_function(SAVED)
            button = page.locator(f"#groups li > button:has(span:text-is('{name}'))")
            keys[name] = button.get_attribute("data-key")
    page.wait_for_function(SAVED)
    return actions


def test_sixty_two_pictures_in_eight_groups_take_eighty_actions_by_keys(browser, server):
    context = prepared(browser)
    page = context.new_page()
    begin(page, a_study(server, "sort-keys", topics={"5": MANY}))
    names = [each.split("-")[0] for each in documents_on(page, server, "sort-keys")]
    actions = sort_by_keys(page, names)
    page.locator("button[value=done]:not(.hidden)").press("Enter")
    page.wait_for_url("**/review")
    assert actions + 1 <= 80
    review = page.locator(".review").inner_text()
    assert all(f"{colour} ({names.count(colour)})" in review for colour in COLOURS)
    context.close()


def test_sixty_two_pictures_in_eight_groups_take_ninety_actions_by_hand(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "sort-hand", topics={"5": MANY}))
    documents = documents_on(page, server, "sort-hand")
    actions = 0
    for colour in COLOURS:
        for number, document in enumerate(documents):
            if document.startswith(colour):
                page.locator(".tile label").nth(number).click()
                actions += 1
        name_group(page, colour)
        actions += 3
        page.wait_for_function(SAVED)
    page.locator("button[value=done]:not(.hidden)").click()
    page.wait_for_url("**/review")
    assert actions + 1 <= 90
    context.close()


def test_similar_pictures_and_ranges_are_selected_at_once(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "sort-alike"))
    documents = documents_on(page, server, "sort-alike")
    page.locator(".tile label").first.click()
    in_menu(page, "#similar")
    ticked = page.locator(".tile input").evaluate_all("all => all.map(each => each.checked)")
    selected = [each for each, is_on in zip(documents, ticked, strict=True) if is_on]
    colour = documents[0].split("-")[0]
    assert {each for each in selected if each.startswith(colour)} == {
        each for each in documents if each.startswith(colour)
    }
    page.reload()
    page.locator(".tile label").nth(2).click()
    page.locator(".tile label").nth(6).click(modifiers=["Shift"])
    assert page.locator(".tile :checked").count() == 5
    assert "5 selected" in page.locator("#placed").inner_text()
    context.close()


def test_a_topic_fits_every_width_and_theme(browser, server):
    link = a_study(server, "sort-fits")
    with server.app.app_context():
        firsts = [Assessor(server.app, db.session, "sort-fits") for _ in range(2)]
        db.session.remove()
    for first, groups in zip(firsts, (by_colour, warm_and_cold), strict=True):
        first.go("/q/1")
        first.finish("/q/1", groups(FIRST_TOPIC))
        first.finish("/q/2", by_colour(SECOND_TOPIC))
    context = prepared(browser)
    page = context.new_page()
    start(page, link)
    names = [each.split("-")[0] for each in documents_on(page, server, "sort-fits")]
    faults = []

    def look(state):
        for width, theme in ((1280, "light"), (768, "dark"), (360, "light"), (360, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)
            where = f"{state}, {width} px, {theme}"
            faults.extend(axe(page, where))
            faults.extend(each for name in CHECKS for each in ask(page, name, where))

    look("empty")
    sort_by_keys(page, names)
    look("sorted")
    page.locator("button[value=done]:not(.hidden)").click()
    page.wait_for_selector(".earlier")
    look("with both earlier groupings")
    assert faults == []
    context.close()


def test_a_document_without_a_picture_leaves_the_others_as_small_as_they_are(browser, server):
    with server.app.app_context():
        plan = a_grouping_plan()
        study = lifecycle.create_owned_study(db.session, None, "blank", plan, Recruitment())
        documents = FIRST_TOPIC[1:]
        files = {f"{each}.png": partial(a_shaded_picture, "red", each) for each in documents}
        shown = [Item(each, f"{each}.png") for each in documents]
        items.take_in(db.session, study, files, shown, COMMAND_LINE)
        lifecycle.open_study(db.session, study, anyway="to see how it looks")
        db.session.remove()
    page = prepared(browser).new_page()
    begin(page, f"{server.address}/s/blank")
    assert page.locator(".tile").count() == len(FIRST_TOPIC)
    widths = page.locator(".tile").evaluate_all("all => all.map(each => each.offsetWidth)")
    assert max(widths) < 150


def test_a_picture_is_shown_larger(browser, server):
    link = a_study(server, "larger")
    page = watched(prepared(browser).new_page())
    begin(page, link)
    zoom = page.locator(".zoom").nth(2)
    zoom.click()
    dialog = page.locator("dialog#larger")
    expect(dialog).to_be_visible()
    assert dialog.locator("img").get_attribute("src").endswith(zoom.get_attribute("href"))
    expect(dialog.locator("img")).to_have_js_property("complete", True)
    assert dialog.locator("img").bounding_box()["width"] >= 320  # with the styles of other kinds
    assert dialog.locator("span").text_content() == "picture 3"
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert page.locator(":checked").count() == 0
    assert page.faults == []


def test_one_long_word_does_not_widen_the_page(browser, server):
    link = a_study(server, "sort-long", texts=lambda each: f"https://example.org/{each}{'a' * 180}")
    for group in ("a" * 60, "b" * 60):
        first = Visitor(server.app.test_client(), "sort-long")
        first.go("/q/1")
        for path, tiles in (("/q/1", range(1, 4)), ("/q/2", range(1, 3))):
            first.submit(path, document=[*tiles], group=group, go="new")
            first.submit(path, go="rest")
            first.submit(path, go="done")
    context = prepared(browser)
    page = context.new_page()
    start(page, link)
    page.locator(".lead strong").evaluate("topic => topic.textContent = 'a'.repeat(180)")
    page.locator(".tile label").first.click()
    name_group(page, "c" * 60)
    page.wait_for_function(SAVED)
    assert all(is_as_wide_as_its_window(page, width) for width in (360, 768, 1280))
    in_menu(page, "[value=rest]")
    page.locator("button[value=done]:not(.hidden)").click()
    page.wait_for_selector(".earlier")
    assert all(is_as_wide_as_its_window(page, width) for width in (360, 768, 1280))
    context.close()


def test_done_pressed_while_a_step_is_being_saved_ends_the_topic(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "sort-fast"))
    held = []
    page.route("**/q/1", lambda route: route.continue_() if held else held.append(route))
    in_menu(page, "[value=rest]")
    page.locator("button[value=done]:not(.hidden)").click()
    held[0].continue_()
    page.locator(".asks [value=done]").click()
    page.wait_for_url("**/q/2")
    context.close()


@pytest.mark.parametrize("by", ["pointer", "space bar"])
def test_an_answer_that_comes_while_a_button_is_pressed_does_not_take_the_button_away(
    page, server, by
):
    start(page, a_study(server, f"sort-pressed-{by[:5]}"))
    held = []
    page.route("**/q/1", lambda route: held.append(route), times=1)
    page.locator(".tile label").first.click()
    page.locator("button[value=put-0]").click()
    page.locator("#more > summary").click()
    button = page.locator("#buttons [value=rest]")
    if by == "pointer":
        button.hover()
        press, let_go = page.mouse.down, page.mouse.up
    else:
        button.focus()
        press, let_go = (partial(call, " ") for call in (page.keyboard.down, page.keyboard.up))
    press()
    with page.expect_response("**/q/1"):
        held[0].continue_()
    page.wait_for_timeout(300)
    let_go()
    expect(button).to_have_count(0)
    page.wait_for_function(SAVED)
    expect(page.locator("#placed")).to_contain_text("12 of 12")
    assert page.faults == []


def test_enter_puts_what_is_selected_into_the_group_that_was_typed(page, server):
    start(page, a_study(server, "sort-enter"))
    page.locator(".tile label").first.click()
    page.locator("#new").click()
    page.locator("#group").fill("warm")
    page.locator("#group").press("Enter")
    expect(page.locator("button[value=put-1]")).to_contain_text("warm")
    expect(page.locator("#group")).to_have_value("")
    page.wait_for_function(SAVED)
    assert page.faults == []


def test_done_pressed_after_a_step_says_how_many_are_left_and_waits_for_a_connection(
    browser, server
):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "sort-done"))
    page.locator(".tile label").first.click()
    page.locator("button[value=put-0]").click()
    page.wait_for_function(SAVED)
    page.locator("button[value=done]:not(.hidden)").click()
    expect(page.locator(".asks")).to_contain_text("11 are in no group yet")
    page.get_by_role("link", name="Place them").click()
    expect(page.locator(".asks")).to_have_count(0)
    assert page.locator(".tile:not(.placed) input").first.evaluate(IS_FOCUSED)
    in_menu(page, "[value=rest]")
    expect(page.locator("#placed")).to_contain_text("12 of 12 placed")
    page.wait_for_function(SAVED)
    context.set_offline(True)
    page.locator("button[value=done]:not(.hidden)").click()
    expect(page.locator("[data-saving]")).to_contain_text("Not saved yet")
    context.set_offline(False)
    page.locator(".asks [value=done]").click()
    page.wait_for_url("**/q/2")
    context.close()


def test_the_browsers_back_leads_to_a_topic_that_was_not_done_yet(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "sort-back"))
    page.locator("button[value=done]:not(.hidden)").click()
    expect(page.locator(".asks")).to_contain_text("12 are in no group yet")
    page.locator(".asks [value=rest-done]").click()
    page.locator(".asks [value=done]").click()
    page.wait_for_url("**/q/2")
    page.go_back()
    expect(page.locator("#placed")).to_contain_text("12 of 12 placed")
    context.close()


def test_steps_wait_for_a_lost_connection_and_are_stored_once(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "sort-lost"))
    before, lost = len(steps_in(server)), []

    def lose(route):
        if route.request.method == "POST" and len(lost) < 2:
            if not lost:
                route.fetch()  # it is stored, and its answer lost
            lost.append(route.request)
            route.abort()
        else:
            route.continue_()

    page.route("**/q/1", lose)
    page.locator(".tile input").first.focus()
    page.keyboard.press("n")
    page.keyboard.type("warm")
    page.keyboard.press("Enter")
    expect(page.locator("#saved")).to_contain_text("not saved yet")
    page.keyboard.press("u")
    in_menu(page, "[value=rest]")
    page.wait_for_function(SAVED)
    assert len(lost) == 2
    stored = steps_in(server)[before:]
    assert [(row.action, row.group_number, len(row.documents)) for row in stored] == [
        *(("put", 1, 1), ("put", 0, 1), ("put", 0, 10)),
    ]
    context.close()


def test_a_group_pressed_with_nothing_selected_says_so_until_something_is(server, page):
    start(page, a_study(server, "sort-nothing"))
    before = len(steps_in(server))
    state = page.locator("#placed")
    for button in ("#new", "#groups [value=put-0]"):
        page.locator(button).click()
        expect(state).to_contain_text("Nothing is selected yet")
        page.locator(".tile label").first.click()
        expect(state).to_contain_text("1 selected Tap + New")
        page.locator(".tile label").first.click()
        expect(state).to_contain_text("0 of 12 placed Tap pictures, then a group")
    page.locator(".tile label").first.click()
    page.locator("#new").click()
    page.locator(".tile label").first.click()
    page.locator("#group").fill("warm")
    page.locator("#group").press("Enter")
    expect(state).to_contain_text("Nothing is selected yet")
    expect(page.locator("#group")).to_have_value("warm")
    assert len(steps_in(server)) == before
    assert page.faults == []


def test_the_name_of_a_new_group_is_asked_in_the_place_of_the_groups_and_can_be_left(server, page):
    start(page, a_study(server, "sort-named"))
    field, groups = page.locator("#group"), page.locator("#groups")
    expect(field).to_be_hidden()
    page.locator(".tile label").first.click()
    page.locator("#new").click()
    expect(field).to_be_focused()
    expect(groups).to_be_hidden()
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    expect(page.locator("#new")).to_be_focused()
    page.locator("#new").click()
    page.get_by_role("button", name="Cancel").click()
    expect(groups).to_be_visible()
    expect(page.locator("#placed")).to_contain_text("1 selected")
    page.locator(".tile input").nth(3).focus()
    page.keyboard.press("n")
    page.keyboard.press("Escape")
    assert focused(page) == 3
    assert page.faults == []


def test_the_menu_closes_by_escape_by_a_click_beside_it_and_by_what_is_done_there(server, page):
    start(page, a_study(server, "sort-menu"))
    menu = page.locator("#more")
    page.locator(".tile label").first.click()
    name_group(page, "warm")
    page.wait_for_function(SAVED)
    for closes in (lambda: page.keyboard.press("Escape"), page.locator("h1").click):
        menu.locator("> summary").click()
        expect(menu).to_have_attribute("open", "")
        closes()
        expect(menu).not_to_have_attribute("open", "")
    in_menu(page, "details summary")
    menu.locator("[name=name-1]").fill("hot")
    menu.locator("[value=rename-1]").click()
    expect(menu).not_to_have_attribute("open", "")
    expect(page.locator("button[value=put-1]")).to_contain_text("hot")
    in_menu(page, "details summary")
    menu.locator("[value=take-1]").click()
    expect(page.locator("#placed")).to_contain_text("Nothing is selected yet")
    assert page.faults == []


def test_a_menu_that_is_open_while_an_answer_comes_keeps_what_is_typed(server, page):
    start(page, a_study(server, "sort-typed"))
    page.locator(".tile label").first.click()
    name_group(page, "warm")
    page.wait_for_function(SAVED)
    held = []
    page.route("**/q/1", lambda route: held.append(route), times=1)
    page.locator(".tile label").nth(1).click()
    page.locator("button[value=put-1]").click()
    in_menu(page, "details summary")
    page.locator("[name=name-1]").fill("hot")
    with page.expect_response("**/q/1"):
        held[0].continue_()
    page.wait_for_function(SAVED)
    expect(page.locator("#groups small").first).to_have_text("2")
    expect(page.locator("[name=name-1]")).to_be_visible()
    expect(page.locator("[name=name-1]")).to_have_value("hot")
    expect(page.locator("[name=name-1]")).to_be_focused()
    assert page.faults == []


def test_a_tap_on_a_group_moves_neither_the_page_nor_the_focus_to_a_tile(browser, server):
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True)
    page = context.new_page()
    start(page, a_study(server, "sort-tapped", topics={"5": MANY}))
    page.locator(".tile label").nth(40).tap()
    name_group(page, "warm")
    page.wait_for_function(SAVED)
    place = page.evaluate("scrollY")
    page.locator(".tile label").nth(41).tap()
    page.locator("button[value=put-1]").tap()
    page.wait_for_function(SAVED)
    assert place == page.evaluate("scrollY") > 0
    assert focused(page) == -1 or page.locator(".tile input").nth(41).evaluate(IS_FOCUSED)
    context.close()


def test_five_rows_of_pictures_are_in_view_on_a_phone_and_its_bar_stays_low(browser, server):
    context = browser.new_context(viewport={"width": 360, "height": 740})
    page = context.new_page()
    start(page, a_study(server, "sort-rows", topics={"5": MANY}))
    for name in ("warm", "a rather long name of a group", *map(str, range(12))):
        page.locator(".tile:not(.placed) label").first.click()
        name_group(page, name)
        page.wait_for_function(SAVED)
        expect(page.locator("#groups li:nth-last-child(2)")).to_be_in_viewport()
    page.evaluate("scrollTo(0, 0)")
    top = page.locator(".bar").bounding_box()["y"]
    bottoms = page.locator(".tile").evaluate_all(
        "all => all.map(each => each.getBoundingClientRect().bottom)"
    )
    assert len({bottom for bottom in bottoms if bottom <= top}) >= 5
    assert page.locator(".bar").bounding_box()["height"] <= 130
    assert is_as_wide_as_its_window(page, 320)
    context.close()


def test_a_refused_step_keeps_the_selection_and_enter_renames(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "sort-refused", reason_question="Why?"))
    page.locator("#reason").fill("by colour")
    for number in (0, 2):
        page.locator(".tile label").nth(number).click()
    name_group(page, "")
    expect(page.locator("#problems")).to_contain_text("Please type a name for the group.")
    assert page.locator(".tile input:checked").count() == 2
    page.locator("#group").fill("warm")
    page.locator("button[value=new]").click()
    page.wait_for_function(SAVED)
    in_menu(page, "details summary")
    page.locator("[name=name-1]").fill("hot")
    page.locator("[name=name-1]").press("Enter")
    expect(page.locator("button[value=put-1]")).to_contain_text("hot")
    page.reload()
    expect(page.locator("#reason")).to_have_value("by colour")
    context.close()


@pytest.mark.parametrize("button", ["put-0", "done"])
def test_a_refusal_is_seen_and_says_that_what_was_pressed_after_it_is_not_done(
    browser, server, button
):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, f"sort-after-{button}", topics={"5": MANY}))
    page.set_viewport_size({"width": 1280, "height": 500})
    before, held = len(steps_in(server)), []
    page.route("**/q/1", lambda route: route.continue_() if held else held.append(route))
    page.locator(".tile label").last.click()
    name_group(page, "")
    page.locator(".tile label").nth(-2).click()
    page.locator(f"button[value={button}]").click()
    held[0].continue_()
    faults = page.locator("#problems")
    expect(faults).to_contain_text("Please type a name for the group.")
    expect(faults).to_contain_text("Your last step was not saved. Please repeat it.")
    expect(faults).to_be_in_viewport()
    expect(page.locator(".pending")).to_have_count(0)
    expect(page.locator(".tile").last.locator("input")).to_be_checked()
    page.locator("#group").fill("warm")
    page.locator("button[value=new]").click()
    expect(faults).to_have_count(0)
    assert len(steps_in(server)) == before + 1
    context.close()


def test_a_step_that_meets_an_error_of_the_server_is_sent_again(browser, server):
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, "sort-error"))
    before = len(steps_in(server))
    page.route("**/q/1", lambda route: route.fulfill(status=500, body="<h1>Wrong</h1>"), times=1)
    page.locator(".tile label").first.click()
    page.locator("button[value=put-0]").click()
    expect(page.locator("#saved")).to_contain_text("not saved yet")
    page.wait_for_function(SAVED)
    assert len(steps_in(server)) == before + 1
    context.close()


@pytest.mark.parametrize("happening", ["closed", "cookies lost"])
def test_a_step_that_is_too_late_leads_to_the_page_that_says_so(browser, server, happening):
    slug = f"sort-{happening}".replace(" ", "-")
    context = prepared(browser)
    page = context.new_page()
    start(page, a_study(server, slug))
    if happening == "closed":
        close(server, slug)
    else:
        context.clear_cookies()
    dialogs = stay_in_every_dialog(page)
    page.locator(".tile label").first.click()
    page.locator("button[value=put-0]").click()
    expect(page.locator("#work")).to_have_count(0)
    assert dialogs == []
    context.close()


def test_what_was_asked_goes_once_the_groups_change(server, page):
    start(page, a_study(server, "asked-groups", topics={"7": SECOND_TOPIC}))
    for tile in page.locator(".tile label").all():
        tile.click()
    name_group(page, "all")
    page.wait_for_function(SAVED)
    page.locator("button[value=done]:not(.hidden)").click()
    expect(page.locator(".asks")).to_contain_text("All of this topic is in one group")
    page.locator(".tile label").first.click()
    name_group(page, "other")
    expect(page.locator("#groups")).to_contain_text("other")
    expect(page.locator(".asks")).to_have_count(0)
    page.locator("button[value=done]:not(.hidden)").click()
    page.wait_for_url("**/review")
