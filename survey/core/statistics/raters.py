"""Agreement of raters on plain arrays: Kendall's W, Krippendorff's alpha, Fleiss' kappa."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from survey.core.statistics.rank_correlation import Midranks


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


def alpha_of_counts(counts: NDArray[np.float64]) -> float | None:
    """Compute Krippendorff's alpha = 1 - D_o/D_e, ordinal, at most 1; None where D_e is 0.

    ``counts``: how often each unit got each level, (units, levels); units with one value
    pair nothing and do not count. With n_g the number of pairable values g and
    c < k: δ²(c, k) = (Σ_{g=c..k} n_g - (n_c + n_k)/2)² (Krippendorff 2011).
    """
    paired = counts[counts.sum(axis=1) > 1]
    sizes = paired.sum(axis=1)
    totals = paired.sum(axis=0)
    if np.count_nonzero(totals) < 2:
        return None
    weighed = paired / (sizes - 1)[:, np.newaxis]
    coincidences = weighed.T @ paired - np.diag(weighed.sum(axis=0))
    delta = _ordinal_metric(totals)
    expected = float(totals @ delta @ totals) / (totals.sum() - 1)
    return float(1 - (coincidences * delta).sum() / expected)


def _ordinal_metric(totals: NDArray[np.float64]) -> NDArray[np.float64]:
    middles = np.cumsum(totals) - totals / 2
    squared: NDArray[np.float64] = (middles[:, np.newaxis] - middles) ** 2
    return squared


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
