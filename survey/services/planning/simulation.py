"""Simulated participants with planted preferences, who answer through the real pages.

A bot reads what a person reads: positions, columns, orders. It prefers a measure, computes
that measure's order from the positions on the page, and ticks the column with that order.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import numpy as np
import requests
from bs4 import BeautifulSoup, Tag

from survey.core.agreement.credits import OTHER
from survey.core.agreement.voters import Chance, Drawing, cast_vote, own_order
from survey.core.studies.marks import MarkedRow, marks_of, sorted_with_marks
from survey.core.studies.personal_fields import PersonalField
from survey.core.studies.plan import Plan
from survey.core.studies.questions import BlindedColumn, build_question
from survey.core.studies.rankings import Ranking
from survey.core.tasks.ordering_plan import OrderingPlan, ordering_plan
from survey.errors import SurveyError

MOST_PAGES = 200
# Rows of a question: a list, and a place of the orderings.
LIST, PLACE = ".lists tr", ".orderings tr:not(.heading)"
TIMEOUT = 60
AT_ONCE = 4  # bots


@dataclass(frozen=True)
class Preference:
    """How likely a bot is to vote for each measure, or for an order of its own (OTHER)."""

    shares: Mapping[str, float]

    @classmethod
    def parse(cls, text: str | None, measures: Sequence[str]) -> "Preference":
        """Parse ``MNRO=.5,NMRR=.3,AP=.1,OTHER=.1``; None means equal shares and OTHER=.1.

        Raises SurveyError for an unknown name and for shares that do not sum to 1.
        """
        if text is None:
            return cls({**dict.fromkeys(measures, 0.9 / len(measures)), OTHER: 0.1})
        shares = {}
        known = {name.lower(): name for name in (*measures, OTHER)}
        for part in text.split(","):
            label, _, number = part.partition("=")
            name = known.get(label.strip().lower())
            if name is None:
                raise SurveyError(
                    f"{part.strip()!r} found in the preference; "
                    f"{', '.join(known.values())} can be preferred, like MNRO=.5"
                )
            try:
                shares[name] = float(number)
            except ValueError:
                raise SurveyError(
                    f"{part.strip()!r} found in the preference; write a share like {name}=.5"
                ) from None
        if min(shares.values()) < 0 or not abs(sum(shares.values()) - 1) <= 1e-6:
            raise SurveyError(
                f"The preference {text!r} sums to {sum(shares.values()):g}; "
                "shares from 0 to 1 that sum to 1 are needed."
            )
        return cls(shares)

    def draw(self, chance: np.random.Generator) -> str:
        """Return the name of a measure, or OTHER, at random."""
        total = sum(self.shares.values())  # 1 but for rounding of what was typed
        return str(
            chance.choice(list(self.shares), p=[share / total for share in self.shares.values()])
        )


def simulate(
    entry: str,
    plan: Plan,
    participants: int,
    preference: Preference,
    seed: int,
    on_finished: Callable[[], object] = lambda: None,
) -> None:
    """Send ``participants`` bots through the survey at the address ``entry``.

    Each has its own random stream from ``seed``, so the votes do not depend on which bot
    is faster: the same seed gives the same votes. ``on_finished`` is called after each.
    Raises SurveyError when a page does not lead on.
    """
    design = ordering_plan(plan)
    streams = np.random.SeedSequence(seed).spawn(participants)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = [
            pool.submit(Bot(entry, plan, preference, np.random.default_rng(stream)).take_part)
            for stream in streams
        ]
        try:
            for run in as_completed(runs):
                run.result()
                on_finished()
        except BaseException:  # a bot failed, or Ctrl-C: start no further bot
            pool.shutdown(cancel_futures=True)
            raise


class Bot:
    """A simulated participant with its own HTTP session."""

    def __init__(self, entry: str, plan: OrderingPlan, preference: Drawing, chance: Chance) -> None:
        self.entry, self.plan, self.preference, self.chance = entry, plan, preference, chance
        self.browser = requests.Session()
        self.browser.trust_env = False  # a proxy cannot reach the server of this process

    def take_part(self) -> None:
        """Answer every page from the entry to the receipt."""
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
            problem = page.select_one(".problems, .lead")
            raise SurveyError(
                f"A simulated participant got {response.status_code} at {response.url}: "
                f"{problem.get_text(' ', strip=True) if problem else 'no explanation'}"
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
        elif letters := [str(field["name"])[-1] for field in form.select("[name^=rank-]")]:
            places = own_order(letters, (), self.chance).places
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
        """Return the form fields of a vote: ticked columns, or an own order."""
        rows = {_letter(row): _row(row, self.plan.marked) for row in form.select(LIST)}
        lists = [rows[letter] for letter in sorted(rows)]
        question = build_question(
            0,
            [row.ranks for row in lists],
            self.plan.measures,
            self.plan.setting,
            marks_of(lists),
        )
        try:
            vote = cast_vote(self.preference, question, _columns(form), self.chance)
        except ValueError as error:
            raise SurveyError(f"On the page {self.address} {error}.") from None
        if vote.own:
            places = vote.own.places
            return {"choice": "own"} | {f"rank-{letter}": places[letter] for letter in rows}
        return {"choice": sorted(vote.clicked)}


def _columns(form: Tag) -> list[BlindedColumn]:
    """Parse the columns on the page."""
    labels = [str(box["value"]) for box in form.select("[name=choice]") if box["value"] != "own"]
    letters = [_letter(row) for row in form.select(LIST)]
    columns = []
    for column, label in enumerate(labels):
        values = [row.select("td b")[column].text for row in form.select(LIST)]
        at_places = [row.select("td")[column].text.strip() for row in form.select(PLACE)]
        ranking = Ranking.parse(">".join(filter(None, at_places)))
        columns.append(BlindedColumn(int(label), dict(zip(letters, values, strict=True)), ranking))
    return columns


def _row(row: Tag, kinds: Sequence[str]) -> MarkedRow:
    """Parse a list's positions, and their marks in brackets."""
    ranks = [int(rank.text) for rank in row.select(".ranks .rank")]
    marks = [mark.text.strip("() ").split(", ") for mark in row.select(".ranks .mark")]
    if marks and not all(len(parts) == len(kinds) for parts in marks):
        raise SurveyError("A position on a page of the survey has unexpected marks.")
    cells = {
        kind: " ".join(parts[index].replace(" + ", "+").replace(" ", "_") for parts in marks)
        for index, kind in enumerate(kinds)
    }
    return sorted_with_marks(ranks, cells)


