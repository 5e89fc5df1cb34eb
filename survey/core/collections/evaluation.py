"""What keeps runs from being scored, and what was left out of their scores.

Runs scored with measures, query by query.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from survey.core.collections.runs import GroundTruth, Run, Runs, lists_of, ranking
from survey.core.file_lines import FaultyFilesError, shortened, stop_if_any
from survey.core.measures import Lists, Measure, Setting, Values
from survey.core.measures.subtopics import is_exact

# MiAlbum takes whatever somebody chose as relevant.
MERGE = " `survey assess merge --at-least 1` takes what anybody chose as relevant."
MOST_NAMED = 5  # topics that a sentence lists by name


def faults_of(
    truth: GroundTruth,
    runs: Runs,
    queries: Sequence[str],
    measures: Iterable[Measure],
    collection_size: int | None,
    gmt: int | None,
) -> Iterator[str]:
    """Yield a sentence for everything that keeps these runs from being scored."""
    names = {measure.name for measure in measures}
    capped = None if names.isdisjoint(("NMRR", "gNMRR")) else gmt
    if not queries:
        yield "no topic has a relevant document and is returned by a run; 1 is needed"
    for topic in queries:
        relevant = truth.relevant(topic)
        where = f"topic {shortened(topic)}"
        if capped is not None and capped < len(relevant):
            yield (
                f"{where}: {len(relevant)} relevant documents found, and GMT is {capped}; GMT is "
                "the largest such number over all queries"
            )
        yield from _about_weights(where, truth, topic, relevant)
        if collection_size is not None:
            for name, run in runs.items():
                yield from _about_size(where, name, run, topic, relevant, collection_size)


def _about_weights(
    where: str, truth: GroundTruth, topic: str, relevant: Sequence[str]
) -> Iterator[str]:
    if truth.weights is None:
        return
    known = truth.weights.get(topic, {})
    for document in relevant:
        if document not in known:
            yield f"{where}: relevant document {shortened(document)} has no weight; each needs one"


def _about_size(
    where: str, name: str, run: Run, topic: str, relevant: Sequence[str], collection_size: int
) -> Iterator[str]:
    returned = run.get(topic, {})
    missing = sum(document not in returned for document in relevant)
    if len(returned) + missing > collection_size:
        also = f" and {missing} relevant ones missing" if missing else ""
        yield (
            f"{where}, run {name}: {len(returned)} documents found{also}; the collection size is "
            f"{collection_size}, and {len(returned) + missing} at least is needed"
        )


def notes_of(
    truth: GroundTruth, runs: Runs, queries: Sequence[str], measures: Iterable[Measure]
) -> Iterator[str]:
    """Yield a sentence for what was left out, counted as not retrieved, or only bounded."""
    counted = frozenset(queries)
    judged = [topic for topic in truth.judgements if topic not in counted]
    relevant = [topic for topic in judged if truth.relevant(topic)]
    found = [topic for topic in relevant if any(run.get(topic) for run in runs.values())]
    yield from _left_out(
        [topic for topic in judged if topic not in relevant], "without a relevant document"
    )
    yield from _left_out(
        [topic for topic in relevant if topic not in found], "that no run returned anything for"
    )
    yield from _left_out(found, "without a relevant document in a cluster")
    yield from _unread(truth, queries)
    returned = dict.fromkeys(topic for run in runs.values() for topic in run)
    yield from _left_out(
        [topic for topic in returned if topic not in truth.judgements], "that nobody judged"
    )
    for name, run in runs.items():
        if missing := [topic for topic in queries if not run.get(topic)]:
            yield (
                f"Run {name} returned nothing for {_topics(missing)}; scored as having retrieved "
                "nothing."
            )

    if any(measure.name.startswith("S-precision@") for measure in measures):
        yield from _bounded([topic for topic in queries if not is_exact(_items(truth, topic))])


def _unread(truth: GroundTruth, queries: Sequence[str]) -> Iterator[str]:
    """Say how many documents of weights and clusters are not relevant."""
    for what, known, advice in (
        ("weights", truth.weights, MERGE),
        ("clusters", truth.clusters, ""),
    ):
        named = [known.get(topic, {}).keys() for topic in queries] if known else []
        strange = sum(
            len(documents - {*truth.relevant(topic)})
            for topic, documents in zip(queries, named, strict=False)
        )
        if strange:
            yield (
                f"{strange} of {sum(map(len, named))} documents in the {what} are not relevant in "
                f"the judgements, so they count for nothing.{advice}"
            )


def _items(truth: GroundTruth, topic: str) -> frozenset[frozenset[str]]:
    known = (truth.clusters or {}).get(topic, {})
    return frozenset(known.get(document, frozenset()) for document in truth.relevant(topic))


def _bounded(topics: Sequence[str]) -> Iterator[str]:
    if topics:
        yield (
            f"S-precision of {_topics(topics)} rests on a greedy cover, which may take more "
            "documents than the smallest; these are too many for an exact one."
        )


def _left_out(topics: Sequence[str], why: str) -> Iterator[str]:
    if topics:
        yield f"Left out: {_topics(topics)} {why}."


def _topics(topics: Sequence[str]) -> str:
    named = ", ".join(topics[:MOST_NAMED])
    more = ", …" if len(topics) > MOST_NAMED else ""
    return f"{len(topics)} topic{'' if len(topics) == 1 else 's'} ({named}{more})"


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
