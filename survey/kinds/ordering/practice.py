"""What the practice of ordering questions shows: three lists of the study's own material."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from survey.core.collections.items import FindItems, Result
from survey.core.studies.questions import BlindedColumn, BlindedQuestion
from survey.core.studies.rankings import Ranking
from survey.kinds.ordering.plan import OrderingPlan

LISTS = 3
SHOWN = 5  # first results of a list
# Where the matches are in lists of documents: A and C are equally good, and B is worse.
MATCHES = {"A": (1, 2, 4), "B": (2, 5), "C": (1, 2, 4)}
# The order that people are asked to give, and the methods' orders, of which two are the same.
SAME, OTHER = Ranking.parse("A=C>B"), Ranking.parse("A>C>B")
COLUMNS = tuple(
    BlindedColumn(label, {}, ranking) for label, ranking in enumerate((SAME, OTHER, SAME), 1)
)


def practice_lists(view: BlindedQuestion) -> BlindedQuestion:
    """Return a question's first three lists, with methods of which two give the same order."""
    order = sorted(range(len(view.rows)), key=lambda row: view.rows[row][0])[:LISTS]
    return replace(
        view,
        rows=tuple(view.rows[row] for row in order),
        results=tuple(view.results[row] for row in order) if view.results else (),
        columns=COLUMNS,
        ideal=(),
    )


def with_documents(plan: OrderingPlan, view: BlindedQuestion, find: FindItems) -> BlindedQuestion:
    """Return three lists of documents of the study, for one of its topics.

    The topic is the one of whose matches most are known. No question shows these lists.
    """
    topic, matches, others = max(_documents(plan), key=lambda each: len(each[1]))
    items, searched = find({*matches, *others}, topic)
    rows, results = [], []
    rest = iter(others)
    depth = min(SHOWN, plan.depth)
    for letter, ranks in MATCHES.items():
        hits = dict(zip(ranks, matches, strict=False))
        row = [hits.get(rank) or next(rest, "") for rank in range(1, depth + 1)]
        rows.append((letter, tuple((rank, "") for rank in hits if rank <= depth)))
        results.append(
            tuple(
                Result(rank, items.get(document), rank in hits if plan.mark_relevant else None)
                for rank, document in enumerate(row, 1)
                if document
            )
        )
    return replace(view, rows=tuple(rows), results=tuple(results), topic=searched)


def _documents(plan: OrderingPlan) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """Yield each topic with its matches and other documents, as far as the lists tell them."""
    provenance = plan.provenance
    if provenance is None:
        return
    for number, topic in enumerate(provenance.topics, 1):
        lists, documents = plan.own_lists[number - 1], provenance.documents[number - 1]
        first = [row[: plan.depth] for row in documents]
        matches = {
            document
            for ranks, row in zip(lists, first, strict=True)
            for rank, document in enumerate(row, 1)
            if rank in ranks
        }
        known = dict.fromkeys(chain.from_iterable(zip(*first, strict=False)))
        yield (
            topic,
            [document for document in known if document in matches],
            [document for document in known if document not in matches],
        )
