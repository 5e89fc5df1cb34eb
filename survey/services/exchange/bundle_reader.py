"""Read a bundle: to analyse it, or to replicate it, which recomputes everything in it.

What every study has is read here: study.json, participants.csv and identities.csv. Questions and
answers are read by the study's kind.
"""

import base64
import hashlib
import io
import json
import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import chain, compress, islice, zip_longest
from operator import attrgetter
from pathlib import Path
from typing import Any

from sqlalchemy import Boolean, Float, Integer, String
from sqlalchemy.orm import InstrumentedAttribute

from survey.core.collections.items import Item, Topic
from survey.core.kinds import KIND_KEY, KINDS, has_known_kind, plan_from_json
from survey.core.measures import MEASURES
from survey.core.studies.fields import (
    CLOSING,
    PERSONAL,
    FieldAnswer,
    ParticipantRecord,
    PersonalField,
    list_words,
    participant_columns,
)
from survey.core.studies.plan import (
    ATTENTION_NAMES,
    FLAGS,
    Plan,
    TaskQuestion,
    study_digest,
    text_digest,
)
from survey.core.studies.run_lists import TextFile
from survey.core.text_input import escaped
from survey.db.export_queries import EXPORTED
from survey.db.item_queries import Thumbnail
from survey.db.models import Study
from survey.db.models.base import UtcDateTime
from survey.errors import SurveyError
from survey.services.analysis.results import Results
from survey.services.analysis.study_results import (
    AnalysisOptions,
)
from survey.services.exchange.answer_columns import (
    COUNTING,
    FLAGGED,
    STUDY,
    TOPIC,
    AnswerCells,
    beside_name,
    beside_tables,
    topic_of,
)
from survey.services.exchange.bundle import (
    ANALYSIS,
    SUMS,
    bundle_files,
    cell_texts,
    csv_tables,
    files_of_kind,
    require_options,
    stable_json,
    study_lines,
    tables_in,
)
from survey.services.exchange.comparison import BundleComparison
from survey.services.exchange.damage import Damage, explain, find_damage, sums_name
from survey.services.exchange.description import DESCRIPTIONS, FileFacts, description_files
from survey.services.exchange.format_1 import former_tables
from survey.services.exchange.input_files import (
    JUDGEMENTS_FOLDER,
    MACHINES_FOLDER,
    BundleError,
    CsvRow,
    Faults,
    Files,
    Headings,
    Parsed,
    SourceFiles,
    file_text,
    has_heading,
    is_sorted,
    json_of,
    not_a_bundle,
    open_files,
    parse_json,
    parse_rows,
    read_cells,
    read_lines,
    read_rows,
)
from survey.services.exchange.long_table import LONG, SCRIPT, SECONDS, script
from survey.services.exchange.registered import described
from survey.services.exchange.tables import (
    CODEBOOK,
    FORMAT,
    IDENTITIES,
    ITEMS_TABLE,
    PACKAGES,
    PARTICIPANTS_FILE,
    QUESTIONS_FILE,
    STUDY_FILE,
    THUMBNAILS_TABLE,
    TIMES,
    TOPICS_TABLE,
    BesideRecord,
    ConsentRecord,
    Content,
    IdentityRecord,
    Table,
    bounds_of,
    describe_column,
    listed_values,
    with_left_out,
)
from survey.services.studies.citation import Citation
from survey.services.studies.registration import (
    ONLY_THERE,
    REGISTRATION_FILE,
    read_registration,
)

MONTH = re.compile(r"(?!0000)[0-9]{4}-(0[1-9]|1[0-2])")
STUDY_STATUSES = listed_values(Study.status)
STUDY_TYPES: dict[str, type | tuple[type, ...]] = {
    **{"format": int, "slug": str, "status": str, "digest": str, "generator_version": int},
    **dict.fromkeys(TIMES, (str, type(None))),
    **{"plan": dict, "consent": list, "include_test": bool, "practice": (dict, type(None))},
}

# What an analysis says of its figures, which are compared themselves.
IN_WORDS = (", sentence", ", why")
NUMBERS = ("number", "whole number")  # types of columns
# Computed on another machine, floats may differ in their last digit.
RELATIVE_TOLERANCE = 1e-9
ABSOLUTE_TOLERANCE = 1e-12
# How often a byte of a large bundle is read, on average, for a progress bar: for its sum, for the
# order of its rows, for its cells.
READINGS = 2.5
MOST_REPEATED = 200  # characters of a value, in a message


def analyse_files(
    files: Files,
    options: AnalysisOptions,
    *,
    registration: TextFile | None = None,
    in_full: bool = False,
) -> Results:
    """Analyse files: with study.json strictly as a bundle, else whatever can be analysed.

    ``registration``: to compare the analysis with, by default that of the bundle; ``in_full``:
    with what the methods of a paper need.

    rankings.csv, where it exists, must agree with the lists. Raises BundleError with the place
    of each cell that cannot be, and what is allowed; SurveyError for an option that the kind's
    analysis does not have.
    """
    if STUDY_FILE in files:
        try:
            with _explained(BundleComparison(json_of(files, STUDY_FILE).get("versions"))):
                content, _ = read_bundle(files)
                require_options(content.plan, options)
                files_of_kind(content.plan).check_derived(files, content)
        except BundleError:
            if sums_name(files):
                _require_sums(files)  # which says why, where files were damaged
            raise
        results = with_left_out(content.analysed(options), content.participants, options)
        return described(results, content, options, registration, in_full=in_full)
    for name, (kind, _) in foreign_tables().items():
        if name in files:
            foreign: Results = kind.analyse_foreign(files, options)
            return described(foreign, None, options, registration)
    raise BundleError(
        f"{STUDY_FILE} is missing; it and the rest of a bundle are needed, or a table from "
        f"elsewhere: {_foreign_headings()}"
    )