def _letter(row: Tag) -> str:
    return _text(row, "th")[0]


def _text(tag: Tag, selector: str) -> str:
    selected = tag.select_one(selector)
    if selected is None:
        raise SurveyError(f"A page of the survey has no {selector} where one is expected.")
<<<<<<< HEAD
    return selected.get_text().strip()
=======
    return found.get_text().strip()


AT_ONCE = 4


@dataclass(frozen=True)
class Preference:
    """How likely a bot is to vote for each measure, or for an order of its own (OTHER)."""

    shares: Mapping[str, float]

    @classmethod
    def parse(cls, text: str | None, measures: Sequence[str]) -> "Preference":
        """Read ``MNRO=.5,NMRR=.3,AP=.1,OTHER=.1``; without a text all measures are alike.

        Raises SurveyError for an unknown name and for shares that do not sum to 1.
        """
        if text is None:
            return cls({**dict.fromkeys(measures, 0.9 / len(measures)), OTHER: 0.1})
        shares = {}
        known = {name.lower(): name for name in (*measures, OTHER)}
        for part in text.split(","):
            written, _, number = part.partition("=")
            name = known.get(written.strip().lower())
            if name is None:
                raise SurveyError(
                    f"{part.strip()!r} found in the preference; "
                    f"{', '.join(known.values())} can be preferred, like MNRO=.5"
                )
            try:
                shares[name] = float(number)
            except ValueError:
                raise SurveyError(
                    f"{part.strip()!r} found in the preference; write a share like {name}=.5"
                ) from None
        if min(shares.values()) < 0 or not abs(sum(shares.values()) - 1) <= 1e-6:
            raise SurveyError(
                f"The preference {text!r} sums to {sum(shares.values()):g}; "
                "shares from 0 to 1 that sum to 1 are needed."
            )
        return cls(shares)

    def draw(self, chance: np.random.Generator) -> str:
        """Draw a measure, or OTHER."""
        total = sum(self.shares.values())  # 1 but for what was rounded when it was typed
        return str(
            chance.choice(list(self.shares), p=[share / total for share in self.shares.values()])
        )


def preference_for(plan: Plan, text: str | None) -> Preference:
    """Read a preference among a plan's measures; see ``Preference.parse``."""
    return Preference.parse(text, ordering_plan(plan).measures)


def simulate(
    entry: str,
    plan: Plan,
    participants: int,
    preference: Preference,
    seed: int,
    on_finished: Callable[[], object] = lambda: None,
) -> None:
    """Send so many bots through the survey at the address ``entry``.

    Each has a stream of its own from ``seed``, so the votes do not depend on who
    comes first: the same seed gives the same Table 4. ``on_finished`` is called
    after each. Raises SurveyError when a page does not lead on.
    """
    design = ordering_plan(plan)
    streams = np.random.SeedSequence(seed).spawn(participants)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = [
            pool.submit(
                Bot(entry, ordering_plan(plan), preference, np.random.default_rng(stream)).take_part
            )
            for stream in streams
        ]
        try:
            for run in as_completed(runs):
                run.result()
                on_finished()
        except BaseException:  # a bot that failed, or Ctrl-C: let no further one begin
            pool.shutdown(cancel_futures=True)
            raise
>>>>>>> 4121713 (Let all that studies share know a kind of question only through its interface)
