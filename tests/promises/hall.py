"""Everybody who can knock at the survey's doors, and a database that forgets what they did."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from flask import Flask
from sqlalchemy import Engine, String, text
from sqlalchemy.orm import Session

from survey.db.models.base import Base
from survey.services import life, researchers
from survey.services.recruitment import Recruitment
from tests.builders import Visitor, a_plan
from tests.promises.naughty import Material, in_a_path
from tests.web.desk import Desk, filled_in

OPEN, DRAFT = "an-open-study", "a-draft"
SAMPLES = {"action": "open", "public_id": "P-NOBODY00", "labels": "123", "name": "votes.csv"}
PAGES = ("consent", "about-you", "scenario", "practice", "q/1", "review", "done")


@dataclass(frozen=True)
class Door:
    """One method of one address, for one who comes there with a cookie."""

    who: str
    cookie: str
    method: str
    rule: str
    slug: str

    def address(self, path: bytes = b"", values: Mapping[str, str] = SAMPLES) -> str:
        """Return the address, with something else in place of its last variable part."""
        parts = re.findall(r"<(?:[^<>]*:)?(\w+)>", self.rule)
        known = {"slug": self.slug, **values}
        if path and parts:
            known = {**known, parts[-1]: in_a_path(path)}
        return re.sub(r"<(?:[^<>]*:)?(\w+)>", lambda one: known.get(one[1], "1"), self.rule)


class Hall:
    """An open study and a draft, people at every step of the one, the researcher of both."""

    def __init__(self, app: Flask, session: Session, engine: Engine) -> None:
        self.app, self.session, self.engine = app, session, engine
        self.desk = Desk(app, session)
        ada = researchers.find_researcher(session, "Ada")
        for slug in (OPEN, DRAFT):
            fields = [{"name": "job", "label": "Job", "kind": "text", "required": False}]
            plan = a_plan(questions=2, participants=500, personal_fields=fields)
            made = life.make_study(session, ada, slug, plan, Recruitment())
            if slug == OPEN:
                life.open_to_participants(session, made, "Ada")
        session.rollback()
        self.people = {who: self._participant(steps) for who, steps in STEPS.items()}
        self.forms: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.doors = list(self._doors())
        self._learn_forms()
        self.file = Path(engine.url.database or "")
        self._let_go()
        self.fresh = self.file.read_bytes()

    def _participant(self, steps: int) -> Visitor:
        visitor = Visitor(self.app.test_client(), OPEN)
        visitor.open()
        for path, fields in WAY[:steps]:
            visitor.submit(path, **fields)
        return visitor

    def _doors(self) -> Iterator[Door]:
        cookies = {who: one.client.get_cookie("survey").value for who, one in self.people.items()}
        token = self.desk.client.get_cookie("researcher", path="/research").value
        own = self.desk.client.get_cookie("survey").value
        for rule in self.app.url_map.iter_rules():
            here = [("stranger", "")]
            if rule.rule.startswith("/s/"):
                here += [(who, f"survey={value}") for who, value in cookies.items()]
            if rule.rule.startswith("/research"):
                here += [("researcher", f"researcher={token}; survey={own}")]
            for who, cookie in here:
                for method in sorted(rule.methods or ()):
                    for slug in (OPEN, DRAFT) if who == "researcher" else (OPEN,):
                        if slug == OPEN or "<slug>" in rule.rule:
                            yield Door(who, cookie, method, rule.rule, slug)

    def _learn_forms(self) -> None:
        """Take down every form that anybody sees, as a browser would send it."""
        for who, visitor in self.people.items():
            for page in ("", *PAGES):
                self._note(who, visitor.client.get(f"/s/{OPEN}/{page}".rstrip("/")).text)
        for door in self.doors:
            if door.who == "researcher" and door.method == "GET":
                response = self.desk.client.get(door.address())
                if response.mimetype == "text/html":
                    self._note("researcher", response.text)

    def _note(self, who: str, page: str) -> None:
        for form in BeautifulSoup(page, "html.parser").select("form[method=post]"):
            action = str(form.get("action", "")).partition("#")[0].partition("?")[0]
            self.forms[who, action] = filled_in(form)

    def knock(self, door: Door, sent: Material) -> Any:
        """Send what was drawn to a door; return the whole answer."""
        address = door.address(sent.path)
        form = self.forms.get((door.who, door.address()), {})
        body, kind = sent.encoded(form) if door.method == "POST" else (b"", "")
        headers = {"Cookie": door.cookie, **sent.headers} if door.cookie else dict(sent.headers)
        given = {} if sent.length is None else {"CONTENT_LENGTH": sent.length}
        client = self.app.test_client(use_cookies=False)
        answer = client.open(
            address,
            method=door.method,
            query_string=sent.query.decode("latin-1"),
            data=body,
            content_type=kind,
            headers=[(name, value) for name, value in headers.items()],
            environ_overrides=given,
        )
        answer.get_data()  # what is streamed can fail on the way
        return answer

    def forget(self) -> None:
        """Put the database back to where it was, after a look at what is stored in it."""
        self.require_storable()
        self._let_go()
        self.file.write_bytes(self.fresh)

    def _let_go(self) -> None:
        self.session.close()
        self.engine.dispose()

    def require_storable(self) -> None:
        """Read every row as the survey does, and hold it against what PostgreSQL would take."""
        self.session.rollback()
        for mapper in Base.registry.mappers:
            for row in self.session.query(mapper.class_):
                for column in mapper.columns:
                    value = getattr(row, mapper.get_property_by_column(column).key)
                    if isinstance(value, str):
                        assert "\0" not in value, (column, value)
                        value.encode()  # no half of a surrogate pair
                        if isinstance(column.type, String) and column.type.length:
                            assert len(value) <= column.type.length, (column, value)
        assert self.session.execute(text("PRAGMA integrity_check")).scalar() == "ok"
        assert not self.session.execute(text("PRAGMA foreign_key_check")).all()
        self.session.rollback()


WAY: tuple[tuple[str, dict[str, Any]], ...] = (
    ("/begin", {}),
    ("/consent", {"agree": "y"}),
    ("/about-you", {"job": "cook"}),
    ("/scenario", {}),
    ("/practice", {"choice": "1"}),
    ("/start", {}),
    ("/q/1", {"choice": "1"}),
    ("/q/2", {"choice": "own", **{f"rank_{letter}": "1" for letter in "ABCDE"}}),
    ("/review", {}),
)
STEPS = {"newcomer": 1, "reader": 3, "voter": 6, "reviewer": 8, "finisher": 9}
