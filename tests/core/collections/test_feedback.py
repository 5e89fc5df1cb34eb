"""The examples of relevance feedback in the MiAlbum protocol."""

from hypothesis import given
from hypothesis import strategies as st

from survey.core.collections.evaluation import (
    FEEDBACK_MEASURES,
    negative_examples,
    positive_examples,
)
from survey.core.measures import MEASURES


def test_each_round_of_positive_feedback_takes_the_next_items_of_the_ground_truth():
    assert positive_examples("abcde", 1, 2) == ["a", "b"]
    assert positive_examples("abcde", 2, 2) == ["c", "d"]
    assert positive_examples("abcde", 3, 2) == ["e"]
    assert positive_examples("abcde", 4, 2) == []


def test_each_round_of_negative_feedback_takes_one_more_item_that_is_not_relevant():
    # r1 and r3 are relevant: x2, x4 and x5 are what the system got wrong, in its order
    ranked = ["r1", "x2", "r3", "x4", "x5"]
    found = [negative_examples(ranked, {"r1", "r3", "r9"}, number) for number in (1, 2, 3, 4)]
    assert found == [["x2"], ["x2", "x4"], ["x2", "x4", "x5"], ["x2", "x4", "x5"]]


@given(st.permutations(range(20)), st.integers(1, 25))
def test_the_rounds_of_positive_feedback_share_out_the_ground_truth(truth, images):
    rounds = [positive_examples(truth, number, images) for number in range(1, 21)]
    assert [item for one in rounds for item in one] == truth[: 20 * images]


@given(st.permutations(range(12)), st.sets(st.integers(0, 14)), st.integers(1, 12))
def test_negative_examples_are_the_items_that_are_not_relevant_as_ranked(ranked, relevant, number):
    wrong = [item for item in ranked if item not in relevant]
    assert negative_examples(ranked, relevant, number) == wrong[:number]


def test_its_measures_are_registered():
    assert all(name in MEASURES for name in FEEDBACK_MEASURES)
