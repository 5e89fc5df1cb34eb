"""The survey as the state machine of promise 2 meets it: browsers, deaths, what is stored."""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from flask import Flask
from sqlalchemy import Engine, event
from sqlalchemy.orm import Session

from survey import tokens
from survey.app import create_app, db
from survey.config import Settings
from survey.db.engine import begin_reading
from survey.db.models import Participant, Study
from survey.kinds.ordering.models import StoredOrderingAnswer, StoredOrderingRevision
from survey.services.exchange.bundle import stream_file
from survey.services.participation import participants
from survey.services.studies import lifecycle
from tests.builders import VISITOR_COOKIE, a_plan
from tests.rows import answer_rows, revision_rows, shown_rows

SLUG, QUESTIONS = "two-questions", 2
COUNTED = ("examples", "steps", "acknowledged answers", "deaths of the server")


@dataclass
class Stored:
    """What is stored of everyone, by the code that continues on another device.

    ``people``: status and what they said about themselves. ``answers``: (clicked, own) as
    exported, the first one first, by code and position. ``shown``: all that says how a
    question was shown, by code and position.
    """

    people: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    answers: dict[tuple[str, int], list[tuple[str, str]]] = field(default_factory=dict)
    shown: dict[tuple[str, int], tuple[Any, ...]] = field(default_factory=dict)


class DiedError(BaseException):
    """The server's process ended here; nothing in it may catch this."""


class Room:
    """A browser without scripts, whose forms are sent as the test likes."""

    def __init__(self, app: Flask, cookie: str | None = None) -> None:
        self.client = app.test_client()
        if cookie is not None:
            self.client.set_cookie(VISITOR_COOKIE, cookie)
        self.page = BeautifulSoup("", "html.parser")

    @property
    def cookie(self) -> str | None:
        """What the browser keeps when the server is started anew."""
        kept = self.client.get_cookie(VISITOR_COOKIE)
        return kept and kept.value

    def see(self, path: str = "") -> str:
        """Open a page and follow where it leads; return where that is."""
        response = self.client.get(f"/s/{SLUG}/{path}".rstrip("/"), follow_redirects=True)
        assert response.status_code == 200, (path, response.status_code)
        self.page = BeautifulSoup(response.text, "html.parser")
        return _page(response.request.path)

    def send(self, path: str, **fields: Any) -> tuple[int, str]:
        """Post to a page; return the status and the page to which it leads."""
        response = self.client.post(f"/s/{SLUG}/{path}", data=fields)
        self.page = BeautifulSoup(response.text, "html.parser")
        return response.status_code, _page(response.location or "")

    def press(self, path: str, **fields: Any) -> str:
        """Press a button with a good token, wherever the browser is; return where it leads."""
        self.see()
        status, leads = self.send(path, csrf_token=self.hidden("csrf_token"), **fields)
        assert status in (302, 303), (path, status, self.page.get_text(" ", strip=True))
        return leads

    def hidden(self, name: str) -> str:
        """Return a hidden field of the page's first form that has one."""
        found = self.page.select_one(f"[name={name}]")
        assert found is not None, f"no {name} on the page"
        return str(found["value"])


def _page(address: str) -> str:
    return address.partition(f"/s/{SLUG}")[2].removeprefix("/")


class World:
    """One study on one database, emptied between examples, under servers that die."""

    def __init__(self, app: Flask, session: Session) -> None:
        self.app, self.session = app, session
        plan = a_plan(questions=QUESTIONS, participants=1000, shuffle_questions=True)
        study = lifecycle.create_study(session, SLUG, plan)
        lifecycle.open_study(session, study)
        self.study_id, self.consent = study.id, participants.consent_text(session, study).digest
        self.rooms: dict[str, Room] = {}
        self.counts = dict.fromkeys(COUNTED, 0)

    def empty(self, rooms: Sequence[str]) -> None:
        """Forget everybody, for the next example."""
        self.session.rollback()  # a page that only read has left it reading
        self.session.query(Participant).delete()
        self.session.commit()
        self.rooms = {name: Room(self.app) for name in rooms}

    def restart(self) -> None:
        """Start another server on the same database; browsers keep their cookies."""
        self.counts["deaths of the server"] += 1
        self.close()
        uri = self._engine().url.render_as_string(hide_password=False)
        app = create_app(Settings(Path(self.app.instance_path), uri, str(self.app.secret_key)))
        app.test_client_class = self.app.test_client_class
        app.extensions["test_session"] = self.session
        self.app = app
        self.rooms = {name: Room(app, room.cookie) for name, room in self.rooms.items()}

    def close(self) -> None:
        """End the server as far as the database can tell."""
        self._engine().dispose()

    def _engine(self) -> Engine:
        with self.app.app_context():
            return db.engine

    @contextmanager
    def dying(self, moment: str) -> Iterator[None]:
        """Let the server die at the next commit: "before_commit" or "after_commit"."""

        def die(_: Session) -> None:
            event.remove(Session, moment, die)
            raise DiedError

        event.listen(Session, moment, die)
        try:
            yield
        finally:
            if event.contains(Session, moment, die):
                event.remove(Session, moment, die)

    def stored(self) -> Stored:
        """Look at what is stored, in which every answer must stand once."""
        found = Stored()
        self.session.rollback()
        begin_reading(self.session)
        for person in self.session.query(Participant):
            code = tokens.resume_code(str(self.app.secret_key), person.public_id)
            found.people[code] = person.status, person.personal
            self._add(found, code, person)
        self.session.rollback()
        return found

    def _add(self, found: Stored, code: str, person: Participant) -> None:
        of_person = {"participant_id": person.id}
        shown = shown_rows(self.session, **of_person)
        for one, drawn in shown:
            orders = drawn.label_order, drawn.column_order, drawn.list_order
            found.shown[code, one.position] = (one.question_id, *orders, drawn.shown, one.shown_at)
        positions = {one.question_id: one.position for one, _ in shown}
        for response, answer in answer_rows(self.session, **of_person):
            key = code, positions.pop(response.question_id)  # a second row finds none
            given = [_as_exported(one) for _, one in revision_rows(self.session, response.id)]
            assert given[-1] == _as_exported(answer)
            assert response.revisions == len(given) - 1
            found.answers[key] = given

    def exported(self) -> dict[tuple[str, int], dict[str, str]]:
        """Return the rows of responses.csv by code and position."""
        self.session.rollback()
        study = self.session.get_one(Study, self.study_id)
        content = "".join(stream_file(self.session, study, "responses.csv"))
        rows = csv.DictReader(io.StringIO(content, newline=""))
        key = str(self.app.secret_key)
        found = {
            (tokens.resume_code(key, row["participant"]), int(row["position"])): row for row in rows
        }
        self.session.rollback()
        return found


def _as_exported(one: StoredOrderingAnswer | StoredOrderingRevision) -> tuple[str, str, str]:
    clicked = " ".join(map(str, sorted(one.clicked)))
    return clicked, str(one.own or ""), "yes" if one.typed else "no"
