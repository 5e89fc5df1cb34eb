"""How far raters agree: rank correlations of two, Kendall's W, alpha and kappa of several.

Orders are arrays of midranks over the last axis: A=B>C is 1.5, 1.5, 3. Two arrays of orders
are broadcast against each other, as numpy does.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from survey.core.statistics.significance import Interval

Midranks = NDArray[np.float64]

# What a pair of items counts for the agreement rate, by the signs −1, 0, 1 of the two orders.
STRICT_CREDIT = np.eye(3)
HALF_CREDIT = np.array([[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])

FEWEST_FOR_INTERVAL = 5  # items: with fewer, the standard errors are not defined
QUANTILE = 1.959963984540054  # scipy.special.ndtri(0.975), without waiting for scipy.special


def tau_b(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Compute Kendall's tau-b in [-1, 1]; NaN where a side is all tied.

    Σ s t / sqrt(Σ s² Σ t²) over the pairs of items, with the signs s, t of the two
    orders (Kendall 1945). scipy's kendalltau computes a p value as well, which fails for
    two items and means nothing at five.
    """
    return _cosine(signs(x).astype(np.float64), signs(y).astype(np.float64))


def spearman(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Compute Spearman's rho of midranks, in [-1, 1]; NaN where a side is all tied."""
    first, second = (np.asarray(side, dtype=np.float64) for side in (x, y))
    middle = (first.shape[-1] + 1) / 2  # the mean of any midranks
    return _cosine(first - middle, second - middle)


def tau_ap_a(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Compute AP correlation of y with a true order x, in [-1, 1]; top ranks count more.

    2 / (n − 1) Σ_i [C_i / s Σ_{m=max(t,2)}^{t+s−1} 1 / (m − 1) + 1 / (2 s) Σ_{k=1}^{s−1}
    k / (t + k − 1)] − 1, with t and s the top rank and size of item i's tie group in y, and C_i
    the items above the group that x also puts above i: the mean over all ways to break the ties.
    ``x``, ``y``: midranks (…, n), 1 best. Raises ValueError where x has ties.

    Source: Yilmaz, Aslam and Robertson 2008; ties: Urbano and Marrero 2017.
    """
    concordant, top, size = _concordant_above(x, y)
    if (_tied(x) > 1).any():
        raise ValueError("x is a true order, which has no ties; tau_ap_b takes ties on both sides")
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, top.shape[-1] + 1))])
    last = harmonic[top + size - 2]
    of_above = concordant / size * (last - harmonic[np.maximum(top - 2, 0)])
    of_ties = (size - 1 - (top - 1) * (last - harmonic[top - 1])) / (2 * size)
    with np.errstate(invalid="ignore"):
        return np.asarray(2 * (of_above + of_ties).sum(axis=-1) / (top.shape[-1] - 1) - 1)


def tau_ap_b(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Compute AP correlation of two orders with ties, in [-1, 1]; NaN where a side is all tied.

    The mean of h(x, y) and h(y, x), h being 2 C_i / (t_i − 1) − 1 averaged over the items below
    y's first group, with C_i and t_i as in ``tau_ap_a``. ``x``, ``y``: midranks (…, n), 1 best.

    Source: Urbano and Marrero 2017.
    """

    def half(true: ArrayLike, judged: ArrayLike) -> NDArray[np.float64]:
        concordant, top, _ = _concordant_above(true, judged)
        below = top > 1
        shares = np.where(below, concordant / np.maximum(top - 1, 1), 0.0).sum(axis=-1)
        return np.asarray(2 * shares / below.sum(axis=-1) - 1)

    with np.errstate(invalid="ignore"):
        return np.asarray((half(x, y) + half(y, x)) / 2)


def rbo(x: ArrayLike, y: ArrayLike, p: float, ties: Literal["a", "b"] = "b") -> NDArray[np.float64]:
    """Compute rank-biased overlap of two orders of the same items, in [0, 1]; top ranks count more.

    (1 − p) Σ_{d≤n} p^(d − 1) A_d + p^n. An item whose tie group has the ranks t…b contributes at
    depth d 0, (d − t + 1) / (b − t + 1), or 1 from b on: u and v on the two sides. A_d is
    Σ u v / d (``ties`` "a") or Σ u v / sqrt(Σ u² Σ v²) ("b", by which an order agrees with itself
    by 1). ``x``, ``y``: midranks (…, n), 1 best; ``p``: between 0 and 1.

    Source: Webber, Moffat and Zobel 2010; ties: Corsi and Urbano 2024.
    """
    depths = np.arange(1, np.shape(x)[-1] + 1)

    def contributions(side: ArrayLike) -> NDArray[np.float64]:
        size = _tied(side)[..., np.newaxis]
        top = np.asarray(side, dtype=np.float64)[..., np.newaxis] - (size - 1) / 2
        return np.clip((depths - top + 1) / size, 0.0, 1.0)

    first, second = contributions(x), contributions(y)
    shared = (first * second).sum(axis=-2)
    largest = np.sqrt((first**2).sum(axis=-2) * (second**2).sum(axis=-2))
    overlaps = shared / (depths if ties == "a" else largest)
    return np.asarray((1 - p) * (p ** (depths - 1) * overlaps).sum(axis=-1) + p ** len(depths))


def _concordant_above(
    x: ArrayLike, y: ArrayLike
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return C, t and s of each item: those above it on both sides, its group's top rank, size."""
    above = _above(y)
    return (above & _above(x)).sum(axis=-1), above.sum(axis=-1) + 1, _tied(y)


def _above(midranks: ArrayLike) -> NDArray[np.bool_]:
    """Return which items (…, n, n) an item's order has above it."""
    ranks = np.asarray(midranks, dtype=np.float64)
    return np.asarray(ranks[..., np.newaxis, :] < ranks[..., np.newaxis])


def _tied(midranks: ArrayLike) -> NDArray[np.int64]:
    """Return how many items share each item's rank, itself included."""
    ranks = np.asarray(midranks, dtype=np.float64)
    return np.asarray((ranks[..., np.newaxis, :] == ranks[..., np.newaxis]).sum(axis=-1))


def agreement_rate(
    x: ArrayLike, y: ArrayLike, credit: NDArray[np.float64] = STRICT_CREDIT
) -> NDArray[np.float64]:
    """Average the credits of the pairs of items, in [0, 1] (Sakai & Zeng 2021).

    ``credit``: STRICT_CREDIT counts a pair that both sides order alike, a tie agreeing with a tie;
    HALF_CREDIT counts 1/2 for a pair that exactly one side ties besides.
    """
    rate: NDArray[np.float64] = credit[signs(x) + 1, signs(y) + 1].mean(axis=-1)
    return rate


def signs(midranks: ArrayLike) -> NDArray[np.int8]:
    """Compare each pair of items: 1 where the first is better, −1 where the second, 0 tied."""
    ranks = np.asarray(midranks, dtype=np.float64)
    first, second = _pairs(ranks.shape[-1])
    return np.sign(ranks[..., second] - ranks[..., first]).astype(np.int8)


@cache
def _pairs(items: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.triu_indices(items, 1)


def _cosine(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ x y / sqrt(Σ x² Σ y²) over the last axis, NaN where a side is all zero."""
    with np.errstate(invalid="ignore"):
        cosine: NDArray[np.float64] = (x * y).sum(axis=-1) / np.sqrt(
            (x**2).sum(axis=-1) * (y**2).sum(axis=-1)
        )
    return cosine


@dataclass(frozen=True)
class RankCorrelation:
    """``coefficient`` in [−1, 1] over ``n`` items, with its 95 % interval.

    ``why``: why the coefficient, or the interval alone, is None; else None.
    """

    n: int
    coefficient: float | None
    ci95: Interval | None
    why: str | None = None


def kendall(x: Sequence[float], y: Sequence[float]) -> RankCorrelation:
    """Correlate two scores by Kendall's tau-b, with an interval by Fisher's z.

    ``x``, ``y``: (n,), a score for each item. The standard error of atanh(tau) is
    sqrt(0.437 / (n − 4)) (Fieller, Hartley and Pearson 1957, Biometrika 44), whatever tau;
    it is meant for |tau| < .8 and n ≥ 10. Undefined where a score is the same for all items;
    the interval also at |tau| = 1 and for fewer than five items. Raises ValueError for
    scores of different lengths.
    """
    return _correlate(tau_b, x, y, lambda _, n: math.sqrt(0.437 / (n - 4)))


def spearman_rho(x: Sequence[float], y: Sequence[float]) -> RankCorrelation:
    """Correlate two scores by Spearman's rho, with an interval by Fisher's z.

    As ``kendall``; the standard error of atanh(rho) is sqrt((1 + rho²/2) / (n − 3))
    (Bonett and Wright 2000, Psychometrika 65), meant for |rho| < .95.
    """
    return _correlate(spearman, x, y, lambda rho, n: math.sqrt((1 + rho**2 / 2) / (n - 3)))


def _correlate(
    correlation: Callable[[Midranks, Midranks], NDArray[np.float64]],
    x: Sequence[float],
    y: Sequence[float],
    standard_error: Callable[[float, int], float],
) -> RankCorrelation:
    if len(x) != len(y):
        raise ValueError(f"the scores are {len(x)} and {len(y)}; each item needs one of each")
    n = len(x)
    if n < 2 or len(set(x)) == 1 or len(set(y)) == 1:
        return RankCorrelation(n, None, None, "a score is the same for all items")
    value = float(correlation(scipy.stats.rankdata(x), scipy.stats.rankdata(y)))
    if n < FEWEST_FOR_INTERVAL:
        why = f"an interval needs {FEWEST_FOR_INTERVAL} items or more"
        return RankCorrelation(n, value, None, why)
    if math.isclose(abs(value), 1.0):
        same = "the same" if value > 0 else "opposite"
        why = f"both scores give {same} order, where Fisher's z is infinite"
        return RankCorrelation(n, math.copysign(1.0, value), None, why)
    z, width = math.atanh(value), QUANTILE * standard_error(value, n)
    return RankCorrelation(n, value, (math.tanh(z - width), math.tanh(z + width)))


def kendall_w(orders: Midranks, counts: NDArray[np.int64]) -> float | None:
    """Compute Kendall's W, tie-corrected, in [0, 1]; None for one rater or where all tie all.

    ``orders``: the distinct orders, (orders, items), as midranks; ``counts``: how many raters
    gave each. W = (12 ΣR² - 3 m² n (n + 1)²) / (m² n (n² - 1) - m ΣT), with m raters, n
    items, the items' rank sums R, and T = Σ(t³ - t) over a rater's ties of t items
    (Kendall & Gibbons 1990, ch. 6).
    """
    raters, items = int(counts.sum()), orders.shape[1]
    ties = int(counts @ _ties(orders))
    largest = raters**2 * items * (items**2 - 1) - raters * ties
    if raters < 2 or largest == 0:
        return None
    sums = counts @ orders
    return float((12 * sums @ sums - 3 * raters**2 * items * (items + 1) ** 2) / largest)


def _ties(orders: Midranks) -> NDArray[np.int64]:
    """Return Σ(t³ - t) over the ties of each order: each of t tied items equals t items."""
    equal = (orders[:, :, np.newaxis] == orders[:, np.newaxis]).sum(axis=2)
    ties: NDArray[np.int64] = (equal**2).sum(axis=1) - orders.shape[1]
    return ties


def alpha_ordinal(units: Sequence[Sequence[float]]) -> float | None:
    """Compute Krippendorff's alpha of ``units``: the values of each, missing ones left out."""
    levels = sorted({value for unit in units for value in unit})
    counts = [[list(unit).count(level) for level in levels] for unit in units]
    return alpha_of_counts(np.array(counts, dtype=np.float64).reshape(len(units), len(levels)))


def alpha_of_counts(counts: NDArray[np.float64], *, ordinal: bool = True) -> float | None:
    """Compute Krippendorff's alpha = 1 - D_o/D_e, at most 1; None where D_e is 0.

    ``counts``: how often each unit got each level, (units, levels); units with one value
    pair nothing and do not count. ``ordinal``: with n_g the number of pairable values g and
    c < k, δ²(c, k) = (Σ_{g=c..k} n_g - (n_c + n_k)/2)²; else nominal, 1 for unlike levels
    (Krippendorff 2011).
    """
    paired = counts[counts.sum(axis=1) > 1]
    sizes = paired.sum(axis=1)
    totals = paired.sum(axis=0)
    if np.count_nonzero(totals) < 2:
        return None
    weighed = paired / (sizes - 1)[:, np.newaxis]
    coincidences = weighed.T @ paired - np.diag(weighed.sum(axis=0))
    middles = np.cumsum(totals) - totals / 2
    delta = (middles[:, np.newaxis] - middles) ** 2 if ordinal else 1 - np.eye(len(totals))
    expected = float(totals @ delta @ totals) / (totals.sum() - 1)
    return float(1 - (coincidences * delta).sum() / expected)


def kappa_of_counts(counts: NDArray[np.float64]) -> float:
    """Compute Fleiss' kappa of a table (subjects, categories), at most 1; 0 is chance.

    ``counts``: how many raters put each subject into each category; equally many raters, two
    at least, for every subject, and two categories at least that were used. With P the
    mean share of pairs of raters who agree on a subject, and E the sum of the categories'
    squared shares, (P - E) / (1 - E) (Fleiss 1971).
    """
    raters = counts.sum(axis=1).max()
    agreeing = ((counts * counts).sum(axis=1) - raters) / (raters * (raters - 1))
    shares = counts.sum(axis=0) / counts.sum()
    by_chance = (shares * shares).sum()
    return float((agreeing.mean() - by_chance) / (1 - by_chance))


def cohen_kappa(
    first: Sequence[object],
    second: Sequence[object],
    categories: Sequence[object],
    weights: Literal["none", "linear", "quadratic"] = "none",
) -> float:
    """Compute Cohen's kappa of two raters, 1 − observed / expected disagreement, at most 1.

    ``first``, ``second``: their categories of the same subjects; ``weights``: what a disagreement
    counts: 1, or the distance in the order of ``categories``, or its square. 0 is chance; NaN
    where no disagreement is expected. Raises ValueError for other lengths or categories.

    Source: Cohen 1960; weighted: Cohen 1968.
    """
    if len(first) != len(second):
        raise ValueError(f"the raters have {len(first)} and {len(second)} subjects")
    place = {category: index for index, category in enumerate(categories)}
    if unknown := {*first, *second} - place.keys():
        raise ValueError(f"{min(map(repr, unknown))} found; {list(categories)} are the categories")
    table = np.zeros((len(place), len(place)))
    for category, other in zip(first, second, strict=True):
        table[place[category], place[other]] += 1
    distance = np.abs(np.subtract.outer(np.arange(len(place)), np.arange(len(place))))
    cost = {"none": distance > 0, "linear": distance, "quadratic": distance**2}[weights]
    expected = float((np.outer(table.sum(axis=1), table.sum(axis=0)) * cost).sum())
    return 1 - len(first) * float((table * cost).sum()) / expected if expected else math.nan


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact interval of a share, in [0, 1]; it is never too short (0 to 1 for 0 trials).

    Source: Clopper and Pearson, Biometrika 26, 1934.
    """
    tail = (1 - confidence) / 2
    failures = trials - successes
    low = float(scipy.special.betaincinv(successes, failures + 1, tail)) if successes else 0.0
    high = float(scipy.special.betaincinv(successes + 1, failures, 1 - tail)) if failures else 1.0
    return low, high


def wilson(
    successes: ArrayLike, trials: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of the 95 % interval of ``successes`` / ``trials``, in [0, 1].

    Source: Wilson 1927 (JASA 22).
    """
    n = np.asarray(trials, dtype=np.float64)
    share, square = np.asarray(successes) / n, QUANTILE**2
    middle = (share + square / (2 * n)) / (1 + square / n)
    reach = QUANTILE * np.sqrt(share * (1 - share) / n + square / (4 * n**2)) / (1 + square / n)
    return np.clip(middle - reach, 0.0, 1.0), np.clip(middle + reach, 0.0, 1.0)
