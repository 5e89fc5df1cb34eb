"""Take the screenshots and the recording of the README: ``make screenshots``."""

import tempfile
from importlib.resources import as_file, files
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Playwright, sync_playwright

from survey.app import db
from survey.core.collections.items import Topic
from survey.core.studies.plan import Plan
from survey.kinds.ordering.bot import Preference
from survey.services import accounts
from survey.services.collections import items
from survey.services.operations import demo
from survey.services.planning.simulation import simulate
from survey.services.studies import lifecycle
from survey.services.studies.plans import kind_plan
from tests.browser.recording import Recording
from tests.browser.still import ARGUMENTS, StillServer, fixed_chance_and_time, open_window
from tests.browser.test_grouping import SAVED, documents_on
from tests.browser.test_labelling import begin as to_the_question
from tests.browser.test_participant import (
    keep_order,
    leave_practice,
    place,
    prepare,
    save,
    tap,
    tick,
)
from tests.browser.test_researcher import sign_in
from tests.browsing import launch
from tests.serving import Server, free_port

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "screenshots"
SIZES = {"laptop": (1280, 800), "phone": (360, 740)}

# Whether the pictures are there, and the number of those looked at has not changed for a second.
COUNTED = """() => {
  const text = document.getElementById("looked").innerText;
  if (window.counted?.text !== text) window.counted = { text, since: performance.now() };
  return [...document.images].every((image) => image.complete)
    && performance.now() - window.counted.since > 1000;
}"""


def main() -> None:
    """Replace the pictures of the documentation."""
    for path in FOLDER.glob("*.png"):
        path.unlink()
    with sync_playwright() as playwright:
        take_all(playwright, FOLDER)


def take_all(playwright: Playwright, folder: Path) -> None:
    """Walk through a study once for each size and theme that the documentation shows."""
    with tempfile.TemporaryDirectory() as instance, fixed_chance_and_time():
        server = StillServer(Path(instance), free_port())
        server.start()
        browser = launch(playwright, *ARGUMENTS)
        try:
            photograph(browser, server, folder)
        finally:
            browser.close()
            server.kill()


def photograph(browser: Browser, server: Server, folder: Path) -> None:
    """Take all screenshots, a participant's and a researcher's."""
    link = server.open_study("five-systems", seed=2039, questions=10)
    for name, theme in (("laptop", "light"), ("phone", "light"), ("laptop", "dark")):
        walk(open_window(browser, SIZES[name], theme), link, folder, f"{name}-{theme}")
    record(open_window(browser, SIZES["laptop"]), link, folder)
    strip(open_window(browser, SIZES["laptop"]), server, folder)
    graded(open_window(browser, SIZES["laptop"]), server, folder)
    pictures(browser, server, folder)
    judgements(browser, server, folder)
    research(open_window(browser, SIZES["laptop"]), server, folder)
    two_lists(browser, server, folder)


# Until the page is drawn: on a busy machine a picture before the first frame cannot be taken.
DRAWN = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Where a page tells its own address, whose port is another each time.
NAME_THE_HOST = """host => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        texts.currentNode.data = texts.currentNode.data.replaceAll(host, "survey.example.org");
    }
    for (const field of document.querySelectorAll("input[value]")) {
        field.value = field.value.replaceAll(host, "survey.example.org");
    }
}"""


def shoot(page: Page, path: Path, *, whole: bool = True) -> None:
    """Take a picture of a page, with nothing in focus."""
    page.evaluate("document.fonts.ready")
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    page.evaluate(NAME_THE_HOST, urlsplit(page.url).netloc)
    page.evaluate(DRAWN)
    page.screenshot(path=path, full_page=whole, animations="disabled")


def walk(page: Page, link: str, folder: Path, suffix: str) -> None:
    """Photograph the pages that tell a participant's story; in the dark, a question."""
    shown = ["question"] if suffix.endswith("dark") else ["entry", "practice", "question", "done"]
    if suffix.startswith("laptop-light"):
        shown.append("review")

    def take(name: str) -> None:
        if name in shown:
            shoot(page, folder / f"{name}-{suffix}.png")

    page.goto(link)
    take("entry")
    prepare(page, link)
    take("practice")
    leave_practice(page)
    for position in range(1, 11):
        page.wait_for_url(f"**/q/{position}")
        if position == 3:
            place(page, "51224")
            take("question")
            keep_order(page)
        else:
            tick(page, 1)
            save(page)
    page.wait_for_url("**/review")
    take("review")
    save(page)
    page.wait_for_url("**/done")
    take("done")


