"""The files of a study's questions: their lists, and what the measures make of these."""

from collections.abc import Iterator

from survey.core.stimuli.plan import Plan
from survey.services.exchange.content import Content
from survey.services.exchange.table import Column, Row, Table, lines_of, spaced

QUESTION = Column("question", "number of the question in the study", "whole number", "1, 2, …")
MEASURE = Column("measure", "name of a measure in the registry", allowed="the study's measures")
NOTATION = "best first, > between places, = inside a tie: B>A=C"
YES_NO = ("whole number", "0 or 1")


@lines_of
def _questions(content: Content) -> Iterator[Row]:
    size = content.plan.collection_size
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


def questions_table(plan: Plan) -> Table:
    """Return questions.csv, with a column for each kind of marks that the lists have."""
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
