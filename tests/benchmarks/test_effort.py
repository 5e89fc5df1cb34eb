"""What taking part asks of a person stays as short as docs/design/effort.md says."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.effort import count, tables

pytestmark = pytest.mark.trial

PAGE = (Path(__file__).parents[2] / "docs" / "design" / "effort.md").read_text()


@pytest.fixture(scope="module")
def counted():
    # In a thread of its own: that of the other tests has a loop of Playwright's already.
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(count).result()


def test_the_actions_are_those_of_the_page(counted):
    for way, kinds in counted["actions"].items():
        for kind, number in kinds.items():
            row = next(
                (row for row in PAGE.splitlines() if row.startswith(f"| {way}, {kind} |")), ""
            )
            assert not row or row.endswith(f" {number or '–'} |"), (row, number)
    assert counted["actions"]["a tick"]["all different"] == 2
    assert max(counted["actions"]["own ordering, tapped"].values()) <= 6


def test_at_most_300_words_are_read_before_the_first_question(counted):
    (total,) = [row for row in tables({"now": counted}).splitlines() if "before question 1" in row]
    assert int(total.split("|")[2]) <= 300
