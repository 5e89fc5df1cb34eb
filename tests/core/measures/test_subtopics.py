"""S-recall and S-precision, and the smallest sets of items that cover sub-topics."""

from itertools import combinations
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.measures import score, subtopics
from survey.core.measures.subtopics import is_exact, smallest_cover

# "animals swimming" (ImageCLEF topic 5): four clusters with at least one relevant image each.
ANIMALS = ["dolphin", "dolphin", "dolphin", "turtle", "turtle", "alligator", "pelican", "pelican"]


def value(name, ranks, clusters):
    return score([name], [ranks], clusters=[[one.split("+") for one in clusters]])[0, 0]


def test_the_sources_example_of_four_animal_clusters():
    # Left: groups of similar images, the first 20 hold dolphins and turtles only: 2/4.
    # Right: at least one of each within the first 20, in any order: cluster recall 1.
    grouped = [1, 2, 4, 6, 9, 25, 31, 40]
    spread = [1, 30, 31, 7, 32, 12, 19, 33]
    assert value("S-recall@20", grouped, ANIMALS) == 0.5
    by_rank = sorted(zip(spread, ANIMALS, strict=True))
    assert value("S-recall@20", *zip(*by_rank, strict=True)) == 1
    # P@20 stands beside it: 5/20 on the left, 4/20 on the right.
    assert score(["P@20"], [grouped, sorted(spread)])[:, 0].tolist() == [0.25, 0.2]


def test_any_order_within_the_first_twenty_gives_the_same_s_recall():
    found = {
        value("S-recall@20", [2, 5, 11, 20], order)
        for order in (["a", "b", "c", "d"], ["d", "c", "b", "a"], ["b", "d", "a", "c"])
    }
    assert found == {1}


def test_redundant_and_balanced_lists_have_the_same_s_recall_as_the_paper_warns():
    # 10 and 10 of two sub-topics, against 19 and 1.
    ranks = [*range(1, 21)]
    assert value("S-recall@20", ranks, ["a"] * 10 + ["b"] * 10) == 1
    assert value("S-recall@20", ranks, ["a"] * 19 + ["b"]) == 1


def test_alpha_ndcg_prefers_the_balanced_list_as_the_paper_wishes():
    # 10 and 10 against 19 and 1; with alpha = .5 the n-th item of a sub-topic gains .5^(n − 1).
    ranks = [*range(1, 21)]
    balanced = value("alpha-nDCG@20", ranks, ["a", "b"] * 10)
    lopsided = value("alpha-nDCG@20", ranks, ["a", "b", *["a"] * 18])
    assert balanced == lopsided == 1  # each is the best order of its own items
    blocks = value("alpha-nDCG@20", ranks, ["a"] * 10 + ["b"] * 10)
    assert value("alpha-nDCG@20", ranks, ["a"] * 19 + ["b"]) < blocks < 1


def test_a_hand_computed_alpha_ndcg():
    # a, a + b, c at 1, 2, 4 gain 1, .5 + 1, 1; the ideal takes a + b first (2), then c (1), a (.5).
    gained = 1 + 1.5 / log2(3) + 1 / log2(5)
    ideal = 2 + 1 / log2(3) + 0.5 / log2(4)
    assert value("alpha-nDCG@10", [1, 2, 4], ["a", "a+b", "c"]) == pytest.approx(gained / ideal)
    # With alpha = .9 the second item of a gains .1.
    gained = 1 + 1.1 / log2(3) + 1 / log2(5)
    ideal = 2 + 1 / log2(3) + 0.1 / log2(4)
    assert value("alpha0.9-nDCG@10", [1, 2, 4], ["a", "a+b", "c"]) == pytest.approx(gained / ideal)


def test_a_list_that_gains_more_than_the_greedy_ideal_has_the_value_1():
    # Each gains 2 at first, and greedy takes b + d, the last by name: 2, then 1.5 twice. The
    # list gains 2, 2, 1.
    greedy = 2 + 1.5 / log2(3) + 1.5 / log2(4)
    assert 2 + 2 / log2(3) + 1 / log2(4) > greedy
    items = ["a+d", "b+c", "b+d"]
    assert value("alpha-nDCG@5", [1, 2, 3], items) == 1
    assert value("alpha-nDCG@5", [1, 2, 4], items) == pytest.approx(
        (2 + 2 / log2(3) + 1 / log2(5)) / greedy
    )


def test_s_precision_compares_with_the_best_order_of_the_same_items():
    # Sub-topics a, b, c; the item at 4 has b and c. All three are there at position 4; the
    # best order takes two items (a, and b + c): 2/4. Two of three are there at 2: 1/2, since
    # the item of b + c alone has two.
    ranks, clusters = [1, 2, 4], ["a", "b", "b+c"]
    assert value("S-precision@1", ranks, clusters) == 0.5
    assert value("S-precision@0.5", ranks, clusters) == 0.5


def test_a_level_that_is_never_reached_has_s_precision_zero():
    found = score(["S-precision@1", "S-recall@100"], [[3]], relevant=2, clusters=[["a", "b"]])
    assert found.tolist() == [[0, 0.5]]


def test_an_item_without_a_cluster_counts_for_no_sub_topic():
    found = score(["S-recall@5", "P@5"], [[1, 2, 50]], clusters=[[(), ("a",), ("b",)]])
    assert found.tolist() == [[0.5, 0.4]]


families = st.frozensets(
    st.frozensets(st.sampled_from("abcdef"), min_size=1, max_size=3), min_size=1, max_size=6
)


def fewest(items, needed):
    """By trying all subsets, small ones first."""
    return next(
        size
        for size in range(len(items) + 1)
        if any(len(frozenset().union(*chosen)) >= needed for chosen in combinations(items, size))
    )


@pytest.mark.slow
@given(items=families, data=st.data())
def test_the_smallest_cover_is_the_smallest(items, data):
    needed = data.draw(st.integers(1, len(frozenset().union(*items))))
    assert smallest_cover(items, needed) == fewest(items, needed)
    assert is_exact(items)


def test_beyond_the_sizes_at_hand_a_greedy_cover_is_given_and_said_so(monkeypatch):
    # Greedy takes the item of four first and needs three; two would do.
    items = frozenset(map(frozenset, ("abcd", "abe", "cdf")))
    assert (smallest_cover(items, 6), is_exact(items)) == (2, True)
    smallest_cover.cache_clear()
    monkeypatch.setattr(subtopics, "MOST_EXACT", 1)
    assert (smallest_cover(items, 6), is_exact(items)) == (3, False)
    smallest_cover.cache_clear()


def test_more_sub_topics_than_there_are_cannot_be_covered():
    with pytest.raises(ValueError, match="1 sub-topics found; 2 cannot be covered"):
        smallest_cover(frozenset([frozenset("a")]), 2)
