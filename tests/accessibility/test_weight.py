"""What a page weighs on the wire, and that it is there without scripts."""

import re
from dataclasses import dataclass, field

import pytest

from tests.browser.test_participant import start

pytestmark = pytest.mark.slow

LIMIT = 90_000
HASHED = re.compile(r"/static/[\w.-]+\.[0-9a-f]{12}\.\w+$")


@dataclass
class Wire:
    """What came over the network for a tab: bytes of heads and bodies, by address."""

    bytes_of: dict[str, int] = field(default_factory=dict)
    heads: dict[str, dict[str, str]] = field(default_factory=dict)

    def watch(self, page):
        """Count from now on."""
        addresses = {}
        session = page.context.new_cdp_session(page)
        session.on("Network.responseReceived", lambda told: self._head(told, addresses))
        session.on("Network.loadingFinished", lambda told: self._body(told, addresses))
        session.send("Network.enable")
        return self

    def _head(self, told, addresses):
        answer = told["response"]
        if answer["url"].startswith("data:") or answer.get("fromDiskCache"):
            return
        addresses[told["requestId"]] = answer["url"]
        self.heads[answer["url"]] = answer["headers"]

    def _body(self, told, addresses):
        if told["requestId"] in addresses:
            address = addresses[told["requestId"]]
            self.bytes_of[address] = self.bytes_of.get(address, 0) + told["encodedDataLength"]

    @property
    def static(self):
        """The static files that came."""
        return {address for address in self.bytes_of if "/static/" in address}


def visited(page, address):
    """Open a page with an empty cache, and return what came."""
    wire = Wire().watch(page)
    page.goto(address, wait_until="networkidle")
    return wire


@pytest.mark.parametrize("language", ["en", "el"])
def test_the_first_page_is_light(page, server, language):
    wire = visited(page, server.open_study(f"light-{language}", language=language))
    assert 0 < sum(wire.bytes_of.values()) < LIMIT, wire.bytes_of
    assert all(address.startswith(server.address) for address in wire.bytes_of)


def test_a_question_is_light_even_for_whoever_comes_there_first(browser, page, link):
    start(page, link)
    cookies = page.context.cookies()
    fresh = browser.new_context()
    fresh.add_cookies(cookies)
    wire = visited(fresh.new_page(), f"{link}/q/1")
    assert 0 < sum(wire.bytes_of.values()) < LIMIT, wire.bytes_of
    fresh.close()


def test_static_files_come_once_under_the_name_of_their_content(context, page, link):
    wire = visited(page, link)
    assert len(wire.static) >= 2
    for address in wire.static:
        assert HASHED.search(address)
        kept = wire.heads[address].get("cache-control", wire.heads[address].get("Cache-Control"))
        assert kept == "public, max-age=31536000, immutable"
    again = visited(context.new_page(), link)
    assert again.static == set()
    assert sum(again.bytes_of.values()) < sum(wire.bytes_of.values())


def test_a_page_can_be_used_before_any_script_has_come(page, link):
    page.route("**/*.js", lambda route: route.abort())
    page.goto(link)
    page.locator("form[action*='/begin'] button").click()
    page.wait_for_url("**/consent")
