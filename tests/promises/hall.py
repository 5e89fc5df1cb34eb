"""Everybody who can knock at the survey's doors, and a database that forgets what they did."""

from typing import Any

from flask import Flask
from sqlalchemy import Engine, String, text
from sqlalchemy.orm import Session

from survey.db.models.base import Base
from tests.promises.callers import (
    STEPS,
    a_participant,
    a_researcher,
    a_stranger,
    pages_of,
    what_only_they_know,
)
from tests.promises.doors import Door, every_door, every_form
from tests.promises.keeping import keep
from tests.promises.material import Material
from tests.promises.seemly import Fields


class Hall:
    """Open studies and a draft, people at every step, the researcher of all."""

    def __init__(self, app: Flask, session: Session, engine: Engine) -> None:
        self.app, self.session, self.engine = app, session, engine
        researcher = a_researcher(app, session)
        people = {who: a_participant(app, who) for who in STEPS}
        known = what_only_they_know(session, people["voter"])
        callers = [a_stranger(app), *people.values(), researcher]
        self.doors = list(every_door(app.url_map, callers))
        self.forms = [
            form
            for caller in callers[1:]
            for form in every_form(app.url_map, caller, pages_of(caller, self.doors), known)
        ]
        self._let_go()
        self.kept = keep(engine)

    def knock(self, door: Door, sent: Material, fields: Fields) -> Any:
        """Send what was drawn to a door; return the whole answer."""
        body, kind = sent.encoded(fields) if door.method == "POST" else (b"", "")
        headers = {"Cookie": door.cookie, **sent.headers} if door.cookie else dict(sent.headers)
        given = {} if sent.length is None else {"CONTENT_LENGTH": sent.length}
        client = self.app.test_client(use_cookies=False)
        answer = client.open(
            door.address(sent.path),
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
        self.kept.put_back()

    def leave(self) -> None:
        """Let go of the database and of what was kept of it."""
        self._let_go()
        self.kept.drop()

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
        if self.engine.dialect.name == "sqlite":
            assert self.session.execute(text("PRAGMA integrity_check")).scalar() == "ok"
            assert not self.session.execute(text("PRAGMA foreign_key_check")).all()
        self.session.rollback()
