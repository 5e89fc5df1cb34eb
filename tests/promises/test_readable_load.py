"""Promise 8: backups while people answer, each of them whole."""

import sqlite3

import numpy as np
import pytest
from sqlalchemy import text

from survey.app import db
from survey.db.engine import sqlite_engine
from survey.services.operations.backups import write_backup
from survey.services.operations.database import upgrade_database
from tests.builders import SLUG
from tests.promises.answering import QUESTIONS, Crowd
from tests.serving import Server, free_port

pytestmark = pytest.mark.slow

WAL_AT_MOST = 64 * 2**20
HOW_MANY = {"sqlite": 200, "postgresql": 20}


@pytest.fixture
def server(database_uri, tmp_path):
    running = Server(tmp_path, free_port(), database_uri)
    running.start()
    yield running
    running.kill()
    with running.app.app_context():
        db.engine.dispose()


def answers_in(file):
    """The labels ticked, by the id each participant came with and the position."""
    connection = sqlite3.connect(file)
    rows = connection.execute(
        "SELECT external_id, position, clicked FROM response JOIN presentation "
        "USING (participant_id, question_id) JOIN identity USING (participant_id) "
        "JOIN ordering_response ON response_id = response.id"
    ).fetchall()
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()
    return {(person, position): clicked.bit_length() for person, position, clicked in rows}


@pytest.mark.trial
def test_each_backup_during_load_is_whole_and_holds_what_was_acknowledged_before(
    server, tmp_path, measured
):
    server.open_study(SLUG, questions=QUESTIONS, participants=10_000)
    with server.app.app_context():
        engine = db.engine
    many, smallest, file = HOW_MANY[engine.dialect.name], None, tmp_path / "backup.sqlite3"
    with Crowd(server.address) as crowd:
        for number in range(many):
            before = crowd.acknowledged.copy()
            write_backup(engine, file)
            held = answers_in(file)
            assert before.items() <= held.items(), f"backup {number} lacks answers"
            smallest = len(before) if smallest is None else smallest
    assert crowd.faults == []
    write_backup(engine, file)
    assert crowd.acknowledged.items() <= answers_in(file).items()
    assert len(crowd.acknowledged) > smallest
    slowest = np.percentile(crowd.seconds, 99)
    wal = server.instance / "survey.sqlite3-wal"
    size = wal.stat().st_size if wal.exists() else 0
    assert size <= WAL_AT_MOST
    log = f" The log was {size / 2**20:.1f} MiB afterwards." if wal.exists() else ""
    measured(
        f"{many} backups on {engine.dialect.name} while {len(crowd.acknowledged):,} answers were "
        "acknowledged: all intact, none with an orphan, none lacking an answer acknowledged before "
        f"it began; 99 % of the answers took up to {slowest:.2f} s meanwhile.{log}"
    )


def test_a_long_reader_stops_nobody_and_the_log_is_cut_back_afterwards(tmp_path, measured):
    file = tmp_path / "survey.sqlite3"
    engine = sqlite_engine(file)
    upgrade_database(engine)
    row = text("INSERT INTO sign_in_throttle VALUES (:text || random(), 1, '2026-01-01 00:00:00')")
    reader = engine.execution_options(sqlite_begin="DEFERRED").connect()
    assert reader.execute(text("SELECT count(*) FROM sign_in_throttle")).scalar() == 0
    for _ in range(10):
        with engine.begin() as connection:
            connection.execute(row, [{"text": "x" * 2**20}] * 8)
    grown = file.with_name("survey.sqlite3-wal").stat().st_size
    assert grown > WAL_AT_MOST
    assert reader.execute(text("SELECT count(*) FROM sign_in_throttle")).scalar() == 0
    reader.close()
    for _ in range(2):
        with engine.begin() as connection:
            connection.execute(row, [{"text": "x"}])
    left = file.with_name("survey.sqlite3-wal").stat().st_size
    engine.dispose()
    assert left <= WAL_AT_MOST
    measured(
        f"SQLite's log grew to {grown / 2**20:.0f} MiB while one reader kept its view, and was "
        f"{left / 2**20:.0f} MiB two writes after it had ended."
    )
