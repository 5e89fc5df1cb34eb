"""The circle of judging: pictures, labels, groups, an ordering study of both, and its bundle."""

import json
import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner

from survey import tokens
from survey.app import db
from survey.cli import survey
from survey.services.analysis.joined_clusters import GOLD
from survey.services.analysis.merged_labels import MERGED
from survey.services.collections import albums, items
from survey.services.operations.demo import TOPICS
from survey.services.studies import lifecycle
from tests.accessibility.looking import WIDTHS, ask, axe, prepared
from tests.browser.test_grouping import SAVED, documents_on, sort_by_keys
from tests.browser.test_labelling import CHECKS, begin
from tests.browser.test_participant import leave_practice, prepare, save, tap, tick
from tests.browser.test_researcher import sign_in
from tests.browsing import watched
from tests.builders import KEY
from tests.commands import CONTACT, environment_of
from tests.serving import Server, free_port

pytestmark = pytest.mark.slow

COLLECTION = Path(albums.__file__).parent / "collection"
RUNS = sorted((COLLECTION / "runs").iterdir())
RELEVANT = {
    topic: {
        document
        for line in (COLLECTION / "qrels.txt").read_text().splitlines()
        for of, _, document, grade in [line.split()]
        if of == topic and grade != "0"
    }
    for topic in TOPICS
}
TEXTS = {
    "title": "Pictures",
    "asked_by": "the retrieval group of X",
    "contact": "someone@example.org",
    "purpose": "We compare programs that search pictures.",
    "consent": "I take part of my own free will.",
    "scenario": "You see pictures.",
    "minutes": 10,
}
LABELS = {
    "kind": "labelling",
    "question_text": "Mark every picture that shows the same.",
    "batch": 24,
    "participants": 7,
    "practice": False,
}
GROUPS = {"kind": "grouping", "question_text": "Put what belongs together into one group."}
SORTED = {
    "things": ("clock", "cup", "guitar", "hat"),
    "animals": ("bird", "cat", "dog", "horse"),
}
CODE = re.compile(r"\b[A-Z0-9]{5}(?:-[A-Z0-9]{3,5})+\b")


def look(page, name):
    """See that a page can be read at each width, light and dark."""
    before, faults = page.viewport_size, []
    for number, width in enumerate(WIDTHS):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=("light", "dark")[number % 2])
        where = f"{name}, {width} px"
        faults += [
            *axe(page, where),
            *(each for check in CHECKS for each in ask(page, check, where)),
        ]
    assert faults == []
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="light")


@pytest.fixture
def world(tmp_path, browser):
    """A fresh instance that is served, its commands, and windows of browsers."""
    server = Server(tmp_path, free_port())
    server.start()
    world = World(server, tmp_path, browser)
    yield world
    server.kill()


class World:
    def __init__(self, server, folder, browser):
        self.server, self.folder, self.browser = server, folder, browser

    def run(self, *words):
        """Run a command; return what it prints."""
        environment = environment_of(self.server.app)
        result = CliRunner().invoke(survey, [*map(str, words)], env=environment)
        assert result.exit_code == 0, result.output
        return result.stdout

    def file(self, name, content):
        path = self.folder / name
        path.write_text(content)
        return path

    def window(self, width):
        page = watched(prepared(self.browser).new_page())
        page.set_viewport_size({"width": width, "height": 900})
        return page

    def link(self, slug, *, test=False):
        asked = f"?test={tokens.test_run_token(KEY, slug)}" if test else ""
        return f"{self.server.address}/s/{slug}{asked}"

    def names(self, slug):
        """The document of each picture, and the topic of each query, by its random name."""
        with self.server.app.app_context():
            study = lifecycle.find_study(db.session, slug)
            shown = items.shown(db.session, study)
            db.session.remove()
        return [{name: each for each, (name, _) in some.items()} for some in shown]


def name_of(image):
    return image.get_attribute("src").rpartition("/")[2].removesuffix(".webp")


def label(page, documents, topics):
    """Label a query: mark what is relevant, refine, mark what that brings, end it."""
    topic = topics[name_of(page.locator(".find img"))]
    for go in ("refine", "done"):
        for tile in page.locator(".tiles label").all():
            if documents[name_of(tile.locator("img"))] in RELEVANT[topic]:
                tile.click()
        before = page.url
        with page.expect_navigation() if go == "refine" else nullcontext():
            page.locator(f".bar [value={go}]").click()
    page.wait_for_function(
        "before => location.href !== before || document.querySelector('.asks')", arg=before
    )
    if page.url == before:  # the page asks whether that is all
        page.locator(".asks [value=done]").click()
    page.wait_for_url(lambda url: url != before)  # with all that belongs to the page


