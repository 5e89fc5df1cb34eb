"""The files of a bundle that every kind of study has: participants.csv and identities.csv."""

import json
from collections.abc import Iterable, Iterator
from operator import itemgetter

from survey.core.studies.participant_record import MINUTES, PERSONAL, participant_columns
from survey.core.studies.personal_fields import PersonalField
from survey.core.studies.plan import Plan
from survey.db.export_queries import EXPORTED
from survey.db.models import Participant
from survey.services.analysis.study_results import minutes_taken
from survey.services.exchange.content import Content, IdentityRecord
from survey.services.exchange.csv_tables import Column, Row, Table, lines_of

IDENTITIES = "identities.csv"
PARTICIPANTS = "participants.csv"
PARTICIPANT = Column("participant", source=Participant.public_id)


def participants_table(plan: Plan) -> Table:
    """Return participants.csv, with a column for each personal field of the plan."""
    columns = []
    for name, field in participant_columns():
        if field == PERSONAL:
            columns += [_personal_column(each) for each in plan.personal_fields]
        else:
            columns.append(_COMPUTED.get(field) or Column(name, source=EXPORTED[field]))
    return Table(PARTICIPANTS, columns, _participants)


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
    personal = [field.name for field in content.plan.personal_fields]
    names = [field for _, field in participant_columns()]
    place = names.index(PERSONAL)
    before, after = itemgetter(*names[:place]), itemgetter(*names[place + 1 :])
    for person in content.participants():
        values = {**vars(person), MINUTES: minutes_taken(person)}
        yield *before(values), *map(person.personal.get, personal), *after(values)


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


# Columns of participants.csv that are no columns of the table of participants.
_COMPUTED = {
    "consent_version": Column(
        "consent_version",
        "version of the consent text agreed to (in study.json)",
        "whole number",
        "1, 2, …; may be empty",
    ),
    MINUTES: Column(
        MINUTES,
        "from the beginning to the end, breaks included",
        "number",
        "0 or more; empty if not finished",
    ),
}

# Columns of the tables that every study has which are in no file, each with its reason. Keys of
# rows need none: they mean nothing outside the database.
NOT_EXPORTED = {
    "participant.resume_hash": "belongs to the code with which a participant continues elsewhere",
    "participant.receipt": "a participant shows it to be credited, so it leads to a person",
    "participant.consented_at": "consent_version says what was agreed to",
    "participant.described_at": "the analysis counts from the beginning to the end",
    "participant.informed_at": "the analysis counts from the beginning to the end",
    "participant.last_seen_at": "serves to release unused places while a study runs",
    "revision.number": "only the answer that counts is exported, with its number of revisions",
    "revision.submitted_at": "only the answer that counts is exported",
    "revision.active_seconds": "only the answer that counts is exported",
}
