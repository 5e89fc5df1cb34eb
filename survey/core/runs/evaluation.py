"""Runs scored with measures, query by query."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from survey.core.file_lines import FaultyFilesError, shortened, stop_if_any
from survey.core.measures import Lists, Measure, Setting, Values
from survey.core.runs.checks import faults_of, notes_of
from survey.core.runs.lists import GroundTruth, lists_of
from survey.core.runs.ranking import ranking
from survey.core.runs.reading import Runs


@dataclass(frozen=True)
class Evaluation:
    """What runs scored.

    ``queries``: the topics that count; ``values``: run → measure → its value for each
    query, in their order. ``setting``: what the measures knew beside the lists. ``notes``:
    what was left out, a sentence each.
    """

    queries: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Mapping[str, Mapping[str, Values]]
    setting: Setting
    notes: tuple[str, ...] = ()

    def mean(self, run: str, measure: str) -> float:
        """Return the mean over queries: MAP for AP, ANMRR for NMRR."""
        return float(self.values[run][measure].mean())


def queries_of(truth: GroundTruth, runs: Runs, measures: Iterable[Measure]) -> tuple[str, ...]:
    """Return the topics that count: with a relevant document, and returned by some run.

    Where a measure needs clusters, one of the relevant documents has one; so all measures
    are averaged over the same queries.
    """
    clustered = any("clusters" in measure.needs for measure in measures)
    return tuple(
        topic
        for topic in truth.judgements
        if truth.relevant(topic)
        and any(run.get(topic) for run in runs.values())
        and (not clustered or truth.has_cluster(topic))
    )


def evaluate(
    truth: GroundTruth,
    runs: Runs,
    measures: Sequence[Measure],
    *,
    collection_size: int | None = None,
    gmt: int | Literal["max"] | None = None,
    literal_eq15: bool = False,
    on_topic: Callable[[], object] = lambda: None,
) -> Evaluation:
    """Score each run with each measure for each query.

    Queries are the topics with a relevant document for which some run returned anything.
    A run that returned nothing for one is scored as having retrieved nothing, as trec_eval
    does with -c; so all runs are averaged over the same queries. Other topics are left
    out, and the notes say so.

    ``collection_size``: None where no measure needs it; with it, every run must fit in.
    ``gmt``: see ``Setting``; "max" takes the largest number of relevant documents of these
    queries. ``on_topic`` is called after each query.

    Raises FaultyFilesError when there are no queries, a run does not fit into the
    collection, a relevant document has no weight where there are weights, GMT is below a
    query's number of relevant documents, or a measure gives anything but a number.
    """
    queries = queries_of(truth, runs, measures)
    most = max((len(truth.relevant(topic)) for topic in queries), default=None)
    gmt = most if gmt == "max" else gmt
    stop_if_any([*faults_of(truth, runs, queries, measures, collection_size, gmt)])
    # Without a collection size no measure reads it: each that does says so in ``needs``.
    size = Setting.collection_size if collection_size is None else collection_size
    setting = Setting(size, gmt, literal_eq15)
    scored = np.empty((len(runs), len(measures), len(queries)))
    for place, topic in enumerate(queries):
        orders = [ranking(run.get(topic, {})) for run in runs.values()]
        scored[:, :, place] = _scores(lists_of(truth, topic, orders), measures, setting, topic)
        on_topic()
    names = [measure.name for measure in measures]
    values = {
        run: dict(zip(names, rows, strict=True)) for run, rows in zip(runs, scored, strict=True)
    }
    return Evaluation(
        queries, tuple(measures), values, setting, tuple(notes_of(truth, runs, queries, measures))
    )


def _scores(
    lists: Lists, measures: Sequence[Measure], setting: Setting, topic: str
) -> NDArray[np.float64]:
    """Return a topic's values: (runs, measures)."""
    columns = []
    for measure in measures:
        found = np.asarray(measure.compute(lists, setting), dtype=np.float64)
        if found.shape != (len(lists.ranks),) or not np.isfinite(found).all():
            raise FaultyFilesError(
                [
                    f"topic {shortened(topic)}: {measure.name} gave {found.tolist()}; a number for "
                    "each run is needed"
                ]
            )
        columns.append(found)
    return np.column_stack(columns)