def analyse_path(path: Path, options: AnalysisOptions, **details: Any) -> Results:
    """Analyse a bundle, a folder, or a single table, which is known by its heading.

    ``details``: see ``analyse_files``, which also says what is raised.
    """
    if not (path.is_file() and path.suffix.lower() == ".csv"):
        return analyse_files(open_files(path, str(path)), options, **details)
    content = path.read_bytes()
    for name, (_, headings) in foreign_tables().items():
        if path.name == name or has_heading(content, path.name, headings):
            try:
                return analyse_files({name: content}, options, **details)
            except BundleError as error:
                raise BundleError(str(error).replace(name, path.name)) from None
    raise BundleError(
        f"{path.name}, row 1: no heading of a table that is analysed; these are "
        f"{_foreign_headings()}"
    )


def _foreign_headings() -> str:
    return "; ".join(
        f"{name} ({' or '.join(map(','.join, headings))})"
        for name, (_, headings) in foreign_tables().items()
    )


def foreign_tables() -> dict[str, tuple[Any, Headings]]:
    """Return the tables of answers that may come from elsewhere: name → kind, and headings."""
    return {
        name: (kind, headings)
        for kind in KINDS.values()
        for name, headings in kind.foreign_files.items()
    }


def read_bundle(files: Files) -> tuple[Content, dict[str, Any]]:
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
    beside = _read_beside(files, study["format"], plan, participants, questions, answers.count)
    cells = {key: str(study.get(key) or "") for key in (*TIMES, "created_at")}
    times = CsvRow(STUDY_FILE, 1, cells)
    content = Content(
        slug=study["slug"],
        status=study["status"],
        digest=study["digest"],
        generator_version=study["generator_version"],
        opened_at=_time_or_month(times, "opened_at"),
        closed_at=_time_or_month(times, "closed_at"),
        unblinded_at=times.optional_time("unblinded_at"),
        looks=study["looks"],
        plan=plan,
        practice=kind.read_practice(study, plan),
        questions=questions,
        consents=consents,
        participants=participants,
        answers=answers,
        include_test=study["include_test"],
        items=read_item_rows(files),
        topics=read_topic_rows(files),
        thumbnails=(lambda: thumbnails) if (thumbnails := read_thumbnails(files)) else None,
        vectors_digest=str(study.get("vectors_digest") or "")[:64] or None,
        packages=study.get(PACKAGES),
        beside=lambda: iter(beside),
        machines=KINDS[plan.kind].read_machines(files),
        format=study["format"],
        registration=_read_registration(files),
        citation=_citation_in(study),
        is_public=study.get("public") is True,
        created_at=_time_or_month(times, "created_at"),
    )
    return content, study


def _time_or_month(row: CsvRow, column: str) -> date | None:
    """Return a time, or a month's first day where a cell holds no more, as public bundles do."""
    cell = row.optional_text(column) or ""
    if not MONTH.fullmatch(cell):
        return row.optional_time(column)
    return date.fromisoformat(f"{cell}-01")


def _read_registration(files: Files) -> str | None:
    """Return the text of registration.json, where there is one; raises BundleError."""
    if REGISTRATION_FILE not in files:
        return None
    text = file_text(files, REGISTRATION_FILE)
    try:
        read_registration(text)
    except SurveyError as error:
        raise BundleError(str(error).rstrip(".")) from None
    return text


def _citation_in(study: Mapping[str, Any]) -> Citation | None:
    """Return how a published study is cited; raises BundleError where study.json cannot be so."""
    values = study.get("publication")
    if values is None:
        return None
    try:
        return Citation.from_json(study["slug"], study["digest"], values)
    except ValueError as error:
        raise BundleError(f"{STUDY_FILE}, publication: {error}") from None


