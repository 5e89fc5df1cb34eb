"""The mixed logit against statsmodels, quadrature and closed forms, and on known truths."""

import numpy as np
import pytest
import scipy
from scipy.special import expit
from statsmodels.genmod.bayes_mixed_glm import BinomialBayesMixedGLM

from survey.core.statistics import mixed_logit
from survey.core.statistics.mixed_logit import PRIOR_SD, find_modes, fit_mixed_logit


def table(rng, rows, columns, beta=0.5, row_sd=0.7, column_sd=0.5, answered=0.7):
    """Wins and losses of the model, with gaps; every row and column has a trial."""
    eta = beta + rng.normal(0, row_sd, (rows, 1)) + rng.normal(0, column_sd, columns)
    answers = rng.random((rows, columns)) < answered
    answers[np.arange(rows), np.arange(rows) % columns] = True
    answers[np.arange(columns) % rows, np.arange(columns)] = True
    won = answers & (rng.random((rows, columns)) < expit(eta))
    return won.astype(float), (answers & ~won).astype(float)


def test_without_effects_it_is_the_model_of_bradley_and_terry():
    won, lost = np.full((6, 4), 60.0), np.full((6, 4), 20.0)
    modes = find_modes(won, lost, np.zeros(1), np.zeros(1))
    assert modes.beta[0] == pytest.approx(np.log(3), abs=1e-3)  # odds of wins to losses
    # To the last digit with the prior: Σ won − n P − β / SD² = 0, and its slope.
    chance = expit(modes.beta[0])
    assert 1440 - 1920 * chance == pytest.approx(modes.beta[0] / PRIOR_SD**2, abs=1e-8)
    variance = 1 / (1920 * chance * (1 - chance) + PRIOR_SD**-2)
    assert modes.variance[0] == pytest.approx(variance, rel=1e-9)
    assert modes.level_variance[0] == pytest.approx(np.full(6, variance), rel=1e-9)


def test_the_mode_and_its_curvature_are_those_of_statsmodels_posterior():
    won, lost = table(np.random.default_rng(1), 7, 4)
    row, column = np.nonzero(won + lost)
    groups = np.hstack([np.eye(7)[row], np.eye(4)[column]])
    model = BinomialBayesMixedGLM(
        *(won[row, column], np.ones((len(row), 1)), groups, np.array([0] * 7 + [1] * 4)),
        fe_p=PRIOR_SD,
    )
    sd = np.array([0.8]), np.array([0.4])
    modes = find_modes(won, lost, *sd)
    columns = modes.columns[0]
    effects = np.concatenate([modes.level[0] - modes.beta[0] - columns.mean(), columns])
    free = [0, *range(3, 14)]  # all but the two log standard deviations

    def slope(at):
        params = np.concatenate([at[:1], np.log([0.8, 0.4]), at[1:]])
        return model.logposterior_grad(params)[free]

    mode = np.concatenate([modes.beta, effects])
    assert slope(mode) == pytest.approx(np.zeros(12), abs=1e-7)
    step = 1e-5 * np.eye(12)
    curvature = np.array([(slope(mode - by) - slope(mode + by)) / 2e-5 for by in step])
    covariance = np.linalg.inv(curvature)
    assert modes.variance[0] == pytest.approx(covariance[0, 0], rel=1e-6)
    toward = np.hstack([np.ones((7, 1)), np.eye(7), np.full((7, 4), 1 / 4)])
    expected = np.diag(toward @ covariance @ toward.T)
    assert modes.level_variance[0] == pytest.approx(expected, rel=1e-6)


def test_the_marginal_likelihood_is_near_that_by_quadrature():
    won, lost = (side.sum(axis=1, keepdims=True) for side in table(np.random.default_rng(2), 12, 8))
    nodes, weights = np.polynomial.hermite_e.hermegauss(40)
    betas = np.linspace(-4, 5, 400)

    def evidence(sd):
        eta = betas[:, np.newaxis, np.newaxis] + sd * nodes
        likelihood = won * eta - (won + lost) * np.logaddexp(0, eta)
        of_rows = np.log(np.exp(likelihood) @ (weights / weights.sum()))
        return np.log(np.exp(of_rows.sum(axis=1) - betas**2 / 2 / PRIOR_SD**2).sum())

    sds = np.array([0.2, 0.6, 1.2])
    exact = np.array([evidence(sd) for sd in sds])
    found = find_modes(won, lost, sds, np.zeros(3)).evidence
    assert np.diff(found) == pytest.approx(np.diff(exact), abs=0.2)


def test_rows_and_columns_may_change_places_and_so_may_wins_and_losses():
    won, lost = table(np.random.default_rng(3), 12, 6)
    fit, turned, other = (
        fit_mixed_logit(*both) for both in ((won, lost), (won.T, lost.T), (lost, won))
    )
    assert turned.ci95 == pytest.approx(fit.ci95, rel=1e-6)
    assert (turned.row_sd, turned.column_sd) == pytest.approx((fit.column_sd, fit.row_sd), rel=1e-6)
    assert other.beta == pytest.approx(-fit.beta, abs=1e-6)
    assert other.level == pytest.approx(-fit.level, abs=1e-6)
    assert other.above_zero == pytest.approx(1 - fit.above_zero, abs=1e-9)


def test_a_finer_grid_gives_the_same(monkeypatch):
    won, lost = table(np.random.default_rng(4), 30, 10)
    usual = fit_mixed_logit(won, lost)
    monkeypatch.setattr(mixed_logit, "GRID_NODES", 20)
    fine = fit_mixed_logit(won, lost)
    assert usual.ci95 == pytest.approx(fine.ci95, abs=0.005)
    assert usual.level_sd == pytest.approx(fine.level_sd, abs=0.005)
    assert (usual.row_sd, usual.column_sd) == pytest.approx((fine.row_sd, fine.column_sd), abs=0.01)


def test_who_wins_everything_has_finite_odds():
    fit = fit_mixed_logit(np.ones((30, 10)), np.zeros((30, 10)))
    assert fit.ci95[0] > 2
    assert fit.ci95[1] < 12
    assert fit.above_zero == pytest.approx(1)
    assert fit.differences() == pytest.approx(np.ones(30), abs=0.05)


@pytest.mark.slow
def test_what_was_planted_is_recovered():
    rng, truth = np.random.default_rng(5), {"beta": 0.5, "row_sd": 0.7, "column_sd": 0.5}
    fits = [fit_mixed_logit(*table(rng, 30, 10, **truth)) for _ in range(100)]
    for name, planted in truth.items():
        # The priors draw towards 0, and ten questions say little of their own spread.
        assert np.mean([getattr(fit, name) for fit in fits]) == pytest.approx(planted, abs=0.12)
    covered = sum(fit.ci95[0] <= 0.5 <= fit.ci95[1] for fit in fits)
    assert covered >= scipy.stats.binom.ppf(0.001, 100, 0.95)
