"""Within a limit of time the slow tests differ from commit to commit, and none gets lost."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.time_limit import LONGEST, OVER, counted, ordered

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


def test_the_longest_come_first():
    for seed in (None, "one", "another"):
        order = ordered([*ITEMS, *LONG], seed)
        assert order[: len(LONG)] == LONG
        assert sorted(map(id, order[len(LONG) :])) == sorted(map(id, ITEMS))


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


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_run_of_fewer_than_nine_tenths_fails_and_says_so(pytester, workers):
    pytester.makeconftest("pytest_plugins = ['tests.time_limit']")
    slow = "import time\ndef test_slow(): time.sleep(1)\n"
    pytester.makepyfile(test_a=slow, test_b=slow, test_c="def test_it(): pass")
    whole = pytester.runpytest_subprocess("--seconds", "60", *workers)
    assert whole.ret == 0
    whole.stdout.fnmatch_lines(["3 of 3 tests ran within the time."])
    broken = pytester.runpytest_subprocess("--seconds", "0", *workers)
    assert broken.ret == 1
    broken.stdout.fnmatch_lines(
        ["0 of 3 tests ran within the time, fewer than 90%: the run fails."]
    )
    assert pytester.runpytest_subprocess(*workers).ret == 0


def test_tests_that_are_skipped_for_another_reason_are_not_counted():
    def report(text):
        return SimpleNamespace(longrepr=text)

    late, other = report(f"('x.py', 3, 'Skipped: the 5 {OVER}')"), report("Skipped: no R here")
    assert counted({"passed": [1] * 9, "skipped": [late, other]}) == (9, 10)
    assert counted({"passed": [1] * 7, "failed": [1], "error": [1]}) == (9, 9)
