"""Measures of diversity: how many sub-topics a ranked list covers, and how early."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, log2

import numpy as np

from survey.core.measures.lists import Clusters, Ranks, Values

# Up to this many (different item, sub-topic) pairs the cover is computed exactly, in less than
# a second. ImageCLEF's largest numbers, 184 images and 23 clusters, are below even together.
MOST_EXACT = 5_000

NO_SUBTOPIC = "none of a list's relevant items has a sub-topic; at least one needs one"


def s_recall(ranks: Ranks, clusters: Clusters, cutoff: int) -> Values:
    """Compute S-recall at K = |∪_{i≤K} subtopics(d_i)| / n_A, the share of sub-topics covered.

    ``ranks``: (lists, relevant), an item that was not retrieved at infinity; ``clusters``:
    each item's sub-topics; ``cutoff``: K ≥ 1. n_A counts the sub-topics of all relevant
    items of the list, retrieved or not. Returns (lists,) in [0, 1], higher is better.

    Raises ValueError for a list whose items have no sub-topic at all.

    Source: ImageCLEF 2008 diversity paper, Section 5 (Zhai et al. 2003); its "cluster recall".
    """
    firsts = [first_ranks(*row) for row in zip(ranks, clusters, strict=True)]
    return np.array([sum(rank <= cutoff for rank in first) / len(first) for first in firsts])


def s_precision(ranks: Ranks, clusters: Clusters, level: Fraction) -> Values:
    """Compute S-precision at r = MinRank(S_opt, r) / MinRank(S, r).

    MinRank(S, r) is the first position at which the list has an S-recall of r or more;
    MinRank(S_opt, r) that of the best possible order, the fewest items with ⌈r n_A⌉
    sub-topics: a minimum set cover, see ``smallest_cover`` for when it is exact and when a
    greedy bound. Arguments as for ``s_recall``; ``level``: 0 < r ≤ 1. Returns (lists,) in
    [0, 1], higher is better; 0 where the level is never reached.

    Source: ImageCLEF 2008 diversity paper, Section 5 (Zhai et al. 2003).
    """
    values = []
    for row, items in zip(ranks, clusters, strict=True):
        firsts = sorted(first_ranks(row, items))
        needed = ceil(level * len(firsts))
        best = smallest_cover(frozenset(items), needed)
        # A greedy bound may be larger than what the list itself needed.
        values.append(min(1.0, best / firsts[needed - 1]))
    return np.array(values)


def alpha_ndcg(ranks: Ranks, clusters: Clusters, cutoff: int, alpha: float) -> Values:
    """Compute α-nDCG@k = α-DCG@k / α-DCG@k of a greedy ideal list.

    α-DCG@k = Σ_{r≤k} Σ_t (1 − α)^c / log2(r + 1), over the sub-topics t of the item at r, c
    counting the items above r that have t as well. So a second item of a sub-topic gains less
    than the first of another: 10 and 10 of two sub-topics beat 19 and 1.

    Finding the ideal list is NP-hard, so each next item of it is the one that gains most,
    as in the source; among equals, the one whose sub-topics' names come last (ndeval: whose
    own name does). Where items have several sub-topics, a list can gain more than the greedy
    ideal; its value is 1.

    ``ranks``, ``clusters``, ``cutoff``: see ``s_recall``; ``alpha``: 0 < α < 1. Returns
    (lists,) in [0, 1], higher is better; 0 where no item with a sub-topic is among the first k.

    Raises ValueError for a list whose items have no sub-topic at all.

    Source: Clarke et al. 2008; TREC's ndeval.
    """
    values = []
    for row, items in zip(ranks.tolist(), clusters, strict=True):
        if not any(items):
            raise ValueError(NO_SUBTOPIC)
        named = [tuple(sorted(topics)) for topics in items]
        ranked = [(rank, topics) for rank, topics in zip(row, named, strict=True) if rank <= cutoff]
        gain = _novelty_gain(ranked, alpha)
        values.append(min(1.0, gain / _greedy_gain(tuple(sorted(named)), cutoff, alpha)))
    return np.array(values)


def _novelty_gain(ranked: Iterable[tuple[float, tuple[str, ...]]], alpha: float) -> float:
    """Return the α-DCG of (rank, sub-topics), in the order of ranks."""
    seen: Counter[str] = Counter()
    total = 0.0
    for rank, topics in ranked:
        total += sum((1 - alpha) ** seen[topic] for topic in topics) / log2(rank + 1)
        seen.update(topics)
    return total


@lru_cache(maxsize=4096)
def _greedy_gain(items: tuple[tuple[str, ...], ...], cutoff: int, alpha: float) -> float:
    """Return the α-DCG@k of the items in the order in which each next one gains most."""
    left, seen = Counter(items), Counter[str]()
    order = []
    for rank in range(1, min(cutoff, len(items)) + 1):
        gains = [(sum((1 - alpha) ** seen[name] for name in topics), topics) for topics in left]
        # Rounded, since equal gains may differ in the last digit of a float.
        best = max((round(gain, 12), topics) for gain, topics in gains)[1]
        left -= Counter([best])
        seen.update(best)
        order.append((rank, best))
    return _novelty_gain(order, alpha)


def first_ranks(ranks: Ranks, items: Sequence[frozenset[str]]) -> list[float]:
    """Return the position of each sub-topic's first item."""
    firsts: dict[str, float] = {}
    for rank, topics in zip(ranks.tolist(), items, strict=True):
        for topic in topics:
            firsts[topic] = min(rank, firsts.get(topic, np.inf))
    if not firsts:
        raise ValueError(NO_SUBTOPIC)
    return list(firsts.values())


