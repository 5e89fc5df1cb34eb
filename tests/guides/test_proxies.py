"""The guides' proxies serve a real survey by HTTPS, and do what the guides say of them."""

import re
import ssl
import sys

import pytest

from tests.builders import SLUG, Visitor
from tests.guides import proxies
from tests.guides.https import Browser, Bytes
from tests.guides.proxies import SOMEBODY, require, skip_unless_required
from tests.serving import Server, free_port

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def behind(tmp_path_factory):
    """A survey with one process, told that a proxy stands before it."""
    trusting = {"SURVEY_TRUSTED_PROXIES": "1"}
    folder = tmp_path_factory.mktemp("behind")
    server = Server(folder, free_port(), environment=trusting, workers=1)
    server.start()
    server.open_study(SLUG)
    yield server
    server.kill()


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def kind(request):
    """Each proxy in turn; one that is not installed is left out, but not in CI."""
    if sys.platform != "linux":
        skip_unless_required("other systems have only one address of their own to come from")
    require(request.param)
    return getattr(proxies, request.param)


@pytest.fixture(scope="module")
def proxy(kind, behind, tmp_path_factory):
    """The proxy before the survey."""
    with kind(tmp_path_factory.mktemp("proxy"), behind.port) as running:
        yield running


def test_a_participant_goes_all_the_way(proxy):
    visitor = Visitor(Browser(proxy), SLUG)
    visitor.take_part()
    assert visitor.path == "/done"


def test_a_participant_arrives_by_https_and_gets_a_cookie_for_https_only(proxy):
    page = Bytes(proxy).get(f"/s/{SLUG}")
    assert page.startswith("HTTP/1.1 200")
    assert "Ordering search results" in page
    assert re.search(r"(?i)^set-cookie: survey-[0-9a-f]+=[^\r]*; Secure", page, re.MULTILINE)
    assert re.search(r"(?i)^strict-transport-security:", page, re.MULTILINE)


def test_links_carry_the_name_that_people_typed_whatever_a_client_claims(proxy):
    forged = ("X-Forwarded-Host: evil.example", "X-Forwarded-Proto: http")
    answer = Bytes(proxy).get("/research", *forged, "X-Forwarded-Prefix: /evil")
    assert re.search(rf"(?i)^location: {proxy.address}/research/\r$", answer, re.MULTILINE)
    assert "evil" not in answer


def test_another_name_than_the_surveys_gets_no_page(proxy):
    with pytest.raises(ssl.SSLError):
        Bytes(proxy, "other.example.org")
    stranger = Bytes(proxy)
    stranger.host = "other.example.org"
    assert "Ordering search results" not in stranger.get(f"/s/{SLUG}")


def test_a_form_that_dawdles_holds_no_worker(proxy):
    dawdling = Bytes(proxy)
    dawdling.send(f"POST /s/{SLUG}/begin HTTP/1.1\nHost: {dawdling.host}\nConnection: close\n")
    dawdling.send("Content-Type: application/x-www-form-urlencoded\nContent-Length: 20000\n\nx=1")
    # The only worker answers others meanwhile.
    for _ in range(3):
        assert Bytes(proxy).get(f"/s/{SLUG}").startswith("HTTP/1.1 200")
    dawdling.send("&" * 19_997)
    assert dawdling.receive().startswith("HTTP/1.1 4")


def test_nothing_is_kept_of_who_asked(proxy, kind, tmp_path):
    assert Bytes(proxy).get(f"/s/{SLUG}").startswith("HTTP/1.1 200")
    assert SOMEBODY.encode() not in all_kept_by(proxy)
    with kind(tmp_path, free_port()) as before_nothing:
        assert Bytes(before_nothing).get(f"/s/{SLUG}").startswith("HTTP/1.1 502")
    assert SOMEBODY.encode() not in all_kept_by(before_nothing)


def all_kept_by(proxy):
    return b"".join(file.read_bytes() for file in proxy.folder.rglob("*") if file.is_file())