def record(page: Page, link: str, folder: Path) -> None:
    """Record a participant's way, from the link to an ordering of one's own."""
    recording = Recording(page)
    page.goto(link)
    recording.frame(2.5)
    prepare(page, link)
    recording.frame(3)
    leave_practice(page)
    page.evaluate("document.activeElement.blur()")
    recording.frame(3)
    tick(page, 2)
    recording.frame(1.5)
    save(page)
    page.wait_for_url("**/q/2")
    recording.frame(1.5)
    for letter in "BD=AC":
        tap(page, letter)
        recording.frame(0.8)
    recording.frame(2)
    keep_order(page)
    page.wait_for_url("**/q/3")
    recording.frame(2)
    recording.save(folder / "study.gif")


def begin(page: Page, link: str) -> None:
    """Go to the first question."""
    prepare(page, link)
    leave_practice(page)


def strip(page: Page, server: Server, folder: Path) -> None:
    """Photograph a question with the positions strip."""
    begin(page, server.open_study("strip", seed=2039, positions_strip=True))
    shoot(page, folder / "strip-laptop-light.png")


def graded(page: Page, server: Server, folder: Path) -> None:
    """Photograph a question of graded lists."""
    begin(
        page,
        server.open_study(
            "graded", seed=2039, marks={"grades": "3 2 2 1 1"}, measures=["AP", "nDCG@20", "gMNRO"]
        ),
    )
    shoot(page, folder / "graded-laptop-light.png")


def pictures(browser: Browser, server: Server, folder: Path) -> None:
    """Photograph a question of the demonstration's study with pictures."""
    with server.app.app_context():
        demo.create_picture_study(db.session)
        db.session.remove()
    for name in ("laptop", "phone"):
        page = open_window(browser, SIZES[name])
        begin(page, f"{server.address}/s/{demo.PICTURES_SLUG}")
        page.wait_for_load_state("networkidle")
        shoot(page, folder / f"pictures-{name}-light.png", whole=name != "phone")


def two_lists(browser: Browser, server: Server, folder: Path) -> None:
    """Photograph two lists of pictures side by side, of the runs of the demonstration's study."""
    with server.app.app_context():
        demonstration = lifecycle.find_study(db.session, demo.PICTURES_SLUG)
        shown = demonstration.plan.as_json()
        lists = {name: shown[name] for name in ("own_lists", "provenance", "collection_size")}
        asked = {
            "questions": 20,
            "show_items": True,
            "show_positions": False,
            "personal_fields": (),
        }
        asked |= {"ask_satisfaction": True, "shuffle_questions": False, **demo.DEMO_CONTACT}
        plan = kind_plan("preference", **lists, **asked)
        study = lifecycle.create_study(db.session, "which-is-better", plan)
        lifecycle.copy_items(db.session, demonstration, study)
        lifecycle.open_study(db.session, study, anyway="no people take part")
        db.session.remove()
    for name in SIZES:
        page = open_window(browser, SIZES[name])
        to_the_question(page, f"{server.address}/s/which-is-better")
        page.locator("[name=preferred][value=right]").check()
        page.wait_for_load_state("networkidle")
        shoot(page, folder / f"two-lists-{name}-light.png", whole=name != "phone")


def judgements(browser: Browser, server: Server, folder: Path) -> None:
    """Photograph a batch to be labelled and a topic to be sorted, of the same pictures."""
    names = [name for name in ("bird", "cat", "dog", "horse") for _ in range(5)]
    documents = [f"{name}-{2 + place % 5}" for place, name in enumerate(names)][:18]
    asked = {"shuffle_questions": False, "personal_fields": (), **demo.DEMO_CONTACT}
    with server.app.app_context():
        judged(kind_plan("labelling", topics=["apple-1", "cat-1"], **asked), "which-match")
        judged(kind_plan("grouping", topics=[["animals", documents]], **asked), "which-groups")
        db.session.remove()
    for name in ("laptop", "phone"):
        page = open_window(browser, SIZES[name])
        to_the_question(page, f"{server.address}/s/which-match")
        for number in (0, 1):
            page.locator(".tiles label").nth(number).click()
        page.wait_for_function(SAVED)
        # Tiles count as looked at half a second after their pictures came; the number below tells.
        page.wait_for_function(COUNTED)
        shoot(page, folder / f"batch-{name}-light.png", whole=False)
    page = open_window(browser, SIZES["laptop"])
    to_the_question(page, f"{server.address}/s/which-groups")
    shown = documents_on(page, server, "which-groups")
    for group, source in (("birds", "bird"), ("cats", "cat"), ("dogs", "dog")):
        for number, document in enumerate(shown):
            if document.startswith(source) and document != "dog-6":
                page.locator(".tile label").nth(number).click()
        page.locator("#new").click()
        page.locator("#group").fill(group)
        page.locator("button[value=new]").click()
        page.wait_for_function(SAVED)
    shoot(page, folder / "groups-laptop-light.png", whole=False)


