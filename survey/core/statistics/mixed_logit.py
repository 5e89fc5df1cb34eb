"""A logit of a table's wins and losses with crossed random effects of its rows and columns.

A trial in a cell is won with probability logistic(β + u_row + v_column), where u and v are normal
with mean 0 and standard deviations σ_row and σ_column. Without effects it is the Bradley–Terry
model of two: odds of wins to losses. The posterior is computed by a nested Laplace approximation
(Rue, Martino & Chopin 2009): at each point of a grid of (σ_row, σ_column) the mode and curvature
of β, u and v; points are weighed by their approximate marginal likelihood. It needs no random
numbers, and σ at its bound 0, or rows that won every trial, need no special case.
(statsmodels' BinomialBayesMixedGLM, whose posterior the tests compare, often stops before it has
found the mode; with ten columns its 95 % intervals hold β in 59 to 68 of 100 simulated tables.)
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from survey.core.statistics.significance import Interval

Table = NDArray[np.float64]

PRIOR_SD = 2.5  # of β, normal about 0: odds beyond 150 to 1 are rare
PRIOR_SPREAD = 1.0  # scale of the half-normal priors of σ_row and σ_column
GRID_NODES = 8  # of the grid, for each of the two σ
ROUNDS = 2  # the second covers only where the first found any weight
NEGLIGIBLE_WEIGHT = 1e-3  # of a node's density, against the highest
MOST_STEPS, LARGEST_STEP = 100, 3.0  # of Newton's method
CONVERGED = 1e-9  # the longest step of the last iteration


@dataclass(frozen=True)
class Modes:
    """The modes of β and the effects, and their covariances, for G pairs of (σ_row, σ_column).

    ``beta``, ``variance``: (G,), of β; ``columns``: (G, C), the columns' effects; ``level``,
    ``level_variance``: (G, R), of β + u_row, at the mean of the columns' effects;
    ``evidence``: (G,), log marginal likelihood, but for a constant.
    """

    beta: Table
    variance: Table
    columns: Table
    level: Table
    level_variance: Table
    evidence: Table


@dataclass(frozen=True)
class MixedLogit:
    """The posterior of β, and of each row's level: its log odds at the columns' mean effect.

    ``above_zero``: the probability that β > 0; ``row_sd``, ``column_sd``: posterior means of σ;
    ``columns``: (C,), posterior means of the columns' effects; ``level``, ``level_sd``: (R,).
    """

    beta: float
    ci95: Interval
    above_zero: float
    row_sd: float
    column_sd: float
    columns: Table
    level: Table
    level_sd: Table

    def differences(self, reach: float = 0.0) -> Table:
        """Return each row's P(won) − P(lost), (R,), averaged over the columns.

        ``reach``: how many standard deviations of its level above the mean the row is taken to be.
        """
        levels = (self.level + reach * self.level_sd)[:, np.newaxis]
        mean: Table = np.tanh((levels + self.columns - self.columns.mean()) / 2).mean(axis=1)
        return mean


def fit_mixed_logit(won: Table, lost: Table) -> MixedLogit:
    """Fit wins and losses, each (rows, columns); every row and column has at least one trial."""
    box = np.array([[0.0, 1.0], [0.0, 1.0]])
    points, gauss = np.polynomial.legendre.leggauss(GRID_NODES)
    for _ in range(ROUNDS):
        # Uniform in the prior's quantiles, so that the prior needs no term of its own.
        axes = box[:, :1] + (points + 1) / 2 * np.diff(box)
        sd = PRIOR_SPREAD * np.sqrt(2) * scipy.special.erfinv(axes)
        row_sd, column_sd = (each.ravel() for each in np.meshgrid(*sd, indexing="ij"))
        modes = find_modes(won, lost, row_sd, column_sd)
        density = np.exp(modes.evidence - modes.evidence.max())
        square = density.reshape(GRID_NODES, GRID_NODES)
        by_axis = square.max(axis=1), square.max(axis=0)  # the highest at each node of either axis
        box = np.array([_narrow(*each) for each in zip(box, axes, by_axis, strict=True)])
    weights = density * np.outer(gauss, gauss).ravel()
    weights /= weights.sum()
    errors = np.sqrt(modes.variance)

    def quantile(share: float) -> float:
        low, high = (modes.beta - 9 * errors).min(), (modes.beta + 9 * errors).max()

        def excess(at: float) -> float:
            return float(weights @ scipy.special.ndtr((at - modes.beta) / errors)) - share

        return float(scipy.optimize.brentq(excess, low, high))

    level = weights @ modes.level
    return MixedLogit(
        beta=quantile(0.5),
        ci95=(quantile(0.025), quantile(0.975)),
        above_zero=float(weights @ scipy.special.ndtr(modes.beta / errors)),
        row_sd=float(weights @ row_sd),
        column_sd=float(weights @ column_sd),
        columns=weights @ modes.columns,
        level=level,
        level_sd=np.sqrt(weights @ (modes.level_variance + (modes.level - level) ** 2)),
    )


def _narrow(sides: Table, nodes: Table, density: Table) -> tuple[float, float]:
    """Return the part of an axis that reaches to the neighbours of all nodes with any weight."""
    weighty = np.flatnonzero(density > NEGLIGIBLE_WEIGHT * density.max())
    edges = [sides[0], *nodes, sides[1]]
    return float(edges[weighty[0]]), float(edges[weighty[-1] + 2])


def find_modes(won: Table, lost: Table, row_sd: Table, column_sd: Table) -> Modes:
    """Find the modes for each of G pairs of standard deviations by Newton's method.

    In effects of unit variance, u = σ_row a and v = σ_column c, so that σ may be 0. The rows'
    part of the Hessian is diagonal and is eliminated: what is solved is as large as β and c.
    """
    trials, (rows, columns) = won + lost, won.shape
    of_rows, of_columns = row_sd[:, np.newaxis], column_sd[:, np.newaxis]
    fixed = np.zeros((len(row_sd), 1 + columns))  # β and c
    effects = np.zeros((len(row_sd), rows))  # a
    scales = np.concatenate([np.ones_like(of_columns), of_columns.repeat(columns, axis=1)], axis=1)
    precision = np.array([PRIOR_SD**-2, *np.ones(columns)])
    for _ in range(MOST_STEPS):
        of_column = fixed[:, :1] + of_columns * fixed[:, 1:]
        eta = (of_rows * effects)[..., np.newaxis] + of_column[:, np.newaxis]
        chance = scipy.special.expit(eta)
        weight = trials * chance * (1 - chance)
        by_row, by_column = weight.sum(axis=2), weight.sum(axis=1)
        residuals = won - trials * chance
        diagonal = 1 + of_rows**2 * by_row
        mixed = of_rows[..., np.newaxis] * scales[:, np.newaxis] * _with_sum(weight)
        ahead = mixed / diagonal[..., np.newaxis]
        schur = np.zeros((len(row_sd), 1 + columns, 1 + columns))
        schur[:, 0] = schur[:, :, 0] = scales * _with_sum(by_column)
        every = np.arange(1, 1 + columns)
        schur[:, every, every] = of_columns**2 * by_column
        schur += np.diag(precision) - mixed.swapaxes(1, 2) @ ahead
        toward_effects = of_rows * residuals.sum(axis=2) - effects
        toward_fixed = scales * _with_sum(residuals.sum(axis=1)) - precision * fixed
        reduced = (
            toward_fixed[..., np.newaxis] - ahead.swapaxes(1, 2) @ toward_effects[..., np.newaxis]
        )
        step = np.linalg.solve(schur, reduced)
        effects_step = toward_effects / diagonal - (ahead @ step)[..., 0]
        longest = np.maximum(np.abs(step).max(axis=(1, 2)), np.abs(effects_step).max(axis=1))
        shorten = np.minimum(1, LARGEST_STEP / np.maximum(longest, 1.0))[:, np.newaxis]
        fixed, effects = fixed + shorten * step[..., 0], effects + shorten * effects_step
        if longest.max() < CONVERGED:
            break
    likelihood = (won * eta - trials * np.logaddexp(0, eta)).sum(axis=(1, 2))
    prior = (precision * fixed**2).sum(axis=1) + (effects**2).sum(axis=1)
    log_det = np.log(diagonal).sum(axis=1) + np.linalg.slogdet(schur)[1]
    covariance = np.linalg.inv(schur)
    # A row's level is σ_row a + β + the mean of v; its variance follows from the blocks.
    mean_column = scales / np.array([1, *np.full(columns, columns)])
    toward = mean_column[:, np.newaxis] - of_rows[..., np.newaxis] * ahead
    return Modes(
        beta=fixed[:, 0],
        variance=covariance[:, 0, 0],
        columns=of_columns * fixed[:, 1:],
        level=eta.mean(axis=2),
        level_variance=of_rows**2 / diagonal + ((toward @ covariance) * toward).sum(axis=2),
        evidence=likelihood - prior / 2 - log_det / 2,
    )


def _with_sum(cells: Table) -> Table:
    """Prepend the sum of the last axis to it."""
    return np.concatenate([cells.sum(axis=-1, keepdims=True), cells], axis=-1)
