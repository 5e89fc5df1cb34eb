"""The records of ordering questions, read from questions.csv, responses.csv and rankings.csv.

A bundle has a plan and participants, which say what each cell may hold. A folder made elsewhere
has neither, so whatever can be analysed is accepted. All faults of a file are reported together.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from operator import attrgetter
from random import SystemRandom
from typing import NamedTuple, TypeVar

import numpy as np

from survey.core.agreement.answers import (
    ASKED_REASONS,
    REVERSED,
    Answers,
    People,
    Response,
    seconds_taken,
)
from survey.core.measures import MEASURES
from survey.core.studies.questions import Question, rankings_of
from survey.core.studies.rankings import Ranking
from survey.kinds.ordering.answer import contradiction_of
from survey.kinds.ordering.plan import OrderingPlan
from survey.services.exchange.input_files import (
    BundleError,
    CsvRow,
    Faults,
    Files,
    is_sorted,
    parse_rows,
)
from survey.services.exchange.list_questions import (
    Lists,
    build_questions,
    check_rankings,
    read_lists,
)
from survey.services.exchange.tables import (
    QUESTIONS_FILE,
    STUDY_FILE,
    check_contradicts,
    read_asked,
    read_reason,
    read_shared,
    read_yes_or_no,
)

RESPONSES = "responses.csv"  # in folders made elsewhere too
RANKINGS_FILE = "rankings.csv"
FIRST_RANKINGS_FILE = "first_rankings.csv"

ANSWER_COLUMNS = (
    *("participant", "question", "position", "label_order", "column_order"),
    *("list_order", "clicked", "custom_ranking"),
)
MEASURES_COMPARED = (2, 6)
NUMBERS_LISTED = 20  # in a message

Item = TypeVar("Item", int, str)


class AnswerRecord(NamedTuple):
    """An answer and how its question was shown; a tuple, since there may be millions.

    ``position``: 1 for the question that the participant saw first. ``label_order``: the
    measures behind Method1, Method2, …; ``column_order``: label numbers from left to right;
    ``list_order``: letters from top to bottom. ``clicked``: label numbers, empty where ``own``
    holds a ranking. What a file from elsewhere does not say is None.
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
    asked: str | None = None
    typed: bool = False
    scores_seen: bool | None = None
    reason: str | None = None

    @property
    def response(self) -> Response:
        """The answer as the analysis takes it; raises ValueError for an impossible answer."""
        return Response(
            participant=self.participant,
            question=self.question,
            label_order=self.label_order,
            clicked=self.clicked,
            own=self.own,
            column_order=self.column_order,
            position=self.position,
            seconds=seconds_taken(self.active_seconds, self.shown_at, self.submitted_at),
            asked=self.asked,
            typed=self.typed,
        )


@dataclass(frozen=True)
class FirstRanking:
    """The ranking that a participant submitted before the columns were shown."""

    participant: str
    question: int
    ranking: Ranking
    submitted_at: datetime | None
    asked: str | None = None


@dataclass(frozen=True)
class ForeignFolder:
    """The questions and answers of a folder made elsewhere, sorted by participant and question.

    ``collection_size`` is None where the questions differ in it.
    """

    measures: tuple[str, ...]
    collection_size: int | None
    questions: tuple[Question, ...]
    answers: tuple[AnswerRecord, ...]


@dataclass(frozen=True)
class OrderingRecords:
    """The records of a bundle: ``rows`` and ``first_rankings`` read theirs at each call.

    The answers are sorted by participant and question, in ``rows`` and in columns.
    """

    questions: tuple[Question, ...]
    answers: Answers
    rows: Callable[[], Iterator[AnswerRecord]]
    first_rankings: Callable[[], Iterator[FirstRanking]]


def read_ordering(files: Files, plan: OrderingPlan, people: People) -> OrderingRecords:
    """Read a bundle's questions, answers and first rankings; raises BundleError.

    Values and orders are recomputed from the lists.
    """
    lists = read_lists(files, plan)
    questions = build_questions(lists, plan.measures, plan.setting)
    rows = _read_answers(files, lists, plan, people)
    answers = Answers.of(answer.response for answer in rows())
    _check_complete(plan, people, answers)
    first_rankings = _read_first_rankings(files, lists, plan, people)
    return OrderingRecords(questions, answers, rows, first_rankings)


