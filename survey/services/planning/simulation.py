"""Simulated participants with planted preferences, who answer through the real pages.

How a bot answers a question is a matter of the question's kind.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any
from urllib.parse import urljoin, urlsplit

import numpy as np
import requests
from selectolax.lexbor import LexborHTMLParser, LexborNode

from survey.core.collections.items import NOTHING_SHOWN, Shown
from survey.core.kinds import KINDS
from survey.core.studies.fields import PersonalField
from survey.core.studies.plan import NO, ON_PROGRAMS, YES, Plan, TaskQuestion
from survey.errors import SurveyError
from survey.services.planning.kind_bot import KindBot

MOST_PAGES = 200
TIMEOUT = 60  # seconds
PAUSE = 0.5
BOTS_AT_ONCE = 4  # bots
CHECKS = "[name=better]"  # the buttons of the check question
SIMULATED = "simulated"  # a bot's text
ASKING = re.compile(r"/(?:practice|q/\d+)$")  # the address of a question's page


def bot_of(plan: Plan) -> KindBot[Plan, TaskQuestion, object, object]:
    """Return the bots of a plan's kind of question."""
    bot: KindBot[Plan, TaskQuestion, object, object] = KINDS[plan.kind]
    return bot


def preferences_for(plan: Plan, text: str | None, shown: Shown = NOTHING_SHOWN) -> dict[str, Any]:
    """Read preferences as the plan's kind of question has them; raises SurveyError.

    ``text``: one for all bots, or with a preference for each of some arms, "AP=1; early: MNRO=1".
    Returns arm → preference, that of all others under "".
    """
    texts: dict[str, str | None] = {"": None}
    for part in (text or "").split(";") if text is not None else ():
        name, _, rest = part.partition(":")
        arm = name.strip() if name.strip() in plan.arms else ""
        if texts.get(arm) is not None:
            raise SurveyError(f"Two preferences found for {arm or 'all bots'}; one is allowed.")
        texts[arm] = rest if arm else part
    return {arm: bot_of(plan).preference(plan, each, shown) for arm, each in texts.items()}


def simulate(
    entry: str,
    plan: Plan,
    participants: int,
    preferences: Mapping[str, object],
    seed: int,
    on_finished: Callable[[], object] = lambda: None,
    careless: Sequence[Mapping[str, object]] = (),
) -> None:
    """Send ``participants`` bots through the survey at the address ``entry``.

    ``preferences``: see ``preferences_for``. Each bot has its own random stream from ``seed``, so
    the votes do not depend on which is faster: the same seed gives the same votes. ``on_finished``
    is called after each. ``careless``: the preferences of as many of the bots, which answer at
    random and trip the plan's rules on pace and programs. Raises SurveyError when a page does not
    lead on.
    """

    def take_part(stream: np.random.SeedSequence, prefers: Mapping[str, object]) -> None:
        is_careless = any(prefers is each for each in careless)
        chance = np.random.default_rng(stream)
        Bot(entry, plan, prefers, chance, is_careless=is_careless).take_part()

    streams = np.random.SeedSequence(seed).spawn(participants)
    of_bots = [*careless, *[preferences] * participants][:participants]
    with ThreadPoolExecutor(BOTS_AT_ONCE) as pool:
        for _ in pool.map(
            take_part, streams, of_bots
        ):  # after an error or Ctrl-C it starts no further bot
            on_finished()


