"""Simulated power: the model, the test in it, and what they say of known designs."""

import numpy as np
import pytest
from scipy.stats import binomtest
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.proportion import proportion_confint

from survey.core.agreement.power_model import (
    PlannedStudy,
    chunks,
    decided_share,
    differences,
    draw_leanings,
    draw_questions,
    power,
    tally,
    two_way,
    wilson,
)


def chance(seed=1):
    return np.random.Generator(np.random.PCG64(seed))


def simulated(study, replicates, seed=1):
    return power(study, [tally(chunk, seed)[0] for chunk in chunks((study,), replicates)])


def answers(study, replicates):
    """Which questions are asked, and d."""
    asked = draw_questions(study, replicates, chance())
    leanings = draw_leanings(study, asked, chance(2))
    return asked, differences(study, leanings, chance(3).random(asked.shape))


def variance_of_statsmodels(d, *groups):
    groups = groups[0] if len(groups) == 1 else np.column_stack(groups)
    fitted = OLS(d, np.ones(len(d))).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    return fitted.cov_params().item()


@pytest.mark.parametrize("design", [(30, 10, 10), (12, 5, 17), (4, 3, 7)], ids=str)
def test_the_variance_is_that_of_statsmodels(design):
    assert fallbacks_among(PlannedStudy(*design, 0.1)) < 12


def test_where_the_two_way_variance_is_not_positive_the_larger_one_way_stands_in():
    assert fallbacks_among(PlannedStudy(5, 4, 4, 0.1)) > 0


def fallbacks_among(study):
    """Compare twelve replicates' variances with those of statsmodels; count the fallbacks."""
    asked, d = answers(study, 12)
    means, variances = two_way(d, asked, study.questions)
    people = np.repeat(np.arange(study.participants), study.per_participant)
    fallbacks = 0
    for index in range(12):
        one, questions = d[index].ravel().astype(float), asked[index].ravel()
        expected = variance_of_statsmodels(one, people, questions)
        if expected <= 0:
            fallbacks += 1
            expected = max(variance_of_statsmodels(one, group) for group in (people, questions))
        assert means[index] == pytest.approx(one.mean(), abs=1e-12)
        assert variances[index] == pytest.approx(expected, rel=1e-10)
    return fallbacks


def test_answers_without_any_spread_have_no_test_and_find_nothing():
    asked = draw_questions(PlannedStudy(4, 3, 3, 0.1), 2, chance())
    assert two_way(np.ones(asked.shape), asked, 3)[1].tolist() == [0, 0]
    certain = simulated(PlannedStudy(4, 3, 3, 1.0, 1.0, 0.0, 0.0), 50)
    assert (certain.power, certain.half_width) == (0, None)


def test_a_pool_asks_nobody_twice_and_every_question_equally_often():
    study = PlannedStudy(13, 5, 12, 0.1)
    asked = draw_questions(study, 200, chance())
    assert all(len(set(one)) == 5 for one in asked.reshape(-1, 5).tolist())
    counts = np.array([np.bincount(one.ravel(), minlength=12) for one in asked])
    assert np.ptp(counts, axis=1).max() <= 1
    # Chance decides which: no question is preferred, and the replicates differ.
    assert counts.mean(axis=0) == pytest.approx(65 / 12, abs=0.2)
    assert len(np.unique(asked[:, 0], axis=0)) > 100


def test_the_answers_have_the_mean_the_share_and_the_spreads_of_the_model():
    study = PlannedStudy(6, 4, 4, 0.1, 0.7, 0.2, 0.1)
    d = answers(study, 20_000)[1].astype(float)
    assert np.abs(d).mean() == pytest.approx(0.7, abs=0.003)
    assert d.mean() == pytest.approx(0.1, abs=0.005)
    d -= 0.1

    def shared(axis):  # the mean product of two different answers along an axis
        size = d.shape[axis]
        pairs = (d.sum(axis=axis) ** 2 - (d**2).sum(axis=axis)) / (size * (size - 1))
        return pairs.mean()

    assert shared(axis=1) == pytest.approx(0.2**2, abs=0.005)  # same question, other people
    assert shared(axis=2) == pytest.approx(0.1**2, abs=0.004)  # same person, other questions


@pytest.mark.parametrize(("questions", "expected"), [(10, 0.27), (30, 0.43)])
def test_a_pool_of_thirty_raises_power_at_ten_points_as_the_protocol_says(questions, expected):
    found = simulated(PlannedStudy(30, 10, questions, 0.1), 4000)
    # A 1-in-10,000 interval, about a value that is printed with two digits.
    low, high = expected - 0.005, expected + 0.005
    times = round(found.power * 4000)
    assert binomtest(times, 4000, low, "less").pvalue > 5e-5, found
    assert binomtest(times, 4000, high, "greater").pvalue > 5e-5, found
    assert found.design == ("all" if questions == 10 else "pool")


@pytest.mark.parametrize("questions", [10, 30])
def test_without_a_difference_the_test_rejects_in_five_to_six_percent(questions):
    found = simulated(PlannedStudy(30, 10, questions, 0.0), 4000)
    times = round(found.power * 4000)
    assert binomtest(times, 4000, 0.05, "less").pvalue > 5e-5, found
    assert binomtest(times, 4000, 0.06, "greater").pvalue > 5e-5, found


def test_the_half_width_shrinks_with_the_standard_error():
    few, many = (simulated(PlannedStudy(people, 10, 40, 0.0), 400) for people in (20, 80))
    assert 0.4 < many.half_width / few.half_width < 0.8


@pytest.mark.parametrize(("found", "n"), [(0, 50), (7, 50), (50, 50), (867, 2000)])
def test_the_monte_carlo_interval_is_wilsons(found, n):
    expected = proportion_confint(found, n, method="wilson")
    assert wilson(found, n) == pytest.approx(expected, abs=1e-12)


def test_more_measures_leave_fewer_responses_that_decide_between_two():
    assert decided_share(3) == 0.68
    assert decided_share(6) == pytest.approx(0.34)
    assert decided_share(2) == pytest.approx(0.9333, abs=1e-4)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((1, 10, 10, 0.1), "2 participants"),
        ((30, 10, 9, 0.1), "each participant answers 10 of a pool of 9 questions"),
        ((2, 10, 30, 0.1), "2 participants × 10 questions are 20 answers; 30 questions need"),
        ((30, 10, 10, 0.7), "the difference is 0.7; where 0.68 of the responses"),
        ((30, 10, 10, -0.1), "0 to 0.68 are possible"),
        ((30, 10, 10, 0.1, 1.2), "decided is 1.2"),
        ((30, 10, 10, 0.1, 0.68, -0.1), "a standard deviation is below 0"),
    ],
)
def test_a_study_that_cannot_be_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        PlannedStudy(*values)
