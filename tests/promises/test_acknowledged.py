"""Acknowledged means stored, exactly once: under load, while processes are killed."""

import os
import time

import pytest

from survey.app import db
from tests.promises.crowd import Crowd
from tests.promises.killing import Killer
from tests.promises.postgres import own_cluster
from tests.promises.stored import Faults, faults, is_intact
from tests.serving import Server, free_port

CLIENTS, WORKERS, QUESTIONS = 16, 4, 50
# Answers and kills on each database: of `make test-all`, and of `make promises`.
A_FEW, MANY = (150, 4), (5_000, 100)
# The same for `make soak`.
ANSWERS = int(os.environ.get("SOAK_ANSWERS", "200000"))
KILLS = int(os.environ.get("SOAK_KILLS", "2000"))


@pytest.fixture
def sqlite_server(tmp_path):
    server = Server(tmp_path, free_port(), workers=WORKERS)
    yield server
    server.kill()


@pytest.fixture
def cluster(postgresql_server):  # which says where such servers keep their locks
    with own_cluster() as started:
        yield started


@pytest.fixture
def postgresql_survey(tmp_path, cluster):
    server = Server(tmp_path, free_port(), cluster.uri, workers=WORKERS)
    yield server
    with server.app.app_context():
        db.engine.dispose()
    server.kill()


def answer_under_kills(server, also, answers, kills, tell=None):
    """Let a crowd answer and a killer kill until both have done enough; look at what is stored."""
    server.open_study("kills", questions=QUESTIONS, practice=False, participants=10_000_000)
    server.start()
    crowd = Crowd(server.port, "/s/kills", QUESTIONS)
    killer, seen = Killer(server, crowd.ledger, 0.9 * answers / kills, also), crowd.ledger.seen
    with crowd.come(CLIENTS), killer.at_work():
        while seen["acknowledged"] < answers or killer.kills.total() < kills:
            time.sleep(0.2)
            if crowd.someone_failed() or killer.failure:
                break
            if tell:
                tell(seen, killer.kills)
        killer.stop()
        if killer.failure is None:
            crowd.leave()
        crowd.ledger.hopeless = True
    check(server, crowd.ledger)
    assert killer.kills.total() >= kills
    return crowd.ledger, killer


def check(server, ledger):
    with server.app.app_context():
        found, intact = faults(db.engine, ledger.answers), is_intact(db.engine)
    assert found == Faults()
    assert intact
    # A server that is in trouble says so in a way that is tried again.
    assert not [status for status in ledger.seen if status.startswith(("status 500", "status 4"))]


def in_words(ledger, killer):
    seen = ledger.seen
    kinds = ", ".join(f"{number} × {name}" for name, number in sorted(killer.kills.items()))
    return (
        f"{seen['acknowledged']:,} answers acknowledged to {CLIENTS} clients "
        f"({seen['sent twice']:,} sent twice; {seen['connections lost']:,} connections lost, "
        f"{seen['status 503']:,} × 503, all tried again) under {killer.kills.total():,} kills "
        f"({kinds}; the server started anew {seen['server started anew']} times): "
        "0 lost, 0 doubled, 0 altered"
    )


def told_each_minute():
    """Print how far it is, at most once a minute."""
    last = [0.0]

    def tell(seen, kills):
        if time.monotonic() - last[0] > 60:
            last[0] = time.monotonic()
            now = time.strftime("%H:%M")
            told = f"{now}  {seen['acknowledged']:,} answers, {kills.total():,} kills"
            print(told, flush=True)  # noqa: T201 - to see it go on

    return tell


def harm_to(cluster):
    return {
        "PostgreSQL restarted at once": cluster.restart_at_once,
        "all its connections ended": cluster.end_connections,
    }


@pytest.mark.slow
def test_no_answer_is_lost_or_doubled_on_sqlite_under_a_few_kills(sqlite_server):
    answer_under_kills(sqlite_server, {}, *A_FEW)


@pytest.mark.slow
def test_no_answer_is_lost_or_doubled_on_postgresql_under_a_few_kills(postgresql_survey, cluster):
    answer_under_kills(postgresql_survey, harm_to(cluster), *A_FEW)


@pytest.mark.trial
def test_no_answer_is_lost_or_doubled_on_sqlite_under_kills(sqlite_server, measured):
    ledger, killer = answer_under_kills(sqlite_server, {}, *MANY)
    measured(f"SQLite: {in_words(ledger, killer)}; the file is intact.")


@pytest.mark.trial
def test_no_answer_is_lost_or_doubled_on_postgresql_under_kills(
    postgresql_survey, cluster, measured
):
    ledger, killer = answer_under_kills(postgresql_survey, harm_to(cluster), *MANY)
    measured(f"PostgreSQL: {in_words(ledger, killer)}.")


@pytest.mark.soak
def test_no_answer_is_lost_or_doubled_on_sqlite_in_hours(sqlite_server, measured):
    ledger, killer = answer_under_kills(sqlite_server, {}, ANSWERS, KILLS, told_each_minute())
    measured(f"SQLite: {in_words(ledger, killer)}; the file is intact.")


@pytest.mark.soak
def test_no_answer_is_lost_or_doubled_on_postgresql_in_hours(postgresql_survey, cluster, measured):
    harm = harm_to(cluster)
    ledger, killer = answer_under_kills(postgresql_survey, harm, ANSWERS, KILLS, told_each_minute())
    measured(f"PostgreSQL: {in_words(ledger, killer)}.")
