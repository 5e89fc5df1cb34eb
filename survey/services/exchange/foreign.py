"""ForeignVotes as plain records: all that an analysis needs, wherever it comes from.

Reading the CSV files of a folder made elsewhere, forgiving what changes no answer.

Reading questions.csv and rankings.csv of a folder made elsewhere.

Reading responses.csv of a folder made elsewhere.

From a folder made elsewhere, without study.json, to votes.

The analysis of files: a bundle, or a folder made elsewhere.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from survey.core.agreement.answers import Answers, Response, seconds_taken
from survey.core.measures import MEASURES, Setting
from survey.core.studies.marks import MarkedRow, MarkError, marks_of, sorted_with_marks
from survey.core.studies.own_lists import COLLECTION_SIZE, LISTS
from survey.core.studies.questions import Question, build_question
from survey.core.studies.rankings import Ranking, letters_for
from survey.services.analysis.study_results import (
    Analysis,
    Choices,
    LeftOut,
    Votes,
    analyse_votes,
    counted,
)
from survey.services.exchange.input_files import (
    BundleError,
    Faults,
    Files,
    SheetRow,
    open_files,
    read_cells,
    text_of,
)
from survey.services.exchange.ordering_reading import RESPONSES
from survey.services.exchange.reading import read_content
from survey.services.exchange.study_file import STUDY


@dataclass(frozen=True)
class ForeignAnswer:
    """One answer with how its question was shown; None where nobody knows.

    ``position``: as which question the participant saw it, from 1. ``label_order``: the
    measures behind Method1, Method2, …; ``column_order``: the label numbers from left to
    right; ``list_order``: the list letters from top to bottom. ``clicked``: label
    numbers, empty where ``own``, the custom ranking, is given. ``active_seconds``: how
    long the page was in view. ``is_test``, ``excluded``: of the participant.
    """

    participant: str
    question: int
    position: int | None
    label_order: tuple[str, ...]
    column_order: tuple[int, ...] | None
    list_order: tuple[str, ...]
    clicked: frozenset[int]
    own: Ranking | None
    shown_at: datetime | None
    submitted_at: datetime | None
    active_seconds: float | None
    revisions: int | None
    is_test: bool
    excluded: bool

    @property
    def response(self) -> Response:
        """The answer as the analysis takes it."""
        return Response(
            participant=self.participant,
            question=self.question,
            label_order=self.label_order,
            clicked=self.clicked,
            own=self.own,
            column_order=self.column_order,
            position=self.position,
            seconds=seconds_taken(self.active_seconds, self.shown_at, self.submitted_at),
        )


@dataclass(frozen=True)
class ForeignVotes:
    """The answers to a study's questions, test data and excluded participants included.

    ``facts``: the "study" of an analysis, None (and a "why") where nobody knows.
    ``measures``: in the registry's order. ``rankings``: question → measure → order;
    ``lists``: question → letter → sorted positions of the relevant items.
    ``responses``: by participant and question, so that the same votes are analysed alike
    however their rows stand. ``asked``: how many questions each participant was to answer.
    """

    facts: Mapping[str, Any]
    measures: tuple[str, ...]
    rankings: Mapping[int, Mapping[str, Ranking]]
    lists: Mapping[int, Mapping[str, tuple[int, ...]]]
    responses: tuple[ForeignAnswer, ...]
    asked: int


def in_order(responses: list[ForeignAnswer]) -> tuple[ForeignAnswer, ...]:
    """Sort answers by participant and question, as no database's collation does for another."""
    return tuple(sorted(responses, key=lambda one: (one.participant, one.question)))


YES_NO = {"0": False, "1": True, "false": False, "true": True}


