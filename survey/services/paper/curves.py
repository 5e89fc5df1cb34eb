"""Measures of a known item, of two items, and in growing collections, as Figures 1 to 8 show."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from survey.core.measures import average_precision, mnro, nmrr
from survey.core.measures.nmrr_mnro import B, C, nmrr_horizon

SIZE = 20  # N, the collection in all figures but Figure 6
EPSILON = 1e-9  # a smaller difference is a rounding error of floats

# One relevant item.
RANKS = np.arange(1, SIZE + 1)
FULL, CAPPED = nmrr_horizon(1), nmrr_horizon(1, 1)  # K = 4, and 2 with GMT = 1
CAPPED_NMRR = f"NMRR, K = {CAPPED} (GMT = 1)"

# Two relevant items.
HORIZON = nmrr_horizon(2)  # K of NMRR, and of MNRO, since the generality is .1
LATER_RANKS = range(2, SIZE + 1)  # Rank(i)

# Growing collections: MNRO at thousandths of the collection, in its first tenth.
THOUSANDTHS = range(1, 101)

Values = NDArray[np.float64]


def nro(rank: Values | float, horizon: float) -> Values:
    """Return NRO at a rank that is not the item's ideal rank (Eqs. 16–17)."""
    return np.exp(B * np.exp(C * (np.asarray(rank) - 1) / (horizon - 1)))


def _measured(name: str, ranks: NDArray[np.int64]) -> Values:
    """Return a measure of lists as the figures show it, 0 the best. ``ranks``: (lists, NG)."""
    if name == "1-AP":
        return 1 - average_precision(ranks)
    return nmrr(ranks) if name == "NMRR" else mnro(ranks, SIZE)


def item_curve(name: str) -> Values:
    """Return a measure for one relevant item at each of the 20 positions."""
    lists = RANKS[:, None]
    return nmrr(lists, 1) if name == CAPPED_NMRR else _measured(name, lists)


@dataclass(frozen=True)
class RankPairs:
    """All pairs of ranks of two relevant items, in the order of the paper's pseudo code.

    ``i``, ``j``: (190,), the later and the earlier rank; ``values``: measure → (190,).
    """

    i: NDArray[np.int64]
    j: NDArray[np.int64]
    values: dict[str, Values]

    def grid(self, name: str) -> Values:
        """Return a measure's value at [Rank(i), Rank(j)]: (N + 1, N + 1), NaN but for pairs."""
        values = np.full((SIZE + 1, SIZE + 1), np.nan)
        values[self.i, self.j] = self.values[name]
        return values

    @property
    def both_late(self) -> NDArray[np.bool_]:
        """A mask of the pairs whose ranks are both greater than K."""
        return self.j > HORIZON


@cache
def rank_pairs() -> RankPairs:
    """Score all pairs: Rank(i) from 2 to N, and for each Rank(j) from 1 to Rank(i) − 1."""
    ranks = np.array([(j, i) for i in LATER_RANKS for j in range(1, i)])
    values = {name: _measured(name, ranks) for name in ("1-AP", "NMRR", "MNRO")}
    return RankPairs(ranks[:, 1], ranks[:, 0], values)


def lower_curve(name: str) -> Values:
    """Return a measure for Rank(i) = 2 … N with the other image at 1."""
    curve: Values = rank_pairs().grid(name)[2:, 1]
    return curve


def upper_curve(name: str) -> Values:
    """Return a measure for Rank(i) = 2 … N with the other image just before it."""
    later = np.array(LATER_RANKS)
    curve: Values = rank_pairs().grid(name)[later, later - 1]
    return curve


def move_gains(name: str, last: int = SIZE) -> Values:
    """Return what a measure gains by each move of an item one rank back, within ``last``."""
    grid = rank_pairs().grid(name)[: last + 1, : last + 1]
    gains: Values = np.concatenate([np.diff(grid, axis=axis).ravel() for axis in (0, 1)])
    return np.extract(~np.isnan(gains), gains)


@cache
def mnro_by_share(size: int) -> dict[int, float]:
    """Return thousandths of the collection → MNRO there, where that is a whole rank."""
    ranks = {unit: size * unit // 1000 for unit in THOUSANDTHS if size * unit % 1000 == 0}
    values = mnro(np.array([[rank] for rank in ranks.values()]), size)
    return dict(zip(ranks, values.tolist(), strict=True))


def largest_gap(sizes: tuple[int, ...]) -> float:
    """Return the largest difference in MNRO between collections at the same share of each."""
    shared = set.intersection(*(set(mnro_by_share(size)) for size in sizes))
    levels: Values = np.array([[mnro_by_share(size)[unit] for unit in shared] for size in sizes])
    return float(np.ptp(levels, axis=0).max())
