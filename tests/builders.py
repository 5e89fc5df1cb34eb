"""Studies and participants for tests, made through the survey's own services and pages."""

import re
from functools import cached_property
from typing import Any

from bs4 import BeautifulSoup
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from survey import tokens
from survey.db.models import Participant, Study
from survey.kinds.ordering.plan import OrderingPlan, ordering_plan
from survey.services.participation import answers, participants
from survey.services.studies import lifecycle, plans

SLUG = "five-systems"
KEY = "a key for tests, long enough to be allowed"
VISITOR_COOKIE = tokens.cookie_name(KEY, "survey")
RESEARCHER_COOKIE = tokens.cookie_name(KEY, "researcher")
ADDRESS = "group@x.example"
CONTACTS = {  # who asks and where people can ask, by language
    "en": {"asked_by": "the retrieval group of X", "contact": ADDRESS},
    "el": {"asked_by": "η ομάδα ανάκτησης του X", "contact": ADDRESS},
}
PLANS: dict[str, OrderingPlan] = {}
MOST_PAGES = 100


def a_plan(**changes: Any) -> OrderingPlan:
    """The paper's study, with few questions unless asked for more; read from its file once."""
    values = {
        "questions": 3,
        "seed": 5,
        **CONTACTS.get(changes.get("language"), CONTACTS["en"]),
        **changes,
    }
    key = repr(sorted(values.items()))
    if key not in PLANS:
        PLANS[key] = ordering_plan(plans.preset_plan("mnro", **values))
    return PLANS[key]


def an_open_study(session: Session, slug: str = SLUG, **changes: Any) -> Study:
    """A study that takes answers."""
    study = lifecycle.create_study(session, slug, a_plan(**changes))
    lifecycle.open_study(session, study, anyway="tests may take longer than they say")
    return study


def a_ready_participant(session: Session, study: Study, token: str = "browser") -> Participant:
    """A participant who has read the scenario, so that the questions are drawn."""
    participant = participants.begin(session, study, token, KEY)
    text = participants.consent_text(session, study)
    assert participants.agree(session, participant, text.digest)
    participants.store_personal_answers(
        session, study, participant, {"age": 22, "education": "School"}
    )
    participants.confirm_scenario(session, participant)
    return participant


def save_answer(
    session: Session,
    participant: Participant,
    position: int,
    answer: Any,
    seconds: float | None = None,
) -> None:
    """Store an answer as from a form that was opened just now."""
    plan = participant.study.plan
    shown = answers.find_presentation(session, plan, participant, position)
    key = answers.next_key(KEY, shown)
    answers.save_answer(session, KEY, plan, participant, position, answer, key, seconds)


CHECK = "#check"  # the check question, a screen of the practice


class Visitor:
    """A person with a browser that runs no scripts: opens pages, fills in forms."""

    def __init__(self, client: FlaskClient, slug: str = SLUG) -> None:
        self.client, self.home = client, f"/s/{slug}"
        self._body = ""

    @cached_property
    def page(self) -> Any:
        """The page, parsed when it is first looked at: parsing takes longer than the request."""
        return BeautifulSoup(self._body, "html.parser")

    def open(self, path: str = "") -> None:
        """Open a page of the study and follow where it leads."""
        self._see(self.client.get(self.home + path, follow_redirects=True))

    def submit(self, path: str, follow: bool = True, **fields: Any) -> None:
        """Send the form that posts to ``path``, with its hidden fields and these."""
        form = self.form(path)
        hidden = {field["name"]: field.get("value", "") for field in form.select("[type=hidden]")}
        named = {name.replace("rank_", "rank-"): value for name, value in fields.items()}
        address = (form.get("action") or path).removeprefix(self.home)
        self.post(address, follow=follow, **{**hidden, **named})

    def insist(self, path: str, **fields: Any) -> None:
        """Send a form as ``submit`` does, and once more where the page asks back about it."""
        self.submit(path, **fields)
        if self.page.select_one(".asks"):
            self.submit(path, **fields)

    def post(self, path: str, follow: bool = True, **fields: Any) -> None:
        """Send fields to an address as they are."""
        self._see(self.client.post(self.home + path, data=fields, follow_redirects=follow))

    def form(self, path: str) -> Any:
        """The form on the present page that posts to ``path``."""
        for form in self.page.select("form[method=post]"):
            if (form.get("action") or self.address).partition("?")[0] == self.home + path:
                return form
        raise AssertionError(f"no form posts to {path} on {self.address}: {self.text}")

    def go(self, *until: str, query: str = "", choice: str = "1", **personal: str) -> None:
        """Go from the entry to the first of these pages, answering all that comes before it.

        ``personal`` is what "About you" is answered with; without it, the first answers it offers.
        """
        self.open(query)
        for _ in range(MOST_PAGES):
            if self.path in until and not self.page.select_one(CHECK):
                return
            self._go_on(choice, personal)
        raise AssertionError(f"none of {until} was reached, but {self.address}: {self.text}")

    def prepare(self) -> None:
        """Go from the entry to the practice behind its check, or without one to question 1."""
        self.go("/practice", "/q/1")

    def start(self) -> None:
        """Go from the entry to question 1."""
        self.go("/q/1")

    def take_part(self, choice: str = "1") -> None:
        """Answer everything and hand it in."""
        self.go("/done", choice=choice)

    def _go_on(self, choice: str, personal: dict[str, str]) -> None:
        if self.path == "":
            self.submit("/begin")
        elif self.path == "/consent":
            self.submit("/consent", agree="y")
        elif self.path == "/about-you":
            self.submit("/about-you", **(personal or self._first_answers()))
        elif self.page.select_one(CHECK):
            self.submit("/practice/check", better="1")
        elif self.path == "/practice":
            self.submit("/practice", go="done")
        elif self.page.select_one("[type=checkbox][name=choice]"):
            self.submit(self.path, choice=choice, **self._reason())
        elif self.path == "/closing":
            self.submit("/closing", **self._first_answers())
        elif places := self.page.select("[name^=rank-]"):
            ordering = {field["name"]: n for n, field in enumerate(places, 1)}
            self.submit(self.path, **ordering, **self._reason())
        else:
            self.submit(self.path)

    def _first_answers(self) -> dict[str, str]:
        fields = self.form(self.path).select("select, textarea, input:not([type=hidden])")
        return {field["name"]: _first_answer(field) for field in fields}

    def _reason(self) -> dict[str, str]:
        return {"reason": "because"} if self.page.select_one("[name=reason]") else {}

    @property
    def text(self) -> str:
        """All that can be read on the page, in one line."""
        return re.sub(r"\s+", " ", self.page.get_text(" ", strip=True))

    @property
    def path(self) -> str:
        """Where in the study the page is."""
        return self.address.removeprefix(self.home)

    def _see(self, response: Any) -> None:
        self.status, self.response = response.status_code, response
        self.address = response.request.path
        self._body = response.get_data(as_text=True)
        self.__dict__.pop("page", None)
        for name in re.findall(r'<a\b[^>]*\bhref="#([^"]+)"', self._body):
            target = rf'\bid="?{re.escape(name)}["\s>]'
            assert re.search(target, self._body), f"#{name} is nowhere on {self.address}"


def _first_answer(field: Any) -> str:
    if field.name == "select":
        return str(field.select("option")[1]["value"])
    if field.get("type") == "radio":
        return "1"
    return "23" if field.get("inputmode") == "numeric" else "none"
