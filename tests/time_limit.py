"""Run the slow tests within a limit of time: ``pytest --seconds 400``.

The longest files begin first, so that none of them is alone at the end. With a limit, the others
come in an order that depends on the commit, so that the tests for which no time was left differ
from commit to commit. They are skipped, and the summary says how many of how many ran. Where fewer
than nine tenths did, the run fails: it says too little of the commit.
"""

import os
import subprocess
import time
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

# By their length; those that take a worker of xdist about forty seconds and more.
LONGEST = (
    "accessibility/test_pages.py",
    "guides/test_stories.py",
    "services/analysis/test_paper.py",
    "browser/test_judging.py",
    *(f"browser/test_walks_{engine}.py" for engine in ("webkit", "chromium", "firefox")),
    "browser/test_researchers_pages.py",
    "browser/test_screenshots.py",
    "promises/test_readable_backups.py",
    "browser/test_grouping.py",
    "browser/test_labelling.py",
    "browser/test_researcher.py",
    "browser/test_participant.py",
    "browser/test_preference.py",
    "promises/test_forms_at_once.py",
    "promises/test_acknowledged_arrivals.py",
)
BEGAN = time.monotonic()
ENOUGH = 0.9  # of the tests must run
OVER = "s are over; another commit begins with other tests"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seconds", type=float, help="begin no test after so many seconds")


@pytest.hookimpl(trylast=True)  # once those that -m leaves out are gone
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "")  # the same for all workers
    seed = None if config.option.seconds is None else commit() or run
    items[:] = ordered(items, seed)


class Together(LoadFileScheduling):
    """Each file goes to one worker; the files of accessibility to the same, which walks once."""

    def _split_scope(self, nodeid: str) -> str:
        scope: str = super()._split_scope(nodeid)
        return "tests/accessibility" if scope.startswith("tests/accessibility/") else scope


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together | None:
    return Together(config, log) if config.option.dist == "loadfile" else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    seconds = item.config.option.seconds
    if seconds is not None and time.monotonic() - BEGAN > seconds:
        pytest.skip(f"the {seconds:g} {OVER}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.option.seconds is None or hasattr(session.config, "workerinput"):
        return
    ran, total = counted(reporter.stats)
    if ran < ENOUGH * total and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if config.option.seconds is not None:
        ran, total = counted(terminalreporter.stats)
        few = f", fewer than {ENOUGH:.0%}: the run fails" if ran < ENOUGH * total else ""
        terminalreporter.write_line(f"{ran:,} of {total:,} tests ran within the time{few}.")


def counted(stats: dict[str, list[Any]]) -> tuple[int, int]:
    """How many tests ran, and how many there are, those among them that had no time left."""
    ran = sum(len(stats.get(outcome, ())) for outcome in ("passed", "failed", "error"))
    late = sum(OVER in str(report.longrepr) for report in stats.get("skipped", ()))
    return ran, ran + late


def commit() -> str:
    """The commit that is checked out; "" outside a repository."""
    root = Path(__file__).parents[1]
    told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True)
    return told.stdout


def ordered(items: list[pytest.Item], seed: str | None) -> list[pytest.Item]:
    """The longest files first; with a seed the others in a drawn order."""
    files = [list(group) for _, group in groupby(items, key=lambda item: item.path)]
    files.sort(key=lambda file: place_of(file[0].path, seed))
    return [item for file in files for item in file]


def place_of(path: Path, seed: str | None) -> tuple[int, bytes]:
    """What a file is sorted by."""
    name = f"{path.parent.name}/{path.name}"
    for place, longest in enumerate(LONGEST):
        if path.as_posix().endswith(longest):
            return place, b""
    return len(LONGEST), b"" if seed is None else sha256(f"{seed}{name}".encode()).digest()