def _read_beside(
    files: Files,
    file_format: int,
    plan: Plan,
    participants: Callable[[], Iterable[ParticipantRecord]],
    questions: Iterable[TaskQuestion],
    count: Callable[[], int],
) -> list[BesideRecord]:
    """Read beside.csv, where the plan asks for something; it has a row for each answer."""
    if not plan.ask:
        return []
    people = {each.public_id for each in participants()}
    numbers = {each.number for each in questions}
    seen: set[tuple[str, int]] = set()
    [table] = beside_tables(plan, QUESTIONS_FILE)
    names = {field.name: beside_name(field.name) for field in plan.ask}
    if file_format == 1:
        [table] = former_tables([table])
        names = {name: name for name in names}

    def parse(row: CsvRow) -> BesideRecord:
        key = row.text("participant"), row.whole_number("question", 1)
        if key[0] not in people or key[1] not in numbers:
            raise row.fault("participant", "no such participant or question")
        if key in seen:
            raise row.fault("question", "each participant has a row for each answer")
        seen.add(key)
        cells = {name: row.cells.get(column, "") for name, column in names.items()}
        row = replace(row, cells={**row.cells, **cells})
        values = _values_of(row, plan.ask)
        for field in plan.ask:
            if field.required and field.kind != "text" and field.name not in values:
                raise row.fault(field.name, "the study needs an answer")
        return BesideRecord(*key, values)

    rows = sorted(parse_rows(files, table.name, table.needed, parse))
    if len(rows) != (answers := count()):
        raise BundleError(f"{table.name} has {len(rows)} rows for {answers} answers")
    return rows


def _values_of(row: CsvRow, fields: Iterable[PersonalField]) -> dict[str, FieldAnswer]:
    """Return the answers to fields in a row, by name, without those that are empty."""
    return {
        field.name: _parse_personal_field(row, field, cell)
        for field in fields
        if (cell := row.optional_text(field.name)) is not None
    }


def read_item_rows(files: Files) -> list[Item]:
    """Read items.csv, where there is one; raises BundleError."""
    key, *rest = ITEMS_TABLE.names
    return _parse_if_there(
        files, ITEMS_TABLE, lambda row: Item(row.text(key), *map(row.optional_text, rest))
    )


def read_topic_rows(files: Files) -> list[Topic]:
    """Read topics.csv, where there is one; raises BundleError."""
    key, *rest = TOPICS_TABLE.names
    return _parse_if_there(
        files, TOPICS_TABLE, lambda row: Topic(row.text(key), *map(row.optional_text, rest))
    )


def read_thumbnails(files: Files) -> list[Thumbnail]:
    """Read thumbnails.csv, where there is one; raises BundleError."""

    def parse(row: CsvRow) -> Thumbnail:
        try:
            picture = base64.b64decode(row.text("thumbnail"), validate=True)
        except ValueError:
            picture = b""
        if not (picture.startswith(b"RIFF") and picture[8:12] == b"WEBP"):
            raise row.fault("thumbnail", "a WebP picture in base64 is needed")
        size = row.whole_number("width", 1), row.whole_number("height", 1)
        return Thumbnail(row.text("sha256"), *size, picture)

    return _parse_if_there(files, THUMBNAILS_TABLE, parse)


def _parse_if_there(files: Files, table: Table, parse: Callable[[CsvRow], Parsed]) -> list[Parsed]:
    return [*parse_rows(files, table.name, table.needed, parse)] if table.name in files else []


def replicate(files: Files, sources: SourceFiles | None = None) -> Iterator[str]:
    """Check a bundle, which needs no database; yield a sentence for each check that it passes.

    ``sources``: of lists from runs; without them these are not recomputed, as a sentence says.
    What is in the bundle is compared. The last sentences say what is not: what the version that
    made the bundle did not write, or wrote and this one does not.

    Raises BundleError at the first check that fails: file, row, column, what the file holds
    and what was recomputed.
    """
    facts = _require_sums(files)
    yield f"{len(files) - 1} files have the sums in {SUMS}"
    comparison = BundleComparison(json_of(files, STUDY_FILE).get("versions"))
    with _explained(comparison):
        content, study = read_bundle(files)
        yield f"{STUDY_FILE} holds a valid plan: {content.plan.title}"
        if content.format < FORMAT:
            yield comparison.of_format(content.format)
        try:
            yield from _recompute(files, facts, content, study, comparison)
            yield from files_of_kind(content.plan).recompute_sources(content, sources)
        except BundleError as error:
            raise BundleError(f"{error}{_other_packages(study)}") from None
    yield from comparison.notes()


@contextmanager
def _explained(comparison: BundleComparison) -> Iterator[None]:
    """Add to an error which version made the bundle."""
    try:
        yield
    except BundleError as error:
        raise comparison.explained(error) from None


def _read_study(files: Files) -> dict[str, Any]:
    """Return the values of study.json; raises BundleError where one is missing or cannot be."""
    study = json_of(files, STUDY_FILE)
    number = study.get("format")
    if type(number) is not int or number < 1:
        raise BundleError(f"{STUDY_FILE}, format: {number!r} found; 1 or {FORMAT} is needed")
    if number > FORMAT:
        raise BundleError(
            f"{STUDY_FILE}, format: {number} found; this version of the survey reads formats 1 to "
            f"{FORMAT}. Install the latest ranking-survey to read it"
        )
    for key, value_type in STUDY_TYPES.items():
        if key not in study or not isinstance(study[key], value_type):
            raise BundleError(f"{STUDY_FILE}, {key}: {study.get(key)!r} found, or it is missing")
    if not _is_list_of(study["consent"], {"version": int, "text": str, "digest": str}):
        raise BundleError(f"{STUDY_FILE}, consent: version, text and digest are needed")
    looks = study.setdefault("looks", [])
    if not _is_list_of(looks, {"at": str, "participants": int, "reason": str}):
        raise BundleError(f"{STUDY_FILE}, looks: at, participants and reason are needed for each")
    if study["status"] not in STUDY_STATUSES:
        raise BundleError(
            f"{STUDY_FILE}, status: {study['status']!r} found; allowed are "
            f"{', '.join(STUDY_STATUSES)}"
        )
    packages = study.get(PACKAGES, {})
    if not isinstance(packages, dict) or not all(
        isinstance(each, str) for each in packages.values()
    ):
        raise BundleError(f"{STUDY_FILE}, {PACKAGES}: a package for each measure is needed")
    return study


