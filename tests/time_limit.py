"""Run the slow tests within a limit of time: ``pytest --seconds 400``.

The longest begin first, so that none of them is alone at the end. With a limit, the files come in
an order that depends on the commit, so that the tests for which no time was left differ from commit
to commit. They are skipped, and the summary says how many.
"""

import os
import subprocess
import time
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import pytest

# In the order of their length. Each worker of xdist begins with one of them.
LONGEST = (
    "test_every_picture_shows_its_page_as_it_is",
    "test_pictures_become_judgements_groups_and_an_ordering_study",
    "test_a_page_works_from_top_to_bottom[thousand-participants]",
    "test_an_answer_survives_the_failure_of_every_twentieth_write_and_sync[checkpoint]",
)
BEGAN = time.monotonic()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seconds", type=float, help="begin no test after so many seconds")


@pytest.hookimpl(trylast=True)  # once those that -m leaves out are gone
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.option.seconds is not None:
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "")  # the same for all workers
        items[:] = in_an_order_of(commit() or run, items)
    items[:] = longest_first(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def pytest_runtest_setup(item: pytest.Item) -> None:
    seconds = item.config.option.seconds
    if seconds is not None and time.monotonic() - BEGAN > seconds:
        pytest.skip(f"the {seconds:g} s are over; another commit begins with other tests")


def commit() -> str:
    """The commit that is checked out; "" outside a repository."""
    root = Path(__file__).parents[1]
    told = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True)
    return told.stdout


def in_an_order_of(seed: str, items: list[pytest.Item]) -> list[pytest.Item]:
    """The files in an order drawn from a seed; those of a file stay together."""
    files = [list(group) for _, group in groupby(items, key=lambda item: item.path)]
    files.sort(key=lambda group: sha256(f"{seed}{group[0].path.name}".encode()).digest())
    return [item for group in files for item in group]


def longest_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Let each worker begin with one of the longest: each gets its share of the list at first."""
    longest = [item for name in LONGEST for item in items if item.name == name][:workers]
    others = [item for item in items if item not in longest]
    for number, item in enumerate(longest):
        others.insert(number * (len(others) + 1) // workers, item)
    return others
