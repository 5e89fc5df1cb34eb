"""Measures that are sums over the positions: what each relevant item brings at its rank."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.ranks import Ranks, Values

Places = NDArray[np.int64]
"""Which relevant item it is: 1 for the first of a list, 2 for the second, …"""


@dataclass(frozen=True)
class RankSum:
    """A measure of the form whole(Σ_i part(i, r_i)), of lists with a known NG.

    ``part``: (places, ranks) → what the i-th relevant item brings at rank r_i; places and
    ranks are of equal shape, or are broadcast to one. ``whole``: such sums (lists,) → the
    measure's values (lists,).

    A part knows one rank only, so that the parts of all ranks fit in a table: ``tables``
    scores many lists that way. ``whole`` comes after the sum, so that a sum of whole
    numbers is exact in any order, and lists that tie do so either way.
    """

    part: Callable[[Places, Ranks], NDArray[Any]]
    whole: Callable[[NDArray[Any]], Values]

    def of(self, ranks: Ranks) -> Values:
        """Return the value of each list; ``ranks``: (lists, relevant) from ``as_ranks``."""
        places = np.arange(1, ranks.shape[1] + 1)
        return np.asarray(self.whole(self.part(places, ranks).sum(axis=1)))
