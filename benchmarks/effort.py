"""Count what taking part asks of a person: pixels, words and bytes of each page, and actions.

Run by ``make effort``. It walks through a study of each kind in a real browser. With ``--beside``,
the same walks go through another checkout of the survey, and the tables hold both.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import click
from playwright.sync_api import Page, ViewportSize, sync_playwright

from tests.browsing import launch
from tests.serving import free_port

SEED = "2039"
SCREENS: Mapping[str, ViewportSize] = {
    "phone": {"width": 360, "height": 740},
    "laptop": {"width": 1280, "height": 800},
}
WORD = re.compile(r"\b[^\W\d_]{2,}(?:[’'-]\w+)*")
MOST_PAGES = 40
MOST_TABS = 200
LONG_ENOUGH = 800  # milliseconds in view after which a result counts as seen
# None of these is a method's in the first questions of the seed, so nothing is asked back.
ORDERINGS = {"all different": ("B", "A", "D", "C", "E"), "two equal": ("B", "A=D", "C", "E")}

# The texts that can be seen: what is clipped to a pixel is for screen readers.
VISIBLE_TEXT = """() => {
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) {
        const around = walker.currentNode.parentElement;
        const clipped = around.closest(".hidden, caption, .skip, select, script, dialog, #kept");
        const seen = !clipped && around.checkVisibility({ visibilityProperty: true });
        if (seen) texts.push(walker.currentNode.data);
    }
    return texts.join(" ");
}"""
# The screens by which a person scrolls until an element is in view, above the answer bar.
SCROLLS = """target => {
    const bar = document.querySelector(".bar, .done");
    const sticks = bar && getComputedStyle(bar).position === "sticky" && !bar.contains(target);
    const end = sticks ? Math.min(innerHeight, bar.getBoundingClientRect().top) : innerHeight;
    const box = target.getBoundingClientRect();
    const away = box.top < 0 ? -box.top : Math.max(box.bottom - end, 0);
    if (away < 1) return 0;
    scrollBy({ top: box.top < 0 ? box.top : box.bottom - end, behavior: "instant" });
    return Math.ceil(away / end);
}"""


@dataclass
class Hands:
    """A person at a page; ``actions``: the clicks, taps, drags and keys so far.

    ``scrolls``: by how many screens the page was scrolled between them.
    """

    page: Page
    actions: int = 0
    scrolls: int = 0

    def look_at(self, target: Any) -> None:
        """Scroll until an element is in view."""
        self.scrolls += target.evaluate(SCROLLS)

    def click(self, selector: str) -> None:
        """Click or tap, one action."""
        self.actions += 1
        target = self.page.locator(selector).first
        self.look_at(target)
        target.click()

    def choose(self, letter: str, place: int) -> None:
        """Choose from a list: open it, and pick an entry."""
        self.actions += 2
        self.look_at(self.page.locator(f"select[name=rank-{letter}]"))
        self.page.select_option(f"select[name=rank-{letter}]", str(place))

    def press(self, key: str) -> None:
        """Press a key, one action."""
        self.actions += 1
        self.page.keyboard.press(key)

    def tab_to(self, selector: str) -> None:
        """Press Tab, or Shift+Tab where that is back on the page, until a control has focus."""
        target = self.page.locator(selector).first
        while not target.evaluate("it => it === document.activeElement"):
            behind = target.evaluate(
                "it => document.activeElement.compareDocumentPosition(it) & 2"
                " && document.activeElement !== document.body"
            )
            self.press("Shift+Tab" if behind else "Tab")
            if self.actions > MOST_TABS:
                raise RuntimeError(f"{selector} is not reached by the keyboard")

    def save(self) -> None:
        """Save the answer, one action, and wait for the next page."""
        with self.page.expect_navigation():
            self.click(GOES_ON)


GOES_ON = "main button.go:not(.hidden):visible"


def _places(ordering: tuple[str, ...]) -> dict[str, int]:
    """Return the place of each letter, best first."""
    places: dict[str, int] = {}
    for group in ordering:
        places |= dict.fromkeys(group.split("="), len(places) + 1)
    return places


def by_tick(hands: Hands, _: tuple[str, ...]) -> None:
    """Tick a method."""
    hands.click("[name=choice][value='1']")
    hands.save()


def by_tapping(hands: Hands, ordering: tuple[str, ...]) -> None:
    """Tap the letters from best to worst; the last one is placed by itself."""
    taps = "".join(ordering)[:-1]
    for letter in taps:
        hands.click("#equal" if letter == "=" else f"[data-letter={letter}]")
    hands.save()


def by_selects(hands: Hands, ordering: tuple[str, ...]) -> None:
    """Choose each letter's place from a list."""
    for letter, place in _places(ordering).items():
        hands.choose(letter, place)
    own = hands.page.locator("[name=choice][value=own]")
    if own.count() and not own.is_checked():
        hands.click("[name=choice][value=own]")
    hands.save()


