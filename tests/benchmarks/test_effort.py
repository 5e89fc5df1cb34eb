"""What taking part asks of a person stays as little as docs/design/effort.md says."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.effort import count, tables

pytestmark = pytest.mark.trial

PAGE = (Path(__file__).parents[2] / "docs" / "design" / "effort.md").read_text()
LAPTOP_HEIGHT, PHONE_HEIGHT = 800, 740


@pytest.fixture(scope="module")
def counted():
    # In a thread of its own: that of the other tests has a loop of Playwright's already.
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(count).result()


def test_the_actions_are_those_of_the_page(counted):
    actions = tables({"now": counted}).rpartition("\n\n")[2]
    for row in (row for row in actions.splitlines() if ": " in row):
        name, _, acts = row.rpartition("|")[0].rpartition("|")
        assert f"{name}|" in PAGE
        assert f"|{acts}|" in PAGE[PAGE.index(name) :].partition("\n")[0]


def test_an_order_takes_six_actions_at_most_and_no_scroll_between_them(counted):
    for place, ways in counted["actions"].items():
        assert ways["a tick"]["all different"] == [2, 0], place
        for actions, scrolls in ways["own ordering, tapped"].values():
            assert (actions <= 6, scrolls) == (True, 0), place


@pytest.mark.parametrize(
    "study", ["numbers", "grid", "strip", "labelling", "grouping", "preference"]
)
def test_a_question_is_one_screen_of_a_laptop(counted, study):
    assert counted["pages"][f"{study}, laptop"]["Question 1"]["px"] <= LAPTOP_HEIGHT


def test_the_numbers_are_one_screen_of_a_phone(counted):
    assert counted["pages"]["numbers, phone"]["Question 1"]["px"] <= PHONE_HEIGHT


def test_every_first_page_is_below_90_kb(counted):
    for pages in counted["pages"].values():
        assert next(iter(pages.values()))["bytes"] < 90_000