def filled_rows(
    files: Files, name: str, first: Sequence[str], faults: Faults
) -> Iterator[SheetRow]:
    """Give the rows of a file: cells without spaces around them, empty rows left out.

    The heading starts with the columns ``first``; others may follow it. A row with more
    or fewer cells than the heading is noted in ``faults`` and left out. Raises
    BundleError for a file that is missing, has another heading, or is no CSV.
    """
    rows = ([cell.strip() for cell in cells] for cells in read_cells(text_of(files, name), name))
    heading = next(rows, [])
    _check_heading(heading, name, first)
    for number, cells in enumerate(rows, 2):
        if not any(cells):
            continue
        with faults.noted():
            if len(cells) != len(heading):
                raise BundleError(
                    f"{name}, row {number}: {len(cells)} cells found; "
                    f"{len(heading)} are needed, as in the heading"
                )
        if len(cells) == len(heading):
            yield SheetRow(name, number, dict(zip(heading, cells, strict=True)))


def _check_heading(heading: Sequence[str], name: str, first: Sequence[str]) -> None:
    found = f"{name}, row 1: {','.join(heading)[:200] or 'nothing'} found"
    if len(heading) == 1 and ";" in heading[0]:
        raise BundleError(f"{found}; cells are separated by commas, not by semicolons")
    if list(heading[: len(first)]) != list(first):
        raise BundleError(f"{found}; the heading must start with {','.join(first)}")
    named = [column for column in heading if column]
    if len(set(named)) < len(named):
        raise BundleError(f"{found}; each column may be there once")


def from_one(row: SheetRow, column: str) -> int:
    """Return a whole number from 1 on."""
    number = row.whole(column)
    if number < 1:
        raise row.fault(column, "a whole number from 1 on is needed")
    return number


def yes(row: SheetRow, column: str) -> bool:
    """Return 0, 1, true or false as a truth value; an empty or missing cell is false."""
    word = (row.optional(column) or "0").lower()
    if word not in YES_NO:
        raise row.fault(column, "0, 1, true or false is needed")
    return YES_NO[word]


def moment(row: SheetRow, column: str) -> datetime | None:
    """Return a time in UTC, None where there is none."""
    cell = row.optional(column)
    try:
        found = None if cell is None else datetime.fromisoformat(cell)
        if found is not None and found.tzinfo is None:
            raise ValueError
        return found and found.astimezone(UTC)
    except (ValueError, OverflowError):
        allowed = "a time with its zone, like 2026-01-31T12:00:00Z, is needed"
        raise row.fault(column, allowed) from None


QUESTIONS = "questions.csv"
RANKINGS = "rankings.csv"


@dataclass(frozen=True)
class ForeignList:
    """A ranked list and the row it stands in; its ranks are sorted."""

    row: SheetRow
    letter: str
    marked: MarkedRow
    collection_size: int

    @property
    def ranks(self) -> tuple[int, ...]:
        """The sorted positions."""
        return self.marked.ranks


ForeignLists = Mapping[int, Mapping[str, ForeignList]]


def read_lists(files: Files) -> ForeignLists:
    """Read questions.csv: question → letter → list, both in order.

    What can be analysed may stand there, which is more than what a study may ask:
    questions with any numbers from 1 on, 2 to 10 lists in each, of which two may be
    alike. Raises BundleError with the faults of all rows.
    """
    faults = Faults()
    questions: dict[int, dict[str, ForeignList]] = {}
    columns = ("question", "list", "ranks", "collection_size")
    for row in filled_rows(files, QUESTIONS, columns, faults):
        with faults.noted():
            _add(_list(row), questions.setdefault(from_one(row, "question"), {}))
    faults.stop_if_any()
    if not questions:
        raise BundleError(f"{QUESTIONS} holds no list; a row for each list is needed")
    for number, lists in questions.items():
        with faults.noted():
            _check_letters(number, lists)
    faults.stop_if_any()
    return {number: dict(sorted(lists.items())) for number, lists in sorted(questions.items())}


def _list(row: SheetRow) -> ForeignList:
    letters, (smallest, largest) = letters_for(LISTS[1]), COLLECTION_SIZE
    letter, size, ranks = row.text("list"), row.whole("collection_size"), row.wholes("ranks")
    if letter not in letters:
        raise row.fault("list", f"a letter from {letters[0]} to {letters[-1]} is needed")
    if not smallest <= size <= largest:
        raise row.fault("collection_size", f"{smallest} to {largest} are allowed")
    if not ranks:
        raise row.fault("ranks", "at least one position is needed")
    for rank in ranks:
        if not 1 <= rank <= size:
            raise row.fault("ranks", f"{rank} is none of the positions 1 to {size}")
    if len(set(ranks)) < len(ranks):
        raise row.fault("ranks", "each position may occur once")
    try:
        return ForeignList(row, letter, sorted_with_marks(ranks, row.marks), size)
    except MarkError as error:
        raise row.fault(error.kind, str(error)) from None


