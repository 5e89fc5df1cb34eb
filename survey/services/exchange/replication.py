"""Replicate a bundle: recompute everything in it, or name the first disagreement; and import it."""

import json
import math
import secrets
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from sqlalchemy.orm import Session

from survey import __version__, tokens
from survey.core.studies.faults import and_join
from survey.core.studies.participant_fields import ParticipantRecord
from survey.core.studies.plan import study_digest, text_digest
from survey.db import participant_queries, queries
from survey.db.export_queries import EXPORTED
from survey.db.models import (
    TASK_TABLES,
    ConsentText,
    Participant,
    Presentation,
    Researcher,
    StoredQuestion,
    StoredResponse,
    Study,
    now,
)
from survey.errors import SurveyError
from survey.services import accounts
from survey.services.exchange.bundle import (
    ANALYSIS,
    LAST_LINE,
    SUMS,
    files_of,
    files_of_kind,
    sha256_of,
    stable_json,
    study_lines,
    tables_in,
)
from survey.services.exchange.bundle_reader import read_bundle, read_identities
from survey.services.exchange.input_files import (
    BundleError,
    Faults,
    Files,
    json_of,
    read_cells,
    read_rows,
    text_of,
)
from survey.services.exchange.tables import IDENTITIES, PACKAGES, STUDY, Content
from survey.services.studies import lifecycle
from survey.services.studies.recruitment import Recruitment

# Computed on another machine, floats may differ in their last digit.
RELATIVE_TOLERANCE = 1e-9
ABSOLUTE_TOLERANCE = 1e-12
MOST_REPEATED = 200  # characters of a value, in a message


def replicate(files: Files) -> Iterator[str]:
    """Check a bundle, which needs no database; yield a sentence for each check that it passes.

    Raises BundleError for the first that it does not: file, row, column, what the file holds
    and what was recomputed.
    """
    _check_sums(files)
    yield f"{len(files) - 1} files have the sums in {SUMS}"
    content, study = read_bundle(files)
    yield f"{STUDY} holds a valid plan: {content.plan.title}"
    try:
        yield from _recompute(files, content, study)
    except BundleError as error:
        versions = study.get("versions")
        version = versions.get("survey") if isinstance(versions, Mapping) else None
        if version == __version__:
            raise
        note = f"made by version {version} of the survey; this is {__version__}"
        raise BundleError(f"{error} ({note})") from None


def import_bundle(
    session: Session, files: Files, name: str, slug: str, researcher: Researcher
) -> Study:
    """Store a bundle's study, closed, and return it; ``slug`` is empty for the bundle's own.

    Raises BundleError for a bundle that does not replicate, and SurveyError for an address that
    another study has.
    """
    # Recomputing takes a while, and a transaction would let participants' answers wait.
    session.rollback()
    for _ in replicate(files):
        continue
    content, _ = read_bundle(files)
    slug = slug or content.slug
    lifecycle.require_valid_slug(slug)
    if queries.find(session, Study, slug=slug):
        raise SurveyError(f"There is a study {slug!r} already; give this one another address.")
    study = _study(content, name, slug)
    session.add(study)
    session.flush()
    participants = {each.public_id: _participant(each, study) for each in content.participants()}
    session.add_all(participants.values())
    session.flush()
    _store_answers(session, study, content, participants)
    study.status, study.digest = "closed", content.digest
    study.opened_at, study.closed_at = content.opened_at, content.closed_at or now()
    accounts.share(session, study, researcher, "owner")
    accounts.log(session, study, researcher.name, "imported", name)
    session.commit()
    return study


def _recompute(files: Files, content: Content, study: Mapping[str, Any]) -> Iterator[str]:
    kind = files_of_kind(content.plan)
    yield kind.check_questions(content)
    _check_digest(content, study)
    yield f"the digest is that of the plan and its questions: {content.digest}"
    answers, participants = content.answers.count(), [*content.participants()]
    yield f"{answers} answers of {len(participants)} participants can be read"
    if IDENTITIES in files:
        identities = read_identities(files, participants)
        content = replace(content, identities=lambda: identities)
    recomputed = dict(files_of(content))
    _check_names(files, recomputed, content)
    for name, how in {**kind.recomputed, "codebook.csv": "tells of every column"}.items():
        if name in recomputed:
            _compare_table(name, text_of(files, name), recomputed[name])
            yield f"{name}: {how}"
    _check_minutes(files, recomputed["participants.csv"])
    yield "participants.csv: minutes recomputed"
    yield _check_analysis(files, content)


