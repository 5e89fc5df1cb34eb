"""Statistics of plain numbers against other libraries."""

from fractions import Fraction
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_table
from statsmodels.stats.multitest import multipletests

from survey.core.statistics.rater_agreement import (
    HALF_CREDIT,
    STRICT_CREDIT,
    agreement_rate,
    alpha_ordinal,
    kappa_of_counts,
    spearman,
    tau_b,
)
from survey.core.statistics.significance import holm, sign_flip
from tests.core.agreement.random_votes import (
    weak_order,
)

SEEDS = (1, 2, 3)


def close(expected, within=1e-9):
    return pytest.approx(expected, rel=within, abs=within)


@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_is_that_of_krippendorff_with_ties_and_missing_answers(seed):
    rng = np.random.default_rng(seed)
    table = np.array([list(weak_order(rng, 5).midranks.values()) for _ in range(7)])
    table = np.hstack([table, table[rng.permutation(7)]])  # raters × two questions' lists
    table[rng.random(table.shape) < 0.3] = np.nan
    units = [[value for value in unit if not np.isnan(value)] for unit in table.T.tolist()]
    expected = krippendorff.alpha(table, level_of_measurement="ordinal")
    assert alpha_ordinal(units) == close(expected)


def test_hundreds_of_participants_alike_have_a_p_above_zero():
    assert 0 < sign_flip([Fraction(1)], np.zeros(1200, dtype=int))[0] < 1e-300


def test_holm_is_that_of_statsmodels_and_an_undefined_p_still_counts():
    p = np.random.default_rng(5).uniform(0, 0.2, 6).tolist()
    assert holm(p) == close(multipletests(p, method="holm")[1].tolist())
    assert holm([0.02, None, 0.01]) == [0.04, None, 0.03]
    assert holm([None, None]) == [None, None]


@pytest.mark.parametrize("lists", [2, 3, 5, 10])
def test_tau_and_rho_are_those_of_scipy(lists):
    rng = np.random.default_rng(lists)
    for _ in range(40):
        one, other = (tuple(weak_order(rng, lists).midranks.values()) for _ in range(2))
        if len(set(one)) == 1 or len(set(other)) == 1:
            assert np.isnan(tau_b(one, other))
            assert np.isnan(spearman(one, other))
            continue
        # scipy's p of tau fails for two lists, its rho is tau there.
        tau = stats.kendalltau(one, other).statistic if lists > 2 else np.sign(one[0] - one[1])
        tau = tau if lists > 2 else tau * np.sign(other[0] - other[1])
        assert tau_b(one, other) == close(tau)
        rho = stats.spearmanr(one, other).statistic if lists > 2 else tau
        assert spearman(one, other) == close(rho)


@pytest.mark.parametrize("lists", [2, 5])
def test_agreement_rates_count_the_pairs_of_lists(lists):
    rng = np.random.default_rng(lists)
    for _ in range(40):
        one, other = (weak_order(rng, lists) for _ in range(2))
        alike = half = 0
        for a, b in combinations(one.letters, 2):
            mine = (one.places[a] > one.places[b]) - (one.places[a] < one.places[b])
            theirs = (other.places[a] > other.places[b]) - (other.places[a] < other.places[b])
            alike += mine == theirs
            half += (mine, theirs).count(0) == 1
        pairs = lists * (lists - 1) / 2
        both = [tuple(order.midranks.values()) for order in (one, other)]
        assert agreement_rate(*both, STRICT_CREDIT) == close(alike / pairs)
        assert agreement_rate(*both, HALF_CREDIT) == close((alike + half / 2) / pairs)


@pytest.mark.parametrize("seed", SEEDS)
def test_fleiss_kappa_of_a_table_is_that_of_statsmodels_to_the_last_digit(seed):
    chance = np.random.default_rng(seed)
    raters, categories = chance.integers(2, 40), chance.integers(2, 6)
    shares = chance.dirichlet(np.ones(categories), size=chance.integers(2, 30))
    table = chance.multinomial(raters, shares).astype(float)
    assert kappa_of_counts(table) == fleiss_of_table(table)
