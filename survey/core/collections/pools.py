"""Pools: the documents of a topic that people judge, from runs or from a file.

The pool of a topic is the union of the runs' first k documents (Spärck Jones and van Rijsbergen
1975; TREC). It can be split into chunks, each for some annotators.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import ceil

from numpy.random import PCG64

from survey.core.collections.labels import sorted_topics
from survey.core.collections.runs import Runs, ranking

RANDOM, FUSION, LIKENESS = "random", "fusion", "likeness"
ORDERS = {
    RANDOM: "At random, for each annotator anew",
    FUSION: "What many runs return early first (reciprocal ranks)",
    LIKENESS: "What is like the query and the marks first",
}
FUSION_K = 60  # Cormack, Clarke and Büttcher, SIGIR 2009
DEEPEST_POOL = 1_000
MOST_TRIED = 60_000  # exchanges of two annotators, which take half a second

TopicDocuments = Mapping[str, Sequence[str]]
"""Topic → documents."""


@dataclass(frozen=True)
class StudyPool:
    """The pool of each topic, as a plan holds it.

    ``order``: of ORDERS, in which annotators meet the documents. ``depth``: how many first
    documents of each run are in the pool, and ``runs``: these, by the run's name; or
    ``documents``, of a file. ``sources``: (name, SHA-256) of the files.
    """

    order: str = RANDOM
    depth: int | None = None
    runs: Mapping[str, TopicDocuments] = field(default_factory=dict)
    documents: TopicDocuments = field(default_factory=dict)
    sources: tuple[tuple[str, str], ...] = ()

    def __hash__(self) -> int:
        return hash((self.order, self.depth, self.sources))

    @cached_property
    def topics(self) -> list[str]:
        """The topics that have a pool, sorted."""
        named = (self.documents, *self.runs.values())
        return sorted_topics({topic for documents in named for topic in documents})

    def of_topic(self, topic: str) -> list[str]:
        """Return a topic's documents, sorted, so that their order tells nothing."""
        named = (self.documents, *self.runs.values())
        return sorted({document for documents in named for document in documents.get(topic, ())})

    @cached_property
    def pairs(self) -> frozenset[tuple[str, str]]:
        """Each topic with each of its documents."""
        return frozenset(
            (topic, document) for topic in self.topics for document in self.of_topic(topic)
        )

    @cached_property
    def ranks(self) -> dict[str, dict[str, dict[str, int]]]:
        """Topic → document → run → the rank at which the run returned it."""
        ranks: dict[str, dict[str, dict[str, int]]] = {}
        for run, documents in self.runs.items():
            for topic, order in documents.items():
                of_topic = ranks.setdefault(topic, {})
                for rank, document in enumerate(order, 1):
                    of_topic.setdefault(document, {})[run] = rank
        return ranks

    def found_alone(self, run: str | None = None) -> set[tuple[str, str]]:
        """Return the documents, with their topics, that one run alone returned: ``run``, or any."""
        return {
            (topic, document)
            for topic, documents in self.ranks.items()
            for document, by_run in documents.items()
            if len(by_run) == 1 and run in (None, *by_run)
        }

    def fused(self, topic: str, documents: Iterable[str]) -> list[str]:
        """Sort documents by the sum over runs of 1 / (60 + rank), highest first, ties by name."""
        ranks = self.ranks.get(topic, {})

        def key(document: str) -> tuple[float, str]:
            by_run = ranks.get(document, {}).values()
            return -sum(1 / (FUSION_K + rank) for rank in sorted(by_run)), document

        return sorted(documents, key=key)

    @property
    def sentence(self) -> str:
        """How large the pool is, and how much of it one run alone found."""
        sizes = [len(self.of_topic(topic)) for topic in self.topics]
        parts = [counted(len(sizes), "topic")]
        if self.runs:
            parts += [counted(len(self.runs), "run"), f"depth {self.depth}"]
        text = f"{', '.join(parts)}: {counted(sum(sizes), 'document')}"
        few, many = (f"{end(sizes, default=0):,}" for end in (min, max))
        text += f" ({few if few == many else f'{few} to {many}'} a topic)"
        alone = f"; {len(self.found_alone()):,} found by one run alone" if self.runs else ""
        return f"{text}{alone}."


