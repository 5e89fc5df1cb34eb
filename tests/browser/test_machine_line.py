"""The line for programs: people do not meet it; a program that fills in all fields is flagged."""

import re
from contextlib import contextmanager

import pytest

from survey.app import db
from survey.db.models import Participant
from tests.accessibility.test_names import name, tree_of
from tests.browser.engines import ENGINES
from tests.browser.test_participant import at, save, start, tick
from tests.browser.walks import MOST_TABS, Person
from tests.grouped import a_grouping_study
from tests.labelled import a_labelling_study
from tests.preferred import a_preference_study

pytestmark = pytest.mark.slow

WORDS = "For programs only; people leave this empty"
FIELD = "input[name=machine_line]"
# As a program does that knows nothing of pages: text into each field that takes some.
FILL_IN_ALL = """for (const field of document.querySelectorAll("input[type=text], textarea"))
    field.value = "A thoughtful answer.";"""
BOX = """const {width, height} = document.querySelector(arguments[0]).closest("p")
    .getBoundingClientRect(); return [width, height];"""


@contextmanager
def session_of(server):
    with server.app.app_context():
        yield db.session
        db.session.remove()


def was_filled_in(server, slug):
    with session_of(server) as session:
        people = session.query(Participant).join(Participant.study).filter_by(slug=slug)
        return [person.machine_line for person in people]


@pytest.fixture
def study(server, request):
    """Slug and link of a study with the line for programs."""
    slug = f"line-{abs(hash(request.node.nodeid))}"
    return slug, server.open_study(slug, questions=1, machine_line=True, personal_fields=[])


@pytest.fixture(scope="module", params=ENGINES)
def window(request, tmp_path_factory):
    with ENGINES[request.param](tmp_path_factory.mktemp(request.param)) as opened:
        yield opened


def someone(window, server, link, *, by_keys):
    window.open(f"{server.address}/healthz")
    window.send("cookie")
    person = Person(window, link, by_keys, "")
    person.come()
    return person


def test_keys_do_not_reach_it_and_zoom_does_not_show_it(window, server, study):
    slug, link = study
    person = someone(window, server, link, by_keys=True)
    window.run("document.activeElement.blur()")
    visited = []
    for _ in range(MOST_TABS):
        window.press("Tab")
        here = window.run("return document.activeElement.name || document.activeElement.tagName")
        visited.append(here)
        if here == "BODY" and len(visited) > 3:
            break
    assert "choice" in visited
    assert "machine_line" not in visited
    for zoom in ("1", "2", "4"):
        window.run("document.documentElement.style.zoom = arguments[0]", zoom)
        width, height = window.run(BOX, FIELD)
        assert max(width, height) <= 1.01 * float(zoom)
    window.open(f"{link}/q/1")  # Firefox has gone on to its own buttons
    person.use("[name=choice][value='2']")
    person.go_and_keep()
    person.finish()
    assert was_filled_in(server, slug) == [False]


def test_a_program_that_fills_in_all_is_flagged(window, server, study):
    slug, link = study
    person = someone(window, server, link, by_keys=False)
    window.run(FILL_IN_ALL)
    person.use("[name=choice][value='2']")
    person.go_and_keep()
    assert was_filled_in(server, slug) == [True]


def test_a_screen_reader_is_not_told_of_it(server, page, study):
    start(page, study[1])
    nodes = tree_of(page).values()
    spoken = [name(node) for node in nodes if not node.get("ignored")]
    assert not [words for words in spoken if "programs" in words]
    assert [words for words in spoken if words.startswith("Method 2")]


def test_print_does_not_show_it(server, page, study):
    start(page, study[1])
    page.emulate_media(media="print")
    box = page.locator(FIELD).locator("xpath=ancestor::p").bounding_box()
    assert max(box["width"], box["height"]) <= 1
    field = page.locator(FIELD)
    assert "clip-path" in field.evaluate(
        "one => { const {clipPath} = getComputedStyle(one.closest('p'));"
        " return clipPath === 'inset(50%)' ? 'clip-path' : clipPath; }"
    )


def test_without_styles_it_says_what_it_is_and_a_person_leaves_it_empty(server, page, study):
    slug, link = study
    page.route("**/*.css", lambda route: route.abort())
    start(page, link)
    assert page.get_by_text(WORDS).is_visible()
    tick(page, 1)
    save(page)
    at(page, "/review")
    assert was_filled_in(server, slug) == [False]


def test_without_scripts_it_stays_out_of_sight(server, browser, study):
    slug, link = study
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    start(page, link)
    box = page.locator(FIELD).locator("xpath=ancestor::p").bounding_box()
    assert max(box["width"], box["height"]) <= 1
    tick(page, 1)
    page.locator("button.go").first.click()
    at(page, "/review")
    context.close()
    assert was_filled_in(server, slug) == [False]


def test_a_browser_that_fills_in_forms_does_not_know_it(server, page, study):
    """Browsers go by an autofill token, else by words in name, id and label."""
    start(page, study[1])
    field = page.locator(FIELD)
    assert field.get_attribute("autocomplete") == "off"
    assert field.get_attribute("id") is None
    known = r"(?i)name|mail|phone|tel|address|street|city|zip|post|country|company|card|user|pass"
    assert not re.search(known, f"machine_line {WORDS}")
    beside = page.locator("input:not([type=hidden]):not([type=checkbox]):not([type=radio])")
    tokens = beside.evaluate_all("all => all.map((one) => one.autocomplete)")
    assert {*tokens} <= {"", "off"}  # a form of an address would be filled in as a whole


@pytest.mark.parametrize(
    "make",
    [a_labelling_study, a_grouping_study, a_preference_study],
    ids=["labelling", "grouping", "preference"],
)
def test_each_kind_has_it(server, page, make, request):
    slug = f"line-{request.node.callspec.id}"
    with session_of(server) as session:
        make(session, slug, machine_line=True)
    start(page, f"{server.address}/s/{slug}")
    box = page.locator(FIELD).locator("xpath=ancestor::p").bounding_box()
    assert max(box["width"], box["height"]) <= 1
    assert not [node for node in tree_of(page).values() if "programs" in name(node)]
    page.evaluate(FILL_IN_ALL)
    page.evaluate("document.querySelector('form[method=post]').requestSubmit()")
    page.wait_for_load_state("networkidle")
    assert was_filled_in(server, slug) == [True]
