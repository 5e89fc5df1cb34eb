"""Acknowledged means stored, exactly once: when a form breaks off on its way."""

import random
import socket
from urllib.parse import urlencode

import pytest

from survey.app import db
from survey.db.models import StoredResponse
from tests.promises.crowd import Ledger, Person
from tests.promises.stored import Faults, faults
from tests.serving import Server, free_port

HEAD = (
    "POST /s/broken/q/1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n"
    "Content-Type: application/x-www-form-urlencoded\r\n{length}\r\n\r\n"
)
CHUNKED = "Transfer-Encoding: chunked"


@pytest.fixture
def server(tmp_path):
    running = Server(tmp_path, free_port())
    running.open_study("broken", questions=3, practice=False)
    running.start()
    yield running
    with running.app.app_context():
        db.engine.dispose()
    running.kill()


def break_off(server, cookie, length, body):
    """Send a form of which more was announced than there is, and hang up."""
    head = HEAD.format(port=server.port, cookie=cookie, length=length)
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall((head + body).encode())


def broken_forms(whole):
    """Whole answers of which more was announced, and parts of one."""
    yield f"Content-Length: {len(whole) + 1}", whole
    yield f"Content-Length: {len(whole) + 1_000}", whole
    yield CHUNKED, f"{len(whole):x}\r\n{whole}\r\n"
    for length in range(0, len(whole), 5):
        yield f"Content-Length: {len(whole)}", whole[:length]


@pytest.mark.slow
def test_a_form_that_breaks_off_stores_nothing_and_holds_nobody_up(server, measured):
    ledger, chance = Ledger(), random.Random(1)
    person = Person(server.port, "/s/broken", ledger, chance, hasty=False)
    page = person.begin()
    whole = urlencode([*page.hidden, ("choice", "1"), ("choice", "2"), ("settle", "several")])
    broken = list(broken_forms(whole))
    for length, body in broken:
        break_off(server, person.browser.cookie, length, body)
        assert person.browser.get("/s/broken/q/1").status == 200
    assert server.count(StoredResponse) == 0
    for _ in person.answer_all(page, questions=3):
        assert not ledger.seen["connections lost"]
    with server.app.app_context():
        assert faults(db.engine, ledger.answers) == Faults()
    person.browser.close()
    measured(
        f"{len(broken)} forms that broke off on their way, three of them with a whole answer in "
        "what had come: none stored, others not delayed, and sent whole it was stored once."
    )
