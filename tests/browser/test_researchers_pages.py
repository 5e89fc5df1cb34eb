"""Researchers' pages in Chromium, Firefox and WebKit: a new study, help, mails, results."""

import time
import zipfile
from itertools import count, cycle
from pathlib import Path

import pytest

from survey.app import db
from survey.services import accounts, new_studies
from survey.services.studies import lifecycle, plans
from tests.browser.engines import ENGINES
from tests.browser.test_researcher import PASSWORD
from tests.browser.test_results import OF_OTHER_KINDS, close_one_of_each
from tests.browser.walks import Person, without_scripts
from tests.builders import a_plan
from tests.mail_server import mail_server
from tests.proxy import serving_below
from tests.serving import Server, free_port
from tests.voted import CLEAR, a_closed_study

pytestmark = pytest.mark.slow

OWNER = "Ada of the pages"
RUNS = ("alpha.txt", "beta.txt", "gamma.txt")
# An engine, and whether its person has a keyboard alone.
HANDS = [(engine, False) for engine in ENGINES] + [("firefox", True)]
SLUGS = ("first-ordering", *OF_OTHER_KINDS)
numbers = count(1)
kinds_in_turn = cycle(SLUGS)


@pytest.fixture(scope="module")
def mails():
    with mail_server() as started:
        yield started


@pytest.fixture(scope="module")
def server(tmp_path_factory, mails):
    """A server that sends mails, with an open study and a closed one of each kind."""
    port = free_port()
    environment = {
        "SURVEY_ADDRESS": f"http://127.0.0.1:{port}",
        "SURVEY_SMTP_HOST": mails.settings.host,
        "SURVEY_SMTP_PORT": str(mails.settings.port),
        "SURVEY_SMTP_FROM": mails.settings.sender,
        "SURVEY_SMTP_SECURITY": mails.settings.security,
    }
    running = Server(tmp_path_factory.mktemp("instance"), port, environment=environment)
    running.start()
    with running.app.app_context():
        ada, _ = accounts.add_researcher(db.session, OWNER)
        lifecycle.create_owned_study(db.session, ada, "opened", a_plan(), plans.Recruitment())
        lifecycle.open_study(db.session, lifecycle.find_study(db.session, "opened"))
        a_closed_study(db.session, ada, "first-ordering", CLEAR)
        close_one_of_each(running, ada)
        db.session.remove()
    yield running
    running.kill()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The example files, in a folder."""
    folder = tmp_path_factory.mktemp("files")
    for name in ("qrels.txt", *RUNS):
        (folder / name).write_bytes(new_studies.example_content(name))
    return folder


@pytest.fixture(scope="module", params=HANDS, ids=lambda hand: "-".join(map(str, hand)))
def person(request, server, tmp_path_factory):
    """A researcher who has signed in; ``how``: the folder of downloads."""
    engine, by_keys = request.param
    folder = tmp_path_factory.mktemp(engine)
    with ENGINES[engine](folder) as window:
        yield sign_in(Person(window, server.address, by_keys, str(folder)), server)


@pytest.fixture(autouse=True)
def laptop(person):
    """Begin each test with a laptop's window, whatever the last one left."""
    person.window.resize(1280)


REMINDER = "document.querySelectorAll('.letter')[1]"  # the usual one


def sign_in(person, server):
    """Set a password as one of the owners of the studies."""
    with server.app.app_context():
        someone, token = accounts.add_researcher(db.session, f"Ada {next(numbers)}")
        for slug in ("opened", *SLUGS):
            study = lifecycle.find_study(db.session, slug)
            accounts.share(db.session, study, someone, "owner")
        db.session.commit()
        db.session.remove()
    person.window.open(f"{server.address}/research/welcome/{token}")
    for name in ("password", "again"):
        person.type(f"[name={name}]", PASSWORD)
    person.go()
    assert person.window.run("return location.pathname") == "/research/"
    return person


def texts(person, selector):
    """The texts of the elements that are seen."""
    script = """return [...document.querySelectorAll(arguments[0])]
        .filter((one) => one.getClientRects().length).map((one) => one.innerText.trim())"""
    return person.window.run(script, selector)


def write(person, selector, text):
    """Type into a field in place of what it has."""
    person.type(selector, "")
    person.window.press_together("Control", "a")
    person.window.press(*text)


