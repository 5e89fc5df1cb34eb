"""Acknowledged means stored, exactly once: whichever system call of an answer fails."""

import shutil
from contextlib import closing

import pytest

from survey.db.engine import sqlite_library
from tests.promises.one_answer import FILE, SAVED
from tests.promises.tracing import answerer, require_strace

# What writes to the disk or says what is there, and what else SQLite does with its files.
WRITING = ("openat", "pwrite64", "fsync", "fdatasync", "ftruncate", "unlink")
OTHERS = ("fcntl", "pread64", "fstat", "stat", "newfstatat", "lstat", "mmap", "close", "fchown")
FAULTS = ("error=EIO", "error=ENOSPC", "signal=SIGKILL")
MODES = {
    "wal": "write-ahead log",
    "checkpoint": "write-ahead log written back at every commit",
    "journal": "rollback journal",
}


@pytest.fixture(autouse=True)
def traceable():
    require_strace()


def calls_that_failed(folders, mode, calls, step=1):
    """Let each (or every STEP-th) call of each kind fail, in an answer of its own; count them."""
    failed = dict.fromkeys(calls, 0)
    with answerer(folders, mode) as one:
        for call in calls:
            for fault in FAULTS:
                number = 1
                while is_hit(one, call, fault, number):
                    failed[call] += 1
                    number += step
    return {call: number for call, number in failed.items() if number}


def is_hit(one, call, fault, number):
    """Answer once with this fault; check what is stored, and that trying again ends well."""
    folder, log = one.fresh_folder(), one.folders / "strace.log"
    injected = f"inject={call}:{fault}:when={number}"
    told = one.answer(folder, ("-e", f"trace={call}", "-e", injected), log)
    point = (call, fault, number, told)
    assert set(told.statuses) <= {SAVED, 503}, point
    check(folder, point, acknowledged=SAVED in told.statuses)
    if told.ended == 0:
        assert told.statuses[-1] == SAVED, point  # the same process goes on as before
    assert one.answer(folder).statuses == (SAVED,), point
    check(folder, point, acknowledged=True)
    shutil.rmtree(folder)
    return told.ended != 0 or "(INJECTED)" in log.read_text()


def check(folder, point, *, acknowledged):
    """Look into a copy, so that the survey and not the look has to recover what was left."""
    copy = shutil.copytree(folder, folder.with_name("copy"))
    with closing(sqlite_library().connect(copy / FILE)) as connection:
        rows, revisions = (
            connection.execute(
                f"SELECT clicked FROM {part} LEFT JOIN ordering_{part} ON {part}_id = {part}.id"
            ).fetchall()
            for part in ("response", "revision")
        )
        loose = connection.execute("PRAGMA foreign_key_check").fetchall()
        health = connection.execute("PRAGMA integrity_check").fetchall()
    assert (health, loose) == ([("ok",)], []), point
    assert (None,) not in rows, point
    assert rows == revisions, point
    assert len(rows) == 1 if acknowledged else len(rows) <= 1, point
    shutil.rmtree(copy)


def in_words(mode, hit):
    return (
        f"SQLite with a {MODES[mode]}: {sum(hit.values())} answers, in each of which one system "
        f"call failed with EIO or ENOSPC or was the process's last ({len(hit)} kinds of call): "
        "0 acknowledged answers lost, 0 doubled, the file intact; sent again, each was stored once."
    )


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["checkpoint", "journal"])
def test_an_answer_survives_the_failure_of_every_twentieth_write_and_sync(tmp_path, mode):
    hit = calls_that_failed(tmp_path, mode, WRITING, step=20)
    assert {"pwrite64", "fsync"} <= set(hit) or {"pwrite64", "fdatasync"} <= set(hit)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "call"), [("wal", "fcntl"), ("journal", "pread64")])
def test_an_answer_survives_an_unlock_or_a_read_that_fails(tmp_path, mode, call):
    with answerer(tmp_path, mode) as one:
        hits = [is_hit(one, call, "error=EIO", number) for number in range(1, 32)]
    assert sum(hits) > 5


@pytest.mark.trial
@pytest.mark.parametrize("mode", ["checkpoint", "journal"])
def test_an_answer_survives_the_failure_of_each_write_and_sync(tmp_path, mode, measured):
    hit = calls_that_failed(tmp_path, mode, WRITING)
    assert {"pwrite64", "fsync"} <= set(hit) or {"pwrite64", "fdatasync"} <= set(hit)
    measured(in_words(mode, hit))


@pytest.mark.soak
@pytest.mark.parametrize("mode", MODES)
def test_an_answer_survives_the_failure_of_each_call_on_the_database(tmp_path, mode, measured):
    hit = calls_that_failed(tmp_path, mode, WRITING + OTHERS)
    assert {"pwrite64", "fcntl", "pread64"} <= set(hit)
    measured(in_words(mode, hit))
