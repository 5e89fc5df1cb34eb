"""Within a limit of time the slow tests differ from commit to commit, and none gets lost."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

from tests.time_limit import LONGEST, ordered

ITEMS = [
    SimpleNamespace(path=Path(f"web/test_{file}.py"), name=f"test_{number}")
    for file in "abcdef"
    for number in range(3)
]
LONG = [SimpleNamespace(path=Path(name), name="test_long") for name in LONGEST]


def test_another_commit_begins_with_other_files_and_runs_the_same_tests():
    orders = [ordered(ITEMS, seed) for seed in ("one", "another")]
    assert orders[0] != orders[1]
    for order in orders:
        assert sorted(map(id, order)) == sorted(map(id, ITEMS))
        files = [item.path for item in order]
        assert sum(a != b for a, b in pairwise(files)) == 5


def test_the_longest_come_first_or_with_a_limit_last():
    assert ordered([*ITEMS, *LONG], None) == [*LONG, *ITEMS]
    first, last = set(), set()
    for seed in map(str, range(50)):
        order = ordered([*ITEMS, *LONG], seed)
        places = [place for place, item in enumerate(order) if item in ITEMS]
        assert places == list(range(places[0], places[0] + len(ITEMS)))
        first.update(item.path for item in order[: places[0]])
        last.update(item.path for item in order[places[-1] + 1 :])
    assert first == last == {item.path for item in LONG}


def test_the_longest_are_files_that_exist():
    root = Path(__file__).parent
    assert [name for name in LONGEST if not (root / name).is_file()] == []


def test_after_the_time_tests_are_skipped_and_counted(pytester):
    pytester.makeconftest("pytest_plugins = ['tests.time_limit']")
    pytester.makepyfile("def test_one(): pass\ndef test_other(): pass")
    pytester.runpytest_subprocess("--seconds", "60").assert_outcomes(passed=2)
    done = pytester.runpytest_subprocess("--seconds", "0", "-rs")
    done.assert_outcomes(skipped=2)
    done.stdout.fnmatch_lines(["*SKIPPED*2*the 0 s are over*"])