def _is_list_of(values: object, types: Mapping[str, type]) -> bool:
    """Return whether values are a list of objects, each with these names and types."""
    return isinstance(values, list) and all(
        isinstance(each, dict) and {name: type(value) for name, value in each.items()} == types
        for each in values
    )


def _plan_of(study: Mapping[str, Any]) -> Plan:
    try:
        return plan_from_json(study["plan"])
    except (ValueError, TypeError) as error:
        raise BundleError(f"{STUDY_FILE}, plan: {error}{_other_packages(study)}") from None


def _other_packages(study: Mapping[str, Any]) -> str:
    """Return which packages of measures and kind are missing here, or are others than there."""
    packages, plan = [], study["plan"]
    for name, package in study.get(PACKAGES, {}).items():
        if name == KIND_KEY:
            is_known, here = has_known_kind(plan), KINDS.packages.get(str(plan.get("kind")))
        else:
            is_known, here = name in MEASURES, MEASURES.package(name) if name in MEASURES else None
        if not is_known:
            packages.append(f"{name} comes with the package {package}, not installed here")
        elif here != package:
            packages.append(f"{name} is of {package} there and of {here} here")
    return f" ({'; '.join(packages)})" if packages else ""


def read_identities(
    files: Files, participants: Iterable[ParticipantRecord]
) -> list[IdentityRecord]:
    """Read identities.csv; raises BundleError."""
    ids = {participant.public_id for participant in participants}

    def parse(row: CsvRow) -> IdentityRecord:
        try:
            parameters = parse_json(row.text("parameters"))
        except (ValueError, RecursionError):
            parameters = None
        if not isinstance(parameters, dict):
            raise row.fault("parameters", "a JSON object is needed")
        if row.text("participant") not in ids:
            raise row.fault("participant", f"{PARTICIPANTS_FILE} has no participant of that id")
        return IdentityRecord(
            row.text("participant"),
            row.optional_text("external_id"),
            parameters,
            row.optional_time("arrived_at"),
        )

    return [*parse_rows(files, IDENTITIES, ("participant", "external_id", "parameters"), parse)]


def _read_participants(
    files: Files, plan: Plan, versions: Sequence[int], *, include_test: bool
) -> Callable[[], Iterator[ParticipantRecord]]:
    """Return what reads participants.csv by id; ``versions``: of the consent texts in study.json.

    A file that is sorted is read again at each call, so that memory does not have to hold it.
    """
    asked = [field.name for field in (*plan.personal_fields, *plan.asked_at_end)]
    columns = ("participant", "status", *asked, "started_at", "completed_at")
    ids: set[str] = set()

    def parse(row: CsvRow) -> ParticipantRecord:
        participant = _participant(row, plan, versions)
        if participant.public_id in ids:
            raise row.fault("participant", "each participant is allowed once")
        if participant.is_test and not include_test:
            raise row.fault("is_test", f"{STUDY_FILE} says that test data are left out")
        if not in_order:
            ids.add(participant.public_id)
        return participant

    in_order = is_sorted(files, PARTICIPANTS_FILE, "participant")
    rows = partial(parse_rows, files, PARTICIPANTS_FILE, columns, parse)
    if in_order:
        for _ in rows():
            continue  # to find the faults before any is used
        return rows
    participants = sorted(rows(), key=attrgetter("public_id"))
    return lambda: iter(participants)


def _participant(row: CsvRow, plan: Plan, versions: Sequence[int]) -> ParticipantRecord:
    stored = {field: parse(row) for field, parse in _CELL_PARSERS.items()}
    version = row.optional_whole_number("consent_version")
    completed_at = stored["completed_at"]
    if not stored["public_id"].isprintable():
        raise row.fault("participant", "printable characters are allowed")
    if (completed_at is None) == (stored["status"] == "complete"):
        raise row.fault("completed_at", "a time where the status is complete, and only there")
    if completed_at is not None and completed_at < stored["started_at"]:
        raise row.fault("completed_at", f"begun was at {row.text('started_at')}")
    if version is not None and version not in versions:
        known = ", ".join(map(str, versions)) or "none"
        raise row.fault("consent_version", f"{STUDY_FILE} has the versions {known}")
    if stored["excluded"] and stored["exclude_reason"] is None:
        raise row.fault("exclude_reason", "a reason is needed for an excluded participant")
    left_out = stored["excluded"] or stored["status"] == "screened_out"
    if stored["exclude_reason"] is not None and not left_out:
        raise row.fault("exclude_reason", "only who is excluded or screened out has a reason")
    if stored["arm"] is not None and stored["arm"] not in plan.arms:
        arms = ", ".join(plan.arms) or "none"
        raise row.fault("arm", f"the plan has the arms {arms}")
    personal, closing = (
        _values_of(row, fields) for fields in (plan.personal_fields, plan.asked_at_end)
    )
    return ParticipantRecord(
        **stored, personal=personal, consent_version=version, closing=closing or None
    )


