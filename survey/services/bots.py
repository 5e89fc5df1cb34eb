"""A bot that takes part as a person would, over HTTP.

It sees what a person sees: positions, columns, orders. It prefers a measure,
computes that measure's order from the positions on the page, and ticks the column
that shows it.
"""

from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import urljoin

import numpy as np
import requests
from bs4 import BeautifulSoup, Tag

from survey.core.agreement.counts import OTHER
from survey.core.stimuli.personal import PersonalField
from survey.core.stimuli.plan import Plan
from survey.core.stimuli.questions import build_question
from survey.core.stimuli.rankings import Ranking
from survey.services.errors import SurveyError

TICKS_EVERY_MATCH = 0.3  # how often a bot ticks all columns with the order it prefers, not one
MOST_PAGES = 200
TIMEOUT = 60

Chance = np.random.Generator


class Drawing(Protocol):
    """Something that draws the measure a bot votes for, or OTHER."""

    def draw(self, chance: Chance) -> str:
        """Draw one."""


class Bot:
    """One simulated participant with a browser of its own."""

    def __init__(self, entry: str, plan: Plan, preference: Drawing, chance: Chance) -> None:
        self.entry, self.plan, self.preference, self.chance = entry, plan, preference, chance
        self.browser = requests.Session()
        self.browser.trust_env = False  # no proxy stands between us and our own server

    def take_part(self) -> None:
        """Go from the entry to the receipt."""
        with self.browser:
            page = self._open(self.browser.get(self.entry, timeout=TIMEOUT))
            for _ in range(MOST_PAGES):
                if page.select_one(".receipt"):
                    return
                page = self._go_on(page)
        raise SurveyError(f"A simulated participant saw {MOST_PAGES} pages without an end.")

    def _open(self, response: requests.Response) -> BeautifulSoup:
        page = BeautifulSoup(response.text, "html.parser")
        if not response.ok:
            told = page.select_one(".problems, .lead")
            raise SurveyError(
                f"A simulated participant got {response.status_code} at {response.url}: "
                f"{told.get_text(' ', strip=True) if told else 'no explanation'}"
            )
        self.address = response.url
        return page

    def _go_on(self, page: BeautifulSoup) -> BeautifulSoup:
        """Fill in the page's form and press the button that leads on."""
        button = page.select_one("button.go")
        form = button and button.find_parent("form")
        if not isinstance(form, Tag):
            raise SurveyError(f"A simulated participant found no way on at {self.address}.")
        answers: dict[str, Any] = {
            str(field["name"]): field.get("value", "") for field in form.select("[type=hidden]")
        }
        if form.select_one("[name=choice]"):
            answers |= self._vote(form)
        elif letters := [str(one["name"])[-1] for one in form.select("[name^=rank-]")]:
            places = self._own_order(letters, set()).places
            answers |= {f"rank-{letter}": place for letter, place in places.items()}
        elif form.select_one("[name=agree]"):
            answers["agree"] = "y"
        else:
            for field in self.plan.personal_fields:
                if form.select_one(f"[name={field.name}]"):
                    answers[field.name] = self._describe(field)
        address = urljoin(self.address, str(form.get("action") or self.address))
        return self._open(self.browser.post(address, data=answers, timeout=TIMEOUT))

    def _describe(self, field: PersonalField) -> str:
        if field.kind == "number":
            lowest, highest = field.lowest or 0, field.highest or 120
            return str(int(np.clip(round(self.chance.normal(22, 1.4)), lowest, highest)))
        if field.kind == "choice":
            welcome = [option for option in field.options if option not in field.screen_out]
            return str(self.chance.choice(welcome or field.options))
        return "simulated"

    def _vote(self, form: Tag) -> dict[str, Any]:
        """Tick the column of the preferred measure, or give an order of one's own."""
        ranks = {
            _letter(row): [int(rank) for rank in _text(row, ".ranks").split()]
            for row in form.select("tbody tr")
        }
        letters = sorted(ranks)
        question = build_question(
            0, [ranks[letter] for letter in letters], self.plan.measures, self.plan.setting
        )
        preferred = self.preference.draw(self.chance)
        all_matches = self.chance.random() < TICKS_EVERY_MATCH
        if preferred == OTHER:
            own = self._own_order(letters, set(question.rankings.values()))
            return {"choice": "own"} | {f"rank-{letter}": own.places[letter] for letter in letters}
        wanted = question.columns[preferred]
        orders = _columns(form)
        same_order = [label for label, (order, _) in orders.items() if order == wanted.ranking]
        shown = dict(zip(letters, wanted.shown, strict=True))
        same_column = [label for label in same_order if orders[label][1] == shown]
        if not same_column:
            raise SurveyError(f"The page {self.address} shows no column of {preferred}.")
        return {"choice": same_order if all_matches else same_column[0]}

    def _own_order(self, letters: Sequence[str], offered: set[Ranking]) -> Ranking:
        while True:
            places = self.chance.integers(1, len(letters), len(letters), endpoint=True)
            own = Ranking.by_key(dict(zip(letters, places.tolist(), strict=True)))
            if own not in offered:
                return own


def _columns(form: Tag) -> dict[str, tuple[Ranking, dict[str, str]]]:
    """Read the columns off the page: label → (order, printed value by letter)."""
    labels = [str(box["value"]) for box in form.select("[name=choice]") if box["value"] != "own"]
    letters = [_letter(row) for row in form.select("tbody tr")]
    orders = form.select("tfoot tr:first-child td:not(.own) .order")
    columns = {}
    for place, (label, order) in enumerate(zip(labels, orders, strict=True)):
        for small in order.select("small"):
            small.extract()
        values = [row.select("td b")[place].text for row in form.select("tbody tr")]
        columns[label] = (
            Ranking.parse(order.get_text()),
            dict(zip(letters, values, strict=True)),
        )
    return columns


def _letter(row: Tag) -> str:
    return _text(row, "th")[0]


def _text(tag: Tag, selector: str) -> str:
    found = tag.select_one(selector)
    if found is None:
        raise SurveyError(f"A page of the survey has no {selector} where one is expected.")
    return found.get_text().strip()
