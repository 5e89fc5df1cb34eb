"""Every kind of question in one engine: by the pointer alone, by keys alone, without scripts, and
as a browser of 2021. What the bundle holds in the end is what was done.
"""

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from bs4 import BeautifulSoup
from sqlalchemy import select

from survey.app import db
from survey.db.models import Presentation
from survey.kinds.ordering.models import StoredOrderingAnswer
from survey.services.collections import items
from survey.services.exchange.bundle import stream_bundle
from survey.services.studies import lifecycle
from tests.browser.engines import ENGINES, Window
from tests.browser.test_old_browsers import TAKEN_AWAY
from tests.builders import Visitor, an_open_study
from tests.grouped import SECOND_TOPIC, a_grouping_study
from tests.labelled import a_labelling_study
from tests.preferred import a_preference_study
from tests.proxy import serving_below
from tests.serving import OverHttp

WIDTHS = (360, 1280)
# How a person answers, and what their browser runs.
HANDS = ("pointer", "keys", "no-scripts", "2021")
MOST_TABS = 150


def without_scripts(kind, content):
    """A page as a browser that runs no scripts reads it."""
    if kind != "text/html":
        return content
    page = BeautifulSoup(content, "html.parser")
    for script in page.select("script"):
        script.extract()
    return str(page).encode()


def as_in_2021(kind, content):
    """A script in a browser that has nothing younger."""
    # The driver of Chromium runs on the page, and uses this itself.
    taken_away = TAKEN_AWAY.replace('"hasOwn", ', "")
    return taken_away.encode() + content if "javascript" in kind else content


CHANGES = {"no-scripts": without_scripts, "2021": as_in_2021}


@dataclass
class Person:
    """Somebody who takes part in a window, with one hand: ``keys`` alone or the pointer alone."""

    window: Window
    address: str
    by_keys: bool
    how: str

    @property
    def path(self):
        return self.window.run("return location.pathname").partition("/s/")[2].partition("/")[2]

    def has(self, selector):
        return self.window.run("return document.querySelector(arguments[0]) !== null", selector)

    def sees(self, selector):
        return self.window.run(
            "const one = document.querySelector(arguments[0]);"
            "return Boolean(one && one.getClientRects().length)",
            selector,
        )

    def use(self, selector):
        """Press a control, with the hand that this person has."""
        if not self.by_keys:
            self.window.click(selector)
            return
        self.reach(selector)
        is_link_or_button = "return document.activeElement.matches('a, button, summary')"
        if self.window.run(is_link_or_button):
            self.window.press("Enter")
        elif not self.window.run("return document.activeElement.checked"):
            self.window.press(" ")

    def reach(self, selector):
        """Go to a control by the Tab key, back with Shift, and in a group of radios by arrows."""
        script = """const now = document.activeElement;
            const wanted = document.querySelector(arguments[0]);
            const isBefore = Node.DOCUMENT_POSITION_PRECEDING & now.compareDocumentPosition(wanted);
            const isGroup = now.type === "radio" && wanted.type === "radio"
                && now.name === wanted.name;
            return now === wanted ? [] : isGroup ? [isBefore ? "ArrowUp" : "ArrowDown"]
                : isBefore ? ["Shift", "Tab"] : ["Tab"];"""
        assert self.has(selector), f"{selector} is not at {self.path}"
        for _ in range(MOST_TABS):
            keys = self.window.run(script, selector)
            if not keys:
                return
            self.window.press_together(*keys)
        raise AssertionError(f"{selector} cannot be reached by keys at {self.path}")

    def type(self, selector, text):
        """Go to a field, and type into it: the keys of a phone are on its screen."""
        if self.by_keys:
            self.reach(selector)
        else:
            self.window.click(selector)
        self.window.press(*text)

    def go(self, selector="button.go:not(.hidden)"):
        """Press what leads on, and wait for the next page; "asked" where the page asks back."""
        self.window.run("document.documentElement.dataset.left = ''")
        self.use(selector)
        self.window.wait_until(
            "document.readyState === 'complete' && ("
            "!('left' in document.documentElement.dataset) || document.querySelector('.asks'))"
        )

    def go_and_keep(self, selector="button.go:not(.hidden)"):
        """Press what leads on, and keep the answer where the page asks back about it."""
        self.go(selector)
        if self.has(".asks"):
            self.window.run("document.querySelector('.asks').classList.add('seen')")
            self.window.run("document.documentElement.dataset.left = ''")
            self.use(".asks [name=go], .asks [name=settle]")
            self.window.wait_until(
                "document.readyState === 'complete'"
                " && !('left' in document.documentElement.dataset)"
            )

    def come(self):
        """From the link to the first question, by everything that precedes it."""
        self.window.open(self.address)
        for _ in range(20):
            if re.fullmatch(r"q/\d+", self.path):
                return
            if self.has("#agree"):
                self.use("#agree")
            if self.has("#age"):
                self.type("#age", "23")
            if self.has("#check"):
                self.go("#check [value='1']")
            else:
                self.go()
        raise AssertionError(f"no question after {self.path}")

    def finish(self):
        """Hand in, from the review to the last page."""
        self.window.wait_until("location.pathname.endsWith('/review')")
        self.go()
        self.window.wait_until("location.pathname.endsWith('/done')")


