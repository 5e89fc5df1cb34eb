"""Reading participants.csv and identities.csv.

Reading responses.csv and first_rankings.csv.

From a bundle's files to a study's content.
"""

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from survey.core.agreement.answers import Answers
from survey.core.measures import MEASURES
from survey.core.studies.blinding import Blinding
from survey.core.studies.marks import MarkedRow, MarkError, Marks, marks_of, sorted_with_marks
from survey.core.studies.personal_fields import PersonalField
from survey.core.studies.plan import Plan
from survey.core.studies.questions import Question, build_question
from survey.db.models import Participant, Study
from survey.services.analysis.study_results import people_from
from survey.services.exchange.bundle import IDENTITIES
from survey.services.exchange.bundle_tables import bounds_of
from survey.services.exchange.codebook import listed_values
from survey.services.exchange.content import (
    Consent,
    Content,
    FirstRanking,
    Given,
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


RESPONSES = "responses.csv"
FIRST_RANKINGS = "first_rankings.csv"


def read_answers(files: Files, plan: Plan, everyone: Sequence[Person]) -> list[Given]:
    """Read the answers, by participant and question however they stand in the file.

    Raises BundleError naming the first cell that cannot be.
    """
    people = {one.public_id: one for one in everyone}
    positions: dict[str, dict[int, int]] = {}
    answers = []
    columns = (
        *("participant", "question", "position", "label_order", "column_order"),
        *("list_order", "clicked", "custom_ranking"),
    )
    for row in read_sheet(text_of(files, RESPONSES), RESPONSES, columns):
        person, question = _whose(row, plan, people)
        _place(row, plan, question, positions.setdefault(person.public_id, {}))
        answers.append(_answer(row, plan, person, question))
    _require_all_of_complete(plan, everyone, answers)
    return sorted(answers, key=lambda one: (one.participant, one.question))


def _whose(row: SheetRow, plan: Plan, people: Mapping[str, Person]) -> tuple[Person, int]:
    person, question = people.get(row.text("participant")), row.whole("question")
    if person is None:
        raise row.fault("participant", "participants.csv has nobody of that id")
    if not 1 <= question <= plan.questions:
        raise row.fault("question", f"1 to {plan.questions} are allowed")
    return person, question


def _place(row: SheetRow, plan: Plan, question: int, here: dict[int, int]) -> None:
    """Note where a participant saw a question; ``here``: their questions so far."""
    position = row.whole("position")
    if question in here:
        raise row.fault("question", "each question is allowed once for a participant")
    if not 1 <= position <= plan.asked or position in here.values():
        raise row.fault("position", f"1 to {plan.asked} are allowed, each once for a participant")
    everything = plan.asked == plan.questions
    if not plan.shuffle_questions and (
        (everything and position != question)
        or any((one < question) != (place < position) for one, place in here.items())
    ):
        raise row.fault("position", "the plan does not shuffle questions")
    here[question] = position


def _require_all_of_complete(
    plan: Plan, everyone: Sequence[Person], answers: Sequence[Given]
) -> None:
    """Nobody hands in before everything is answered."""
    given = Counter(one.participant for one in answers)
    for number, person in enumerate(everyone, 2):
        if person.status == "complete" and given[person.public_id] != plan.asked:
            raise BundleError(
                f"participants.csv, row {number}, column status: 'complete' found; {RESPONSES} has "
                f"{given[person.public_id]} answers of {plan.asked}"
            )


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
    if not plan.shuffle_lists and lists != plan.letters:
        raise row.fault("list_order", "the plan does not shuffle lists")
    return Blinding(labels, columns, lists)


def read_first_rankings(
    files: Files, plan: Plan, everyone: Sequence[Person]
) -> Iterator[FirstRanking]:
    """Read the rankings given before the columns were shown."""
    people = {one.public_id: one for one in everyone}
    columns = ("participant", "question", "ranking", "submitted_at")
    seen: set[tuple[str, int]] = set()
    for row in read_sheet(text_of(files, FIRST_RANKINGS), FIRST_RANKINGS, columns):
        person, question = _whose(row, plan, people)
        ranking = row.ranking("ranking", plan.letters)
        if ranking is None:
            raise row.fault("ranking", "a ranking is needed")
        if (person.public_id, question) in seen:
            raise row.fault("question", "each question is allowed once for a participant")
        seen.add((person.public_id, question))
        yield FirstRanking(person.public_id, question, ranking, row.moment("submitted_at"))


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
    questions = _questions(files, plan)
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


def _questions(files: Files, plan: Plan) -> list[Question]:
    """Build the questions from their lists; what the measures make of them is recomputed."""
    columns = ("question", "list", "ranks", "collection_size")
    lists: dict[int, dict[str, MarkedRow]] = {}
    for row in read_sheet(text_of(files, "questions.csv"), "questions.csv", columns):
        if row.whole("collection_size") != plan.collection_size:
            raise row.fault("collection_size", f"the plan says {plan.collection_size}")
        here = lists.setdefault(row.whole("question"), {})
        letter = row.text("list")
        if plan.letters[len(here) : len(here) + 1] != (letter,):
            raise row.fault("list", f"lists {' '.join(plan.letters)} are needed, in this order")
        try:
            here[letter] = sorted_with_marks(row.wholes("ranks"), row.marks)
        except MarkError as error:
            raise row.fault(error.kind, str(error)) from None
    if list(lists) != list(range(1, plan.questions + 1)):
        raise BundleError(f"questions.csv has not the questions 1 to {plan.questions} in order")
    made = []
    for number, rows in lists.items():
        if len(rows) != plan.lists:
            raise BundleError(
                f"questions.csv, question {number}: {len(rows)} lists found; the plan says "
                f"{plan.lists}"
            )
        try:
            marks = marks_of([*rows.values()])
            ranks = [row.ranks for row in rows.values()]
            made.append(build_question(number, ranks, plan.measures, plan.setting, marks))
        except ValueError as error:
            raise BundleError(f"questions.csv, question {number}: {error}") from None
    return made
