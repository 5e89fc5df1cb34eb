"""From a bundle's files to a study's content.

participants.csv, identities.csv and study.json; what belongs to ordering questions is in
``ordering_reading``.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from survey.core.agreement.answers import Answers
from survey.core.measures import MEASURES
from survey.core.studies.marks import Marks
from survey.core.studies.personal_fields import PersonalField
from survey.core.studies.plan import Plan
from survey.core.studies.questions import Question, build_question
from survey.db.models import Participant, Study
from survey.services.analysis.study_results import people_from
from survey.services.exchange.bundle_tables import IDENTITIES, bounds_of
from survey.services.exchange.codebook import listed_values
from survey.services.exchange.content import (
    Consent,
    Content,
    Identified,
    Person,
)
from survey.services.exchange.input_files import (
    BundleError,
    Files,
    SheetRow,
    json_of,
    read_sheet,
    text_of,
)
from survey.services.exchange.ordering_reading import (
    read_answers,
    read_first_rankings,
    read_questions,
)
from survey.services.exchange.study_file import FORMAT, PACKAGES, STUDY

PARTICIPANTS = "participants.csv"
PARTICIPANT_STATUSES = listed_values(Participant.status)


def read_people(
    files: Files, plan: Plan, versions: Collection[int], *, include_test: bool
) -> list[Person]:
    """Read the participants, by their ids; ``versions``: of the consent texts there are.

    Raises BundleError naming the first cell that cannot be.
    """
    personal = [field.name for field in plan.personal_fields]
    columns = ("participant", "status", *personal, "started_at", "completed_at")
    people: dict[str, Person] = {}
    for row in read_sheet(text_of(files, PARTICIPANTS), PARTICIPANTS, columns):
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
    if row.text("status") not in PARTICIPANT_STATUSES:
        raise row.fault("status", f"allowed are {', '.join(PARTICIPANT_STATUSES)}")
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


@dataclass(frozen=True)
class Read:
    """A bundle as read: its content, and study.json as it stands there."""

    content: Content
    study: Mapping[str, Any]


def read_content(files: Files) -> Read:
    """Make a study's content of a bundle's files.

    Raises BundleError naming file, row and column of the first thing that cannot be.
    """
    study = _study(files)
    try:
        plan = Plan.from_json(study["plan"])
    except (ValueError, TypeError) as error:
        raise BundleError(f"{STUDY}, plan: {error}{_packages_needed(study)}") from None
    questions = read_questions(files, plan)
    consents = [Consent(**one) for one in study["consent"]]
    people = read_people(
        files, plan, [one.version for one in consents], include_test=study["include_test"]
    )
    answers = read_answers(files, plan, people)
    first = list(read_first_rankings(files, plan, people)) if plan.rank_first else []
    moments = SheetRow(STUDY, 1, {name: study[name] or "" for name in MOMENTS})
    return Read(
        Content(
            slug=study["slug"],
            status=study["status"],
            digest=study["digest"],
            generator_version=study["generator_version"],
            opened_at=moments.moment("opened_at"),
            closed_at=moments.moment("closed_at"),
            unblinded_at=moments.moment("unblinded_at"),
            plan=plan,
            practice=_practice(study, plan),
            questions=questions,
            consents=consents,
            people=lambda: iter(people),
            answers=lambda: iter(answers),
            ballots=lambda: (one.ballot for one in answers if not one.excluded),
            first_rankings=lambda: iter(first),
            votes=lambda: (people_from(people), Answers.of(one.response for one in answers)),
            include_test=study["include_test"],
        ),
        study,
    )


def _packages_needed(study: Mapping[str, Any]) -> str:
    """Say which packages bring the measures that are not registered here."""
    needed = [
        f"{name} comes with the package {package}"
        for name, package in study.get(PACKAGES, {}).items()
        if name not in MEASURES
    ]
    return f" ({'; '.join(needed)}, which is not installed here)" if needed else ""


STUDY_STATUSES = listed_values(Study.status)
MOMENTS = ("opened_at", "closed_at", "unblinded_at")
KEYS: dict[str, type | tuple[type, ...]] = {
    **{"format": int, "slug": str, "status": str, "digest": str, "generator_version": int},
    **dict.fromkeys(MOMENTS, (str, type(None))),
    **{"plan": dict, "consent": list, "include_test": bool, "practice": (dict, type(None))},
}


def _study(files: Files) -> dict[str, Any]:
    study = json_of(files, STUDY)
    if study.get("format") != FORMAT:
        raise BundleError(
            f"{STUDY}, format: {study.get('format')!r} found; this version of the survey reads "
            f"format {FORMAT}"
        )
    for key, kind in KEYS.items():
        if key not in study or not isinstance(study[key], kind):
            raise BundleError(f"{STUDY}, {key}: {study.get(key)!r} found, or it is missing")
    for one in study["consent"]:
        kinds = {"version": int, "text": str, "digest": str}
        if not isinstance(one, dict) or {k: type(v) for k, v in one.items()} != kinds:
            raise BundleError(f"{STUDY}, consent: version, text and digest are needed")
    if study["status"] not in STUDY_STATUSES:
        raise BundleError(
            f"{STUDY}, status: {study['status']!r} found; allowed are {', '.join(STUDY_STATUSES)}"
        )
    return study


def _practice(study: Mapping[str, Any], plan: Plan) -> Question | None:
    lists = study["practice"]
    if lists is None:
        return None
    try:
        ordered = [lists[letter] for letter in sorted(lists)]
        marks = Marks.from_json(study.get("practice_marks", {}))
        return build_question(0, ordered, plan.measures, plan.setting, marks)
    except (ValueError, TypeError) as error:
        raise BundleError(f"{STUDY}, practice: {error}") from None
