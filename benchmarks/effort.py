"""Count what taking part asks of a person: words on each page, actions for each way to answer.

Run by ``make effort``. It walks through the paper's study in a real browser. With ``--beside``,
the same walk goes through another checkout of the survey, and the tables hold both.
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

SLUG, SEED = "effort", "2039"
PHONE: ViewportSize = {"width": 360, "height": 740}
LAPTOP: ViewportSize = {"width": 1280, "height": 800}
WORD = re.compile(r"\b[^\W\d_]{2,}(?:[’'-]\w+)*")
MOST_PAGES = 40
MOST_TABS = 60
# None of these is a method's in the first questions of the seed, so nothing is asked back.
ORDERINGS = {"all different": ("B", "A", "D", "C", "E"), "two equal": ("B", "A=D", "C", "E")}

# The texts that can be seen: what is clipped to a pixel is for screen readers.
VISIBLE_TEXT = """() => {
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) {
        const around = walker.currentNode.parentElement;
        const clipped = around.closest(".hidden, caption, .skip, select, script, #kept");
        const seen = !clipped && around.checkVisibility({ visibilityProperty: true });
        if (seen) texts.push(walker.currentNode.data);
    }
    return texts.join(" ");
}"""


@dataclass
class Hands:
    """A person at a page; ``actions``: the clicks, taps, drags and keys so far."""

    page: Page
    actions: int = 0

    def click(self, selector: str) -> None:
        """Click or tap, one action."""
        self.actions += 1
        self.page.locator(selector).first.click()

    def choose(self, letter: str, place: int) -> None:
        """Choose from a list: open it, and pick an entry."""
        self.actions += 2
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

    def drag(self, letter: str, place: int) -> None:
        """Drag a letter to a place, one action."""
        self.actions += 1
        letters = self.page.locator("#slots b, .keys [data-letter], .chip")
        x, y = _middle(letters.get_by_text(re.compile(f"^{letter}")).first)
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        self.page.mouse.move(x + 12, y + 12)  # the places are shown once a drag has begun
        self.page.mouse.move(*_middle(self.page.locator(f"[data-place='{place}']")), steps=3)
        self.page.mouse.up()

    def save(self) -> None:
        """Save the answer, one action, and wait for the next page."""
        with self.page.expect_navigation():
            self.click("#vote .go")


def _middle(locator: Any) -> tuple[float, float]:
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


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


def by_dragging(hands: Hands, ordering: tuple[str, ...]) -> None:
    """Drag each letter to its place."""
    if not hands.page.query_selector("#pad"):  # before, this brought out the letters
        hands.click("[name=choice][value=own]")
    for letter, place in _places(ordering).items():
        hands.drag(letter, place)
    hands.save()


def by_selects(hands: Hands, ordering: tuple[str, ...]) -> None:
    """Choose each letter's place from a list."""
    for letter, place in _places(ordering).items():
        hands.choose(letter, place)
    if not hands.page.locator("[name=choice][value=own]").is_checked():
        hands.click("[name=choice][value=own]")
    hands.save()


def by_keyboard(hands: Hands, ordering: tuple[str, ...]) -> None:
    """Go to each control with Tab, from the top of the page; beside the letters, type them."""
    if hands.page.query_selector("#pad"):
        hands.tab_to("[data-letter]")
        for letter in "".join(ordering)[:-1]:
            hands.press(letter)
    else:
        for letter, place in sorted(_places(ordering).items()):
            hands.tab_to(f"select[name=rank-{letter}]")
            hands.press(str(place))
    hands.tab_to("#vote .go")
    with hands.page.expect_navigation():
        hands.press("Enter")


Way = Callable[[Hands, tuple[str, ...]], None]
# How each way is called, whether scripts run, what it needs on the page.
WAYS: Mapping[str, tuple[Way, bool, str]] = {
    "a tick": (by_tick, True, "[name=choice]"),
    "own ordering, tapped": (by_tapping, True, "#pad"),
    "own ordering, dragged": (by_dragging, True, "[data-place]"),
    "own ordering, by keyboard": (by_keyboard, True, "#vote"),
    "own ordering, from lists": (by_selects, True, "select[name=rank-A]:visible"),
    "own ordering, without scripts": (by_selects, False, "select[name=rank-A]"),
}


def count_words(page: Page, link: str) -> dict[str, int]:
    """Walk from the entry to the end; return the words on each page, by its heading."""
    words: dict[str, int] = {}
    page.goto(link)
    for _ in range(MOST_PAGES):
        heading = page.locator("h1").inner_text().replace("\n", " ")
        question = re.search(r"/q/(\d+)$", page.url)
        name = f"Question {question[1]}" if question else heading
        if name not in words and (not question or question[1] == "1"):
            words[name] = len(WORD.findall(page.evaluate(VISIBLE_TEXT)))
        if page.url.endswith("/done"):
            return words
        _go_on(page)
    raise RuntimeError(f"the end was not reached, but {page.url}")


