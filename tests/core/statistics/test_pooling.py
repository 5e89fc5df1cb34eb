"""Several studies of one difference: against statsmodels, and what must hold of any."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, ttest_1samp, ttest_ind
from statsmodels.stats.meta_analysis import combine_effects

from survey.core.statistics.components import TableSums, variance_components
from survey.core.statistics.pooling import (
    _tau2_where,
    difference_of_two,
    mean_of_sites,
    pooled,
    pooled_shared_questions,
    predicted_values,
    prediction,
)

seeds = st.integers(0, 10_000)


def studies(seed, number=5, tau=0.2):
    chance = np.random.default_rng(seed)
    se = chance.uniform(0.03, 0.15, number)
    return {
        "differences": 0.1 + tau * chance.normal(size=number) + se * chance.normal(size=number),
        "se": se,
    }


def q_at(tau2, differences, se):
    """Cochran's Q, each study weighed by its variance and that between studies."""
    w = 1 / (se**2 + tau2)
    return float(w @ (differences - np.average(differences, weights=w)) ** 2)


def numbers(figures):
    """All figures but those of single sites, as one list."""
    flat = []
    for name, value in figures.items():
        if name == "leave_one_out":
            continue
        values = numbers(value) if isinstance(value, dict) else np.ravel(value)
        flat += [number for number in values if number is not None]
    return flat


@settings(max_examples=20)
@given(seeds)
def test_heterogeneity_and_weighted_mean_are_those_of_statsmodels(seed):
    """Its iterated tau² is Paule and Mandel's: where Q is its degrees of freedom.

    Its iteration gives 0 where rounding takes Q below that, so Q itself is looked at too.
    """
    data = studies(seed)
    y, v = data["differences"], data["se"] ** 2
    other = combine_effects(y, v, method_re="iterated", use_t=True, atol=1e-8)
    figures = pooled(**data)
    assert figures["Q"] == pytest.approx(other.q)
    assert figures["Q_p"] == pytest.approx(other.test_homogeneity().pvalue)
    assert figures["I2_Q"] == pytest.approx(max(0, other.i2))
    tau2 = float(_tau2_where(y, v, len(y) - 1))
    assert q_at(tau2, **data) == pytest.approx(4) if tau2 else other.q <= 4
    assert other.tau2 in (0, pytest.approx(tau2, abs=1e-6))
    # With equal variances the weighted mean, and its error by Hartung and Knapp, are of t.
    alike = pooled(differences=y, se=[0.1] * len(y))
    assert alike["weighted"]["mean"] == pytest.approx(alike["mean"])
    assert alike["weighted"]["ci95"] == pytest.approx(alike["ci95"])
    assert alike["tau2_reml"] == pytest.approx(max(0, y.var(ddof=1) - 0.01), abs=1e-9)
    assert alike["ci95"] == pytest.approx(ttest_1samp(y, 0).confidence_interval())


@given(seeds, st.integers(3, 9))
def test_the_ends_of_tau_are_where_q_is_as_unlikely(seed, number):
    data = studies(seed, number)
    for end, share in zip(pooled(**data)["tau2_ci95"], (0.975, 0.025), strict=True):
        q, wanted = q_at(end, **data), chi2.ppf(share, number - 1)
        assert q == pytest.approx(wanted) if end else q <= wanted


@given(seeds, st.randoms(use_true_random=False))
def test_the_order_of_sites_does_not_matter(seed, shuffling):
    data = studies(seed)
    order = list(range(5))
    shuffling.shuffle(order)
    other = pooled(**{name: values[order] for name, values in data.items()})
    assert numbers(other) == pytest.approx(numbers(pooled(**data)))


@given(seeds, st.floats(-1, 1))
def test_a_constant_shifts_means_and_intervals_and_no_spread(seed, shift):
    data = studies(seed)
    before = pooled(**data)
    after = pooled(**data | {"differences": data["differences"] + shift})
    for name in ("se", "tau2_reml", "tau2_ci95", "Q", "I2_Q"):
        assert after[name] == pytest.approx(before[name], abs=1e-9)
    for name in ("mean", "ci95", "prediction95"):
        assert np.subtract(after[name], shift) == pytest.approx(before[name], abs=1e-9)