def _cell_parser(name: str, source: InstrumentedAttribute[object]) -> Callable[[CsvRow], Any]:
    """Return what parses the cells of a column as the database's column would store them.

    A file without the column, from before there was one, has the default of the database's.
    """
    stored = source.property.columns[0]
    allowed = listed_values(source)
    needed = "a time is needed" if isinstance(stored.type, UtcDateTime) else "a value is needed"
    parse = next(
        parse for column_type, parse in _PARSERS.items() if isinstance(stored.type, column_type)
    )

    def parse_cell(row: CsvRow) -> Any:
        if name not in row.cells and getattr(stored.default, "is_scalar", False):
            return stored.default.arg
        is_empty = stored.nullable and row.optional_text(name) is None
        value = None if is_empty else parse(row, name)
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
    if field in EXPORTED and field not in (PERSONAL, CLOSING)
}


def _parse_personal_field(row: CsvRow, field: PersonalField, cell: str) -> str | int:
    """Return the value of a personal field, which the page would have accepted."""
    if field.kind == "choice" and cell not in field.options:
        raise row.fault(field.name, f"allowed are {', '.join(field.options)}")
    if field.kind not in ("number", "scale"):
        return cell
    if not re.fullmatch(r"-?[0-9]{1,10}", cell):
        raise row.fault(field.name, "a whole number is needed")
    (lowest, highest), number = field.bounds, int(cell)
    if (lowest is not None and number < lowest) or (highest is not None and number > highest):
        raise row.fault(field.name, f"allowed is {bounds_of(field)}")
    return number


def _recompute(
    files: Files,
    facts: Mapping[str, FileFacts],
    content: Content,
    study: dict[str, Any],
    comparison: BundleComparison,
) -> Iterator[str]:
    kind = files_of_kind(content.plan)
    yield kind.check_questions(content)
    _check_digest(content, study, comparison)
    study.pop("texts", None)  # of a million participants perhaps; nothing looks at them again
    yield f"the digest is that of the plan and its questions: {content.digest}"
    participants = sum(1 for _ in content.participants())
    yield f"{content.answers.count()} answers of {participants} participants can be read"
    content = _with_identities(files, content)
    recomputed = dict(bundle_files(content))
    tables = {table.name: table for table in tables_in(content)}
    described = _described(content, facts, study.get("versions"))
    _check_names(files, {*recomputed, *described}, tables.values(), comparison)
    yield from _check_script(files, recomputed, comparison)
    compared = _compared_files(content, tables.values())
    ignored = () if _has_times(files, content.plan) else (SECONDS, FLAGGED.name)
    for name, how in compared.items():
        if name in recomputed and name in files:
            if _sum_of(recomputed[name]) != facts[name].sha256:  # else it is the same to the byte
                again, table = dict(bundle_files(content))[name], tables.get(name)
                _compare_table(files, name, again, table, comparison, ignored)
            yield f"{name}: {how}"
    yield from _check_answers(files, content, {*tables} - {*compared}, ignored)
    _check_codebook(files, recomputed[CODEBOOK], comparison)
    yield f"{CODEBOOK}: tells of every column"
    others = {*compared, *tables, CODEBOOK, STUDY_FILE, ANALYSIS, SCRIPT, REGISTRATION_FILE}
    machines = {name for name in recomputed if name.startswith(f"{MACHINES_FOLDER}/")}
    texts = [name for name in recomputed if name not in others | machines]
    for name in texts:
        if name in files:
            _compare_text(files, name, recomputed[name])
    if texts:
        yield f"{len(texts)} files of judgements: recomputed from the answers"
    if content.registration:
        digest = read_registration(content.registration)["items"].get("digest")
        same = "that" if digest == content.digest else "not that"
        yield f"{REGISTRATION_FILE}: its digest is {same} of the study. {ONLY_THERE}"
    _check_minutes(files, recomputed["participants.csv"])
    yield "participants.csv: minutes recomputed"
    yield _check_analysis(files, content, comparison)
    for machine in content.machines:
        yield KINDS[content.plan.kind].replay_machine(content, machine)
        figures = json.loads("".join(recomputed[machine.figures_file]))
        _compare(json_of(files, machine.figures_file), figures, machine.figures_file, comparison)
        yield f"{machine.figures_file}: every figure recomputed"
    yield from _check_descriptions(files, described, comparison)


def _described(
    content: Content, facts: Mapping[str, FileFacts], versions: object
) -> dict[str, list[str]]:
    versions = versions if isinstance(versions, dict) else {}
    return dict(description_files(content, csv_tables(content), facts, versions))