def orderings(person):
    """Vote for a method; give an order of one's own."""
    person.use("[name=choice][value='2']")
    person.go_and_keep()
    if person.has("#pad") and person.sees("#pad"):
        for letter in "DACB":
            person.use(f"[data-letter={letter}]")
    else:
        for letter, place in zip("DACBE", "12345", strict=True):
            person.reach(f"#rank-{letter}")
            person.window.press(place)
    person.go_and_keep()
    return [["2", ""], ["", "D>A>C>B>E"]]


def preferences(person):
    """Prefer the second list, by far, then both."""
    person.use("[name=preferred][value=right]")
    person.use("[name=strength][value='3']")
    person.use("[name=satisfaction_left][value='2']")
    person.use("[name=satisfaction_right][value='4']")
    person.go_and_keep()
    person.use("[name=preferred][value=equal]")
    person.use("[name=satisfaction_left][value='3']")
    person.use("[name=satisfaction_right][value='3']")
    person.go_and_keep()
    return [["right", "3", "2", "4"], ["equal", "", "3", "3"]]


def labels(person):
    """Mark two pictures of the first page and none of the second."""
    marked = ["#tiles .tile:nth-child(1) input", "#tiles .tile:nth-child(3) input"]
    for tile in marked:
        person.use(tile)
    documents = [picture_in(person, tile) for tile in marked]
    person.window.wait_until(SAVED)
    for way in ("next", "done"):
        person.go_and_keep(f".way [value={way}]")
    review = person.window.run("return document.querySelector('.review').innerText")
    return documents, int(re.search(r"(\d+) of \d+ seen", review)[1])


def groups(person):
    """Put the tiles of one colour into a group, and the others into another one."""
    tiles = {f"#tiles .tile:nth-child({number}) input": number for number in range(1, 7)}
    pictures = {tile: picture_in(person, tile) for tile in tiles}
    named = {}
    for name, members in (("near", [*tiles][:2]), ("far", [*tiles][2:])):
        for tile in members:
            person.use(tile)
            named[pictures[tile]] = name
        if person.sees("#new"):
            person.use("#new")
        person.type("#group", name)
        person.use("button[value=new]")
        listed = f"document.querySelector('#groups').textContent.includes('{name}')"
        person.window.wait_until(f"({SAVED}) && {listed}")
        person.window.wait_until("!document.querySelector('#tiles input:checked')")
    person.go_and_keep("#buttons button[value=done]")
    return named


SAVED = """document.readyState === "complete" && !document.querySelector(".pending")
    && document.querySelector("#saved").textContent.endsWith("saved")
"""


