"""The study in a real browser against the real server process."""

import re

import pytest
from playwright.sync_api import expect

from survey.db.models import Participant, StoredResponse
from survey.kinds.ordering.models import StoredOrderingAnswer
from tests.browsing import watched
from tests.builders import Visitor
from tests.serving import OverHttp

PHONE = {"width": 360, "height": 740}
LAPTOP = {"width": 1280, "height": 800}


def agree(page, link):
    """From the link to "About you"."""
    page.goto(link)
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_label("I have read this and agree to take part.").check()
    page.get_by_role("button", name="Next").click()


def prepare(page, link):
    """From the link to the practice, behind its check."""
    agree(page, link)
    page.get_by_label("Your age in years").fill("23")
    page.get_by_label("Your education").select_option("Bachelor's degree")
    page.get_by_role("button", name="Next").click()
    at(page, "/scenario")  # whose button has the same name
    page.get_by_role("button", name="Next").click()
    at(page, "/practice")
    practise(page)


def practise(page):
    """Answer the check question of the practice, whatever the language."""
    with page.expect_navigation():
        page.locator("#check [value='1']").click()
    at(page, r"/practice\?step=2&right=1")


def start(page, link):
    """Open question 1, having gone the way there without the browser, which takes seconds less."""
    address, slug = link.split("/s/")
    visitor = Visitor(OverHttp(address), slug)
    visitor.go("/q/1")
    page.context.add_cookies(
        [
            {
                "name": cookie.name,
                "value": cookie.value,
                "url": address,
                "expires": cookie.expires or -1,
            }
            for cookie in visitor.client.browser.cookies
        ]
    )
    page.goto(f"{link}/q/1")


def tick(page, *labels):
    for label in labels:
        page.locator(f"input[name=choice][value='{label}']").check()


def press(page):
    page.locator("button.go").first.click()


def save(page):
    """Save, and wait until the script has led on: the page before looks much the same."""
    with page.expect_navigation():
        press(page)


def leave_practice(page):
    """Go from the first screen after the check to the first question, and leave all empty."""
    for _ in range(3):
        save(page)
    at(page, "/q/1")


def save_several(page):
    """Save ticks of columns, which may differ; then the page asks back before it saves."""
    save(page)
    if page.locator("[name=settle][value=several]").count():
        with page.expect_navigation():
            page.locator("[name=settle][value=several]").click()


def keep_order(page):
    """Save an own ordering that puts a list above a better one, which the page asks about."""
    press(page)
    keep = page.locator(".asks [value=next]")
    expect(keep).to_be_visible()
    with page.expect_navigation():
        keep.click()


def place(page, places):
    """Give the letters from A on these places: by tapping them in order, or without scripts."""
    if not page.locator("#pad").is_visible():
        for letter, number in zip("ABCDE", places, strict=True):
            page.locator(f"#rank-{letter}").select_option(str(number))
        return
    while page.locator("#undo").is_enabled():
        page.locator("#undo").click()
    in_order = sorted(zip(places, "ABCDE", strict=True))
    for nth, (number, letter) in enumerate(in_order):
        if nth and number == in_order[nth - 1][0]:
            page.locator("#equal").click()
        if page.locator(f"[data-letter={letter}]").get_attribute("aria-pressed") == "false":
            page.locator(f"[data-letter={letter}]").click()


def tap(page, *letters):
    for letter in letters:
        page.locator("#equal" if letter == "=" else f"[data-letter={letter}]").click()


def select(page, letter):
    """What is sent for a letter's place."""
    return page.locator(f"[name=rank-{letter}]")


def at(page, path):
    """Wait until a page is there with its stylesheet and its script, not only its address."""
    expect(page).to_have_url(re.compile(path + "$"))
    page.wait_for_load_state("load")


def lines_of(element):
    """On how many lines an element's text stands."""
    return element.evaluate(
        "one => { const text = document.createRange(); text.selectNodeContents(one);"
        " return new Set([...text.getClientRects()].map(({ top }) => top)).size; }"
    )


def sideways_scroll(page):
    # A page without its stylesheet is wider.
    page.wait_for_load_state("load")
    return page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )


def all_inside(page):
    """Whether nothing on the page reaches past its right edge."""
    page.wait_for_load_state("load")
    return page.evaluate(
        "[...document.querySelectorAll('main *')].every(e =>"
        " e.closest('.hidden, caption, details:not([open]) > :not(summary)') ||"
        " e.getBoundingClientRect().right <= innerWidth + 1)"
    )


