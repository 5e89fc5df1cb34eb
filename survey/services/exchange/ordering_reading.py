"""Reading the files that belong to ordering questions: lists, answers, first rankings."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from survey.core.studies.blinding import Blinding
from survey.core.studies.marks import MarkedRow, MarkError, marks_of, sorted_with_marks
from survey.core.studies.plan import Plan
from survey.core.studies.questions import Question, build_question
from survey.services.exchange.content import FirstRanking, Given, Person
from survey.services.exchange.input_files import (
    BundleError,
    Files,
    SheetRow,
    read_sheet,
    text_of,
)

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


def read_questions(files: Files, plan: Plan) -> list[Question]:
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
