"""The files of a study's questions: their lists, and what the measures make of these.

The files of a study's answers: how each was shown, what was ticked, and what that credits.

They grow with the answers, so their lines are put together by hand, of parts that are the same
for many; ``lines_of`` would take several times as long.

The bundle's CSV files: their columns, and the rows that a study's content gives.
"""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

from survey.core.agreement.answers import Spread
from survey.core.agreement.counts import OTHER
from survey.core.agreement.credits import credited_measures
from survey.core.studies.personal_fields import PersonalField
from survey.core.studies.plan import Plan
from survey.core.studies.rankings import Ranking
from survey.db.models import Participant, Presentation, StoredResponse
from survey.services.analysis.study_results import minutes_taken
from survey.services.exchange.content import Content
from survey.services.exchange.csv_tables import (
    SEEN,
    Column,
    Row,
    Table,
    cell_of,
    lines_of,
    moment_of,
    spaced,
    text_of,
    written,
)

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


def _responses(content: Content) -> Iterator[str]:
    """Write an answer: millions of them are shown and ticked in some thousand ways."""
    for one in content.answers():
        # Taken apart at once, which takes half as long as a name at a time.
        who, number, place, shown, clicked, own, shown_at, sent_at, seconds, changes, test, out = (
            one
        )
        yield (
            f"{text_of(who)},{number},{place},{_spaced(shown.label_order)},"
            f"{_spaced(shown.column_order)},{_spaced(shown.list_order)},"
            f"{_ticked(clicked)},{_notation(own)},{moment_of(shown_at)},{moment_of(sent_at)},"
            f"{cell_of(seconds)},{cell_of(changes)},{test:d},{out:d}\n"
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
    """Write the votes of an answer, one line a measure.

    After the participant, answers with the same labels and ticks say the same.
    """
    measures, rankings = content.plan.measures, content.rankings

    @lru_cache(SEEN)
    def said(question: int, label_order: tuple[str, ...], clicked: frozenset[int]) -> list[str]:
        rows = _votes_of(question, label_order, clicked, measures, rankings[question])
        return ["", *map(written, rows)]

    for participant, question, label_order, clicked in content.ballots():
        yield text_of(participant).join(said(question, label_order, clicked))


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
    for one in content.first_rankings():
        yield one.participant, one.question, str(one.ranking), one.given_at


PARTICIPANT = Column("participant", source=Participant.public_id)


RESPONSES = Table(
    "responses.csv",
    [
        PARTICIPANT,
        QUESTION,
        Column("position", source=Presentation.position),
        Column("label_order", source=Presentation.label_order),
        Column("column_order", source=Presentation.column_order),
        Column("list_order", source=Presentation.list_order),
        Column("clicked", source=StoredResponse.clicked),
        Column("custom_ranking", source=StoredResponse.own),
        Column("shown_at", source=Presentation.shown_at),
        Column("submitted_at", source=StoredResponse.submitted_at),
        Column("active_seconds", source=StoredResponse.active_seconds),
        Column("revisions", source=StoredResponse.revisions),
        Column("is_test", source=Participant.is_test),
        Column("excluded", source=Participant.excluded),
    ],
    _responses,
)
FIRST_RANKINGS = Table(
    "first_rankings.csv",
    [
        PARTICIPANT,
        QUESTION,
        Column("ranking", source=Presentation.ranked_first),
        Column("submitted_at", source=Presentation.ranked_at),
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
def _participants(content: Content) -> Iterator[Row]:
    fields = [field.name for field in content.plan.personal_fields]
    for one in content.people():
        yield (
            *(one.public_id, one.status, *(one.personal.get(name) for name in fields)),
            *(one.consent_version, one.started_at, one.completed_at, minutes_taken(one)),
            *(one.is_test, one.excluded, one.exclude_reason),
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


def tables_of(content: Content) -> list[Table]:
    """Return the files of a study's bundle, in the order in which they are written."""
    plan = content.plan
    personal = [_personal_column(field) for field in plan.personal_fields]
    first = [FIRST_RANKINGS] if plan.rank_first else []
    counts = [
        Column(
            name,
            "credits (responses of which the order equals a ticked column's)",
            "whole number",
            "0, 1, …",
        )
        for name in plan.measures
    ]
    return [
        questions_table(plan),
        RANKINGS,
        RESPONSES,
        *first,
        VOTES,
        Table("participants.csv", [*_BEFORE_PERSONAL, *personal, *_AFTER_PERSONAL], _participants),
        _TABLE3,
        Table(
            "table4.csv",
            [
                Column("question", "number of the question; the last row is the total"),
                *counts,
                Column(OTHER, "custom rankings", "whole number", "0, 1, …"),
                Column("choice", "the measures with the most credits, joined by -"),
            ],
            _table4,
        ),
    ]


def _personal_column(field: PersonalField) -> Column:
    allowed = {
        "choice": "; ".join(field.options),
        "number": bounds_of(field),
        "text": "up to 500 characters",
    }[field.kind]
    kind = "whole number" if field.kind == "number" else "text"
    needed = "" if field.required else "; may be empty"
    return Column(field.name, f"asked: {field.label}", kind, allowed + needed)


def bounds_of(field: PersonalField) -> str:
    """Say which numbers a field takes."""
    lowest, highest = ("any" if one is None else one for one in (field.lowest, field.highest))
    return f"{lowest} to {highest}"


_BEFORE_PERSONAL = [PARTICIPANT, Column("status", source=Participant.status)]
_AFTER_PERSONAL = [
    Column(
        "consent_version",
        "version of the consent text agreed to (in study.json)",
        "whole number",
        "1, 2, …; may be empty",
    ),
    Column("started_at", source=Participant.started_at),
    Column("completed_at", source=Participant.completed_at),
    Column(
        "minutes",
        "from the beginning to the end, breaks included",
        "number",
        "0 or more; empty if not finished",
    ),
    Column("is_test", source=Participant.is_test),
    Column("excluded", source=Participant.excluded),
    Column("exclude_reason", source=Participant.exclude_reason),
]
_TABLE3 = Table(
    "table3.csv",
    [
        Column("quantity", "what is counted or averaged"),
        Column("value", "count, mean or standard deviation (n − 1)", "number", "may be empty"),
    ],
    _table3,
)
