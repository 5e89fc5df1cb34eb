"""Curves of runs over positions and recall: means over queries, as graphs show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from survey.core.collections.runs import GroundTruth, Runs, lists_of, ranking
from survey.core.measures.precision import interpolated_precision
from survey.core.measures.subtopics import first_ranks, s_precision

Table = NDArray[np.float64]

ALL_UP_TO = 20  # positions, of which each has a point; later ones in equal steps of a logarithm
LATER_POINTS = 80
S_RECALL_LEVELS = [Fraction(tenth, 10) for tenth in range(1, 11)]


@dataclass(frozen=True)
class RunCurves:
    """The curves of a run, means over the queries.

    ``at_recall`` (11,): interpolated precision at recall 0, .1, … 1. ``precision``, ``recall``,
    ``fallout``, ``s_recall`` (positions,): of the first k documents; fallout is the share of the
    irrelevant documents that came back, None where the collection's size is not known, as
    S-recall is without clusters, and ``s_precision`` (10,): at S-recall .1, .2, … 1.
    ``r_precision`` (queries,): precision at k = NG, where it equals recall.
    """

    at_recall: Table
    precision: Table
    recall: Table
    fallout: Table | None
    s_recall: Table | None
    s_precision: Table | None
    r_precision: Table


@dataclass(frozen=True)
class Curves:
    """The curves of all runs; ``positions``: the k of their points; ``relevant``: NG by query."""

    queries: tuple[str, ...]
    positions: tuple[int, ...]
    relevant: tuple[int, ...]
    collection_size: int | None
    runs: Mapping[str, RunCurves]


def curves_of(
    truth: GroundTruth, runs: Runs, queries: Sequence[str], collection_size: int | None = None
) -> Curves:
    """Compute the curves of runs over the queries of their evaluation.

    Fallout is the mean over the queries that have irrelevant documents, S-recall and S-precision
    over those with a relevant document in a cluster. Beyond the end of a list nothing comes back.

    Source: MNRO paper, Section 2 (A_k relevant, B_k irrelevant among the first k).
    """
    longest = max(len(run.get(topic, ())) for run in runs.values() for topic in queries)
    positions = _positions(longest)
    clustered = [topic for topic in queries if truth.has_cluster(topic)]
    irrelevant = {topic: (collection_size or 0) - len(truth.relevant(topic)) for topic in queries}
    shape = (len(queries), len(runs))
    at_recall, r_precision = np.zeros((*shape, 11)), np.zeros(shape)
    s_at_recall = np.zeros((*shape, len(S_RECALL_LEVELS)))
    precision, recall, fallout, s_recall = (np.zeros((*shape, len(positions))) for _ in range(4))
    for place, topic in enumerate(queries):
        orders = [ranking(run.get(topic, {})) for run in runs.values()]
        lists = lists_of(truth, topic, orders)
        relevant = lists.ranks.shape[1]
        at_recall[place] = interpolated_precision(lists.ranks)
        r_precision[place] = (lists.ranks <= relevant).mean(axis=1)
        if lists.clusters is not None and topic in clustered:
            for place_of_level, level in enumerate(S_RECALL_LEVELS):
                at_level = s_precision(lists.ranks, lists.clusters, level)
                s_at_recall[place, :, place_of_level] = at_level
        for number, (row, order) in enumerate(zip(lists.ranks, orders, strict=True)):
            counts = np.searchsorted(row, positions, side="right")
            precision[place, number] = counts / positions
            recall[place, number] = counts / relevant
            wrong = np.minimum(positions, len(order)) - counts
            fallout[place, number] = wrong / max(1, irrelevant[topic])
            if lists.clusters is not None and topic in clustered:
                firsts = sorted(first_ranks(row, lists.clusters[number]))
                covered = np.searchsorted(firsts, positions, side="right")
                s_recall[place, number] = covered / len(firsts)
    with_irrelevant = [place for place, topic in enumerate(queries) if irrelevant[topic] > 0]
    with_clusters = [place for place, topic in enumerate(queries) if topic in clustered]
    return Curves(
        queries=tuple(queries),
        positions=tuple(positions.tolist()),
        relevant=tuple(len(truth.relevant(topic)) for topic in queries),
        collection_size=collection_size,
        runs={
            name: RunCurves(
                at_recall=at_recall[:, number].mean(axis=0),
                precision=precision[:, number].mean(axis=0),
                recall=recall[:, number].mean(axis=0),
                fallout=_mean(fallout[with_irrelevant, number]),
                s_recall=_mean(s_recall[with_clusters, number]),
                s_precision=_mean(s_at_recall[with_clusters, number]),
                r_precision=r_precision[:, number],
            )
            for number, name in enumerate(runs)
        },
    )


def _positions(longest: int) -> NDArray[np.int64]:
    early = np.arange(1, min(longest, ALL_UP_TO) + 1)
    if longest <= ALL_UP_TO:
        return early
    later = np.geomspace(ALL_UP_TO, longest, LATER_POINTS).round().astype(np.int64)
    return np.union1d(early, later)


def _mean(values: Table) -> Table | None:
    return values.mean(axis=0) if len(values) else None
