"""The files of a bundle that every kind of study has: participants.csv and identities.csv."""

import json
from collections.abc import Iterable, Iterator

from survey.core.studies.personal_fields import PersonalField
from survey.core.studies.plan import Plan
from survey.db.models import Participant
from survey.services.analysis.study_results import minutes_taken
from survey.services.exchange.content import Content, IdentityRecord
from survey.services.exchange.csv_tables import Column, Row, Table, lines_of

IDENTITIES = "identities.csv"
PARTICIPANT = Column("participant", source=Participant.public_id)


def participants_table(plan: Plan) -> Table:
    """Return participants.csv, with a column for each personal field of the plan."""
    personal = [_personal_column(field) for field in plan.personal_fields]
    return Table(
        "participants.csv", [*_BEFORE_PERSONAL, *personal, *_AFTER_PERSONAL], _participants
    )


def identities_table(identities: Iterable[IdentityRecord]) -> Table:
    """Return identities.csv: personal data, which an export holds only on request."""
    columns = [
        Column("participant", "random id of the participant"),
        Column("external_id", "the recruitment platform's id of the person"),
        Column("parameters", "all that was kept of the address, as JSON"),
    ]

    @lines_of
    def rows(_: Content) -> Iterator[Row]:
        for person in identities:
            parameters = json.dumps(person.parameters, sort_keys=True)
            yield person.participant, person.external_id, parameters

    return Table(IDENTITIES, columns, rows)


@lines_of
def _participants(content: Content) -> Iterator[Row]:
    fields = [field.name for field in content.plan.personal_fields]
    for person in content.participants():
        yield (
            *(person.public_id, person.status, *(person.personal.get(name) for name in fields)),
            *(person.consent_version, person.started_at, person.completed_at),
            *(minutes_taken(person), person.is_test, person.excluded, person.exclude_reason),
        )


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
    """Return the numbers that a field allows as text, "18 to 99"; "any" where it has no bound."""
    lowest, highest = ("any" if end is None else end for end in (field.lowest, field.highest))
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