def choose(person, selector, *files):
    """Choose files in a field, to which someone without a pointer goes by keys."""
    if person.by_keys:
        person.reach(selector)
    person.window.choose(selector, *files)


def downloaded(person, name):
    """The file that the browser has downloaded, once it is whole."""
    path = Path(person.how, name)
    for _ in range(200):
        if path.exists() and zipfile.is_zipfile(path):
            return path
        time.sleep(0.05)
    raise AssertionError(f"{name} is not in {sorted(path.parent.iterdir())}")


def is_within(person):
    """Whether the page fits its window: nothing is scrolled sideways."""
    return person.window.run("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("scripts", [True, False])
def test_no_mistake_in_a_new_study_costs_its_files(person, server, files, scripts):
    slug = f"of-files-{next(numbers)}"
    with serving_below("", server.port, without_scripts) as unscripted:
        person.window.open(f"{server.address if scripts else unscripted}/research/new")
        person.go(".card a[href*='start=runs#']")
        choose(person, "#judgements", files / "qrels.txt")
        choose(person, "#runs", *(files / name for name in RUNS))
        if scripts:
            person.window.wait_until("document.querySelectorAll('.kept li').length === 4")
            assert texts(person, ".kept .wrong") == []
            assert "6 topics" in texts(person, "#judgements-kept")[0]
        write(person, "#slug", "MNRO")
        write(person, "#asked_by", "the group of X")
        assert_refused(person, "name of a measure", slug="MNRO", runs=[*RUNS])
        person.use("#runs-kept li:nth-child(3) input[type=checkbox]")
        if scripts:
            person.window.wait_until("document.activeElement.id === 'runs'")
            assert texts(person, "#runs-kept strong") == [*RUNS[:2]]
        write(person, "#slug", "opened")
        assert_refused(person, "There is a study", slug="opened", runs=[*RUNS[:2]])
        write(person, "#slug", slug)
        person.go("#begin .go")
        assert person.window.run("return location.pathname").endswith(f"/{slug}/plan")
    with server.app.app_context():
        plan = lifecycle.find_study(db.session, slug).plan
        db.session.remove()
    assert plan.asked_by == "the group of X"
    assert plan.provenance.runs == ("alpha", "beta")


def assert_refused(person, sentence, *, slug, runs):
    """Send the form: it comes back with an error of its address, and with all that it had."""
    person.go("#begin .go")
    assert person.window.run("return document.activeElement.id") == "problems"
    assert sentence in texts(person, "#slug-error")[0]
    assert texts(person, "#judgements-kept strong") == ["qrels.txt"]
    assert texts(person, "#runs-kept strong") == runs
    value = "return document.querySelector(arguments[0]).value"
    assert person.window.run(value, "#slug") == slug
    assert person.window.run(value, "#asked_by") == "the group of X"


def test_a_word_says_its_meaning_to_pointer_focus_and_touch(person, server):
    window, word = person.window, ".term:has(#term-bundle) > button"
    is_shown = "document.getElementById('term-bundle').checkVisibility()"
    window.open(f"{server.address}/research/studies/opened")
    assert not window.run(f"return {is_shown}")
    if person.by_keys:
        person.reach(word)
        window.wait_until(is_shown)
        window.press("Escape")
        window.wait_until(f"!{is_shown}")
        assert window.run("return document.activeElement.matches(arguments[0])", word)
        return
    window.hover(word)
    window.wait_until(is_shown)
    window.hover("#term-bundle")  # the pointer may go there to read
    assert window.run(f"return {is_shown}")
    window.press("Escape")
    window.wait_until(f"!{is_shown}")
    window.hover("h1")
    window.tap(word)
    window.wait_until(is_shown)
    window.resize(360)
    assert is_within(person)


def test_help_leads_from_a_page_to_its_section_and_from_a_section_to_others(person, server):
    window = person.window
    window.open(f"{server.address}/research/studies/opened/invite/mails")
    person.go(".top a[href*='/help']")
    window.wait_until("location.hash === '#invite'")
    assert 0 <= top_of(person, "#invite") < 100
    person.use(".contents li:last-child a")
    window.wait_until("location.hash !== '#invite'")
    assert (
        0
        <= window.run("return document.querySelector(location.hash).getBoundingClientRect().top")
        < 800
    )
    for width in (360, 768, 1280):
        window.resize(width)
        assert is_within(person)
    person.go(".top a[href$='/glossary']")
    assert texts(person, "h1") == ["Glossary"]


def top_of(person, selector):
    script = "return document.querySelector(arguments[0]).getBoundingClientRect().top"
    return person.window.run(script, selector)


def test_guests_are_written_to_and_their_page_says_so(person, server, mails, tmp_path):
    slug, window = f"mailed-{next(numbers)}", person.window
    addresses = [f"{name}@{slug}.example.org" for name in ("ann", "bob")]
    window.open(f"{server.address}/research/studies/opened")
    write(person, "#copy [name=slug]", slug)
    person.go("#copy form[action$='/copy'] button")
    with server.app.app_context():
        lifecycle.open_study(db.session, lifecycle.find_study(db.session, slug))
        db.session.remove()
    window.open(f"{server.address}/research/studies/{slug}/invite")
    guests = tmp_path / "guests.csv"
    guests.write_text("\n".join(["name,e-mail", *(f"{each[:3]},{each}" for each in addresses)]))
    choose(person, "#guests", guests)
    person.go("form[action$='/guests'] .way button")
    person.go("a[href$='/mails']")
    write(person, "#invitation", "Hello, no address")
    person.go("#texts .way button")
    assert "has no {link}" in texts(person, "#invitation-error")[0]
    value = "return document.getElementById('invitation').value"
    assert window.run(value) == "Hello, no address"
    write(person, "#invitation", "Hello {name}: {link}")
    person.go("#texts .way button")
    assert "Hello Ada Lovelace: http" in texts(person, "#preview")[0]
    # WebKit draws the line breaks of such a text, but its innerText has blanks in their place.
    assert "\n\n" in window.run(f"return {REMINDER}.textContent")
    assert window.run(f"return getComputedStyle({REMINDER}).whiteSpace") == "pre-line"
    person.use("#guests details summary")
    person.go("#guests details button")
    # Mails leave one after another, and the list asks for news every few seconds.
    window.wait_until("document.querySelectorAll('#live tbody time').length === 2", seconds=60)
    assert {each for each in mails.recipients if slug in each} == {*addresses}
    assert is_within(person)


def test_the_tab_of_a_page_is_in_view_on_a_phone(person, server):
    person.window.resize(360)
    person.window.open(f"{server.address}/research/studies/opened/people")
    tab = "document.querySelector('.sections [aria-current]').getBoundingClientRect()"
    person.window.wait_until(f"{tab}.left >= 0 && {tab}.right <= innerWidth")
    assert is_within(person)


@pytest.mark.parametrize("slug", SLUGS)
def test_results_unfold_and_are_copied(person, server, slug):
    window = person.window
    window.open(f"{server.address}/research/studies/{slug}/results?test=1")
    window.wait_until("document.querySelector('.answer img').naturalWidth")
    for shown in ("#answer", ".chip", ".rows", ".answer figcaption", "#for-a-paper .go"):
        bottom = "return document.querySelector(arguments[0]).getBoundingClientRect().bottom"
        assert window.run(bottom, shown) < 800, shown
    for number in range(1, len(texts(person, ".contents a")) + 1):
        link = f".contents li:nth-child({number}) a"
        person.use(link)
        target = window.run("return document.querySelector(arguments[0]).hash", link)
        seen = f"document.querySelector('{target}').checkVisibility()"
        window.wait_until(f"location.hash === '{target}' && {seen}")
    person.use(".copied summary")
    copied = texts(person, ".copied pre")[0]
    assert copied.startswith(texts(person, "#answer")[0])
    window.wait_until("document.querySelector('.copied [role=status]').innerText")


def test_files_for_a_paper_are_downloaded(person, server):
    slug = next(kinds_in_turn)  # drawing the files takes seconds, so each kind comes once
    person.window.open(f"{server.address}/research/studies/{slug}/results?test=1")
    person.use("#for-a-paper .go")
    status = "document.querySelector('#for-a-paper > [role=status]').innerText"
    person.window.wait_until(f"{status}.includes('Downloaded.')", seconds=120)
    with zipfile.ZipFile(downloaded(person, f"{slug}-paper.zip")) as packed:
        assert "report.html" in packed.namelist()
