"""Attention checks: who is flagged, and how many who answer at random would pass."""

import numpy as np
import pytest
from scipy.stats import binom

from survey.core.agreement.attention import Attention, Scores, chance_to_pass
from survey.core.studies.plan import Check


def scores(right, asked, by_chance=0.5, name="gold"):
    ids = np.array([f"P{number}" for number in range(len(right))])
    check = Check(name, "known documents", "as known", by_chance, is_question=False)
    return Scores(check, ids, np.array(right), np.array(asked))


def test_a_third_of_the_answers_to_a_check_may_be_wrong_and_of_two_one():
    asked = [1, 1, 2, 2, 3, 3, 10, 10]
    right = [1, 0, 1, 0, 2, 1, 7, 6]
    assert scores(right, asked).failed.tolist() == [False, True] * 4


@pytest.mark.parametrize("p", [0.125, 0.25, 0.5, 0.875])
@pytest.mark.parametrize("asked", [1, 2, 3, 7, 30])
def test_the_chance_to_pass_is_scipys_and_that_of_simulated_clickers(p, asked):
    fewest = next(n for n in range(asked + 1) if not scores([n], [asked]).failed[0])
    assert chance_to_pass(p, asked) == pytest.approx(binom.sf(fewest - 1, asked, p))
    clicks = np.random.default_rng(asked).binomial(asked, p, 40_000)
    passed = ~scores(clicks, np.full(len(clicks), asked)).failed
    assert passed.mean() == pytest.approx(chance_to_pass(p, asked), abs=0.012)


def test_all_checks_of_a_participant_count_in_the_sentence_and_each_by_itself_in_the_flags():
    attention = Attention((scores([9, 3], [10, 10]), scores([1], [1], 0.25, "other-topic")))
    assert attention.sentence("P0") == "10 of 11 attention checks right"
    assert attention.sentence("P1") == "3 of 10 attention checks right"
    assert attention.sentence("P7") == ""
    assert attention.flagged == {"P1"}
    assert [flag.reason for flag in attention.flags] == ["gold: 3 of 10 right"]
    ten = chance_to_pass(0.5, 10)
    assert attention.passed_by_chance == pytest.approx((ten * 0.25 + ten) / 2)


def test_nothing_is_said_of_random_answers_where_their_share_is_unknown():
    attention = Attention((scores([1], [1]), scores([1], [1], None)))
    assert attention.passed_by_chance is None