def judged(plan: Plan, slug: str) -> None:
    """Open a study of the pictures that come along."""
    study = lifecycle.create_study(db.session, slug, plan)
    pictures = files("survey.services.collections.albums") / "collection"
    with (
        as_file(pictures) as folder,
        items.open_source(folder, None) as source,
    ):
        animals = Topic("animals", text="Animals", cluster_type="kind")
        where = [*(source.topics or ()), animals]
        pictures_of = (source.files, source.items)
        items.take_in(db.session, study, *pictures_of, accounts.COMMAND_LINE, topics=where)
    lifecycle.open_study(db.session, study, anyway="no people take part")


def research(page: Page, server: Server, folder: Path) -> None:
    """Photograph what a researcher sees, from the draft to the results."""
    sign_in(page, server)
    page.goto(f"{server.address}/research/new")
    page.get_by_role("link", name="The same with better power").click()
    page.get_by_label("Address").fill("spring-study")
    page.get_by_label("Who asks").fill("the retrieval group of X")
    page.get_by_label("Where participants can ask").fill("someone@example.org")
    page.get_by_role("button", name="Create the draft").click()
    page.get_by_text("Seed, and variants").click()
    page.get_by_label("Seed", exact=True).fill("2039")
    page.get_by_role("button", name="2 How to ask").click()
    page.wait_for_url("**/plan?step=how")
    page.get_by_role("button", name="1 What to ask").click()
    page.wait_for_url("**/plan?step=what")
    page.get_by_text("of studies").wait_for()
    page.frame_locator("iframe").get_by_text("Question 1 of 10").wait_for()
    shoot(page, folder / "plan-laptop-light.png", whole=False)
    page.get_by_role("button", name="4 Texts").click()
    page.get_by_role("button", name="Save and draw").click()
    page.wait_for_url("**/check")
    shoot(page, folder / "check-laptop-light.png", whole=False)
    study = f"{server.address}/research/studies/spring-study"
    page.goto(study)
    shoot(page, folder / "overview-laptop-light.png", whole=False)
    answer(server)
    page.goto(f"{study}/progress")
    shoot(page, folder / "progress-laptop-light.png", whole=False)
    with server.app.app_context():
        found = lifecycle.find_study(db.session, "spring-study")
        lifecycle.close_study(db.session, found, "the screenshots")
        db.session.remove()
    page.goto(f"{study}/results")
    shoot(page, folder / "results-laptop-light.png", whole=False)
    page.goto(f"{study}/results#differences")
    page.locator("#figure-differences img").evaluate("(image) => image.decode()")
    page.locator(".part", has=page.locator("#differences")).screenshot(
        path=folder / "differences-laptop-light.png"
    )
    public_page(page, study, server)
    shoot(page, folder / "published-laptop-light.png", whole=False)


def public_page(page: Page, study: str, server: Server) -> None:
    """Publish the study, and photograph what everyone sees of it."""
    page.goto(f"{study}/publish")
    page.get_by_label("Authors", exact=True).fill("Lovelace, Ada\nThe retrieval group of X")
    page.get_by_label("I have read what becomes visible").check()
    page.get_by_role("button", name="Publish").click()
    page.goto(f"{server.address}/studies/spring-study")


def answer(server: Server) -> None:
    """Open the draft, and let thirty simulated people answer as real ones would."""
    with server.app.app_context():
        study = lifecycle.find_study(db.session, "spring-study")
        lifecycle.open_study(db.session, study, "the screenshots")
        plan = study.plan
        db.session.remove()
    prefer = Preference.parse("MNRO=.4,NMRR=.35,AP=.18,OTHER=.07", plan.measures)
    simulate(f"{server.address}/s/spring-study", plan, 30, {"": prefer}, 7)


if __name__ == "__main__":
    main()
