"""What there is to see: a page in a state, kept so that it can be looked at in many ways.

A *walk* goes through the survey by its own pages and forms and keeps what it comes by. What
was kept is shown to a browser at its address; whatever else the page asks for is answered
by the application, as the one who was there.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import BrowserContext, Page, Route
from sqlalchemy.orm import Session
from werkzeug.exceptions import HTTPException

from survey.app import create_app, db
from survey.config import Settings
from survey.db.models import Study
from survey.services import accounts
from survey.services.operations.database import upgrade_database
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment
from tests.builders import KEY, Visitor, a_plan
from tests.conftest import TidyClient
from tests.web.desk import Desk

SITE = "http://localhost"
UNKEPT = ("Set-Cookie", "Content-Disposition")  # a report is looked at rather than kept as a file


@dataclass(frozen=True, eq=False)
class Sight:
    """A page in a state, as the server answered it to whoever ``client`` is."""

    page: str
    state: str
    language: str
    address: str
    endpoint: str
    method: str
    status: int
    headers: dict[str, str]
    body: bytes
    client: FlaskClient = field(repr=False)

    def __str__(self) -> str:
        return f"{self.page}, {self.state} ({self.language})"


@dataclass(frozen=True)
class Fault:
    """Something wrong: ``rule`` is axe-core's, or the name of a check of our own."""

    rule: str
    where: str
    what: str
    is_from_axe: bool = False

    def __str__(self) -> str:
        return f"{self.rule} ({self.where}): {self.what}"


def is_error(sight: Sight) -> bool:
    """Whether a form came back because something in it has to be mended."""
    return sight.state.startswith("error")


@dataclass(eq=False)
class House:
    """An application with a database of its own, in which walks are made."""

    app: Flask
    session: Session
    walked: dict[str, list[Sight]] = field(default_factory=dict)

    @cached_property
    def desk(self) -> Desk:
        """A researcher's, who is signed in."""
        return Desk(self.app, self.session, "Ada Lovelace")

    def draft(self, slug: str, settings: Recruitment | None = None, **changes: Any) -> Study:
        """A study of that researcher's that nobody can take part in yet."""
        ada = accounts.find_researcher(self.session, self.desk.name)
        plan = a_plan(**changes)
        return lifecycle.create_owned_study(
            self.session, ada, slug, plan, settings or Recruitment()
        )

    def study(self, slug: str, settings: Recruitment | None = None, **changes: Any) -> Study:
        """The same, open."""
        study = self.draft(slug, settings, **changes)
        lifecycle.open_study(self.session, study, self.desk.name)
        return study

    def close(self, slug: str) -> None:
        """Let no more answers into a study."""
        self.session.rollback()
        study = lifecycle.find_study(self.session, slug)
        lifecycle.close_study(self.session, study, self.desk.name)

    def visitor(self, slug: str, language: str = "en") -> Visitor:
        """Somebody with a browser of their own, in their language, at a study."""
        visitor = Visitor(self.app.test_client(), slug)
        visitor.client.environ_base["HTTP_ACCEPT_LANGUAGE"] = language
        return visitor

    def seen(self, page: str, state: str, by: Visitor | Desk, language: str = "en") -> Sight:
        """Keep the page that somebody has before them."""
        answer = by.response
        request = answer.request
        headers = {name: value for name, value in answer.headers if name not in UNKEPT}
        if "attachment" in answer.headers.get("Content-Disposition", ""):
            # It is opened as a file, of which no server says anything.
            headers = {"Content-Type": answer.headers["Content-Type"]}
        return Sight(
            page,
            state,
            language,
            request.full_path.rstrip("?"),
            self._endpoint(request.path, request.method),
            request.method,
            answer.status_code,
            headers,
            answer.get_data(),
            by.client,
        )

    def let_go(self) -> None:
        """Close every connection."""
        self.session.close()
        with self.app.app_context():
            db.engine.dispose()

    def _endpoint(self, path: str, method: str) -> str:
        try:
            return self.app.url_map.bind("localhost").match(path, method=method)[0]
        except HTTPException:  # no page is there, and the one that says so was kept
            return ""


Walk = Callable[[House, str], Iterator[Sight]]


def build_house(folder: Path) -> House:
    """An application on an empty database."""
    app = create_app(Settings(folder, f"sqlite:///{folder / 'survey.sqlite3'}", KEY))
    app.test_client_class = TidyClient
    with app.app_context():
        engine = db.engine
    upgrade_database(engine)
    session = Session(engine)
    app.extensions["test_session"] = session
    return House(app, session)


class Stage:
    """A browser's tab on which sights are shown, one after another.

    Whatever a page sends off is answered as if the database could not be used just then:
    so no script leads away from it.
    """

    def __init__(self, context: BrowserContext) -> None:
        self.page = context.new_page()
        self.page.route("**/*", self._answer)
        self.foreign: list[str] = []
        self._static: dict[str, dict[str, Any]] = {}

    def show(self, sight: Sight) -> Page:
        """Open a sight at its address."""
        self.sight = sight
        self.page.goto(SITE + sight.address)
        return self.page

    def _answer(self, route: Route) -> None:
        asked, sight = route.request, self.sight
        if not asked.url.startswith(f"{SITE}/"):
            self.foreign.append(asked.url)
            route.abort()
        elif asked.is_navigation_request() and not asked.frame.parent_frame:
            route.fulfill(status=sight.status, headers=sight.headers, body=sight.body)
        elif asked.method == "POST":
            route.fulfill(status=503)
        elif "/static/" in asked.url:
            route.fulfill(**self._kept(asked.url))
        else:
            is_framed = asked.resource_type == "document"
            headers = {"Sec-Fetch-Dest": "iframe"} if is_framed else {}
            route.fulfill(**_answered(sight.client, asked.url, headers))

    def _kept(self, url: str) -> dict[str, Any]:
        if url not in self._static:
            self._static[url] = _answered(self.sight.client, url)
        return self._static[url]


def _answered(
    client: FlaskClient, url: str, headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    response = client.get(url, headers=headers)
    return {
        "status": response.status_code,
        "headers": dict(response.headers),
        "body": response.get_data(),
    }
