"""``survey serve`` as a process of its own."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import requests
from flask import Flask

from survey.app import create_app, db
from survey.config import Settings
from survey.services.operations.database import upgrade_database
from tests.builders import KEY, an_open_study
from tests.databases import newest_schema
from tests.forked import ForkedProcess, start_survey


def free_port() -> int:
    """Find a port that nobody listens on, another each time.

    It is below those that the system gives to connections: one of them may be some client's before
    a server listens on it.
    """
    while True:
        port = random.SystemRandom().randrange(10_000, 32_000)
        with closing(socket.socket()) as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            if port not in _given:
                _given.add(port)
                return port


_given: set[int] = set()


@dataclass
class Server:
    """``survey serve`` as a process of its own, on an instance folder of its own.

    ``database_uri``: an SQLite file in that folder unless another database is named.
    ``environment``: settings beside those of the process that starts it. ``workers``: how
    many processes serve. ``command``: what starts the command ``survey``; ``options``: of
    ``serve``, beside port and workers. Without command and environment, the server is a copy of a
    process that has loaded the survey.
    """

    instance: Path
    port: int
    database_uri: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    workers: int = 2
    command: Sequence[str] = ()
    options: Sequence[str] = ()
    process: subprocess.Popen[bytes] | ForkedProcess | None = None
    app: Flask = field(init=False)

    def __post_init__(self) -> None:
        if not self.database_uri:
            file = self.instance / "survey.sqlite3"
            self.database_uri = f"sqlite:///{file}"
            if not file.exists():
                shutil.copyfile(newest_schema(), file)
        self.app = create_app(Settings(self.instance, self.database_uri, KEY))
        with self.app.app_context():
            upgrade_database(db.engine)

    def start(self, until: str = "/readyz") -> None:
        """Start it and wait until this page is answered with 200."""
        environment = {
            **os.environ,
            "SURVEY_INSTANCE": str(self.instance),
            "SURVEY_SECRET_KEY": KEY,
            "SURVEY_DATABASE_URI": self.database_uri,
            **self.environment,
        }
        words = ["serve", "--port", str(self.port), "--workers", str(self.workers), *self.options]
        if self.command or self.environment:
            self.process = subprocess.Popen(
                [*(self.command or (sys.executable, "-m", "survey")), *words],
                env=environment,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        else:
            self.process = start_survey(words, environment)
        for _ in range(300):
            try:
                if requests.get(f"{self.address}{until}", timeout=2).ok:
                    return
            except (requests.ConnectionError, requests.Timeout):
                assert self.process.poll() is None, "the server ended at once"
            time.sleep(0.1)
        raise AssertionError("the server did not become ready")

    def kill(self) -> None:
        """End the server and its workers at once, without a chance to tidy up."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def address(self) -> str:
        """Where it serves."""
        return f"http://127.0.0.1:{self.port}"

    def open_study(self, slug: str, **changes: Any) -> str:
        """Make and open a study; return its link."""
        with self.app.app_context():
            an_open_study(db.session, slug, **changes)
            db.session.remove()
        return f"{self.address}/s/{slug}"

    def count(self, model: type) -> int:
        """Count the rows of a table."""
        with self.app.app_context():
            number = db.session.query(model).count()
            db.session.remove()
        return number


class OverHttp:
    """A browser without scripts on a real server, with the methods of Flask's test client."""

    def __init__(self, address: str) -> None:
        self.address, self.browser = address, requests.Session()
        self.browser.trust_env = False

    def get(self, path: str, follow_redirects: bool) -> Any:
        """Open a page."""
        return self._seen(self.browser.get(self.address + path, allow_redirects=follow_redirects))

    def post(self, path: str, data: Mapping[str, Any], follow_redirects: bool) -> Any:
        """Send a form."""
        sent = self.browser.post(self.address + path, data=data, allow_redirects=follow_redirects)
        return self._seen(sent)

    def _seen(self, response: requests.Response) -> Any:
        path = response.url.removeprefix(self.address).partition("?")[0]
        return SimpleNamespace(
            status_code=response.status_code,
            request=SimpleNamespace(path=path),
            get_data=lambda **_: response.text,
        )
