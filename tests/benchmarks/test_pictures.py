"""Pictures of many people and of large collections: everyone gets theirs, and memory stays flat."""

import json
import subprocess
import sys

import pytest

from benchmarks.speed.intake import draw
from benchmarks.speed.parts.pictures import PEOPLE, crowds

pytestmark = pytest.mark.trial


def test_thirty_people_at_once_get_all_pictures_of_a_question():
    [(first, last)] = crowds(1)
    assert len(first) == len(last) == PEOPLE


def test_ten_times_as_many_pictures_are_taken_in_with_as_much_memory(tmp_path):
    draw(tmp_path, 1_000)
    peaks = []
    for count in (100, 1_000):
        command = [sys.executable, "-m", "benchmarks.speed.intake", str(tmp_path), str(count)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        peaks.append(json.loads(done.stdout)["peak"])
    assert peaks[1] < peaks[0] + 20
