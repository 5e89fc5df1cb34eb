"""Acknowledged means stored, exactly once: while processes die and connections stand still."""

import contextlib
import os
import random
import resource
import signal
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from threading import Event, Thread

import numpy as np
import pytest
import requests
from bs4 import BeautifulSoup

from survey.app import db
from survey.db.models import Study
from survey.kinds.ordering.answer import OrderingAnswer
from survey.services import accounts
from survey.services.studies import lifecycle
from tests.builders import SLUG, a_ready_participant, save_answer
from tests.promises import answering
from tests.promises.crowd import Crowd
from tests.promises.killing import children
from tests.promises.stored import Faults, faults, is_intact
from tests.serving import Server, free_port

pytestmark = pytest.mark.slow

KILL_EVERY = 0.25
FORM = b"POST /s/%s/q/1 HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\nchoice=" % SLUG.encode()


@pytest.fixture
def server(tmp_path):
    running = Server(tmp_path, free_port())
    yield running
    running.kill()
    with running.app.app_context():
        db.engine.dispose()


def kill_workers(server, seconds, pause):
    """Kill a process of the server again and again; count the kills."""
    chance, until, kills = random.Random(2), time.monotonic() + seconds, 0
    while time.monotonic() < until:
        if workers := children(server.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(chance.choice(workers), signal.SIGKILL)
                kills += 1
        time.sleep(pause)
    return kills


class Visitors:
    """Threads that open a page without a pause, each time over a new connection.

    ``seconds``: until each page had come, however often a connection was lost meanwhile.
    """

    def __init__(self, address, many=4):
        self.address, self.over, self.seconds, self.lost = address, Event(), [], count()
        self.threads = [Thread(target=self._visit) for _ in range(many)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _visit(self):
        while not self.over.is_set():
            began = time.monotonic()
            while True:
                try:
                    assert requests.get(self.address, timeout=60).status_code == 200
                    break
                except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError):
                    next(self.lost)
                    time.sleep(0.01)
            self.seconds.append(time.monotonic() - began)
            time.sleep(0.02)


def answer_under_steady_kills(server, seconds, pause):
    """Return how many answers were acknowledged, how many kills there were, and the waits."""
    link = server.open_study("steady", questions=20, practice=False, participants=1_000_000)
    server.start()
    for _ in range(20):  # the first page of each process takes longer, kills or not
        assert requests.get(link, timeout=60).ok
    crowd = Crowd(server.port, "/s/steady", 20)
    with crowd.come(4), Visitors(link) as visitors:
        kills = kill_workers(server, seconds, pause)
        crowd.leave()
    assert server.process.poll() is None  # the same server as at the beginning
    with server.app.app_context():
        assert faults(db.engine, crowd.ledger.answers) == Faults()
        assert is_intact(db.engine)
    return crowd.ledger.seen["acknowledged"], kills, visitors.seconds


def test_a_server_goes_on_while_its_workers_are_killed(server):
    answers, kills, seconds = answer_under_steady_kills(server, 4, pause=1)
    assert answers
    assert kills > 2
    assert max(seconds) < 10


@pytest.mark.trial
def test_a_kill_each_quarter_of_a_second_refuses_no_request_for_half_a_second(server, measured):
    answers, kills, seconds = answer_under_steady_kills(server, 40, KILL_EVERY)
    assert max(seconds) < 0.5
    measured(
        f"One kill of a worker each {KILL_EVERY} s for 40 s ({kills} kills): of {answers:,} "
        f"acknowledged answers 0 lost, 0 doubled, 0 altered; {len(seconds):,} pages came over new "
        f"connections, the slowest after {max(seconds):.2f} s; the server itself went on."
    )


@contextlib.contextmanager
def connections(port, many, sent=b""):
    """Open so many connections, send this over each, and do nothing more."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(files[1], many + 1_000), files[1]))
    lines = []
    try:
        for _ in range(many):
            lines.append(socket.create_connection(("127.0.0.1", port), timeout=60))
            lines[-1].sendall(sent)
        yield
    finally:
        for line in lines:
            line.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, files)


def answer_beside(server, many, sent, seconds):
    """Return how long answers took beside connections that stand still."""
    server.open_study(SLUG, questions=answering.QUESTIONS, participants=10_000)
    server.start()
    with connections(server.port, many, sent), answering.Crowd(server.address) as crowd:
        until = time.monotonic() + seconds
        while not crowd.faults and (time.monotonic() < until or len(crowd.seconds) < 20):
            time.sleep(0.1)
    assert crowd.faults == []
    return crowd.seconds


@pytest.mark.parametrize("sent", [FORM, b"", b"GET /s/a HTTP/1.1\r\n"])
def test_connections_that_stand_still_keep_nobody_waiting(server, sent):
    assert np.percentile(answer_beside(server, 50, sent, 1.5), 99) < 10


@pytest.mark.trial
@pytest.mark.parametrize(
    ("many", "sent", "what"),
    [(500, FORM, "stopped in the middle of a form"), (3_000, b"", "sent nothing")],
    ids=["stalled", "silent"],
)
def test_connections_that_stand_still_delay_one_answer_in_a_hundred_by_less_than_a_second(
    server, many, sent, what, measured
):
    seconds = answer_beside(server, many, sent, 20)
    slowest = np.percentile(seconds, 99)
    assert slowest < 1
    measured(
        f"While {many:,} connections {what}, 99 % of {len(seconds):,} answers of others were "
        f"acknowledged within {slowest:.2f} s."
    )


def test_a_connection_that_stands_still_is_closed(tmp_path):
    code = "from survey import __main__, request_limits as r; r.IDLE_SECONDS = 1; __main__.main()"
    server = Server(tmp_path, free_port(), command=(sys.executable, "-c", code))
    server.start()
    try:
        for sent in (b"", FORM):
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as line:
                line.sendall(sent)
                assert line.recv(100) == b""
    finally:
        server.kill()


def threads_of(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists a process's threads so")
def test_a_process_that_is_copied_has_no_threads(tmp_path):
    """Neither of its own nor of a library, before and after a researcher came."""
    server = Server(tmp_path, free_port(), command=(sys.executable, "-m", "survey"))
    server.start()
    try:
        requests.get(f"{server.address}/research/sign-in", timeout=60)
        [origin] = [pid for pid in children(server.process.pid) if os.getpriority(0, pid)]
        before = memory_of(origin)
        until = time.monotonic() + 60
        while memory_of(origin) == before:  # it loads the libraries
            assert time.monotonic() < until
            time.sleep(0.1)
        assert threads_of(server.process.pid) == 1
        assert threads_of(origin) == 1
    finally:
        server.kill()


def memory_of(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[0])


def a_researcher(server):
    """Return the address and the cookies of a researcher with a closed study of 20 answers."""
    server.open_study("over", questions=5)
    with server.app.app_context():
        study = db.session.query(Study).filter_by(slug="over").one()
        for number in range(4):
            participant = a_ready_participant(db.session, study, f"browser {number}")
            for position in range(1, 6):
                save_answer(db.session, participant, position, OrderingAnswer(frozenset({1}), None))
        lifecycle.close_study(db.session, study)
        ada, token = accounts.add_researcher(db.session, "Ada")
        accounts.share(db.session, study, ada, "owner")
        db.session.remove()
    browser, welcome = requests.Session(), f"{server.address}/research/welcome/{token}"
    page = BeautifulSoup(browser.get(welcome).text, "html.parser")
    token = page.select_one("[name=csrf_token]")["value"]
    password = "a row of four words"
    browser.post(welcome, {"csrf_token": token, "password": password, "again": password})
    return f"{server.address}/research/studies/over/results", browser.cookies


def answer_beside_results(server, many):
    """Return how long results took that were opened at once, and how long answers meanwhile."""
    server.open_study(SLUG, questions=answering.QUESTIONS, participants=10_000)
    server.start()
    address, cookies = a_researcher(server)

    def open_results(_):
        began = time.monotonic()
        page = requests.get(address, cookies=cookies, timeout=300)
        assert page.status_code == 200, page.text
        assert "4 participants gave 20 answers" in " ".join(page.text.split())
        return time.monotonic() - began

    with answering.Crowd(server.address) as crowd, ThreadPoolExecutor(many) as pool:
        while len(crowd.seconds) < 20 and not crowd.faults:
            time.sleep(0.1)
        crowd.seconds.clear()
        opened = list(pool.map(open_results, range(many)))
    assert crowd.faults == []
    return opened, crowd.seconds


def test_results_are_computed_beside_participants(server):
    opened, answered = answer_beside_results(server, 2)
    assert len(opened) == 2
    assert answered


@pytest.mark.trial
def test_results_opened_ten_times_delay_one_answer_in_a_hundred_by_less_than_half_a_second(
    server, measured
):
    opened, answered = answer_beside_results(server, 10)
    slowest = np.percentile(answered, 99)
    assert slowest < 0.5
    measured(
        f"While results were opened ten times at once, the last after {max(opened):.1f} s, 99 % of "
        f"{len(answered):,} answers were acknowledged within {slowest:.2f} s."
    )
