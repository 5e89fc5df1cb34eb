"""From the sign-in to an open study by browser alone, with the clicks and the typing counted."""

from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from benchmarks.effort import Hands
from survey.app import db
from survey.services.studies import lifecycle, plans
from tests.browser.test_researcher import PASSWORD, sign_in
from tests.preferred import RUNS, a_qrels, a_run

pytestmark = pytest.mark.slow

# Seconds, of the keystroke-level model of Card, Moran and Newell: a key or a click, pointing,
# making up one's mind, moving the hand between mouse and keyboard.
KEY, POINT, THINK, HOME = 0.28, 1.1, 1.35, 0.4
THREE_MINUTES = 180


@dataclass
class Researcher(Hands):
    """A researcher at a page; ``seconds``: what the keystroke-level model gives so far."""

    typed: int = 0
    seconds: float = 0

    def click(self, selector):
        self.seconds += THINK + POINT + KEY
        super().click(selector)

    def fill(self, name, text):
        """Click into a field and type."""
        self.click(f"[name={name}]")
        self.typed += 1
        self.seconds += 2 * HOME + THINK + KEY * len(text)
        self.page.locator(f"[name={name}]").fill(text)

    def choose_files(self, name, *files):
        """Choose files in the window that the browser opens: each, and its button "Open"."""
        self.click(f"[name={name}]")
        self.actions += len(files) + 1
        self.seconds += THINK + (len(files) + 1) * (POINT + KEY)
        payloads = [
            {"name": file.name, "mimeType": "text/plain", "buffer": file.text.encode()}
            for file in files
        ]
        self.page.set_input_files(f"[name={name}]", payloads)


@pytest.fixture
def researcher(page, server, request):
    """Somebody with an account, who signs in and asks for a new study."""
    name = f"Mary Cartwright {len(request.node.name)}"
    sign_in(page, server, name)
    page.context.clear_cookies()
    page.goto(f"{server.address}/research/sign-in")
    hands = Researcher(page)
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


def say_who_asks(hands, slug):
    hands.fill("slug", slug)
    hands.fill("asked_by", "the retrieval group of X")
    hands.fill("contact", "someone@example.org")
    hands.click("button.go")
    hands.page.wait_for_url("**/plan")


def open_it(hands):
    hands.click(".sections a:text-is('Overview')")
    hands.click("a.go[href$='/open']")
    hands.click("button.go")
    expect(hands.page.get_by_text("The study is open. Invite people.")).to_be_visible()


def test_the_paper_is_replicated_after_a_look_at_each_step_in_less_than_three_minutes(researcher):
    say_who_asks(researcher, "paper-again")
    for step in ("how", "who", "texts"):
        researcher.click(".way .go")
        researcher.page.wait_for_url(f"**/plan?step={step}")
    researcher.click(".way .go")
    researcher.page.wait_for_url("**/check")
    open_it(researcher)
    assert (researcher.actions, researcher.typed) == (15, 5)
    assert researcher.seconds < THREE_MINUTES / 2


def test_two_runs_are_compared_in_less_than_three_minutes(researcher):
    researcher.click("[value=preference]")
    researcher.choose_files("judgements", a_qrels())
    researcher.choose_files("runs", *map(a_run, RUNS))
    researcher.fill("collection_size", "12")
    say_who_asks(researcher, "which-run")
    open_it(researcher)
    assert (researcher.actions, researcher.typed) == (20, 6)
    assert researcher.seconds < THREE_MINUTES / 2


def test_lists_of_runs_are_ordered_in_less_than_three_minutes(researcher):
    files = files_to_order()
    researcher.click("[value=runs]")
    researcher.choose_files("judgements", files[0])
    researcher.choose_files("runs", *files[1:])
    researcher.fill("collection_size", "12")
    say_who_asks(researcher, "own-runs")
    expect(researcher.page.get_by_text("questions of your own")).to_be_visible()
    open_it(researcher)
    assert (researcher.actions, researcher.typed) == (20, 6)
    assert researcher.seconds < THREE_MINUTES / 2


TYPED = {"asked_by": "the retrieval group of X", "contact": "someone@example.org"}


class Form:
    """The form of a new study, with what a researcher has typed into it so far."""

    def __init__(self, page):
        self.page, self.typed, self.kept = page, {}, {}

    def fill(self, **texts):
        self.typed |= texts
        for name, text in texts.items():
            self.page.locator(f"[name={name}]").fill(text)

    def choose(self, name, *files):
        self.kept[name] = ", ".join(file.name for file in files)
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
            expect(self.page.locator(f"#{name}-kept")).to_contain_text(f"{files}: kept. Choose")
        for name, text in self.typed.items():
            expect(self.page.locator(f"[name={name}]")).to_have_value(text)
        expect(self.page.locator("[value=runs]")).to_be_checked()
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
    page.goto(f"{server.address}/research/new")
    page.locator("[value=runs]").check()
    page.get_by_label("Show pictures or texts").check()
    page.locator("[name=language]").select_option("el")
    form.fill(slug="After mistakes", **TYPED)
    form.choose("judgements", judgements)
    form.choose("runs", *runs)
    form.is_refused("collection_size", "the number of documents is needed")
    form.fill(collection_size="12")
    form.choose("judgements", runs[0])
    form.is_refused("judgements", "The files cannot be used; see below.")
    form.choose("judgements", judgements)
    form.choose("runs", runs[0], runs[0])
    form.is_refused("judgements", "The files cannot be used; see below.")
    form.choose("runs", *runs)
    form.is_refused("slug", "cannot be the address of a study")
    form.fill(slug=f"{slug}-taken")
    form.is_refused("slug", "There is a study")
    form.fill(slug=slug)
    page.get_by_role("button", name="Create the draft").click()
    page.wait_for_url(f"**/{slug}/plan")
    expect(page.get_by_text("The draft is created. Go through its plan")).to_be_visible()
    with server.app.app_context():
        plan = lifecycle.find_study(db.session, slug).plan
        db.session.remove()
    lists = plans.from_trec(judgements, runs, collection_size="12", missing_last=True)
    assert plan.own_lists == plans.as_fields(lists)["own_lists"]
    assert (plan.show_items, plan.language) == (True, "el")
    assert list(server.instance.glob("uploads/*/*")) == []
    page.context.close()