def _add(one: ForeignList, lists: dict[str, ForeignList]) -> None:
    """Add a list to those of its question, which it must fit."""
    if one.letter in lists:
        there = lists[one.letter].row.number
        raise one.row.fault("list", f"row {there} has this list of the question already")
    for other in list(lists.values())[:1]:
        if one.collection_size != other.collection_size:
            allowed = f"{other.collection_size} as in row {other.row.number}, of the same question"
            raise one.row.fault("collection_size", f"{allowed}, is needed")
        if len(one.ranks) != len(other.ranks):
            allowed = f"{len(other.ranks)} positions as in row {other.row.number}"
            raise one.row.fault("ranks", f"{allowed}, of the same question, are needed")
    lists[one.letter] = one


def _check_letters(number: int, lists: Mapping[str, ForeignList]) -> None:
    last = list(lists.values())[-1].row
    if tuple(sorted(lists)) != letters_for(len(lists)):
        raise last.fault(
            "list",
            f"question {number} has the lists {' '.join(sorted(lists))}; letters from A without "
            "gaps are needed",
        )
    if len(lists) < LISTS[0]:
        raise last.fault(
            "list", f"question {number} has no other list; {LISTS[0]} to {LISTS[1]} are needed"
        )


def check_rankings(files: Files, rankings: Mapping[int, Mapping[str, Ranking]]) -> None:
    """Compare rankings.csv, where there is one, with the orders that the lists give.

    ``rankings``: question → measure → order. Raises BundleError with what disagrees.
    """
    if RANKINGS not in files:
        return
    faults = Faults()
    seen: set[tuple[int, str]] = set()
    for row in filled_rows(files, RANKINGS, ("question", "measure", "ranking"), faults):
        with faults.noted():
            _check_ranking(row, rankings, seen)
    faults.stop_if_any()
    for question, orders in rankings.items():
        for name in orders:
            if (question, name) not in seen:
                raise BundleError(f"{RANKINGS}: no row for {name} in question {question} found")


def _check_ranking(
    row: SheetRow,
    rankings: Mapping[int, Mapping[str, Ranking]],
    seen: set[tuple[int, str]],
) -> None:
    question, name = row.whole("question"), row.text("measure")
    if question not in rankings:
        raise row.fault("question", f"{QUESTIONS} has no such question")
    if name not in rankings[question]:
        raise row.fault("measure", f"compared are {' '.join(rankings[question])}")
    if (question, name) in seen:
        raise row.fault("measure", "each measure is allowed once for a question")
    seen.add((question, name))
    order = rankings[question][name]
    if row.ranking("ranking", order.letters) != order:
        raise row.fault("ranking", f"the lists in {QUESTIONS} give {order}")


FIRST_COLUMNS = (
    *("participant", "question", "position", "label_order", "column_order"),
    *("list_order", "clicked", "custom_ranking"),
)
MEASURES_COMPARED = (2, 6)

Named = TypeVar("Named", int, str)
AnswerRows = list[tuple[SheetRow, ForeignAnswer]]


def read_foreign_answers(files: Files, lists: ForeignLists) -> tuple[ForeignAnswer, ...]:
    """Read responses.csv; a row with neither label nor ranking is a missing answer.

    All answers were shown with the same measures. Raises BundleError with the faults of
    all rows, the first fault of each.
    """
    faults = Faults()
    answers: AnswerRows = []
    seen: dict[tuple[str, int], int] = {}
    for row in filled_rows(files, RESPONSES, FIRST_COLUMNS, faults):
        with faults.noted():
            _check_question(row, lists, seen)
            if row.optional("clicked") or row.optional("custom_ranking"):
                answers.append((row, _answer(row, tuple(lists[row.whole("question")]))))
    for row, fault in (*_other_measures(answers), *_changed_flags(answers)):
        with faults.noted():
            raise row.fault(*fault)
    faults.stop_if_any()
    if not answers:
        raise BundleError(f"{RESPONSES} holds no answer; one with its label_order is needed")
    return in_order([one for _, one in answers])


