"""Bad ranks are refused with the position of the fault."""

import numpy as np
import pytest

from survey.core.measures import as_ranks, score


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ([[1, 2], [3, 3]], r"row 2, position 2: 3 found; this position is in the list already"),
        ([[1, 2], [0, 3]], r"row 2, position 1: 0 found; positions are counted from 1"),
        ([[-4, 2]], r"row 1, position 1: -4 found; positions are counted from 1"),
        ([[1, 101]], r"row 1, position 2: 101 found; the collection has 100 items"),
        ([[1, 5, 3]], r"row 1, position 3: 3 found; positions must be sorted"),
        ([[1, 2.5]], r"row 1, position 2: 2.5 found; a rank is a whole number"),
        ([[1, float("nan")]], r"row 1, position 2: nan found; a rank is a whole number"),
        ([[1, float("inf")]], r"row 1, position 2: inf found; a rank is a whole number"),
        ([[1, "two"]], r"row 1, position 1: 1 found; a rank is a whole number"),
        ([[1, None]], r"row 1, position 2: None found; a rank is a whole number"),
        ([[1, 10**30]], r"row 1, position 2: 1000000\d+ found; a rank is a whole number"),
        ([[]], r"row 1 is empty"),
        ([], r"there are no lists"),
        ([[1, 2], []], r"row 2 is empty"),
        ([[1, 2], [1, 2, 3]], r"row 2 has 3 positions, row 1 has 2"),
        ([1, 2, 3], r"shape \(3,\); \(lists, relevant\) is needed"),
        (np.array([[True, False]]), r"row 1, position 1: True found"),
    ],
)
def test_ranks_that_cannot_be_are_refused_with_their_place(ranks, message):
    with pytest.raises(ValueError, match=message):
        as_ranks(ranks, 100)


def test_whole_floats_are_taken_as_ranks():
    assert as_ranks([[1.0, 2.0]], 100).tolist() == [[1, 2]]


def test_unsigned_and_small_integers_are_taken_as_ranks():
    for dtype in (np.uint8, np.int16, np.uint64):
        assert as_ranks(np.array([[1, 2]], dtype=dtype), 100).dtype == np.int64


def test_the_first_fault_is_the_one_named():
    with pytest.raises(ValueError, match="row 2, position 1"):
        as_ranks([[1, 2], [0, 200], [0, 0]], 100)


def test_a_collection_of_no_items_is_refused():
    with pytest.raises(ValueError, match="the collection size is 0"):
        as_ranks([[1]], 0)


def test_score_refuses_what_as_ranks_refuses():
    with pytest.raises(ValueError, match="row 1, position 2"):
        score(["AP"], [[1, 1]])
