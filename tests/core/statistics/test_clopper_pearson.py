"""The exact interval of a share, as scipy's exact binomial test has it."""

import pytest
from scipy.stats import binomtest

from survey.core.statistics.rater_agreement import clopper_pearson


@pytest.mark.parametrize(("right", "answers"), [(0, 1), (8, 10), (10, 10), (0, 25), (377, 1_000)])
def test_the_interval_is_that_of_the_exact_test(right, answers):
    interval = binomtest(right, answers).proportion_ci(method="exact")
    assert clopper_pearson(right, answers) == pytest.approx((interval.low, interval.high))


def test_eight_of_ten_are_44_to_97_per_cent_and_nothing_is_known_of_none():
    assert [round(100 * each) for each in clopper_pearson(8, 10)] == [44, 97]
    assert clopper_pearson(0, 0) == (0, 1)