@pytest.mark.parametrize(
    ("scripts", "size"),
    [
        pytest.param(True, PHONE, id="scripts-phone"),
        pytest.param(True, LAPTOP, id="scripts-laptop", marks=pytest.mark.slow),
        pytest.param(False, PHONE, id="no scripts-phone", marks=pytest.mark.slow),
        pytest.param(False, LAPTOP, id="no scripts-laptop", marks=pytest.mark.slow),
    ],
)
def test_the_whole_study(browser, link, scripts, size):
    context = browser.new_context(java_script_enabled=scripts, viewport=size)
    page = watched(context.new_page())
    foreign = []
    page.on("request", lambda r: foreign.append(r.url) if "127.0.0.1" not in r.url else None)
    start(page, link)
    tick(page, 1, 3)
    save_several(page)
    at(page, "/q/2")
    place(page, "21345")
    keep_order(page)
    at(page, "/q/3")
    if scripts:
        assert sideways_scroll(page) == 0
    page.get_by_role("button", name="Back").click()
    at(page, "/q/2")
    expect(page.locator("#echo")).to_have_text(
        "Your order: B first; A second; C third; D fourth; E fifth."
    )
    save(page)
    tick(page, 2)
    save(page)
    at(page, "/review")
    expect(page.locator("tbody tr")).to_have_count(3)
    own = page.locator("tbody tr").nth(1).locator("div")
    shown, said = own.locator("> span").all()
    assert shown.inner_text().split() == list("B>A>C>D>E")
    expect(said).to_have_text("B first; A second; C third; D fourth; E fifth")
    if scripts:
        assert lines_of(shown) == 1
        assert sideways_scroll(page) == 0
    page.get_by_role("link", name="Change the answer to question 3").click()
    tick(page, 1)
    save_several(page)
    expect(page.locator("tbody tr").nth(2)).to_contain_text("Methods 1 and 2")
    page.get_by_role("button", name="Hand in").click()
    at(page, "/done")
    expect(page.locator("h1")).to_have_text("Finished: your answers are handed in")
    expect(page.locator(".receipt")).to_have_text(re.compile(r"^\w{4}-\w{4}$"))
    assert page.faults == []
    assert foreign == []
    context.close()


@pytest.mark.slow
def test_on_a_laptop_all_lists_columns_and_votes_are_in_view_at_once(page, link):
    start(page, link)
    box = page.locator(".sheet").first.bounding_box()
    assert box["y"] + box["height"] <= LAPTOP["height"]
    button = page.locator("button.go").bounding_box()
    assert button["y"] + button["height"] <= LAPTOP["height"]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["", "/consent", "/about-you", "/scenario", "/practice", "/q/1"])
def test_no_page_scrolls_sideways_on_a_phone(browser, link, path):
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    start(page, link)
    page.goto(link + path)
    assert sideways_scroll(page) == 0
    assert all_inside(page)
    context.close()


@pytest.mark.slow
def test_six_methods_and_ten_lists_still_scroll_only_inside_the_sheet(browser, server, link):
    context = browser.new_context(viewport=PHONE)
    page = context.new_page()
    wide = server.open_study("ten-lists", lists=10, relevant=8, collection_size=1000, questions=1)
    start(page, wide)
    expect(page.locator("[data-list]")).to_have_count(10)
    assert sideways_scroll(page) == 0
    context.close()


@pytest.mark.slow
def test_the_own_ordering_is_echoed_in_words_and_in_the_column(page, link):
    start(page, link)
    tap(page, "B")
    echo = page.locator("#echo")
    expect(echo).to_have_text("So far: B first.")
    place(page, "21234")
    expect(echo).to_have_text("Your order: B first; A and C tie for second; D fourth; E fifth.")
    shown = page.locator("[data-place]")
    expect(shown).to_have_text(["= 2nd", "1st", "= 2nd", "4th", "5th"])


@pytest.mark.slow
def test_the_script_and_the_server_say_the_same_of_an_own_ordering(page, link):
    start(page, link)
    place(page, "33311")
    said = page.locator("#echo").inner_text()
    keep_order(page)
    at(page, "/q/2")
    page.goto(f"{link}/q/1")
    served = page.request.get(f"{link}/q/1").text()
    assert said in served
    assert said == "Your order: D and E tie for first; A, B and C tie for third."


@pytest.mark.slow
def test_the_script_speaks_the_language_of_the_page(page, server):
    link = server.open_study("in-greek", language="el")
    start(page, link)
    echo = page.locator("#echo")
    tap(page, "B")
    expect(echo).to_have_text("Ως τώρα: B πρώτο.")
    tap(page, *"AC=DEE")  # the last letter placed itself; a tap confirms it, another takes it out
    expect(echo).to_have_text("Ως τώρα: B πρώτο· A δεύτερο· C και D ισοβαθμούν στην τρίτη θέση.")
    place(page, "33311")
    said = "Η σειρά σας: D και E ισοβαθμούν στην πρώτη θέση· A, B και C ισοβαθμούν στην τρίτη θέση."
    expect(echo).to_have_text(said)
    keep_order(page)
    at(page, "/q/2")
    assert said in page.request.get(f"{link}/q/1").text()
    assert page.faults == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_no_greek_page_scrolls_sideways(browser, server, size):
    link = server.open_study(f"greek-{size['width']}", language="el")
    context = browser.new_context(viewport=size)
    page = context.new_page()
    start(page, link)
    for path in ("", "/consent", "/about-you", "/scenario", "/practice", "/q/1"):
        page.goto(link + path)
        assert sideways_scroll(page) == 0
        assert all_inside(page)
    context.close()


