"""Take the screenshots and the recording of the README: ``make screenshots``."""

import tempfile
from hashlib import sha256
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from survey.db import db
from survey.services import life, studies
from survey.services.simulation import Preference, simulate
from tests.browser.recording import Recording
from tests.browser.test_own_ranking import drag
from tests.browser.test_participant import place, prepare, save, tick
from tests.browser.test_researcher import sign_in
from tests.browsing import launch
from tests.serving import Server, free_port

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "screenshots"
MADE_FROM = FOLDER / "made-from.txt"
SIZES = {"laptop": (1280, 800), "phone": (360, 740)}


def source() -> str:
    """Return a hash of all that pages are made of, by which a test knows old screenshots."""
    folders = ("templates", "static", "survey/services/presets", "survey/services/reporting")
    words = ("survey/web/wording.py", "survey/core/agreement/verdicts.py")
    found = [path for name in (*folders, "survey/figures") for path in (ROOT / name).rglob("*.*")]
    paths = sorted([*found, *(ROOT / name for name in words)])
    kept = [path for path in paths if path.is_file() and "__pycache__" not in path.parts]
    parts = [path.relative_to(ROOT).as_posix().encode() + path.read_bytes() for path in kept]
    return sha256(b"\0".join(parts)).hexdigest()


def main() -> None:
    """Walk through a study once for each size and theme that the README shows."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        server = Server(Path(folder), free_port())
        server.start()
        browser = launch(playwright)
        try:
            photograph(browser, server)
        finally:
            browser.close()
            server.kill()
    MADE_FROM.write_text(f"{source()}\n")


def photograph(browser: Browser, server: Server) -> None:
    """Take all screenshots, a participant's and a researcher's."""
    link = server.open_study("five-systems", seed=2039, questions=10)
    for name, theme in (("laptop", "light"), ("phone", "light"), ("laptop", "dark")):
        walk(opened(browser, name, theme), link, f"{name}-{theme}")
    record(opened(browser, "laptop"), link)
    strip(opened(browser, "laptop"), server)
    graded(opened(browser, "laptop"), server)
    research(opened(browser, "laptop"), server)


def opened(browser: Browser, size: str, theme: str = "light") -> Page:
    """Open a window."""
    width, height = SIZES[size]
    return browser.new_page(viewport={"width": width, "height": height}, color_scheme=theme)


def shoot(page: Page, name: str, *, whole: bool = True) -> None:
    """Take a picture of a page, with nothing in focus."""
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    page.screenshot(path=FOLDER / f"{name}.png", full_page=whole)


def walk(page: Page, link: str, suffix: str) -> None:
    """Photograph the pages that tell a participant's story; in the dark, a question."""
    shown = ["question"] if suffix.endswith("dark") else ["entry", "practice", "question", "done"]
    if suffix.startswith("laptop-light"):
        shown.append("review")

    def take(name: str) -> None:
        if name in shown:
            shoot(page, f"{name}-{suffix}")

    page.goto(link)
    take("entry")
    prepare(page, link)
    take("practice")
    tick(page, 1)
    save(page)
    page.get_by_role("button", name="Start with question 1").first.click()
    for position in range(1, 11):
        page.wait_for_url(f"**/q/{position}")
        if position == 3:
            place(page, "51224")
            take("question")
        tick(page, 1)
        save(page)
    page.wait_for_url("**/review")
    take("review")
    save(page)
    page.wait_for_url("**/done")
    take("done")


def record(page: Page, link: str) -> None:
    """Record a participant's way, from the link to an ordering of one's own."""
    recording = Recording(page)
    page.goto(link)
    recording.frame(2.5)
    prepare(page, link)
    recording.frame(3)
    tick(page, 1)
    save(page)
    page.get_by_role("button", name="Start with question 1").first.click()
    page.wait_for_url("**/q/1")
    page.evaluate("document.activeElement.blur()")
    recording.frame(3)
    tick(page, 2)
    recording.frame(1.5)
    save(page)
    page.wait_for_url("**/q/2")
    recording.frame(1.5)
    tick(page, "own")
    recording.frame(0.8)
    for letter, number in zip("BDACE", (1, 2, 2, 4, 5), strict=True):
        drag(page, letter, number)
        recording.frame(0.8)
    recording.frame(2)
    save(page)
    page.wait_for_url("**/q/3")
    recording.frame(2)
    recording.save(FOLDER / "study.gif")


def begin(page: Page, link: str) -> None:
    """Go to the first question."""
    prepare(page, link)
    tick(page, 1)
    save(page)
    page.get_by_role("button", name="Start with question 1").first.click()
    page.wait_for_url("**/q/1")


def strip(page: Page, server: Server) -> None:
    """Photograph a question with the positions strip."""
    begin(page, server.open_study("strip", seed=2039, positions_strip=True))
    shoot(page, "strip-laptop-light")


def graded(page: Page, server: Server) -> None:
    """Photograph a question of graded lists."""
    begin(
        page,
        server.open_study(
            "graded", seed=2039, marks={"grades": "3 2 2 1 1"}, measures=["AP", "nDCG@20", "gMNRO"]
        ),
    )
    shoot(page, "graded-laptop-light")


def research(page: Page, server: Server) -> None:
    """Photograph what a researcher sees, from the draft to the results."""
    sign_in(page, server)
    page.goto(f"{server.address}/research/new")
    page.get_by_label("The same with questions").check()
    page.get_by_label("Address").fill("spring-study")
    page.get_by_role("button", name="Make the draft").click()
    page.get_by_label("Seed", exact=True).fill("2039")
    page.get_by_role("button", name="Save and draw").click()
    page.wait_for_url("**/check")
    shoot(page, "check-laptop-light", whole=False)
    study = f"{server.address}/research/studies/spring-study"
    page.goto(study)
    shoot(page, "overview-laptop-light", whole=False)
    answer(server)
    page.goto(f"{study}/progress")
    shoot(page, "progress-laptop-light", whole=False)
    with server.app.app_context():
        found = studies.find_study(db.session, "spring-study")
        life.close_to_participants(db.session, found, "the screenshots")
        db.session.remove()
    page.goto(f"{study}/results")
    shoot(page, "results-laptop-light", whole=False)
    page.locator("#differences").screenshot(path=FOLDER / "differences-laptop-light.png")


def answer(server: Server) -> None:
    """Open the draft, and let thirty simulated people answer as real ones would."""
    with server.app.app_context():
        study = studies.find_study(db.session, "spring-study")
        life.open_to_participants(db.session, study, "the screenshots")
        plan = study.plan
        db.session.remove()
    prefer = Preference.parse("MNRO=.4,NMRR=.35,AP=.18,OTHER=.07", plan.measures)
    simulate(f"{server.address}/s/spring-study", plan, 30, prefer, 7)


if __name__ == "__main__":
    main()
