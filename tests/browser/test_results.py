"""The results page in a real browser: what the first screen answers, and what is folded below."""

import pytest
from playwright.sync_api import Browser, Page, expect

from survey.app import db
from survey.db.models import StoredResponse
from survey.services import accounts
from survey.services.studies import publications
from tests.browser.test_participant import PHONE, press
from tests.browser.test_researcher import sign_in
from tests.browsing import watched
from tests.serving import Server
from tests.voted import CLEAR, UNDECIDED, a_closed_study

pytestmark = pytest.mark.slow

LAPTOP = {"width": 1280, "height": 800}
# Which measure won, and may I say so?
ANSWERS = {
    "clear-lead": "People preferred MNRO to NMRR (+80 points, 67 to 94) and to AP (+82 points, 70 "
    "to 95); you may generalise this to new questions.",
    "ties-only": "People preferred MNRO to AP (+82 points, 70 to 95); you may generalise this to "
    "new questions. MNRO leads NMRR through ties alone (+80 points, 67 to 94) for questions of "
    "this kind: no preference for its orders.",
    "no-lead": "The answers do not decide between MNRO, NMRR and AP; MNRO is ahead.",
    "no-answers": "No measure leads: no answer counts.",
}


@pytest.fixture(scope="module")
def signed_in(browser: Browser, server: Server):
    """The cookies of Ada, who has a study for each of the answers above."""
    context = browser.new_context()
    sign_in(context.new_page(), server, "Ada of the results")
    with server.app.app_context():
        ada = accounts.find_researcher(db.session, "Ada of the results")
        a_closed_study(db.session, ada, "clear-lead", CLEAR)
        a_closed_study(db.session, ada, "ties-only", CLEAR, ties=True)
        a_closed_study(db.session, ada, "no-lead", UNDECIDED)
        a_closed_study(db.session, ada, "no-answers")
        db.session.remove()
    yield context.storage_state()
    context.close()


def results(browser: Browser, server: Server, state, slug: str, **settings) -> Page:
    """The results of a study, in a window of their own."""
    context = browser.new_context(storage_state=state, **{"viewport": LAPTOP, **settings})
    page = watched(context.new_page())
    page.goto(f"{server.address}/research/studies/{slug}/results")
    return page


def has_loaded(page: Page, images: str) -> bool:
    """Whether every one of these images is drawn."""
    return page.locator(images).evaluate_all(
        "images => images.length > 0 && images.every(each => each.complete && each.naturalWidth)"
    )


@pytest.mark.parametrize("slug", ANSWERS)
def test_the_first_screen_says_which_measure_won_and_whether_one_may_say_so(
    browser, server, signed_in, slug
):
    page = results(browser, server, signed_in, slug)
    expect(page.locator("#answer")).to_have_text(ANSWERS[slug])
    shown = ["#answer"]
    if slug != "no-answers":
        shown += [".standings", ".answer img", "#for-a-paper button", ".answer .parts", ".contents"]
        assert has_loaded(page, ".answer img")
    for each in shown:
        box = page.locator(each).bounding_box()
        assert box["y"] + box["height"] < LAPTOP["height"], each
    words = page.locator("body").inner_text().split()
    assert len(words) < 240
    assert not {"T1", "T2"} & set(words)
    assert page.faults == []
    page.context.close()


def test_the_list_of_contents_stays_in_view_and_opens_the_parts(browser, server, signed_in):
    page = results(browser, server, signed_in, "clear-lead")
    page.get_by_role("link", name="Shares").click()
    expect(page.locator("#shares")).to_be_visible()
    expect(page.locator("#shares figure img")).to_be_in_viewport()
    page.locator("details.part summary").last.scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert page.locator(".contents").bounding_box()["y"] == 0
    page.get_by_role("link", name="Differences", exact=True).click()
    heading = page.locator("details.part:has(#differences) h2").bounding_box()
    contents = page.locator(".contents").bounding_box()
    assert heading["y"] >= contents["y"] + contents["height"]
    page.context.close()


def test_folded_parts_open_and_show_their_figures_without_scripts(browser, server, signed_in):
    page = results(browser, server, signed_in, "clear-lead", java_script_enabled=False)
    for part in page.locator("details.part").all():
        part.locator("summary").first.click()
        expect(part.locator("> div")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert page.locator("figure.exhibit").count() > 6
    assert has_loaded(page, "details.part > div > figure img")
    page.context.close()


def test_a_stranger_tries_a_question_of_a_published_study_on_a_phone(browser, server, signed_in):
    with server.app.app_context():
        ada = accounts.find_researcher(db.session, "Ada of the results")
        study = a_closed_study(db.session, ada, "for-all", CLEAR)
        details = publications.Details("A study for all", "Lovelace, Ada", "")
        publications.publish(db.session, study, "Ada of the results", details)
        stored = db.session.query(StoredResponse).count()
        db.session.remove()
    context = browser.new_context(viewport=PHONE)
    page = watched(context.new_page())
    page.goto(f"{server.address}/studies")
    page.get_by_role("link", name="A study for all").click()
    page.get_by_role("link", name="Try one question").click()
    page.locator("input[name=choice]").first.check()
    press(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Your answer, beside the others")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("link", name="Back to the study").click()
    expect(page).to_have_url(f"{server.address}/studies/for-all")
    assert page.faults == []
    context.close()
    with server.app.app_context():
        assert db.session.query(StoredResponse).count() == stored
        db.session.remove()