@pytest.mark.slow
def test_a_place_chosen_before_the_script_is_there_counts(page, link):
    start(page, link)
    held = []
    page.route("**/question.*.js", lambda route: held.append(route))
    page.reload(wait_until="commit")
    page.locator("#rank-A").select_option("1")
    held.pop().continue_()
    expect(page.locator("#echo")).to_have_text("So far: A first.")


@pytest.mark.slow
def test_a_mistake_is_explained_and_focused_and_nothing_typed_is_lost(page, link):
    start(page, link)
    tap(page, "C")
    save(page)
    expect(page.locator("#problems")).to_be_focused()
    expect(page.locator("#problems")).to_contain_text("give a place to A, B, D and E")
    expect(select(page, "C")).to_have_value("1")


def answers_of(server, link):
    from survey.app import db
    from survey.db.models import Study

    with server.app.app_context():
        rows = (
            db.session.query(StoredOrderingAnswer.clicked, StoredResponse.revisions)
            .join(StoredResponse, StoredResponse.id == StoredOrderingAnswer.response_id)
            .join(Participant, Participant.id == StoredResponse.participant_id)
            .join(Study, Study.id == Participant.study_id)
            .filter(Study.slug == link.rpartition("/")[2])
            .order_by(StoredResponse.id)
            .all()
        )
        found = [(set(row.clicked), row.revisions) for row in rows]
        db.session.remove()
    return found


@pytest.mark.slow
def test_a_double_click_is_one_answer(server, page, link):
    start(page, link)
    tick(page, 1)
    page.locator("button.go").dblclick()
    at(page, "/q/2")
    assert answers_of(server, link) == [({1}, 0)]


@pytest.mark.slow
def test_the_browsers_back_leads_to_a_question_that_was_sent_back(server, page, link):
    start(page, link)
    save(page)
    expect(page.locator("#problems")).to_be_visible()
    tick(page, 3)
    save(page)
    at(page, "/q/2")
    page.go_back()
    at(page, "/q/1")
    expect(page.locator("input[value='3']")).to_be_checked()
    assert answers_of(server, link) == [({3}, 0)]


@pytest.mark.slow
def test_the_browsers_back_leads_to_a_page_about_you_that_was_sent_back(page, link):
    agree(page, link)
    page.get_by_label("Your education").select_option("Bachelor's degree")
    save(page)
    expect(page.locator("#problems")).to_be_visible()
    page.get_by_label("Your age in years").fill("23")
    save(page)
    at(page, "/scenario")
    page.go_back()
    at(page, "/about-you")
    expect(page.get_by_label("Your age in years")).to_have_value("23")


@pytest.mark.slow
def test_what_was_ticked_in_a_question_that_was_sent_back_survives_back_and_reload(page, link):
    start(page, link)
    tap(page, "A")
    save(page)
    expect(page.locator("#problems")).to_be_visible()
    for look_again in (page.reload, lambda: (page.goto(f"{link}/my-data"), page.go_back())):
        look_again()
        at(page, "/q/1")
        expect(select(page, "A")).to_have_value("1")


@pytest.mark.slow
def test_the_browsers_back_and_a_reload_show_the_same_page_with_the_answer(server, page, link):
    start(page, link)
    tables = page.locator(".sheet")
    before = tables.all_text_contents()
    tick(page, 3)
    save(page)
    at(page, "/q/2")
    for look_again in (page.go_back, page.reload, page.reload):
        look_again()
        at(page, "/q/1")
        expect(page.locator("input[value='3']")).to_be_checked()
        assert tables.all_text_contents() == before
    tick(page, 2)
    save_several(page)
    at(page, "/q/2")
    assert answers_of(server, link) == [({2, 3}, 1)]


@pytest.mark.slow
def test_two_tabs_keep_one_answer_and_say_what_is_stored(server, context, page, link):
    start(page, link)
    other = context.new_page()
    other.goto(f"{link}/q/1")
    tick(page, 1)
    save(page)
    at(page, "/q/2")
    tick(other, 2)
    save(other)
    expect(other.locator("#problems")).to_contain_text("Saved there is: Method 1.")
    expect(other.locator("input[value='2']")).to_be_checked()
    assert answers_of(server, link) == [({1}, 0)]
    save(other)
    at(other, "/q/2")
    assert answers_of(server, link) == [({2}, 1)]


