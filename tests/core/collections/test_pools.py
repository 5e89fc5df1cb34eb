"""Pools: which documents are judged, in which order, and by whom."""

from itertools import combinations

import pytest

from survey.core.collections.pools import (
    StudyPool,
    assigned_chunks,
    at_places,
    by_chance,
    first_documents,
    split_pool,
)

RUNS = {
    "one": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"x": 1.0}},
    "two": {"1": {"b": 9.0, "d": 8.0, "a": 7.0}, "3": {"y": 1.0}},
}
POOL = StudyPool(depth=2, runs=first_documents(RUNS, 2))


def test_a_pool_is_the_union_of_the_first_documents():
    assert {topic: POOL.of_topic(topic) for topic in POOL.topics} == {
        "1": ["a", "b", "d"],
        "2": ["x"],
        "3": ["y"],
    }
    assert POOL.sentence == (
        "3 topics, 2 runs, depth 2: 5 documents (1 to 3 a topic); 4 found by one run alone."
    )
    assert POOL.found_alone("two") == {("1", "d"), ("3", "y")}
    assert POOL.ranks["1"]["b"] == {"one": 2, "two": 1}


def test_equal_scores_are_ordered_as_trec_eval_does():
    assert first_documents({"r": {"1": {"d1": 1.0, "d2": 1.0}}}, 1) == {"r": {"1": ("d2",)}}


def test_a_pool_of_a_file_says_how_large_it_is():
    pool = StudyPool(documents={"10": ("b", "a"), "9": ("c", "d")})
    assert pool.topics == ["9", "10"]
    assert pool.sentence == "2 topics: 4 documents (2 a topic)."


def test_fusion_sums_reciprocal_ranks():
    # a: 1/61, b: 1/62 + 1/61, d: 1/62
    assert POOL.fused("1", ["a", "b", "d"]) == ["b", "a", "d"]


def test_an_order_by_chance_depends_on_the_seed_alone():
    documents = [f"d{number}" for number in range(40)]
    assert by_chance(documents, 7) == by_chance(documents[::-1], 7)
    assert sorted(by_chance(documents, 7)) == sorted(documents) != by_chance(documents, 7)
    assert by_chance(documents, 7) != by_chance(documents, 8) != by_chance(documents, 8, 1)


def test_gold_documents_are_at_every_place_equally_often():
    places = [at_places("abcdefghi", ["gold"], seed).index("gold") for seed in range(2_000)]
    counts = [places.count(place) for place in range(10)]
    assert max(abs(count - 200) for count in counts) < 5 * 200**0.5  # five standard errors
    kept = [each for each in at_places("abc", ["x", "y"], 3) if each in "abc"]
    assert kept == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("count", "chunk", "overlap", "sizes"),
    [(7, None, 0, [7]), (7, 7, 0, [7]), (8, 7, 0, [4, 4]), (100, 50, 10, [40, 40, 40])],
)
def test_a_pool_is_split_into_equal_chunks_that_share_the_overlap(count, chunk, overlap, sizes):
    documents = [f"d{number}" for number in range(count)]
    chunks = split_pool(documents, chunk, overlap, 1, 5)
    assert [*map(len, chunks)] == sizes
    assert sorted({each for some in chunks for each in some}) == sorted(documents)
    if len(chunks) > 1:
        assert {len({*one} & {*two}) for one, two in combinations(chunks, 2)} == {overlap}


@pytest.mark.parametrize("annotators", [3, 7, 11])
def test_each_chunk_goes_to_three_and_pairs_share_equally_many_documents(annotators):
    topics = [str(chunk // 2) for chunk in range(100)]
    blocks = assigned_chunks(topics, [40] * 100, 3, annotators)
    assert len(blocks) == annotators
    chunks = [number for block in blocks for number in block]
    assert all(chunks.count(number) == 3 for number in range(1, 101))
    assert max(map(len, blocks)) - min(map(len, blocks)) <= 1
    shared = [len({*one} & {*two}) for one, two in combinations(blocks, 2)]
    assert max(shared) - min(shared) <= 1
    if annotators > 6:  # so that no annotator needs two chunks of a topic
        for block in blocks:
            assert len({topics[number - 1] for number in block}) == len(block)


def test_seven_chunks_for_seven_annotators_are_a_fano_plane():
    blocks = assigned_chunks([*"abcdefg"], [1] * 7, 3, 7)
    assert {len({*one} & {*two}) for one, two in combinations(blocks, 2)} == {1}
