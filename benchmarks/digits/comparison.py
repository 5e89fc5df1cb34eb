"""Section 5.4 in small: many descriptors, three measures; do these order them alike?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.stats import kendalltau, rankdata

from benchmarks.digits.descriptors import FLOOR, Describe, Features
from benchmarks.digits.resampling import Interval, Weights, middle, resampled, stream
from benchmarks.digits.retrieval import (
    COLUMNS,
    Digits,
    Whole,
    column,
    distances,
    equally_often,
    nested_ranks,
    values,
)
from survey.core.collections.evaluation import LEVELS, why_none
from survey.core.measures import Values, measure_named
from survey.core.statistics.significance import bootstrap_p

QUERIES_PER_DIGIT = 10
RESAMPLES = 9_999
RESAMPLED_ORDERS = 500  # of them, for tau-b, which takes longer
COMPARED = ("AP", "NMRR", "MNRO")


@dataclass(frozen=True)
class Split:
    """Queries (places of images), and a collection without them, in random order."""

    queries: Whole
    collection: Whole


def hold_out(labels: Whole, each: int, chance: Generator) -> Split:
    """Take ``each`` images of every digit as queries; the rest is the collection."""
    shuffled = chance.permutation(len(labels))
    taken = equally_often(labels[shuffled], each, np.unique(labels).tolist())
    return Split(shuffled[taken], np.delete(shuffled, taken))


def evaluate(features: Features, labels: Whole, split: Split) -> Values:
    """Rank the collection for each query and return the values (queries, columns).

    Relevant is what shows the same digit. Digits have unequally many images, so lists are
    scored digit by digit.
    """
    found = np.empty((len(split.queries), len(COLUMNS)))
    for digit in np.unique(labels[split.queries]):
        rows = np.flatnonzero(labels[split.queries] == digit)
        apart = distances(features[split.queries[rows]], features[split.collection])
        relevant = np.broadcast_to(labels[split.collection] == digit, apart.shape)
        since = np.zeros(len(split.collection), dtype=np.int64)
        ranks = nested_ranks(apart, relevant, since, 1)[0]
        found[rows] = values(ranks, len(split.collection))
    return found


@dataclass(frozen=True)
class Comparison:
    """``found`` (descriptors, queries, columns): the values of every query.

    ``relevant``: the fewest and the most relevant images of a query; ``collection``: N.
    ``seed`` of the resampling; all that is asked of queries is asked of the same
    resamples, so that differences are paired.
    """

    names: tuple[str, ...]
    found: NDArray[np.float64]
    relevant: tuple[int, int]
    collection: int
    seed: int
    resamples: int = RESAMPLES

    def of(self, measure: str) -> NDArray[np.float64]:
        """The values (descriptors, queries) of one measure."""
        return np.asarray(self.found[:, :, column(measure)])

    def mean(self, measure: str) -> Values:
        """The means over queries: (descriptors,)."""
        return np.asarray(self.of(measure).mean(axis=1))

    @cached_property
    def weights(self) -> Weights:
        """The resampled queries."""
        return resampled(self.found.shape[1], self.resamples, stream(self.seed, 1))

    def interval(self, measure: str, place: int) -> Interval:
        """The 95 % percentile bootstrap interval, over queries, of a descriptor's mean."""
        return middle(self.of(measure)[place] @ self.weights)

    def ranks(self, measure: str) -> Values:
        """The descriptors' ranks (descriptors,) by a measure, 1 for the best."""
        return np.asarray(rankdata(goodness(measure, self.mean(measure)), method="min"))

    def tau(self, one: str, other: str) -> tuple[float, Interval]:
        """Kendall's tau-b between the orders by two measures' means, with its interval.

        The random order is left out: every measure puts it last. The interval is that of
        resampled queries, for these descriptors.
        """
        found = [goodness(name, self.of(name)[self.apart_from_floor]) for name in (one, other)]
        drawn = [(each @ self.weights[:, :RESAMPLED_ORDERS]).T for each in found]
        taus = [kendalltau(a, b).statistic for a, b in zip(*drawn, strict=True)]
        return float(kendalltau(*(each.mean(axis=1) for each in found)).statistic), middle(taus)

    @property
    def apart_from_floor(self) -> list[int]:
        """The places of all descriptors but the random order."""
        return [place for place, name in enumerate(self.names) if name != FLOOR]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of descriptors but the random order, the better by MAP first."""
        return list(combinations(self.apart_from_floor, 2))

    def disagree(self, one: str, other: str) -> list[tuple[int, int]]:
        """Return the pairs of descriptors that two measures order differently."""
        first, second = self.ranks(one), self.ranks(other)
        return [
            (a, b) for a, b in self.pairs if (first[a] - first[b]) * (second[a] - second[b]) < 0
        ]

    def stars(self, measure: str, one: int, other: int) -> str:
        """Mark how surely two descriptors differ in the direction seen, as in Table 8.

        The p values are those of `survey evaluate`, see ``bootstrap_p``; the side is the one
        seen, so that either descriptor may be the better one.
        """
        p = self._p_values[measure].get((one, other), 1.0)
        return "*" * sum(p <= level for level in LEVELS)

    @cached_property
    def _p_values(self) -> dict[str, dict[tuple[int, int], float]]:
        """Measure → pair of descriptors that differ → p, all pairs on the same resamples."""
        tested = {}
        for measure in COMPARED:
            found = self.of(measure)
            apart = {
                (a, b): found[a] - found[b]
                for a, b in combinations(range(len(self.names)), 2)
                if why_none(found[a] - found[b]) is None
            }
            seen = [each * np.sign(each.mean()) for each in apart.values()]
            ps = bootstrap_p(np.array(seen).T, self.resamples, self.seed) if seen else np.empty(0)
            tested[measure] = {pair: float(p) for pair, p in zip(apart, ps, strict=True)}
        return tested


def goodness(measure: str, means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn a measure's values so that less is better, for any direction of the measure."""
    return means if measure_named(measure).better == "lower" else -means


def compare(
    digits: Digits,
    descriptors: Mapping[str, Describe],
    *,
    seed: int,
    on_done: Callable[[], object] = lambda: None,
) -> Comparison:
    """Hold out queries and evaluate every descriptor on them; the best MAP comes first."""
    split = hold_out(digits.labels, QUERIES_PER_DIGIT, stream(seed, 0))
    found = []
    for describe in descriptors.values():
        found.append(evaluate(describe(digits.images), digits.labels, split))
        on_done()
    order = np.argsort([-each[:, column("AP")].mean() for each in found], kind="stable")
    names = list(descriptors)
    counts = np.bincount(digits.labels[split.collection])
    return Comparison(
        tuple(names[place] for place in order),
        np.stack([found[place] for place in order]),
        (int(counts.min()), int(counts.max())),
        len(split.collection),
        seed,
    )
