"""The memory that speed runs tell of is the process's own."""

import subprocess
import sys

import pytest

from benchmarks.speed.memory import peak_mb

pytestmark = pytest.mark.slow


def test_memory_that_was_held_counts_after_it_was_let_go():
    before = peak_mb()
    held = bytearray(int(before + 64) * 1_000_000)
    del held
    assert peak_mb() >= before + 60


def test_what_the_starting_process_held_does_not_count():
    held = bytearray(300_000_000)
    tell = "from benchmarks.speed.memory import peak_mb; print(peak_mb())"
    told = subprocess.run([sys.executable, "-c", tell], capture_output=True, check=True)
    assert 1 < float(told.stdout) < 100 < len(held) / 1e6