class Bot:
    """A simulated participant with its own HTTP session."""

    def __init__(
        self,
        entry: str,
        plan: Plan,
        preferences: Mapping[str, object],
        chance: np.random.Generator,
        *,
        is_careless: bool = False,
    ) -> None:
        self.entry, self.plan, self.preferences, self.chance = entry, plan, preferences, chance
        self.is_careless = is_careless
        self.browser, self.waited = requests.Session(), 0.0
        self.answered: Mapping[str, object] | None = None  # the last question's form
        self.browser.trust_env = False  # a proxy cannot reach the server of this process

    def take_part(self) -> None:
        """Answer every page from the entry to the receipt."""
        with self.browser:
            page = self._open(self.browser.get(self.entry, timeout=TIMEOUT))
            most = MOST_PAGES + self.plan.pages_each * self.plan.asked
            for _ in range(most):
                if page.css_first(".receipt"):
                    return
                page = self._go_on(page)
        raise SurveyError(f"A simulated participant saw {most} pages without an end.")

    @property
    def preference(self) -> object:
        """The bot's preference: that of its arm, once it has one."""
        has_arm = len(self.preferences) > 1 and ASKING.search(self.address)
        arm = self._arm if has_arm else None
        return self.preferences.get(arm or "", self.preferences[""])

    @cached_property
    def _arm(self) -> str | None:
        """The bot's arm, which is in its own data; a person can read it there too."""
        address = urljoin(self.entry.partition("?")[0] + "/", "my-data.json")
        arm: str | None = self.browser.get(address, timeout=TIMEOUT).json()["arm"]
        return arm

    def _wait(self) -> None:
        """Wait for the others, on whose answers this bot's questions depend."""
        self.waited += PAUSE
        if self.waited > TIMEOUT:
            raise SurveyError("A simulated participant waits for others who do not go on.")
        time.sleep(PAUSE)

    def _open(self, response: requests.Response) -> LexborHTMLParser:
        page = LexborHTMLParser(response.text)
        if not response.ok:
            problem = page.css_first(".problems, .lead")
            raise SurveyError(
                f"A simulated participant got {response.status_code} at {response.url}: "
                f"{' '.join(problem.text(separator=' ').split()) if problem else 'no explanation'}"
            )
        self.address = response.url
        return page

    def _go_on(self, page: LexborHTMLParser) -> LexborHTMLParser:
        """Fill in the page's form and press the button that leads on."""
        link = page.css_first("main a.go")
        if link:
            if self.address.endswith("/waiting"):
                self._wait()
            address = urljoin(self.address, str(link.attributes["href"]))
            return self._open(self.browser.get(address, timeout=TIMEOUT))
        form = page.css_first("form:has(button.go), form#check")
        if form is None:
            raise SurveyError(f"A simulated participant found no way on at {self.address}.")
        answers: dict[str, object] = {
            str(field.attributes["name"]): field.attributes.get("value") or ""
            for field in form.css("[type=hidden]")
        }
        answer = self._answer(form)
        if answer is not None:
            answers |= answer
            if form.css_first("[name=reason]"):
                answers["reason"] = SIMULATED
            answers |= self._said(form, self.plan.ask, "beside_")
            answers |= self._conduct()
        elif form.css_first("[name=agree]"):
            answers["agree"] = "y"
        else:
            fields = (*self.plan.personal_fields, *self.plan.asked_at_end)
            answers |= self._said(form, fields)
        address = urljoin(self.address, form.attributes.get("action") or self.address)
        return self._open(self.browser.post(address, data=answers, timeout=TIMEOUT))

    def _answer(self, form: LexborNode) -> Mapping[str, object] | None:
        """Answer a question's form; a bot means what it said where the page asks back.

        It leaves each screen of the practice as it is, but for the check question.
        """
        if urlsplit(self.address).path.endswith("/practice") and not form.css_first(CHECKS):
            return {"go": "done"}
        if form.css_first("[name=asked]") is None:
            try:
                self.answered = bot_of(self.plan).respond(
                    form, self.plan, self.preference, self.chance
                )
            except ValueError as error:
                raise SurveyError(f"On the page {self.address} {error}.") from None
        return self.answered

    def _said(
        self, form: LexborNode, fields: Iterable[PersonalField], prefix: str = ""
    ) -> dict[str, str]:
        """Return an answer to each field that a form has."""
        return {
            f"{prefix}{field.name}": self._describe(field)
            for field in fields
            if form.css_first(f"[name={prefix}{field.name}]")
        }

    def _conduct(self) -> dict[str, str]:
        """Return what the plan's rules look at: how long it took, and the field for programs."""
        sent = {}
        if (least := self.plan.least_seconds) is not None:
            factor = 0.1 if self.is_careless else self.chance.uniform(2, 5)
            sent["active_seconds"] = f"{least * factor:.1f}"
        if self.plan.machine_line and self.is_careless:
            sent["machine_line"] = SIMULATED
        return sent

    def _describe(self, field: PersonalField) -> str:
        if field is ON_PROGRAMS:
            return YES if self.is_careless else NO
        if field.kind == "number":
            lowest = max(field.lowest or 0, field.screen_below or 0)
            highest = field.highest or 120
            return str(int(np.clip(round(self.chance.normal(22, 1.4)), lowest, highest)))
        if field.kind == "scale":
            return str(self.chance.integers(*field.bounds, endpoint=True))
        if field.kind == "choice":
            welcome = [option for option in field.options if option not in field.screen_out]
            return str(self.chance.choice(welcome or field.options))
        return SIMULATED
