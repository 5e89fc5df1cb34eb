"""Studies, people at every step of them, and the researcher to whom they belong."""

from collections.abc import Iterable
from typing import Any

from bs4 import BeautifulSoup
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from survey.services import accounts
from survey.services.exchange.bundle import stream_bundle
from survey.services.studies import lifecycle, recruitment
from survey.services.studies.plans import write_plan
from survey.services.studies.recruitment import Recruitment
from tests.builders import RESEARCHER_COOKIE, VISITOR_COOKIE, Visitor, a_plan
from tests.promises.doors import Caller, Door
from tests.promises.seemly import AFile, Fields
from tests.web.desk import PASSWORD, Desk

OPEN, DRAFT, RANKED = "an-open-study", "a-draft", "a-ranked-study"
STUDY = "/research/studies"
PAGES = ("", "consent", "about-you", "scenario", "practice", "q/1", "review", "done", "my-data")
PREVIEWED = ("entry", "consent", "about_you", "scenario", "practice", "question/1", "review")
ABOUT_YOU = [
    {"name": "job", "label": "Job", "kind": "text", "required": False},
    {"name": "age", "label": "Age", "kind": "number", "lowest": 18, "highest": 99},
    {"name": "school", "label": "School", "kind": "choice", "options": ["Yes", "No"]},
]
WAY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/begin", {}),
    ("/consent", {"agree": "y"}),
    ("/about-you", {"job": "cook", "age": "40", "school": "Yes"}),
    ("/scenario", {}),
    ("/practice/check", {"better": "1"}),
    ("/practice", {}),
    ("/q/1", {"choice": "1"}),
    ("/q/2", {"choice": "own", **{f"rank_{letter}": "1" for letter in "ABCDE"}}),
    ("/review", {}),
)
# Who takes part: their study, and how far they have come in it.
STEPS = {
    "passer-by": (OPEN, 0),
    "newcomer": (OPEN, 1),
    "reader": (OPEN, 3),
    "voter": (OPEN, 6),
    "reviewer": (OPEN, 8),
    "finisher": (OPEN, 9),
    "ranker": (RANKED, 4),
}


def a_researcher(app: Flask, session: Session) -> Caller:
    """Ada, who has two open studies and a draft; Bob may look at them, and Ann is invited."""
    desk = Desk(app, session)
    ada = accounts.find_researcher(session, "Ada")
    bob, link = accounts.add_researcher(session, "Bob")
    accounts.set_password(session, link, PASSWORD)
    for slug in (OPEN, DRAFT, RANKED):
        made = lifecycle.create_owned_study(session, ada, slug, _plan(slug), Recruitment())
        recruitment.add_guests(session, made, ["Ann"])
        accounts.share(session, made, bob, "viewer")
        if slug != DRAFT:
            lifecycle.open_study(session, made, "Ada")
    session.commit()
    token = desk.client.get_cookie(RESEARCHER_COOKIE, path="/research").value
    cookie = f"{RESEARCHER_COOKIE}={token}; {_visitor_cookie(desk.client)}"
    return Caller("researcher", cookie, desk.client, "/research", (OPEN, DRAFT))


def a_participant(app: Flask, who: str) -> Caller:
    """Somebody who has come as far as STEPS says."""
    slug, steps = STEPS[who]
    visitor = Visitor(app.test_client(), slug)
    visitor.open()
    for path, fields in WAY[:steps]:
        if path == "/practice":
            visitor.open("/practice?step=4")
        visitor.submit(path, **fields)
    cookie = _visitor_cookie(visitor.client)
    return Caller(who, cookie, visitor.client, "/s/", (slug,))


def _visitor_cookie(client: FlaskClient) -> str:
    return f"{VISITOR_COOKIE}={client.get_cookie(VISITOR_COOKIE).value}"


def a_stranger(app: Flask) -> Caller:
    """Somebody of whom nothing is known."""
    return Caller("stranger", "", app.test_client(), "/", (OPEN,))


def pages_of(caller: Caller, doors: Iterable[Door]) -> list[str]:
    """Return the addresses of the pages where they may find forms."""
    if caller.who in STEPS:
        return [f"/s/{caller.slugs[0]}/{page}".rstrip("/") for page in PAGES]
    looks = [one.address() for one in doors if (one.who, one.method) == (caller.who, "GET")]
    return [*looks, *(f"{STUDY}/{DRAFT}/preview/123/{page}" for page in PREVIEWED)]


def what_only_they_know(session: Session, voter: Caller) -> Fields:
    """Return a code that continues elsewhere, and files that the survey itself hands out."""
    page = BeautifulSoup(voter.client.get(f"/s/{OPEN}/my-data").text, "html.parser")
    bundle = b"".join(stream_bundle(session, lifecycle.find_study(session, OPEN)))
    return {
        "bundle": [AFile("bundle.zip", bundle)],
        "code": [page.select("strong.code")[0].text],
        "plan": [AFile("plan.yaml", write_plan(_plan(OPEN)).encode())],
    }


def _plan(slug: str) -> Any:
    ranked = slug == RANKED
    return a_plan(
        questions=2,
        participants=500,
        personal_fields=ABOUT_YOU,
        columns="after" if ranked else "before",
        practice=not ranked,
    )
