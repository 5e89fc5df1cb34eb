"""Replicating a bundle: everything in it recomputed, the first disagreement named."""

import json
import math
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from survey import __version__
from survey.core.measures import MEASURES
from survey.core.studies.digests import study_digest, text_digest
from survey.core.studies.generators import GENERATOR_VERSION
from survey.core.studies.plan import GIVEN
from survey.core.studies.texts import and_join
from survey.services.analysis.results_json import as_json
from survey.services.exchange.bundle import ANALYSIS, LAST_LINE, SUMS, files_of, sum_of, tables_in
from survey.services.exchange.bundle_tables import IDENTITIES
from survey.services.exchange.content import Content
from survey.services.exchange.input_files import (
    BundleError,
    Files,
    json_of,
    read_cells,
    read_sheet,
    text_of,
)
from survey.services.exchange.ordering_reading import RESPONSES
from survey.services.exchange.reading import Read, read_content, read_identities
from survey.services.exchange.study_file import PACKAGES, STUDY, as_text, lists_of, study_json

# Computed on another machine, floats may differ in their last digit.
SAME = 1e-9
ZERO = 1e-12
MOST_TOLD = 200  # characters of a value that an error repeats


@dataclass(frozen=True)
class Step:
    """One thing that was checked and agrees."""

    text: str


def replicate(files: Files) -> Iterator[Step]:
    """Check a bundle step by step, giving each step that agrees.

    Needs no database. Raises BundleError naming the first thing that does not agree:
    file, row, column, what was found and what was recomputed.
    """
    _check_sums(files)
    yield Step(f"{len(files) - 1} files have the sums in {SUMS}")
    read = read_content(files)
    yield Step(f"{STUDY} holds a valid plan: {read.content.plan.title}")
    try:
        yield from _recomputed(files, read)
    except BundleError as error:
        raise BundleError(f"{error}{_of_another_version(read)}") from None


def _recomputed(files: Files, read: Read) -> Iterator[Step]:
    content = read.content
    yield Step(_check_lists(content))
    _check_digest(read)
    yield Step(f"the digest is that of the plan and its questions: {content.digest}")
    answers, people = sum(1 for _ in content.answers()), [*content.people()]
    yield Step(f"{answers} answers of {len(people)} participants can be read")
    identities = read_identities(files, people)
    texts = dict(files_of(content, identities if IDENTITIES in files else None))
    _require_no_others(files, texts)
    _require_known_columns(files, content)
    for name, told in TABLES.items():
        if name in texts:
            _compare_table(name, text_of(files, name), texts[name])
            yield Step(f"{name}: {told}")
    _check_minutes(files, texts["participants.csv"])
    yield Step("participants.csv: minutes recomputed")
    yield Step(_check_analysis(files, content))


TABLES = {
    "questions.csv": "the lists as the plan gives them",
    "rankings.csv": "values, printed values and orders recomputed",
    "votes.csv": "credits recomputed from what was ticked",
    "table3.csv": "recounted",
    "table4.csv": "recounted",
    "codebook.csv": "tells of every column",
}


def _of_another_version(read: Read) -> str:
    """Tell that a bundle comes from another version, whose files may differ from ours."""
    versions = read.study.get("versions")
    made_by = versions.get("survey") if isinstance(versions, Mapping) else None
    if made_by == __version__:
        return ""
    return f" (made by version {made_by} of the survey; this is {__version__})"


def _require_no_others(files: Files, known: Container[str]) -> None:
    """Refuse files of which nothing says what they are; their sums alone mean little."""
    for name in files:
        if name not in known and name != SUMS:
            raise BundleError(f"{name} does not belong to this study's bundle")


def _require_known_columns(files: Files, content: Content) -> None:
    """Refuse columns that no bundle has; columns that may be missing may be missing."""
    for table in tables_in(content):
        known = [column.name for column in table.columns]
        for name in next(read_cells(text_of(files, table.name), table.name), []):
            if name not in known:
                raise BundleError(f"{table.name}, row 1: the column {name!r} does not belong there")