def _check_descriptions(
    files: Files, described: Mapping[str, Iterable[str]], comparison: BundleComparison
) -> Iterator[str]:
    """Compare the files that describe the others; another version may describe them otherwise."""
    same = []
    for name, lines in described.items():
        if name not in files:
            comparison.lacks(name)
            continue
        text = "".join(lines)
        if file_text(files, name) == text:
            same.append(name)
        elif not comparison.is_ours:
            comparison.rewords(name)
        elif name.endswith(".json"):
            _compare(json_of(files, name), json.loads(text), name, comparison)
        else:
            _compare_text(files, name, [text])
    if same:
        yield f"{list_words(same)}: as the other files have it"


def _compared_files(content: Content, tables: Iterable[Table]) -> dict[str, str]:
    """Return the files that are compared with what is recomputed, each with how it is."""
    kind = files_of_kind(content.plan)
    results = [table.name for table in kind.result_tables(content.plan)]
    return {
        **kind.recomputed,
        **{name: "recomputed" for name in results if name not in kind.recomputed},
        **{table.name: "each item of a list again" for table in tables if table.is_twin},
    }


def _number_columns(table: Table) -> set[str]:
    """Return the columns of a table that hold numbers; "values" has several in a cell."""
    numbers = {each.name for each in table.columns if describe_column(each)[0] == "number"}
    return {"values", *numbers}


def _check_codebook(files: Files, recomputed: Iterable[str], comparison: BundleComparison) -> None:
    """Compare the columns that the codebook tells of with those of the files, by their names.

    In which words it tells of them is a matter of the version that wrote the bundle.
    """
    known = {
        (cells[0], cells[1]): cells[2:]
        for cells in islice(read_cells(_split_lines(recomputed), CODEBOOK), 1, None)
    }
    headings = {name: _heading(files, name) for name in files if name.endswith(".csv")}
    rows = set()
    for number, cells in enumerate(read_cells(read_lines(files, CODEBOOK), CODEBOOK), 1):
        name, column, *words = [*cells, "", ""]
        if number == 1:
            continue
        rows.add((name, column))
        if (name, column) not in known:
            place = f"{CODEBOOK}, row {number}: {name} {column}"
            comparison.holds(place, "is no column of a file")
        elif words[: len(cells) - 2] != known[name, column]:
            comparison.rewords(f"{CODEBOOK}, {name} {column}")
    for name, column in known:
        if column in headings.get(name, ()) and (name, column) not in rows:
            comparison.lacks(f"{CODEBOOK}, the row for {name} {column}")


def _heading(files: Files, name: str) -> list[str]:
    return next(read_cells(read_lines(files, name), name), [])


def _check_names(
    files: Files, known: Container[str], tables: Iterable[Table], comparison: BundleComparison
) -> None:
    """Compare the names of files and columns; reading has refused a bundle that lacks some."""
    # A file that no other mentions could hold anything under the bundle's sums.
    for name in files:
        if name not in known and name != SUMS:
            comparison.holds(name, "does not belong to this study's bundle")
    for table in tables:
        if table.name not in files:
            _check_absent(files, table, comparison)
            continue
        for column in next(read_cells(read_lines(files, table.name), table.name), []):
            if column not in table.names:
                comparison.holds(f"{table.name}, row 1: the column {column!r}")


def _check_absent(files: Files, table: Table, comparison: BundleComparison) -> None:
    """Note a table that the bundle's version did not write; its codebook tells whether it did."""
    rows = read_cells(read_lines(files, CODEBOOK), CODEBOOK)
    if any(cells[:1] == [table.name] for cells in rows):
        raise BundleError(f"{table.name} is missing; {CODEBOOK} describes it")
    comparison.lacks(table.name)


def _check_script(
    files: Files, known: Container[str], comparison: BundleComparison
) -> Iterator[str]:
    """Compare the script beside long.csv, which people run, with the survey's own.

    Before its text is changed in a later version, the sums of earlier texts have to be accepted.
    """
    if LONG in files:
        if SCRIPT not in files:
            raise BundleError(f"{SCRIPT} is missing; it belongs to {LONG}")
        if file_text(files, SCRIPT) != script():
            raise BundleError(f"{SCRIPT} is not the survey's script: do not run it")
        yield f"{SCRIPT}: the survey's own script"
    elif SCRIPT in files:
        raise BundleError(f"{SCRIPT} does not belong to a bundle without {LONG}")
    elif SCRIPT in known:
        comparison.lacks(SCRIPT)


def require_bundle(files: Files, name: str) -> None:
    """Refuse a zip or a folder that holds nothing of a bundle, or no checksums."""
    if {name.split("/")[0] for name in files} in ({MACHINES_FOLDER}, {JUDGEMENTS_FOLDER}):
        raise BundleError(
            f"{name} holds only a folder of a bundle. Name the zip, or the folder, of all its files"
        )
    has_sums = sums_name(files) is not None
    if not has_sums and STUDY_FILE not in files:
        raise BundleError(not_a_bundle(name))
    if not has_sums:
        raise BundleError(
            f"{name} has no {SUMS}, the list of checksums of a bundle's files. Take it from the "
            "published bundle; `survey analyse` reads the files without it"
        )


def _require_sums(files: Files) -> dict[str, FileFacts]:
    """Return size and sum of each file; refuse files that differ, with what and what to do."""
    damage = find_damage(files)
    if damage.is_any:
        raise explain(damage, _recompute_damaged)
    return damage.facts


