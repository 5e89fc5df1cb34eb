"""People who answer a study over HTTP, and what they were told was saved.

They use what a browser without scripts uses: pages, forms and one cookie. An answer
counts as acknowledged when the server said 303 to it, and not before.
"""

import http.client
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import zip_longest
from threading import Event, Lock
from urllib.parse import urlencode

from survey.core.studies.rankings import Ranking
from survey.kinds.ordering.answer import OrderingAnswer

HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)"')
CODE = re.compile(r'<strong class="code"[^>]*>(?:<span[^>]*>)?([^<]*)<')
PATIENCE = 300.0  # seconds until a person gives up; even a slow machine needs less
TROUBLES = (OSError, http.client.HTTPException)

Fields = list[tuple[str, str]]


class NobodyAnsweredError(Exception):
    """The server was away for longer than anybody's patience."""


@dataclass
class Reply:
    """What a server said."""

    status: int
    page: str
    location: str

    @property
    def hidden(self) -> Fields:
        """The hidden fields of the page's last form."""
        return list(dict(HIDDEN.findall(self.page)).items())


@dataclass
class Ledger:
    """What was acknowledged: (resume code, position) → the answers, in their order."""

    answers: dict[tuple[str, int], list[OrderingAnswer]] = field(
        default_factory=lambda: defaultdict(list)
    )
    seen: Counter[str] = field(default_factory=Counter)
    hopeless: bool = False
    _lock: Lock = field(default_factory=Lock)

    def note(self, what: str) -> None:
        """Count something that happened."""
        with self._lock:
            self.seen[what] += 1

    def acknowledge(self, code: str, position: int, answer: OrderingAnswer) -> None:
        """Keep what a participant was told is saved."""
        self.answers[code, position].append(answer)  # one thread per participant
        self.note("acknowledged")


class Browser:
    """Connections to a server, and a cookie."""

    def __init__(self, port: int, ledger: Ledger) -> None:
        self.port, self.ledger, self.cookie = port, ledger, ""
        self._connection: http.client.HTTPConnection | None = None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def get(self, path: str) -> Reply:
        """Open a page; again and again while the server is away."""
        return self._patiently("GET", path, None)

    def post(self, path: str, fields: Fields) -> Reply:
        """Send a form; the same form again while the server is away."""
        return self._patiently("POST", path, fields)

    def post_twice(self, path: str, fields: Fields) -> list[Reply]:
        """Send a form over two connections at once, as a double click does."""
        both = [self._connect(), self._connect()]
        sent: list[http.client.HTTPConnection] = []
        replies: list[Reply] = []
        for connection in both:
            with self._noting_troubles():
                self._send(connection, "POST", path, fields)
                sent.append(connection)
        for connection in sent:
            with self._noting_troubles():
                replies.append(self._receive(connection))
        for connection in both:
            connection.close()
        return replies

    @contextmanager
    def _noting_troubles(self) -> Iterator[None]:
        try:
            yield
        except ConnectionRefusedError:
            self.ledger.note("connections refused")
            self.ledger.note("connections lost")
        except TROUBLES:
            self.ledger.note("connections lost")

    def _patiently(self, method: str, path: str, fields: Fields | None) -> Reply:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and not self.ledger.hopeless:
            reply = self._once(method, path, fields)
            if reply is not None and reply.status < 500:
                return reply
            time.sleep(random.uniform(0.1, 0.5))
        raise NobodyAnsweredError(f"{method} {path}")

    def _once(self, method: str, path: str, fields: Fields | None) -> Reply | None:
        self._connection = self._connection or self._connect()
        with self._noting_troubles():
            self._send(self._connection, method, path, fields)
            return self._receive(self._connection)
        self.close()
        return None

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def _send(
        self, connection: http.client.HTTPConnection, method: str, path: str, fields: Fields | None
    ) -> None:
        headers = {"Cookie": self.cookie} if self.cookie else {}
        if fields is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        connection.request(method, path, urlencode(fields or ()), headers)

    def _receive(self, connection: http.client.HTTPConnection) -> Reply:
        response = connection.getresponse()
        page = response.read().decode()
        for cookie in response.headers.get_all("Set-Cookie") or ():
            self.cookie = cookie.partition(";")[0]
        self.ledger.note(f"status {response.status}")
        if response.status == 503 and not response.headers.get("Retry-After", "").isdecimal():
            self.ledger.note("503 without Retry-After")
        return Reply(response.status, page, response.headers.get("Location", ""))


