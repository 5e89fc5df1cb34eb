"""From a zip or a folder to a study's content."""

import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from survey.core.stimuli.blinding import Blinding
from survey.core.stimuli.plan import Plan
from survey.core.stimuli.questions import Question, build_question
from survey.services.exchange.bundle import STUDY
from survey.services.exchange.content import Consent, Content, FirstRanking, Given, Person
from survey.services.exchange.sheets import BundleError, SheetRow, read_sheet

LARGEST = 1_000_000_000
MOST_FILES = 50

# What zipfile raises for a zip that is none, is damaged, or is locked with a password.
FAULTS = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError),
    *(OSError, RuntimeError, ValueError, OverflowError, struct.error),
)

Files = Mapping[str, bytes]


def open_files(source: Path | IO[bytes], name: str) -> dict[str, bytes]:
    """Read all files of a zip or a folder; raises BundleError for what is neither."""
    if isinstance(source, Path) and source.is_dir():
        paths = [path for path in sorted(source.iterdir()) if path.is_file()]
        if sum(path.stat().st_size for path in paths) > LARGEST:
            raise BundleError(f"{name} is larger than {LARGEST:,} bytes")
        return {path.name: path.read_bytes() for path in paths if path.name[0] != "."}
    try:
        with zipfile.ZipFile(source) as archive:
            return dict(_unzipped(archive, name))
    except FileNotFoundError:
        raise BundleError(f"there is no {name}") from None
    except FAULTS as error:
        raise BundleError(f"{name} is no bundle that can be read ({error})") from None


def _unzipped(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[str, bytes]]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES or sum(entry.file_size for entry in entries) > LARGEST:
        raise BundleError(f"{name} holds more than a bundle does")
    folders = {PurePosixPath(entry.filename).parent for entry in entries}
    seen: set[str] = set()
    for entry in entries:
        path = PurePosixPath(entry.filename)
        # A zip of the folder is as good as a zip of its files.
        if len(folders) > 1 or path.name != entry.filename.split("/")[-1] or len(path.parts) > 2:
            raise BundleError(f"{name} holds folders ({entry.filename[:80]}); a bundle holds files")
        if path.name in seen:
            raise BundleError(f"{name} holds {path.name} twice")
        seen.add(path.name)
        try:
            with archive.open(entry) as file:
                content = file.read(entry.file_size + 1)
        except FAULTS as error:
            raise BundleError(f"{path.name} is damaged ({error})") from None
        yield path.name, content


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
    except ValueError as error:
        raise BundleError(f"{STUDY}, plan: {error}") from None
    questions = _questions(files, plan)
    people = _people(files, plan)
    answers = list(_answers(files, plan, {one.public_id: one for one in people}))
    first = list(_first_rankings(files, plan)) if plan.rank_first else []
    moments = SheetRow(STUDY, 0, {name: study[name] or "" for name in MOMENTS})
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
            consents=[Consent(**one) for one in study["consent"]],
            people=people,
            answers=lambda: iter(answers),
            first_rankings=lambda: iter(first),
            include_test=study["include_test"],
        ),
        study,
    )


MOMENTS = ("opened_at", "closed_at", "unblinded_at")
KEYS: dict[str, type | tuple[type, ...]] = {
    **{"format": int, "slug": str, "status": str, "digest": str, "generator_version": int},
    **dict.fromkeys(MOMENTS, (str, type(None))),
    **{"plan": dict, "consent": list, "include_test": bool, "practice": (dict, type(None))},
}


def json_of(files: Files, name: str) -> dict[str, Any]:
    """Read a JSON file that holds an object."""
    try:
        content = json.loads(text_of(files, name))
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{name}: this is no JSON ({error})") from None
    if not isinstance(content, dict):
        raise BundleError(f"{name}: an object with names is needed")
    return content


def text_of(files: Files, name: str) -> str:
    """Return a file's text; raises BundleError where it is missing or no UTF-8."""
    if name not in files:
        raise BundleError(f"{name} is missing")
    try:
        return files[name].decode()
    except UnicodeDecodeError as error:
        raise BundleError(f"{name}, byte {error.start + 1}: this is no UTF-8") from None


def _study(files: Files) -> dict[str, Any]:
    study = json_of(files, STUDY)
    for key, kind in KEYS.items():
        if key not in study or not isinstance(study[key], kind):
            raise BundleError(f"{STUDY}, {key}: {study.get(key)!r} found, or it is missing")
    for one in study["consent"]:
        kinds = {"version": int, "text": str, "digest": str}
        if not isinstance(one, dict) or {k: type(v) for k, v in one.items()} != kinds:
            raise BundleError(f"{STUDY}, consent: version, text and digest are needed")
    return study


def _practice(study: Mapping[str, Any], plan: Plan) -> Question | None:
    lists = study["practice"]
    if lists is None:
        return None
    try:
        ordered = [lists[letter] for letter in sorted(lists)]
        return build_question(0, ordered, plan.measures, plan.setting)
    except (ValueError, TypeError) as error:
        raise BundleError(f"{STUDY}, practice: {error}") from None


