"""What the server relies on in waitress beside its documented interface, hook by hook.

A new version of waitress is pinned once these tests pass with it: docs/decisions/0001-server.md.
"""

import inspect
import socket
import threading
import time
import tomllib
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import pytest
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher

GET = b"GET /page HTTP/1.1\r\nHost: a\r\n\r\n"


class Queue:
    """A dispatcher that only keeps what it gets."""

    def __init__(self):
        self.channels = []

    def add_task(self, channel):
        self.channels.append(channel)


def application(environ, start_response):
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]


@pytest.fixture
def listener():
    with closing(socket.create_server(("127.0.0.1", 0), backlog=50)) as made:
        yield made


@pytest.fixture
def server(listener):
    place = (listener.family, listener.type, listener.proto, listener.getsockname())
    settings = Adjustments(backlog=50, connection_limit=100, clear_untrusted_proxy_headers=False)
    made = TcpWSGIServer(
        application, None, True, listener, Queue(), settings, place, bind_socket=False
    )
    yield made
    wasyncore.close_all(made._map)


def connect(server):
    return closing(socket.create_connection(("127.0.0.1", int(server.effective_port)), 10))


def channel_with(server, line, sent):
    """Return the channel of a connection, once it has read what was sent."""
    line.sendall(sent)
    for _ in range(3):
        wasyncore.poll2(0.2, server._map)
    [channel] = server.active_channels.values()
    return channel


def test_the_installed_version_is_the_pinned_one():
    wanted = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    assert f"waitress=={version('waitress')}" in wanted["project"]["dependencies"]


def test_a_server_takes_a_socket_that_listens_already_and_a_dispatcher():
    names = list(inspect.signature(TcpWSGIServer.__init__).parameters)
    assert names[1:9] == [
        *("application", "map", "_start", "_sock", "dispatcher", "adj", "sockinfo", "bind_socket")
    ]


def test_one_call_accepts_one_connection_and_adds_it_to_the_map(server):
    with connect(server), connect(server):
        empty = len(server._map)
        for expected in (1, 2, 2):
            server.handle_accept()
            assert len(server.active_channels) == len(server._map) - empty == expected


def test_poll_returns_after_its_timeout_and_asks_whom_to_look_at(server, monkeypatch):
    monkeypatch.setattr(server, "readable", lambda: False)
    with connect(server):
        began = time.monotonic()
        wasyncore.poll2(0.1, server._map)
        assert time.monotonic() - began >= 0.1
        assert not server.active_channels
        monkeypatch.undo()
        wasyncore.poll2(0.1, server._map)
        assert len(server.active_channels) == 1


def test_the_trigger_ends_a_poll(server):
    threading.Timer(0.1, server.pull_trigger).start()
    began = time.monotonic()
    wasyncore.poll2(10, server._map)
    assert time.monotonic() - began < 5


def test_a_server_that_is_closed_as_a_dispatcher_keeps_its_connections(server):
    with connect(server) as line:
        server.handle_accept()
        wasyncore.dispatcher.close(server)
        assert not server.accepting
        assert server.socket is None
        assert channel_with(server, line, GET).requests


def test_a_channel_shows_what_is_under_way(server):
    with connect(server) as line:
        channel = channel_with(server, line, GET[:10])
        assert isinstance(channel, HTTPChannel)
        assert channel.request is not None
        assert not channel.requests
        channel = channel_with(server, line, GET[10:])
        assert channel.request is None
        assert (channel.requests[0].command, channel.requests[0].path) == ("GET", "/page")
        assert server.task_dispatcher.channels == [channel]
        channel.service()
        assert not channel.requests
        wasyncore.poll2(0.2, server._map)
        assert not channel.total_outbufs_len
        assert line.recv(1_000).startswith(b"HTTP/1.1 200")
        channel.will_close = True
        wasyncore.poll2(0.2, server._map)
        assert not server.active_channels


def test_a_request_with_a_header_set_by_its_parser_ends_its_connection(server, monkeypatch):
    parse = HTTPRequestParser.parse_header

    def parse_last(self, header):
        parse(self, header)
        self.headers["CONNECTION"] = "close"

    monkeypatch.setattr(HTTPRequestParser, "parse_header", parse_last)
    with connect(server) as line:
        channel_with(server, line, GET).service()
        wasyncore.poll2(0.2, server._map)
        assert b"Connection: close" in line.recv(1_000)


def test_a_parser_knows_the_body_before_it_comes_and_takes_other_limits_and_errors():
    parser = HTTPRequestParser(Adjustments())
    head = b"POST /page HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n"
    assert parser.received(head) == len(head)
    assert (parser.path, parser.content_length, parser.chunked) == ("/page", 900, False)
    assert not parser.completed
    small = HTTPRequestParser(Adjustments(max_request_body_size=100))
    small.received(head)
    assert small.completed
    assert small.error.code == 413


def test_a_dispatcher_has_as_many_threads_as_it_is_told():
    class Task:
        def __init__(self):
            self.began, self.over = threading.Event(), threading.Event()

        def service(self):
            self.began.set()
            self.over.wait(10)

    dispatcher = ThreadedTaskDispatcher()
    dispatcher.set_thread_count(1)
    first, second = Task(), Task()
    dispatcher.add_task(first)
    dispatcher.add_task(second)
    assert first.began.wait(10)
    assert not second.began.wait(0.1)
    dispatcher.set_thread_count(2)
    assert second.began.wait(10)
    for task in (first, second):
        task.over.set()
    dispatcher.set_thread_count(0)
    until = time.monotonic() + 10
    while dispatcher.threads:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_an_answer_that_has_begun_is_replaced_by_that_of_an_interruption(server, monkeypatch):
    def interrupted(environ, start_response):
        start_response("200 OK", [])
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            start_response("503 Late", [], (type(error), error, error.__traceback__))
            return [b"late"]

    monkeypatch.setattr(server, "application", interrupted)
    with connect(server) as line:
        channel_with(server, line, GET).service()
        wasyncore.poll2(0.2, server._map)
        assert line.recv(1_000).startswith(b"HTTP/1.1 503 Late")
