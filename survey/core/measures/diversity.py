"""How many of a query's sub-topics a ranked list brings, and how early."""

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from survey.core.measures.covering import smallest_cover
from survey.core.measures.ranks import Ranks, Values

Clusters = Sequence[Sequence[frozenset[str]]]
"""For each list the sub-topics of each relevant item, in the order of its ranks; an item
may have several, or none (one that nobody could place)."""


def s_recall(ranks: Ranks, clusters: Clusters, cutoff: int) -> Values:
    """S-recall at K = |∪_{i≤K} subtopics(d_i)| / n_A, the share of sub-topics among the first K.

    ``ranks``: (lists, relevant), an item that did not come back at infinity; ``clusters``:
    each item's sub-topics; ``cutoff``: K ≥ 1. n_A counts the sub-topics of all relevant
    items of the list, found or not. Returns (lists,) in [0, 1], higher is better.

    Raises ValueError for a list whose items have no sub-topic at all.

    Source: ImageCLEF 2008 diversity paper, Section 5 (Zhai et al. 2003); its "cluster recall".
    """
    firsts = [_first_ranks(*row) for row in zip(ranks, clusters, strict=True)]
    return np.array([sum(rank <= cutoff for rank in first) / len(first) for first in firsts])


def s_precision(ranks: Ranks, clusters: Clusters, level: Fraction) -> Values:
    """S-precision at r = MinRank(S_opt, r) / MinRank(S, r).

    MinRank(S, r) is the first position at which the list has an S-recall of r or more;
    MinRank(S_opt, r) that of the best possible order, the fewest items with ⌈r n_A⌉
    sub-topics: a minimum set cover, see ``smallest_cover`` for when it is exact and when a
    greedy bound. Arguments as for ``s_recall``; ``level``: 0 < r ≤ 1. Returns (lists,) in
    [0, 1], higher is better; 0 where the level is never reached.

    Source: ImageCLEF 2008 diversity paper, Section 5 (Zhai et al. 2003).
    """
    values = []
    for row, items in zip(ranks, clusters, strict=True):
        firsts = sorted(_first_ranks(row, items))
        needed = ceil(level * len(firsts))
        best = smallest_cover(frozenset(items), needed).items
        # A greedy bound may lie above what the list itself needed.
        values.append(min(1.0, best / firsts[needed - 1]))
    return np.array(values)


def _first_ranks(ranks: Ranks, items: Sequence[frozenset[str]]) -> list[float]:
    """Return the position at which each sub-topic of a list comes first."""
    firsts: dict[str, float] = {}
    for rank, topics in zip(ranks.tolist(), items, strict=True):
        for topic in topics:
            firsts[topic] = min(rank, firsts.get(topic, np.inf))
    if not firsts:
        raise ValueError("none of a list's relevant items has a sub-topic; at least one needs one")
    return list(firsts.values())
