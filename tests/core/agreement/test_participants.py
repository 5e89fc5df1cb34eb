"""Table 3's summaries."""

import math

import pytest

from survey.core.agreement.answers import option_counts, spread


def test_the_spread_is_mean_and_sample_standard_deviation():
    summary = spread([20, 22, 24])
    assert (summary.n, summary.mean, summary.sd) == (3, 22, pytest.approx(2))


def test_one_value_has_no_standard_deviation_and_none_no_mean():
    assert spread([5]).sd is None
    assert spread([]).mean is None


def test_missing_values_are_left_out_of_the_spread():
    assert spread([1.0, math.nan]).n == 1


def test_options_keep_their_order_and_zeros():
    assert option_counts(["b", "b"], ["a", "b"]) == {"a": 0, "b": 2}
