"""One's own ordering: letters that are tapped or dragged; and the picture of the positions."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_participant import (
    LAPTOP,
    PHONE,
    at,
    keep_order,
    place,
    save,
    select,
    start,
    tap,
    tick,
)

pytestmark = pytest.mark.slow


def middle_of(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def chip(page, letter):
    return page.locator("#slots b").get_by_text(letter, exact=True)


def slot(page, number):
    return page.locator(f"[data-place='{number}']")


def drag(page, letter, number):
    page.mouse.move(*middle_of(chip(page, letter)))
    page.mouse.down()
    page.mouse.move(*middle_of(slot(page, number)), steps=3)
    page.mouse.up()


def ordering(page):
    """The letters at each place."""
    return page.locator("[data-place] > span").all_inner_texts()


def test_letters_are_tapped_from_best_to_worst_and_the_last_one_needs_no_tap(page, link):
    start(page, link)
    expect(page.locator("#slots")).to_be_hidden()
    tap(page, *"BA=DC")
    assert ordering(page) == ["B", "A = D", "", "C", "E"]
    expect(page.locator("#echo")).to_contain_text("B first; A and D tie for second; C fourth")
    expect(page.locator("input[value=own]")).to_be_checked()
    keep_order(page)
    at(page, "/q/2")
    page.go_back()
    at(page, "/q/1")
    assert ordering(page) == ["B", "A = D", "", "C", "E"]
    assert page.faults == []


def test_after_a_reload_undo_restores_what_was_before_each_step(page, link):
    start(page, link)
    steps = [[""] * 5]
    for step in ("B", "A", "=", "D", "C", "A"):
        tap(page, step)
        if step != "=":
            steps.append(ordering(page))
    drag(page, "B", 3)
    for before in reversed(steps):
        page.reload()
        page.locator("#undo").click()
        assert ordering(page) == before
        expect(page.locator("input[value=own]")).to_be_checked(checked=before != steps[0])
    expect(page.locator("#undo")).to_be_disabled()
    assert page.faults == []


def test_of_an_order_that_was_stored_undo_takes_out_the_last_letter(page, link):
    start(page, link)
    tap(page, *"DAC=E")
    save(page)
    at(page, "/q/2")
    page.go_back()
    at(page, "/q/1")
    page.locator("#undo").click()
    assert ordering(page) == ["D", "A", "C = E", "", ""]
    page.locator("#undo").click()
    assert ordering(page) == ["D", "A", "C", "", ""]
    expect(page.locator("input[value=own]")).to_be_checked()


def test_a_tap_can_be_undone_and_a_placed_letter_taken_out(page, link):
    start(page, link)
    tap(page, *"BADC")
    tap(page, "=")  # the last two, although the last one was placed by itself
    assert ordering(page) == ["B", "A", "D", "C = E", ""]
    page.locator("#undo").click()
    assert ordering(page) == ["B", "A", "D", "C", "E"]
    page.locator("#undo").click()
    expect(select(page, "C")).to_have_value("")
    expect(select(page, "E")).to_have_value("")
    tap(page, "A")
    assert ordering(page) == ["B", "D", "", "", ""]
    expect(page.locator("[data-letter=A]")).to_have_attribute("aria-pressed", "false")


def test_the_last_letter_may_be_tapped_too(page, link):
    start(page, link)
    tap(page, *"BADCE")
    assert ordering(page) == ["B", "A", "D", "C", "E"]
    tap(page, "E")  # a further tap takes it out, as any placed letter
    assert ordering(page) == ["B", "A", "D", "C", ""]
    tap(page, "=", "E")
    assert ordering(page) == ["B", "A", "D", "C = E", ""]


def test_an_equal_last_letter_may_be_tapped_too(page, link):
    start(page, link)
    tap(page, *"BADC=E")
    assert ordering(page) == ["B", "A", "D", "C = E", ""]


def test_beside_the_keys_letters_are_typed(page, link):
    start(page, link)
    page.locator("[data-letter=A]").focus()
    page.keyboard.type("ba=Dc")
    assert ordering(page) == ["B", "A = D", "", "C", "E"]
    page.keyboard.press("Backspace")
    expect(select(page, "C")).to_have_value("")
    page.keyboard.press("Control+c")
    expect(select(page, "C")).to_have_value("")
    page.locator("input[value=own]").focus()
    page.keyboard.press("c")  # elsewhere a letter is nothing but a letter
    expect(select(page, "C")).to_have_value("")
    assert page.faults == []


def ticked(page):
    """The ticks, sorted: the columns are in an order of chance."""
    found = page.locator("[name=choice]:checked").evaluate_all("all => all.map(one => one.value)")
    return sorted(found)


def test_letters_never_change_a_tick_and_the_page_says_that_the_order_is_not_used(page, link):
    start(page, link)
    tick(page, "1", "2")
    tap(page, "C")
    page.keyboard.type("eb")
    drag(page, "B", 1)
    assert ticked(page) == ["1", "2"]
    expect(page.locator("#echo")).to_contain_text("Not used while a method is ticked")
    while page.locator("#undo").is_enabled():
        page.locator("#undo").click()
        assert ticked(page) == ["1", "2"]
    assert ordering(page) == [""] * 5
    assert page.faults == []


def test_an_own_ordering_is_used_once_no_method_is_ticked_any_more(page, link):
    start(page, link)
    tick(page, "1")
    tap(page, *"DACB")
    page.locator("[name=choice][value='1']").uncheck()
    assert ticked(page) == ["own"]
    page.locator("[name=choice][value=own]").uncheck()
    assert ticked(page) == []


def test_an_own_ordering_before_a_tick_is_asked_about(page, link):
    start(page, link)
    tap(page, *"A=DCE")  # none of the methods' orderings
    tick(page, "1")
    expect(page.locator("#echo")).to_contain_text("Not used while a method is ticked")
    save(page)
    expect(page.locator(".asks")).to_contain_text("which one counts?")
    page.get_by_role("button", name="My own ordering").click()
    at(page, "/q/2")


def test_an_ordering_with_a_tie_is_saved_by_six_actions(page, link):
    start(page, link)
    for key in "A=DCB":
        tap(page, key)
    save(page)  # the sixth
    at(page, "/q/2")


def test_half_an_answer_survives_a_reload_and_a_way_back(page, link):
    start(page, link)
    tick(page, 1)
    save(page)
    at(page, "/q/2")
    tap(page, *"BA")
    page.reload()
    assert ordering(page)[:2] == ["B", "A"]
    expect(page.locator("#kept")).to_be_visible()
    expect(page.locator("input[value=own]")).to_be_checked()
    page.get_by_role("button", name="Back").click()
    at(page, "/q/1")
    expect(page.locator("#kept")).to_be_hidden()
    save(page)
    at(page, "/q/2")
    assert ordering(page)[:2] == ["B", "A"]


def test_what_was_wrong_is_not_marked_once_it_is_mended(page, link):
    start(page, link)
    tick(page, "own")
    tap(page, *"BA")
    save(page)
    expect(page.locator(".problems")).to_contain_text("give a place to C, D and E")
    expect(page.locator(".keys .missing")).to_have_count(3)
    tap(page, *"CD")
    expect(page.locator(".keys .missing")).to_have_count(0)
    expect(page.locator(".problems")).to_have_count(0)
    page.reload()
    assert ordering(page) == ["B", "A", "C", "D", "E"]
    expect(page.locator(".problems")).to_have_count(0)


def test_a_letter_goes_to_the_place_at_which_it_is_let_go(page, link):
    start(page, link)
    place(page, "11345")
    assert ordering(page) == ["A = B", "", "C", "D", "E"]
    drag(page, "E", 4)
    assert ordering(page) == ["A = B", "", "C", "D = E", ""]
    drag(page, "E", 3)
    assert ordering(page) == ["A = B", "", "C = E", "", "D"]
    drag(page, "B", 2)
    assert ordering(page) == ["A", "B", "C = E", "", "D"]


def test_a_letter_is_dragged_from_the_keys_too(page, link):
    start(page, link)
    tap(page, "B")
    page.mouse.move(*middle_of(page.locator("[data-letter=C]")))
    page.mouse.down()
    page.mouse.move(*middle_of(slot(page, 2)), steps=5)
    page.mouse.up()
    assert ordering(page)[:2] == ["B", "C"]


def test_a_second_finger_does_not_move_what_the_first_one_holds(page, link):
    start(page, link)
    place(page, "12345")
    (x, y), (second, fifth) = middle_of(chip(page, "A")), (slot(page, 2), slot(page, 5))
    send = """([kind, finger, x, y]) => document.elementFromPoint(x, y).dispatchEvent(
        new PointerEvent(kind, {pointerId: finger, clientX: x, clientY: y, bubbles: true}))"""
    page.evaluate(send, ["pointerdown", 1, x, y])
    page.evaluate(send, ["pointermove", 1, *middle_of(second)])
    page.evaluate(send, ["pointermove", 2, *middle_of(fifth)])
    page.evaluate(send, ["pointerup", 2, *middle_of(fifth)])
    assert ordering(page) == ["A", "B", "C", "D", "E"]
    page.evaluate(send, ["pointerup", 1, *middle_of(second)])
    assert ordering(page) == ["A = B", "", "C", "D", "E"]


def test_a_letter_let_go_elsewhere_stays_where_it_was(page, link):
    start(page, link)
    place(page, "12345")
    page.mouse.move(*middle_of(chip(page, "A")))
    page.mouse.down()
    page.mouse.move(5, 5, steps=3)
    expect(page.locator(".under")).to_have_count(0)
    page.mouse.up()
    assert ordering(page) == ["A", "B", "C", "D", "E"]
    expect(page.locator(".held")).to_have_count(0)


def test_escape_lets_a_letter_go_where_it_was(page, link):
    start(page, link)
    place(page, "12345")
    page.mouse.move(*middle_of(chip(page, "A")))
    page.mouse.down()
    page.mouse.move(*middle_of(slot(page, 4)), steps=3)
    page.keyboard.press("Escape")
    page.mouse.up()
    assert ordering(page) == ["A", "B", "C", "D", "E"]


def test_a_finger_drags_as_a_mouse_does(browser, link):
    context = browser.new_context(viewport=PHONE, has_touch=True)
    page = context.new_page()
    start(page, link)
    place(page, "12345")
    chip(page, "E").scroll_into_view_if_needed()
    touch = context.new_cdp_session(page)
    here, there = middle_of(chip(page, "E")), middle_of(slot(page, 1))
    for kind, points in (
        ("touchStart", [here]),
        ("touchMove", [there]),
        ("touchEnd", []),
    ):
        touch.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]},
        )
    expect(select(page, "E")).to_have_value("1")
    expect(slot(page, 1).locator("span")).to_have_text("A = E")
    context.close()


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_a_strip_shows_where_the_positions_fall(page, server, size):
    page.set_viewport_size(size)
    start(page, server.open_study(f"strip-{size['width']}", positions_strip=True))
    for row in page.locator(".sheet tbody tr").all():
        ranks = [int(rank) for rank in row.locator(".rank").all_inner_texts()]
        line, *marks = row.locator(".strip path").all()
        extent = line.bounding_box()
        for rank, mark in zip(ranks, marks, strict=True):
            box = mark.bounding_box()
            share = (box["x"] + box["width"] / 2 - extent["x"]) / extent["width"]
            assert share == pytest.approx((rank - 1) / 99, abs=0.02)


def test_the_papers_study_has_no_strip(page, link):
    start(page, link)
    expect(page.locator(".strip")).to_have_count(0)


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
@pytest.mark.parametrize("scores", ["open", "folded"])
def test_what_is_shown_of_the_scores_is_the_same_at_every_width_and_stored(
    page, server, size, scores
):
    page.set_viewport_size(size)
    link = server.open_study(
        f"scores-{scores}-{size['width']}", show_values=True, scores=scores, practice=False
    )
    start(page, link)
    score = page.locator(".sheet td b, .scores td").filter(visible=True)
    for position, opens in ((1, False), (2, True)):
        expect(score).to_have_count(15 if scores == "open" else 0)
        if opens and scores == "folded":
            page.locator("details.scores summary").click()
            expect(score).to_have_count(15)
            page.reload()
        page.locator("[name=choice]").first.check()
        save(page)
        at(page, f"/q/{position + 1}")
    data = page.request.get(f"{link}/my-data.json").json()
    answers = [each["answers"][0] for each in data["questions"] if each["answers"]]
    seen = [True, True] if scores == "open" else [False, True]
    assert [each["scores_seen"] for each in answers] == seen
