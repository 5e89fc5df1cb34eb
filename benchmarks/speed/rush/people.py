"""The way of a participant through each survey: to the first question, and from there on.

An answer counts as acknowledged when the page after it has come; a page is that click with
the page it leads to, the POST and the GET.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Protocol, cast

import numpy as np

from benchmarks.speed.rush.browsing import Asking, Browser, Page
from benchmarks.speed.rush.wire import Talk

QUESTIONS = 10


def at_once() -> float:
    """Think not at all."""
    return 0.0


class Survey(Protocol):
    """What differs between surveys."""

    def come(self, browser: Browser) -> Asking:
        """Go from the link to the first question."""

    def answer(self, browser: Browser, page: Page, choice: int, /) -> Asking:
        """Answer the question on this page; the next page."""


@dataclass
class Ours:
    """The participants' pages of this survey, the paper's study without practice."""

    home: str

    def come(self, browser: Browser) -> Asking:
        """Read, agree, say age and education, read the scenario."""
        page = yield from browser.get(self.home)
        for path, fields in (
            ("begin", {}),
            ("consent", {"agree": "y"}),
            ("about-you", {"age": "23", "education": "School"}),
            ("scenario", {}),
        ):
            page = yield from browser.submit(f"{self.home}/{path}", {**page.hidden, **fields})
        return page

    def answer(self, browser: Browser, page: Page, choice: int) -> Asking:
        """Tick one method."""
        return (yield from browser.submit(page.path, {**page.hidden, "choice": str(choice)}))


@dataclass
class OTree:
    """The app in ``benchmarks/speed/otree``: the same question, one field a page."""

    home: str

    def come(self, browser: Browser) -> Asking:
        """Open the link that everyone has."""
        return (yield from browser.get(self.home))

    def answer(self, browser: Browser, page: Page, choice: int) -> Asking:
        """Choose one method."""
        return (yield from browser.submit(page.path, {**page.hidden, "vote": str(choice)}))


@dataclass
class Bare(Ours):
    """The application of ``benchmarks.speed.rush.bare``, which begins with question 1."""

    def come(self, browser: Browser) -> Asking:
        """Open the link, which leads to question 1."""
        return (yield from browser.get(self.home))


@dataclass
class Crowd:
    """People of one survey, and what they met.

    ``seconds``: of each page that an answer led to, and ``moments``: when it had come;
    ``ready``: those who are at question 1.
    """

    survey: Survey
    think: Callable[[], float] = at_once
    seconds: list[float] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    ready: list[tuple[Browser, Page]] = field(default_factory=list)
    chance: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def coming(self, many: int) -> Iterator[Talk]:
        """So many people come as far as the first question."""
        for _ in range(many):
            yield self._come()

    def answering(self) -> Iterator[Talk]:
        """Those who are ready answer all questions."""
        while self.ready:
            yield self._answer_all(*self.ready.pop())

    def taking_part(self) -> Iterator[Talk]:
        """People come and answer, one after the other without an end."""
        while True:
            yield self._take_part()

    def _come(self) -> Talk:
        browser = Browser()
        page = yield from self.survey.come(browser)
        self.ready.append((browser, page))

    def _answer_all(self, browser: Browser, page: Page) -> Talk:
        for _ in range(QUESTIONS):
            choice = int(self.chance.integers(1, 4))
            page = yield from self._thoughtfully(self.survey.answer(browser, page, choice))
            self.seconds.append(page.seconds)
            self.moments.append(perf_counter())

    def _take_part(self) -> Talk:
        if pause := self.think():
            yield pause
        browser = Browser()
        page = yield from self._thoughtfully(self.survey.come(browser))
        yield from self._answer_all(browser, page)

    def _thoughtfully(self, asking: Asking) -> Asking:
        """Think before each form that is sent."""
        reply = None
        try:
            while True:
                request = asking.send(reply)
                if request.startswith(b"POST") and (pause := self.think()):
                    yield pause
                reply = yield request
        except StopIteration as end:
            return cast(Page, end.value)
