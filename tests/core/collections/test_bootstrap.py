"""Runs compared with a baseline, and all of them at once."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from survey.core.collections.evaluation import Evaluation, compare_all, compare_runs
from survey.core.measures import Setting, measure_named
from survey.core.statistics.significance import (
    bootstrap_p,
    holm,
    randomisation_p,
    topics_needed,
    tukey_hsd_p,
)


def evaluation_of(names=("AP",), **runs):
    """An evaluation of runs with the same values in every measure."""
    queries = tuple(f"q{number}" for number in range(len(next(iter(runs.values())))))
    values = {
        run: {name: np.array(values, dtype=float) for name in names} for run, values in runs.items()
    }
    return Evaluation(queries, tuple(measure_named(name) for name in names), values, Setting())


def exact_p(z):
    """The share of all n^n equally likely resamples whose t reaches the observed one."""

    def t(values):
        spread = np.std(values, ddof=1) / np.sqrt(len(values))
        mean = np.round(np.mean(values), 12)
        return mean / spread if spread > 1e-12 else (np.sign(mean) * np.inf if mean else 0.0)

    centred = np.array(z) - np.mean(z)
    drawn = [
        t([centred[place] for place in places]) for places in product(*[range(len(z))] * len(z))
    ]
    return np.mean([one >= t(z) - 1e-9 for one in drawn])


@pytest.mark.parametrize("z", [[0.1, 0.3], [0.0, 0.0, 0.5], [0.2, -0.1, 0.4, 0.1], [-1, 2, -1, 0]])
def test_p_is_the_share_of_resamples_that_reach_the_observed_t(z):
    exact = exact_p(z)
    found = bootstrap_p(np.array([z]).T, 20_000)[0]
    assert found == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


@pytest.mark.parametrize("shift", [-0.1, 0.0, 0.2, 0.3])
def test_on_smooth_data_p_is_that_of_the_paired_t_test(shift):
    rng = np.random.default_rng(4)
    base = rng.normal(size=60)
    run = base + rng.normal(shift, size=60)
    expected = stats.ttest_rel(run, base, alternative="greater").pvalue
    found = bootstrap_p((run - base)[:, np.newaxis])[0]
    assert found == pytest.approx(expected, abs=0.015)


@pytest.mark.slow
def test_under_the_null_one_experiment_in_twenty_rejects_at_five_per_cent():
    rng = np.random.default_rng(11)
    for queries in (20, 50):
        p = bootstrap_p(rng.normal(size=(queries, 3000)), 999)
        # 5 % of 3000, ± 3 standard errors of 0.4 points
        assert 0.038 < (p <= 0.05).mean() < 0.062
        assert p.mean() == pytest.approx(0.5, abs=0.02)


def test_a_constant_added_to_every_query_makes_p_as_small_as_the_resamples_allow():
    rng = np.random.default_rng(2)
    assert bootstrap_p(5 + rng.normal(size=(30, 1)), 999)[0] == 1 / 1000
    assert bootstrap_p(-5 + rng.normal(size=(30, 1)), 999)[0] == 1


def test_the_figures_come_out_of_the_seed_and_of_nothing_else():
    z = np.array([[0.1, 0.3, -0.2, 0.4, 0.0, 0.2]]).T
    golden = bootstrap_p(z, 2500, seed=1)[0]
    assert golden == 288 / 2501  # as first computed; the same on every machine
    assert bootstrap_p(np.hstack([z, -z, z * 3]), 2500, seed=1)[[0, 2]].tolist() == [golden] * 2
    assert bootstrap_p(z, 2500, seed=2)[0] != golden


def test_better_means_lower_where_the_measure_says_so():
    base, run = [0.2, 0.4, 0.1, 0.3, 0.5], [0.6, 0.5, 0.2, 0.9, 0.6]
    higher, lower = compare_runs(evaluation_of(["AP", "NMRR"], base=base, run=run), "base")
    assert (higher.measure, lower.measure) == ("AP", "NMRR")
    assert higher.difference == lower.difference == pytest.approx(0.26)
    # means .30 and .56: the difference is 86.67 % of the baseline's
    assert higher.percent == pytest.approx(86.6667, abs=1e-4)
    assert higher.p < 0.1
    assert lower.p > 0.9


def test_holm_counts_every_comparison_of_the_table():
    rng = np.random.default_rng(3)
    base = rng.random(20)
    runs = {"base": base, "far": base + 0.5 + rng.random(20), "same": base, "near": rng.random(20)}
    far, same, near = compare_runs(evaluation_of(**runs), "base")
    assert [one.run for one in (far, same, near)] == ["far", "same", "near"]
    assert far.p == pytest.approx(1 / 10_001)
    assert far.p_holm == pytest.approx(3 / 10_001)  # three comparisons, though one has no p
    assert near.p_holm == pytest.approx(min(1, 2 * near.p))
    assert (same.p, same.p_holm, same.stars) == (None, None, "")


@pytest.mark.parametrize(
    ("base", "run", "why"),
    [
        ([0.1, 0.2], [0.1, 0.2], "the two runs have the same value for every query"),
        ([0.1], [0.3], "one query only; the bootstrap needs at least 2"),
        (
            [0.1, 0.2, 0.7],
            [0.2, 0.3, 0.8],
            "the difference is the same for every query, so its standard error is 0",
        ),
    ],
)
def test_where_there_is_no_p_it_is_said_why(base, run, why):
    (found,) = compare_runs(evaluation_of(base=base, run=run), "base")
    assert (found.p, found.p_holm, found.why) == (None, None, why)


def test_of_a_baseline_of_zero_there_is_no_percentage():
    (found,) = compare_runs(evaluation_of(base=[0, 0, 0], run=[0, 0.5, 0.2]), "base")
    assert found.percent is None
    assert found.difference == pytest.approx(0.7 / 3)


@pytest.mark.parametrize(
    ("shift", "stars", "of_paper"),
    [(0, "", ""), (0.3, "", "*"), (0.4, "*", "**"), (0.7, "***", "***"), (-3, "", "")],
)
def test_stars_stand_for_the_three_levels(shift, stars, of_paper):
    # 40 differences with mean 0 and a standard error of .158: t = shift / .158, whose one-tailed
    # p is .033 at 1.90, .0078 at 2.53 and .00004 at 4.43; two-sided it is twice as large.
    z = stats.norm.ppf((np.arange(40) + 0.5) / 40)
    z = z / z.std(ddof=1)
    evaluation = evaluation_of(base=np.zeros(40), run=z + shift)
    (found,) = compare_runs(evaluation, "base")
    assert found.stars == stars
    tails = randomisation_p(np.column_stack([z + shift, -z - shift]))
    assert found.p_two_sided == found.p_two_sided_holm == min(1, 2 * min(tails))
    (found,) = compare_runs(evaluation, "base", paper_stars=True)
    assert found.stars == of_paper


def test_a_worse_run_differs_on_both_sides_and_has_no_star():
    worse = np.linspace(-0.7, -0.4, 8)
    (found,) = compare_runs(evaluation_of(base=np.zeros(8), run=worse), "base")
    assert found.p_randomisation == 1
    # One choice of signs of 2^8 has a sum as low.
    assert found.p_two_sided == found.p_two_sided_holm == 2 / 2**8
    assert found.stars == ""
    (better,) = compare_runs(evaluation_of(base=np.zeros(8), run=-worse), "base")
    assert (better.p_two_sided, better.stars) == (found.p_two_sided, "**")


def test_stars_are_corrected_for_the_runs_of_a_measure_and_not_for_the_measures():
    rng = np.random.default_rng(3)
    base = rng.random(30)
    runs = {f"run{number}": base + 0.2 + rng.normal(0, 0.5, 30) for number in range(4)}
    found = compare_runs(evaluation_of(["AP", "nDCG@10"], base=base, **runs), "base")
    for measure in ("AP", "nDCG@10"):
        of_measure = [one for one in found if one.measure == measure]
        p = [one.p_two_sided for one in of_measure]
        assert [one.p_two_sided_holm for one in of_measure] == holm(p)


def test_eight_equal_runs_get_some_star_in_five_percent_of_collections():
    starred = 0
    for seed in range(400):
        values = np.random.default_rng(seed).normal(size=(8, 50))
        evaluation = evaluation_of(base=values[0], **dict(zip("abcdefg", values[1:], strict=True)))
        starred += any(one.stars for one in compare_runs(evaluation, "base", resamples=999))
    # Below 5.5 %, 400 collections: 3 standard errors of 1.1 points above it.
    assert starred / 400 < 0.055 + 3 * 0.011


def test_every_two_runs_at_once_are_scipys_tukey_where_normal_values_are_alike():
    values = np.random.default_rng(4).normal(size=(40, 5))
    found = tukey_hsd_p(values, 20_000)
    expected = stats.tukey_hsd(*values.T).pvalue
    np.testing.assert_allclose(found, expected, atol=0.03)
    assert (np.diag(found) == 1).all()


def test_of_equal_runs_some_two_differ_in_five_percent_of_collections():
    rng = np.random.default_rng(6)
    smallest = [tukey_hsd_p(rng.normal(size=(25, 6)), 499).min() for _ in range(400)]
    assert 0.02 < np.mean(np.array(smallest) <= 0.05) < 0.085


def test_all_runs_have_a_row_for_each_measure_and_pair():
    rng = np.random.default_rng(5)
    runs = dict(zip("abc", rng.random((3, 20)), strict=True))
    found = compare_all(evaluation_of(["AP", "NMRR"], **runs), resamples=200)
    assert [(one.measure, one.first, one.second) for one in found] == [
        (measure, *pair)
        for measure in ("AP", "NMRR")
        for pair in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    few = {name: values[:4] for name, values in runs.items()}
    assert compare_all(evaluation_of(**few)) == ()


@pytest.mark.parametrize(("mean", "spread"), [(0.05, 0.2), (-0.3, 0.3), (0.01, 0.5)])
def test_the_topics_needed_are_those_of_statsmodels(mean, spread):
    expected = TTestPower().solve_power(abs(mean) / spread, power=0.8, alpha=0.05)
    assert topics_needed(mean, spread) == math.ceil(expected)


def test_no_number_of_topics_finds_no_difference():
    assert topics_needed(0.0, 0.2) is None
    assert topics_needed(1e-9, 1.0) is None
    assert topics_needed(0.1, 0.0) is None
