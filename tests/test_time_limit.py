"""Within a limit of time the promises differ from commit to commit, and none gets lost."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

from tests.time_limit import LONGEST, ordered

ITEMS = [
    SimpleNamespace(path=Path(folder) / f"test_{file}.py", name=f"test_{number}")
    for folder in ("browser", "promises")
    for file in "abcdef"
    for number in range(3)
]
LONG = [SimpleNamespace(path=Path(name), name="test_long") for name in LONGEST]


def test_another_commit_begins_with_other_promises_and_runs_the_same_tests():
    orders = [ordered(ITEMS, seed) for seed in ("one", "another")]
    assert orders[0] != orders[1]
    for order in orders:
        assert sorted(map(id, order)) == sorted(map(id, ITEMS))
        assert order[:18] == ITEMS[:18]
        files = [item.path for item in order]
        assert sum(a != b for a, b in pairwise(files)) == 11


def test_the_longest_come_first_and_with_a_limit_the_promises_last():
    assert ordered([*ITEMS, *LONG], None) == [*LONG, *ITEMS]
    walks = [item for item in LONG if item.path.parent.name != "promises"]
    order = ordered([*ITEMS, *LONG], "a commit")
    assert order[: len(walks) + 18] == [*walks, *ITEMS[:18]]


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