def _check_names(files: Files, known: Container[str], content: Content) -> None:
    """Refuse files and columns that no bundle has; reading has refused a bundle that lacks some."""
    # A file that no other mentions could hold anything under the bundle's sums.
    for name in files:
        if name not in known and name != SUMS:
            raise BundleError(f"{name} does not belong to this study's bundle")
    for table in tables_in(content):
        known = [column.name for column in table.columns]
        for name in next(read_cells(text_of(files, table.name), table.name), []):
            if name not in known:
                raise BundleError(f"{table.name}, row 1: the column {name!r} does not belong there")


def _check_sums(files: Files) -> None:
    lines = text_of(files, SUMS).splitlines(keepends=True)
    if not lines or lines[-1] != f"{LAST_LINE}{sha256_of(''.join(lines[:-1]).encode())}\n":
        raise BundleError(f"{SUMS} was changed: its last line is not the sum of those above it")
    sums = {}
    for number, line in enumerate(lines[:-1], 1):
        digest, _, name = line.rstrip("\n").partition("  ")
        if len(digest) != 64 or not name:
            raise BundleError(f"{SUMS}, line {number}: a sum and a file's name are needed")
        sums[name] = digest
    for name, digest in sums.items():
        if name not in files:
            raise BundleError(f"{name} is missing; {SUMS} lists it")
        if sha256_of(files[name]) != digest:
            raise BundleError(f"{name} was changed: it does not have the sum that {SUMS} gives")
    for name in files:
        if name not in sums and name != SUMS:
            raise BundleError(f"{name} does not belong to the bundle: {SUMS} does not list it")


def _check_digest(content: Content, study: Mapping[str, Any]) -> None:
    digest = study_digest(content.plan, content.all_questions, content.generator_version)
    if digest != content.digest:
        why = files_of_kind(content.plan).why_different(study)
        raise BundleError(f"{STUDY}, digest: {content.digest} found; recomputed {digest}{why}")
    for consent in content.consents:
        if text_digest(consent.text) != consent.digest:
            raise BundleError(f"{STUDY}, consent {consent.version}: not the digest of its text")
    if content.plan.consent not in [consent.text for consent in content.consents]:
        raise BundleError(f"{STUDY}, consent: the plan's text is not among them")
    # The plan was read and is in the digest; a later version may have more fields in a plan.
    unchecked = {name: study.get(name) for name in ("versions", "plan")}
    packages = {name: study[name] for name in (PACKAGES,) if name in study}
    computed = json.loads("".join(study_lines(content)))
    computed.pop(PACKAGES, None)
    expected = {**computed, **unchecked, **packages}
    _compare(study, expected, STUDY)


def _check_analysis(files: Files, content: Content) -> str:
    figures, recomputed = json_of(files, ANALYSIS), json.loads(stable_json(content.analysis_json))
    checked = f"{ANALYSIS}: every figure recomputed"
    answers = files_of_kind(content.plan).answers_file
    heading = next(read_cells(text_of(files, answers), answers), [])
    if not {"shown_at", "submitted_at", "active_seconds"} <= set(heading):
        figures, recomputed = _without_times(figures), _without_times(recomputed)
        checked += f", but for those of times, which {answers} lacks"
    missing = [name for name in recomputed if isinstance(figures, dict) and name not in figures]
    if missing:  # an earlier version did not compute them
        recomputed = {name: value for name, value in recomputed.items() if name not in missing}
        checked += f"; it does not hold {and_join(missing)}"
    _compare(figures, recomputed, ANALYSIS)
    return checked


def _without_times(figures: Any) -> Any:
    """Leave out the figures of an analysis that rest on how long answers took."""
    if not (isinstance(figures, dict) and isinstance(figures.get("bias"), dict)):
        return figures
    timed = ("positions", "fatigue")
    bias = {name: value for name, value in figures["bias"].items() if name not in timed}
    return {**figures, "bias": bias, "quality": None, "sensitivity": None}


def _compare_table(name: str, text: str, recomputed: Iterable[str]) -> None:
    """Compare a file with its recomputed lines, cell by cell."""
    rows = zip_longest(read_cells(text, name), read_cells("".join(recomputed), name))
    heading: list[str] = []
    for number, (cells, expected) in enumerate(rows, 1):
        heading = heading or (expected or [])
        if cells is None or expected is None:
            fault = "is missing" if cells is None else "is one too many"
            raise BundleError(f"{name}, row {number} {fault}")
        if len(cells) != len(expected):
            raise BundleError(
                f"{name}, row {number}: {len(cells)} cells found; {len(expected)} are needed"
            )
        for column, cell, wanted in zip(heading, cells, expected, strict=True):
            if not _same_cells(column, cell, wanted):
                raise BundleError(
                    f"{name}, row {number}, column {column}: {cell!r} found; recomputed {wanted!r}"
                )


