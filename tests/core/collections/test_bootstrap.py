"""The bootstrap of a run against a baseline."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from survey.core.collections.evaluation import Evaluation, compare
from survey.core.measures import Setting, measure_named
from survey.core.statistics.significance import bootstrap_p


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
    higher, lower = compare(evaluation_of(["AP", "NMRR"], base=base, run=run), "base")
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
    far, same, near = compare(evaluation_of(**runs), "base")
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
    (found,) = compare(evaluation_of(base=base, run=run), "base")
    assert (found.p, found.p_holm, found.why) == (None, None, why)


def test_of_a_baseline_of_zero_there_is_no_percentage():
    (found,) = compare(evaluation_of(base=[0, 0, 0], run=[0, 0.5, 0.2]), "base")
    assert found.percent is None
    assert found.difference == pytest.approx(0.7 / 3)


@pytest.mark.parametrize(
    ("shift", "stars"), [(0, ""), (0.3, "*"), (0.4, "**"), (0.6, "***"), (-3, "")]
)
def test_stars_stand_for_the_three_levels(shift, stars):
    # 40 differences with mean 0 and a standard error of .158: t = shift / .158, whose one-tailed
    # p is .033 at 1.90, .0078 at 2.53 and .00027 at 3.79.
    z = stats.norm.ppf((np.arange(40) + 0.5) / 40)
    z = z / z.std(ddof=1)
    (found,) = compare(evaluation_of(base=np.zeros(40), run=z + shift), "base")
    assert found.stars == stars