def by_keyboard(hands: Hands, ordering: tuple[str, ...]) -> None:
    """Go to each control with Tab, from the top of the page; beside the letters, type them."""
    hands.tab_to("[data-letter]")
    for letter in "".join(ordering)[:-1]:
        hands.press(letter)
    hands.tab_to(GOES_ON)
    with hands.page.expect_navigation():
        hands.press("Enter")


Way = Callable[[Hands, tuple[str, ...]], None]
# How each way is called, whether scripts run, what it needs on the page.
WAYS: Mapping[str, tuple[Way, bool, str]] = {
    "a tick": (by_tick, True, "[name=choice]"),
    "own ordering, tapped": (by_tapping, True, "[data-letter]:visible"),
    "own ordering, by keyboard": (by_keyboard, True, "[data-letter]:visible"),
    "own ordering, without scripts": (by_selects, False, "select[name=rank-A]"),
}


@dataclass(frozen=True)
class Collection:
    """The collection of pictures that comes along with the survey."""

    folder: Path

    @classmethod
    def of_survey(cls) -> "Collection":
        """Return that of the survey that Python imports."""
        import survey.services.collections as collections

        (folder,) = Path(collections.__file__).parent.glob("*/collection")
        return cls(folder)

    @property
    def documents(self) -> list[str]:
        """The ids of its documents."""
        return self._ids_in("items.csv")

    @property
    def topics(self) -> list[str]:
        """The ids of its topics."""
        return self._ids_in("topics.csv")

    def _ids_in(self, name: str) -> list[str]:
        """The first cells of a file, without the heading."""
        lines = (self.folder / name).read_text(encoding="utf-8").splitlines()
        return [line.split(",")[0] for line in lines[1:]]

    def study_commands(self, to: Path) -> Iterator[tuple[str, ...]]:
        """Return the commands that make a study of each kind, named by it."""
        files = [("--qrels", str(self.folder / "qrels.txt"))]
        runs = [str(path) for path in sorted((self.folder / "runs").iterdir())]
        items = ("--items", str(self.folder))
        trec = (*files[0], "--run", *runs, "--collection-size", "100", *items)
        some = ",".join(self.topics[:10])
        pictures = ("--preset", "pictures", *trec, "--topics", some, "--seed", SEED)
        yield ("numbers", "--seed", SEED)
        yield ("grid", *pictures, "--layout", "grid")
        yield ("strip", *pictures, "--layout", "strip")
        labelled = ("--topics", ",".join(self.topics[:3]), *items)
        yield ("labelling", "--kind", "labelling", *labelled, "--seed", SEED)
        qrels = to / "grouped.txt"
        qrels.write_text("".join(f"{self.topics[0]} 0 {name} 1\n" for name in self.documents[:18]))
        yield ("grouping", "--kind", "grouping", "--qrels", str(qrels), *items, "--seed", SEED)
        two = (*files[0], "--run", *runs[:2], "--collection-size", "100", *items)
        yield ("preference", "--kind", "preference", *two, "--topics", some, "--seed", SEED)


STUDIES = ("numbers", "grid", "strip", "labelling", "grouping", "preference")


def measure_pages(page: Page, link: str, *, all_questions: bool) -> dict[str, dict[str, int]]:
    """Walk from the entry; return each page's height, words and bytes, by its heading.

    ``all_questions``: go on to the end, else to the first question.
    """
    measured: dict[str, dict[str, int]] = {}
    sizes: list[int] = []
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    client.send("Network.setCacheDisabled", {"cacheDisabled": True})
    client.on("Network.loadingFinished", lambda done: sizes.append(int(done["encodedDataLength"])))
    page.goto(link)
    for _ in range(MOST_PAGES):
        page.wait_for_load_state("networkidle")
        name = _name_of(page)
        if name not in measured:
            sizes.clear()
            page.goto(page.url, wait_until="networkidle")
            measured[name] = {
                "px": page.evaluate("document.documentElement.scrollHeight"),
                "words": len(WORD.findall(page.evaluate(VISIBLE_TEXT))),
                "bytes": sum(sizes),
            }
        if page.url.endswith("/done") or (name == "Question 1" and not all_questions):
            return measured
        _go_on(page)
    raise RuntimeError(f"the end was not reached, but {page.url}")