def _check_sums(files: Files) -> None:
    lines = text_of(files, SUMS).splitlines(keepends=True)
    if not lines or lines[-1] != f"{LAST_LINE}{sum_of(''.join(lines[:-1]).encode())}\n":
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
        if sum_of(files[name]) != digest:
            raise BundleError(f"{name} was changed: it does not have the sum that {SUMS} gives")
    for name in files:
        if name not in sums and name != SUMS:
            raise BundleError(f"{name} does not belong to the bundle: {SUMS} does not list it")


def _check_lists(content: Content) -> str:
    """Draw the lists anew from the seed, or compare them with the plan's own."""
    plan = content.plan
    if plan.generator != GIVEN and content.generator_version != GENERATOR_VERSION:
        raise BundleError(
            f"{STUDY}, generator_version: {content.generator_version} found; this version of the "
            f"survey draws with version {GENERATOR_VERSION}, so it cannot draw these lists anew"
        )
    try:
        drawn = {question.number: question for question in plan.draw_questions()}
    except ValueError as error:
        raise BundleError(f"{STUDY}, plan: {error}") from None
    practice = drawn.get(0)
    if lists_of(practice) != lists_of(content.practice) or (
        practice and content.practice and practice.marks != content.practice.marks
    ):
        raise BundleError(
            f"{STUDY}, practice: the seed gives other lists for the practice question"
        )
    for question in content.questions:
        if question.marks != drawn[question.number].marks:
            raise BundleError(
                f"questions.csv, question {question.number}: the plan gives other "
                f"{and_join(plan.marked or question.marks.kinds)}"
            )
        for letter, ranks in question.lists.items():
            expected = drawn[question.number].lists[letter]
            if ranks != expected:
                raise BundleError(
                    f"questions.csv, question {question.number}, list {letter}: "
                    f"{' '.join(map(str, ranks))} found; the plan gives "
                    f"{' '.join(map(str, expected))}"
                )
    if plan.generator == GIVEN:
        return f"the lists of {plan.questions} questions are the plan's own"
    return f"the lists of {plan.questions} questions come out of the seed {plan.seed} again"


def _check_digest(read: Read) -> None:
    content = read.content
    questions = [*([content.practice] if content.practice else []), *content.questions]
    digest = study_digest(content.plan, questions, content.generator_version)
    if digest != content.digest:
        raise BundleError(
            f"{STUDY}, digest: {content.digest} found; recomputed {digest}{_other_packages(read)}"
        )
    for consent in content.consents:
        if text_digest(consent.text) != consent.digest:
            raise BundleError(f"{STUDY}, consent {consent.version}: not the digest of its text")
    if content.plan.consent not in [consent.text for consent in content.consents]:
        raise BundleError(f"{STUDY}, consent: the plan's text is not among them")
    # The plan was read and is in the digest; a later version may know more fields of one.
    free = {name: read.study.get(name) for name in ("versions", "plan")}
    packages = {name: read.study[name] for name in (PACKAGES,) if name in read.study}
    computed = {
        name: value for name, value in json.loads(study_json(content)).items() if name != PACKAGES
    }
    expected = {**computed, **free, **packages}
    _compare(dict(read.study), expected, STUDY)


def _other_packages(read: Read) -> str:
    """Say which measures of other packages are of another version here."""
    other = [
        f"{name} is of {package} there and of {MEASURES.package(name)} here"
        for name, package in read.study.get(PACKAGES, {}).items()
        if MEASURES.package(name) != package
    ]
    return f" ({and_join(other)})" if other else ""


def _check_analysis(files: Files, content: Content) -> str:
    found, expected = json_of(files, ANALYSIS), _plain(as_json(content.analysis))
    told = f"{ANALYSIS}: every figure recomputed"
    heading = next(read_cells(text_of(files, RESPONSES), RESPONSES), [])
    if not {"shown_at", "submitted_at", "active_seconds"} <= set(heading):
        found, expected = _without_times(found), _without_times(expected)
        told += f", but for those of times, which {RESPONSES} lacks"
    missing = [name for name in expected if isinstance(found, dict) and name not in found]
    if missing:  # made before these figures were
        expected = {name: value for name, value in expected.items() if name not in missing}
        told += f"; it does not hold {and_join(missing)}"
    _compare(found, expected, ANALYSIS)
    return told