def make_labels(world):
    """Seven bots and a person label; the person begins on a laptop and goes on by phone."""
    plan = world.file("labels.yaml", json.dumps({**TEXTS, **LABELS, "topics": TOPICS}))
    world.run("study", "new", "which-match", "--from", plan, "--items", COLLECTION)
    world.run("study", "open", "which-match")
    prefer = ("--prefer", f"{COLLECTION / 'qrels.txt'}:0.05")
    world.run("simulate", "which-match", "--participants", 7, *prefer)
    names = world.names("which-match")
    laptop = world.window(1280)
    begin(laptop, world.link("which-match"))
    look(laptop, "labels")
    for _ in range(5):
        label(laptop, *names)
    code = CODE.search(laptop.locator("footer, main").last.inner_text() + laptop.content())[0]
    phone = world.window(360)
    phone.goto(world.link("which-match"))
    phone.locator("summary", has_text="device").click()
    phone.locator("#code").fill(code)
    phone.get_by_role("button", name="Next").click()
    phone.wait_for_url("**/q/6")
    look(phone, "labels-6")
    for _ in range(5):
        label(phone, *names)
    look(phone, "labels-review")
    phone.locator("main button.go").click()
    phone.wait_for_url("**/done")
    return [laptop, phone]


def check_labels(world, desk):
    """Recompute the results by the commands on the exported files; return their folder."""
    desk.goto(f"{world.server.address}/research/studies/which-match/progress")
    assert "1 of 7 complete" in desk.locator("main").inner_text()
    assert "Per minute" in desk.locator("thead:visible").first.inner_text()
    look(desk, "labels-progress")
    world.run("study", "close", "which-match")
    folder = world.folder / "judgements"
    world.run("analyse", "which-match", "--include-test", "--to", folder)
    labels = sorted((folder / "labels").iterdir())
    assert len(labels) == 8
    world.run("assess", "merge", *labels, "--to", world.folder / "merged")
    for name in MERGED:
        assert (world.folder / "merged" / name).read_bytes() == (folder / name).read_bytes()
    rounds = ("--rounds", folder / "runs", "--json")
    options = ("--qrels", folder / "qrels.txt", "--weights", folder / "weights.txt")
    gained = json.loads(world.run("feedback", *options, *rounds))
    figures = json.loads(world.run("analyse", "which-match", "--include-test", "--json"))
    assert figures["refining"]["with_negatives"]["significance"] == gained["significance"]
    assert figures["refining"]["refined"][0] == 80  # further rounds end where nothing matches
    desk.goto(f"{world.server.address}/research/studies/which-match/results?test=1")
    assert "What refining gained" in desk.locator("main").inner_text()
    assert {each.name for each in (folder / "figures").iterdir()} > {"gain-by-round.svg"}
    look(desk, "labels-results")
    return folder


