"""From the sign-in to an open study by browser alone, with the clicks and the typing counted."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect

from benchmarks.effort import Hands
from survey.app import db
from survey.core.collections.items import Item, Topic
from survey.core.text_input import as_slug
from survey.services import accounts, new_studies
from survey.services.collections import items as collection
from survey.services.planning.simulation import preferences_for, simulate
from survey.services.studies import lifecycle, plans
from survey.services.studies.recruitment import Recruitment
from tests.browser.test_researcher import PASSWORD, sign_in
from tests.labelled import a_labelling_plan
from tests.preferred import RUNS, a_qrels, a_run

pytestmark = pytest.mark.slow

# Seconds, of the keystroke-level model of Card, Moran and Newell: a key or a click, pointing,
# making up one's mind, moving the hand between mouse and keyboard.
KEY, POINT, THINK, HOME = 0.28, 1.1, 1.35, 0.4


@dataclass
class Researcher(Hands):
    """A researcher at a page; ``seconds``: what the keystroke-level model gives so far."""

    typed: int = 0
    seconds: float = 0
    home: str = ""

    def click(self, selector):
        self.seconds += THINK + POINT + KEY
        super().click(selector)

    def fill(self, name, text):
        """Click into a field and type."""
        self.click(f"[name={name}]")
        self.typed += 1
        self.seconds += 2 * HOME + THINK + KEY * len(text)
        self.page.locator(f"[name={name}]").fill(text)

    def choose_payloads(self, name, payloads):
        """Choose files in the window that the browser opens: each, and its button "Open"."""
        self.click(f"[name={name}]")
        self.actions += len(payloads) + 1
        self.seconds += THINK + (len(payloads) + 1) * (POINT + KEY)
        self.page.set_input_files(f"[name={name}]", payloads)


@pytest.fixture
def researcher(page, server, request, tmp_path):
    """Somebody with an account, and for some walks a study, who asks for a new one."""
    name = " ".join(re.findall(r"\w+", request.node.name))[-60:].strip()
    sign_in(page, server, name)
    if "judgements" in name:
        a_judged_study(server, name, tmp_path)
    page.context.clear_cookies()
    page.goto(f"{server.address}/research/sign-in")
    hands = Researcher(page, home=f"{server.address}/research")
    hands.fill("name", name)
    hands.fill("password", PASSWORD)
    hands.click("button.go")
    hands.click("a[href$='/research/new']")
    return hands


def files_to_order():
    """Return judgements and runs without the last topic: there both runs are alike."""
    return [
        file._replace(text=file.text.partition("\n6 ")[0])
        for file in (a_qrels(), *map(a_run, RUNS))
    ]


TYPED = {"asked_by": "the retrieval group of X", "contact": "someone@example.org"}
RUN_FILES = ("alpha.txt", "beta.txt", "gamma.txt")
# Of each walk: the card, the files of each field, what else is typed, and what a preview shows.
WALKS = {
    "a": ("mnro-verbatim", {}, {}, "Which of the rankings more closely matches your own"),
    "b": ("runs", {"judgements": ["qrels.txt"], "runs": RUN_FILES}, {}, "not returned"),
    "b, own lists": ("lists", {"lists": ["lists.csv"]}, {}, "Matches came up at"),
    "c": (
        "preference",
        {
            "judgements": ["qrels.txt"],
            "runs": RUN_FILES[:2],
            "items": ["items.csv"],
            "topics_file": ["topics.csv"],
        },
        {},
        "Which list would you rather get?",
    ),
    "d, texts": (
        "labels",
        {"items": ["items.csv"], "topics_file": ["topics.csv"]},
        {},
        "Gluten",
    ),
    "d, pictures": ("collect", {"folder": ["classes.zip"]}, {}, "First results of"),
    "e": (
        "groups",
        {"judgements": ["qrels.txt"], "items": ["items.csv"], "topics_file": ["topics.csv"]},
        {},
        "Put the documents that belong together into a group.",
    ),
    "f, a bundle": ("bundle", {"bundle": ["bundle.zip"]}, {}, "Which list would you rather get?"),
    "f, a plan": ("file", {"plan": ["plan.yaml"]}, {}, "Which method puts"),
    "f, judgements, ordered": ("judged", {"runs": RUN_FILES}, {}, "not returned"),
    "f, judgements, in pairs": (
        "judged-preference",
        {"runs": RUN_FILES[:2]},
        {},
        "Which list would you rather get?",
    ),
}
SECONDS_OF_A_LOOK = 20  # at a page of the plan, or at the check
EFFORT = Path(__file__).parents[2] / "docs/design/effort.md"


def a_judged_study(server, owner, folder):
    """Make a closed study of the example files, with what people found as the example qrels say."""
    qrels = folder / "qrels.txt"
    qrels.write_bytes(new_studies.example_content(qrels.name))
    topics, documents = (
        csv.DictReader(new_studies.example_content(name).decode().splitlines())
        for name in ("topics.csv", "items.csv")
    )
    searched = [Topic(row["topic"], text=row["text"]) for row in topics]
    texts = [Item(row["document"], text=row["text"]) for row in documents]
    plan = a_labelling_plan(topics=[each.topic for each in searched], participants=3, minutes=55)
    with server.app.app_context():
        ada = accounts.find_researcher(db.session, owner)
        slug = as_slug(f"of-{owner}")
        study = lifecycle.create_owned_study(db.session, ada, slug, plan, Recruitment())
        who = accounts.COMMAND_LINE
        collection.take_in(db.session, study, {}, texts, who, topics=searched)
        lifecycle.open_study(db.session, study)
        prefer = preferences_for(plan, f"{qrels}:0", collection.shown(db.session, study))
        db.session.rollback()
        simulate(f"{server.address}/s/{slug}", plan, plan.participants, prefer, seed=7)
        lifecycle.close_study(db.session, study)
        db.session.remove()


def choose_examples(hands, files):
    """Choose example files, and wait until each is shown with what it holds."""
    for field, names in files.items():
        payloads = [
            {"name": name, "mimeType": "text/plain", "buffer": new_studies.example_content(name)}
            for name in names
        ]
        hands.choose_payloads(field, payloads)
        entries = hands.page.locator(f"#{field}-kept li")
        expect(entries).to_have_count(len(names))
        expect(hands.page.locator(f"#{field}-kept .wrong")).to_have_count(0)


def check_and_open(hands):
    """Look at each step of the plan and at the check, then open the study."""
    expect(hands.page.locator("#origin, .with-preview").first).to_be_visible()
    hands.seconds += SECONDS_OF_A_LOOK
    for step in ("how", "who", "texts"):
        hands.click(".way .go")
        hands.page.wait_for_url(f"**/plan?step={step}")
        hands.seconds += SECONDS_OF_A_LOOK
    hands.click(".way .go")
    hands.page.wait_for_url("**/check")
    hands.seconds += SECONDS_OF_A_LOOK
    hands.click(".sections a:text-is('Overview')")
    hands.click("a.go[href$='/open']")
    hands.click("button.go")
    expect(hands.page.get_by_text("The study is open. Invite people.")).to_be_visible()


@pytest.mark.parametrize("walk", WALKS)
def test_from_nothing_to_an_open_study_by_browser_alone(researcher, walk):
    card, files, typed, shown = WALKS[walk]
    hands = researcher
    hands.click(f".card a[href*='start={card}#']")
    if card in ("judged", "judged-preference"):
        hands.actions += 2  # opening the list of studies, and choosing one
        hands.seconds += 2 * (POINT + KEY) + THINK
        hands.page.select_option("[name=study]", index=0)
    choose_examples(hands, files)
    for name, text in typed.items():
        hands.fill(name, text)
    slug = f"walk-{walk.replace(', ', '-').replace(' ', '-')}"
    hands.fill("slug", f"Walk {walk}")
    # The plan of another study has them, and with a study of one's own the form has.
    for name, text in TYPED.items() if not walk.startswith("f") else ():
        hands.fill(name, text)
    hands.click("button.go")
    hands.page.wait_for_url(f"**/{slug}/plan")
    check_and_open(hands)
    checked = hands.page.request.get(f"{hands.home}/studies/{slug}/check?question=1")
    assert shown in " ".join(checked.text().split())
    row = f"|{walk}|{hands.actions}|{hands.typed}|{hands.seconds / 60:.1f}|"
    assert row in EFFORT.read_text(), row


class Form:
    """The form of a new study, with what a researcher has typed into it so far."""

    def __init__(self, page):
        self.page, self.typed, self.kept = page, {}, {}

    def fill(self, **texts):
        self.typed |= texts
        for name, text in texts.items():
            self.page.locator(f"[name={name}]").fill(text)

    def choose(self, name, *files):
        self.kept[name] = [file.name for file in files]
        self.page.set_input_files(
            f"[name={name}]",
            [
                {"name": file.name, "mimeType": "text/plain", "buffer": file.text.encode()}
                for file in files
            ],
        )

    def is_refused(self, field, sentence):
        """Send the form: it comes back with an error of this field, and with all that it had."""
        self.page.get_by_role("button", name="Create the draft").click()
        expect(self.page.locator(f"#problems a[href='#{field}']")).to_be_visible()
        expect(self.page.locator(f"#{field}-error")).to_contain_text(sentence)
        for name, files in self.kept.items():
            expect(self.page.locator(f"#{name}-kept strong")).to_have_text(files)
        for name, text in self.typed.items():
            expect(self.page.locator(f"[name={name}]")).to_have_value(text)
        expect(self.page.locator("[name=start]")).to_have_value("runs")
        expect(self.page.get_by_label("Show pictures or texts")).to_be_checked()
        expect(self.page.locator("[name=language]")).to_have_value("el")


@pytest.mark.parametrize("scripts", [True, False])
def test_no_mistake_costs_the_files_that_were_chosen(browser, server, scripts):
    page = browser.new_context(java_script_enabled=scripts).new_page()
    slug = f"after-mistakes-{scripts}".lower()
    sign_in(page, server, f"Mistaken {scripts}")
    server.open_study(f"{slug}-taken")
    judgements, *runs = files_to_order()
    form = Form(page)
    page.goto(f"{server.address}/research/new?start=runs")
    page.get_by_label("Show pictures or texts").check()
    page.locator("[name=language]").select_option("el")
    form.fill(slug="MNRO", **TYPED)
    form.choose("judgements", judgements)
    form.choose("runs", *runs)
    form.fill(collection_size="a dozen")
    form.is_refused("judgements", "The files cannot be used; see below.")
    form.fill(collection_size="12")
    form.choose("judgements", runs[0])
    form.is_refused("judgements", "The files cannot be used; see below.")
    form.choose("judgements", judgements)
    form.is_refused("slug", "the name of a measure")
    form.fill(slug=f"{slug}-taken")
    form.is_refused("slug", "There is a study")
    form.fill(slug=slug)
    page.get_by_role("button", name="Create the draft").click()
    page.wait_for_url(f"**/{slug}/plan")
    expect(page.get_by_text("Go through its plan, then check its questions.")).to_be_visible()
    with server.app.app_context():
        plan = lifecycle.find_study(db.session, slug).plan
        db.session.remove()
    lists = plans.from_trec(judgements, runs, collection_size="12", missing_last=True)
    assert plan.own_lists == plans.as_fields(lists)["own_lists"]
    assert (plan.show_items, plan.language) == (True, "el")
    assert list(server.instance.glob("uploads/*/*")) == []
    page.context.close()
