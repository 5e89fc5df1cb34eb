"""The processes that serve: what becomes of one that ends, hangs or cannot start."""

import itertools
import multiprocessing
import os
import select
import signal
import socket
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager

import pytest
import requests

from survey import own_process, request_limits, server
from tests.promises.killing import children

SOON = 10.0  # seconds; a busy machine may take some
LET_GO = multiprocessing.get_context("fork").Event()


def application(environ, start_response):
    """Answer with the id of the process; /hang never answers, /end ends the process.

    /thread answers with the id of the thread, /held once the test lets it go.
    """
    if environ["PATH_INFO"] == "/hang":
        time.sleep(1_000)
    if environ["PATH_INFO"] == "/held":
        LET_GO.wait(SOON)
    if environ["PATH_INFO"] == "/thread":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [str(threading.get_native_id()).encode()]
    if environ["PATH_INFO"] == "/end":
        os._exit(1)
    if "survey.pass_on" in environ:
        try:
            status, headers, body = environ["survey.pass_on"]()
        except (EOFError, OSError):
            start_response("403 Forbidden", [])
            return [b"too much"]
        start_response(status, headers)
        return body
    if environ["PATH_INFO"].startswith(("/research/", "/studies/")):
        return in_own_process(environ, start_response)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [str(os.getpid()).encode()]


def in_own_process(environ, start_response):
    """Return the process and the body of the request; /research/slow, large and busy take too much.

    /research/late takes a second.
    """
    if environ["PATH_INFO"] == "/research/late":
        time.sleep(1)
    if environ["PATH_INFO"] == "/research/slow":
        time.sleep(1_000)
    while environ["PATH_INFO"] == "/research/busy":
        pass
    if environ["PATH_INFO"] == "/research/large":
        bytearray(2 * own_process.OWN_MEMORY)
    start_response("201 Created", [("X-Method", environ["REQUEST_METHOD"])])
    return [f"{os.getpid()} ".encode(), environ["wsgi.input"].read()]


@contextmanager
def serving(workers=1, *background, **settings):
    listener = server.listen("127.0.0.1", 0)
    process = multiprocessing.get_context("fork").Process(
        target=server.serve, args=(application, listener, workers, *background), kwargs=settings
    )
    process.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", process
    finally:
        process.terminate()
        process.join(SOON)
        process.kill()
        listener.close()


