"""Labels, columns and rows: permutations, uniform, and nobody's to recompute."""

from collections import Counter
from itertools import permutations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from survey.core.studies.questions import Blinding, draw_blinding

MEASURES = ("AP", "NMRR", "MNRO")


@pytest.mark.slow
@given(st.randoms(use_true_random=False), st.integers(2, 6), st.integers(3, 10), st.booleans())
def test_every_draw_is_a_permutation(chance, measures, lists, shuffle):
    names, letters = [f"M{k}" for k in range(measures)], "ABCDEFGHIJ"[:lists]
    blinding = draw_blinding(names, letters, chance, shuffle_lists=shuffle)
    assert sorted(blinding.label_order) == sorted(names)
    assert sorted(blinding.column_order) == list(range(1, measures + 1))
    assert sorted(blinding.list_order) == sorted(letters)


def test_rows_keep_their_order_unless_asked_for():
    assert draw_blinding(MEASURES, "ABCDE", Random(1)).list_order == tuple("ABCDE")


def test_every_label_order_and_column_order_comes_up_equally_often():
    chance = Random(7)
    draws = [
        draw_blinding(MEASURES, "ABC", chance, shuffle_columns=True, shuffle_lists=True)
        for _ in range(6000)
    ]
    for orders, possible in (
        (Counter(d.label_order for d in draws), permutations(MEASURES)),
        (Counter(d.column_order for d in draws), permutations((1, 2, 3))),
        (Counter(d.list_order for d in draws), permutations("ABC")),
    ):
        assert chisquare([orders[order] for order in possible]).pvalue > 0.001


@pytest.mark.parametrize(
    ("labels", "columns", "rows", "message"),
    [
        (("AP", "AP"), (1, 2), ("A",), "a measure has two labels"),
        (("AP", "NMRR"), (1, 3), ("A",), "are no order of the labels"),
        (("AP", "NMRR"), (2, 1), ("A", "A"), "a list has two rows"),
    ],
)
def test_what_is_no_permutation_is_refused(labels, columns, rows, message):
    with pytest.raises(ValueError, match=message):
        Blinding(labels, columns, rows)
