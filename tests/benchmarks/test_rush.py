"""The people of the speed runs: what they hear from servers, and when they go home."""

import socket
import threading
from contextlib import closing, suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchmarks.speed.rush import servers
from benchmarks.speed.rush.browsing import Browser, RefusedError
from benchmarks.speed.rush.people import QUESTIONS, Crowd, Ours
from benchmarks.speed.rush.wire import LostError, attend, whole_body
from tests.guides.proxies import require

PAGE = b"HTTP/1.1 200 OK\r\nSet-Cookie: who=ann; path=/\r\nContent-Length: 4\r\n\r\nhere"
AWAY = b"HTTP/1.1 303 See Other\r\nLocation: /next\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
FAULT = b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"


@example([b"\0", bytes(6), b"0\r\n\r\n"], 25)
@given(st.lists(st.binary(min_size=1, max_size=50), max_size=5), st.integers(0, 400))
def test_a_body_in_chunks_is_put_together_once_it_is_whole(chunks, cut):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked"
    sent = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    assert whole_body(head, sent) == b"".join(chunks)
    assert whole_body(head, sent[:cut]) in (None, b"".join(chunks))


def test_a_body_of_known_length_is_waited_for():
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 4"
    assert whole_body(head, b"her") is None
    assert whole_body(head, b"here") == b"here"


def reply_to(request):
    if b"/fail" in request:
        return FAULT
    return AWAY if request.startswith(b"POST") else PAGE


@pytest.fixture
def server():
    """A server that leads every form to a page, and writes down what it was asked."""
    asked, threads = [], []
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def serve(connection):
            # Who goes home with a reply unread resets the connection.
            with connection, suppress(ConnectionResetError, BrokenPipeError):
                while request := connection.recv(65536):
                    asked.append(request)
                    if b"/close" in request:
                        return
                    connection.sendall(reply_to(request))

        def accept():
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threads.append(threading.Thread(target=serve, args=(connection,), daemon=True))
                threads[-1].start()

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname(), asked
        listening.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join(10)


class Survey:
    """A survey whose every page is /."""

    def come(self, browser):
        return (yield from browser.get("/"))

    def answer(self, browser, _page, choice):
        return (yield from browser.submit("/answer", {"choice": str(choice)}))


def test_everyone_answers_everything_and_keeps_the_cookie(server):
    address, asked = server
    crowd = Crowd(Survey())
    attend(crowd.coming(3), address, at_once=2)
    assert len(crowd.ready) == 3
    attend(crowd.answering(), address, at_once=2)
    assert len(crowd.seconds) == 3 * QUESTIONS
    posts = [request for request in asked if request.startswith(b"POST")]
    assert len(posts) == 3 * QUESTIONS
    assert all(b"Cookie: who=ann" in request for request in posts)


def test_who_thinks_when_it_is_over_goes_home(server):
    address, _ = server
    crowd = Crowd(Survey(), lambda: 0.05)
    assert 0.1 < attend(crowd.taking_part(), address, at_once=3, seconds=0.2) < 2
    assert 0 < len(crowd.seconds) < 3 * QUESTIONS


@pytest.mark.parametrize(("path", "error"), [("/close", LostError), ("/fail", RefusedError)])
def test_a_reply_that_is_no_page_ends_the_run(server, path, error):
    address, _ = server

    def talk():
        yield from Browser().get(path)

    with pytest.raises(error):
        attend(iter([talk()]), address, at_once=1)


@pytest.mark.slow
def test_people_are_answered_behind_the_guides_nginx(tmp_path):
    require("nginx")
    with servers.ours(tmp_path, proxies=1) as behind, servers.nginx(tmp_path, behind) as place:
        crowd = Crowd(Ours(place.home))
        attend(crowd.coming(2), place.address, at_once=2)
        attend(crowd.answering(), place.address, at_once=2)
    assert len(crowd.seconds) == 2 * QUESTIONS == servers.answers_stored(tmp_path)
