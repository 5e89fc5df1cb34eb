"""The bundle's CSV files: their columns, and the rows that a study's content gives."""

from collections.abc import Iterator
from decimal import Decimal

from survey.core.agreement.counts import OTHER
from survey.core.agreement.participants import Spread
from survey.core.stimuli.personal import PersonalField
from survey.db.models import Participant
from survey.services.exchange.answer_tables import FIRST_RANKINGS, PARTICIPANT, RESPONSES, VOTES
from survey.services.exchange.content import Content
from survey.services.exchange.question_tables import (
    RANKINGS,
    questions_table,
)
from survey.services.exchange.table import (
    Column,
    Row,
    Table,
    lines_of,
)
from survey.services.study_analysis import minutes_taken


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
