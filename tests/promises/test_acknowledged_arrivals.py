"""Acknowledged means stored, exactly once: when a class starts, all at once."""

import asyncio
import ssl
import statistics
import time

import pytest

from tests.builders import SLUG
from tests.guides import proxies
from tests.promises.browsers import Arrivals, Line, in_own_loop, many_files
from tests.serving import Server, free_port

BROWSERS, RUNS = 300, 3
PATTERNS = {
    "page_then_assets": "the page, then its files over six connections",
    "page_beside_idle": "the page beside five connections that stay idle",
    "six_at_once": "the page and five files over six connections at once",
}
SILENT = 3_000


@pytest.fixture
def server(tmp_path, request):
    running = Server(tmp_path, free_port(), environment=getattr(request, "param", {}))
    running.open_study(SLUG, participants=10_000)
    running.start()
    yield running
    running.kill()


def last_page(server, pattern, browsers):
    """Return after how many seconds the last of the browsers that came at once had its page."""
    arrivals = Arrivals(server.port, f"/s/{SLUG}")
    with many_files(6 * browsers):
        arrivals.come(pattern, browsers)
    assert len(arrivals.seconds) == browsers
    return max(arrivals.seconds)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_class_gets_its_first_page_soon(server, pattern):
    assert last_page(server, pattern, 40) < 15  # beside other tests


@pytest.mark.trial
@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_last_of_300_browsers_has_its_page_within_two_seconds(server, pattern, measured):
    seconds = [last_page(server, pattern, BROWSERS) for _ in range(RUNS)]
    assert max(seconds) < 2, seconds
    measured(
        f"{BROWSERS} browsers opened {PATTERNS[pattern]}, without a proxy: the last page came "
        f"after {statistics.median(seconds):.2f} s (the worst of {RUNS} runs: "
        f"{max(seconds):.2f} s)."
    )


def wait_behind_silent(server, silent):
    """Return how long a visitor waits who comes while the last of silent connections are opened."""

    async def come():
        lines = [Line(server.port) for _ in range(silent + 1)]
        opening = [asyncio.create_task(line.open()) for line in lines[:-1]]
        await asyncio.gather(*opening[: silent - 100])  # the others are still opening
        began = time.monotonic()
        await lines[-1].open()
        await lines[-1].get(f"/s/{SLUG}")
        waited = time.monotonic() - began
        await asyncio.gather(*opening)
        for line in lines:
            line.close()
        return waited

    with many_files(silent):
        return in_own_loop(come())


@pytest.mark.trial
def test_the_visitor_after_3000_silent_ones_waits_less_than_half_a_second(server, measured):
    seconds = [wait_behind_silent(server, SILENT) for _ in range(RUNS)]
    assert max(seconds) < 0.5, seconds
    measured(
        f"While {SILENT:,} connections were opened that sent nothing, the next visitor had the "
        f"page after {statistics.median(seconds):.2f} s (the worst of {RUNS} runs: "
        f"{max(seconds):.2f} s)."
    )


@pytest.mark.slow
@pytest.mark.parametrize("server", [{"SURVEY_TRUSTED_PROXIES": "1"}], indirect=True)
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("kind", ["nginx", "caddy"])
def test_no_connection_of_300_browsers_breaks_behind_a_proxy_as_documented(
    server, tmp_path, kind, pattern, measured
):
    """Debian's own nginx.conf, with 768 connections for each process, breaks some."""
    proxies.require(kind)
    run = getattr(proxies, kind)
    with run(tmp_path, server.port) as proxy, many_files(6 * BROWSERS):
        tls = ssl.create_default_context(cafile=str(proxy.authority))
        arrivals = Arrivals(proxy.port, f"/s/{SLUG}", proxies.NAME, tls)
        arrivals.come(pattern, BROWSERS)  # a connection that breaks is raised
    assert len(arrivals.seconds) == BROWSERS
    measured(
        f"{BROWSERS} browsers opened {PATTERNS[pattern]}, by HTTPS through {kind} as documented: "
        f"of {6 * BROWSERS:,} connections 0 broke."
    )