@lru_cache(maxsize=4096)
def smallest_cover(items: frozenset[frozenset[str]], needed: int) -> int:
    """Return the least number of items that together have ``needed`` sub-topics.

    This is partial minimum set cover. ``items``: the sub-topics of each item, items with the
    same sub-topics once. Exact by mixed integer programming (SciPy's HiGHS) up to MOST_EXACT
    pairs (``is_exact``); beyond, an upper bound: the greedy cover, which takes at most
    H(d) = 1 + 1/2 + … + 1/d times as many, d being the sub-topics of the largest item.

    Raises ValueError when all items together have fewer.
    """
    topics = sorted(frozenset().union(*items))
    if needed > len(topics):
        raise ValueError(f"{len(topics)} sub-topics found; {needed} cannot be covered")
    useful = _largest(items)
    if all(len(item) == 1 for item in useful):
        return needed
    return _exact(useful, topics, needed) if is_exact(items) else _greedy(useful, needed)


def is_exact(items: frozenset[frozenset[str]]) -> bool:
    """Return whether ``smallest_cover`` of these items is exact, and not a greedy bound."""
    useful = _largest(items)
    topics = frozenset().union(*useful)
    return all(len(item) == 1 for item in useful) or len(useful) * len(topics) <= MOST_EXACT


def _largest(items: frozenset[frozenset[str]]) -> list[frozenset[str]]:
    """Return the items without those whose sub-topics are all in another item that has more."""
    return [item for item in items if item and not any(item < other for other in items)]


def _exact(items: Collection[frozenset[str]], topics: list[str], needed: int) -> int:
    """Minimise Σ x_i where a sub-topic counts, y_t ≤ Σ x_i over its items, and Σ y_t ≥ needed."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    has = np.array([[topic in item for item in items] for topic in topics], dtype=float)
    counted = np.hstack([has, -np.eye(len(topics))])
    enough = np.concatenate([np.zeros(len(items)), np.ones(len(topics))])
    solution = milp(
        np.concatenate([np.ones(len(items)), np.zeros(len(topics))]),
        integrality=np.ones(len(items) + len(topics), dtype=int),
        bounds=Bounds(0, 1),
        constraints=[LinearConstraint(counted, lb=0), LinearConstraint(enough, lb=needed)],
    )
    if solution.fun is None:
        raise ArithmeticError(f"no smallest cover found: {solution.message}")
    return round(solution.fun)


def _greedy(items: Collection[frozenset[str]], needed: int) -> int:
    covered: set[str] = set()
    taken = 0
    while len(covered) < needed:
        covered |= max(items, key=lambda item: (len(item - covered), sorted(item)))
        taken += 1
    return taken