def _name_of(page: Page) -> str:
    question = re.search(r"/q/\d+$", page.url)
    heading = page.locator("h1").first.inner_text().replace("\n", " ")
    return "Question 1" if question else heading


def _go_on(page: Page) -> None:
    """Do what leads to the next page, which may stand at the same address."""
    for box in page.locator("#agree, [name=choice][value='1']:visible").all():
        box.check()
    if page.query_selector("#age"):
        page.fill("#age", "30")
        page.select_option("#education", index=2)
    for choice in page.locator("[name=preferred][value=left]").all():
        choice.check()
    _look_at_tiles(page)
    page.evaluate("document.documentElement.dataset.left = ''")
    page.locator(f"#check [value='1'], {GOES_ON}, main a.go:visible").last.click()
    page.wait_for_selector("html:not([data-left])")
    page.wait_for_load_state("load")


def _look_at_tiles(page: Page) -> None:
    """Mark a result, and scroll over all, slowly enough that each counts as seen."""
    for tile in page.locator(".tile [type=checkbox]").all()[:1]:
        tile.check()
    for _ in range(page.locator(".tile").count()):
        page.wait_for_timeout(LONG_ENOUGH)
        page.mouse.wheel(0, 120)
        if page.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight"):
            page.wait_for_timeout(LONG_ENOUGH)
            return


def count_actions(browser: Any, link: str, screen: str) -> dict[str, dict[str, Any]]:
    """Return [actions, scrolls] of each way to answer, None where it is not possible."""
    counts: dict[str, dict[str, Any]] = {name: {} for name in WAYS}
    for name, (answer, scripts, needs) in WAYS.items():
        for kind, ordering in ORDERINGS.items():
            with browser.new_context(
                viewport=SCREENS[screen], java_script_enabled=scripts
            ) as context:
                page = context.new_page()
                page.goto(link)
                while not page.url.endswith("/q/1"):
                    _go_on(page)
                page.goto(page.url)  # with focus at the top, as for a person who comes to it
                hands = Hands(page)
                if page.query_selector(needs):
                    _read_lists(hands)
                    answer(hands, ordering)
                is_saved = hands.actions and not page.query_selector(".problems")
                counts[name][kind] = [hands.actions, hands.scrolls] if is_saved else None
    return counts


def _read_lists(hands: Hands) -> None:
    """Scroll to the last list: reading is no action, and its scrolls are not counted."""
    lists = hands.page.locator("main :is(section[aria-label$=' E'], tbody tr:nth-child(5))")
    hands.look_at(lists.first)
    hands.scrolls = 0


