"""What keeps runs from being scored, and what was left out of their scores."""

from collections.abc import Iterable, Iterator, Sequence

from survey.core.file_lines import shortened
from survey.core.measures import Measure
from survey.core.measures.covering import is_exact
from survey.core.runs.lists import GroundTruth
from survey.core.runs.reading import Run, Runs

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