def _without_times(figures: Any) -> Any:
    """Leave out the figures of an analysis that rest on how long answers took."""
    if not (isinstance(figures, dict) and isinstance(figures.get("bias"), dict)):
        return figures
    timed = ("positions", "fatigue")
    bias = {name: value for name, value in figures["bias"].items() if name not in timed}
    return {**figures, "bias": bias, "quality": None, "sensitivity": None}


def _compare_table(name: str, found: str, expected: Iterable[str]) -> None:
    """Compare a file with its recomputed lines, cell by cell where they differ."""
    lines = zip_longest(read_cells(found, name), read_cells("".join(expected), name))
    heading: list[str] = []
    for number, (row, recomputed) in enumerate(lines, 1):
        heading = heading or (recomputed or [])
        if row is None or recomputed is None:
            told = "is missing" if row is None else "is one too many"
            raise BundleError(f"{name}, row {number} {told}")
        if len(row) != len(recomputed):
            raise BundleError(
                f"{name}, row {number}: {len(row)} cells found; {len(recomputed)} are needed"
            )
        for column, cell, wanted in zip(heading, row, recomputed, strict=True):
            if cell != wanted and not _same_numbers(column, cell, wanted):
                raise BundleError(
                    f"{name}, row {number}, column {column}: {cell!r} found; recomputed {wanted!r}"
                )


def _same_numbers(column: str, found: str, expected: str) -> bool:
    """Tell whether two cells hold the same computed numbers but for rounding."""
    if column not in ("values", "minutes") or not (found and expected):
        return False
    try:
        pairs = zip(found.split(), expected.split(), strict=True)
        return all(math.isclose(float(a), float(b), rel_tol=SAME) for a, b in pairs)
    except ValueError:
        return False


def _check_minutes(files: Files, expected: Iterable[str]) -> None:
    """Compare minutes, where the file has them; the rest of it was read."""
    name = "participants.csv"
    rows = zip(
        read_sheet(text_of(files, name), name, ()),
        read_sheet("".join(expected), name, ()),
        strict=True,
    )
    for row, recomputed in rows:
        wanted = recomputed.cells["minutes"]
        cell = row.cells.get("minutes", wanted)
        if cell != wanted and not _same_numbers("minutes", cell, wanted):
            raise row.fault("minutes", f"recomputed {wanted!r}")


def _compare(found: Any, expected: Any, place: str) -> None:
    """Compare plain values, naming the first place where they differ."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for name in [*expected, *(one for one in found if one not in expected)]:
            if name not in found or name not in expected:
                told = "is missing" if name not in found else "does not belong there"
                raise BundleError(f"{place}, {name} {told}")
            _compare(found[name], expected[name], f"{place}, {name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(found) == len(expected):
        for index, (one, other) in enumerate(zip(found, expected, strict=True), 1):
            _compare(one, other, f"{place} {index}")
    elif not _same(found, expected):
        raise BundleError(f"{place}: {_short(found)} found; recomputed {_short(expected)}")


def _same(found: Any, expected: Any) -> bool:
    numbers = (int, float)
    if type(found) in numbers and type(expected) in numbers:
        return _close(found, expected)
    return type(found) is type(expected) and bool(found == expected)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MOST_TOLD else f"{text[:MOST_TOLD]}…"


def _close(found: float, expected: float) -> bool:
    try:
        return math.isclose(found, expected, rel_tol=SAME, abs_tol=ZERO)
    except OverflowError:  # a whole number beyond all floats
        return False


def _plain(content: Any) -> Any:
    """Return values as they come back from a JSON file."""
    return json.loads(as_text(content))