@contextmanager
def studies() -> Iterator[str]:
    """Serve a study of each kind from the survey that Python finds; yield the address before /s."""
    with TemporaryDirectory() as folder:
        port, environment = free_port(), {**os.environ, "SURVEY_INSTANCE": folder}
        survey = (sys.executable, "-m", "survey")
        _run((*survey, "init"), environment)
        for command in Collection.of_survey().study_commands(Path(folder)):
            _run((*survey, "study", "new", *command), environment)
            opened = ("--asked-by", "the group", "--contact", "someone@example.org")
            _run((*survey, "study", "open", command[0], *opened), environment)
        serve = (*survey, "serve", "--port", str(port))
        with subprocess.Popen(  # noqa: S603 - no shell, and the words are ours
            serve, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as server:
            try:
                _wait_for(f"http://127.0.0.1:{port}/readyz")
                yield f"http://127.0.0.1:{port}/s/"
            finally:
                server.terminate()


def _run(command: tuple[str, ...], environment: Mapping[str, str], cwd: Path | None = None) -> str:
    done: subprocess.CompletedProcess[str] = subprocess.run(  # noqa: S603 - no shell, and the words are ours
        command, env=environment, check=True, stdout=subprocess.PIPE, text=True, cwd=cwd
    )
    return done.stdout


def _wait_for(address: str) -> None:
    for _ in range(100):
        try:
            urlopen(address).close()  # noqa: S310 - our own server
        except URLError:
            sleep(0.2)
        else:
            return
    raise RuntimeError(f"{address} does not answer")


def count() -> dict[str, Any]:
    """Return the measures of each page, and the actions of each way, by study and screen."""
    pages: dict[str, Any] = {}
    actions: dict[str, Any] = {}
    with studies() as address, sync_playwright() as playwright:
        browser = launch(playwright)
        for study in STUDIES:
            for screen, viewport in SCREENS.items():
                with browser.new_context(viewport=viewport) as context:
                    whole = study == "numbers" and screen == "phone"
                    measured = measure_pages(
                        context.new_page(), address + study, all_questions=whole
                    )
                pages[f"{study}, {screen}"] = measured
        for study in STUDIES[:3]:
            for screen in SCREENS:
                actions[f"{study}, {screen}"] = count_actions(browser, address + study, screen)
    return {"pages": pages, "actions": actions}


def count_in(checkout: Path) -> dict[str, Any]:
    """Return the same counts for another checkout of the survey."""
    command = (sys.executable, __file__, "--json")
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve())}
    printed = _run(command, environment, cwd=checkout)
    return json.loads(printed)  # type: ignore[no-any-return] # as printed by this script


Sides = Mapping[str, dict[str, Any]]


def tables(sides: Sides) -> str:
    """Return the counts as two tables in Markdown, with a column for each checkout and screen."""
    return f"{_pages_table(sides)}\n\n{_actions_table(sides)}"


def _pages_table(sides: Sides) -> str:
    """Return px on a phone / a laptop, words on a phone, and kB of each page, by checkout."""
    heads = [f"px, {side}|words|kB" for side in sides]
    rows = [f"|Page|{'|'.join(heads)}|", "|---|" + "---:|---:|---:|" * len(sides)]
    names: dict[tuple[str, str], None] = {}
    for counts in sides.values():
        for place, pages in counts["pages"].items():
            names |= {(place.partition(",")[0], name): None for name in pages}
    for study, name in names:
        if study == "numbers" or name == "Question 1":
            label = f"Question, {study}" if name == "Question 1" else name
            cells = [_page_cells(counts["pages"], study, name) for counts in sides.values()]
            rows.append(f"|{label}|{'|'.join(cells)}|")
    return "\n".join(rows)


def _page_cells(pages: Mapping[str, Any], study: str, name: str) -> str:
    phone, laptop = (pages[f"{study}, {screen}"].get(name) for screen in SCREENS)
    if phone is None:
        return "–|–|–"
    wide = f"/{laptop['px']:,}" if laptop else ""
    return f"{phone['px']:,}{wide}|{phone['words']}|{round(phone['bytes'] / 1000)}"


def _actions_table(sides: Sides) -> str:
    """Return actions + screens scrolled of each way on a phone / a laptop, by checkout."""
    studies = STUDIES[:3]
    rows = [f"|Actions + scrolls|{'|'.join(sides)}|", "|---|" + "---:|" * len(sides)]
    for study in studies:
        for way in WAYS:
            for kind in ORDERINGS:
                if way != "a tick" or kind == "all different":
                    cells = [
                        "/".join(
                            _act(side["actions"][f"{study}, {screen}"][way][kind])
                            for screen in SCREENS
                        )
                        for side in sides.values()
                    ]
                    name = way if way == "a tick" else f"{way}, {kind}"
                    rows.append(f"|{study}: {name}|{'|'.join(cells)}|")
    return "\n".join(rows)


def _act(counted: list[int] | None) -> str:
    return "–" if counted is None else f"{counted[0]}+{counted[1]}"


@click.command()
@click.option("--beside", type=click.Path(path_type=Path), help="A folder with another checkout.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts alone.")
def main(beside: Path | None, as_json: bool) -> None:
    """Print what each page asks of a person, and the actions of each way to answer."""
    now = count()
    if as_json:
        click.echo(json.dumps(now))
    else:
        sides = {"before": count_in(beside), "now": now} if beside else {"now": now}
        click.echo(tables(sides))


if __name__ == "__main__":
    main()
