"""Acknowledged means stored, exactly once: while something else holds the database."""

import threading
import time
from contextlib import closing

import pytest

from survey.app import db
from survey.db import engine as opening
from survey.db.engine import sqlite_library
from tests.builders import Visitor, an_open_study
from tests.promises.crowd import Crowd
from tests.promises.stored import Faults, faults
from tests.rows import answer_rows
from tests.serving import Server, free_port

CLIENTS = 8


@pytest.fixture
def database_uri(tmp_path):
    return f"sqlite:///{tmp_path / 'survey.sqlite3'}"


@pytest.fixture
def hold(tmp_path):
    """Another connection that takes the whole database when asked to."""
    library = sqlite_library()
    path = tmp_path / "survey.sqlite3"
    with closing(library.connect(path, isolation_level=None, check_same_thread=False)) as holder:

        def take():
            holder.execute("BEGIN EXCLUSIVE")
            return holder

        yield take


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(opening, "BUSY_TIMEOUT_MS", 200)


@pytest.fixture
def visitor(impatient, session, client):
    an_open_study(session, practice=False)
    visitor = Visitor(client)
    visitor.prepare()
    return visitor


def test_a_database_locked_for_long_is_a_503_and_trying_again_stores_one_answer(
    visitor, session, hold
):
    form = visitor.form("/q/1")
    fields = {one["name"]: one.get("value", "") for one in form.select("[type=hidden]")}
    holder = hold()
    for _ in range(2):
        visitor.post("/q/1", follow=False, choice="2", **fields)
        assert visitor.status == 503
        assert visitor.response.headers["Retry-After"].isdecimal()
    holder.execute("ROLLBACK")
    for _ in range(2):
        visitor.post("/q/1", follow=False, choice="2", **fields)
        assert visitor.status == 303
    [(stored, answer)] = answer_rows(session)
    assert (answer.clicked, stored.revisions) == ({2}, 0)


def test_pages_are_shown_while_someone_writes(visitor, hold):
    hold()
    visitor.open("/q/1")
    assert visitor.status == 200


def answer_while_held(server, hold, seconds):
    """Let a crowd answer, and something hold the database in the middle of it."""
    crowd = Crowd(server.port, "/s/held", 50)
    with crowd.come(CLIENTS, at_once=1):
        while crowd.ledger.seen["acknowledged"] < 3 * CLIENTS and not crowd.someone_failed():
            time.sleep(0.05)
        holder, before = hold(), crowd.ledger.seen["acknowledged"]
        threading.Timer(seconds, holder.execute, ["ROLLBACK"]).start()
        time.sleep(seconds)
        while crowd.ledger.seen["acknowledged"] < before + 3 * CLIENTS:
            assert not crowd.someone_failed()
            time.sleep(0.05)
        crowd.leave()
    with server.app.app_context():
        assert faults(db.engine, crowd.ledger.answers) == Faults()
    return crowd.ledger.seen


@pytest.fixture
def server(tmp_path):
    running = Server(tmp_path, free_port())
    running.open_study("held", questions=50, practice=False, participants=1_000)
    running.start()
    yield running
    with running.app.app_context():
        db.engine.dispose()
    running.kill()


@pytest.mark.slow
def test_a_database_locked_for_a_moment_costs_nobody_anything(server, hold, measured):
    seen = answer_while_held(server, hold, seconds=3)
    assert not seen["status 503"]
    assert not seen["connections lost"]
    measured(
        f"SQLite held by another process for 3 s while {CLIENTS} clients answered: "
        f"{seen['acknowledged']} answers acknowledged and stored once, 0 errors."
    )


@pytest.mark.slow
def test_a_database_locked_for_long_delays_answers_and_loses_none(server, hold, measured):
    seen = answer_while_held(server, hold, seconds=15)
    assert seen["status 503"]
    assert not seen["status 500"]
    measured(
        f"SQLite held for 15 s, longer than anybody waits for it: {seen['status 503']} × 503, sent "
        f"again; {seen['acknowledged']} answers acknowledged, 0 lost, 0 doubled, 0 altered."
    )
