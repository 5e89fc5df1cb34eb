"""A small process that sends one answer through the application, as often as it is told.

``python -m tests.promises.one_answer FOLDER MODE`` makes an instance in FOLDER with a
participant at question 1. Then, for each line that names a folder with a copy of it, a
child sends the answer there: it says ``ready PID``, waits for ``go``, posts, says
``status N``, and posts once more unless it was saved; then this process says ``ended N``.
So each child can be traced, and hurt, for as long as it answers, without waiting for Python
to start. Exists for test_acknowledged_calls.
"""

import ctypes
import os
import sys
from pathlib import Path

from bs4 import BeautifulSoup
from flask import Flask
from sqlalchemy import event

from survey.app import create_app, db
from survey.config import Settings
from survey.db import engine as settings_of_databases
from survey.services.operations.database import upgrade_database
from tests.builders import KEY, SLUG, VISITOR_COOKIE, a_ready_participant, an_open_study

ADDRESS = f"/s/{SLUG}/q/1"
FILE = "survey.sqlite3"
SAVED = 303
PR_SET_PTRACER, ANYBODY = 0x59616D61, ctypes.c_ulong(-1)


def app_in(folder: Path, mode: str) -> Flask:
    """Make the application; "checkpoint": the log is written back at every commit."""
    if mode == "journal":  # what an old SQLite library gets
        settings_of_databases.WAL_IS_SAFE_FROM = (99, 0, 0)
    app = create_app(Settings(folder, f"sqlite:///{folder / FILE}", KEY))
    if mode == "checkpoint":
        with app.app_context():
            event.listen(db.engine, "connect", _write_back_at_every_commit)
    return app


def _write_back_at_every_commit(connection, _):
    connection.execute("PRAGMA wal_autocheckpoint = 1")


def prepare(folder: Path, mode: str) -> tuple[str, dict[str, str]]:
    """Make an instance with a participant; return their cookie and the form of question 1."""
    app = app_in(folder, mode)
    with app.app_context():
        upgrade_database(db.engine)
        a_ready_participant(db.session, an_open_study(db.session, practice=False))
        db.session.remove()
        client = app.test_client()
        with client.session_transaction() as session:
            session["id"] = "browser"
        page = BeautifulSoup(client.get(ADDRESS).get_data(as_text=True), "html.parser")
        db.session.remove()
        db.engine.dispose()
    hidden = page.select_one("#vote").select("[type=hidden]")
    cookie = client.get_cookie(VISITOR_COOKIE).value
    return cookie, {one["name"]: one["value"] for one in hidden} | {"choice": "2"}


def answer_once(folder: Path, mode: str, cookie: str, form: dict[str, str]) -> None:
    """In a child of its own: wait to be traced, post, say what came back."""
    # Where only relatives may trace (Yama), let the tracer that comes do so.
    ctypes.CDLL(None).prctl(PR_SET_PTRACER, ANYBODY, 0, 0, 0)
    client = app_in(folder, mode).test_client()
    client.set_cookie(VISITOR_COOKIE, cookie)
    say(f"ready {os.getpid()}")
    os.read(0, 3)  # "go\n"
    for _ in range(2):  # whoever is told to try again does so
        status = client.post(ADDRESS, data=form).status_code
        say(f"status {status}")
        if status == SAVED:
            break


def say(line: str) -> None:
    """Tell the test."""
    os.write(1, f"{line}\n".encode())


def main(folder: Path, mode: str) -> None:
    """Serve the lines of the standard input."""
    cookie, form = prepare(folder, mode)
    say("prepared")
    while named := read_line():
        child = os.fork()
        if child == 0:
            answer_once(Path(named), mode, cookie, form)
            os._exit(0)
        say(f"ended {os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}")


def read_line() -> str:
    """Read a line without taking what is meant for a child."""
    line = b""
    while not line.endswith(b"\n") and (sign := os.read(0, 1)):
        line += sign
    return line.decode().strip()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