def _check_question(row: SheetRow, lists: ForeignLists, seen: dict[tuple[str, int], int]) -> None:
    """Note which question a row is about; ``seen``: the row of each so far."""
    participant, question = row.text("participant"), row.whole("question")
    if question not in lists:
        raise row.fault("question", f"{QUESTIONS} has the questions {_some(list(lists))}")
    there = seen.setdefault((participant, question), row.number)
    if there != row.number:
        raise row.fault("question", f"row {there} has {participant!r} answer it already")


def _some(numbers: Sequence[int]) -> str:
    more = f" and {len(numbers) - 20} more" if len(numbers) > 20 else ""
    return " ".join(map(str, numbers[:20])) + more


def _answer(row: SheetRow, letters: tuple[str, ...]) -> ForeignAnswer:
    labels = _labels(row)
    own, numbers = row.ranking("custom_ranking", letters), tuple(range(1, len(labels) + 1))
    clicked = frozenset(row.wholes("clicked"))
    if not clicked <= set(numbers):
        raise row.fault("clicked", f"label numbers from 1 to {len(labels)} are needed")
    if clicked and own:
        raise row.fault("custom_ranking", "clicked holds labels; an answer is one of the two")
    return ForeignAnswer(
        participant=row.text("participant"),
        question=row.whole("question"),
        position=None if row.optional("position") is None else from_one(row, "position"),
        label_order=labels,
        column_order=_order(row, "column_order", row.wholes("column_order"), numbers),
        list_order=_order(row, "list_order", _words(row, "list_order"), letters) or letters,
        clicked=clicked,
        own=own,
        shown_at=moment(row, "shown_at"),
        submitted_at=moment(row, "submitted_at"),
        active_seconds=row.real("active_seconds"),
        revisions=row.optional_whole("revisions"),
        is_test=yes(row, "is_test"),
        excluded=yes(row, "excluded"),
    )


def _words(row: SheetRow, column: str) -> tuple[str, ...]:
    return tuple((row.optional(column) or "").split())


def _labels(row: SheetRow) -> tuple[str, ...]:
    """Return the measures behind the labels."""
    labels, (fewest, most) = _words(row, "label_order"), MEASURES_COMPARED
    for name in labels:
        if name not in MEASURES or MEASURES[name].name != name:
            raise row.fault("label_order", f"{name!r} is no measure; known are {MEASURES.forms}")
    if not fewest <= len(labels) <= most:
        raise row.fault("label_order", f"{fewest} to {most} measures are needed")
    if len(set(labels)) < len(labels):
        raise row.fault("label_order", "each measure may stand behind one label")
    return labels


def _order(
    row: SheetRow, column: str, found: tuple[Named, ...], allowed: tuple[Named, ...]
) -> tuple[Named, ...] | None:
    """Return an order of what is allowed, None where the cell is empty."""
    if found and sorted(found) != list(allowed):
        raise row.fault(column, f"an order of {' '.join(map(str, allowed))} is needed")
    return found or None


def _other_measures(answers: AnswerRows) -> Iterator[tuple[SheetRow, tuple[str, str]]]:
    """Give the rows that were shown with other measures than the first answer."""
    for row, one in answers:
        first_row, first = answers[0]
        if sorted(one.label_order) != sorted(first.label_order):
            allowed = f"an order of {' '.join(first.label_order)} is needed"
            yield row, ("label_order", f"{allowed}, as in row {first_row.number}")


def _changed_flags(answers: AnswerRows) -> Iterator[tuple[SheetRow, tuple[str, str]]]:
    """Give the rows that say of a participant what an earlier one does not."""
    first: dict[str, tuple[SheetRow, ForeignAnswer]] = {}
    for row, one in answers:
        first_row, other = first.setdefault(one.participant, (row, one))
        for column in ("is_test", "excluded"):
            if getattr(one, column) != getattr(other, column):
                allowed = f"it is the participant's, and row {first_row.number} says otherwise"
                yield row, (column, allowed)


