"""SQLite's one place of a writer: waited for in turn, and not for ever."""

import os
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy.exc import DatabaseError, OperationalError
from sqlalchemy.orm import Session

from survey.db import engine as opening
from survey.db.engine import begin_reading, begin_writing
from survey.db.models import Study
from tests.builders import an_open_study
from tests.databases import ON_SQLITE


@ON_SQLITE
def test_who_wants_to_write_begins_when_the_other_has_ended(app, session, engine, monkeypatch):
    asked_again = threading.Event()
    monkeypatch.setattr(opening, "sleep", lambda _: asked_again.set())
    an_open_study(session)
    session.connection()

    def end():
        asked_again.wait(10)
        session.rollback()

    threading.Thread(target=end).start()
    with Session(engine) as other:
        assert other.query(Study).count() == 1
    assert asked_again.is_set()


@ON_SQLITE
def test_of_the_threads_that_wait_one_asks_and_each_gets_its_turn(
    app, session, engine, monkeypatch
):
    asking, answered = set(), []

    def note(seconds):
        asking.add(threading.get_ident())
        time.sleep(seconds)

    monkeypatch.setattr(opening, "sleep", note)
    an_open_study(session)
    session.connection()

    def write():
        with Session(engine) as other:
            begin_writing(other)
            answered.append(other.query(Study).count())

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    assert (len(asking), answered) == (1, [])
    session.rollback()
    for thread in threads:
        thread.join(10)
    assert answered == [1, 1, 1, 1]


@ON_SQLITE
def test_who_waits_for_too_long_is_told_and_waits_as_before_the_next_time(
    app, session, engine, monkeypatch
):
    with Session(engine) as other:
        other.connection()
        monkeypatch.setattr(opening, "BUSY_TIMEOUT_MS", 20)
        asked = []
        monkeypatch.setattr(opening, "sleep", lambda _: asked.append(time.sleep(0.005)))
        with pytest.raises(OperationalError, match="locked"):
            session.connection()
        assert 0 < len(asked) <= 4
    session.rollback()
    driver = session.connection().connection.driver_connection
    assert driver.execute("PRAGMA busy_timeout").fetchone() == (20,)


@ON_SQLITE
def test_after_reading_one_may_write_and_what_was_read_stays(app, session, engine):
    study = an_open_study(session)
    slug = study.slug
    session.rollback()
    read = begin_reading(session).query(Study).one()
    begin_writing(session).query(Study).update({"status": "closed"})
    session.commit()
    assert read.slug == slug
    assert read.status == "open"


@ON_SQLITE
def test_a_transaction_that_only_reads_cannot_commit_a_change(app, session):
    an_open_study(session)
    session.rollback()
    begin_reading(session).query(Study).update({"status": "closed"})
    with pytest.raises(RuntimeError, match="begun to read has changed rows"):
        session.commit()
    session.rollback()
    assert begin_reading(session).query(Study).one().status == "open"
    begin_writing(session).query(Study).update({"status": "closed"})
    session.commit()
    assert session.query(Study).one().status == "closed"


@ON_SQLITE
def test_beginning_to_read_and_to_write_leaves_parsed_statements_as_they_are(app, session):
    # PRAGMA query_only, as other PRAGMAs that are flags, has SQLite parse all statements again.
    statements = []
    driver = session.connection().connection.driver_connection
    session.rollback()
    driver.set_trace_callback(statements.append)
    begin_writing(begin_reading(session))
    session.commit()
    driver.set_trace_callback(None)
    wait = f"PRAGMA busy_timeout = {opening.BUSY_TIMEOUT_MS}"
    begins = ["BEGIN DEFERRED", "ROLLBACK", "PRAGMA busy_timeout = 0", "BEGIN IMMEDIATE", wait]
    assert statements == [*begins, "COMMIT"]


@ON_SQLITE
@pytest.mark.parametrize("hurt", ["disk I/O error", "file is not a database"])
def test_a_hurt_file_is_told_when_writing_begins_and_its_connection_let_go(
    app, session, engine, hurt
):
    an_open_study(session)
    path = Path(engine.url.database)
    held = session.connection().connection.driver_connection
    session.rollback()
    written_by_another(path)
    contents = path.read_bytes()
    with out_of_order(path) if hurt.startswith("disk") else overwritten(path):
        with pytest.raises(DatabaseError, match=hurt):
            session.connection()
        session.rollback()
    path.write_bytes(contents)
    assert session.connection().connection.driver_connection is not held
    assert session.query(Study).count() == 1


def written_by_another(path):
    """Somebody else writes, so that the file has to be looked at again."""
    other = opening.sqlite_library().connect(path)
    other.execute("UPDATE study SET slug = slug")
    other.commit()
    other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()


@contextmanager
def out_of_order(path):
    """Every number under which this process has the file open leads to what cannot be read."""
    folder = os.open(path.parent, os.O_RDONLY)
    numbers = [
        int(link.name)
        for link in Path("/proc/self/fd").iterdir()
        if os.path.realpath(link).startswith(str(path))
    ]
    for number in numbers:
        os.dup2(folder, number)
    yield
    os.close(folder)


@contextmanager
def overwritten(path):
    """Something else was written over the file's beginning."""
    with path.open("r+b") as file:
        file.write(b"garbage!" * 12)
    yield