def _recompute_damaged(damage: Damage) -> None:
    files = damage.files
    content, study = read_bundle(files)
    files_of_kind(content.plan).check_questions(content)
    content = _with_identities(files, content)
    numbers = {
        table.name: [
            column.name for column in table.columns if describe_column(column)[0] in NUMBERS
        ]
        for table in csv_tables(content)
    }
    damage.compare(dict(bundle_files(content)), numbers)
    if damage.unexplained:
        comparison = BundleComparison(study.get("versions"))
        try:
            for _ in _recompute(files, damage.facts, content, study, comparison):
                continue
        except BundleError as error:
            # Descriptions hold the sizes of files, which a changed value changes too.
            intact = tuple({*DESCRIPTIONS} - {*damage.changed})
            if not str(error).startswith(intact):
                raise


def _with_identities(files: Files, content: Content) -> Content:
    if IDENTITIES not in files:
        return content
    identities = read_identities(files, content.participants())
    return replace(content, identities=lambda: identities)


def _sum_of(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode())
    return digest.hexdigest()


def _check_digest(content: Content, study: Mapping[str, Any], comparison: BundleComparison) -> None:
    digest = study_digest(
        content.plan, content.all_questions, content.generator_version, content.items_digest
    )
    if digest != content.digest:
        raise BundleError(f"{STUDY_FILE}, digest: {content.digest} found; recomputed {digest}")
    for consent in content.consents:
        if text_digest(consent.text) != consent.digest:
            raise BundleError(
                f"{STUDY_FILE}, consent {consent.version}: not the digest of its text"
            )
    if content.plan.consent not in [consent.text for consent in content.consents]:
        raise BundleError(f"{STUDY_FILE}, consent: the plan's text is not among them")
    # The plan was read and is in the digest; a later version may have more fields in a plan.
    unchecked = {name: study.get(name) for name in ("versions", "plan")}
    computed = json.loads("".join(study_lines(replace(content, participants=lambda: iter(())))))
    expected = {"looks": [], **computed, **unchecked, "texts": study.get("texts")}
    _compare(study, expected, STUDY_FILE, comparison)
    _check_texts(study.get("texts"), content, comparison)


def _check_texts(texts: object, content: Content, comparison: BundleComparison) -> None:
    """Compare the participants' texts in study.json; memory holds those of all if they differ."""

    def expected() -> Iterator[tuple[str, dict[str, str]]]:
        for participant in content.participants():
            if wanted := cell_texts(participant):
                yield participant.public_id, wanted

    if isinstance(texts, Mapping):
        same = [texts.get(public_id) == wanted for public_id, wanted in expected()]
        if all(same) and len(same) == len(texts):
            return
    _compare(texts, dict(expected()), f"{STUDY_FILE}, texts", comparison)


def _check_analysis(files: Files, content: Content, comparison: BundleComparison) -> str:
    figures = json_of(files, ANALYSIS)
    recomputed = json.loads(stable_json(content.results.all_json()))
    checked = f"{ANALYSIS}: every figure recomputed"
    if not _has_times(files, content.plan):
        answers = files_of_kind(content.plan).answers_file
        figures, recomputed = _without_times(figures), _without_times(recomputed)
        checked += f", but for those of times, which {answers} lacks"
    _compare(figures, recomputed, ANALYSIS, comparison)
    return checked


def _has_times(files: Files, plan: Plan) -> bool:
    """Return whether a bundle tells how long answers took."""
    heading = _heading(files, files_of_kind(plan).answers_file)
    return {"shown_at", "submitted_at", "active_seconds"} <= {*heading}


def _without_times(figures: Any) -> Any:
    """Leave out the figures of an analysis that rest on how long answers took."""
    if not (isinstance(figures, dict) and isinstance(figures.get("bias"), dict)):
        return figures
    timed = ("positions", "fatigue")
    bias = {name: value for name, value in figures["bias"].items() if name not in timed}
    return {**figures, "bias": bias, "quality": None, "sensitivity": None}


def _compare_table(
    files: Files,
    name: str,
    recomputed: Iterable[str],
    table: Table | None,
    comparison: BundleComparison,
    ignored: Container[str] = (),
) -> None:
    """Compare a file with its recomputed texts of many lines, cell by cell.

    ``table``: says which columns hold numbers, which may be rounded differently; ``ignored``:
    columns that cannot be recomputed.
    """
    numbers = _number_columns(table) if table else ()
    recomputed_rows = read_cells(_split_lines(recomputed), name)
    written_rows = read_cells(read_lines(files, name), name)
    written = _heading(files, name)
    names = table.names if table else written
    for column in [each for each in names if each not in written]:
        comparison.lacks(f"{name}, {column}")
    if {*names} != {*written}:
        recomputed_rows = _columns(recomputed_rows, [each in written for each in names])
        written_rows = _columns(written_rows, [each in names for each in written])
    rows = zip_longest(written_rows, recomputed_rows)
    heading: list[str] = []
    for number, (cells, expected) in enumerate(rows, 1):
        heading = heading or (expected or [])
        if cells == expected:
            continue
        if cells is None or expected is None:
            fault = "is missing" if cells is None else "is one too many"
            raise BundleError(f"{name}, row {number} {fault}")
        if len(cells) != len(expected):
            raise BundleError(
                f"{name}, row {number}: {len(cells)} cells found; {len(expected)} are needed"
            )
        for column, cell, wanted in zip(heading, cells, expected, strict=True):
            if cell == wanted or column in ignored:
                continue
            if not (column in numbers and _same_numbers(cell, wanted)):
                raise BundleError(
                    f"{name}, row {number}, column {column}: {cell!r} found; recomputed {wanted!r}"
                )


