"""What the speed run of the measures compares does the same."""

import numpy as np
import pytest

from benchmarks.speed.parts.measures import NAMES, by_formula, by_two_threads, lists_of
from benchmarks.speed.parts.measures_beside import QUESTION, by_hand
from benchmarks.speed.parts.measures_peers import arrays, dictionaries
from survey.core.measures import as_ranks, score


def test_pure_python_finds_what_the_measures_do():
    found = [by_hand(ranks) for ranks in QUESTION]
    assert found == [pytest.approx(row, abs=1e-15) for row in score(NAMES, QUESTION).tolist()]


def test_formulas_and_threads_score_the_lists_that_are_drawn():
    ranks = as_ranks(lists_of(3000), 100)
    assert np.abs(score(NAMES, ranks) - by_formula(ranks)).max() <= 1e-15
    assert (by_two_threads(ranks) == score(NAMES, ranks)).all()


def test_peers_get_the_same_lists():
    judged, run = dictionaries(np.array(QUESTION))
    numbers, scored = arrays(np.array(QUESTION))
    assert list(judged["q1"]) == ["d1", "d3", "d4", "d5", "d6"]
    assert numbers[1, :, 0].tolist() == QUESTION[1]
    assert sorted(run["q1"], key=run["q1"].get) == [f"d{place}" for place in range(100, 0, -1)]
    assert scored.shape == (len(QUESTION), 100, 2)