@given(seeds)
def test_a_new_site_is_less_sure_than_the_mean_and_turns_with_the_signs(seed):
    data = studies(seed)
    low, high = pooled(**data)["prediction95"]
    assert low < pooled(**data)["weighted"]["mean"] < high
    chance = np.random.default_rng(seed).random((3, 500))
    y, v = data["differences"], data["se"] ** 2
    turned = chance.copy()
    turned[1:] = 1 - turned[1:]
    assert predicted_values(-y, v, turned) == pytest.approx(-predicted_values(y, v, chance))


def test_a_prediction_is_the_same_on_every_machine():
    y, v = np.array([0.3133, -0.0488, 0.0907, 0.2254]), np.array([0.02, 0.01, 0.008, 0.004])
    assert prediction(y, v, 7) == pytest.approx((-0.3972, 0.6526), abs=5e-4)
    assert prediction(y, v, 7) == prediction(y, v, 7) != prediction(y, v, 8)


def test_a_table_without_gaps_has_henderson_s_components_and_gaps_are_left_out():
    chance = np.random.default_rng(2)
    table = chance.normal(size=(5, 1)) / 9 + chance.normal(size=12) / 5
    table = table + chance.normal(size=(5, 12)) / 4
    figures = pooled_shared_questions(table=table.tolist())
    sums = TableSums.of(
        table.sum(1), table.sum(0), np.full(5, 12.0), np.full(12, 5.0), (table**2).sum()
    )
    assert figures["kind"]["variance"] == pytest.approx(float(variance_components(sums).variance))
    assert figures["mean"] == pytest.approx(table.mean())
    low, high = figures["kind"]["ci95"]
    inner = figures["these_questions_ci95"]
    assert low <= inner[0] < inner[1] <= high
    gaps = [
        [None if (row + column) % 4 == 0 else table[row][column] for column in range(12)]
        for row in range(5)
    ]
    known = [value for row in gaps for value in row if value is not None]
    assert pooled_shared_questions(table=gaps)["mean"] == pytest.approx(np.mean(known))


def test_two_sites_differ_as_two_samples_do():
    chance = np.random.default_rng(4)
    first, second = chance.normal(0.3, 1, 20), chance.normal(0, 2, 9)
    figures = difference_of_two(
        [first.mean(), second.mean()],
        [sample.std(ddof=1) / len(sample) ** 0.5 for sample in (first, second)],
        [19, 8],
    )
    test = ttest_ind(first, second, equal_var=False)
    assert (figures["t"], figures["p"], figures["df"]) == pytest.approx(
        (test.statistic, test.pvalue, test.df)
    )
    same = difference_of_two([1.0, 0.5], [0, 0], [1, 1])
    assert (same["difference"], same["ci95"]) == (0.5, None)


def test_what_is_undefined_has_its_reason():
    figures = pooled(differences=[0.2, 0.2, 0.2, 0.2], se=[0.1, 0.1, 0.2, 0.1])
    assert figures["ci95"] is None
    assert "no spread" in figures["why"]
    assert figures["prediction95"] is not None
    figures = pooled(differences=[0.2, 0.1, 0.3, 0.2], se=[0.1, 0, 0.2, 0.1])
    assert figures["weighted"] is None
    assert "standard error is 0" in figures["why"]
    assert figures["ci95"] == pytest.approx(mean_of_sites([0.2, 0.1, 0.3, 0.2])["ci95"])
    assert pooled(differences=[0.2, 0.1, 0.3], se=[0.1] * 3)["prediction95"] is None


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"differences": [0.1, 0.2], "se": [0.1, 0.1]}, "2 found; 3 sites or more"),
        ({"differences": [0.1, 0.2, 0.3], "se": [0.1, 0.1]}, "se: 2 found; differences has 3"),
        ({"differences": [0.1, 0.2, 0.3], "se": [0.1, -1, 0.1]}, "standard errors from 0"),
        ({"differences": [0.1, float("nan"), 0.3], "se": [0.1] * 3}, "numbers are allowed"),
    ],
)
def test_faults_are_named(fields, fault):
    with pytest.raises(ValueError, match=fault):
        pooled(**fields)


@pytest.mark.parametrize("table", [[[0.1, 0.2]], [[0.1], [0.2]], [[0.1, None], [0.2, None]], [[]]])
def test_a_table_that_is_too_small_is_refused(table):
    with pytest.raises(ValueError, match="table: "):
        pooled_shared_questions(table=table)
