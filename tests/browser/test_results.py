"""The results page in a real browser: what the first screen answers, and what is folded below."""

import re
from collections.abc import Sequence

import pytest
from playwright.sync_api import Browser, Page, expect

from survey import __version__
from survey.app import db
from survey.db.models import Researcher, StoredResponse
from survey.services import accounts
from survey.services.collections import items
from survey.services.planning.simulation import preferences_for, simulate
from survey.services.studies import lifecycle, publications
from survey.services.studies.recruitment import Recruitment
from survey.tokens import test_run_token as run_token
from tests.browser.test_participant import PHONE, press
from tests.browser.test_researcher import sign_in
from tests.browsing import watched
from tests.builders import KEY
from tests.grouped import a_grouping_study
from tests.labelled import a_labelling_study
from tests.serving import Server
from tests.tasks.test_preference import a_plan_of_random_runs
from tests.voted import CLEAR, UNDECIDED, a_closed_study

pytestmark = pytest.mark.slow

LAPTOP = {"width": 1280, "height": 800}
# Which measure won, and may I say so?
ANSWERS = {
    "clear-lead": "People's answers agree with MNRO more than with NMRR (+80 points, 67 to 94) and "
    "than with AP (+82 points, 70 to 95).",
    "ties-only": "People's answers agree with MNRO more than with AP (+82 points, 70 to 95); the "
    "lead over NMRR may come from NMRR's ties alone.",
    "no-lead": "The answers do not show which measure people agree with.",
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


def results(
    browser: Browser, server: Server, state, slug: str, query: str = "", **settings
) -> Page:
    """The results of a study, in a window of their own."""
    context = browser.new_context(storage_state=state, **{"viewport": LAPTOP, **settings})
    page = watched(context.new_page())
    page.goto(f"{server.address}/research/studies/{slug}/results{query}")
    return page


FIRST_SCREEN = (
    *("#answer", ".chip", ".rows", ".answer img", ".answer figcaption", ".answer .parts"),
    *("#for-a-paper button", ".copied summary"),
)


def assert_in_view(page: Page, shown: Sequence[str]) -> None:
    """Require parts of the page to be drawn, and to be seen without scrolling."""
    if ".answer img" in shown:
        assert has_loaded(page, ".answer img")
    for each in shown:
        box = page.locator(each).bounding_box()
        assert box["y"] + box["height"] < LAPTOP["height"], each


OF_OTHER_KINDS = ("first-preference", "first-labelling", "first-grouping")


@pytest.fixture(scope="module")
def of_other_kinds(server: Server, signed_in):
    """A closed study of each other kind, which Ada owns."""
    with server.app.app_context():
        close_one_of_each(server, accounts.find_researcher(db.session, "Ada of the results"))
        db.session.remove()


def close_one_of_each(server: Server, ada: Researcher) -> None:
    """Make a closed study of each kind other than ordering, with simulated answers."""
    settings = {"selection": "all", "contrast": [], "questions": 60}
    plan = a_plan_of_random_runs(**settings)
    lifecycle.create_owned_study(db.session, ada, "first-preference", plan, Recruitment())
    study = lifecycle.find_study(db.session, "first-preference")
    lifecycle.open_study(db.session, study, anyway="a test")
    a_labelling_study(db.session, "first-labelling", ada)
    a_grouping_study(db.session, "first-grouping", ada)
    db.session.commit()
    prefer = {"first-preference": "AP:0.05", "first-labelling": "6:0.2"}
    for slug, people in zip(OF_OTHER_KINDS, (8, 4, 3), strict=True):
        study = lifecycle.find_study(db.session, slug)
        shown, plan = items.shown(db.session, study), study.plan
        db.session.rollback()
        entry = f"{server.address}/s/{slug}?test={run_token(KEY, slug)}"
        simulate(entry, plan, people, preferences_for(plan, prefer.get(slug), shown), seed=7)
        lifecycle.close_study(db.session, lifecycle.find_study(db.session, slug), "Ada")
    db.session.commit()


@pytest.mark.parametrize("slug", OF_OTHER_KINDS)
def test_the_first_screen_of_each_kind_answers_its_question(
    browser, server, signed_in, of_other_kinds, slug
):
    page = results(browser, server, signed_in, f"{slug}", query="?test=1")
    assert_in_view(page, FIRST_SCREEN)
    rows = page.locator(".rows li").all_inner_texts()
    assert 2 <= len(rows) <= 5
    for text in [*rows, *page.locator("details.part summary").all_inner_texts()]:
        assert re.search(r"\d", text), text
    page.locator(".copied summary").click()
    copied = page.locator(".copied pre").inner_text()
    assert page.locator("#answer").inner_text() in copied
    for word in ("n: ", "Test: ", "Correction: ", f"ranking-survey {__version__}"):
        assert word in copied
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert page.faults == []
    page.context.close()


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
        shown += [*FIRST_SCREEN, ".contents"]
    assert_in_view(page, shown)
    words = page.locator("body").inner_text().split()
    assert len(words) < 340  # folded parts tell their numbers
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
