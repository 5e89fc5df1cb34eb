"""One's own ordering: letters that are dragged; and the picture of the positions."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_participant import LAPTOP, PHONE, at, place, save, start, tick

pytestmark = pytest.mark.slow


def middle_of(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def chip(page, letter):
    return page.locator(".chip").get_by_text(letter, exact=True)


def cell(page, number):
    """A place of the own column; "" is where letters wait that have none."""
    return page.locator(f"[data-place='{number}']")


def drag(page, letter, number):
    page.mouse.move(*middle_of(chip(page, letter)))
    page.mouse.down()
    page.mouse.move(*middle_of(cell(page, number)), steps=3)
    page.mouse.up()


def standing(page):
    """What stands at each place of the own column, the letters without one first."""
    return [text.replace("\n", "") for text in page.locator("[data-place]").all_inner_texts()]


def test_letters_can_be_dragged_to_their_places_and_back(page, link):
    start(page, link)
    assert standing(page) == [""] * 6
    tick(page, "own")
    assert standing(page)[0].endswith("ABCDE")
    drag(page, "C", 1)
    expect(page.locator("#rank-C")).to_have_value("1")
    for letter, number in (("A", 2), ("B", 2), ("D", 4), ("E", 5)):
        drag(page, letter, number)
    assert standing(page) == ["", "C", "A = B", "", "D", "E"]
    expect(page.locator("#echo")).to_contain_text("C first; A and B tie for second")
    drag(page, "E", "")
    expect(page.locator("#rank-E")).to_have_value("")
    expect(page.locator("#echo")).to_contain_text("E has no place yet")
    drag(page, "E", 3)
    # Places are counted as everywhere: after two at the second comes the fourth.
    assert standing(page) == ["", "C", "A = B", "", "E", "D"]
    save(page)
    at(page, "/q/2")
    page.go_back()
    at(page, "/q/1")
    assert standing(page) == ["", "C", "A = B", "", "E", "D"]
    assert page.faults == []


def test_a_letter_goes_to_the_row_in_which_it_is_let_go(page, link):
    start(page, link)
    place(page, "11234")
    assert standing(page)[1:] == ["A = B", "", "C", "D", "E"]
    drag(page, "E", 4)
    assert standing(page)[1:] == ["A = B", "", "C", "D = E", ""]
    drag(page, "E", 3)
    assert standing(page)[1:] == ["A = B", "", "C = E", "", "D"]
    drag(page, "B", 2)
    assert standing(page)[1:] == ["A", "B", "C = E", "", "D"]


def test_what_the_browser_fills_in_again_is_shown_and_said_again(page, link):
    start(page, link)
    tick(page, "own")
    place(page, "11234")
    page.goto(link)
    page.go_back()
    at(page, "/q/1")
    expect(page.locator("#rank-E")).to_have_value("4")
    assert standing(page)[1:] == ["A = B", "", "C", "D", "E"]
    expect(page.locator("#echo")).to_contain_text("A and B tie for first")


def test_a_second_finger_does_not_move_what_the_first_one_holds(page, link):
    start(page, link)
    place(page, "12345")
    (x, y), (row_2, row_5) = middle_of(chip(page, "A")), (cell(page, 2), cell(page, 5))
    send = """([kind, finger, x, y]) => document.elementFromPoint(x, y).dispatchEvent(
        new PointerEvent(kind, {pointerId: finger, clientX: x, clientY: y, bubbles: true}))"""
    page.evaluate(send, ["pointerdown", 1, x, y])
    page.evaluate(send, ["pointermove", 1, *middle_of(row_2)])
    page.evaluate(send, ["pointermove", 2, *middle_of(row_5)])
    page.evaluate(send, ["pointerup", 2, *middle_of(row_5)])
    assert standing(page)[1:] == ["A", "B", "C", "D", "E"]
    page.evaluate(send, ["pointerup", 1, *middle_of(row_2)])
    assert standing(page)[1:] == ["A = B", "", "C", "D", "E"]


def test_a_letter_let_go_elsewhere_stays_where_it_was(page, link):
    start(page, link)
    place(page, "12345")
    page.mouse.move(*middle_of(chip(page, "A")))
    page.mouse.down()
    page.mouse.move(5, 5, steps=3)
    expect(page.locator(".under")).to_have_count(0)
    page.mouse.up()
    assert standing(page) == ["", "A", "B", "C", "D", "E"]
    expect(page.locator(".held")).to_have_count(0)


def test_escape_lets_a_letter_go_where_it_was(page, link):
    start(page, link)
    place(page, "12345")
    page.mouse.move(*middle_of(chip(page, "A")))
    page.mouse.down()
    page.mouse.move(*middle_of(cell(page, 4)), steps=3)
    page.keyboard.press("Escape")
    page.mouse.up()
    assert standing(page) == ["", "A", "B", "C", "D", "E"]


def test_a_finger_drags_as_a_mouse_does(browser, link):
    context = browser.new_context(viewport=PHONE, has_touch=True)
    page = context.new_page()
    start(page, link)
    place(page, "12345")
    chip(page, "E").scroll_into_view_if_needed()
    touch = context.new_cdp_session(page)
    here, there = middle_of(chip(page, "E")), middle_of(cell(page, 1))
    for kind, points in (
        ("touchStart", [here]),
        ("touchMove", [there]),
        ("touchEnd", []),
    ):
        touch.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in points]},
        )
    expect(page.locator("#rank-E")).to_have_value("1")
    expect(cell(page, 1)).to_have_text("A = E")
    context.close()


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_a_strip_shows_where_the_positions_fall(page, server, size):
    page.set_viewport_size(size)
    start(page, server.open_study(f"strip-{size['width']}", positions_strip=True))
    for row in page.locator(".lists tr").all():
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