def _check_answers(
    files: Files, content: Content, names: Container[str], ignored: Container[str]
) -> Iterator[str]:
    """Compare the cells in tables of answers that repeat what is known of study and people."""
    known = [column.name for column in (STUDY, TOPIC, *COUNTING)]
    topics = {question.number: topic_of(question) for question in content.questions}
    for table in tables_in(content):
        if table.name not in names or table.names[0] != STUDY.name:
            continue
        cells, participant = AnswerCells(content), ""
        counting: tuple[str, ...] = ()
        for row in read_rows(files, table.name, ("participant", "question"), Faults()):
            if row.cells["participant"] != participant:
                participant = row.cells["participant"]
                counting = cells.counting(row.text("participant"))
            expected = (content.slug, topics[row.whole_number("question")], *counting)
            for column, cell in zip(known, expected, strict=True):
                is_same = row.cells.get(column, cell) in (cell, escaped(cell))
                if not (is_same or column in ignored):
                    raise row.fault(column, f"recomputed {cell!r}")
        yield f"{table.name}: topics, and who counts, as the other files say"


def _columns(rows: Iterable[list[str]], are_wanted: Sequence[bool]) -> Iterator[list[str]]:
    """Yield rows without some of their columns; cells beyond the heading stay."""
    for cells in rows:
        yield [*compress(cells, are_wanted), *cells[len(are_wanted) :]]


def _compare_text(files: Files, name: str, recomputed: Iterable[str]) -> None:
    """Compare a file with its recomputed lines."""
    lines = zip_longest(read_lines(files, name), _split_lines(recomputed))
    for number, (line, expected) in enumerate(lines, 1):
        if line != expected:
            current, wanted = (
                "nothing" if text is None else repr(text.strip()) for text in (line, expected)
            )
            raise BundleError(f"{name}, line {number}: {current} found; recomputed {wanted}")


def _split_lines(texts: Iterable[str]) -> Iterator[str]:
    return chain.from_iterable(io.StringIO(text, newline="") for text in texts)


def _check_minutes(files: Files, recomputed: Iterable[str]) -> None:
    """Compare what is computed in participants.csv, which may lack it; the rest of it was read."""
    expected_rows = read_cells(_split_lines(recomputed), PARTICIPANTS_FILE)
    heading = next(expected_rows)
    names = ("minutes", *ATTENTION_NAMES, FLAGS)
    columns = {name: heading.index(name) for name in names if name in heading}
    rows = read_rows(files, PARTICIPANTS_FILE, (), Faults())
    for row, expected in zip(rows, expected_rows, strict=True):
        for name, column in columns.items():
            wanted = expected[column]
            cell = row.cells.get(name, wanted)
            if cell != wanted and not _same_numbers(cell, wanted):
                raise row.fault(name, f"recomputed {wanted!r}")


def _same_numbers(cell: str, recomputed: str) -> bool:
    """Return whether the numbers in two cells are equal but for rounding."""
    if not (cell and recomputed):
        return False
    try:
        pairs = zip(cell.split(), recomputed.split(), strict=True)
        return all(math.isclose(float(a), float(b), rel_tol=RELATIVE_TOLERANCE) for a, b in pairs)
    except ValueError:
        return False


def _compare(value: object, recomputed: object, place: str, comparison: BundleComparison) -> None:
    """Compare values of a JSON file; raise BundleError for the first place where they differ."""
    if isinstance(recomputed, Mapping) and isinstance(value, Mapping):
        for name in recomputed:
            if name in value:
                _compare(value[name], recomputed[name], f"{place}, {name}", comparison)
            else:
                comparison.lacks(f"{place}, {name}")
        for name in [each for each in value if each not in recomputed]:
            comparison.holds(f"{place}, {name}")
    elif isinstance(recomputed, list) and isinstance(value, list) and len(value) == len(recomputed):
        for number, (item, expected) in enumerate(zip(value, recomputed, strict=True), 1):
            _compare(item, expected, f"{place} {number}", comparison)
    elif not _same_values(value, recomputed):
        fault = f"{place}: {_short(value)} found; recomputed {_short(recomputed)}"
        if not place.startswith(ANALYSIS) or not place.endswith(IN_WORDS):
            raise BundleError(fault)
        comparison.says_otherwise(place, fault)


def _same_values(value: Any, recomputed: Any) -> bool:
    numbers = (int, float)
    if type(value) not in numbers or type(recomputed) not in numbers:
        return type(value) is type(recomputed) and bool(value == recomputed)
    try:
        return math.isclose(
            value, recomputed, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE
        )
    except OverflowError:  # a whole number beyond all floats
        return False


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MOST_REPEATED else f"{text[:MOST_REPEATED]}…"
