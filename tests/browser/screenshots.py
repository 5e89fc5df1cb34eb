"""Take the screenshots of the README: ``make screenshots``."""

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from survey.db import db
from survey.services import life, studies
from survey.services.simulation import Preference, simulate
from tests.browser.test_participant import place, prepare, save, tick
from tests.browser.test_researcher import sign_in
from tests.browsing import launch
from tests.serving import Server, free_port

FOLDER = Path(__file__).parents[2] / "docs" / "screenshots"
SIZES = {"laptop": (1280, 800), "phone": (360, 740)}


def main() -> None:
    """Walk through a study once for each size and theme that the README shows."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder), free_port())
        server.start()
        try:
            photograph(launch(playwright), server)
        finally:
            server.kill()


def photograph(browser: Browser, server: Server) -> None:
    """Take all screenshots, a participant's and a researcher's."""
    link = server.open_study("five-systems", seed=2013, questions=10)
    for name, theme in (("laptop", "light"), ("phone", "light"), ("laptop", "dark")):
        width, height = SIZES[name]
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme
        )
        walk(context.new_page(), link, f"{name}-{theme}")
        context.close()
    graded(browser, server)
    research(browser, server)
    browser.close()


def graded(browser: Browser, server: Server) -> None:
    """Photograph a question of graded lists."""
    link = server.open_study(
        "graded", seed=2013, marks={"grades": "3 2 2 1 1"}, measures=["AP", "nDCG@20", "gMNRO"]
    )
    width, height = SIZES["laptop"]
    page = browser.new_context(viewport={"width": width, "height": height}).new_page()
    prepare(page, link)
    tick(page, 1)
    save(page)
    page.get_by_role("button", name="Start with question 1").first.click()
    page.wait_for_url("**/q/1")
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=FOLDER / "graded-laptop-light.png", full_page=True)


def research(browser: Browser, server: Server) -> None:
    """Photograph what a researcher sees of a draft."""
    width, height = SIZES["laptop"]
    page = browser.new_context(viewport={"width": width, "height": height}).new_page()
    sign_in(page, server)
    page.goto(f"{server.address}/research/new")
    page.get_by_label("The same with questions").check()
    page.get_by_label("Address").fill("spring-study")
    page.get_by_role("button", name="Make the draft").click()
    page.get_by_label("Seed", exact=True).fill("2013")
    page.get_by_role("button", name="Save and draw").click()
    page.wait_for_url("**/check")
    page.evaluate("document.activeElement.blur()")
    page.screenshot(path=FOLDER / "check-laptop-light.png")
    answer(server)
    page.goto(f"{server.address}/research/studies/spring-study/results")
    page.screenshot(path=FOLDER / "results-laptop-light.png")
    page.locator("#differences").screenshot(path=FOLDER / "differences-laptop-light.png")


def answer(server: Server) -> None:
    """Open the draft, let thirty simulated people answer as real ones would, and close it."""
    with server.app.app_context():
        study = studies.find_study(db.session, "spring-study")
        life.open_to_participants(db.session, study, "the screenshots")
        plan = study.plan
        db.session.remove()
    prefer = Preference.parse("MNRO=.4,NMRR=.35,AP=.18,OTHER=.07", plan.measures)
    simulate(f"{server.address}/s/spring-study", plan, 30, prefer, 7)
    with server.app.app_context():
        study = studies.find_study(db.session, "spring-study")
        life.close_to_participants(db.session, study, "the screenshots")
        db.session.remove()


def walk(page: Page, link: str, suffix: str) -> None:
    """Photograph the pages that tell the story."""

    def shoot(name: str) -> None:
        if suffix.endswith("dark") and name != "question":
            return
        page.evaluate("document.activeElement.blur()")
        page.screenshot(path=FOLDER / f"{name}-{suffix}.png", full_page=True)

    page.goto(link)
    shoot("entry")
    prepare(page, link)
    shoot("practice")
    tick(page, 1)
    save(page)
    page.get_by_role("button", name="Start with question 1").first.click()
    for position in range(1, 11):
        page.wait_for_url(f"**/q/{position}")
        if position == 3:
            place(page, "51224")
            shoot("question")
        tick(page, 1)
        save(page)
    page.wait_for_url("**/review")
    shoot("review")
    save(page)
    page.wait_for_url("**/done")
    shoot("done")


if __name__ == "__main__":
    main()
