"""The pair of lists that is practised: of the study's own documents, and asked in no question."""

from collections.abc import Iterator, Sequence
from itertools import chain

from survey.core.studies.provenance import QuestionSource
from survey.core.studies.questions import Question
from survey.kinds.preference.plan import LIST_LETTERS, PreferencePlan


def practice_pair(plan: PreferencePlan, questions: Sequence[Question]) -> Question:
    """Return a question 0: one of its lists has a topic's matches first, the other has them last.

    It looks like none of the questions, unless all pairs that can be made in this way do.
    """
    asked = {_look(plan, question) for question in questions}
    pairs = _pairs(plan)
    first = next(pairs)
    return next((pair for pair in chain([first], pairs) if _look(plan, pair) not in asked), first)


def _look(plan: PreferencePlan, question: Question) -> frozenset[object]:
    """Return what a page shows of both lists, in either order."""
    source = question.source
    lists = source.documents if plan.has_items and source else question.lists
    return frozenset(tuple(lists[letter]) for letter in LIST_LETTERS)


def _pairs(plan: PreferencePlan) -> Iterator[Question]:
    """Yield pairs of the topic with the most known matches, then pairs of the others."""
    known = sorted(_documents(plan), key=lambda each: (bool(each[2]), len(each[1])), reverse=True)
    for topic, matches, others in known:
        length = min(plan.depth, len(matches) + len(others))
        most = min(len(matches), max(length - length // 2, length - len(others)))
        for count in range(most, 0, -1) if most else (0,):
            for skipped in range(max(len(others), 1)):
                rest = [*others[skipped:], *others[:skipped]][: max(length - count, 1)]
                yield _pair(plan.depth, topic, matches[:count], rest)


def _pair(depth: int, topic: str, matches: Sequence[str], others: Sequence[str]) -> Question:
    """Return a pair of lists: the matches are before the others, and behind them."""
    first, second = (*matches, *others), (*others, *matches)
    if not (matches and others):
        second = second[::-1]
    starts = (1, 1 + len(others))
    lists = (tuple(range(start, start + len(matches))) for start in starts)
    runs = dict.fromkeys(LIST_LETTERS, "")
    documents = dict(zip(LIST_LETTERS, (first[:depth], second[:depth]), strict=True))
    source = QuestionSource(topic, runs, documents)
    return Question(0, dict(zip(LIST_LETTERS, lists, strict=True)), {}, source=source)


def _documents(plan: PreferencePlan) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each topic with the matches and the other documents at the top of its lists."""
    provenance = plan.provenance
    if provenance is None:
        return
    for topic, lists, rows in zip(plan.topics, plan.own_lists, provenance.documents, strict=True):
        matches = {
            document
            for ranks, row in zip(lists, rows, strict=True)
            for rank, document in enumerate(row, 1)
            if rank in ranks
        }
        known = [*dict.fromkeys(chain.from_iterable(rows))]
        yield (
            topic,
            [document for document in known if document in matches],
            [document for document in known if document not in matches],
        )
