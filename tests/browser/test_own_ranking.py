"""One's own order: letters that are tapped in the answer bar; and what is shown of the lists."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_participant import (
    LAPTOP,
    PHONE,
    at,
    keep_order,
    save,
    select,
    start,
    tap,
    tick,
)

pytestmark = pytest.mark.slow


def ordering(page):
    """The letters at each place, as they are sent."""
    values = {letter: select(page, letter).input_value() for letter in "ABCDE"}
    return [
        " = ".join(letter for letter in values if values[letter] == str(number))
        for number in range(1, 6)
    ]


def test_letters_are_tapped_from_best_to_worst_and_the_last_one_needs_no_tap(page, link):
    start(page, link)
    tap(page, *"BA=DC")
    assert ordering(page) == ["B", "A = D", "", "C", "E"]
    expect(page.locator("#echo")).to_contain_text("B first; A and D tie for second; C fourth")
    shown = page.locator("[data-place]").all_inner_texts()
    assert shown == ["= 2nd", "1st", "4th", "= 2nd", "5th"]
    keep_order(page)
    at(page, "/q/2")
    page.go_back()
    at(page, "/q/1")
    assert ordering(page) == ["B", "A = D", "", "C", "E"]
    assert page.faults == []


def test_after_a_reload_undo_takes_back_letter_by_letter(page, link):
    start(page, link)
    tap(page, *"BA=DC")  # the last letter is placed with the fourth
    left = [["B", "A = D", "", "", ""], ["B", "A", "", "", ""], ["B", "", "", "", ""], [""] * 5]
    for before in left:
        page.reload()
        page.locator("#undo").click()
        assert ordering(page) == before
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


def test_a_tap_can_be_undone_and_a_placed_letter_taken_out(page, link):
    start(page, link)
    tap(page, *"BADC")
    tap(page, "=")  # the last two, although the last one was placed by itself
    assert ordering(page) == ["B", "A", "D", "C = E", ""]
    tap(page, "=")  # and apart again
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
    page.locator("[name=choice]").first.focus()
    page.keyboard.press("c")  # elsewhere a letter is nothing but a letter
    expect(select(page, "C")).to_have_value("")
    assert page.faults == []


def ticked(page):
    """The ticks, sorted: the columns are in an order of chance."""
    found = page.locator("[name=choice]:checked").evaluate_all("all => all.map(one => one.value)")
    return sorted(found)


def test_the_first_letter_takes_ticks_away_says_so_and_undo_restores_them(page, link):
    start(page, link)
    tick(page, "1", "2")
    tap(page, "C")
    assert ticked(page) == []
    expect(page.locator("#echo")).to_have_text(
        "So far: C first. Methods 1 and 2 are no longer ticked."
    )
    page.reload()
    page.locator("#undo").click()
    assert ticked(page) == ["1", "2"]
    assert ordering(page) == [""] * 5
    assert page.faults == []


def test_a_tick_takes_the_letters_away(page, link):
    start(page, link)
    tap(page, *"DAC")
    tick(page, "1")
    assert ordering(page) == [""] * 5
    expect(page.locator("#echo")).to_have_text("Your order is that of Method 1.")
    page.locator("[name=choice][value='1']").uncheck()
    expect(page.locator("#echo")).to_have_text("Tick your order, or tap your own: best first.")


def test_the_bar_stays_and_no_key_moves_while_letters_are_tapped(page, link):
    page.set_viewport_size(PHONE)
    start(page, link)
    keys = page.locator(".keys button")
    where = [keys.nth(number).bounding_box() for number in range(7)]
    for letter in "BADC":
        tap(page, letter)
        assert [keys.nth(number).bounding_box() for number in range(7)] == where
    page.mouse.wheel(0, 400)
    assert page.locator(".bar").bounding_box()["y"] + 1 < PHONE["height"]
    assert [keys.nth(number).bounding_box() for number in range(7)] == where


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
    page.get_by_role("button", name="Back").click()
    at(page, "/q/1")
    expect(page.locator("#kept")).to_be_hidden()
    save(page)
    at(page, "/q/2")
    assert ordering(page)[:2] == ["B", "A"]


def test_what_was_wrong_is_not_marked_once_it_is_mended(page, link):
    start(page, link)
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


@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_a_strip_shows_where_the_positions_fall(page, server, size):
    page.set_viewport_size(size)
    start(page, server.open_study(f"strip-{size['width']}", positions_strip=True))
    for row in page.locator("[data-list]").all():
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
    score = page.locator(".scores td").filter(visible=True)
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
