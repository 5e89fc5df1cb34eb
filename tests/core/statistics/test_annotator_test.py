"""The alternative annotator test against scipy and statsmodels, and what must not change it."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import root_mean_squared_error

from survey.core.statistics.annotator_test import (
    annotator_test,
    benjamini_yekutieli,
    equal_scores,
    rmse_scores,
    similarity_scores,
)


def answers(seed, units=120, people=4, levels=3, missing=0.15):
    chance = np.random.default_rng(seed)
    truth = chance.integers(0, levels, units)
    wrong = chance.random((units, people + 1)) < 0.3
    table = np.where(wrong, chance.integers(0, levels, wrong.shape), truth[:, np.newaxis])
    table = table.astype(float)
    table[chance.random(table.shape) < missing] = np.nan
    return table[:, :-1], table[:, -1]


def slow_scores(people, machine, score):
    """Compute the scores by going through units and people."""
    of_machine, of_person = np.full((2, *people.shape), np.nan)
    for unit, row in enumerate(people):
        for person, own in enumerate(row):
            others = np.delete(row, person)
            others = others[np.isfinite(others)]
            if np.isfinite(own) and np.isfinite(machine[unit]) and len(others):
                of_machine[unit, person] = score(machine[unit], others)
                of_person[unit, person] = score(own, others)
    return of_machine, of_person


def minus_rmse(answer, others):
    return -root_mean_squared_error(others, np.full(len(others), answer))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_scores_are_those_of_each_person_and_unit(seed):
    people, machine = answers(seed)
    for fast, score in (
        (equal_scores, lambda answer, others: (others == answer).mean()),
        (rmse_scores, minus_rmse),
    ):
        for values, expected in zip(
            fast(people, machine), slow_scores(people, machine, score), strict=True
        ):
            np.testing.assert_allclose(values, expected)


def test_similarities_of_every_two_give_the_same_scores_as_equal_answers():
    people, machine = answers(4)
    every = np.column_stack([people, machine])
    both = np.isfinite(every)[:, :, np.newaxis] & np.isfinite(every)[:, np.newaxis]
    tables = np.where(both, every[:, :, np.newaxis] == every[:, np.newaxis], np.nan)
    for values, expected in zip(
        similarity_scores(tables), equal_scores(people, machine), strict=True
    ):
        np.testing.assert_allclose(values, expected)


def differences(scores, person):
    machine, own = (each[:, person] for each in scores)
    known = np.isfinite(machine)
    machine, own = machine[known], own[known]
    return (own >= machine).astype(float) - (machine >= own), known


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_p_is_that_of_scipy_and_rejections_are_its_false_discoveries(seed):
    scores = equal_scores(*answers(seed))
    result = annotator_test(scores, 0.1)
    p = []
    for place, person in enumerate(result.people):
        d, _ = differences(scores, place)
        expected = stats.ttest_1samp(d, 0.1, alternative="less")
        assert (person.t, person.p) == pytest.approx((expected.statistic, expected.pvalue))
        p.append(expected.pvalue)
    adjusted = stats.false_discovery_control(p, method="by")
    assert [person.rejected for person in result.people] == (adjusted <= 0.05).tolist()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_errors_by_topic_are_the_cluster_robust_ones_of_statsmodels(seed):
    scores = equal_scores(*answers(seed))
    topics = np.random.default_rng(seed).integers(0, 12, 120)
    result = annotator_test(scores, 0.1, topics=topics)
    for place, person in enumerate(result.people):
        d, known = differences(scores, place)
        fit = sm.OLS(d - 0.1, np.ones(len(d))).fit(
            cov_type="cluster", cov_kwds={"groups": topics[known]}, use_t=True
        )
        assert person.t == pytest.approx(fit.tvalues[0])
        assert person.p == pytest.approx(stats.t.cdf(fit.tvalues[0], person.clusters - 1))


def test_with_a_topic_for_each_unit_the_clustered_test_is_the_other():
    scores = equal_scores(*answers(5))
    plain = annotator_test(scores, 0.1)
    clustered = annotator_test(scores, 0.1, topics=np.arange(120))
    for one, other in zip(plain.people, clustered.people, strict=True):
        assert one.p == pytest.approx(other.p)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.5))
def test_rejections_are_those_of_scipy(p, q):
    adjusted = stats.false_discovery_control(p, method="by")
    # At the very limit a float's error decides.
    clear = [abs(each - q) > 1e-9 for each in adjusted]
    rejected = benjamini_yekutieli(p, q)
    assert [one for one, sure in zip(rejected, clear, strict=True) if sure] == [
        each <= q for each, sure in zip(adjusted, clear, strict=True) if sure
    ]


@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_the_order_of_people_and_units_changes_nothing(seed, shuffling):
    people, machine = answers(seed, units=60)
    rows, columns = list(range(60)), list(range(4))
    shuffling.shuffle(rows)
    shuffling.shuffle(columns)
    one = annotator_test(equal_scores(people, machine), 0.1)
    other = annotator_test(equal_scores(people[rows][:, columns], machine[rows]), 0.1)
    for place, column in enumerate(columns):
        assert other.people[place].p == pytest.approx(one.people[column].p)
    assert other.winning_rate == one.winning_rate


def test_a_machine_that_answers_as_a_person_does_is_no_worse_than_that_person():
    people, _ = answers(6, missing=0)
    test = annotator_test(equal_scores(people, people[:, 0]), 0.1)
    assert test.people[0].mean == 0
    assert test.people[0].p == 0  # without any spread
    assert test.people[0].t is None


def test_a_person_with_too_few_units_is_left_out():
    people, machine = answers(7, units=40, missing=0)
    people[:11, 0] = np.nan
    test = annotator_test(equal_scores(people, machine), 0.1)
    assert [person.left_out for person in test.people] == [True, False, False, False]
    assert test.people[0].units == 29
    assert len(test.tested) == 3


def test_nobody_tested_gives_no_rates():
    test = annotator_test(equal_scores(*answers(8, units=20)), 0.1)
    assert (test.winning_rate, test.advantage, test.passes) == (None, None, False)
    assert test.clusters_needed is None


def test_the_units_needed_are_the_fewest_with_which_it_passes():
    people, machine = answers(9, units=60, missing=0)
    test = annotator_test(equal_scores(people, machine), 0.1)
    needed = test.clusters_needed
    assert not test.passes
    assert needed > 60
    for number, passes in ((needed, True), (needed - 1, False)):
        t = [(one.mean - 0.1) / one.spread * number**0.5 for one in test.people]
        p = stats.t.cdf(t, number - 1)
        rejected = stats.false_discovery_control(p, method="by") <= 0.05
        assert (2 * rejected.sum() >= len(p)) == passes


def test_no_number_of_units_shows_that_a_worse_machine_is_as_good():
    people, _ = answers(10, missing=0)
    opposite = np.mod(people[:, 0] + 1, 3)
    test = annotator_test(equal_scores(people, opposite), 0.1)
    assert test.clusters_needed is None
