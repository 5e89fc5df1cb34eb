"""Descriptors of pictures: lengths, definitions, and what they do not see."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from survey.core.collections.descriptors import DESCRIPTORS, NEIGHBOURS, likeness

PICTURES = arrays(np.uint8, (16, 24, 3), elements=st.integers(0, 255))
SIZES = {
    "colour-histogram": 64,
    "grey-histogram": 32,
    "edge-orientations": 128,
    "tiny-grey": 64,
    "binary-patterns": 256,
}


def stripes(axis):
    picture = np.zeros((16, 16, 3), dtype=np.uint8)
    picture[(slice(None),) * axis + (slice(0, None, 4),)] = 255
    return picture


@given(PICTURES)
def test_every_vector_has_its_size_and_length_1_or_0(picture):
    for name, describe in DESCRIPTORS.items():
        vector = describe(picture)
        assert vector.shape == (SIZES[name],)
        assert np.isclose(np.linalg.norm(vector), 1) or not vector.any()


@given(PICTURES, PICTURES)
def test_likeness_is_a_cosine_and_1_for_a_picture_with_itself(one, other):
    for describe in DESCRIPTORS.values():
        vectors = np.stack([describe(one), describe(other)])
        table = likeness(vectors, vectors)
        assert np.allclose(table, table.T)
        assert (abs(table) <= 1 + 1e-9).all()
        assert np.allclose(table.diagonal(), vectors.any(axis=1))


@given(arrays(np.uint8, (16, 16), elements=st.integers(0, 200)), st.integers(0, 55))
def test_light_changes_histograms_but_neither_edges_nor_patterns_nor_tiny_pictures(grey, more):
    dark, light = (np.stack([each] * 3, axis=2) for each in (grey, grey + np.uint8(more)))
    for name in ("edge-orientations", "binary-patterns", "tiny-grey"):
        assert np.allclose(DESCRIPTORS[name](dark), DESCRIPTORS[name](light), atol=1e-6), name


@given(PICTURES, st.randoms(use_true_random=False))
def test_histograms_do_not_see_where_a_pixel_is(picture, chance):
    pixels = picture.reshape(-1, 3).tolist()
    chance.shuffle(pixels)
    shuffled = np.array(pixels, dtype=np.uint8).reshape(picture.shape)
    for name in ("colour-histogram", "grey-histogram"):
        assert np.array_equal(DESCRIPTORS[name](picture), DESCRIPTORS[name](shuffled))


def test_edges_of_upright_and_lying_stripes_have_nothing_in_common():
    upright, lying = (DESCRIPTORS["edge-orientations"](stripes(axis)) for axis in (1, 0))
    assert np.isclose(np.linalg.norm(upright), 1)
    assert likeness(upright, lying) == 0


@given(arrays(np.uint8, (8, 8), elements=st.integers(0, 255)))
def test_binary_patterns_are_those_of_the_definition(grey):
    counts = np.zeros(256)
    for row in range(1, 7):
        for column in range(1, 7):
            counts[
                sum(
                    2**bit * bool(grey[row + down, column + right] >= grey[row, column])
                    for bit, (down, right) in enumerate(NEIGHBOURS)
                )
            ] += 1
    picture = np.stack([grey] * 3, axis=2)
    assert np.allclose(DESCRIPTORS["binary-patterns"](picture) ** 2, counts / 36)


def test_a_picture_of_one_colour_has_no_edges_and_no_tiny_picture():
    plain = np.full((16, 16, 3), 77, dtype=np.uint8)
    assert not DESCRIPTORS["edge-orientations"](plain).any()
    assert not DESCRIPTORS["tiny-grey"](plain).any()
    assert DESCRIPTORS["grey-histogram"](plain).max() == 1


def test_a_size_that_cells_do_not_divide_is_refused():
    with pytest.raises(ValueError, match="a picture of 10 × 16 found; multiples of 8 are needed"):
        DESCRIPTORS["tiny-grey"](np.zeros((16, 10, 3), dtype=np.uint8))