def read_foreign(files: Files) -> ForeignFolder:
    """Read a folder without study.json; rankings.csv, where it exists, must agree.

    NMRR and MNRO are computed with their defaults (no GMT cap, the continuous Eq. 15). Raises
    BundleError.
    """
    for name in (QUESTIONS_FILE, RESPONSES):
        if name not in files:
            raise BundleError(
                f"{name} is missing; {STUDY_FILE} and the rest of a bundle, or {QUESTIONS_FILE} "
                f"and {RESPONSES}, are needed"
            )
    lists = read_lists(files, None)
    answers = tuple(_read_answers(files, lists, None, None)())
    if not answers:
        raise BundleError(f"{RESPONSES} holds no answer; one with its label_order is needed")
    measures = tuple(sorted(answers[0].label_order, key=MEASURES.sort_key))
    questions = build_questions(lists, measures)
    check_rankings(files, rankings_of(questions), foreign=True)
    sizes = {each.collection_size for rows in lists.values() for each in rows}
    size = sizes.pop() if len(sizes) == 1 else None
    return ForeignFolder(measures, size, questions, answers)


def _read_answers(
    files: Files,
    lists: Lists,
    plan: OrderingPlan | None,
    people: People | None,
) -> Callable[[], Iterator[AnswerRecord]]:
    """Return a function that yields responses.csv's answers by participant and question.

    ``plan`` and ``people`` are None for a folder made elsewhere.
    """

    def read(*, in_order: bool) -> Iterator[AnswerRecord]:
        read_answer = _AnswerReader(lists, plan, people, in_order=in_order).read_answer
        rows = parse_rows(files, RESPONSES, ANSWER_COLUMNS, read_answer, foreign=plan is None)
        return (answer for answer in rows if answer)

    if plan and is_sorted(files, RESPONSES, "participant", "question"):
        # The file is read again at each call: its answers may be too many for memory.
        return partial(read, in_order=True)
    answers = sorted(read(in_order=False), key=attrgetter("participant", "question"))
    return lambda: iter(answers)


def _check_complete(plan: OrderingPlan, people: People, answers: Answers) -> None:
    """Raise BundleError for complete participants without an answer to each of their questions."""
    faults = Faults()
    counts = np.zeros(len(people), dtype=np.int64)
    counts[people.index_of(answers.people)] = answers.answer_counts
    for row in np.flatnonzero(people.complete & (counts != plan.asked)).tolist():
        faults.add(
            f"participants.csv, row {row + 2}, column status: 'complete' found; {RESPONSES} has "
            f"{counts[row]} answers of {plan.asked}"
        )
    faults.raise_any()


def _read_first_rankings(
    files: Files, lists: Lists, plan: OrderingPlan, people: People
) -> Callable[[], Iterator[FirstRanking]]:
    if not plan.has_first_rankings:
        return lambda: iter(())
    columns = ("participant", "question", "ranking", "submitted_at")
    in_order = is_sorted(files, FIRST_RANKINGS_FILE, "participant", "question")

    def read() -> Iterator[FirstRanking]:
        reader = _AnswerReader(lists, plan, people, in_order=in_order)

        def parse(row: CsvRow) -> FirstRanking:
            participant, question = reader.read_key(row)
            ranking = row.optional_ranking("ranking", plan.letters)
            if ranking is None:
                raise row.fault("ranking", "a ranking is needed")
            submitted_at, asked = row.optional_time("submitted_at"), read_asked(row, (REVERSED,))
            return FirstRanking(participant, question, ranking, submitted_at, asked)

        return parse_rows(files, FIRST_RANKINGS_FILE, columns, parse)

    for _ in read():
        continue  # finds the faults of all rows before any row is used
    return read