def counted(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def first_documents(
    runs: Runs, depth: int | None, topics: Iterable[str] | None = None
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the first documents of each run for each topic, as trec_eval orders them.

    ``depth``: None for all; ``topics``: None for all that a run has.
    """
    wanted = None if topics is None else {*topics}
    return {
        name: {
            topic: tuple(ranking(run[topic])[:depth])
            for topic in sorted_topics(run)
            if wanted is None or topic in wanted
        }
        for name, run in runs.items()
    }


def by_chance(documents: Iterable[str], seed: int, stream: int = 0) -> list[str]:
    """Return documents in an order of a seed, the same on every machine."""
    listed = sorted(documents)
    numbers = PCG64([seed, stream]).random_raw(len(listed)).tolist()
    return [document for _, document in sorted(zip(numbers, listed, strict=True))]


def at_places(documents: Sequence[str], others: Sequence[str], seed: int) -> list[str]:
    """Return documents with others among them, at random places of a seed."""
    total = len(documents) + len(others)
    numbers = PCG64([seed, 2]).random_raw(total).tolist()
    places = sorted(sorted(range(total), key=lambda place: numbers[place])[: len(others)])
    mixed = [*documents]
    for place, document in zip(places, others, strict=True):
        mixed.insert(place, document)
    return mixed


def split_pool(
    documents: Sequence[str], chunk: int | None, overlap: int, seed: int, stream: int
) -> list[list[str]]:
    """Split a topic's documents at random into chunks of at most ``chunk``, as equal as can be.

    ``overlap``: how many documents are in each chunk. Without ``chunk`` all are one chunk.
    ``stream``: a number of the topic, so that topics are split independently.
    """
    if chunk is None or len(documents) <= chunk:
        return [sorted(documents)]
    mixed = by_chance(documents, seed, stream)
    shared, rest = mixed[:overlap], mixed[overlap:]
    count = ceil(len(rest) / (chunk - overlap))
    return [sorted([*shared, *rest[start::count]]) for start in range(count)]


def assigned_chunks(
    topics: Sequence[str], sizes: Sequence[int], judges: int, annotators: int
) -> tuple[tuple[int, ...], ...]:
    """Assign each chunk to ``judges`` annotators; return each annotator's chunks, by their numbers.

    ``topics``, ``sizes``: of each chunk its topic and its number of documents. All annotators get
    equally many chunks, or one more. An annotator gets one chunk of a topic where that is possible.
    Pairs of annotators share about equally many documents: annotators are exchanged until that no
    longer makes the sum of the squares of what pairs share smaller, or MOST_TRIED were tried.
    """
    shared: Counter[tuple[int, int]] = Counter()
    loads = [0] * annotators
    has_topic: Counter[tuple[int, str]] = Counter()
    members: list[set[int]] = []
    for topic, size in zip(topics, sizes, strict=True):
        chosen: set[int] = set()
        for _ in range(judges):
            best = min(
                (annotator for annotator in range(annotators) if annotator not in chosen),
                key=lambda annotator: (
                    has_topic[annotator, topic],
                    loads[annotator],
                    sum(shared[_pair(annotator, other)] for other in chosen),
                    annotator,
                ),
            )
            for other in chosen:
                shared[_pair(best, other)] += size
            chosen.add(best)
            loads[best] += 1
            has_topic[best, topic] += 1
        members.append(chosen)
    _exchange(members, topics, sizes, shared)
    return tuple(
        tuple(number for number, chosen in enumerate(members, 1) if annotator in chosen)
        for annotator in range(annotators)
    )


def _pair(first: int, second: int) -> tuple[int, int]:
    return (first, second) if first < second else (second, first)


def _exchange(
    members: Sequence[set[int]],
    topics: Sequence[str],
    sizes: Sequence[int],
    shared: Counter[tuple[int, int]],
) -> None:
    """Exchange annotators of two chunks while pairs share more equally many documents by it."""
    held = Counter(
        (annotator, topics[chunk]) for chunk, chosen in enumerate(members) for annotator in chosen
    )
    tried = 0
    exchanged = True
    while exchanged:
        exchanged = False
        for chunks in combinations(range(len(members)), 2):
            for annotators in _exchangeable(members, topics, held, chunks):
                tried += 1
                if tried > MOST_TRIED:
                    return
                changes = _changes(members, sizes, chunks, annotators)
                gain = sum(change * (2 * shared[pair] + change) for pair, change in changes.items())
                if gain < 0:
                    _swap(members, held, topics, chunks, annotators)
                    shared.update(changes)
                    exchanged = True
                    break


def _exchangeable(
    members: Sequence[set[int]],
    topics: Sequence[str],
    held: Counter[tuple[int, str]],
    chunks: tuple[int, int],
) -> Iterator[tuple[int, int]]:
    """Yield an annotator of each of two chunks who may be exchanged: one chunk of a topic each."""
    first, second = chunks
    is_one_topic = topics[first] == topics[second]
    for out in sorted(members[first] - members[second]):
        for into in sorted(members[second] - members[first]):
            if is_one_topic or not (held[into, topics[first]] or held[out, topics[second]]):
                yield out, into


def _changes(
    members: Sequence[set[int]],
    sizes: Sequence[int],
    chunks: tuple[int, int],
    annotators: tuple[int, int],
) -> Counter[tuple[int, int]]:
    """Return by how many documents an exchange changes what pairs share."""
    changes: Counter[tuple[int, int]] = Counter()
    for chunk, out, into in zip(chunks, annotators, annotators[::-1], strict=True):
        for other in members[chunk] - {out}:
            changes[_pair(out, other)] -= sizes[chunk]
            changes[_pair(into, other)] += sizes[chunk]
    return changes


def _swap(
    members: Sequence[set[int]],
    held: Counter[tuple[int, str]],
    topics: Sequence[str],
    chunks: tuple[int, int],
    annotators: tuple[int, int],
) -> None:
    for chunk, out, into in zip(chunks, annotators, annotators[::-1], strict=True):
        members[chunk].remove(out)
        members[chunk].add(into)
        held[out, topics[chunk]] -= 1
        held[into, topics[chunk]] += 1
