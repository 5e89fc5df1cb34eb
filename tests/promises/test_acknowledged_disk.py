"""Acknowledged means stored, exactly once: on a disk that is full."""

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from sqlalchemy import create_engine

from survey.app import db
from survey.db.engine import database_url, engine_options
from tests.promises.crowd import Crowd
from tests.promises.stored import Faults, faults, is_intact
from tests.serving import Server, free_port

CLIENTS = 4
# A small disk that only the server sees, gone with it; with the instance on it.
MOUNT = 'mount -t tmpfs -o size=8m tmpfs "$1"'
ON_A_SMALL_DISK = f'{MOUNT} && cp -a "$2/." "$1/" && shift 2 && exec "$@"'
LEFT = 100_000  # bytes, so that the answers themselves fill the last of it


@pytest.fixture(scope="module")
def namespace(tmp_path_factory):
    """How to start a process that may mount a disk of its own."""
    folder = str(tmp_path_factory.mktemp("mount"))
    for way in (("unshare", "-m"), ("unshare", "-rm")):
        with suppress(FileNotFoundError):
            command = [*way, "sh", "-c", MOUNT, "sh", folder]
            if subprocess.run(command, capture_output=True, check=False).returncode == 0:
                return way
    pytest.skip("no small disk can be mounted on this machine, not even in a namespace")


@pytest.fixture
def server(tmp_path, namespace):
    instance, filled = tmp_path / "instance", tmp_path / "filled"
    instance.mkdir()
    sh = ("sh", "-c", ON_A_SMALL_DISK, "sh", str(instance), str(filled))
    command = (*namespace, *sh, sys.executable, "-m", "survey")
    running = Server(instance, free_port(), command=command)
    running.open_study("full", questions=50, practice=False, participants=1_000)
    with running.app.app_context():
        db.engine.dispose()
    shutil.copytree(instance, filled)
    running.start(until="/healthz")  # with so little space it is not ready
    yield running
    running.kill()


@pytest.fixture
def disk(server):
    """The instance folder as the server sees it."""
    inside = f"/proc/{server.process.pid}/root{server.instance}"
    assert os.statvfs(inside).f_blocks * os.statvfs(inside).f_frsize < 10_000_000
    return inside


def fill(disk):
    with open(f"{disk}/filler", "wb", buffering=0) as filler:
        filler.write(bytes(os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize - LEFT))


def wait_for(crowd, condition):
    while not condition() and not crowd.someone_failed():
        time.sleep(0.05)


def look(disk, folder, acknowledged):
    """Compare a copy with what was acknowledged: SQLite would resolve the path into the disk."""
    for path in ("survey.sqlite3", "survey.sqlite3-wal"):
        shutil.copyfile(f"{disk}/{path}", folder / path)
    url = database_url(f"sqlite:///{folder / 'survey.sqlite3'}")
    engine = create_engine(url, **engine_options(url))
    found = faults(engine, acknowledged), is_intact(engine)
    engine.dispose()
    return found


@pytest.mark.slow
def test_a_full_disk_is_told_with_503_and_loses_nothing(server, disk, tmp_path, measured):
    crowd = Crowd(server.port, "/s/full", 50)
    seen = crowd.ledger.seen
    with crowd.come(CLIENTS, at_once=1):
        wait_for(crowd, lambda: seen["acknowledged"] >= 5 * CLIENTS)
        fill(disk)
        wait_for(crowd, lambda: seen["status 503"] >= 5 * CLIENTS)
        before = seen["acknowledged"]
        os.unlink(f"{disk}/filler")
        wait_for(crowd, lambda: seen["acknowledged"] >= before + 5 * CLIENTS)
        crowd.leave()
    assert not [what for what in seen if what.startswith(("status 500", "status 4", "503 without"))]
    assert look(disk, tmp_path, crowd.ledger.answers) == (Faults(), True)
    measured(
        f"On a full disk: {seen['status 503']} × 503 with Retry-After, never 500; after space was "
        f"made, answers went on without a restart; of {seen['acknowledged']} acknowledged answers "
        "0 lost, 0 doubled, 0 altered, the file intact."
    )
