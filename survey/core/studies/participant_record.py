"""A participant as exported: the fields are the columns of participants.csv, in their order."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

PERSONAL = "personal"
MINUTES = "minutes"


@dataclass(frozen=True)
class ParticipantRecord:
    """A participant as exported: without name, address, device or a platform's id.

    A field that is named as a column of the table of participants is that column: export,
    codebook, reading and import take its type, meaning and allowed values from the model.
    ``personal`` is a column for each personal field of the plan. ``consent_version`` is the
    only other field.
    """

    public_id: str
    status: str
    personal: Mapping[str, Any]
    consent_version: int | None
    started_at: datetime
    completed_at: datetime | None
    is_test: bool
    excluded: bool
    exclude_reason: str | None


def participant_columns() -> Iterator[tuple[str, str]]:
    """Yield the columns of participants.csv, each with the field of the record that it holds.

    PERSONAL is in place of the columns of a plan. MINUTES is computed, and no field.
    """
    for field in fields(ParticipantRecord):
        yield ("participant" if field.name == "public_id" else field.name), field.name
        if field.name == "completed_at":
            yield MINUTES, MINUTES
