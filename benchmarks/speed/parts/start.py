"""Starting: the command's help, and ``make run`` until the first page is there."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import requests

from benchmarks.speed.part import Finding, Part
from benchmarks.speed.timing import in_turn, ratios
from tests.serving import free_port

ROOT = Path(__file__).parents[3]
PATIENCE = 120


def run() -> Part:
    """Measure."""
    help_, bare = [sys.executable, "-m", "survey", "--help"], [sys.executable, "-c", "pass"]
    seconds = in_turn({"help": lambda: _run(help_), "bare": lambda: _run(bare)}, rounds=15)
    return Part(
        name="start",
        title="Starting",
        findings=[
            Finding("`survey --help`", seconds["help"], "s", target="≤ 0.4"),
            Finding(
                "the same beside Python that does nothing",
                ratios(seconds["help"], seconds["bare"]),
                "× its time",
            ),
            Finding(
                "`make run` until the entry page of the study is served",
                first_pages(),
                "s",
                target="≤ 3",
                note="the environment and the database are there",
            ),
        ],
        said=["Every start is that of a new process; the files are in the system's memory."],
    )


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)  # noqa: S603


def first_pages(rounds: int = 5) -> list[float]:
    """Start the server again and again on one instance; seconds until its first page."""
    with tempfile.TemporaryDirectory() as instance:
        return [_first_page(instance) for _ in range(rounds + 1)][1:]


def _first_page(instance: str) -> float:
    port = free_port()
    begun = time.perf_counter()
    server = subprocess.Popen(  # noqa: S603
        ["make", "run", f"PORT={port}"],  # noqa: S607
        cwd=ROOT,
        env={**os.environ, "SURVEY_INSTANCE": instance},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while time.perf_counter() - begun < PATIENCE:
            try:
                if requests.get(f"http://127.0.0.1:{port}/s/five-systems", timeout=PATIENCE).ok:
                    return time.perf_counter() - begun
            except requests.ConnectionError:
                time.sleep(0.01)
        raise AssertionError("no page was served")
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