UNKNOWN = ("slug", "title", "status", "digest", "generator", "generator_version", "seed")


def foreign_votes(files: Files) -> ForeignVotes:
    """Read questions.csv and responses.csv; the orders are those that the measures give.

    NMRR and MNRO are computed with their defaults (no GMT cap, the continuous Eq. 15).
    rankings.csv, where there is one, must agree. Raises BundleError with every fault.
    """
    for name in (QUESTIONS, RESPONSES):
        if name not in files:
            raise BundleError(
                f"{name} is missing; {STUDY} and the rest of a bundle, or {QUESTIONS} and "
                f"{RESPONSES}, are needed"
            )
    lists = read_lists(files)
    responses = read_foreign_answers(files, lists)
    compared = responses[0].label_order
    measures = tuple(sorted(compared, key=MEASURES.sort_key))
    questions = {number: _question(number, one, measures) for number, one in lists.items()}
    rankings = {number: question.rankings for number, question in questions.items()}
    check_rankings(files, rankings)
    return ForeignVotes(
        facts=_facts(lists, measures),
        measures=measures,
        rankings=rankings,
        lists={number: question.lists for number, question in questions.items()},
        responses=responses,
        asked=len(questions),
    )


def _question(number: int, lists: Mapping[str, ForeignList], measures: tuple[str, ...]) -> Question:
    ranks, setting = [one.ranks for one in lists.values()], Setting(lists["A"].collection_size)
    try:
        marks = marks_of([one.marked for one in lists.values()])
        return build_question(number, ranks, measures, setting, marks)
    except ValueError as error:
        raise BundleError(f"{QUESTIONS}, question {number}: {error}") from None


def _facts(lists: ForeignLists, measures: tuple[str, ...]) -> dict[str, Any]:
    """Return the little that such a folder says of its study, and why it is so little."""
    sizes = {one.collection_size for question in lists.values() for one in question.values()}
    why = f"there is no {STUDY}, which would say what the study was"
    if len(sizes) > 1:
        why += "; the collection_size is not the same in all questions"
    return {
        **dict.fromkeys(UNKNOWN),
        "collection_size": min(sizes) if len(sizes) == 1 else None,
        "measures": list(measures),
        "why": why,
    }


def analyse_path(source: Path, choices: Choices) -> Analysis:
    """Analyse a zip or folder: a bundle, or questions.csv and responses.csv made elsewhere.

    Raises BundleError: file, row and column of what cannot be, and what is allowed.
    """
    return analyse_files(open_files(source, str(source)), choices)


def analyse_files(files: Files, choices: Choices) -> Analysis:
    """Analyse files, read as strictly as a bundle where there is study.json.

    rankings.csv, where there is one, must agree with the lists. Raises BundleError.
    """
    if STUDY not in files:
        return _analyse_foreign(foreign_votes(files), choices)
    content = read_content(files).content
    check_rankings(files, content.rankings)
    return content.analysed(choices)


def _analyse_foreign(votes: ForeignVotes, choices: Choices) -> Analysis:
    people, answers = _marks(votes), Answers.of(one.response for one in votes.responses)
    simulated = frozenset(answers.people[people.is_test].tolist())
    given = answers.of_people(counted(people, choices))
    asked = Votes(votes.facts, votes.measures, votes.rankings, votes.asked, given, simulated)
    return analyse_votes(asked, LeftOut.of(people, choices), choices)


@dataclass(frozen=True)
class _Marks:
    """What the rows say of participants, in the order in which they come."""

    is_test: NDArray[np.bool_]
    excluded: NDArray[np.bool_]


def _marks(votes: ForeignVotes) -> _Marks:
    people = {one.participant: one for one in votes.responses}.values()
    return _Marks(
        is_test=np.array([one.is_test for one in people], dtype=bool),
        excluded=np.array([one.excluded for one in people], dtype=bool),
    )