def ask(address, path="/", seconds=SOON):
    """Ask until there is an answer."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            return requests.get(address + path, timeout=seconds).text
        except requests.RequestException:
            time.sleep(0.02)
    raise AssertionError("no answer")


def test_a_process_that_ends_is_replaced_each_time():
    with serving() as (address, _):
        seen = set()
        for _ in range(5):
            seen.add(ask(address))
            with pytest.raises(requests.ConnectionError):
                requests.get(f"{address}/end", timeout=SOON)
        assert len(seen) == 5


@pytest.mark.slow
def test_a_process_that_hangs_is_replaced(monkeypatch):
    monkeypatch.setattr(server, "SILENT_SECONDS", 1.0)
    with serving() as (address, _):
        hanging = int(ask(address))
        os.kill(hanging, signal.SIGSTOP)
        assert int(ask(address)) != hanging


def test_a_process_is_killed_and_that_is_logged_once_however_long_its_end_takes(
    monkeypatch, caplog
):
    """As in a container that is paused."""
    worker, sent = server.Worker(lambda _: time.sleep(1_000), patience=1.0), []
    worker.check(0.0)
    try:
        with monkeypatch.context() as patch:
            patch.setattr(server.os, "kill", lambda *signal: sent.append(signal))
            for now in range(1, 100):
                worker.check(float(now))
    finally:
        os.kill(worker.pid, signal.SIGKILL)
        os.waitpid(worker.pid, 0)
    assert sent == [(worker.pid, signal.SIGKILL)]
    assert [record.message for record in caplog.records] == [
        "A server process hangs and is replaced."
    ]


def test_time_in_which_the_first_process_was_stopped_makes_no_process_silent(monkeypatch):
    monkeypatch.setattr(server, "SILENT_SECONDS", 2.0)
    with serving() as (address, process):
        first = ask(address)
        for pid in (process.pid, int(first)):
            os.kill(pid, signal.SIGSTOP)
        time.sleep(4)
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(0.5)
        os.kill(int(first), signal.SIGCONT)
        assert ask(address) == first


@pytest.mark.slow
def test_a_process_with_a_request_that_hangs_is_replaced(monkeypatch):
    monkeypatch.setattr(server, "INTERRUPTION_SECONDS", 0.5)
    monkeypatch.setattr(server, "STOPPING_SECONDS", 1.0)
    monkeypatch.setitem(server.LONGEST_REQUEST, "read", 0.5)
    with serving() as (address, _):
        hanging = ask(address)
        with pytest.raises(requests.ConnectionError):
            requests.get(f"{address}/hang", timeout=SOON)
        assert ask(address) != hanging


@pytest.mark.slow
def test_a_process_that_cannot_start_is_tried_less_and_less_often(tmp_path, monkeypatch):
    starts = tmp_path / "starts"

    def fail(self):
        with starts.open("a") as file:
            file.write(f"{time.monotonic()}\n")
        os._exit(1)

    monkeypatch.setattr(server.Worker, "_run", fail)
    with serving(workers=0) as (_, process):  # the process that others are copies of is left
        time.sleep(2)
        assert process.is_alive()
    moments = [float(line) for line in starts.read_text().split()]
    pauses = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert len(moments) >= 3
    assert all(pause >= 0.1 * 2**failures for failures, pause in enumerate(pauses, 1))


def test_processes_end_with_the_first_one(monkeypatch):
    with serving(2) as (address, process):
        ask(address)
        process.kill()
        process.join()
        until = time.monotonic() + SOON
        while time.monotonic() < until:
            time.sleep(0.1)
            try:
                requests.get(address, timeout=0.5)
            except requests.ConnectionError:
                break
            except requests.Timeout:  # the test's own copy of the socket still listens
                break
        else:
            raise AssertionError("a process still answers")


def test_signals_that_are_repeated_end_it_once():
    with serving() as (address, process):
        ask(address)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGTERM):
            os.kill(process.pid, number)
        process.join(SOON)
        assert process.exitcode == 0


def test_a_process_that_has_just_started_is_ended_too(monkeypatch):
    run = server.Worker._run

    def run_late(self):
        time.sleep(1)
        run(self)

    monkeypatch.setattr(server.Worker, "_run", run_late)
    with serving() as (_, process):
        while not children(process.pid):
            time.sleep(0.01)
        process.terminate()
        process.join(server.STOPPING_SECONDS / 2)
        assert process.exitcode == 0


@pytest.mark.slow
def test_requests_that_hang_keep_no_other_kind_waiting():
    with serving() as (address, _):
        port = int(address.rpartition(":")[2])
        hanging = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
        for line in hanging:
            line.sendall(b"GET /hang HTTP/1.1\r\nHost: a\r\n\r\n")
        assert requests.get(f"{address}/healthz", timeout=SOON).ok
        assert requests.get(f"{address}/research/", timeout=SOON).ok
        for line in hanging:
            line.close()


def test_one_thread_answers_and_others_while_requests_are_slow():
    LET_GO.clear()
    with serving(threads=1) as (address, _):
        first = ask(address, "/thread")
        port = int(address.rpartition(":")[2])
        held = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        for line in held:
            line.sendall(b"GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        assert ask(address, "/thread") != first
        assert not select.select(held, [], [], 0)[0]
        LET_GO.set()
        for line in held:
            assert b" 200 " in line.recv(100)
            line.close()
        until = time.monotonic() + SOON
        while len({ask(address, "/thread") for _ in range(20)}) > 1:
            assert time.monotonic() < until


def test_a_request_that_is_passed_on_is_answered_by_a_process_of_its_own():
    with serving() as (address, _):
        seen = {ask(address)}
        sent = [("/research/own", body) for body in (b"", b"short", b"long" * 1_000_000)]
        for path, body in (*sent, ("/studies/public", b"short")):
            answer = requests.post(address + path, body, timeout=SOON)
            process, _, received = answer.content.partition(b" ")
            assert (answer.status_code, answer.headers["X-Method"]) == (201, "POST")
            assert received == body
            seen.add(process.decode())
        assert len(seen) == 5


def test_pages_do_not_wait_for_uploads():
    with serving() as (address, _), ThreadPoolExecutor(3) as pool:
        ask(address, "/research/own")
        late = f"{address}/research/late"
        uploads = [
            pool.submit(requests.post, late, files={"a": b"file"}, timeout=SOON) for _ in range(3)
        ]
        time.sleep(0.3)
        began = time.monotonic()
        assert requests.get(f"{address}/research/own", timeout=SOON).status_code == 201
        assert time.monotonic() - began < 0.6
        assert [upload.result().status_code for upload in uploads] == [201] * 3


def test_a_request_in_a_process_of_its_own_is_answered_before_the_server_ends():
    with serving() as (address, process), ThreadPoolExecutor(1) as pool:
        ask(address, "/research/own")
        late = pool.submit(requests.get, f"{address}/research/late", timeout=SOON)
        time.sleep(0.3)
        process.terminate()
        assert late.result().status_code == 201
        process.join(SOON)
        assert process.exitcode == 0


def test_libraries_are_loaded_when_the_first_researcher_comes():
    loaded = multiprocessing.get_context("fork").Event()
    with serving(load_libraries=loaded.set) as (address, _):
        ask(address)
        assert not loaded.wait(0.3)
        ask(address, "/research/own")
        assert loaded.is_set()


def test_libraries_are_loaded_before_a_researcher_asks_for_what_needs_them(monkeypatch):
    def signed_in(environ, start_response):
        start_response("200 OK", [])
        return [b"welcome"]

    loaded = multiprocessing.get_context("fork").Event()
    monkeypatch.setattr("tests.test_server.application", signed_in)
    with serving(load_libraries=loaded.set) as (address, _):
        assert ask(address, "/research/sign-in") == "welcome"
        assert loaded.wait(SOON)


@pytest.mark.slow
def test_a_process_of_its_own_has_limits(monkeypatch):
    monkeypatch.setattr(own_process, "OWN_SECONDS", 1)
    with serving() as (address, _):
        for path in ("slow", "large"):
            answer = requests.get(f"{address}/research/{path}", timeout=SOON)
            assert (answer.status_code, answer.text) == (403, "too much")
        assert requests.get(f"{address}/research/own", timeout=SOON).status_code == 201


@pytest.mark.slow
def test_an_upload_is_limited_by_its_work_and_not_by_the_time_that_it_waits(monkeypatch):
    monkeypatch.setattr(own_process, "OWN_SECONDS", 1)
    monkeypatch.setattr(own_process, "UPLOAD_PROCESSOR_SECONDS", 0.3)
    with serving() as (address, _):
        statuses = [
            requests.post(address + path, files={"a": b"file"}, timeout=SOON).status_code
            for path in ("/research/late", "/research/busy", "/research/own")
        ]
    assert statuses == [201, 403, 201]


def test_requests_wait_for_a_process_of_their_own_while_its_origin_is_replaced():
    with serving() as (address, process):
        ask(address)
        origin = max(children(process.pid))
        os.kill(origin, signal.SIGKILL)
        assert requests.get(f"{address}/research/own", timeout=SOON).status_code == 201


def test_long_bodies_are_rejected_before_they_are_read():
    with serving() as (address, _):
        port = int(address.rpartition(":")[2])
        for path, status in (("/s/a", b"413"), ("/research/own", b"201")):
            with closing(socket.create_connection(("127.0.0.1", port), timeout=SOON)) as line:
                head = f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n"
                line.sendall(head.encode() + b"x" * (2_000_000 if status == b"201" else 0))
                assert line.recv(100).split()[1] == status


def is_cut_off(line):
    """Send a byte; return whether the other side has closed the connection."""
    try:
        line.sendall(b"x")
        return line.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionError:
        return True


@pytest.mark.parametrize(
    "first", [b"GET /s/a", b"POST /s/a HTTP/1.1\r\nContent-Length: 900\r\n\r\n"]
)
def test_a_request_that_takes_too_long_to_arrive_is_cut_off(monkeypatch, first):
    """However often a byte of it comes."""
    monkeypatch.setattr(request_limits, "ARRIVAL_SECONDS", 0.5)
    with serving() as (address, _):
        port = int(address.rpartition(":")[2])
        with closing(socket.create_connection(("127.0.0.1", port), timeout=0.05)) as line:
            line.sendall(first)
            until = time.monotonic() + SOON
            while not is_cut_off(line):
                assert time.monotonic() < until


def test_more_uploads_than_are_allowed_at_once_are_refused_before_they_are_read():
    head = b"POST /research/own HTTP/1.1\r\nHost: a\r\nContent-Length: 2000000\r\n\r\n"
    with serving() as (address, _), ExitStack() as lines:
        port = int(address.rpartition(":")[2])

        def upload():
            line = closing(socket.create_connection(("127.0.0.1", port), timeout=SOON))
            lines.enter_context(line).sendall(head)
            return line.thing

        first, *_ = [upload() for _ in range(request_limits.UPLOADS)]
        assert upload().recv(100).split()[1] == b"503"
        assert requests.get(f"{address}/research/", timeout=SOON).ok
        first.close()
        for _ in range(100):
            line = upload()
            line.settimeout(0.2)
            try:
                line.recv(100)
            except TimeoutError:  # it waits for the body
                break
        else:
            raise AssertionError("no upload is let in again")


def test_a_body_without_a_file_to_be_read_into_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with serving() as (address, _):
        for path in ("/s/a", "/research/own"):
            body = b"x" * (2 * request_limits.BODY_IN_MEMORY)
            assert requests.post(address + path, body, timeout=SOON).status_code == 503
        assert ask(address)


def processes_of(address, connections):
    """Open so many connections, and return the process that answers each."""
    with ExitStack() as kept:
        seen = []
        for _ in range(connections):
            browser = kept.enter_context(requests.Session())
            seen.append(int(browser.get(address, timeout=SOON).text))
        return seen


def test_each_process_gets_its_share_of_the_connections():
    with serving(workers=3) as (address, _):
        until = time.monotonic() + SOON
        while len(set(processes_of(address, 9))) < 3:  # they are still starting
            assert time.monotonic() < until
        time.sleep(0.3)  # so that each has seen the last ones go
        seen = processes_of(address, 30)
    counts = [seen.count(each) for each in set(seen)]
    assert len(counts) == 3
    assert max(counts) - min(counts) <= 3, counts


@pytest.mark.slow
def test_a_process_that_hangs_takes_no_share():
    with serving(workers=2) as (address, _):
        until = time.monotonic() + SOON
        while len(seen := set(processes_of(address, 4))) < 2:
            assert time.monotonic() < until
        hanging = seen.pop()
        os.kill(hanging, signal.SIGSTOP)
        try:
            began = time.monotonic()
            assert set(processes_of(address, 60)) == seen
            assert time.monotonic() - began < 1
        finally:
            os.kill(hanging, signal.SIGKILL)
