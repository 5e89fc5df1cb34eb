"""Acknowledged means stored, exactly once: while requests hang or the database is held."""

import os
import signal
import socket
import statistics
import sys
import threading
import time
from contextlib import ExitStack, closing
from itertools import count

import numpy as np
import pytest
import requests

from survey.db.engine import sqlite_library
from tests.builders import SLUG, Visitor
from tests.promises import answering
from tests.promises.killing import all_children, children
from tests.serving import OverHttp, Server, free_port

pytestmark = pytest.mark.slow

HANGING, RUNS, FREEZE = 20, 3, 15.0
NUMBERS = count()  # so that people of a later run are others
# The survey with two pages more: one that waits for ever outside Python, and one that never ends.
CODE = """
import time
from survey import app, server
server.LONGEST_REQUEST |= {"read": LONGEST, "write": LONGEST}
create_app = app.create_app

def create_app_that_hangs(*settings, **how):
    made = create_app(*settings, **how)
    made.add_url_rule("/hang", "hang", lambda: time.sleep(1_000), methods=["GET", "POST"])
    made.add_url_rule("/spin", "spin", spin)
    return made

def spin():
    while True:
        time.sleep(0.01)

app.create_app = create_app_that_hangs
import survey.__main__
survey.__main__.main()
"""


@pytest.fixture
def server(tmp_path):
    running = start(tmp_path)
    yield running
    running.kill()


def start(folder, longest=60.0):
    """Start a survey whose requests may take so many seconds."""
    code = CODE.replace("LONGEST}", f"{longest}}}").replace("LONGEST,", f"{longest},")
    server = Server(folder, free_port(), command=(sys.executable, "-c", code))
    server.open_study(SLUG, questions=answering.QUESTIONS, participants=10_000)
    server.start()
    return server


def hang(stack, server, many, request=b"GET /hang"):
    """Send requests that hang; return their connections."""
    lines = []
    for _ in range(many):
        line = socket.create_connection(("127.0.0.1", server.port), timeout=60)
        lines.append(stack.enter_context(closing(line)))
        line.sendall(request + b" HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
    return lines


def answer_for(server, seconds):
    """Return how long answers took, for so long at least."""
    with answering.Crowd(server.address, numbers=NUMBERS) as crowd:
        until = time.monotonic() + seconds
        while not crowd.faults and (time.monotonic() < until or len(crowd.seconds) < 10):
            time.sleep(0.1)
    assert crowd.faults == []
    return crowd.seconds


@pytest.mark.parametrize("request_line", [b"GET /hang", b"POST /hang"])
def test_answers_go_on_while_requests_hang(server, request_line):
    with ExitStack() as stack:
        hang(stack, server, 8, request_line)
        assert max(answer_for(server, 1)) < 20


@pytest.mark.trial
def test_answers_go_on_within_a_second_while_twenty_requests_hang(server, measured):
    p99 = []
    for run in range(RUNS):
        with ExitStack() as stack:
            hang(stack, server, HANGING, (b"GET /hang", b"POST /hang")[run % 2])
            seconds = answer_for(server, 20)
            p99.append(np.percentile(seconds, 99))
        server.kill()
        server.start()
    assert max(p99) < 1, p99
    measured(
        f"While {HANGING} requests hung, 99 % of the answers of others were acknowledged within "
        f"{statistics.median(p99):.2f} s (the worst of {RUNS} runs: {max(p99):.2f} s)."
    )


def test_a_request_that_takes_too_long_is_ended_alone(tmp_path):
    server = start(tmp_path, longest=1.0)
    workers = all_children(server)
    try:
        answer = requests.get(f"{server.address}/spin", timeout=60)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert children(server.process.pid) == workers
        assert requests.get(server.address + f"/s/{SLUG}", timeout=60).ok
    finally:
        server.kill()


def test_a_process_with_a_request_that_cannot_be_ended_is_drained_and_replaced(tmp_path):
    """A request that is under way when the process is asked to end is answered by it."""
    server = start(tmp_path, longest=2.0)
    before = set(all_children(server))
    try:
        with ExitStack() as stack:
            [line] = hang(stack, server, 1)
            seconds = answer_for(server, 20)
            assert line.recv(100) == b""
        assert max(seconds) < 10
        after = set(all_children(server))
        assert len(before & after) == 2  # the other one, and that for requests' own processes
        assert len(after) == 3
    finally:
        server.kill()


def read_while_held(server, folder, seconds):
    """Return how long pages took that only read, while someone writes for so many seconds."""
    reader = Visitor(OverHttp(server.address), SLUG)
    reader.go("/q/1", query=f"?PROLIFIC_PID=reader{next(NUMBERS)}")
    taken, over = [], threading.Event()
    library = sqlite_library()
    path = folder / "survey.sqlite3"
    with closing(library.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        writers = [threading.Thread(target=write_until, args=(server, over)) for _ in range(30)]
        for writer in writers:
            writer.start()
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            began = time.monotonic()
            reader.open("/q/1")
            assert reader.status == 200
            taken.append(time.monotonic() - began)
            time.sleep(0.05)
        holder.execute("ROLLBACK")
        over.set()
        for writer in writers:
            writer.join()
    return taken


def write_until(server, over):
    """Begin to take part, which writes, again and again."""
    visitor = Visitor(OverHttp(server.address), SLUG)
    while not over.is_set():
        visitor.open("")
        visitor.submit("/begin", follow=False)


def test_pages_that_only_read_wait_for_no_writer(server, tmp_path):
    assert max(read_while_held(server, tmp_path, 4)) < 3


@pytest.mark.trial
def test_pages_that_only_read_answer_as_always_while_the_database_is_held(
    server, tmp_path, measured
):
    slowest, p99 = [], []
    for _ in range(RUNS):
        seconds = read_while_held(server, tmp_path, 30)
        slowest.append(max(seconds))
        p99.append(np.percentile(seconds, 99))
    assert max(slowest) < 1, slowest
    measured(
        f"While another process held SQLite's lock for 30 s and 30 people sent forms, 99 % of the "
        f"pages that only read came within {statistics.median(p99):.2f} s; the slowest of "
        f"{RUNS} runs after {max(slowest):.2f} s."
    )


@pytest.mark.trial
def test_a_server_that_is_stopped_and_goes_on_kills_none_of_its_processes(
    tmp_path, capfd, measured
):
    server = start(tmp_path)
    try:
        requests.get(f"{server.address}/s/{SLUG}", timeout=60)
        before = all_children(server)
        with ExitStack() as stack:
            [line] = hang(stack, server, 1, b"GET /readyz")
            for _ in range(RUNS):
                os.killpg(server.process.pid, signal.SIGSTOP)
                time.sleep(FREEZE)
                os.kill(server.process.pid, signal.SIGCONT)  # the system chooses who is the first
                time.sleep(0.3)
                os.killpg(server.process.pid, signal.SIGCONT)
                answer_for(server, 3)
            assert line.recv(100).startswith(b"HTTP/1.1 200")
        assert children(server.process.pid) == before
        assert "hangs" not in capfd.readouterr().err
    finally:
        server.kill()
    measured(
        f"A server whose processes were stopped {RUNS} times for {FREEZE:.0f} s went on with the "
        "same processes, and logged nothing."
    )