def make_groups(world):
    """Two bots sort; a person sorts and settles what the two did not agree on."""
    documents = {
        topic: [f"{name}-{number}" for name in names for number in range(2, 6)]
        for topic, names in SORTED.items()
    }
    lines = [f"{topic} 0 {each} 1\n" for topic, some in documents.items() for each in some]
    qrels = world.file("sorted.txt", "".join(lines))
    # The two agree on no topic, so the third gets both; nearly enough for a gold standard of three.
    in_pairs = {each: names.index(each) // 2 for names in SORTED.values() for each in names}
    truths = [
        world.file(
            f"truth-{place}.txt",
            "".join(
                f"{topic} {each} {group(each[:-2])}\n"
                for topic, some in documents.items()
                for each in some
            ),
        )
        for place, group in enumerate((str, in_pairs.get))
    ]
    topics = "topic,text,image,cluster_type\nthings,Things,,purpose\nanimals,Animals,,\n"
    plan = world.file("groups.yaml", json.dumps({**TEXTS, **GROUPS}))
    files = ("--items", COLLECTION, "--topics-file", world.file("topics.csv", topics))
    world.run("study", "new", "which-groups", "--from", plan, "--qrels", qrels, *files)
    world.run("study", "open", "which-groups")
    for truth in truths:
        world.run("simulate", "which-groups", "--participants", 1, "--prefer", f"{truth}:0")
    page = world.window(1280)
    begin(page, world.link("which-groups", test=True))
    look(page, "groups")
    for width, settled in (
        (1280, "button[value=done]:not(.hidden)"),
        (360, "button[value=adopt-0]"),
    ):
        page.set_viewport_size({"width": width, "height": 900})
        shown = documents_on(page, world.server, "which-groups")
        names = [each[:-2] for each in shown]
        sort_by_keys(page, names)
        sizes = page.locator("#groups li > button small").all_inner_texts()
        assert sorted(sizes) == ["0", "4", "4", "4", "4"]
        page.locator("button[value=done]:not(.hidden)").click()
        page.wait_for_selector(".earlier")
        look(page, f"groups-earlier-{width}")
        page.locator(settled).click()
        if "adopt" in settled:
            page.wait_for_function(SAVED)
            page.locator("button[value=done]:not(.hidden)").click()
        page.wait_for_url("**/q/2" if width == 1280 else "**/review")
    look(page, "groups-review")
    page.locator("main button.go").click()
    page.wait_for_url("**/done")
    return [page]


def check_groups(world, desk):
    desk.goto(f"{world.server.address}/research/studies/which-groups/progress")
    look(desk, "groups-progress")
    world.run("study", "close", "which-groups")
    folder = world.folder / "groups"
    world.run("analyse", "which-groups", "--include-test", "--to", folder)
    three = [folder / name for name in ("first.txt", "second.txt", "third.txt")]
    compared = json.loads(world.run("assess", "compare", *three[:2], "--json"))
    figures = json.loads(world.run("analyse", "which-groups", "--include-test", "--json"))
    of_files, of_study = (each.pop("reliability") for each in (compared, figures["agreement"]))
    assert figures["agreement"] == compared
    # One names assessors by their files, the other by their public ids; and the third is asked
    # only where two differ, so neither counts it.
    assert (of_files["alpha"], of_files["ci95"]) == (of_study["alpha"], of_study["ci95"])
    assert compared["third"] == ["animals", "things"]
    gold = world.folder / "gold"
    gold.mkdir()
    types = world.file("types.csv", "topic,cluster_type\nthings,purpose\n")
    third = ("--third", three[2], "--topics-file", types, "--to", gold / "gold.txt")
    world.run("assess", "gold", *three[:2], *third)
    made = {path.name: path.read_bytes() for path in gold.iterdir()}
    assert made == {name: (folder / name).read_bytes() for name in GOLD}
    desk.goto(f"{world.server.address}/research/studies/which-groups/results?test=1")
    look(desk, "groups-results")


def order(world, desk, judgements):
    """Make an ordering study of the judgements on the page, and have it answered."""
    desk.goto(f"{world.server.address}/research/studies/which-match/results?test=1")
    desk.get_by_label("Runs, two to ten").set_input_files(RUNS)
    desk.get_by_label("Address of the new study").fill("which-order")
    desk.get_by_role("button", name="Make an ordering study").click()
    desk.wait_for_url("**/which-order/check")
    look(desk, "order-check")
    world.run("study", "open", "which-order", *CONTACT)
    world.run("simulate", "which-order", "--participants", 30)
    page = world.window(1280)
    prepare(page, world.link("which-order"))
    leave_practice(page)
    page.wait_for_load_state("networkidle")
    look(page, "order")
    while "/review" not in page.url:
        tap(page, *"BD=AC") if page.locator("[data-letter]").count() else tick(page, 1)
        save(page)
    save(page)
    page.wait_for_url("**/done")
    world.run("study", "close", "which-order")
    bundle = world.folder / "which-order.zip"
    world.run("export", "which-order", "--include-test", "--to", bundle)
    printed = world.run("replicate", bundle, "--qrels", judgements / "qrels.txt", "--run", *RUNS)
    assert "not recomputed" not in printed
    desk.goto(f"{world.server.address}/research/studies/which-order/results?test=1")
    look(desk, "order-results")
    return [page]


def test_pictures_become_judgements_groups_and_an_ordering_study(world):
    desk = world.window(1280)
    sign_in(desk, world.server)
    pages = make_labels(world)
    judgements = check_labels(world, desk)
    pages += make_groups(world)
    check_groups(world, desk)
    pages += order(world, desk, judgements)
    for slug in ("which-match", "which-groups"):
        bundle = world.folder / f"{slug}.zip"
        world.run("export", slug, "--include-test", "--to", bundle)
        world.run("replicate", bundle)
    assert [page.faults for page in (desk, *pages)] == [[]] * (1 + len(pages))