def _check_minutes(files: Files, recomputed: Iterable[str]) -> None:
    """Compare the minutes in participants.csv, which may lack them; the rest of it was read."""
    name, faults = "participants.csv", Faults()
    expected_rows = read_rows({name: "".join(recomputed).encode()}, name, (), faults)
    for row, expected in zip(read_rows(files, name, (), faults), expected_rows, strict=True):
        wanted = expected.cells["minutes"]
        if not _same_cells("minutes", row.cells.get("minutes", wanted), wanted):
            raise row.fault("minutes", f"recomputed {wanted!r}")


def _same_cells(column: str, cell: str, recomputed: str) -> bool:
    """Return whether two cells are equal, but for the rounding of numbers that are computed."""
    if cell == recomputed:
        return True
    if column not in ("values", "minutes") or not (cell and recomputed):
        return False
    try:
        pairs = zip(cell.split(), recomputed.split(), strict=True)
        return all(math.isclose(float(a), float(b), rel_tol=RELATIVE_TOLERANCE) for a, b in pairs)
    except ValueError:
        return False


def _compare(value: Any, recomputed: Any, place: str) -> None:
    """Compare values of a JSON file; raise BundleError for the first place where they differ."""
    if isinstance(recomputed, Mapping) and isinstance(value, Mapping):
        for name in [*recomputed, *(name for name in value if name not in recomputed)]:
            if name not in value or name not in recomputed:
                fault = "is missing" if name not in value else "does not belong there"
                raise BundleError(f"{place}, {name} {fault}")
            _compare(value[name], recomputed[name], f"{place}, {name}")
    elif isinstance(recomputed, list) and isinstance(value, list) and len(value) == len(recomputed):
        for number, (item, expected) in enumerate(zip(value, recomputed, strict=True), 1):
            _compare(item, expected, f"{place} {number}")
    elif not _same_values(value, recomputed):
        raise BundleError(f"{place}: {_short(value)} found; recomputed {_short(recomputed)}")


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


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MOST_REPEATED else f"{text[:MOST_REPEATED]}…"


def _study(content: Content, name: str, slug: str) -> Study:
    return Study(
        slug=slug,
        plan_json=content.plan.as_json(),
        generator_version=content.generator_version,
        created_at=now(),
        imported_from=name[:200],
        recruitment=Recruitment().as_json(),
        questions=[
            StoredQuestion(number=each.number, content=each.as_json())
            for each in content.all_questions
        ],
        consent_texts=[
            ConsentText(created_at=now(), **vars(consent)) for consent in content.consents
        ],
    )


def _participant(record: ParticipantRecord, study: Study) -> Participant:
    consent_ids = {consent.version: consent.id for consent in study.consent_texts}
    consent_id = consent_ids.get(record.consent_version or 0)
    return Participant(
        study_id=study.id,
        # Of a token that is stored nowhere: an imported participant cannot be resumed.
        resume_hash=tokens.hash_token(secrets.token_urlsafe(32)),
        consent_id=consent_id,
        consented_at=record.started_at if consent_id else None,
        **{name: getattr(record, name) for name in EXPORTED},
    )


def _store_answers(
    session: Session, study: Study, content: Content, participants: Mapping[str, Participant]
) -> None:
    """Store how each question was shown and answered; which answers were changed is unknown."""
    tables = TASK_TABLES[content.plan.kind]
    rows = {row.number: row.id for row in study.questions}
    for record, drawn, answer in content.answers.to_import(content):
        participant, question_id = participants[record.participant], rows[record.question]
        presentation = Presentation(
            participant_id=participant.id,
            question_id=question_id,
            position=record.position or 0,
            shown_at=record.shown_at,
        )
        response = StoredResponse(
            participant_id=participant.id,
            question_id=question_id,
            submitted_at=record.submitted_at or participant.started_at,
            active_seconds=record.active_seconds,
            revisions=record.revisions or 0,
        )
        session.add_all((presentation, response))
        session.flush()
        for table, row, own in (
            (tables.presentation, presentation, drawn),
            (tables.response, response, answer),
        ):
            participant_queries.store_own_columns(session, table, row.id, vars(own))