@pytest.mark.slow
def test_a_second_device_continues_with_the_code(browser, server, page, link):
    start(page, link)
    page.get_by_text("Continue on another device").click()
    code = page.locator("main .code, .foot .code").first.inner_text()
    shown = page.locator(".sheet tbody").first.inner_text()
    phone = browser.new_context(viewport=LAPTOP)
    there = phone.new_page()
    there.goto(link)
    there.get_by_text("I started on another device").click()
    there.get_by_label("The code from the bottom of the page on your other device").fill(
        code.lower()
    )
    there.get_by_role("button", name="Next").click()
    at(there, "/q/1")
    assert there.locator(".sheet tbody").first.inner_text() == shown
    tick(there, 2)
    save(there)
    page.goto(link)
    page.get_by_role("link", name="Next").click()
    at(page, "/q/2")
    assert answers_of(server, link) == [({2}, 0)]
    phone.close()


@pytest.mark.slow
def test_closing_the_browser_loses_nothing(browser, link):
    context = browser.new_context()
    page = context.new_page()
    start(page, link)
    tick(page, 1)
    save(page)
    at(page, "/q/2")
    kept = [cookie for cookie in context.cookies() if cookie["expires"] > 0]
    context.close()
    again = browser.new_context()
    again.add_cookies(kept)
    page = again.new_page()
    page.goto(link)
    page.get_by_role("link", name="Next").click()
    at(page, "/q/2")
    again.close()


@pytest.mark.slow
def test_a_server_killed_and_started_again_goes_on_where_it_was(server, page, link):
    start(page, link)
    tick(page, 1)
    save(page)
    at(page, "/q/2")
    server.kill()
    server.start()
    tick(page, 3)
    save(page)
    at(page, "/q/3")
    assert answers_of(server, link) == [({1}, 0), ({3}, 0)]


@pytest.mark.slow
def test_the_time_in_view_is_stored(server, page, link):
    start(page, link)
    page.wait_for_timeout(1200)
    tick(page, 1)
    save(page)
    at(page, "/q/2")
    from survey.app import db

    with server.app.app_context():
        newest = db.session.query(StoredResponse).order_by(StoredResponse.id.desc()).first()
        seconds = newest.active_seconds
        db.session.remove()
    assert 1 <= seconds < 60


@pytest.mark.slow
@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
def test_a_position_is_never_broken_whatever_stands_beside_it(page, server, size):
    link = server.open_study(
        f"clusters-{size['width']}",
        collection_size=100_000,
        measures=["AP", "MNRO", "gMNRO"],
        marks={
            "grades": "3 2 2 1 1",
            "clusters": "sea_lion harbour_bridge+opera_house turtle - pelican",
        },
    )
    page.set_viewport_size(size)
    start(page, link)
    ranks = page.locator(".ranks .rank")
    assert max(len(text) for text in ranks.all_inner_texts()) == 5
    heights = ranks.evaluate_all("all => all.map(one => one.getClientRects().length)")
    assert set(heights) == {1}
    tall = ranks.evaluate_all(
        "all => all.filter(one => one.getBoundingClientRect().height > "
        "1.6 * parseFloat(getComputedStyle(one).fontSize)).length"
    )
    assert tall == 0
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= size["width"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [PHONE, LAPTOP], ids=["phone", "laptop"])
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_the_scores_are_folded_in_a_table_of_their_own_that_fits(browser, link, scripts, size):
    context = browser.new_context(viewport=size, java_script_enabled=scripts)
    page = watched(context.new_page())
    start(page, link)
    score = page.locator(".scores td")
    expect(score.first).to_be_hidden()
    page.locator(".scores summary").click()
    expect(score.first).to_be_visible()
    scores = score.all_inner_texts()
    assert [bool(re.fullmatch(r"[01]\.\d{4}", each)) for each in scores] == [True] * 15
    right = score.last.bounding_box()
    assert right["x"] + right["width"] <= size["width"] - 8
    assert page.faults == []
    context.close()


@pytest.mark.slow
def test_a_phones_page_of_numbers_is_one_screen(page, link):
    page.set_viewport_size(PHONE)
    start(page, link)
    assert page.evaluate("document.documentElement.scrollHeight") <= PHONE["height"]


def test_on_a_phone_an_order_is_on_one_line_among_ones_own_data(page, link):
    page.set_viewport_size(PHONE)
    start(page, link)
    place(page, "34521")
    keep_order(page)
    page.goto(f"{link}/my-data")
    assert lines_of(page.locator(".review td span[aria-hidden]").first) == 1
