"""Within a limit of time the slow tests differ from commit to commit, and none gets lost."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.time_limit import LONGEST, in_an_order_of, longest_first

ITEMS = [
    SimpleNamespace(path=Path(f"test_{file}.py"), name=f"test_{number}")
    for file in "abcdef"
    for number in range(3)
]


def test_another_commit_begins_with_other_files_and_runs_the_same_tests():
    orders = [in_an_order_of(seed, ITEMS) for seed in ("one", "another")]
    assert orders[0] != orders[1]
    for order in orders:
        assert sorted(map(id, order)) == sorted(map(id, ITEMS))
        files = [item.path for item in order]
        assert sum(a != b for a, b in pairwise(files)) == 5


@pytest.mark.parametrize("workers", [1, 2, 3, 4])
def test_each_worker_begins_with_one_of_the_longest(workers):
    long = [SimpleNamespace(path=Path("test_long.py"), name=name) for name in LONGEST]
    order = longest_first([*ITEMS, *long], workers)
    assert sorted(map(id, order)) == sorted(map(id, [*ITEMS, *long]))
    share = len(order) // workers
    for number, item in enumerate(long[:workers]):
        assert abs(order.index(item) - number * share) <= 1


def test_the_longest_are_tests_that_exist(pytestconfig):
    root = Path(__file__).parent
    texts = "".join(path.read_text() for path in root.rglob("test_*.py"))
    assert all(f"def {name.partition('[')[0]}(" in texts for name in LONGEST)


def test_after_the_time_tests_are_skipped_and_counted(pytester):
    pytester.makeconftest("pytest_plugins = ['tests.time_limit']")
    pytester.makepyfile("def test_one(): pass\ndef test_other(): pass")
    pytester.runpytest_subprocess("--seconds", "60").assert_outcomes(passed=2)
    done = pytester.runpytest_subprocess("--seconds", "0", "-rs")
    done.assert_outcomes(skipped=2)
    done.stdout.fnmatch_lines(["*SKIPPED*2*the 0 s are over*"])
