"""Lists that grow: sorted by their headings, and searched."""

import pytest
from playwright.sync_api import expect

from survey.app import db
from survey.services import accounts
from survey.services.studies import lifecycle, plans
from tests.browser.test_researcher import send, sign_in
from tests.builders import CONTACTS

pytestmark = pytest.mark.slow

TITLES = ("Birds", "Aviaries", "Fish 9", "Fish 10", "Deer", "Eels")


def seen(page):
    """Our studies from top to bottom; the first researcher of a server gets what nobody owns."""
    titles = page.locator("tbody tr:visible th a").all_inner_texts()
    return [title for title in titles if title in TITLES]


def test_studies_are_sorted_by_their_headings_and_found_by_a_word(page, server):
    sign_in(page, server, "Mary Somerville")
    with server.app.app_context():
        owner = accounts.find_researcher(db.session, "Mary Somerville")
        for number, title in enumerate(TITLES):
            plan = plans.preset_plan("mnro", title=title, questions=1 + number)
            study = lifecycle.create_study(db.session, f"list-{number}", plan)
            accounts.share(db.session, study, owner, "owner")
        db.session.commit()
        db.session.remove()
    page.reload()
    page.wait_for_load_state("load")
    newest_first = ["Eels", "Deer", "Fish 10", "Fish 9", "Aviaries", "Birds"]
    assert seen(page) == newest_first
    heading = page.get_by_role("columnheader", name="Study")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "ascending")
    up = ["Aviaries", "Birds", "Deer", "Eels", "Fish 9", "Fish 10"]
    assert seen(page) == up
    heading.get_by_role("button").press("Enter")
    expect(heading).to_have_attribute("aria-sort", "descending")
    assert seen(page) == up[::-1]

    page.get_by_label("Find a study").fill("fish")
    assert seen(page) == ["Fish 10", "Fish 9"]
    expect(page.get_by_role("status").filter(has_text="2 of ")).to_be_visible()
    page.get_by_label("Find a study").fill("")
    assert len(seen(page)) == 6


def test_numbers_are_sorted_by_their_size_however_many_decimals_they_have(page, server):
    sign_in(page, server, "Ada Number")
    rising = ["−1.5", "0.125", "0.5", "2.25", "2.5", "9", "10.1", "10.25", "1,000", "1,000.5"]
    cells = "".join(f"<tr><td>{text}</td></tr>" for text in sorted(rising))
    page.evaluate(
        """rows => {
            const region = document.createElement("div");
            region.setAttribute("role", "region");
            region.setAttribute("aria-label", "Numbers");
            region.innerHTML = '<table class="sortable"><thead><tr><th>Minutes</th></tr></thead>'
                + `<tbody>${rows}</tbody></table>`;
            document.querySelector("main").append(region);
            region.dispatchEvent(new Event("fresh", { bubbles: true }));
        }""",
        cells,
    )
    numbers = page.get_by_role("region", name="Numbers")
    heading = numbers.get_by_role("button", name="Minutes")
    heading.click()
    assert numbers.locator("td").all_inner_texts() == rising
    heading.click()
    assert numbers.locator("td").all_inner_texts() == rising[::-1]
    page.evaluate("document.querySelector('[aria-label=Numbers] tbody').replaceChildren()")
    texts = ["Fish 2", "Fish 2.25", "Fish 2.5", "Fish 10", "Fish 10 and Deer"]
    page.evaluate(
        """texts => document.querySelector("[aria-label=Numbers] tbody").innerHTML =
            texts.map(text => `<tr><td>${text}</td></tr>`).join("")""",
        texts[::-1],
    )
    heading.click()
    assert numbers.locator("td").all_inner_texts() == texts


def an_answered_study(server, owner, slug, people):
    """An open study of this researcher's, in which so many people have taken part as a test."""
    with server.app.app_context():
        plan = plans.preset_plan("mnro", **CONTACTS["en"])
        study = lifecycle.create_study(db.session, slug, plan)
        accounts.share(db.session, study, accounts.find_researcher(db.session, owner), "owner")
        lifecycle.open_study(db.session, study, "a test")
        db.session.commit()
        db.session.remove()
    send(server, slug, people, test=True)


def test_whoever_is_in_the_list_with_the_keyboard_stays_there(page, server):
    sign_in(page, server, "Caroline Herschel")
    an_answered_study(server, "Caroline Herschel", "watched", 2)
    asked = []
    page.on("request", lambda one: asked.append(one.url) if "/live" in one.url else None)
    page.clock.install()
    page.goto(f"{server.address}/research/studies/watched/progress")
    page.wait_for_load_state("load")
    minutes = page.get_by_role("columnheader", name="Minutes")
    minutes.get_by_role("button").press("Enter")
    page.clock.run_for(20_000)
    assert asked == []
    expect(minutes.get_by_role("button")).to_be_focused()
    page.evaluate("document.activeElement.blur()")
    with page.expect_response("**/progress/live*"):
        page.clock.run_for(6_000)
    # The updated list is sorted as before.
    expect(minutes).to_have_attribute("aria-sort", "ascending")


def test_an_id_that_is_typed_and_not_yet_sent_is_not_taken_away(page, server):
    """The search is below the study's state, in the part of the page that is updated."""
    sign_in(page, server, "Maria Mitchell")
    an_answered_study(server, "Maria Mitchell", "searched", 26)
    page.clock.install()
    page.goto(f"{server.address}/research/studies/searched/progress")
    search = page.get_by_label("Find a participant by id")
    state = page.locator("#complete").bounding_box()
    assert search.bounding_box()["y"] > state["y"] + state["height"]
    search.fill("P-7")
    page.evaluate("document.activeElement.blur()")
    page.clock.run_for(20_000)
    expect(search).to_have_value("P-7")
    search.fill("")
    page.evaluate("document.activeElement.blur()")
    with page.expect_response("**/progress/live*"):
        page.clock.run_for(6_000)