class _AnswerReader:
    """Reads rows about a participant's question; each is checked against those read before it.

    ``in_order``: whether rows are sorted by participant, so that only the rows of the present
    participant are remembered.
    """

    def __init__(
        self, lists: Lists, plan: OrderingPlan | None, people: People | None, *, in_order: bool
    ) -> None:
        self._plan, self._people, self._in_order = plan, people, in_order
        self._participant, self._index = "", -1
        self._letters = {
            number: tuple(row.letter for row in rows) for number, rows in lists.items()
        }
        self._rows: dict[tuple[str, int], int] = {}
        self._positions: dict[str, dict[int, int]] = {}
        self._fixed_order: list[int] = []
        self._moved: set[int | None] = set()
        if plan and plan.counted == plan.questions and not plan.shuffle_questions:
            self._fixed_order = plan.arrange(range(1, plan.questions + 1), SystemRandom())
        elif plan:
            # In a pool, the positions of these depend on which other questions were drawn.
            self._moved = {plan.repeated, *range(plan.questions + 1, plan.last_number + 1)}
        # The row and answer that came first: of each participant, and under None of the file.
        self._first: dict[str | None, tuple[int, AnswerRecord]] = {}
        if plan:
            ranks = {
                number: {each.letter: each.marked.ranks for each in rows}
                for number, rows in lists.items()
            }
            self._contradicts = contradiction_of(plan, ranks)

    def read_key(self, row: CsvRow) -> tuple[str, int]:
        """Return participant and question; raises BundleError for unknown ones, or a second row."""
        participant, question = row.text("participant"), row.whole_number("question")
        if participant != self._participant:
            self._next_participant(participant)
        if self._people is not None and self._index < 0:
            raise row.fault("participant", "participants.csv has no participant of that id")
        if question not in self._letters:
            raise row.fault("question", self._questions_allowed())
        first = self._rows.setdefault((participant, question), row.number)
        if first != row.number:
            answered = f"row {first} has {participant!r} answer it already"
            allowed = f"each question is allowed once for a participant; {answered}"
            raise row.fault("question", allowed)
        return participant, question

    def _next_participant(self, participant: str) -> None:
        self._participant = participant
        if self._in_order:
            self._rows.clear()
            self._positions.clear()
        if self._people is not None:
            [self._index] = self._people.index_of(np.array([participant])).tolist()

    def _questions_allowed(self) -> str:
        if self._plan:
            return f"1 to {self._plan.last_number} are allowed"
        numbers = [*self._letters]
        more = len(numbers) - NUMBERS_LISTED
        listed = " ".join(map(str, numbers[:NUMBERS_LISTED]))
        return (
            f"{QUESTIONS_FILE} has the questions {listed}{f' and {more} more' if more > 0 else ''}"
        )

    def read_answer(self, row: CsvRow) -> AnswerRecord | None:
        """Return the answer, None where a folder made elsewhere has a row without one."""
        participant, question = self.read_key(row)
        if not self._plan and not (row.words("clicked") or row.words("custom_ranking")):
            return None
        letters, labels = self._letters[question], self._read_labels(row)
        column_order, list_order = row.whole_numbers("column_order"), row.words("list_order")
        self._check_order(row, "column_order", column_order, range(1, len(labels) + 1))
        self._check_order(row, "list_order", list_order, letters)
        if self._plan and not self._plan.shuffle_lists and list_order != letters:
            raise row.fault("list_order", "the plan does not shuffle lists")
        answer = AnswerRecord(
            participant=participant,
            question=question,
            position=self._read_position(row, participant, question),
            label_order=labels,
            column_order=column_order or None,
            list_order=list_order or letters,
            clicked=frozenset(row.whole_numbers("clicked")),
            own=row.optional_ranking("custom_ranking", letters),
            **read_shared(row),
            is_test=self._read_flag(row, "is_test"),
            excluded=self._read_flag(row, "excluded"),
            asked=read_asked(row, ASKED_REASONS),
            typed=bool(read_yes_or_no(row, "typed")),
            scores_seen=read_yes_or_no(row, "scores_seen"),
            reason=read_reason(row, self._plan) if self._plan else None,
        )
        if answer.clicked and answer.own:
            allowed = "clicked holds labels; an answer is one of the two"
            raise row.fault("clicked", f"custom_ranking holds a ranking too, and {allowed}")
        if answer.typed and answer.own:
            raise row.fault("typed", "only an ordering that counts for a method can be")
        if self._plan:
            check_contradicts(row, self._contradicts(question, answer.own))
        try:
            answer.response  # noqa: B018 - its constructor refuses an impossible answer
        except ValueError as error:
            allowed = f"label numbers from 1 to {len(labels)} are needed"
            raise row.fault("clicked", f"{allowed} ({error})") from None
        if not self._plan:
            self._check_agrees(row, answer)
        return answer

    def _read_labels(self, row: CsvRow) -> tuple[str, ...]:
        """Return the measures behind the labels: the plan's, or some that are registered."""
        labels = row.words("label_order")
        if self._plan:
            self._check_order(row, "label_order", labels, self._plan.measures)
            return labels
        fewest, most = MEASURES_COMPARED
        for name in labels:
            if name not in MEASURES or MEASURES[name].name != name:
                allowed = f"{name!r} is no measure; known are {MEASURES.forms}"
                raise row.fault("label_order", allowed)
        if not fewest <= len(labels) <= most:
            raise row.fault("label_order", f"{fewest} to {most} measures are needed")
        if len(set(labels)) < len(labels):
            raise row.fault("label_order", "each measure may have one label")
        return labels

    def _check_order(
        self, row: CsvRow, column: str, order: Sequence[Item], allowed: Sequence[Item]
    ) -> None:
        """Raise BundleError unless all allowed items are there once, or the cell may be empty."""
        if (order or self._plan) and sorted(order) != sorted(allowed):
            raise row.fault(column, f"an order of {' '.join(map(str, allowed))} is needed")

    def _read_position(self, row: CsvRow, participant: str, question: int) -> int | None:
        if self._plan is None:
            return row.optional_whole_number("position", 1)
        plan, position = self._plan, row.whole_number("position")
        positions = self._positions.setdefault(participant, {})  # of the questions so far
        if not 1 <= position <= plan.asked or position in positions.values():
            allowed = f"1 to {plan.asked} are allowed, each once for a participant"
            raise row.fault("position", allowed)
        if not plan.shuffle_questions and not self._is_in_order(question, position, positions):
            raise row.fault("position", "the plan does not shuffle questions")
        positions[question] = position
        return position

    def _is_in_order(self, question: int, position: int, positions: Mapping[int, int]) -> bool:
        """Return whether a position fits the plan's order and the positions so far."""
        if self._fixed_order:
            return self._fixed_order[position - 1] == question
        return question in self._moved or all(
            (other < question) == (before < position)
            for other, before in positions.items()
            if other not in self._moved
        )

    def _read_flag(self, row: CsvRow, column: str) -> bool:
        """Return is_test or excluded, which is the same in all rows of a participant."""
        if self._people is None:
            return row.flag(column)
        known = bool(getattr(self._people, column)[self._index])
        if row.optional_text(column) is not None and row.flag(column) != known:
            raise row.fault(column, f"participants.csv says {int(known)}")
        return known

    def _check_agrees(self, row: CsvRow, answer: AnswerRecord) -> None:
        """Raise BundleError for measures that differ from the file's first answer's.

        And for flags that differ from those of the participant's first answer.
        """
        number, first = self._first.setdefault(None, (row.number, answer))
        if sorted(answer.label_order) != sorted(first.label_order):
            allowed = f"an order of {' '.join(first.label_order)} is needed, as in row {number}"
            raise row.fault("label_order", allowed)
        number, first = self._first.setdefault(answer.participant, (row.number, answer))
        for column in ("is_test", "excluded"):
            if getattr(answer, column) != getattr(first, column):
                allowed = f"it is the participant's, and row {number} says otherwise"
                raise row.fault(column, allowed)
