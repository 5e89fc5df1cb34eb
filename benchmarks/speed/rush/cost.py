"""One page in process: processor time, queries and bytes, without a server or a network."""

import gzip
import io
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from sqlalchemy import event

from benchmarks.speed import crowd
from benchmarks.speed.rush.browsing import HIDDEN
from benchmarks.speed.rush.people import QUESTIONS
from benchmarks.speed.rush.servers import HOME, KEY, open_study
from survey.app import create_app, db
from survey.config import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

WAY: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("begin", {}),
    ("consent", {"agree": "y"}),
    ("about-you", {"age": "23", "education": "School"}),
    ("scenario", {}),
)


@dataclass
class Costs:
    """Per kind of request ("GET", "POST"): milliseconds of processor time, queries, writes."""

    milliseconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    queries: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    writes: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    page: bytes = b""

    @property
    def bytes_compressed(self) -> int:
        """The bytes of a question's page as a proxy compresses it."""
        return len(gzip.compress(self.page, 6))


def costs(participants: int, others: int = 0, **changes: Any) -> Costs:
    """Let so many people answer the paper's questions in this process, on an SQLite file.

    ``others``: how many have answered another study in the same database before;
    ``changes``: of the study's plan.
    """
    found = Costs()
    with tempfile.TemporaryDirectory(prefix="survey-cost-") as name:
        folder = Path(name)
        uri = f"sqlite:///{folder / 'survey.sqlite3'}"
        if others:
            engine = crowd.open_database(uri)
            for _ in crowd.fill(engine, others):
                pass
            engine.dispose()
        open_study(folder, uri, **changes)
        app = create_app(Settings(folder, uri, KEY))
        with app.app_context():
            engine = db.engine
        said: list[str] = []
        event.listen(engine, "connect", lambda made, _: made.set_trace_callback(said.append))
        for _ in range(3):
            Caller(app.wsgi_app, said, Costs()).take_part()
        for _ in range(participants):
            Caller(app.wsgi_app, said, found).take_part()
        engine.dispose()
    return found


@dataclass
class Caller:
    """A person who calls the application instead of a server, and looks at the clock."""

    application: "WSGIApplication"
    said: list[str]
    costs: Costs
    cookie: str = ""

    def take_part(self) -> None:
        """Go from the entry through all questions; only the questions are counted."""
        _, page = self._call("GET", HOME)
        for path, fields in WAY:
            where, _ = self._call("POST", f"{HOME}/{path}", {**_hidden(page), **fields})
            _, page = self._call("GET", where)
        for _ in range(QUESTIONS):
            self.costs.page = page
            fields = {**_hidden(page), "choice": "1"}
            where, _ = self._call("POST", where, fields, self.costs)
            # The page after the last answer is another one.
            counted = self.costs if "/q/" in where else None
            _, page = self._call("GET", where, {}, counted)

    def _call(
        self,
        method: str,
        path: str,
        fields: Mapping[str, str] = {},
        costs: Costs | None = None,
    ) -> tuple[str, bytes]:
        environ = self._environ(method, path, urlencode(fields).encode())
        told: dict[str, str] = {}

        def start(_: str, headers: list[tuple[str, str]], *__: object) -> Callable[[bytes], object]:
            told.update(headers)
            return io.BytesIO().write

        self.said.clear()
        begun = process_time()
        body = b"".join(self.application(environ, start))
        spent = process_time() - begun
        self.cookie = told.get("Set-Cookie", self.cookie).partition(";")[0]
        if costs is not None:
            costs.milliseconds[method].append(spent * 1000)
            kinds = [one.partition(" ")[0] for one in self.said]
            costs.queries[method].append(kinds.count("SELECT"))
            costs.writes[method].append(sum(kinds.count(kind) for kind in ("INSERT", "UPDATE")))
        return told.get("Location", ""), body

    def _environ(self, method: str, path: str, sent: bytes) -> dict[str, Any]:
        return {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "CONTENT_TYPE": "application/x-www-form-urlencoded",
            "CONTENT_LENGTH": str(len(sent)),
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "HTTP_HOST": "localhost",
            "HTTP_COOKIE": self.cookie,
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(sent),
            "wsgi.errors": io.StringIO(),
        }


def _hidden(page: bytes) -> dict[str, str]:
    return {name.decode(): value.decode() for name, value in HIDDEN.findall(page)}
