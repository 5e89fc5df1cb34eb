"""Reading participants.csv and identities.csv."""

import json
import re
from collections.abc import Collection
from datetime import datetime
from typing import Any

from survey.core.stimuli.personal import PersonalField
from survey.core.stimuli.plan import Plan
from survey.db.models import Participant
from survey.services.exchange.bundle import IDENTITIES
from survey.services.exchange.codebook import listed_values
from survey.services.exchange.content import Identified, Person
from survey.services.exchange.opening import Files, text_of
from survey.services.exchange.sheets import SheetRow, read_sheet
from survey.services.exchange.tables import bounds_of

NAME = "participants.csv"
STATUSES = listed_values(Participant.status)


def read_people(
    files: Files, plan: Plan, versions: Collection[int], *, include_test: bool
) -> list[Person]:
    """Read the participants, by their ids; ``versions``: of the consent texts there are.

    Raises BundleError naming the first cell that cannot be.
    """
    personal = [field.name for field in plan.personal_fields]
    columns = ("participant", "status", *personal, "started_at", "completed_at")
    people: dict[str, Person] = {}
    for row in read_sheet(text_of(files, NAME), NAME, columns):
        one = _person(row, plan, versions)
        if one.public_id in people:
            raise row.fault("participant", "each participant is allowed once")
        if one.is_test and not include_test:
            raise row.fault("is_test", "study.json says that test data are left out")
        people[one.public_id] = one
    return [people[public_id] for public_id in sorted(people)]


def read_identities(files: Files, people: Collection[Person]) -> list[Identified]:
    """Read who the participants are to a platform; none where there is no such file."""
    if IDENTITIES not in files:
        return []
    known, found = {one.public_id for one in people}, []
    columns = ("participant", "external_id", "parameters")
    for row in read_sheet(text_of(files, IDENTITIES), IDENTITIES, columns):
        try:
            parameters = json.loads(row.text("parameters"))
        except (ValueError, RecursionError):
            parameters = None
        if not isinstance(parameters, dict):
            raise row.fault("parameters", "a JSON object is needed")
        if row.text("participant") not in known:
            raise row.fault("participant", "participants.csv has nobody of that id")
        found.append(Identified(row.text("participant"), row.optional("external_id"), parameters))
    return found


def _person(row: SheetRow, plan: Plan, versions: Collection[int]) -> Person:
    started, completed = _times(row)
    version, reason = row.optional_whole("consent_version"), row.optional("exclude_reason")
    if version is not None and version not in versions:
        known = ", ".join(map(str, versions)) or "none"
        raise row.fault("consent_version", f"study.json has the versions {known}")
    if row.yes("excluded") and reason is None:
        raise row.fault("exclude_reason", "a reason is needed for whoever is excluded")
    if reason is not None and not row.yes("excluded"):
        raise row.fault("exclude_reason", "only whoever is excluded has a reason")
    return Person(
        public_id=row.text("participant"),
        status=row.text("status"),
        personal=_personal(row, plan),
        consent_version=version,
        started_at=started,
        completed_at=completed,
        is_test=row.yes("is_test"),
        excluded=row.yes("excluded"),
        exclude_reason=reason,
    )


def _times(row: SheetRow) -> tuple[datetime, datetime | None]:
    """Read when someone began and finished, which must fit their status."""
    if row.text("status") not in STATUSES:
        raise row.fault("status", f"allowed are {', '.join(STATUSES)}")
    started, completed = row.moment("started_at"), row.moment("completed_at")
    if started is None:
        raise row.fault("started_at", "a time is needed")
    if (completed is None) == (row.text("status") == "complete"):
        raise row.fault("completed_at", "a time where the status is complete, and only there")
    if completed is not None and completed < started:
        raise row.fault("completed_at", f"begun was at {row.text('started_at')}")
    return started, completed


def _personal(row: SheetRow, plan: Plan) -> dict[str, Any]:
    cells = {field: row.optional(field.name) for field in plan.personal_fields}
    return {
        field.name: _told(row, field, cell) for field, cell in cells.items() if cell is not None
    }


def _told(row: SheetRow, field: PersonalField, cell: str) -> str | int:
    """Return what someone said in a field, as the page would have let them."""
    if field.kind == "choice" and cell not in field.options:
        raise row.fault(field.name, f"allowed are {', '.join(field.options)}")
    if field.kind != "number":
        return cell
    if not re.fullmatch(r"-?[0-9]{1,10}", cell):
        raise row.fault(field.name, "a whole number is needed")
    lowest, highest, number = field.lowest, field.highest, int(cell)
    if (lowest is not None and number < lowest) or (highest is not None and number > highest):
        raise row.fault(field.name, f"allowed is {bounds_of(field)}")
    return number
