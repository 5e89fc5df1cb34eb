"""Published studies of agreement, judged as Table 4 is: a folder of numbers and claims.

``study.yaml`` says where the numbers are printed and what the study claims; ``counts.csv`` has the
numbers, a row for each thing that they are about. The verdict of each claim follows from the
numbers by the kind of claim that it names (``claim_kinds.KINDS``).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import yaml

from survey.core.text_input import did_you_mean, parse_number, shortened
from survey.errors import NotFoundError, SurveyError
from survey.paper.claim_fields import Claimed
from survey.paper.claim_kinds import KINDS
from survey.paper.reproduction import NOT_SUPPORTED, Claim, Reproduction, claims_document
from survey.services.analysis.sheets import Sheet
from survey.services.exchange.input_files import BundleError, CsvRow, Faults, read_file, read_rows

STUDY_FILE, TABLE_FILE = "study.yaml", "counts.csv"
FACTS = ("title", "authors", "source", "table", "numbers", "read")
OPTIONAL = ("licence", "remarks")
CLAIM_TEXTS = ("claim", "place", "kind")
INCLUDED = files("survey.paper") / "studies"
REMARKS = (
    "What a claim has between “ and ” is the study's own; all else is our reading of it.",
    "Where a claim makes several comparisons, p is after Holm's correction over them.",
    "Where tests take the answers as independent, answers of the same people or to the same "
    "question are worth fewer; the condition beside a verdict says how many fewer it bears.",
)


class StudyFolderError(SurveyError):
    """A folder that is not a study; a line for each fault: file, place, field, what is allowed."""


def included_studies() -> tuple[str, ...]:
    """Return the names of the studies that come with this project."""
    return tuple(sorted(folder.name for folder in INCLUDED.iterdir() if folder.is_dir()))


@cache
def included_study(name: str) -> Reproduction:
    """Return an included study, judged; raises NotFoundError for another name."""
    names = included_studies()
    if name not in names:
        raise NotFoundError(f"{shortened(name)} is not a study. {did_you_mean(name, names)}")
    with as_file(INCLUDED / name) as folder:
        return judged_study(folder)


def judged_study(folder: Path) -> Reproduction:
    """Judge a folder's claims by its numbers; raises StudyFolderError with all faults."""
    faults = Faults()
    facts = _facts(folder / STUDY_FILE)
    content = read_file(folder / TABLE_FILE).text.encode()
    claims = []
    with faults.collect(BundleError):
        rows = [*read_rows({TABLE_FILE: content}, TABLE_FILE, (), faults, foreign=True)]
        if not rows:
            raise BundleError(f"{TABLE_FILE}: no row found; one for each number is needed")
        for number, entry in enumerate(facts["claims"], 1):
            with faults.collect(BundleError):
                claims.append(_judged(number, entry, rows))
    if faults:
        raise StudyFolderError("\n".join(faults.sentences))
    sheet = _sheet(facts["table"], rows)
    remarks = (
        f"{facts['authors']}, “{facts['title']}”, {facts['source']}.",
        *(facts[name] for name in ("numbers", "read", "licence") if name in facts),
        *REMARKS,
        *facts.get("remarks", ()),
    )
    name = folder.resolve().name
    return Reproduction(
        name,
        {
            "study": {name: facts[name] for name in (*FACTS, *OPTIONAL) if name in facts},
            "counts": [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows],
        },
        (sheet,),
        claims=tuple(claims),
        remarks=remarks,
        table=sheet,
        documents={f"{name}-claims.md": claims_document(facts["title"], claims, [sheet], remarks)},
    )


def _facts(path: Path) -> dict[str, Any]:
    """Read ``study.yaml``; raises StudyFolderError for what is not one."""
    try:
        facts = yaml.safe_load(read_file(path).text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise StudyFolderError(f"{path.name}{place}: this is not YAML: {problem}") from None
    facts = facts if isinstance(facts, dict) else {}
    faults = _faults_of_texts(path.name, facts, FACTS, (*OPTIONAL, "claims"))
    claims = facts.get("claims")
    if not isinstance(claims, list) or not all(isinstance(claim, dict) for claim in claims or [0]):
        faults.append(
            f"{path.name}, field claims: a list is needed, each with {', '.join(CLAIM_TEXTS)}"
        )
    remarks = facts.get("remarks", [])
    if not isinstance(remarks, list) or not all(isinstance(remark, str) for remark in remarks):
        faults.append(f"{path.name}, field remarks: a list of sentences is needed")
    if faults:
        raise StudyFolderError("\n".join(faults))
    return facts


def _faults_of_texts(
    place: str, entry: Mapping[str, Any], needed: Sequence[str], allowed: Sequence[str] | None
) -> list[str]:
    """Return a sentence for each text that is missing, and for each field not ``allowed``."""
    faults = [
        f"{place}, field {name}: {shortened(str(entry.get(name, '')))} found; a text is needed"
        for name in needed
        if not isinstance(entry.get(name), str) or not entry[name].strip()
    ]
    if allowed is not None:
        known = [*needed, *allowed]
        faults += [
            f"{place}, field {name}: there is no such field. {did_you_mean(str(name), known)}"
            for name in entry
            if name not in known
        ]
    return faults


def _judged(number: int, entry: Mapping[str, Any], rows: Sequence[CsvRow]) -> Claim:
    """Return a claim with its verdict; raises BundleError for a field or cell that is wrong."""
    place = f"{STUDY_FILE}, claim {number}"
    if faults := _faults_of_texts(place, entry, CLAIM_TEXTS, None):
        raise BundleError("\n".join(faults))
    fields = {name: value for name, value in entry.items() if name not in CLAIM_TEXTS}
    claimed = Claimed(place, {**fields, "kind": entry["kind"]}, TABLE_FILE, rows)
    check = KINDS[claimed.choice("kind", [*KINDS])](claimed)
    for name in fields:
        if name not in claimed.used:
            raise claimed.fault(name, f"{entry['kind']} has no such field")
    return Claim(
        name=str(number),
        source=entry["place"],
        statement=entry["claim"].strip(),
        verdict=check.verdict(NOT_SUPPORTED),
        why=str(check.values["why"]),
        condition=str(check.values.get("condition", "")),
    )


def _sheet(title: str, rows: Sequence[CsvRow]) -> Sheet:
    fractions = [
        cell.partition(".")[2]
        for row in rows
        for cell in row.cells.values()
        if parse_number(cell) is not None
    ]
    return Sheet(
        "counts",
        title,
        tuple(rows[0].cells),
        tuple(tuple(map(_cell, row.cells.values())) for row in rows),
        decimals=max(map(len, fractions), default=0),
    )


def _cell(text: str) -> str | int | float | None:
    number = parse_number(text)
    if number is None:
        return text or None
    return int(number) if text.isdigit() else number
