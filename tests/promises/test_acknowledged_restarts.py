"""Acknowledged means stored, exactly once: while servers are restarted and replaced."""

import contextlib
import os
import shutil
import signal
import socket
import sys
import threading
import time
from contextlib import closing, contextmanager

import pytest
import requests

from survey.app import db
from tests.databases import newest_schema
from tests.guides import proxies
from tests.promises.crowd import Crowd
from tests.promises.killing import all_children
from tests.promises.postgres import own_cluster
from tests.promises.stored import Faults, faults
from tests.serving import Server, free_port

pytestmark = pytest.mark.slow

PEOPLE, RUNS = 30, 3
SURVEY = (sys.executable, "-m", "survey")
# The survey, and a page that takes a while; its version is in a file.
CODE = """
import sys, time
from pathlib import Path
from survey import app
from survey.web import requests
file = Path(sys.argv.pop(1))
requests.HEADERS["X-Version"] = file.read_text()
create_app = app.create_app

def create_app_with_a_slow_page(*settings, **how):
    made = create_app(*settings, **how)
    made.add_url_rule("/slow", "slow", slow)
    return made

def slow():
    while not file.with_name("answer").exists():
        time.sleep(0.05)
    return "answered"

app.create_app = create_app_with_a_slow_page
import survey.__main__
survey.__main__.main()
"""


@pytest.fixture
def version(tmp_path):
    file = tmp_path / "version"
    file.write_text("1")
    return file


@pytest.fixture
def server(tmp_path, version):
    running = Server(
        tmp_path, free_port(), command=(sys.executable, "-c", CODE, str(version)), workers=2
    )
    running.open_study("steady", questions=20, practice=False, participants=1_000_000)
    running.start()
    yield running
    with contextlib.suppress(ProcessLookupError):  # it has ended
        running.kill()
    with running.app.app_context():
        db.engine.dispose()


@contextmanager
def slow_request(server):
    """Begin a request that is answered at the end of the block; yield a list for its answer."""
    answers = []

    def ask():
        answers.append(requests.get(f"{server.address}/slow", timeout=60))

    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(1)
    try:
        yield answers
    finally:
        (server.instance / "answer").touch()
        thread.join()
        (server.instance / "answer").unlink()


def until_refused(server):
    """Wait until the server accepts no connections."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            connected(server).close()
        except ConnectionError:
            return
        time.sleep(0.02)
    raise AssertionError("it still accepts connections")


def test_a_server_that_is_ended_first_finishes_what_runs(server):
    with slow_request(server) as answers:
        server.process.send_signal(signal.SIGTERM)
        until_refused(server)
        assert server.process.poll() is None
    assert answers[0].text == "answered"
    assert server.process.wait(30) == 0


def test_a_connection_is_told_that_it_ends_while_the_server_does(server):
    with slow_request(server), closing(connected(server)) as line:
        assert b"Connection: close" not in ask_over(line)
        server.process.send_signal(signal.SIGTERM)
        until_refused(server)
        assert b"Connection: close" in ask_over(line)
        assert line.recv(1) == b""


def connected(server):
    return socket.create_connection(("127.0.0.1", server.port), 60)


def ask_over(line):
    line.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
    reply = b""
    while not reply.endswith(b"}\n"):
        reply += line.recv(10_000)
    return reply


def test_sighup_replaces_all_processes_by_the_new_version_without_a_refused_request(
    server, version, measured
):
    before, pid = set(all_children(server)), server.process.pid
    crowd = Crowd(server.port, "/s/steady", 20)
    seen, over = [], threading.Event()

    def look():
        while not over.is_set():
            seen.append(requests.get(f"{server.address}/s/steady", timeout=60))
            time.sleep(0.02)

    looking = threading.Thread(target=look)
    with crowd.come(4):
        looking.start()
        version.write_text("2")
        server.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 120
        while not seen or seen[-1].headers["X-Version"] != "2" or before & alive(before):
            assert time.monotonic() < until
            time.sleep(0.1)
        over.set()
        looking.join()
        crowd.leave()
    assert server.process.poll() is None
    assert server.process.pid == pid
    assert len(all_children(server)) == 3
    assert all(page.status_code == 200 for page in seen)
    # A kept connection that the old process had closed is opened anew, as browsers do.
    assert not crowd.ledger.seen["connections refused"]
    with server.app.app_context():
        assert faults(db.engine, crowd.ledger.answers) == Faults()
    measured(
        f"SIGHUP replaced a server by its new version while 4 people answered without a pause: of "
        f"{len(seen)} pages over new connections and {crowd.ledger.seen['acknowledged']} answers "
        "0 refused, 0 lost."
    )


def alive(pids):
    return {pid for pid in pids if os.path.exists(f"/proc/{pid}")}


@contextmanager
def two_machines(folder, uri=""):
    """Two servers with one database, and nginx in front; yield them, and its port."""
    proxies.require("nginx")
    servers = []
    for name in ("one", "two"):
        instance = folder / name
        instance.mkdir()
        servers.append(Server(instance, free_port(), uri, command=SURVEY))
    servers[0].open_study("steady", questions=20, practice=False, participants=1_000_000)
    try:
        for server in servers:
            server.start()
        ports = [server.port for server in servers]
        with proxies.nginx(folder, *ports, with_tls=False) as proxy:
            yield servers, proxy.port
    finally:
        for server in servers:
            server.kill()
            with server.app.app_context():
                db.engine.dispose()


def restart_one_after_another(servers, port, people, pause):
    """Restart both machines while people answer; return what they met."""
    crowd = Crowd(port, "/s/steady", 20)
    with crowd.come(people, at_once=1):
        for server in servers:
            time.sleep(pause)
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(30) == 0
            server.start()
        time.sleep(pause)
        crowd.leave()
    with servers[0].app.app_context():
        assert faults(db.engine, crowd.ledger.answers) == Faults()
        db.engine.dispose()
    assert crowd.ledger.seen["acknowledged"]
    assert not crowd.ledger.seen["connections lost"]
    assert not [what for what in crowd.ledger.seen if what.startswith("status 5")]
    return crowd.ledger.seen


def test_two_servers_behind_a_proxy_restart_unnoticed(tmp_path):
    file = tmp_path / "survey.sqlite3"
    shutil.copyfile(newest_schema(), file)
    with two_machines(tmp_path, f"sqlite:///{file}") as (servers, port):
        restart_one_after_another(servers, port, people=4, pause=1)


@pytest.mark.trial
def test_two_machines_restart_one_after_another_while_thirty_people_answer(
    tmp_path,
    postgresql_server,  # which says where such servers keep their locks
    measured,
):
    answers = pages = 0
    with own_cluster() as cluster, two_machines(tmp_path, cluster.uri) as (servers, port):
        for _ in range(RUNS):
            seen = restart_one_after_another(servers, port, PEOPLE, pause=3)
            answers += seen["acknowledged"]
            pages += seen["status 200"]
    measured(
        f"Two servers with one PostgreSQL behind nginx were restarted one after the other, {RUNS} "
        f"times, while {PEOPLE} people answered without a pause: of {answers:,} answers and "
        f"{pages:,} pages 0 refused, 0 lost, 0 doubled."
    )