def _go_on(page: Page) -> None:
    """Do what leads to the next page."""
    start = "form[action$='/start'] button"
    with page.expect_navigation():
        if page.query_selector("#agree"):
            page.check("#agree")
        if page.query_selector("#age"):
            page.fill("#age", "30")
            page.select_option("#education", index=1)
        if page.query_selector("#check"):
            page.click("#check [value='1']")
        elif page.query_selector(start):
            page.click(start)
        else:
            if page.query_selector("#vote"):
                page.check("[name=choice][value='1']")
            page.locator("main .go").first.click()


def count_actions(browser: Any, link: str) -> dict[str, dict[str, int | None]]:
    """Return the actions of each way to answer, None for a way that the page does not have."""
    counts: dict[str, dict[str, int | None]] = {}
    for name, (answer, scripts, needs) in WAYS.items():
        context = browser.new_context(viewport=LAPTOP, java_script_enabled=scripts)
        page = context.new_page()
        page.goto(link)
        while not page.url.endswith("/q/1"):
            _go_on(page)
        counts[name] = {}
        for kind, ordering in ORDERINGS.items():
            page.goto(page.url)  # with focus at the top, as for a person who comes to it
            hands = Hands(page)
            if page.query_selector(needs):
                answer(hands, ordering)
                if page.query_selector(".asks, .problems"):
                    raise RuntimeError(f"{name}, {kind}: not saved")
            counts[name][kind] = hands.actions or None
        context.close()
    return counts


@contextmanager
def paper_study() -> Iterator[str]:
    """Serve the paper's study from the survey that Python finds; yield its link."""
    with TemporaryDirectory() as folder:
        port, environment = free_port(), {**os.environ, "SURVEY_INSTANCE": folder}
        survey = (sys.executable, "-m", "survey")
        commands = (
            ("init",),
            ("study", "new", SLUG, "--seed", SEED),
            ("study", "open", SLUG),
        )
        for command in commands:
            _run((*survey, *command), environment)
        serve = (*survey, "serve", "--port", str(port))
        with subprocess.Popen(  # noqa: S603 - no shell, and the words are ours
            serve, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as server:
            try:
                _wait_for(f"http://127.0.0.1:{port}/readyz")
                yield f"http://127.0.0.1:{port}/s/{SLUG}"
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
    """Return the words of each page and the actions of each way."""
    with paper_study() as link, sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport=PHONE)
        return {"words": count_words(page, link), "actions": count_actions(browser, link)}


def count_in(checkout: Path) -> dict[str, Any]:
    """Return the same counts for another checkout of the survey."""
    command = (sys.executable, __file__, "--json")
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve())}
    printed = _run(command, environment, cwd=checkout)
    return json.loads(printed)  # type: ignore[no-any-return] # as printed by this script


def tables(sides: Mapping[str, dict[str, Any]]) -> str:
    """Return the counts as two tables in Markdown, a column for each checkout."""
    pages = list(dict.fromkeys(name for side in sides.values() for name in side["words"]))
    ways = [(way, kind) for way in WAYS for kind in ORDERINGS]
    head = f"{' | '.join(sides)} |\n|---|{'---:|' * len(sides)}"
    rows = [
        f"| {name} | {' | '.join(_cell(side['words'].get(name)) for side in sides.values())} |"
        for name in pages
    ]
    before = [
        sum(words for name, words in side["words"].items() if name in _before_questions(side))
        for side in sides.values()
    ]
    rows.append(f"| All before question 1, consent apart | {' | '.join(map(str, before))} |")
    acts = [
        f"| {way}, {kind} | "
        f"{' | '.join(_cell(side['actions'][way][kind]) for side in sides.values())} |"
        for way, kind in ways
        if way != "a tick" or kind == "all different"
    ]
    return "\n".join([f"| Words on a page | {head}", *rows, "", f"| Actions | {head}", *acts])


def _before_questions(side: Mapping[str, Any]) -> list[str]:
    names = list(side["words"])
    return [name for name in names[: names.index("Question 1")] if name != "Your consent"]


def _cell(number: int | None) -> str:
    return "–" if number is None else str(number)


@click.command()
@click.option("--beside", type=click.Path(path_type=Path), help="A folder with another checkout.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts alone.")
def main(beside: Path | None, as_json: bool) -> None:
    """Print the words on each page, and the actions of each way to answer."""
    now = count()
    if as_json:
        click.echo(json.dumps(now))
    else:
        sides = {"before": count_in(beside), "now": now} if beside else {"now": now}
        click.echo(tables(sides))


if __name__ == "__main__":
    main()
