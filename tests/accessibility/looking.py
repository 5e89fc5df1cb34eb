"""Looking at pages in a real browser: axe-core, and what it does not check."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Page

from tests.accessibility.sights import Sight
from tests.accessibility.structure import is_error

CHECKS = Path(__file__).with_name("checks.js").read_text()
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE = {
    "runOnly": {"type": "tag", "values": TAGS},
    "rules": {"target-size": {"enabled": True}},  # off by default in axe-core
    "resultTypes": ["violations"],
}
WIDTHS = (360, 768, 1280)
THEMES = ("light", "dark")
HEIGHT = 800


@dataclass(frozen=True)
class Fault:
    """Something wrong: ``rule`` is axe-core's, or the name of a check of our own."""

    rule: str
    where: str
    what: str
    is_from_axe: bool = False

    def __str__(self) -> str:
        return f"{self.rule} ({self.where}): {self.what}"


Look = tuple[int, str]
EVERY_LOOK: tuple[Look, ...] = tuple(product(WIDTHS, THEMES))


def two_looks(number: int) -> tuple[Look, Look]:
    """Two of the six looks, so that over some pages each width meets each theme."""
    first, second = number % 3, (number + 1) % 3
    return (WIDTHS[first], THEMES[number % 2]), (WIDTHS[second], THEMES[1 - number % 2])


def prepared(browser: Browser) -> BrowserContext:
    """A browser that has axe-core and our checks on every page."""
    context = browser.new_context(viewport={"width": 1280, "height": HEIGHT})
    context.add_init_script(AXE_SCRIPT)
    context.add_init_script(CHECKS)
    return context


def look(page: Page, sight: Sight, looks: Iterable[Look]) -> Iterator[Fault]:
    """Look at a page that is shown, in so many widths and themes, and judge it."""
    if is_error(sight):
        yield from _ask(page, "errors", "as it comes")
    for width, theme in looks:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type] # one of THEMES
        page.set_viewport_size({"width": width, "height": HEIGHT})
        where = f"{width} px, {theme}"
        yield from axe(page, where)
        for check in ("small", "smallAnswers", "faint", "unseen"):
            yield from _ask(page, check, where)
    yield from _in_little_room(page)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    yield from _ask(page, "moving", "reduced motion")
    page.emulate_media(reduced_motion="no-preference")


def _in_little_room(page: Page) -> Iterator[Fault]:
    """400 % zoom of 1280 px, and texts that readers have set wider."""
    for width, spread in ((320, False), (320, True), (1280, True)):
        page.set_viewport_size({"width": width, "height": 640})
        page.evaluate("on => checks.spread(on)", spread)
        where = f"{width} px{', wider text' if spread else ''}"
        for check in ("sideways", "cutOff"):
            yield from _ask(page, check, where)
    page.evaluate("checks.spread(false)")
    yield from _ask(page, "turned", "1280 px")


def axe(page: Page, where: str) -> Iterator[Fault]:
    """What axe-core finds: its rule, the element, and what it has to say."""
    for found in page.evaluate("options => axe.run(options)", AXE)["violations"]:
        for node in found["nodes"]:
            said = " ".join((node["failureSummary"] or found["help"]).split())
            what = f"{' '.join(map(str, node['target']))} {node['html'][:160]} {said}"
            yield Fault(found["id"], where, what, is_from_axe=True)


def _ask(page: Page, check: str, where: str) -> Iterator[Fault]:
    found: list[Any] = page.evaluate(f"checks.{check}()")
    yield from (Fault(check, where, what) for what in found)
