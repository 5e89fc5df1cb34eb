"""What several studies say together of one difference: mean, heterogeneity, a new study's value.

The studies are a sample, so the mean of their differences has a t interval; how unlike they are is
told by tau², the variance of the true differences between studies.

Sources: Viechtbauer 2005 (REML), 2007 (Q-profile interval); Hartung and Knapp 2001; Nagashima, Noma
and Furukawa 2019 (prediction by a confidence distribution of tau²). Figures are dictionaries, as
results print them.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.random import PCG64
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, chdtri, ndtri, stdtrit

from survey.core.statistics.components import TableSums, variance_components
from survey.core.statistics.significance import SEED, Interval, mean_ci95, t_quantile, t_test

FEWEST_SITES = 3  # with an interval of their mean
FEWEST_FOR_KIND = 4  # and of questions of this kind, and of a new site
DRAWS = 5_000
MOST_STEPS = 200  # of an iteration; it takes some ten
CLOSE = 1e-13  # of the scale: an iteration is done
NEGLIGIBLE = 1e-12  # of the mean square: a variance below it is 0 but for rounding
ENDS = 0.025, 0.975
NO_SPREAD = "the studies' differences are the same, so there is no spread to test against"
ZERO_SE = "a study's standard error is 0, so studies cannot be weighed by their variances"

Figures = dict[str, Any]
Numbers = NDArray[np.float64]


def pooled(*, differences: Sequence[float], se: Sequence[float], seed: int = SEED) -> Figures:
    """Return what three sites or more say of one difference.

    ``differences``: of each site; ``se``: their standard errors; ``seed``: of the 5,000 draws of
    the prediction interval. What is undefined is None, with its reason in ``why``.

    ``mean`` is that of the sites, each of the same weight, with a t interval of sites - 1 degrees
    of freedom; ``weighted`` weighs them by their variances (REML; Hartung and Knapp).
    """
    y, errors = _sites(differences, se)
    if len(y) < FEWEST_SITES:
        raise ValueError(f"differences: {len(y)} found; {FEWEST_SITES} sites or more are needed")
    figures: Figures = {"sites": len(y), **mean_of_sites(y)}
    figures["leave_one_out"] = [
        {"left_out": place + 1, **_mean_and_ends(np.delete(y, place))} for place in range(len(y))
    ]
    of_variances = dict.fromkeys(("tau2_reml", "tau2_ci95", "Q", "Q_p", "I2_Q", "weighted"))
    if not errors.all():
        figures |= {**of_variances, "prediction95": None}
        return {**figures, "why": figures.get("why") or ZERO_SE}
    v, df = errors**2, len(y) - 1
    tau2, q = _reml(y, v), float(_weighted(y, v)[1])
    mean, around, weight, _ = (float(figure) for figure in _weighted(y, v + tau2))
    hksj_se = math.sqrt(around / df / weight)
    reach = t_quantile(ENDS[1], df) * hksj_se
    low, high = (float(_tau2_where(y, v, chdtri(df, share))) for share in ENDS)
    return figures | {
        "tau2_reml": tau2,
        "tau2_ci95": (low, high),
        "Q": q,
        "Q_p": float(chdtrc(df, q)),
        "I2_Q": max(0.0, (q - df) / q) if q else 0.0,
        "weighted": {"mean": mean, "hksj_se": hksj_se, "ci95": (mean - reach, mean + reach)},
        "prediction95": prediction(y, v, seed) if len(y) >= FEWEST_FOR_KIND else None,
    }


def mean_of_sites(differences: ArrayLike) -> Figures:
    """Return the mean of the sites with se, df, t, p and ci95; ``why`` where they do not vary."""
    y = np.asarray(differences, dtype=np.float64)
    spread = float(y.std(ddof=1))
    if spread**2 <= NEGLIGIBLE * float((y**2).mean()):
        nothing = dict.fromkeys(("se", "t", "p", "ci95"))
        return {"mean": float(y.mean()), **nothing, "df": len(y) - 1, "why": NO_SPREAD}
    return t_test(float(y.mean()), spread / math.sqrt(len(y)), len(y) - 1)


def pooled_shared_questions(*, table: Sequence[Sequence[float | None]]) -> Figures:
    """Return what sites with the same questions say of these and of questions of this kind.

    ``table``: a row of a site's means of each question, None where a site has no answer to it.
    More sites do not add questions: the components of variance of sites, questions and the rest
    give the interval for the kind, which is never narrower than that for these questions.
    """
    numbers = np.array([[np.nan if cell is None else cell for cell in row] for row in table])
    if numbers.ndim != 2 or min(numbers.shape) < 2:
        raise ValueError(f"table: {numbers.shape} found; two sites and two questions are needed")
    known = np.isfinite(numbers)
    if not (known.any(axis=1).all() and known.any(axis=0).all()):
        raise ValueError("table: a site or a question without a number found; leave it out")
    cells, counts = np.where(known, numbers, 0.0), known.astype(float)
    row_counts, column_counts = counts.sum(axis=1), counts.sum(axis=0)
    by_row, by_column = cells.sum(axis=1), cells.sum(axis=0)
    sums = TableSums.of(by_row, by_column, row_counts, column_counts, float((cells**2).sum()))
    mean = float(sums.total / sums.n)
    of_sites = mean_of_sites(by_row / row_counts)["ci95"]
    figures: Figures = {"mean": mean, "these_questions_ci95": of_sites}
    kind: Figures = dict.fromkeys(("variance", "df", "p", "ci95"))
    if sums.rest_df > 0:
        parts = variance_components(sums)
        variance = float(parts.variance)
        if variance > NEGLIGIBLE * sums.squares / sums.n:
            df = float(parts.df)
            test = t_test(mean, math.sqrt(variance), df)
            ends = [*test["ci95"], *(of_sites or ())]
            kind = {"variance": variance, "df": df, "p": test["p"], "ci95": (min(ends), max(ends))}
    return {**figures, "kind": kind}


def difference_of_two(
    differences: Sequence[float], se: Sequence[float], df: Sequence[float]
) -> Figures:
    """Return by how much the first of two sites differs from the second (Welch's t)."""
    y, errors = _sites(differences, se)
    variances = errors**2
    if not variances.any():
        return {"difference": float(y[0] - y[1]), **dict.fromkeys(("se", "df", "t", "p", "ci95"))}
    welch = float(variances.sum() ** 2 / (variances**2 / np.asarray(df)).sum())
    test = t_test(float(y[0] - y[1]), math.sqrt(float(variances.sum())), welch)
    return {"difference": test.pop("mean"), **test}


def prediction(y: Numbers, v: Numbers, seed: int = SEED, draws: int = DRAWS) -> Interval:
    """Return between which values the true difference of a new site lies, in 95 of 100 cases.

    ``y``, ``v``: differences and their variances, above 0. Each draw takes tau² from its confidence
    distribution, the mean from a t distribution around the mean that has these weights, and a new
    site's deviation from the normal distribution.
    """
    uniform = (PCG64(seed).random_raw(3 * draws) >> np.uint64(11)).astype(float) + 0.5
    chance = (uniform * 2.0**-53).reshape(3, draws)
    values = predicted_values(y, v, chance)
    low, high = np.quantile(values, ENDS)
    return float(low), float(high)


def predicted_values(y: Numbers, v: Numbers, chance: Numbers) -> Numbers:
    """Return a new site's value for each draw; ``chance``: (3, draws), between 0 and 1."""
    df = y.shape[-1] - 1
    tau2 = _tau2_where(y, v, chdtri(df, chance[0]))
    mean, around, weight, _ = _weighted(y, v + tau2[..., np.newaxis])
    error = stdtrit(df, chance[2]) * np.sqrt(around / df / weight)
    values: Numbers = mean + np.sqrt(tau2) * ndtri(chance[1]) - error
    return values


def _sites(differences: Sequence[float], se: Sequence[float]) -> tuple[Numbers, Numbers]:
    y, errors = np.asarray(differences, dtype=float), np.asarray(se, dtype=float)
    if y.ndim != 1 or y.shape != errors.shape:
        raise ValueError(f"se: {errors.size} found; differences has {y.size}")
    if not (np.isfinite(y).all() and np.isfinite(errors).all() and (errors >= 0).all()):
        raise ValueError("differences, se: numbers are allowed, standard errors from 0 on")
    return y, errors


def _mean_and_ends(y: Numbers) -> Figures:
    return {"mean": float(y.mean()), "ci95": None if mean_ci95(y)[0] is None else mean_ci95(y)}


def _weighted(y: Numbers, v: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Return the mean by weights w = 1/v, Q = Σw(y - mean)², Σw, and Σw²(y - mean)²."""
    w = 1 / v
    weight = w.sum(axis=-1)
    mean = (w * y).sum(axis=-1) / weight
    squares = w * (y - mean[..., np.newaxis]) ** 2
    return mean, squares.sum(axis=-1), weight, (w * squares).sum(axis=-1)


def _tau2_where(y: Numbers, v: Numbers, wanted: ArrayLike) -> Numbers:
    """Return the tau² at which Q is what is wanted; 0 where it is no larger without tau².

    Newton's method on 1/Q, which rises and is concave, so that no step goes too far.
    """
    wanted = np.asarray(wanted, dtype=float)
    tau2 = np.zeros(wanted.shape)
    scale = float(v.mean() + np.ptp(y) ** 2)
    for _ in range(MOST_STEPS):
        _, q, _, slope = _weighted(y, v + tau2[..., np.newaxis])
        step = np.where(q > wanted, q * (q / wanted - 1) / np.where(slope > 0, slope, 1.0), 0.0)
        tau2 = tau2 + step
        if (step <= CLOSE * (tau2 + scale)).all():
            break
    return tau2


def _reml(y: Numbers, v: Numbers) -> float:
    """Return tau² of the largest restricted likelihood, by Fisher's scoring."""
    tau2, scale = 0.0, float(v.mean())
    for _ in range(MOST_STEPS):
        w = 1 / (v + tau2)
        first, second, third = (float((w**power).sum()) for power in (1, 2, 3))
        *_, around = _weighted(y, v + tau2)
        information = second - 2 * third / first + (second / first) ** 2
        new = max(0.0, tau2 + (float(around) - (first - second / first)) / information)
        if abs(new - tau2) <= CLOSE * (new + scale):
            return new
        tau2 = new
    return tau2