def picture_in(person, tile):
    """The name of a tile's picture."""
    return person.window.run(
        "const tile = document.querySelector(arguments[0]).closest('.tile');"
        "return tile.querySelector('img').src.split('/').pop().replace('.webp', '')",
        tile,
    )


def bundled(server, slug, name):
    """The rows of a file of the study's bundle, in the order in which they were saved."""
    with server.app.app_context():
        study = lifecycle.find_study(db.session, slug)
        bundle = io.BytesIO(b"".join(stream_bundle(db.session, study)))
        db.session.remove()
    with zipfile.ZipFile(bundle) as files:
        rows = [*csv.DictReader(io.StringIO(files.read(name).decode()))]
    return sorted(rows, key=lambda row: row.get("submitted_at", ""))


def documents_of(server, slug):
    """The documents, by the names of their pictures."""
    with server.app.app_context():
        shown = items.shown(db.session, lifecycle.find_study(db.session, slug)).documents
        db.session.remove()
    return {name: document for document, (name, _) in shown.items()}


@pytest.fixture(scope="module")
def window(engine, tmp_path_factory) -> Iterator[Window]:
    """A window of the module's engine."""
    with ENGINES[engine](tmp_path_factory.mktemp(engine)) as opened:
        yield opened


@pytest.fixture(scope="module")
def addresses(server) -> Iterator[dict[str, str]]:
    """Where the survey is served, by hand: as it is, without scripts, to a browser of 2021."""
    with ExitStack() as stack:
        changed = {
            hand: stack.enter_context(serving_below("", server.port, change))
            for hand, change in CHANGES.items()
        }
        yield {hand: changed.get(hand, server.address) for hand in HANDS}


@pytest.fixture(params=WIDTHS, ids=lambda width: f"{width}px")
def width(request, window):
    window.resize(request.param)
    return request.param


@pytest.fixture(params=HANDS)
def person(request, window, width, addresses, server):
    """Somebody at the first page of a study that the test names."""
    window.open(f"{server.address}/healthz")
    window.send("cookie")
    by_keys = request.param in ("keys", "no-scripts")
    return Person(window, addresses[request.param], by_keys, f"{request.param}-{width}")


def an_address(server, engine, person, kind, make, **changes):
    """Open a study of a kind for this walk alone; let the person come."""
    slug = f"{kind}-{engine}-{person.how}"
    with server.app.app_context():
        make(db.session, slug, **changes)
        db.session.remove()
    person.address = f"{person.address}/s/{slug}"
    person.come()
    return slug


def test_orderings_are_what_was_done(server, engine, person):
    slug = an_address(server, engine, person, "ordering", an_open_study, questions=2)
    done = orderings(person)
    person.finish()
    rows = bundled(server, slug, "responses.csv")
    assert [[row["clicked"], row["custom_ranking"]] for row in rows] == done


def test_preferences_are_what_was_done(server, engine, person):
    asking = {"ask_strength": True, "ask_satisfaction": True, "questions": 2}
    slug = an_address(server, engine, person, "preference", a_preference_study, **asking)
    done = preferences(person)
    person.finish()
    columns = ("preferred", "strength", "satisfaction_left", "satisfaction_right")
    rows = bundled(server, slug, "preferences.csv")
    assert [[row[name] for name in columns] for row in rows] == done


def test_labels_are_what_was_done(server, engine, person):
    making = {"topics": ["word"]}
    slug = an_address(server, engine, person, "labelling", a_labelling_study, **making)
    marked, looked_at = labels(person)
    person.finish()
    names = documents_of(server, slug)
    rows = bundled(server, slug, "labels.csv")
    found = {row["document"] for row in rows if row["grade"] == "1"}
    assert found == {names[picture] for picture in marked}
    assert len([row for row in rows if row["grade"]]) == looked_at


