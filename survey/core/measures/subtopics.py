"""Measures of diversity: how many sub-topics a ranked list covers, and how early."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, log2

import numpy as np
from numpy.typing import NDArray

from survey.core.measures.gain import first_stops
from survey.core.measures.lists import Clusters, Grades, Ranks, Values

# Up to this many (different item, sub-topic) pairs the cover is computed exactly, in less than
# a second. ImageCLEF's largest numbers, 184 images and 23 clusters, are below even together.
MOST_EXACT = 5_000

Discounted = Callable[[float, float], float]
"""A gain and the rank at which it is made → what it is worth."""

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


def _novelty_gain(
    ranked: Iterable[tuple[float, Collection[str]]],
    alpha: float,
    discounted: Discounted = lambda gain, rank: gain / log2(rank + 1),
) -> float:
    """Return the sum of discounted (1 − α)^c of (rank, sub-topics) in order; α-DCG by default."""
    seen: Counter[str] = Counter()
    total = 0.0
    for rank, topics in ranked:
        total += discounted(sum((1 - alpha) ** seen[topic] for topic in topics), rank)
        seen.update(topics)
    return total


def intent_aware_reciprocal_rank(ranks: Ranks, clusters: Clusters, cutoff: int) -> Values:
    """Compute ERR-IA@k = Σ_{r≤k} Σ_t 2^−c / r, divided by n Σ_{i≤k} 2^−(i − 1) / i.

    t are the sub-topics of the item at r, c counts the items above r that have t as well, n all
    sub-topics. Arguments and errors as for ``s_recall``. Returns (lists,) in [0, 1], higher is
    better; 0 where no item with a sub-topic is among the first k.

    Source: Chapelle et al. 2009; the divisor: Clarke et al. 2011; TREC's ndeval.
    """
    # Terms beyond the thousandth are 0 as floats.
    most = sum(0.5 ** (rank - 1) / rank for rank in range(1, min(cutoff, 1000) + 1))
    return (
        _novelty_mean(ranks, clusters, 0.5, lambda gain, rank: gain * (rank <= cutoff) / rank)
        / most
    )


def novelty_rank_biased_precision(
    ranks: Ranks, clusters: Clusters, alpha: float, beta: float
) -> Values:
    """Compute NRBP = (1 − (1 − α) β) / n × Σ_r Σ_t β^(r − 1) (1 − α)^c.

    t, c and n as in ``intent_aware_reciprocal_rank``; ``ranks``, ``clusters`` and errors as for
    ``s_recall``; ``alpha``, ``beta``: between 0 and 1. Returns (lists,) in [0, 1], higher is
    better; 0 where no item with a sub-topic was retrieved.

    Source: Clarke, Kolla and Vechtomova 2009; TREC's ndeval.
    """
    gains = _novelty_mean(ranks, clusters, alpha, lambda gain, rank: gain * beta ** (rank - 1))
    return np.asarray((1 - (1 - alpha) * beta) * gains)


def _novelty_mean(ranks: Ranks, clusters: Clusters, alpha: float, discounted: Discounted) -> Values:
    """Return each list's gain of novelty divided by the number of its sub-topics."""
    gains = []
    for row, items in zip(ranks.tolist(), clusters, strict=True):
        ranked = zip(row, map(sorted, items), strict=True)  # a sum of floats depends on the order
        gains.append(_novelty_gain(ranked, alpha, discounted) / len(_topics(items)))
    return np.array(gains)


def intent_aware_average_precision(ranks: Ranks, clusters: Clusters) -> Values:
    """Compute AP-IA, the mean over the sub-topics of AP with only its items as relevant.

    Arguments and errors as for ``s_recall``. Returns (lists,) in [0, 1], higher is better; 0
    where no item with a sub-topic was retrieved.

    Source: Agrawal et al. 2009, with equal probabilities of the sub-topics; TREC's ndeval.
    """
    values = []
    for row, owned in zip(ranks, map(_owned, clusters), strict=True):
        earned = np.where(owned, np.cumsum(owned, axis=1) / row, 0.0).sum(axis=1)
        values.append((earned / owned.sum(axis=1)).mean())
    return np.array(values)


def intent_aware_precision(ranks: Ranks, clusters: Clusters, cutoff: int) -> Values:
    """Compute P-IA@k, the mean over the sub-topics of P@k with only its items as relevant.

    Arguments and errors as for ``s_recall``. Returns (lists,) in [0, 1], higher is better; 0
    where no item with a sub-topic is among the first k.

    Source: as of ``intent_aware_average_precision``.
    """
    shares = [
        (owned & (row <= cutoff)).sum() / (cutoff * len(owned))
        for row, owned in zip(ranks, map(_owned, clusters), strict=True)
    ]
    return np.array(shares)


def rank_biased_utility(
    ranks: Ranks,
    clusters: Clusters,
    stops: NDArray[np.float64],
    inspected: NDArray[np.int64],
    persistence: float,
    effort: float,
) -> Values:
    """Compute RBU@k = (1 − p) Σ_{r≤min(k, L)} p^(r − 1) (U_r − e).

    U_r is the mean over the sub-topics of R_r Π_{j<r} (1 − R_j) with only that sub-topic's items.
    ``stops``: (lists, relevant), the items' R (``gain.stop_chances``); ``inspected``: (lists,),
    min(k, L), L being the length of the list; ``persistence``: 0 < p < 1; ``effort``: 0 ≤ e < 1,
    the cost of looking at an item. Other arguments and errors as for ``s_recall``. Returns
    (lists,) in [−e, 1), higher is better; 0 for an empty list.

    Source: Amigó, Spina and Carrillo-de-Albornoz 2018; scale and defaults of the authors' program.
    """
    utilities = []
    for row, stop, last, owned in zip(ranks, stops, inspected, map(_owned, clusters), strict=True):
        chances = first_stops(row, np.where(owned, stop, 0.0), last).mean(axis=0)
        utilities.append((persistence ** (row - 1) * chances).sum())
    return np.asarray(
        (1 - persistence) * np.array(utilities) - effort * (1 - persistence**inspected)
    )


def subtopic_gains(grades: Grades, clusters: Clusters) -> Grades:
    """Return grade × number of sub-topics of each item, the gain of D-nDCG; (lists, relevant).

    Raises ValueError for a list whose items have no sub-topic at all.

    Source: Sakai and Song 2011, with equal probabilities of the sub-topics.
    """
    gains = grades * np.array([[len(item) for item in items] for items in clusters])
    if not gains.any(axis=1).all():
        raise ValueError(NO_SUBTOPIC)
    return np.asarray(gains)


def _owned(items: Sequence[frozenset[str]]) -> NDArray[np.bool_]:
    """Return whether an item has a sub-topic, (sub-topics, relevant)."""
    return np.array([[topic in item for item in items] for topic in _topics(items)])


def _topics(items: Iterable[frozenset[str]]) -> list[str]:
    if topics := sorted(frozenset().union(*items)):
        return topics
    raise ValueError(NO_SUBTOPIC)


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
