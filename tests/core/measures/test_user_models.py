"""RBP and INST: the weights of positions are chances that a user looks at them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from survey.core.measures import Lists, Setting, measure_named, score
from tests.core.measures.lists import several_lists

FEW = settings(max_examples=20)


def test_a_hand_computed_rbp():
    found = score(["RBP@0.5", "RBP@0.8"], [[1, 3]])[0]
    assert found.tolist() == pytest.approx([0.5 * (1 + 0.25), 0.2 * (1 + 0.64)])


def inst_by_definition(ranks, wanted, positions=20_000):
    """INST as Algorithm 1 adds it up, and an integral for the positions beyond."""
    relevant = np.isin(np.arange(1, positions + 1), ranks)
    needed = np.arange(1, positions + 1) + 2 * wanted - np.cumsum(relevant)
    weights = np.cumprod(np.append(1, ((needed - 1) / needed) ** 2))
    beyond = weights[-1] * (needed[-1] + 0.5)
    return weights[:-1][relevant].sum() / (weights[:-1].sum() + beyond)


@FEW
@given(drawn=several_lists(), wanted=st.integers(1, 12))
def test_inst_is_what_its_algorithm_adds_up(drawn, wanted):
    ranks, _ = drawn
    expected = [inst_by_definition(row, wanted) for row in ranks]
    assert score([f"INST@{wanted}"], ranks)[:, 0] == pytest.approx(expected, rel=1e-7)


def test_an_item_that_did_not_come_back_changes_no_weight():
    ranks = np.array([[2.0, 7.0, np.inf, np.inf], [np.inf] * 4])
    found = measure_named("INST@2").compute(Lists(ranks), Setting(100))
    assert found.tolist() == pytest.approx([inst_by_definition([2, 7], 2), 0], rel=1e-7)
