"""Acknowledged means stored, exactly once: on the disk before anybody is told."""

import os
import random
import re
import signal
import sys

import pytest

from survey.app import db
from survey.db import engine as opening
from survey.db.models import Participant, Revision
from tests.promises.crowd import Ledger, Person
from tests.promises.killing import children
from tests.promises.one_answer import FILE
from tests.promises.stored import Faults, faults
from tests.promises.tracing import require_strace
from tests.serving import Server, free_port

SURVEY = {
    "write-ahead log": ("-m", "survey"),
    # What an old SQLite library gets.
    "rollback journal": (
        "-c",
        "from survey.db import engine; engine.WAL_IS_SAFE_FROM = (99, 0, 0);"
        "from survey.__main__ import main; main()",
    ),
}
CHANGING = ("write", "writev", "pwrite64", "pwritev", "ftruncate", "unlink")
SYNCING = ("fsync", "fdatasync")
SENDING = ("sendto", "sendmsg")
CALL = re.compile(r"(?P<pid>\d+) +(?:<\.\.\. )?(?P<name>\w+)(?: resumed>|\()(?P<rest>.*)")
PATH = re.compile(r"""[<"](?P<path>/[^>"]*)[>"]""")
BEFORE_QUESTIONS = 4  # forms, from "Begin" to the scenario
QUESTIONS, PEOPLE = 25, 3


class Disk:
    """What a log of system calls says about files: which were changed and not synced since."""

    def __init__(self, folder):
        self.folder, self.database = str(folder), f"{folder}/{FILE}"
        self.unsynced, self.changed, self.being_synced = set(), False, {}
        self.acknowledged = self.too_early = 0

    def read(self, line):
        if found := CALL.match(line):
            pid, name, rest = found["pid"], found["name"], found["rest"]
            if "HTTP/1.1 303" in rest:
                self._acknowledge()
            elif name in SYNCING:
                self._sync(pid, rest)
            elif name in CHANGING and (path := PATH.search(rest)):
                self._change(name, path["path"])

    def _acknowledge(self):
        self.acknowledged += self.changed
        self.too_early += bool(self.unsynced)
        self.changed = False

    def _change(self, name, path):
        if path.startswith(self.database) and not path.endswith("-shm"):
            self.changed = True
            if name == "unlink":  # the end of a rollback journal is a change of the folder
                self.unsynced.discard(path)
                self.unsynced.add(self.folder)
            else:
                self.unsynced.add(path)

    def _sync(self, pid, rest):
        """A sync counts when it has returned, and what it is told to sync stands at its start."""
        if path := PATH.search(rest):
            self.being_synced[pid] = path["path"]
        if rest.endswith("= 0"):
            self.unsynced.discard(self.being_synced[pid])


def traced(folder, journal):
    calls = ",".join((*CHANGING, *SYNCING, *SENDING))
    strace = ("strace", "-f", "-y", "-s", "24", "-o", str(folder / "calls.log"))
    command = (*strace, "-e", f"trace={calls}", sys.executable, *SURVEY[journal])
    return Server(folder, free_port(), workers=1, command=command)


def answer_one_by_one(server):
    """One person after the other: so each acknowledgement follows its own answer's calls."""
    server.open_study("synced", questions=QUESTIONS, practice=False)
    with server.app.app_context():
        db.engine.dispose()
    ledger, chance = Ledger(), random.Random(1)
    server.start()
    for _ in range(PEOPLE):
        person = Person(server.port, "/s/synced", ledger, chance, hasty=False)
        list(person.take_part(QUESTIONS))
    os.kill(children(server.process.pid)[0], signal.SIGTERM)
    server.process.wait(timeout=120)  # until the log is whole
    return ledger


@pytest.mark.slow
@pytest.mark.parametrize("journal", SURVEY)
def test_a_sync_has_returned_before_an_answer_is_acknowledged(
    tmp_path, journal, monkeypatch, measured
):
    require_strace()
    if journal == "rollback journal":
        monkeypatch.setattr(opening, "WAL_IS_SAFE_FROM", (99, 0, 0))
    server, disk = traced(tmp_path, journal), Disk(tmp_path)
    ledger = answer_one_by_one(server)
    for line in (tmp_path / "calls.log").read_text().splitlines():
        disk.read(line)
    answers = server.count(Revision)
    with server.app.app_context():
        assert faults(db.engine, ledger.answers) == Faults()
        db.engine.dispose()
    assert answers >= 60
    assert disk.acknowledged == answers + BEFORE_QUESTIONS * server.count(Participant)
    assert disk.too_early == 0
    measured(
        f"SQLite with a {journal}: of {answers} new answers, a sync of all that was written had "
        f"returned before the acknowledgement for {answers - disk.too_early} (strace)."
    )
