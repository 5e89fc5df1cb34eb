""""""

from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

Midranks = NDArray[np.float64]


def signs(midranks: ArrayLike) -> NDArray[np.int8]:
    """Return for each pair of lists which stands first: 1, −1, or 0 where they tie."""
    ranks = np.asarray(midranks, dtype=np.float64)
    one, other = _pairs(ranks.shape[-1])
    return np.sign(ranks[..., other] - ranks[..., one]).astype(np.int8)


@cache
def _pairs(lists: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.triu_indices(lists, 1)


def tau_b(one: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
    """Kendall's tau-b in [-1, 1]; NaN where a side is all tied.

    Σ s t / sqrt(Σ s² Σ t²) over the pairs of lists, with the signs s, t of the two
    orders (Kendall 1945). scipy's kendalltau computes a p value as well, which fails for
    two lists and means nothing at five.
    """
    return _cosine(signs(one).astype(np.float64), signs(other).astype(np.float64))


def spearman(one: ArrayLike, other: ArrayLike) -> NDArray[np.float64]:
    """Spearman's rho on midranks, in [-1, 1]; NaN where a side is all tied."""
    mine, theirs = (np.asarray(side, dtype=np.float64) for side in (one, other))
    middle = (mine.shape[-1] + 1) / 2  # the mean of any midranks
    return _cosine(mine - middle, theirs - middle)


def _cosine(one: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ x y / sqrt(Σ x² Σ y²) over the last axis, NaN where a side is all zero."""
    with np.errstate(invalid="ignore"):
        cosine: NDArray[np.float64] = (one * other).sum(axis=-1) / np.sqrt(
            (one**2).sum(axis=-1) * (other**2).sum(axis=-1)
        )
    return cosine


def agreement_rate(
    one: ArrayLike, other: ArrayLike, credit: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean credit of the list pairs, in [0, 1]; ``credit``: STRICT or HALF.

    Strict counts a pair that both sides order alike, a tie agreeing with a tie; HALF gives
    1/2 for a pair that exactly one side ties besides.
    """
    rate: NDArray[np.float64] = credit[signs(one) + 1, signs(other) + 1].mean(axis=-1)
    return rate
