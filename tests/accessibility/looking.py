"""Looking at pages in a real browser: axe-core, and what it does not check."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, BrowserContext, Page

from tests.accessibility.sights import Fault, Sight, is_error

CHECKS = Path(__file__).with_name("checks.js").read_text()
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE = {
    "runOnly": {"type": "tag", "values": TAGS},
    "rules": {"target-size": {"enabled": True}},  # off by default in axe-core
    "resultTypes": ["violations"],
}
# A colour that is still changing to the theme's is neither seen nor meant.
# And what a script sets by the size of the window is set a frame later.
FINISH_MOTION = """async () => {
  for (const _ of [1, 2]) await new Promise(requestAnimationFrame);
  document.getAnimations().forEach((each) => each.finish());
}"""
RUN_AXE = "options => axe.run(options).then((found) => found.violations)"
WIDTHS = (360, 768, 1280)
THEMES = ("light", "dark")
HEIGHT = 800


Look = tuple[int, str]
# 400 % zoom of 1280 px, alone and with texts that readers have set wider; these without zoom.
ROOMS = ((320, False), (320, True), (1280, True))
EVERY_LOOK: tuple[Look, ...] = tuple(product(WIDTHS, THEMES))


def one_look(number: int) -> tuple[Look]:
    """One of the six looks: over six pages each width meets each theme."""
    return ((WIDTHS[number % 3], THEMES[number % 2]),)


def prepared(browser: Browser) -> BrowserContext:
    """A browser that has axe-core and our checks on every page."""
    context = browser.new_context(viewport={"width": 1280, "height": HEIGHT})
    context.add_init_script(AXE_SCRIPT)
    context.add_init_script(CHECKS)
    return context


def look(page: Page, sight: Sight, looks: Sequence[Look]) -> Iterator[Fault]:
    """Look at a page that is shown, in so many widths and themes, and judge it."""
    if is_error(sight):
        yield from ask(page, "errors", "as it comes")
    for width, theme in looks:
        page.emulate_media(color_scheme=theme)  # type: ignore[arg-type] # one of THEMES
        page.set_viewport_size({"width": width, "height": HEIGHT})
        where = f"{width} px, {theme}"
        yield from axe(page, where)
        for check in ("misnamed", "small", "smallAnswers", "faint", "unseen"):
            yield from ask(page, check, where)
    rooms = ROOMS if looks == EVERY_LOOK else ROOMS[1:]
    yield from _in_little_room(page, rooms)
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    yield from ask(page, "moving", "reduced motion")
    page.emulate_media(reduced_motion="no-preference")


def _in_little_room(page: Page, rooms: Iterable[tuple[int, bool]]) -> Iterator[Fault]:
    for width, spread in rooms:
        page.set_viewport_size({"width": width, "height": 640})
        page.evaluate("on => checks.spread(on)", spread)
        where = f"{width} px{', wider text' if spread else ''}"
        for check in ("sideways", "cutOff"):
            yield from ask(page, check, where)
    page.evaluate("checks.spread(false)")
    yield from ask(page, "turned", "1280 px")


def axe(page: Page, where: str) -> Iterator[Fault]:
    """What axe-core finds: its rule, the element, and what it has to say.

    The window is as high as the page then: a bar that stays in view covers what one scrolls to.
    """
    page.evaluate(FINISH_MOTION)
    size = page.viewport_size
    assert size
    height = max(size["height"], page.evaluate("document.documentElement.scrollHeight"))
    page.set_viewport_size({"width": size["width"], "height": height})
    violations: list[Any] = page.evaluate(RUN_AXE, AXE)
    page.set_viewport_size(size)
    for found in violations:
        for node in found["nodes"]:
            said = " ".join((node["failureSummary"] or found["help"]).split())
            what = f"{' '.join(map(str, node['target']))} {node['html'][:160]} {said}"
            yield Fault(found["id"], where, what, is_from_axe=True)


def ask(page: Page, check: str, where: str) -> Iterator[Fault]:
    """What one of the checks of checks.js finds on a page."""
    page.evaluate(FINISH_MOTION)
    found: list[Any] = page.evaluate(f"checks.{check}()")
    yield from (Fault(check, where, what) for what in found)
