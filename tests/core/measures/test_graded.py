"""Measures of grades: NMRR and MNRO over thresholds, ERR, Q-measure and graded AP."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.measures import score
from tests.core.measures.lists import several_lists

FEW = settings(max_examples=20)
PAIRS = pytest.mark.parametrize(("graded", "binary"), [("gNMRR", "NMRR"), ("gMNRO", "MNRO")])


@PAIRS
@FEW
@given(drawn=several_lists(), grade=st.integers(1, 5))
def test_binary_grades_give_the_binary_measure(graded, binary, drawn, grade):
    ranks, _ = drawn
    same = np.full(np.shape(ranks), grade)
    assert score([graded], ranks, grades=same) == pytest.approx(score([binary], ranks))


@PAIRS
@FEW
@given(drawn=several_lists())
def test_it_is_the_mean_over_thresholds_as_defined(graded, binary, drawn):
    ranks, marks = drawn
    for row, known in zip(ranks, marks, strict=True):
        grades = [grade for grade, _, _ in known]
        parts = []
        for threshold in range(1, max(grades) + 1):
            kept = [rank for rank, grade in zip(row, grades, strict=True) if grade >= threshold]
            parts.append(score([binary], [kept])[0, 0])
        assert score([graded], [row], grades=[grades])[0, 0] == pytest.approx(np.mean(parts))


@PAIRS
def test_the_papers_example_of_two_orders_is_told_apart(graded, binary):
    # X1, X2, X3 with levels 3, 2, 1: X1 X2 X3 is in order, X2 X3 X1 is not (Section 2).
    grades = [[3, 2, 1], [2, 1, 3]]
    assert score([binary], [[1, 2, 3]] * 2).tolist() == [[0], [0]]
    first, second = score([graded], [[1, 2, 3]] * 2, grades=grades)[:, 0]
    assert first == 0 < second


@PAIRS
@FEW
@given(drawn=several_lists(most=6), data=st.data())
def test_it_is_zero_exactly_when_the_list_is_sorted_by_grade(graded, binary, drawn, data):
    _, marks = drawn
    grades = [grade for grade, _, _ in marks[0]]
    top = [[*range(1, len(grades) + 1)]]
    value = score([graded], top, grades=[grades])[0, 0]
    assert (value == 0) == (grades == sorted(grades, reverse=True))


@PAIRS
@FEW
@given(drawn=several_lists(most=6), data=st.data())
def test_swapping_a_higher_grade_up_past_a_lower_one_is_never_worse(graded, binary, drawn, data):
    ranks, marks = drawn
    grades = [grade for grade, _, _ in marks[0]]
    place = data.draw(st.integers(0, max(0, len(grades) - 2)))
    if len(grades) > 1 and grades[place] < grades[place + 1]:
        better = [*grades]
        better[place : place + 2] = grades[place + 1], grades[place]
        values = score([graded], [ranks[0]] * 2, grades=[better, grades])[:, 0]
        assert values[0] <= values[1] + 1e-12


def test_a_hand_computed_graded_nmrr():
    # Positions 1 and 2, grades 1 and 2. Threshold 1: both relevant, perfect, NMRR = 0.
    # Threshold 2: the item at 2 alone: K = 4, (2 − 1) / (1.25 · 4 − 1) = 1/4. Mean 1/8.
    assert score(["gNMRR"], [[1, 2]], grades=[[1, 2]])[0, 0] == 0.125


def test_a_hand_computed_err():
    # Grades 3 and 1 at 1 and 3 of a scale to 4: R = 7/16 and 1/16; of a scale to 3: 7/8 and 1/8.
    found = score(["ERR@5", "ERR3@5", "ERR@2"], [[1, 3]], grades=[[3, 1]])[0]
    to_4, to_3 = 7 / 16 + 9 / 16 / 16 / 3, 7 / 8 + 1 / 8 / 8 / 3
    assert found.tolist() == pytest.approx([to_4, to_3, 7 / 16])


def test_a_grade_above_the_scale_has_no_err():
    with pytest.raises(ValueError, match="grade 3 found; ERR2@k takes grades up to 2, ERR3@k up"):
        score(["ERR2@5"], [[1, 3]], grades=[[3, 1]])


def test_a_hand_computed_q_measure():
    # Grades 1, 3 at 2 and 3, and a 2 that did not come back: cg = 1, 4; cg* = 3, 5, 6.
    # (1 + 1) / (2 + 5) + (2 + 4) / (3 + 6), over three.
    found = score(["Q"], [[2, 3]], relevant=3, grades=[[1, 3, 2]])[0, 0]
    assert found == pytest.approx((2 / 7 + 6 / 9) / 3)


def test_a_hand_computed_graded_ap():
    # Grades 1, 3 at 2 and 3, and a 2 that did not come back. Item 1: 1/2; item 2: (1 + 3)/3.
    found = score(["gAP"], [[2, 3]], relevant=3, grades=[[1, 3, 2]])[0, 0]
    assert found == pytest.approx((1 / 2 + 4 / 3) / 6)


@FEW
@given(drawn=several_lists())
def test_q_measure_and_graded_ap_are_as_their_sources_define_them(drawn):
    ranks, marks = drawn
    for row, known in zip(ranks, marks, strict=True):
        grade_at = {rank: grade for rank, (grade, _, _) in zip(row, known, strict=True)}
        ideal = sorted(grade_at.values(), reverse=True)
        blended, shared = 0, 0
        for count, rank in enumerate(row, 1):
            above = [grade_at[one] for one in row[:count]]
            blended += (count + sum(above)) / (rank + sum(ideal[:rank]))
            shared += sum(min(grade, grade_at[rank]) for grade in above) / rank
        expected = [blended / len(row), shared / sum(ideal)]
        found = score(["Q", "gAP"], [row], grades=[[*grade_at.values()]])[0]
        assert found.tolist() == pytest.approx(expected)


@FEW
@given(drawn=several_lists(), grade=st.integers(1, 5))
def test_graded_ap_of_equal_grades_is_ap(drawn, grade):
    ranks, _ = drawn
    same = np.full(np.shape(ranks), grade)
    assert score(["gAP"], ranks, grades=same) == pytest.approx(score(["AP"], ranks))
