"""A real browser and a real server process, for every test that asks for them.

Chromium is looked for on the machine, its headless shell first, then Playwright's own download is
tried. With neither these tests are skipped, unless REQUIRE_BROWSER=1.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Playwright, sync_playwright

from tests.serving import Server, free_port

# The first has no windows, and takes a third less time than the whole browser without a window.
NAMES = (
    *("chromium-headless-shell", "chromium", "chromium-browser"),
    *("google-chrome", "google-chrome-stable", "chrome"),
)
QUIET = ["--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test with a browser, so that ``-m "not browser"`` leaves it out."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    """Playwright's driver."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A headless Chromium."""
    try:
        launched = launch(playwright)
    except Error as error:
        if os.environ.get("REQUIRE_BROWSER") == "1":
            raise
        pytest.skip(f"no Chromium on this machine, and none could be had: {error.message[:80]}")
    yield launched
    launched.close()


def launch(playwright: Playwright, *arguments: str) -> Browser:
    """Start the Chromium of this machine, or Playwright's own."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    return playwright.chromium.launch(executable_path=path, args=[*QUIET, *root, *arguments])


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running server."""
    running = Server(tmp_path_factory.mktemp("instance"), free_port())
    running.start()
    yield running
    running.kill()


@pytest.fixture
def link(server: Server, request: pytest.FixtureRequest) -> str:
    """The link of a fresh study of three questions."""
    return server.open_study(f"study-{abs(hash(request.node.nodeid))}")


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A laptop's browser."""
    made = browser.new_context(viewport={"width": 1280, "height": 800})
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A page that fails the test on any script error or forbidden content."""
    return watched(context.new_page())


def watched(page: Page) -> Page:
    """Collect what goes wrong on a page; see ``faults``."""
    page.faults = []  # type: ignore[attr-defined] # read by the tests
    page.on("pageerror", lambda error: page.faults.append(str(error)))  # type: ignore[attr-defined]
    page.on("console", lambda message: _note(page, message))
    return page


def _note(page: Page, message: Any) -> None:
    # Chromium reports every 4xx page as an error in the console; those are meant.
    if message.type == "error" and "the server responded with a status of 4" not in message.text:
        page.faults.append(message.text)  # type: ignore[attr-defined]
