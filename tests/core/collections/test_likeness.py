"""A collection ranked by likeness, by examples and by chance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from survey.core.collections.likeness import (
    LENGTH,
    QUERY_LENGTH,
    VECTOR_WIDTH,
    Entry,
    Pool,
    picture_vector,
    stored_vector,
    text_vector,
)

ANGLES = (0, 10, 40, 90, 170)


def at_angle(degrees):
    vector = np.zeros(VECTOR_WIDTH)
    vector[:2] = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return stored_vector(vector)


@pytest.fixture
def pool():
    return Pool([Entry(f"d{angle:03}", None, "", at_angle(angle)) for angle in ANGLES])


def test_the_most_alike_come_first_and_equals_by_their_ids(pool):
    assert pool.by_likeness(pool.target(["d040"], [], 0)) == [
        "d040",
        "d010",
        "d000",
        "d090",
        "d170",
    ]
    twins = Pool([Entry(name, None, "", at_angle(30)) for name in "abc"])
    assert twins.by_likeness(twins.target(["b"], [], 0)) == ["a", "b", "c"]


def test_examples_pull_and_what_is_not_relevant_pushes(pool):
    target = pool.target(["d010", "d040"], ["d000"], 0.5)
    expected = (pool.vectors[1].astype(float) + pool.vectors[2]) / 2 - 0.5 * pool.vectors[0]
    assert np.allclose(
        target / np.linalg.norm(target), expected / np.linalg.norm(expected), atol=2e-4
    )
    assert pool.by_likeness(target)[0] == "d040"
    assert not pool.target([], [], 1).any()


@given(
    st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=12, unique=True),
    st.floats(0, 1),
    st.data(),
)
def test_a_ranking_is_exact_in_any_order_of_summation(seeds, share, data):
    vectors = [np.random.default_rng(seed).normal(size=VECTOR_WIDTH) for seed in seeds]
    names = [f"d{index:02}" for index in range(len(seeds))]
    pool = Pool(
        [Entry(*row) for row in zip(names, seeds, names, map(stored_vector, vectors), strict=True)]
    )
    positives = data.draw(st.sets(st.sampled_from(names)))
    target = pool.target(positives, [name for name in names if name not in positives], share)
    whole = target.astype(np.int64)
    assert (whole == target).all()
    assert (whole**2).sum() <= QUERY_LENGTH**2
    exact = pool.vectors.astype(np.int64) @ whole
    assert (np.abs(exact) < 2**24).all()
    order = sorted(range(len(names)), key=lambda place: (-exact[place], names[place]))
    assert pool.by_likeness(target) == [names[place] for place in order]


def test_a_vector_has_the_length_that_keeps_sums_exact():
    vector = np.frombuffer(stored_vector(np.arange(VECTOR_WIDTH)), "<i2").astype(float)
    assert abs(np.linalg.norm(vector) - LENGTH) < 10
    assert not np.frombuffer(stored_vector(np.zeros(VECTOR_WIDTH)), "<i2").any()


def test_chance_deals_the_same_order_for_a_seed_and_puts_some_first(pool):
    assert pool.by_chance(5) == ["d170", "d090", "d040", "d000", "d010"]
    first = pool.by_chance(5, ["d040", "d090"])
    assert first == ["d090", "d040", "d170", "d000", "d010"]
    assert sorted(pool.by_chance(6)) == sorted(pool.by_chance(5)) != pool.by_chance(6)


def test_a_keyword_is_looked_for_as_whole_words_in_any_case():
    words = {"a": "A cat, asleep", "b": "concatenate", "c": "CAT", "d": "black cat"}
    pool = Pool([Entry(name, None, text, None) for name, text in words.items()])
    assert pool.holding("Cat") == {"a", "c", "d"}
    assert pool.holding("black cat") == {"d"}
    assert pool.holding("(") == set()


def test_texts_that_share_words_are_alike():
    texts = ("the red boat", "a red boat at sea", "stock markets fell")
    pool = Pool([Entry(text, None, text, text_vector(text)) for text in texts])
    assert pool.by_likeness(pool.target([texts[0]], [], 0)) == list(texts)


def test_a_picture_has_colours_edges_and_greys():
    picture = np.zeros((96, 96, 3), dtype=np.uint8)
    picture[:, 48:] = 255
    vector = np.frombuffer(picture_vector(picture), "<i2")
    assert vector.shape == (VECTOR_WIDTH,)
    assert all(part.any() for part in np.split(vector, [64, 192]))