class Person:
    """A participant: begins, agrees, answers, changes their mind, clicks twice if hasty."""

    def __init__(
        self, port: int, home: str, ledger: Ledger, chance: random.Random, *, hasty: bool = True
    ) -> None:
        self.browser, self.hasty = Browser(port, ledger), hasty
        self.home, self.ledger, self.chance = home, ledger, chance

    def take_part(self, questions: int) -> Iterator[None]:
        """Answer so many questions, one at each step."""
        try:
            yield from self.answer_all(self.begin(), questions)
        finally:
            self.browser.close()

    def answer_all(self, page: Reply, questions: int) -> Iterator[None]:
        """Answer so many questions from their first page on."""
        self.code = CODE.findall(page.page)[0]
        for position in range(1, questions + 1):
            onward = self._answer(position, page)
            yield
            if self.chance.random() < 0.2:  # a change of mind
                self._answer(position, self.browser.get(f"{self.home}/q/{position}"))
                yield
            page = self.browser.get(onward)

    def begin(self) -> Reply:
        """Go from the entry to the first question."""
        page = self.browser.get(self.home)
        about: Fields = [("age", "23"), ("education", "School")]
        for path, fields in (
            ("begin", []),
            ("consent", [("agree", "y")]),
            ("about-you", about),
            ("scenario", []),
        ):
            told = self.browser.post(f"{self.home}/{path}", [*page.hidden, *fields])
            assert told.status in (302, 303), (path, told.status, told.page)
            page = self.browser.get(told.location)
        return page

    def _answer(self, position: int, page: Reply) -> str:
        """Send an answer until it is acknowledged, a fifth of them twice; where does it lead?"""
        address = f"{self.home}/q/{position}"
        answer, fields = self._make_up_my_mind()
        form = [*page.hidden, *fields]
        clicks = self.chance.random() if self.hasty else 0.5
        if clicks < 0.1:
            self._double_click(address, form)
        told = self.browser.post(address, form)
        assert told.status == 303, (position, told.status, told.page)
        self.ledger.acknowledge(self.code, position, answer)
        if clicks > 0.9:
            self.ledger.note("sent twice")
            again = self.browser.post(address, form)
            assert again.status == 303, (position, again.status, again.page)
        return told.location

    def _double_click(self, address: str, form: Fields) -> None:
        self.ledger.note("sent twice")
        for reply in self.browser.post_twice(address, form):
            assert reply.status == 303 or reply.status >= 500, (reply.status, reply.page)

    def _make_up_my_mind(self) -> tuple[OrderingAnswer, Fields]:
        if self.chance.random() < 0.3:
            # One list last, the others tied: no method's order, which would count as its own.
            places = dict.fromkeys("ABCDE", 1) | {self.chance.choice("ABCDE"): 5}
            fields = [(f"rank-{letter}", str(place)) for letter, place in places.items()]
            fields += [("choice", "own"), ("asked", "reversed")]
            return OrderingAnswer(frozenset(), Ranking.by_key(places)), fields
        labels = self.chance.sample((1, 2, 3), self.chance.randint(1, 3))
        fields = [*(("choice", str(label)) for label in labels), ("settle", "several")]
        return OrderingAnswer(frozenset(labels), None), fields


@dataclass
class Crowd:
    """Threads of people who take part until they are told that it is enough."""

    port: int
    home: str
    questions: int
    ledger: Ledger = field(default_factory=Ledger)
    enough: Event = field(default_factory=Event)

    def come(self, clients: int, at_once: int = 4) -> ThreadPoolExecutor:
        """Let so many threads, each of them some people in turn, take part from now on."""
        pool = ThreadPoolExecutor(clients, thread_name_prefix="client")
        self.done = [pool.submit(self._keep_coming, n, at_once) for n in range(clients)]
        return pool

    def leave(self) -> None:
        """Let everybody end the answer they are at; raise what went wrong for someone."""
        self.enough.set()
        for one in as_completed(self.done):
            self.ledger.hopeless |= one.exception() is not None
        failed = [error for one in self.done if (error := one.exception())]
        for error in sorted(failed, key=lambda error: isinstance(error, NobodyAnsweredError)):
            raise error

    def someone_failed(self) -> bool:
        """Tell whether something went wrong for someone."""
        return any(one.done() and one.exception() for one in self.done)

    def _keep_coming(self, number: int, at_once: int) -> None:
        chance = random.Random(number)
        while True:
            people = [
                Person(self.port, self.home, self.ledger, chance).take_part(self.questions)
                for _ in range(at_once)
            ]
            for _ in zip_longest(*people):
                if self.enough.is_set():
                    for one in people:
                        one.close()
                    return
