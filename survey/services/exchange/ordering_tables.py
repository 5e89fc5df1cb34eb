"""The files of a bundle that belong to ordering questions, and the records they are made from.

questions.csv and rankings.csv: the lists and their orders. responses.csv, first_rankings.csv
and votes.csv: the answers and what they credit. table3.csv and table4.csv: the results.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from survey.core.agreement.answers import Response, Spread, seconds_taken
from survey.core.agreement.credits import OTHER, credited_measures
from survey.core.studies.rankings import Ranking
from survey.core.tasks.ordering_plan import OrderingPlan, ordering_plan
from survey.db.models import (
    Participant,
    Presentation,
    StoredOrderingAnswer,
    StoredOrderingPresentation,
    StoredResponse,
)
from survey.services.exchange.tables import (
    PARTICIPANT,
    SEEN,
    Column,
    Content,
    Row,
    Table,
    cell_of,
    lines_of,
    spaced,
    text_of,
    time_of,
    written,
)


class AnswerRecord(NamedTuple):
    """An answer and how its question was shown; a tuple, since there may be millions.

    ``position``: 1 for the question that the participant saw first. ``label_order``: the
    measures behind Method1, Method2, …; ``column_order``: label numbers from left to right;
    ``list_order``: letters from top to bottom. ``clicked``: label numbers, empty where ``own``
    holds a ranking. What a file from elsewhere does not say is None.
    """

    participant: str
    question: int
    position: int | None
    label_order: tuple[str, ...]
    column_order: tuple[int, ...] | None
    list_order: tuple[str, ...]
    clicked: frozenset[int]
    own: Ranking | None
    shown_at: datetime | None
    submitted_at: datetime | None
    active_seconds: float | None
    revisions: int | None
    is_test: bool
    excluded: bool

    @property
    def counted(self) -> "CountedAnswer":
        """What its votes follow from."""
        return CountedAnswer(self.participant, self.question, self.label_order, self.clicked)

    @property
    def response(self) -> Response:
        """The answer as the analysis takes it; raises ValueError for an impossible answer."""
        return Response(
            participant=self.participant,
            question=self.question,
            label_order=self.label_order,
            clicked=self.clicked,
            own=self.own,
            column_order=self.column_order,
            position=self.position,
            seconds=seconds_taken(self.active_seconds, self.shown_at, self.submitted_at),
        )


class CountedAnswer(NamedTuple):
    """The part of an answer from which its votes follow; excluded participants have none."""

    participant: str
    question: int
    label_order: tuple[str, ...]
    clicked: frozenset[int]


@dataclass(frozen=True)
class FirstRanking:
    """The ranking that a participant submitted before the columns were shown."""

    participant: str
    question: int
    ranking: Ranking
    submitted_at: datetime | None


def rankings_of(content: Content) -> dict[int, Mapping[str, Ranking]]:
    """Return question → measure → order."""
    return {question.number: question.rankings for question in content.questions}


QUESTION = Column("question", "number of the question in the study", "whole number", "1, 2, …")
MEASURE = Column("measure", "name of a measure in the registry", allowed="the study's measures")
NOTATION = "best first, > between places, = inside a tie: B>A=C"
YES_NO = ("whole number", "0 or 1")


def question_tables(plan: OrderingPlan) -> list[Table]:
    """Return questions.csv and rankings.csv."""
    return [_questions_table(plan), RANKINGS]


def answer_tables(plan: OrderingPlan) -> list[Table]:
    """Return the files that hold a row or more for each answer."""
    return [RESPONSES, *([FIRST_RANKINGS] if plan.rank_first else []), VOTES]


def result_tables(plan: OrderingPlan) -> list[Table]:
    """Return table3.csv and table4.csv; the second has a column for each measure of the plan."""
    credits = [
        Column(
            name,
            "credits (responses of which the order equals a ticked column's)",
            "whole number",
            "0, 1, …",
        )
        for name in plan.measures
    ]
    columns = [
        Column("question", "number of the question; the last row is the total"),
        *credits,
        Column(OTHER, "custom rankings", "whole number", "0, 1, …"),
        Column("choice", "the measures with the most credits, joined by -"),
    ]
    return [_TABLE3, Table("table4.csv", columns, _table4)]


@lines_of
def _questions(content: Content) -> Iterator[Row]:
    size = ordering_plan(content.plan).collection_size
    for question in content.questions:
        for index, (letter, ranks) in enumerate(question.lists.items()):
            marks = question.marks.cells(index).values()
            yield question.number, letter, spaced(ranks), size, *marks


@lines_of
def _rankings(content: Content) -> Iterator[Row]:
    for question in content.questions:
        for name, column in question.columns.items():
            values = " ".join(map(repr, column.values))
            yield question.number, name, str(column.ranking), values, spaced(column.shown)


def _questions_table(plan: OrderingPlan) -> Table:
    """Return questions.csv, with a column for each kind of mark that the lists have."""
    marks = [_MARKS[kind] for kind in plan.marked]
    return Table("questions.csv", [*_QUESTION_COLUMNS, *marks], _questions)


_QUESTION_COLUMNS = [
    QUESTION,
    Column("list", "letter of the ranked list", allowed="A, B, …"),
    Column(
        "ranks",
        "sorted positions of the relevant items, from 1",
        "whole numbers",
        "separated by spaces",
    ),
    Column("collection_size", "items in the collection", "whole number", "2, 3, …"),
]
_EACH = "separated by spaces, one for each rank"
_MARKS = {
    "grades": Column("grades", "how relevant the item at each rank is", "whole numbers", _EACH),
    "weights": Column(
        "weights", "the share of annotators who chose the item at each rank", "numbers", _EACH
    ),
    "clusters": Column(
        "clusters",
        "the sub-topics of the item at each rank, joined by +, _ for a space, - for none",
        allowed=_EACH,
    ),
}
RANKINGS = Table(
    "rankings.csv",
    [
        QUESTION,
        MEASURE,
        Column("ranking", "the order that the measure gives the lists", allowed=NOTATION),
        Column(
            "values",
            "the measure's own values (AP, not 1-AP), lists from A on",
            "numbers",
            "separated by spaces",
        ),
        Column(
            "displayed",
            "the values as the page prints them (lower is better), lists from A on",
            "numbers",
            "separated by spaces",
        ),
    ],
    _rankings,
)


def _responses(content: Content) -> Iterator[str]:
    # Millions of lines, put together by hand of parts that are cached: ``lines_of`` takes
    # several times as long. Unpacking takes half as long as reading each attribute.
    for answer in content.answers.rows():
        participant, question, position, labels, columns, lists, clicked, own = answer[:8]
        shown_at, submitted_at, seconds, revisions, is_test, excluded = answer[8:]
        yield (
            f"{text_of(participant)},{question},{position},{_spaced(labels)},"
            f"{_spaced(columns or ())},{_spaced(lists)},{_ticked(clicked)},{_notation(own)},"
            f"{time_of(shown_at)},{time_of(submitted_at)},{cell_of(seconds)},"
            f"{cell_of(revisions)},{is_test:d},{excluded:d}\n"
        )


@lru_cache(SEEN)
def _spaced(order: tuple[object, ...]) -> str:
    return text_of(spaced(order))


@lru_cache(SEEN)
def _ticked(labels: frozenset[int]) -> str:
    return spaced(sorted(labels))


@lru_cache(SEEN)
def _notation(own: Ranking | None) -> str:
    return "" if own is None else text_of(str(own))


def _votes(content: Content) -> Iterator[str]:
    """Write the votes of each answer, one line for each measure."""
    measures, rankings = (
        ordering_plan(content.plan).measures,
        rankings_of(content),
    )

    @lru_cache(SEEN)
    def vote_lines(
        question: int, label_order: tuple[str, ...], clicked: frozenset[int]
    ) -> list[str]:
        """Return the lines but for the participant: the same for all who answered alike."""
        rows = _votes_of(question, label_order, clicked, measures, rankings[question])
        return ["", *map(written, rows)]

    for participant, question, label_order, clicked in content.answers.counted():
        yield text_of(participant).join(vote_lines(question, label_order, clicked))


def _votes_of(
    question: int,
    label_order: tuple[str, ...],
    clicked: frozenset[int],
    measures: Sequence[str],
    orders: Mapping[str, Ranking],
) -> Iterator[Row]:
    credited = credited_measures(label_order, clicked, orders)
    for name in measures:
        label = label_order.index(name) + 1
        yield (
            *("", question, name, f"Method{label}", str(orders[name])),
            *(label in clicked, name in credited),
        )


@lines_of
def _first_rankings(content: Content) -> Iterator[Row]:
    for first in content.answers.first_rankings():
        yield first.participant, first.question, str(first.ranking), first.submitted_at


RESPONSES = Table(
    "responses.csv",
    [
        PARTICIPANT,
        QUESTION,
        Column("position", source=Presentation.position),
        Column("label_order", source=StoredOrderingPresentation.label_order),
        Column("column_order", source=StoredOrderingPresentation.column_order),
        Column("list_order", source=StoredOrderingPresentation.list_order),
        Column("clicked", source=StoredOrderingAnswer.clicked),
        Column("custom_ranking", source=StoredOrderingAnswer.own),
        Column("shown_at", source=Presentation.shown_at),
        Column("submitted_at", source=StoredResponse.submitted_at),
        Column("active_seconds", source=StoredResponse.active_seconds),
        Column("revisions", source=StoredResponse.revisions),
        Column("is_test", source=Participant.is_test),
        Column("excluded", source=Participant.excluded),
    ],
    _responses,
)

# Columns of the tables of ordering questions which are in no file, each with its reason.
NOT_EXPORTED = {
    "ordering_presentation.shown": "printed again from the lists in questions.csv",
    "ordering_revision.clicked": "only the answer that counts is exported",
    "ordering_revision.own": "only the answer that counts is exported",
}
FIRST_RANKINGS = Table(
    "first_rankings.csv",
    [
        PARTICIPANT,
        QUESTION,
        Column("ranking", source=StoredOrderingPresentation.ranked_first),
        Column("submitted_at", source=StoredOrderingPresentation.ranked_at),
    ],
    _first_rankings,
)
VOTES = Table(
    "votes.csv",
    [
        PARTICIPANT,
        QUESTION,
        MEASURE,
        Column(
            "label",
            "the label the measure stood behind in this response",
            allowed="Method1, Method2, …",
        ),
        Column("ranking", "the order that the measure gives the lists", allowed=NOTATION),
        Column("clicked", "whether this label was ticked", *YES_NO),
        Column("credited", "whether the measure's order equals that of a ticked column", *YES_NO),
    ],
    _votes,
)


@lines_of
def _table3(content: Content) -> Iterator[Row]:
    table = content.analysis.table3
    yield "participants", table.participants
    yield "questions_per_participant", table.questions_per_participant
    for name, spread in table.numbers.items():
        yield from _spread(name, spread)
    for name, counts in table.counts.items():
        for option, count in counts.items():
            yield f"{name}: {option}", count
    yield from _spread("minutes", table.minutes)


def _spread(name: str, spread: Spread) -> Iterator[Row]:
    for part in ("mean", "sd"):
        value = getattr(spread, part)
        yield f"{name}_{part}", None if value is None else Decimal(f"{value:.4f}")


@lines_of
def _table4(content: Content) -> Iterator[Row]:
    table = content.analysis.agreement.table4
    names = (*table.measures, OTHER)
    for row in table.rows:
        yield row.question, *(row.votes[name] for name in names), "-".join(row.choice)
    totals = table.totals
    yield "total", *(totals[name] for name in names), None


_TABLE3 = Table(
    "table3.csv",
    [
        Column("quantity", "what is counted or averaged"),
        Column("value", "count, mean or standard deviation (n − 1)", "number", "may be empty"),
    ],
    _table3,
)
