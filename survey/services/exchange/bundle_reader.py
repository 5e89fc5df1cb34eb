"""From the files of a bundle to records, and from the files of any study to its analysis.

What every study has is read here: study.json, participants.csv and identities.csv. What belongs
to ordering questions is in ``ordering_reader``.
"""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Boolean, Float, Integer, String
from sqlalchemy.orm import InstrumentedAttribute

from survey.core.agreement.answers import Answers
from survey.core.studies.participant_fields import (
    PERSONAL,
    ParticipantRecord,
    PersonalField,
    participant_columns,
)
from survey.core.studies.plan import Plan
from survey.core.studies.questions import rankings_of
from survey.core.tasks import DEFAULT, plan_from_json
from survey.db.export_queries import EXPORTED
from survey.db.models import Study
from survey.db.models.base import UtcDateTime
from survey.services.analysis.study_results import (
    Analysis,
    AnalysisOptions,
    Exclusions,
    LeftOut,
    Votes,
    analyse_votes,
    counted_mask,
)
from survey.services.exchange.bundle import FORMAT, TASK_FILES, files_of_kind
from survey.services.exchange.input_files import BundleError, CsvRow, Files, json_of, parse_rows
from survey.services.exchange.ordering_reader import ForeignFolder, read_foreign
from survey.services.exchange.tables import (
    IDENTITIES,
    PARTICIPANTS,
    STUDY,
    TIMES,
    ConsentRecord,
    Content,
    IdentityRecord,
    bounds_of,
    listed_values,
)

UNKNOWN = ("slug", "title", "status", "digest", "generator", "generator_version", "seed")
STUDY_STATUSES = listed_values(Study.status)
KEYS: dict[str, type | tuple[type, ...]] = {
    **{"format": int, "slug": str, "status": str, "digest": str, "generator_version": int},
    **dict.fromkeys(TIMES, (str, type(None))),
    **{"plan": dict, "consent": list, "include_test": bool, "practice": (dict, type(None))},
}


def analyse_files(files: Files, options: AnalysisOptions) -> Analysis | dict[str, Any]:
    """Analyse files: with study.json strictly as a bundle, else whatever can be analysed.

    rankings.csv, where it exists, must agree with the lists. Of a kind of question that has no
    report the figures are returned as analysis.json has them. Raises BundleError with the place
    of each cell that cannot be, and what is allowed.
    """
    if STUDY in files:
        content, _ = read_bundle(files)
        files_of_kind(content.plan).check_derived(files, content)
        analysis = content.answers.analyse(content, options)
        return analysis if isinstance(analysis, Analysis) else content.answers.as_json(analysis)
    folder = read_foreign(files)
    answers = Answers.of(answer.response for answer in folder.answers)
    flags = {each.participant: (each.is_test, each.excluded) for each in folder.answers}
    people = Exclusions(*np.array([*flags.values()], dtype=bool).T)
    votes = Votes(
        study=unknown_study(folder),
        measures=folder.measures,
        rankings=rankings_of(folder.questions),
        asked=len(folder.questions),
        answers=answers.of_people(counted_mask(people, options)),
        simulated_ids=frozenset(answers.people[people.is_test].tolist()),
    )
    return analyse_votes(votes, LeftOut.of(people, options), options)


def unknown_study(folder: ForeignFolder) -> dict[str, Any]:
    """Return what an analysis says of a study without study.json: little, and why."""
    why = f"there is no {STUDY}, which would say what the study was"
    if folder.collection_size is None:
        why += "; the collection_size is not the same in all questions"
    return {
        **dict.fromkeys(UNKNOWN),
        "collection_size": folder.collection_size,
        "measures": list(folder.measures),
        "why": why,
    }


def read_bundle(files: Files) -> tuple[Content, Mapping[str, Any]]:
    """Read a bundle's files; return the content, and all values of study.json as in the file.

    What can be recomputed is not read.

    Raises BundleError with the place of each cell that cannot be, and what is allowed.
    """
    study = _read_study(files)
    plan = _plan_of(study)
    consents = [ConsentRecord(**consent) for consent in study["consent"]]
    participants = _read_participants(
        files, plan, [each.version for each in consents], include_test=study["include_test"]
    )
    kind = files_of_kind(plan)
    questions, answers = kind.read(files, plan, participants)
    times = CsvRow(STUDY, 1, {key: study[key] or "" for key in TIMES})
    content = Content(
        slug=study["slug"],
        status=study["status"],
        digest=study["digest"],
        generator_version=study["generator_version"],
        opened_at=times.optional_time("opened_at"),
        closed_at=times.optional_time("closed_at"),
        unblinded_at=times.optional_time("unblinded_at"),
        plan=plan,
        practice=kind.read_practice(study, plan),
        questions=questions,
        consents=consents,
        participants=lambda: iter(participants),
        answers=answers,
        include_test=study["include_test"],
    )
    return content, study


