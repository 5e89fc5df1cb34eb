"""A real browser goes through everything, directly and behind a proxy below a prefix."""

import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from survey.db.models import StoredResponse
from tests.browser import test_participant as participant_way
from tests.browser import test_researcher as researcher_way
from tests.proxy import serving_below
from tests.serving import Server, free_port

pytestmark = pytest.mark.slow

PREFIX = "/study/x"
TELL = (
    "document.addEventListener('securitypolicyviolation', event =>"
    " console.error(`violation of ${event.violatedDirective}: ${event.blockedURI}`))"
)
DESK = ("new", "account", "planning", "import", "sign-in", "no-such-page")
SECTIONS = ("", "plan", "check", "invite", "progress", "results", "hand-out", "people", "lists")


@dataclass
class Reached:
    """A server, as it is reached from outside."""

    server: Server
    address: str

    @property
    def app(self):
        return self.server.app

    def count(self, model):
        return self.server.count(model)


@dataclass
class Watch:
    """What a browser loads, and what goes wrong in it."""

    address: str
    pages: int = 0
    files: set = field(default_factory=set)
    foreign: list = field(default_factory=list)
    faults: list = field(default_factory=list)

    def over(self, context):
        context.add_init_script(TELL)
        context.on("request", self.note_request)
        context.on("console", self.note_message)
        context.on("weberror", lambda error: self.faults.append(str(error.error)))

    def note_request(self, request):
        self.pages += request.resource_type == "document"
        url = urlsplit(request.url)
        if url.scheme in ("data", "blob"):  # made by the page itself
            return
        self.files.add(url.path)
        if not f"{request.url}/".startswith(f"{self.address}/"):
            self.foreign.append(request.url)

    def note_message(self, message):
        # Chromium reports every 4xx page as an error; those are meant.
        if message.type == "error" and "responded with a status of 4" not in message.text:
            self.faults.append(message.text)


@pytest.fixture(params=["", PREFIX], ids=["directly", "below a prefix"])
def reached(request, tmp_path):
    """A running server, with or without a proxy in front."""
    settings = {"SURVEY_TRUSTED_PROXIES": "1"} if request.param else {}
    server = Server(tmp_path, free_port(), environment=settings)
    server.start()
    try:
        if request.param:
            with serving_below(request.param, server.port) as address:
                yield Reached(server, address)
        else:
            yield Reached(server, server.address)
    finally:
        server.kill()


@pytest.fixture
def watch(context, reached):
    made = Watch(reached.address)
    made.over(context)
    return made


def where(reached):
    return f"below {PREFIX}, behind a proxy" if reached.address.endswith(PREFIX) else "directly"


def nothing_wrong(watch):
    assert watch.faults == []
    assert watch.foreign == []
    linked = [path for path in watch.files if "/static/" in path]
    assert linked
    hashed = re.compile(r"\.[0-9a-f]{12}\.[a-z]+$")
    assert [path for path in linked if not hashed.search(path)] == []


@pytest.mark.trial
def test_a_participants_browser_has_nothing_to_report(page, context, reached, watch, measured):
    reached.server.open_study("whole")
    link = f"{reached.address}/s/whole"
    participant_way.prepare(page, link)
    participant_way.leave_practice(page)
    participant_way.tap(page, "A")
    participant_way.save(page)
    expect(page.locator(".problems")).to_contain_text("Your own ordering is not complete")
    participant_way.place(page, "12345")
    participant_way.keep_order(page)
    participant_way.at(page, "/q/2")
    reached.server.kill()
    reached.server.start()
    participant_way.tick(page, 1)
    page.get_by_role("button", name="Back").click()
    participant_way.at(page, "/q/1")
    expect(page.locator("#echo")).to_contain_text("A first; B second")
    participant_way.save(page)
    participant_way.at(page, "/q/3")
    participant_way.tick(page, 2)
    participant_way.save(page)
    participant_way.at(page, "/review")
    page.get_by_role("button", name="Hand in my answers").click()
    participant_way.at(page, "/done")
    expect(page.locator(".receipt")).to_be_visible()
    page.goto(f"{link}/no-such-page")
    page.goto(link)
    nothing_wrong(watch)
    assert {one["path"] for one in context.cookies()} == {urlsplit(reached.address).path or "/"}
    assert reached.count(StoredResponse) >= 3
    measured(
        f"A whole study {where(reached)}, the server killed and started again on the way: "
        f"{watch.pages} pages, 0 policy violations, 0 console errors, 0 foreign requests."
    )


@pytest.mark.trial
def test_a_researchers_browser_has_nothing_to_report(page, context, reached, watch, measured):
    researcher_way.test_from_the_first_start_to_a_bundle_that_replicates(page, reached)
    for path in DESK:
        page.goto(f"{reached.address}/research/{path}")
    for section in SECTIONS:
        page.goto(f"{reached.address}/research/studies/browser-study/{section}".rstrip("/"))
        page.wait_for_load_state()
    page.goto(f"{reached.address}/research/account")
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.wait_for_url("**/research/sign-in")
    page.goto(f"{reached.address}/research/studies/browser-study/people")
    page.get_by_label("Name").fill("Ada Lovelace")
    page.get_by_label("Password").fill(researcher_way.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/research/studies/browser-study/people")
    nothing_wrong(watch)
    path = urlsplit(reached.address).path
    assert {one["path"] for one in context.cookies()} == {path or "/", f"{path}/research"}
    measured(
        f"A researcher from the first password to a bundle, {where(reached)}: "
        f"{watch.pages} pages, 0 policy violations, 0 console errors, 0 foreign requests."
    )


@pytest.mark.parametrize("reached", [""], ids=["directly"], indirect=True)
def test_a_violation_would_be_seen(page, reached, watch):
    page.goto(reached.address)
    page.evaluate(
        "() => { const made = document.createElement('script');"
        " made.textContent = 'window.ran = true'; document.body.append(made);"
        " document.body.setAttribute('style', 'color: red');"
        " const image = new Image(); image.src = 'http://localhost:9/x.png'; }"
    )
    page.wait_for_timeout(200)
    assert page.evaluate("window.ran") is None
    told = " ".join(watch.faults)
    for directive in ("script-src-elem", "style-src-attr", "img-src"):
        assert f"violation of {directive}" in told
