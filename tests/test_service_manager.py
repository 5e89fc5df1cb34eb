"""What systemd is told of the server: ready, alive, replaced, ending."""

import os
import signal
import socket
import time
from contextlib import closing, suppress

import pytest
import requests

from survey import server, service_manager
from tests.serving import Server, free_port
from tests.test_server import SOON, ask, serving


@pytest.fixture
def told(tmp_path, monkeypatch):
    """A socket as systemd's."""
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as line:
        line.bind(str(tmp_path / "notify"))
        line.settimeout(SOON)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        yield line


def until(line, state):
    """Return what came before this state."""
    before = []
    while state not in (states := line.recv(1_000).decode().splitlines()):
        before += states
    return before


def all_within(line, seconds):
    line.settimeout(seconds)
    states, end = [], time.monotonic() + seconds
    with suppress(TimeoutError):
        while time.monotonic() < end:
            states += line.recv(1_000).decode().splitlines()
    return states


def test_a_server_says_that_it_is_ready_that_it_lives_and_that_it_ends(told):
    with serving() as (address, process):
        until(told, "READY=1")
        assert ask(address)
        assert until(told, "WATCHDOG=1") == []
        process.terminate()
        assert set(until(told, "STOPPING=1")) <= {"WATCHDOG=1"}


def test_a_server_of_which_no_process_lives_says_neither(told, monkeypatch):
    monkeypatch.setattr(server.Worker, "_run", lambda _: os._exit(1))
    with serving():
        assert all_within(told, 2) == []


def test_a_server_without_a_service_manager_says_nothing_and_serves(monkeypatch, tmp_path):
    for address in ("", str(tmp_path / "missing")):
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        service_manager.notify("READY=1")


def test_a_socket_without_a_file_is_told_too(monkeypatch):
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as line:
        line.bind(f"\0survey-{os.getpid()}")
        line.settimeout(SOON)
        monkeypatch.setenv("NOTIFY_SOCKET", f"@survey-{os.getpid()}")
        service_manager.notify("READY=1", "STATUS=well")
        assert line.recv(100) == b"READY=1\nSTATUS=well"


@pytest.mark.slow
def test_a_server_says_while_it_is_replaced_that_it_is_and_then_that_it_is_ready(tmp_path, told):
    environment = {"NOTIFY_SOCKET": os.environ["NOTIFY_SOCKET"]}
    running = Server(tmp_path, free_port(), environment=environment)
    running.start()
    try:
        told.settimeout(60)
        until(told, "READY=1")
        os.kill(running.process.pid, signal.SIGHUP)
        until(told, "RELOADING=1")
        assert "RELOADING=1" not in until(told, "READY=1")
        assert requests.get(f"{running.address}/healthz", timeout=SOON).ok
    finally:
        running.kill()