def _read_study(files: Files) -> dict[str, Any]:
    """Return the values of study.json; raises BundleError where one is missing or cannot be."""
    study = json_of(files, STUDY)
    if study.get("format") != FORMAT:
        raise BundleError(
            f"{STUDY}, format: {study.get('format')!r} found; this version of the survey reads "
            f"format {FORMAT}"
        )
    for key, kind in KEYS.items():
        if key not in study or not isinstance(study[key], kind):
            raise BundleError(f"{STUDY}, {key}: {study.get(key)!r} found, or it is missing")
    for consent in study["consent"]:
        kinds = {"version": int, "text": str, "digest": str}
        if not isinstance(consent, dict) or {k: type(v) for k, v in consent.items()} != kinds:
            raise BundleError(f"{STUDY}, consent: version, text and digest are needed")
    if study["status"] not in STUDY_STATUSES:
        raise BundleError(
            f"{STUDY}, status: {study['status']!r} found; allowed are {', '.join(STUDY_STATUSES)}"
        )
    return study


def _plan_of(study: Mapping[str, Any]) -> Plan:
    try:
        return plan_from_json(study["plan"])
    except (ValueError, TypeError) as error:
        kind = TASK_FILES.get(str(study["plan"].get("kind", DEFAULT)))
        why = "" if kind is None else kind.why_different(study)
        raise BundleError(f"{STUDY}, plan: {error}{why}") from None


def read_identities(
    files: Files, participants: Collection[ParticipantRecord]
) -> list[IdentityRecord]:
    """Read identities.csv; raises BundleError."""
    ids = {participant.public_id for participant in participants}

    def parse(row: CsvRow) -> IdentityRecord:
        try:
            parameters = json.loads(row.text("parameters"))
        except (ValueError, RecursionError):
            parameters = None
        if not isinstance(parameters, dict):
            raise row.fault("parameters", "a JSON object is needed")
        if row.text("participant") not in ids:
            raise row.fault("participant", f"{PARTICIPANTS} has no participant of that id")
        return IdentityRecord(row.text("participant"), row.optional_text("external_id"), parameters)

    return parse_rows(files, IDENTITIES, ("participant", "external_id", "parameters"), parse)


def _read_participants(
    files: Files, plan: Plan, versions: Sequence[int], *, include_test: bool
) -> list[ParticipantRecord]:
    """Read participants.csv, sorted by id; ``versions``: of the consent texts in study.json."""
    personal = [field.name for field in plan.personal_fields]
    columns = ("participant", "status", *personal, "started_at", "completed_at")
    participants: dict[str, ParticipantRecord] = {}

    def parse(row: CsvRow) -> None:
        participant = _participant(row, plan, versions)
        if participant.public_id in participants:
            raise row.fault("participant", "each participant is allowed once")
        if participant.is_test and not include_test:
            raise row.fault("is_test", f"{STUDY} says that test data are left out")
        participants[participant.public_id] = participant

    parse_rows(files, PARTICIPANTS, columns, parse)
    return [participants[public_id] for public_id in sorted(participants)]


def _participant(row: CsvRow, plan: Plan, versions: Sequence[int]) -> ParticipantRecord:
    stored = {field: parse(row) for field, parse in _CELL_PARSERS.items()}
    version = row.optional_whole_number("consent_version")
    completed_at = stored["completed_at"]
    if (completed_at is None) == (stored["status"] == "complete"):
        raise row.fault("completed_at", "a time where the status is complete, and only there")
    if completed_at is not None and completed_at < stored["started_at"]:
        raise row.fault("completed_at", f"begun was at {row.text('started_at')}")
    if version is not None and version not in versions:
        known = ", ".join(map(str, versions)) or "none"
        raise row.fault("consent_version", f"{STUDY} has the versions {known}")
    if stored["excluded"] and stored["exclude_reason"] is None:
        raise row.fault("exclude_reason", "a reason is needed for an excluded participant")
    if stored["exclude_reason"] is not None and not stored["excluded"]:
        raise row.fault("exclude_reason", "only an excluded participant has a reason")
    personal = {
        field.name: _parse_personal_field(row, field, cell)
        for field in plan.personal_fields
        if (cell := row.optional_text(field.name)) is not None
    }
    return ParticipantRecord(**stored, personal=personal, consent_version=version)


def _cell_parser(name: str, source: InstrumentedAttribute[Any]) -> Callable[[CsvRow], Any]:
    """Return what parses the cells of a column as the database's column would store them.

    A file without the column, from before there was one, has the default of the database's.
    """
    stored = source.property.columns[0]
    allowed = listed_values(source)
    needed = "a time is needed" if isinstance(stored.type, UtcDateTime) else "a value is needed"
    parse = next(parse for kind, parse in _PARSERS.items() if isinstance(stored.type, kind))

    def parse_cell(row: CsvRow) -> Any:
        if name not in row.cells and getattr(stored.default, "is_scalar", False):
            return stored.default.arg
        value = parse(row, name)
        if value is None and not stored.nullable:
            raise row.fault(name, needed)
        if value is not None and allowed and value not in allowed:
            raise row.fault(name, f"allowed are {', '.join(allowed)}")
        return value

    return parse_cell


_PARSERS: dict[type[object], Callable[[CsvRow, str], Any]] = {
    Boolean: CsvRow.flag,
    Integer: CsvRow.optional_whole_number,
    Float: CsvRow.optional_number,
    UtcDateTime: CsvRow.optional_time,
    String: CsvRow.optional_text,
}
_CELL_PARSERS = {
    field: _cell_parser(name, EXPORTED[field])
    for name, field in participant_columns()
    if field in EXPORTED and field != PERSONAL
}


def _parse_personal_field(row: CsvRow, field: PersonalField, cell: str) -> str | int:
    """Return the value of a personal field, which the page would have accepted."""
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