def test_groups_are_what_was_done(server, engine, person):
    making = {"topics": {"7": SECOND_TOPIC}}
    slug = an_address(server, engine, person, "grouping", a_grouping_study, **making)
    done = groups(person)
    person.finish()
    names = documents_of(server, slug)
    rows = bundled(server, slug, "groups.csv")
    assert {row["document"]: row["group"] for row in rows} == {
        names[picture]: name for picture, name in done.items()
    }


def start(window, link):
    """Open question 1 as a participant who has come as far."""
    address, slug = link.split("/s/")
    visitor = Visitor(OverHttp(address), slug)
    visitor.go("/q/1")
    window.open(f"{address}/healthz")
    for cookie in visitor.client.browser.cookies:
        window.send("cookie", cookie={"name": cookie.name, "value": cookie.value, "path": "/"})
    window.open(f"{link}/q/1")


def places(window):
    """The place of each letter, as it is sent."""
    return window.run(
        "return Object.fromEntries([...document.querySelectorAll('[name^=rank-]')]"
        ".map((select) => [select.name.slice(-1), select.value]))"
    )


def stored_orders(server):
    with server.app.app_context():
        orders = list(db.session.scalars(select(StoredOrderingAnswer.own)))
        db.session.remove()
    return [str(order) for order in orders]


def refusals(server):
    """How often the form of the newest participant's question was refused."""
    with server.app.app_context():
        newest = select(Presentation.refusals).order_by(Presentation.id.desc())
        number = db.session.scalars(newest).first()
        db.session.remove()
    return number


def test_letters_are_pressed_and_the_order_is_stored(server, engine, window):
    link = server.open_study(f"letters-{engine}", practice=False, questions=1)
    start(window, link)
    for letter in "DACB":
        window.click(f"[data-letter={letter}]")
    assert places(window) == {"D": "1", "A": "2", "C": "3", "B": "4", "E": "5"}
    window.click("#undo")
    assert places(window) == {"D": "1", "A": "2", "C": "3", "B": "", "E": ""}
    window.click("#equal")
    window.click("[data-letter=E]")
    assert places(window) == {"D": "1", "A": "2", "C": "3", "E": "3", "B": "5"}
    window.click("button.go")
    window.wait_until("location.pathname.endsWith('/review')")
    assert stored_orders(server)[-1] == "D>A>C=E>B"


def test_a_refused_form_is_sent_once_and_its_page_works(server, engine, window):
    link = server.open_study(f"refused-{engine}", practice=False, questions=1)
    start(window, link)
    window.click("[data-letter=D]")
    entries = window.run("return history.length")
    window.click("button.go")
    window.wait_until("document.activeElement.id === 'problems'")
    assert refusals(server) == 1
    for letter in "ACB":
        window.click(f"[data-letter={letter}]")
    assert places(window) == {"D": "1", "A": "2", "C": "3", "B": "4", "E": "5"}
    assert window.run("return history.length") == entries
    window.click("button.go")
    window.wait_until("location.pathname.endsWith('/review')")
    assert refusals(server) == 0
    assert stored_orders(server)[-1] == "D>A>C>B>E"


@pytest.mark.parametrize("kind", ["ordering", "preference", "labelling", "grouping"])
def test_enter_in_what_was_chosen_leads_on_and_not_back(server, engine, window, kind):
    makers = {"ordering": an_open_study, "preference": a_preference_study}
    makers |= {"labelling": a_labelling_study, "grouping": a_grouping_study}
    slug = f"enter-{kind}-{engine}"
    with server.app.app_context():
        makers[kind](db.session, slug)
        db.session.remove()
    start(window, f"{server.address}/s/{slug}")
    person = Person(window, "", by_keys=True, how="")
    person.use("[name=choice], [name=preferred], .tiles input")
    person.window.press("Enter")
    # The page asks first about tiles that were not in view.
    after = {
        "labelling": "document.querySelector('.asks') || document.body.innerText.includes('Page 2')"
    }
    asked = "document.querySelector('.asks')"  # nothing is placed yet
    led_on = "location.pathname.endsWith('/q/2')"
    window.wait_until(after.get(kind, asked if kind == "grouping" else led_on))
