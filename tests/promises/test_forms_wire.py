"""Promise 5: bytes that are hardly HTTP, sent to the real server."""

import random
import re
import socket

import pytest
import requests

from survey.db.models import StoredResponse
from tests.builders import VISITOR_COOKIE, Visitor
from tests.promises.voters import REMARK
from tests.serving import OverHttp, Server, free_port

pytestmark = pytest.mark.slow

SEED = 5
FORM = b"application/x-www-form-urlencoded"
TAILS = (b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n", b"", b"0\r\n", b"-1\r\n\r\n", b"zz\r\n", b"\x00" * 99)


@pytest.fixture
def server(tmp_path):
    made = Server(tmp_path, free_port())
    made.start()
    yield made
    made.kill()


def begun(server):
    """A browser that has begun: its cookie and its token."""
    server.open_study("wire", questions=1, practice=False, personal_fields=[REMARK])
    browser = OverHttp(server.address)
    voter = Visitor(browser, "wire")
    voter.start()
    key, token = (
        voter.page.select_one(f"[name={name}]")["value"]
        for name in ("submission_key", "csrf_token")
    )
    body = f"csrf_token={token}&submission_key={key}&choice=1"
    return browser.browser.cookies[VISITOR_COOKIE], body.encode()


def exchange(server, sent, patience=0.3):
    """Send bytes, hang up when no answer comes; return its status, None where there is none."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as wire:
        try:
            wire.sendall(sent)
            wire.settimeout(patience)
            answer = wire.recv(4096)
        except (ConnectionError, TimeoutError):
            return None  # nothing was acknowledged
    found = re.match(rb"HTTP/1\.[01] (\d{3})", answer)
    return int(found[1]) if found else None


def head(cookie, *lines, method=b"POST", version=b"1.1"):
    return b"\r\n".join(
        [
            method + b" /s/wire/q/1 HTTP/" + version,
            b"Host: 127.0.0.1",
            f"Cookie: {VISITOR_COOKIE}={cookie}".encode(),
            b"Content-Type: " + FORM,
            b"Connection: close",
            *lines,
            b"",
            b"",
        ]
    )


def chunked(body, chance):
    """Cut a body into chunks of odd sizes, with odd numbers and an odd end."""
    pieces, left = [], body
    while left:
        size = chance.choice((1, 2, 3, 7, 64, len(left)))
        piece, left = left[:size], left[size:]
        number = b"%x" % (len(piece) if chance.random() < 0.95 else chance.randrange(1 << 40))
        note = chance.choice((b"", b"", b";a=b", b" "))
        pieces.append(number + note + b"\r\n" + piece + b"\r\n")
    return b"".join(pieces) + chance.choice(TAILS)


def hardly_http(cookie, body, chance):
    """One message that is nearly a vote."""
    length = b"Content-Length: "
    kind = chance.randrange(5)
    if kind == 0:
        return head(cookie, b"Transfer-Encoding: chunked") + chunked(body, chance)
    if kind == 1:
        wrong = chance.choice((b"-1", b"1e3", b"0", b"99999999999999999999", b"7, 7", b"", b"500"))
        return head(cookie, length + wrong) + body
    if kind == 2:
        both = (b"Transfer-Encoding: chunked", length + b"5")
        return head(cookie, *both) + chunked(body, chance)
    if kind == 3:
        long = b"X-Long: " + b"x" * chance.choice((100, 9_000, 70_000))
        return head(cookie, long, length + b"%d" % len(body)) + body
    whole = bytearray(head(cookie, length + b"%d" % len(body)) + body)
    for _ in range(chance.randrange(1, 6)):
        whole[chance.randrange(len(whole))] = chance.randrange(256)
    return bytes(whole)


@pytest.mark.trial
def test_what_is_hardly_http_is_answered_without_a_fault(server, measured):
    cookie, body = begun(server)
    chance, seen = random.Random(SEED), {}
    for number in range(400):
        sent = hardly_http(cookie, body, chance)
        status = exchange(server, sent)
        seen[status] = seen.get(status, 0) + 1
        assert status is None or status < 500, (number, sent[:2000])
    assert requests.get(f"{server.address}/readyz", timeout=10).ok
    assert server.count(StoredResponse) <= 1
    hung_up = seen.pop(None, 0)
    counts = ", ".join(f"{count} × {status}" for status, count in sorted(seen.items()))
    measured(f"400 messages that are hardly HTTP: {counts}, {hung_up} without an answer")


def test_a_vote_in_chunks_is_stored_or_refused(server):
    cookie, body = begun(server)
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    status = exchange(server, head(cookie, b"Transfer-Encoding: chunked") + chunks, patience=20)
    assert status in (303, 411)
    assert server.count(StoredResponse) == (status == 303)


def test_a_vote_beyond_the_limit_in_chunks_is_not_stored(server):
    cookie, body = begun(server)
    vote, more = b"%x\r\n%b&more=\r\n" % (len(body) + 6, body), b"400\r\n%b\r\n" % (b"x" * 1024)
    sent = head(cookie, b"Transfer-Encoding: chunked") + vote + more * 200 + b"0\r\n\r\n"
    assert exchange(server, sent, patience=20) in (411, 413, None)  # or hung up on while it sends
    assert server.count(StoredResponse) == 0
