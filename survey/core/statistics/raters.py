""""""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def alpha_ordinal(units: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha of ``units``: the values each unit got, missing ones left out."""
    levels = sorted({value for unit in units for value in unit})
    counts = [[list(unit).count(level) for level in levels] for unit in units]
    return _alpha(np.array(counts, dtype=np.float64).reshape(len(units), len(levels)))


def _alpha(counts: NDArray[np.float64]) -> float | None:
    """Krippendorff's alpha = 1 - D_o/D_e with the ordinal metric; None where D_e is 0.

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


def kappa_of(counts: NDArray[np.float64]) -> float:
    """Fleiss' kappa of a table (subjects, categories), at most 1; 0 is what chance would give.

    ``counts``: by how many raters each subject was put into each category; as many raters,
    two at least, for every subject, and two categories at least that were used. With P the
    mean share of pairs of raters who agree on a subject, and E the sum of the categories'
    squared shares, (P - E) / (1 - E) (Fleiss 1971).
    """
    raters = counts.sum(axis=1).max()
    agreeing = ((counts * counts).sum(axis=1) - raters) / (raters * (raters - 1))
    shares = counts.sum(axis=0) / counts.sum()
    by_chance = (shares * shares).sum()
    return float((agreeing.mean() - by_chance) / (1 - by_chance))