def _questions(files: Files, plan: Plan) -> list[Question]:
    """Build the questions from their lists; what the measures make of them is recomputed."""
    columns = ("question", "list", "ranks", "collection_size")
    lists: dict[int, dict[str, tuple[int, ...]]] = {}
    for row in read_sheet(text_of(files, "questions.csv"), "questions.csv", columns):
        if row.whole("collection_size") != plan.collection_size:
            raise row.fault("collection_size", f"the plan says {plan.collection_size}")
        here = lists.setdefault(row.whole("question"), {})
        letter = row.text("list")
        if plan.letters[len(here) : len(here) + 1] != (letter,):
            raise row.fault("list", f"lists {' '.join(plan.letters)} are needed, in this order")
        here[letter] = row.wholes("ranks")
    if list(lists) != list(range(1, plan.questions + 1)):
        raise BundleError(f"questions.csv has not the questions 1 to {plan.questions} in order")
    made = []
    for number, ranks in lists.items():
        try:
            made.append(build_question(number, list(ranks.values()), plan.measures, plan.setting))
        except ValueError as error:
            raise BundleError(f"questions.csv, question {number}: {error}") from None
    return made


def _people(files: Files, plan: Plan) -> list[Person]:
    personal = [field.name for field in plan.personal_fields]
    columns = ("participant", "status", *personal, "started_at", "completed_at")
    people: dict[str, Person] = {}
    for row in read_sheet(text_of(files, "participants.csv"), "participants.csv", columns):
        started = row.moment("started_at")
        if started is None or row.text("participant") in people:
            raise row.fault("participant", "each participant once, with started_at, is needed")
        people[row.text("participant")] = Person(
            public_id=row.text("participant"),
            status=row.text("status"),
            personal=_personal(row, plan),
            consent_version=row.optional_whole("consent_version"),
            started_at=started,
            completed_at=row.moment("completed_at"),
            is_test=row.yes("is_test"),
            excluded=row.yes("excluded"),
            exclude_reason=row.optional("exclude_reason"),
        )
    return list(people.values())


def _personal(row: SheetRow, plan: Plan) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for field in plan.personal_fields:
        cell = row.optional(field.name)
        if cell is not None and field.kind == "number":
            try:
                given[field.name] = int(cell)
            except ValueError:
                raise row.fault(field.name, "a whole number is needed") from None
        elif cell is not None:
            given[field.name] = cell
    return given


def _answers(files: Files, plan: Plan, people: Mapping[str, Person]) -> Iterator[Given]:
    columns = (
        *("participant", "question", "position", "label_order", "column_order"),
        *("list_order", "clicked", "custom_ranking"),
    )
    seen: set[tuple[str, int]] = set()
    for row in read_sheet(text_of(files, "responses.csv"), "responses.csv", columns):
        person = people.get(row.text("participant"))
        if person is None:
            raise row.fault("participant", "participants.csv has nobody of that id")
        question = row.whole("question")
        if not 1 <= question <= plan.questions or (person.public_id, question) in seen:
            raise row.fault("question", f"1 to {plan.questions}, each once, is allowed")
        seen.add((person.public_id, question))
        yield _answer(row, plan, person, question)


def _answer(row: SheetRow, plan: Plan, person: Person, question: int) -> Given:
    given = Given(
        participant=person.public_id,
        question=question,
        position=row.whole("position"),
        blinding=_blinding(row, plan),
        clicked=frozenset(row.wholes("clicked")),
        own=row.ranking("custom_ranking", plan.letters),
        shown_at=row.moment("shown_at"),
        submitted_at=row.moment("submitted_at"),
        active_seconds=row.real("active_seconds"),
        revisions=row.optional_whole("revisions"),
        is_test=person.is_test,
        excluded=person.excluded,
    )
    for name, known in (("is_test", person.is_test), ("excluded", person.excluded)):
        if row.optional(name) is not None and row.yes(name) != known:
            raise row.fault(name, f"participants.csv says {int(known)}")
    try:
        given.response  # noqa: B018 - it refuses an answer that is none
    except ValueError as error:
        raise row.fault("clicked", str(error)) from None
    return given


def _blinding(row: SheetRow, plan: Plan) -> Blinding:
    orders: Sequence[tuple[str, Sequence[Any], Sequence[Any]]] = (
        ("label_order", row.text("label_order").split(), plan.measures),
        ("column_order", row.wholes("column_order"), range(1, len(plan.measures) + 1)),
        ("list_order", row.text("list_order").split(), plan.letters),
    )
    for column, found, allowed in orders:
        if sorted(found) != sorted(allowed):
            raise row.fault(column, f"an order of {' '.join(map(str, allowed))} is needed")
    labels, columns, lists = (tuple(found) for _, found, _ in orders)
    return Blinding(labels, columns, lists)


def _first_rankings(files: Files, plan: Plan) -> Iterator[FirstRanking]:
    name, columns = "first_rankings.csv", ("participant", "question", "ranking", "submitted_at")
    for row in read_sheet(text_of(files, name), name, columns):
        ranking = row.ranking("ranking", plan.letters)
        if ranking is None:
            raise row.fault("ranking", "a ranking is needed")
        yield FirstRanking(
            row.text("participant"), row.whole("question"), ranking, row.moment("submitted_at")
        )
